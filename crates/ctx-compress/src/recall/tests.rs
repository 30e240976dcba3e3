//! What is found, and what becomes of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_types::{Message, Place, Role, Source, ToolCall};
use proptest::prelude::*;

use crate::recall::{
    AskedCompression, Hit, RecallAnswer, RecallIndex, RecallRequest, Recalled, SearchResult, joined, nearest,
};
use crate::request::{CompressionPipeline, Meter, PassOutcome, Protection, RequestConfig};

fn said(at: usize, text: &str) -> Message {
    let role = if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Message::new(role, text, Source::history(format!("n{at}"), role))
}

fn conversation(texts: &[&str]) -> Vec<Message> {
    texts.iter().enumerate().map(|(at, text)| said(at, text)).collect()
}

fn indexed(messages: &[Message]) -> RecallIndex {
    let mut index = RecallIndex::default();
    index.extend(messages);
    index
}

fn grown(messages: &[Message]) -> RecallIndex {
    let mut index = RecallIndex::default();
    for message in messages {
        index.add(message);
    }
    index
}

/// Recalls what is asked about from messages of which the last `held` are in the request.
fn asked(messages: &[Message], held: usize, question: &str, room: u64) -> Option<Recalled> {
    let asked_of = |index: &RecallIndex, others: usize, room: u64| {
        let answer = RecallAnswer::of(&RecallRequest {
            found: &index.search(&[(question, 100)]),
            index,
            message: &|at| messages.get(at).cloned(),
            is_held: &|at, _| at + held >= messages.len(),
            is_noted: &|_, _, _| false,
            others,
            room,
            role: Role::System,
            meter: &Meter::estimate(),
        });
        answer.recalled().cloned()
    };
    let recalled = asked_of(&indexed(messages), 0, room);
    // What was asked before changes nothing.
    let index = indexed(messages);
    for (others, room) in [(0, room / 2), (1, room), (0, room)] {
        asked_of(&index, others, room);
    }
    assert_eq!(asked_of(&index, 0, room), recalled);
    recalled
}

/// Checks which line is found first; `-` for nothing.
#[track_caller]
fn check_first(texts: &[&str], question: &str, expected: &str) {
    let messages = conversation(texts);
    let first = indexed(&messages).search(&[(question, 100)]).hits.first().copied();
    let shown = first.map_or("-".to_owned(), |hit| messages[hit.message].text().into_owned());
    assert_eq!(shown, expected, "{question}");
}

const TRIP: [&str; 8] = [
    "My daughter is allergic to walnuts.",
    "I noted that. Where will you stay?",
    "In room B-12 of the Blue Note, from 2026-05-14 on.",
    "The train number is ICE-721, see src/plans/trip.rs.",
    "What does the garden look like?",
    "It has old apple trees and a pond.",
    "我对花生过敏，请记住。",
    "好的，我记住了。",
];

#[test]
fn words_ids_dates_and_pairs_of_characters_are_found() {
    check_first(&TRIP, "Which walnut cake?", TRIP[0]);
    check_first(&TRIP, "the Blue Note's rooms", TRIP[2]);
    check_first(&TRIP, "B-12", TRIP[2]);
    check_first(&TRIP, "2026-05-14", TRIP[2]);
    check_first(&TRIP, "what is in trip.rs", TRIP[3]);
    check_first(&TRIP, "花生可以吃吗？", TRIP[6]);
}

#[test]
fn a_word_that_is_not_there_is_found_by_the_one_that_it_ends_in() {
    let texts = ["She is allergic to nuts.", "The shop is near.", "Fine."];
    check_first(&texts, "May she have walnut cake?", texts[0]);
    check_first(&texts, "Is there a bookshop?", texts[1]);
    check_first(&["The walnut is old.", texts[0]], "A walnut?", "The walnut is old.");
}

#[test]
fn a_question_that_says_nothing_finds_nothing() {
    for question in ["", "   ", "what is it?", "🙂🙂🙂", "zebra", "的了是在"] {
        check_first(&TRIP, question, "-");
    }
}

#[test]
fn what_was_said_before_counts_and_finds_nothing_by_itself() {
    let index = indexed(&conversation(&TRIP));
    let first = |query: &[(&str, u64)]| index.search(query).hits.first().map(|hit| hit.message);
    let before = ("walnut trees in the garden", 33);
    assert_eq!(first(&[("zebra", 100), before]), None);
    assert_eq!(first(&[before]), Some(5), "trees, behind a question about the garden");
    assert_eq!(first(&[("pond", 100), before]), Some(5));
    assert_eq!(first(&[("walnut pond", 100), ("walnuts", 33)]), first(&[("walnut pond", 100)]));
}

