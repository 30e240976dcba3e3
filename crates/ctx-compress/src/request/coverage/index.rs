//! The units of a conversation with their words and weights.

use std::collections::HashSet;
use std::ops::Range;

use ctx_types::{Message, NoteLineKind};

use crate::request::coverage::calls::changes;
use crate::request::coverage::leaves::leaves;
use crate::request::coverage::passage::{Passage, passages, write_prefix};
use crate::request::coverage::pieces::{Piece, Style, Visit, each_piece};
use crate::request::coverage::speakers::Speakers;
use crate::request::coverage::vocabulary::{Kind, Vocabulary};
use crate::request::coverage::words::each_word;
use crate::request::coverage::worth::worth;
use crate::request::meter::quarters;

/// The units of a part of a conversation, oldest first. The texts are not stored; the texts of chosen units are read
/// again.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) passages: Vec<PassageEntry>,
    pub(super) units: Vec<Unit>,
    /// The worth of each word, in 256ths.
    pub(super) weights: Vec<u32>,
    /// The words in the rest of the request.
    pub(super) said: Vec<u32>,
}

/// A piece that can be chosen.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The index of its passage.
    pub(super) passage: usize,
    /// The size of its text and a space, in quarters of a token.
    pub(super) cost: u64,
    /// The size of the key that items of the same list share.
    pub(super) key_cost: u64,
    /// Its list, counted from 1 within the passage; 0 for none.
    pub(super) list: u16,
    /// The factor of its words, in thousandths.
    pub(super) factor: u32,
    /// Its words, each once.
    pub(super) words: Vec<u32>,
}

/// A passage of the conversation.
#[derive(Clone, Debug)]
pub(super) struct PassageEntry {
    /// The index of its message.
    pub(super) message: usize,
    /// Its index among the passages of the message.
    pub(super) ordinal: usize,
    /// The size of its line without units, in quarters of a token.
    pub(super) prefix: u64,
    pub(super) units: Range<usize>,
    pub(super) kind: NoteLineKind,
    pub(super) is_pinned: bool,
    /// Whether it is a call that changes something.
    pub(super) is_change: bool,
}

impl Index {
    /// Reads the messages at these indexes, and the words of all others. O(bytes).
    pub(super) fn of<'m>(
        messages: &[Message],
        indexes: &[usize],
        others: impl Iterator<Item = &'m Message>,
        making: &Making,
    ) -> Self {
        let mut reader = Reader { making, vocabulary: Vocabulary::default(), index: Self::default() };
        for at in indexes {
            for (ordinal, passage) in passages(&messages[*at]).iter().enumerate() {
                reader.add(*at, ordinal, passage);
            }
        }
        others.for_each(|message| reader.add_other(message));
        reader.finish()
    }

    fn weigh(&mut self, kinds: &[Kind]) {
        let mut counts = vec![0; kinds.len()];
        for word in self.units.iter().flat_map(|unit| &unit.words) {
            counts[*word as usize] += 1;
        }
        let counted = counts.into_iter().zip(kinds);
        self.weights = counted.map(|(count, kind)| worth(self.units.len(), count, *kind)).collect();
    }
}

/// Settings for all pieces.
#[derive(Debug)]
pub(super) struct Making {
    pub(super) style: Style,
    pub(super) speakers: Speakers,
    pub(super) argument_keys: HashSet<String>,
}

impl Making {
    pub(super) fn new(style: Style, messages: &[Message]) -> Self {
        Self { style, speakers: Speakers::of(messages), argument_keys: argument_keys(messages) }
    }

    /// Makes the pieces of a passage.
    pub(super) fn each_piece(&self, passage: &Passage<'_>, visit: &mut Visit<'_>) {
        each_piece(passage, self.speakers.name(passage.kind), self.style, &self.argument_keys, visit);
    }
}

/// Builds an index message by message.
struct Reader<'a> {
    making: &'a Making,
    vocabulary: Vocabulary,
    index: Index,
}

