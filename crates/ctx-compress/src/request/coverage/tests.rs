//! What a note holds, and what it leaves.

use std::cell::RefCell;
use std::sync::Arc;

use ctx_tokens::ModelFacts;
use ctx_types::ports::TokenCounter;
use ctx_types::{EncodingId, Note, NoteLine, Source, SourceKind, Trust};

use super::*;
use crate::request::config::RequestConfig;
use crate::request::repair::is_paired;

/// Counts letters.
struct Letters;

impl TokenCounter for Letters {
    fn encoding(&self) -> EncodingId {
        EncodingId(903)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.chars().count()).unwrap()
    }
}

fn letters() -> Meter<'static> {
    Meter::for_model(Arc::new(ModelFacts::unknown("m")), Arc::new(Letters))
}

fn said(role: Role, at: usize, text: &str) -> Message {
    Message::new(role, text, Source::history(format!("n{at}"), role))
}

/// Writes notes of so many letters, whatever room there is for them; names the rooms that were tried, and what came of it.
#[track_caller]
fn check_fitted(meter: &Meter<'_>, lengths: &[usize], tried: &[u64], expected: Option<usize>) {
    let asked = RefCell::new(Vec::new());
    let note = fitted(100, meter, |quarters| {
        let length = lengths.get(asked.borrow().len()).copied();
        asked.borrow_mut().push(quarters);
        length.map(|length| said(Role::System, 0, &"x".repeat(length)))
    });
    assert_eq!(note.map(|note| note.text().len()), expected);
    assert_eq!(*asked.borrow(), tried);
}

#[test]
fn a_note_that_fills_its_room_is_written_once() {
    for length in [93, 99, 100] {
        check_fitted(&letters(), &[length], &[400], Some(length));
    }
}

#[test]
fn another_room_is_tried_as_long_as_that_is_better_or_must_be() {
    check_fitted(&letters(), &[400, 97], &[400, 97], Some(97));
    check_fitted(&letters(), &[101, 97], &[400, 384], Some(97));
    check_fitted(&letters(), &[92, 98], &[400, 425], Some(98));
    check_fitted(&letters(), &[50, 98], &[400, 784], Some(98));
    check_fitted(&letters(), &[50, 50], &[400, 784], Some(50));
    check_fitted(&letters(), &[50], &[400, 784], Some(50));
    check_fitted(&letters(), &[60, 120, 80, 70], &[400, 652, 477, 584], Some(80));
    check_fitted(&letters(), &[150, 150, 150, 150], &[400, 258, 151, 73], None);
    check_fitted(&letters(), &[], &[400], None);
}

#[test]
fn what_the_estimate_counts_is_written_once() {
    check_fitted(&Meter::estimate(), &[40], &[400], Some(40));
    check_fitted(&Meter::estimate(), &[400], &[400], Some(400));
    check_fitted(&Meter::estimate(), &[401], &[400], None);
}