#[test]
fn a_long_text_before_a_question_leaves_its_words_in() {
    let rare = |n: usize| format!("word{n}");
    let mut texts: Vec<String> = (0..400).map(rare).collect();
    texts.extend(["A boat on a lake", "The boat of my aunt", "A red boat"].map(str::to_owned));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let before = (0..400).map(rare).collect::<Vec<_>>().join(" ");
    let found = indexed(&conversation(&texts)).search(&[("Whose boat?", 100), (&before, 33)]);
    let best: BTreeSet<usize> = found.hits.iter().take(3).map(|hit| hit.message).collect();
    assert_eq!(best, BTreeSet::from([400, 401, 402]));
    let found = indexed(&conversation(&texts)).search(&[("Whose boat?", 100), (&before, 90)]);
    assert!((400..403).all(|at| found.hits.iter().any(|hit| hit.message == at)));
    let mut texts = texts;
    texts.extend(before.split(' ').chain(before.split(' ')));
    let found = indexed(&conversation(&texts)).search(&[(&before, 100), ("aunt", 90)]);
    let aunt = found.hits.iter().find(|hit| hit.message == 401).unwrap();
    assert_eq!(found.words.of_hit(aunt), ["aunt"], "a rare word beside a long question");
}

#[test]
fn the_answer_to_a_question_is_found_by_the_words_of_the_question() {
    let messages =
        conversation(&["Which colour has the lighthouse?", "Red, with a white stripe.", "Fine.", "Good."]);
    let hits = indexed(&messages).search(&[("lighthouse colour", 100)]).hits;
    let found: Vec<usize> = hits.iter().map(|hit| hit.message).collect();
    assert_eq!(found[..2], [0, 1], "{hits:?}");
}

#[test]
fn who_is_named_counts_more() {
    let texts = ["Lin: I ran up the hill", "Ada: I ran up the hill", "Lin: so", "Ada: so"].repeat(3);
    let hits = indexed(&conversation(&texts)).search(&[("When did Lin run up the hill?", 100)]).hits;
    let of_lin = hits.iter().take(3).all(|hit| hit.message % 4 == 0);
    assert!(of_lin, "{hits:?}");
}