impl Reader<'_> {
    fn add(&mut self, message: usize, ordinal: usize, passage: &Passage<'_>) {
        let mut prefix = String::new();
        write_prefix(passage.kind, passage.tool, &mut prefix);
        let is_call = passage.kind == NoteLineKind::Call;
        let is_talk = matches!(passage.kind, NoteLineKind::User | NoteLineKind::Assistant);
        let is_impersonal = is_talk && passage.cuts.is_none() && !speaks_of_itself(&passage.text);
        let share = if is_impersonal { IMPERSONAL } else { 100 };
        let first = self.index.units.len();
        self.making.each_piece(passage, &mut |piece| {
            self.add_unit(Piece { factor: piece.factor * share / 100, ..piece }, is_call);
        });
        self.index.passages.push(PassageEntry {
            message,
            ordinal,
            prefix: quarters(&prefix),
            units: first..self.index.units.len(),
            kind: passage.kind,
            is_pinned: passage.is_pinned,
            is_change: is_call && changes(passage.tool),
        });
    }

    /// Adds a unit of the next passage.
    fn add_unit(&mut self, piece: Piece<'_>, is_argument: bool) {
        let mut words = Vec::new();
        each_word(piece.meaning, |word| {
            let number = self.vocabulary.add(word);
            if is_argument {
                self.vocabulary.add_argument(number);
            }
            words.push(number);
        });
        words.sort_unstable();
        words.dedup();
        self.index.units.push(Unit {
            passage: self.index.passages.len(),
            cost: quarters(piece.text) + 1,
            key_cost: quarters(&piece.text[..piece.key_len]),
            list: piece.list,
            factor: piece.factor,
            words,
        });
    }

    /// Adds the words of a message outside the index, and marks the words of its call arguments.
    fn add_other(&mut self, message: &Message) {
        let calls = message.tool_calls.iter();
        for leaf in calls.filter_map(|call| leaves(&call.arguments)).flatten() {
            each_word(&leaf.value, |word| {
                if let Some(number) = self.vocabulary.find(word) {
                    self.vocabulary.add_argument(number);
                }
            });
        }
        for passage in passages(message) {
            each_word(&passage.text, |word| self.index.said.extend(self.vocabulary.find(word)));
        }
    }

    fn finish(mut self) -> Index {
        self.index.weigh(&self.vocabulary.into_kinds());
        self.index
    }
}

/// Collects the argument keys of all calls in lower case.
pub(super) fn argument_keys(messages: &[Message]) -> HashSet<String> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    let mut keys = HashSet::new();
    for call in calls {
        keys.extend(
            leaves(&call.arguments).unwrap_or_default().into_iter().map(|leaf| leaf.key.to_lowercase()),
        );
    }
    keys.remove("");
    keys
}

/// The weight, in percent, of text that does not mention its speaker.
const IMPERSONAL: u32 = 50;

/// Words for oneself.
const FIRST_PERSON: [&str; 8] = ["i", "i'm", "i've", "i'd", "i'll", "my", "our", "we"];

/// Returns whether a text mentions its speaker; always true for languages other than English.
fn speaks_of_itself(text: &str) -> bool {
    let is_chinese = !text.is_ascii() && text.chars().any(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c));
    if is_chinese {
        return text.contains(['我', '俺', '咱']);
    }
    let mut has_latin = false;
    let mut words = text.split(|c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’'));
    let is_first = |word: &str| FIRST_PERSON.iter().any(|first| first.eq_ignore_ascii_case(word));
    let found = words.any(|word| {
        has_latin |= word.bytes().any(|byte| byte.is_ascii_alphabetic());
        is_first(word) || (word.contains('’') && is_first(&word.replace('’', "'")))
    });
    found || !has_latin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_speak_of_themselves_in_the_first_person() {
        for text in [
            "I go",
            "so I’m",
            "and I'VE been",
            "My boat",
            "it is our lake",
            "We?",
            "我要去",
            "Ada 说我",
            "俺也去",
            "咱们",
        ] {
            assert!(speaks_of_itself(text), "{text}");
        }
        for text in ["You go", "in India", "it’s his", "weave", "酒店在上海", "a1 x1y", "Ada 说"] {
            assert!(!speaks_of_itself(text), "{text}");
        }
        // The speakers are unknown here.
        for text in ["", "12:30", "это так", "カタカナ"] {
            assert!(speaks_of_itself(text), "{text}");
        }
    }

    #[test]
    fn keys_of_arguments_are_known_in_lower_case() {
        let call = |arguments: &str| ctx_types::ToolCall {
            id: "c".into(),
            name: "f".into(),
            arguments: arguments.into(),
        };
        let source = ctx_types::Source::history("n", ctx_types::Role::Assistant);
        let message = Message::new(ctx_types::Role::Assistant, "", source);
        let message = message.with(|message| {
            message.tool_calls =
                vec![call(r#"{"Place": "x", "in": {"Room": 1}}"#), call("[2]"), call("no json")];
        });
        assert_eq!(argument_keys(&[message]), ["place".to_owned(), "room".to_owned()].into());
    }
}