/// Makes a material in which each message that is neither pinned nor named as fixed is a group.
fn with_material<T>(
    messages: &[Message],
    room: u64,
    config: &RequestConfig,
    ask: impl FnOnce(&Material<'_>) -> T,
) -> T {
    assert!(is_paired(messages));
    let free = messages.iter().enumerate().filter(|(_, message)| message.place == Place::History);
    let groups: Vec<Range<usize>> = free.map(|(at, _)| at..at + 1).collect();
    let meter = Meter::estimate();
    ask(&Material {
        messages,
        groups: &groups,
        room,
        room_for_messages: room,
        target: config.target(),
        config,
        meter: &meter,
    })
}

/// Texts of 20 tokens each; pinned where the letter is large. Names those that the tail keeps within so many tokens.
#[track_caller]
fn check_tail(letters: &str, share: u64, room: u64, expected: &str) {
    let place = |letter: char| if letter.is_uppercase() { Place::Pinned } else { Place::History };
    let message = |(at, letter): (usize, char)| {
        said(Role::User, at, &"w".repeat(40)).with(|message| message.place = place(letter))
    };
    let messages: Vec<Message> = letters.chars().enumerate().map(message).collect();
    let config = RequestConfig {
        token_budget: share * 2,
        trigger_threshold: 1.0,
        target_usage: 1.0,
        tail_share: 0.5,
        ..RequestConfig::default()
    };
    with_material(&messages, room, &config, |material| {
        let tail = tail(material);
        let kept: Vec<usize> = material.groups[tail.begin..].iter().map(|group| group.start).collect();
        let names: String = kept.iter().filter_map(|at| letters.chars().nth(*at)).collect();
        assert_eq!((names.as_str(), tail.tokens), (expected, 20 * kept.len() as u64));
    });
}

#[test]
fn the_newest_groups_stay_as_far_as_their_share_goes() {
    check_tail("abcd", 80, 500, "abcd");
    check_tail("abcd", 79, 500, "bcd");
    check_tail("abcd", 40, 500, "cd");
    check_tail("abcd", 39, 500, "d");
    check_tail("abcd", 19, 500, "");
    check_tail("abcd", 500, 40, "cd");
    check_tail("abcd", 500, 39, "d");
    check_tail("", 500, 500, "");
}

#[test]
fn what_must_stay_behind_the_first_group_is_a_part_of_the_share() {
    check_tail("abCd", 60, 500, "bd");
    check_tail("abCd", 59, 500, "d");
    check_tail("Abcd", 60, 500, "bcd");
    check_tail("aBCd", 60, 500, "d");
    check_tail("aBCd", 59, 500, "");
}

/// Makes a writer for all groups, with nothing kept.
fn with_writer<T>(messages: &[Message], style: Style, ask: impl FnOnce(&Writer<'_>) -> T) -> T {
    let config = RequestConfig::default();
    with_material(messages, 100_000, &config, |material| {
        let indexes: Vec<usize> = material.groups.iter().flat_map(Clone::clone).collect();
        let making = Making::new(style, messages);
        let others = messages.iter().filter(|message| message.place != Place::History);
        let index = Index::of(messages, &indexes, others, &making);
        let last = indexes.last().copied().unwrap_or_default();
        let elsewhere: Vec<usize> = (0..last).filter(|at| messages[*at].place == Place::Pinned).collect();
        let writer =
            Writer { material, index: &index, making: &making, elsewhere: &elsewhere, role: Role::System };
        ask(&writer)
    })
}

/// What stands above the lines in rooms of so many hundred times what it costs, or a quarter of a token less.
#[track_caller]
fn check_head(prefixes: [&str; 2], whole: &str, names: &[&str]) {
    let message = |at: usize| {
        let role = if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
        said(role, at, &format!("{}number {at}", prefixes[at % 2]))
    };
    let messages: Vec<Message> = (0..10).map(message).collect();
    let room = quarters(whole) * 100;
    with_writer(&messages, Style::Sentences, |writer| {
        assert_eq!(writer.head(room), [whole]);
        assert_eq!(writer.head(room - 1), names);
        assert_eq!(writer.head(1), names);
    });
}

#[test]
fn the_letters_are_explained_where_that_costs_a_hundredth_and_names_always() {
    check_head(["", ""], "Earlier, shortened: U=user, A=assistant, C=call, R=result", &[]);
    check_head(["Lin: ", ""], "Earlier, shortened: U=Lin, A=assistant, C=call, R=result", &["U=Lin"]);
    check_head(["", "Kim: "], "Earlier, shortened: U=user, A=Kim, C=call, R=result", &["A=Kim"]);
    check_head(["Lin: ", "Kim: "], "Earlier, shortened: U=Lin, A=Kim, C=call, R=result", &["U=Lin, A=Kim"]);
}

/// The pinned line of what the user said first.
#[track_caller]
fn check_pin(text: &str, room: u64, expected: Option<&str>) {
    let messages =
        [said(Role::User, 0, text), said(Role::Assistant, 1, "So it is."), said(Role::User, 2, "And?")];
    with_writer(&messages, Style::Sentences, |writer| {
        let pins = writer.pins(room);
        assert_eq!(
            pins.values().map(String::as_str).collect::<Vec<_>>(),
            expected.into_iter().collect::<Vec<_>>()
        );
        assert!(pins.values().all(|text| quarters(text) * 100 <= room * 95));
    });
}

#[test]
fn what_the_user_said_first_is_pinned_whole_or_shorter_or_cut() {
    // 16 quarters are 85 hundredths of 19, 9 are 95 hundredths of 10.
    check_pin("The lake  is red.", 19, Some("The lake is red."));
    check_pin("The lake is red.", 18, Some("lake red."));
    check_pin("The lake is red.", 10, Some("lake red."));
    check_pin("The lake is red.", 8, None);
    check_pin("It is.", 4, None);
    let wide = |count: usize| "字".repeat(count);
    check_pin(&wide(100), 500, Some(&wide(100)));
    check_pin(&wide(100), 422, Some(&wide(100)));
    check_pin(&wide(100), 200, Some(&format!("{} […] {}", wide(26), wide(13))));
}

/// A note of an earlier pass with these lines, all pinned.
fn earlier(lines: &[&str]) -> Message {
    let text: Vec<String> = lines.iter().map(|line| format!("U: {line}")).collect();
    let line =
        |at: usize| NoteLine { is_pinned: true, ..NoteLine::new(format!("e{at}"), NoteLineKind::User) };
    let note = Note { lines: (0..lines.len()).map(line).collect(), ..Note::default() };
    let source = Source::new(SourceKind::Summary, Trust::Model).with_id("note");
    Message::new(Role::System, text.join("\n"), source).with(|message| message.note = Some(Arc::new(note)))
}

#[track_caller]
fn check_pins(lines: &[&str], room: u64, expected: &[&str]) {
    let messages = [earlier(lines), said(Role::User, 1, "And now?")];
    with_writer(&messages, Style::Sentences, |writer| {
        let pins = writer.pins(room);
        assert_eq!(pins.values().collect::<Vec<_>>(), expected);
    });
}

#[test]
fn pinned_lines_stay_pinned_and_as_they_are_as_far_as_there_is_room() {
    check_pins(&["The lake is red."], 17, &["The lake is red."]);
    // 9 quarters and the 8 of a line go off before the next one.
    check_pins(&["lake red.", "boat red."], 27, &["lake red.", "boat red."]);
    check_pins(&["lake red.", "boat red."], 25, &["lake red."]);
}

#[test]
fn a_pinned_line_has_a_share_of_a_small_room_and_less_of_a_large_one() {
    let check = |room, share, expected| assert_eq!(pin_room(room, share), expected, "{share} of {room}");
    check(0, 85, 0);
    check(1_000, 85, 850);
    check(7_058, 85, 5_999);
    check(10_000, 85, 6_000);
    check(30_000, 95, 6_000);
    check(40_004, 95, 8_000);
}

/// Writes a note with room for everything, and again with exactly what that costs, and with a quarter of a token less.
#[track_caller]
fn check_account(messages: &[Message], expected: &str) {
    with_writer(messages, Style::Sentences, |writer| {
        let all = writer.write(4_900).unwrap();
        assert_eq!(all.text(), expected);
        let cost = quarters(expected) + 1;
        assert_eq!(writer.write(cost).unwrap().text(), expected, "it costs what it has");
        let less = writer.write(cost - 1).unwrap();
        assert!(quarters(&less.text()) + 1 < cost, "{}", less.text());
    });
}

#[test]
fn a_note_costs_what_stands_in_it() {
    let long = "I keep seven boats near Bergen. ".repeat(9);
    let talk = |at: usize, text: &str| {
        said(if at.is_multiple_of(2) { Role::User } else { Role::Assistant }, at, text)
    };
    let first = talk(0, "We want boats.");
    check_account(&[first.clone(), talk(1, &long)], &format!("U: We want boats.\nA: {}", long.trim_end()));
    let pinned = |at: usize| talk(at, "This stays.").with(|message| message.place = Place::Pinned);
    check_account(
        &[first.clone(), pinned(1), talk(2, &long), pinned(3), pinned(4), talk(5, "I see Oslo."), pinned(6)],
        &format!("U: We want boats.\nA: ↓\nU: {}\nU: ↓\nA: I see Oslo.", long.trim_end()),
    );
    let named = |at: usize, text: &str| talk(at, &format!("{}: {text}", ["Lin", "Kim"][at % 2]));
    let lines: Vec<Message> = (0..10).map(|at| named(at, &format!("I have {at}{at}{at} boats."))).collect();
    let texts: Vec<String> =
        (0..10).map(|at| format!("{}: I have {at}{at}{at} boats.", ["U", "A"][at % 2])).collect();
    check_account(&lines, &format!("U=Lin, A=Kim\n{}", texts.join("\n")));
}

#[test]
fn the_note_has_the_room_that_the_tail_leaves() {
    let text = |at: usize| format!("I keep {at}{at} boats near Bergen, and {at}{at}{at} sheep near Bodø.");
    let messages: Vec<Message> = (0..60).map(|at| said(Role::User, at, &text(at))).collect();
    let config = RequestConfig { token_budget: 1_000, tail_share: 0.5, ..RequestConfig::default() };
    with_material(&messages, 500, &config, |material| {
        for strategy in [Coverage::telegraphic(), Coverage::sentences()] {
            let selection = strategy.choose(material);
            assert!(selection.fates.iter().any(|fate| matches!(fate, Fate::Keep(_))));
            let tokens = selection.tokens(material);
            assert!((480..=500).contains(&tokens), "{tokens}");
        }
    });
}