#[test]
fn results_of_tools_are_found_by_entry() {
    let entry = |n: usize| {
        format!(r#"{{"id": "r{n}", "name": "Hotel {}"}}"#, ["Lakeside", "Harbour", "Garden"][n % 3])
    };
    let text = format!("[{}]", (0..60).map(entry).collect::<Vec<_>>().join(", "));
    let result = said(1, &text).with(|message| {
        message.role = Role::Tool;
        message.tool_call_id = Some("c".into());
    });
    let call =
        ToolCall { id: "c".into(), name: "find_hotels".into(), arguments: r#"{"city": "Bern"}"#.into() };
    let messages = [said(1, "").with(|message| message.tool_calls = vec![call]), result];
    let hits = indexed(&messages).search(&[("r47", 100)]).hits;
    assert_eq!((hits[0].message, hits[0].record), (1, 47));
    let recalled = asked(&messages, 0, "find_hotels in Bern", 200).unwrap();
    assert!(
        recalled.message.text().contains("#1 C find_hotels: {\"city\": \"Bern\"}"),
        "{}",
        recalled.message.text()
    );
}

#[test]
fn lines_say_who_said_what_and_pieces_say_why() {
    let messages = conversation(&TRIP);
    let recalled = asked(&messages, 2, "May she have walnut cake in the garden?", 500).unwrap();
    insta::assert_snapshot!(recalled.message.text(), @r"
    Recalled:
    #1 U: daughter allergic to walnuts.
    #2 A: noted Where stay?
    #3 U: In room B-12 of Blue Note from 2026-05-14 on.
    #4 A: train number ICE-721 see src/plans/trip.rs.
    #5 U: What garden look like?
    #6 A: old apple trees pond.
    ");
    assert_eq!((&*recalled.pieces[0].words, recalled.pieces[0].ago), (&["walnut".to_owned()][..], Some(7)));
    let covered: usize = recalled.message.written.iter().map(|segment| segment.span.len()).sum();
    assert_eq!(covered, recalled.message.text().len());
    let line = &recalled.message.written[1];
    assert_eq!(line.via[0].id.as_deref(), Some("n0"));
}

#[test]
fn instructions_notes_and_summaries_are_never_recalled() {
    let hidden = |role: Role, text: &str| Message::new(role, text, Source::history("s", role));
    let summary = said(1, "lighthouse").with(|message| message.source.kind = ctx_types::SourceKind::Summary);
    let placed = said(1, "lighthouse").with(|message| message.place = Place::Skeleton);
    let noted = said(1, "lighthouse").with(|message| message.note = Some(Arc::default()));
    let messages = [hidden(Role::System, "lighthouse"), summary, placed, noted];
    assert_eq!(indexed(&messages).search(&[("lighthouse", 100)]).hits, []);
    assert_eq!(indexed(&messages).len(), 4);
}

#[test]
fn work_is_bounded_whatever_is_asked_or_said() {
    let mut index = RecallIndex::default();
    let long = said(0, &"lighthouse harbour ".repeat(10 * 1024 * 1024 / 19));
    index.add(&long);
    assert!(index.findings().iter().any(|found| found.code == crate::codes::RECALL_LIMIT));
    let same = said(1, "lighthouse");
    (0..200_000).for_each(|_| index.add(&same));
    let question = "harbour lighthouse zebra ".repeat(1024 * 1024 / 25);
    assert!(index.search(&[(&question, 100)]).hits.len() <= 5 * 4_096);
    assert_eq!(index.search(&[("lighthouse", 100)]).hits, [], "a word that all messages have says nothing");
}

#[test]
fn takes_half_of_the_text_at_most() {
    // Thousands of different words, most of them rare, as in speech.
    let word = |n: usize| format!("w{}", (n * n * 7_919 + n * 104_729) % 9_973 * (1 + n % 3));
    let text = |at: usize| (0..14).map(|n| word(at * 14 + n)).collect::<Vec<_>>().join(" the of ");
    let messages: Vec<Message> = (0..20_000).map(|at| said(at, &text(at))).collect();
    let bytes: usize = messages.iter().map(|message| message.text().len()).sum();
    let (made, grown) = (indexed(&messages).memory(), grown(&messages).memory());
    assert!(made * 2 <= bytes, "{made} of {bytes} bytes");
    assert!(grown * 2 <= bytes, "{grown} of {bytes} bytes");
}

#[test]
fn a_full_index_says_so_and_keeps_what_it_has() {
    let mut index = RecallIndex::default();
    for text in ["lighthouse", "green", "harbour"] {
        index.add_within(&said(0, text), super::records::MOST_RECORDS + 1);
    }
    let told = index.findings().iter().map(|found| found.message.to_string()).collect::<Vec<_>>();
    assert_eq!(told, ["1 message not searched: the index is full"]);
    let found = ["lighthouse", "green", "harbour"].map(|word| index.search(&[(word, 100)]).hits.len());
    assert_eq!((found, index.len()), ([2, 2, 0], 3));
}

#[test]
fn a_search_says_why_it_finds_nothing() {
    let index = indexed(&conversation(&["Lin: the main nut", "Ada: the main nut"].repeat(20)));
    let why = |query: &str| index.search(&[(query, 100)]).why_nothing().unwrap().to_string();
    let no_word = why("");
    assert!(no_word.starts_with("no matches: the question has no words to search for"));
    assert_eq!((why("What about Ada?"), why("🙂 the")), (no_word.clone(), no_word.clone()));
    // What was said before a question finds nothing by itself.
    let beside = index.search(&[("What is it?", 100), ("a zebra", 33)]).why_nothing();
    assert_eq!(beside.map(|why| why.to_string()), Some(no_word));
    assert_eq!(why("zebra"), "no matches: no searched message contains these words");
    // The words that are named are those of the conversation.
    let common = why("walnut zebra src/main.rs");
    assert!(
        common.starts_with("no matches: more than half of the messages contain `nut`, `main`;"),
        "{common}"
    );
    assert_eq!(indexed(&conversation(&["a nut"])).search(&[("nut", 100)]).why_nothing(), None);
}

#[test]
fn a_conversation_is_fitted_for_a_question() {
    let texts: Vec<String> = (0..80)
        .map(|n| match n {
            7 => "By the way, my daughter is allergic to walnuts.".to_owned(),
            _ => format!(
                "Lamp {n} of the pier was lit by Ada at {}:30, and the ferry {} came in.",
                n % 24,
                n * 3
            ),
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let messages = conversation(&texts);
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(300));
    let fitted = |question: &str| pipeline.compress_for(&messages, Protection::LastUserMessage, question);
    let asked = fitted("May she have walnut cake?");
    let line = "#8 A: By way daughter allergic to walnuts.";
    assert!(asked.compression.messages.last().unwrap().text().contains(line));
    assert!(asked.compression.report.output_tokens <= 300);
    assert_eq!(asked, fitted("May she have walnut cake?"));
    let why = |asked: &AskedCompression| match &asked.recalled {
        RecallAnswer::Nothing(why) => why.to_string(),
        RecallAnswer::Recalled(recalled) => recalled.message.text().into_owned(),
    };
    assert!(why(&fitted("zebra")).starts_with("no matches: no searched message contains these words"));
    assert!(
        why(&fitted("Which lamp?")).starts_with("no matches: more than half of the messages contain `lamp`;")
    );
    let roomy = CompressionPipeline::new(RequestConfig::to_fit(100_000));
    let all = roomy.compress_for(&messages, Protection::LastUserMessage, "walnut");
    assert_eq!(
        (&all.compression.report.outcome, &*why(&all)),
        (&PassOutcome::NotNeeded, "nothing to recall: everything fits")
    );
}

#[test]
fn another_ranking_is_joined_by_ranks() {
    let hit = |message, score| Hit { message, record: 0, score, words: 0 };
    let hits = vec![hit(4, 900), hit(2, 800), hit(7, 10)];
    let found = SearchResult { hits, ..SearchResult::default() };
    let messages: Vec<usize> = joined(found, &[2, 5]).hits.iter().map(|hit| hit.message).collect();
    assert_eq!(messages, [2, 4, 5, 7]);
    let vectors = [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.6, 0.8], vec![0.0, 0.0], vec![1.0]];
    assert_eq!(nearest(&[0.0, 2.0], &vectors), [1, 2, 0]);
}

fn some_messages() -> impl Strategy<Value = Vec<Message>> {
    let word = prop::sample::select(vec![
        "lighthouse",
        "harbour",
        "walnut",
        "Ada",
        "room",
        "12",
        "2026-05-14",
        "酒店",
        "花生",
        "why?",
        "\n",
        "it's",
        "x_7",
        "[{\"a\": 1}, {\"b\": 2}]",
    ]);
    let text = prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "));
    prop::collection::vec((text, 0..4_usize), 1..40).prop_map(|texts| {
        let message = |(at, (text, kind)): (usize, (String, usize))| {
            said(at, &text).with(|message| match kind {
                0 => message.role = Role::Tool,
                1 => message.source.kind = ctx_types::SourceKind::Summary,
                _ => {}
            })
        };
        texts.into_iter().enumerate().map(message).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_recalled_fits_is_in_order_and_is_not_held(messages in some_messages(), held in 0..10_usize, room in 0..400_u64) {
        let question = "Was the walnut in room 12 of the harbour hotel, 花生?";
        let first = asked(&messages, held, question, room);
        prop_assert_eq!(&first, &asked(&messages, held, question, room));
        if let Some(recalled) = first {
            prop_assert!(recalled.tokens <= room);
            prop_assert!(recalled.pieces.is_sorted_by_key(|piece| piece.message));
            prop_assert!(recalled.pieces.iter().all(|piece| piece.message + held < messages.len()));
            let text = recalled.message.text();
            prop_assert_eq!(text.lines().count(), recalled.pieces.len() + 1);
            let mut end = 0;
            for segment in &recalled.message.written {
                prop_assert_eq!(segment.span.start, end);
                end = segment.span.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }

    #[test]
    fn an_index_that_grew_finds_what_one_made_at_once_finds(messages in prop::collection::vec(some_messages(), 1..20), rest in 0..30_usize) {
        let messages = messages.concat();
        let (at_once, by_one) = (indexed(&messages), grown(&messages));
        let (first, last) = messages.split_at(rest.min(messages.len()));
        let mut by_two = grown(first);
        by_two.extend(last);
        for question in ["walnut", "Ada in room 12", "lighthouse harbour 花生酒店 x_7 a b"] {
            let query = [(question, 100)];
            prop_assert_eq!(at_once.search(&query), by_one.search(&query));
            prop_assert_eq!(at_once.search(&query), by_two.search(&query));
        }
    }

    #[test]
    fn every_record_is_placed_in_its_message(messages in prop::collection::vec(some_messages(), 1..12), entries in 0..300_usize) {
        let mut messages = messages.concat();
        let list = format!("[{}]", vec![r#"{"a": 1}"#; entries].join(", "));
        messages.insert(messages.len() / 2, said(0, &list));
        let index = indexed(&messages);
        let mut expected = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let mut record = 0;
            super::records::each_record(message, |_| {
                expected.push((at, record));
                record += 1;
            });
        }
        let records = u32::try_from(index.records.len()).unwrap();
        prop_assert_eq!(expected.len(), index.records.len());
        prop_assert!(expected.into_iter().eq((0..records).map(|record| index.place(record))));
    }

    #[test]
    fn a_fitted_conversation_keeps_its_budget(messages in some_messages(), budget in 40..600_u64) {
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget));
        let asked = pipeline.compress_for(&messages, Protection::LastUserMessage, "walnut harbour 花生");
        let report = asked.compression.report;
        prop_assert_eq!(report.output_tokens, pipeline.meter().messages(&asked.compression.messages));
        prop_assert_eq!(report.input_count - report.dropped_count + report.note_count, report.output_count);
        if report.outcome == PassOutcome::Compacted {
            prop_assert!(report.output_tokens <= budget);
        }
    }
}
