//! Excerpts of messages for texts other than notes.

use ctx_types::{Message, NoteLineKind};

use crate::request::coverage::greedy::Choice;
use crate::request::coverage::index::{Index, Making};
use crate::request::coverage::passage::{Passage, passages};
use crate::request::coverage::pieces::Style;
use crate::request::coverage::write::{Line, chosen};

/// An excerpt of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The index of the message.
    pub(crate) message: usize,
    /// The speaker, or that it is a call or a result.
    pub(crate) kind: NoteLineKind,
    /// The name of the tool for a call; otherwise empty.
    pub(crate) tool: String,
    /// The name at the beginning of all messages of the speaker, if there is one; it is not in the text.
    pub(crate) speaker: Option<String>,
    /// Whole sentences, or values with their keys, on one line.
    pub(crate) text: String,
    /// Whether it is a call that changes something.
    pub(crate) is_change: bool,
}

/// Chooses the most important sentences and values of messages, in order.
///
/// `room` is in tokens of the estimate. The messages in `first` are chosen from before all others, in its order, each
/// up to its own number of tokens. O(bytes + units · log units).
pub(crate) fn excerpts(messages: &[Message], first: &[(usize, u64)], room: u64) -> Vec<Excerpt> {
    let making = Making::new(Style::SingleSentences, messages);
    let all: Vec<usize> = (0..messages.len()).collect();
    let index = Index::of(messages, &all, [].iter(), &making);
    let mut choice = Choice::new(&index, room.saturating_mul(4));
    for (message, tokens) in first {
        choice.take_message(*message, tokens.saturating_mul(4));
    }
    choice.take_changes(CHANGES_SHARE);
    choice.take_best();
    let mut found = Vec::new();
    for (passage, ordinals) in choice.by_passage() {
        let entry = &index.passages[passage];
        let passages = passages(&messages[entry.message]);
        let passage = &passages[entry.ordinal];
        let excerpt = |text| Excerpt {
            message: entry.message,
            kind: entry.kind,
            tool: passage.tool.to_owned(),
            speaker: making.speakers.name(entry.kind).map(str::to_owned),
            text,
            is_change: entry.is_change,
        };
        found.extend(texts(passage, &ordinals, &making).into_iter().map(excerpt));
    }
    found
}

/// The maximum share of the room for calls that changed something, in percent.
const CHANGES_SHARE: u64 = 50;

/// Writes the chosen pieces of a passage: one line per sentence, or one line for all values.
fn texts(passage: &Passage<'_>, ordinals: &[usize], making: &Making) -> Vec<String> {
    let is_talk = !matches!(passage.kind, NoteLineKind::Call | NoteLineKind::Result);
    let (mut texts, mut line, mut is_plain) = (Vec::new(), Line::default(), is_talk);
    making.each_piece(passage, &mut |piece| is_plain &= piece.key_len == 0 && piece.list == 0);
    making.each_piece(
        passage,
        &mut chosen(
            ordinals,
            |piece| if is_plain { texts.push(piece.text.to_owned()) } else { line.add(piece) },
        ),
    );
    texts.extend((!is_plain).then_some(line.text));
    texts
}

#[cfg(test)]
mod tests {
    use ctx_types::{Role, Source};

    use super::*;

    #[track_caller]
    fn check(texts: &[&str], first: &[(usize, u64)], room: u64, expected: &[&str]) {
        let said = |(at, text): (usize, &&str)| {
            let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
            Message::new(role, *text, Source::history(format!("n{at}"), role))
        };
        let messages: Vec<Message> = texts.iter().enumerate().map(said).collect();
        let found: Vec<String> =
            excerpts(&messages, first, room).into_iter().map(|excerpt| excerpt.text).collect();
        assert_eq!(found, expected);
    }

    const TALK: [&str; 3] =
        ["My sister Ada comes on 3 May.", "Well, how nice.", "I must call her before 9:00 on 3 May."];

    #[test]
    fn the_best_sentences_stand_in_their_order() {
        check(&TALK, &[], 100, &[TALK[0], TALK[2]]);
        check(&TALK, &[], 12, &[TALK[2]]);
        check(&TALK, &[], 0, &[]);
    }

    #[test]
    fn sentences_stand_by_themselves_and_values_in_one_line() {
        let result = r#"{"name": "Ada Bell", "ids": ["B-7", "B-8"], "room": 12}"#;
        let long = "I met Ada Bell near the old lake of Bergen. I saw Kim Lee in the new harbour of Oslo.";
        check(&[result], &[], 500, &["name:Ada Bell ids:B-7,B-8 room:12"]);
        let sentences: Vec<&str> = long.split_inclusive(". ").map(str::trim).collect();
        check(&[long], &[], 500, &sentences);
    }

    #[test]
    fn calls_that_changed_something_come_first_and_say_so() {
        let call = |at: usize, name: &str, arguments: &str| {
            let call = ctx_types::ToolCall { id: "c".into(), name: name.into(), arguments: arguments.into() };
            let source = Source::history(format!("n{at}"), Role::Assistant);
            Message::new(Role::Assistant, "", source).with(|message| message.tool_calls = vec![call])
        };
        let said =
            Message::new(Role::User, "Ada comes on 3 May 2026 at 9:00.", Source::history("n0", Role::User));
        let messages = [
            said,
            call(1, "get_room", r#"{"id": "B-7 near the lake"}"#),
            call(2, "book_room", r#"{"id": "the"}"#),
        ];
        let shown = |room: u64| {
            let excerpts = excerpts(&messages, &[], room);
            let shown =
                excerpts.iter().map(|one| (one.message, one.tool.clone(), one.text.clone(), one.is_change));
            shown.collect::<Vec<_>>()
        };
        let (look, book) = (
            (1, "get_room".to_owned(), "id:B-7 near the lake".to_owned(), false),
            (2, "book_room".to_owned(), "id:the".to_owned(), true),
        );
        let words = (0, String::new(), "Ada comes on 3 May 2026 at 9:00.".to_owned(), false);
        assert_eq!(shown(100), [words, look, book.clone()]);
        // It adds no new word, and takes at most half of the room.
        assert_eq!(shown(10), [book]);
        assert!(shown(9).iter().all(|(_, _, _, is_change)| !is_change));
    }

    #[test]
    fn what_is_wanted_first_is_chosen_first() {
        check(&TALK, &[(0, 20)], 12, &[TALK[0]]);
        check(&TALK, &[(0, 5)], 12, &[TALK[2]]);
    }
}
