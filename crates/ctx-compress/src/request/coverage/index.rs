//! The index of a conversation: its units, their words, and what both are worth.

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

/// All units of a part of a conversation, oldest first, without their texts: those are made again where they are taken.
///
/// Words are numbers in the order of their first occurrence. Most occur in one unit only: a unit has its new words as
/// a range, and only repeated words as a list.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) passages: Vec<PassageEntry>,
    units: Vec<Unit>,
    /// The words of each unit that an earlier unit has, ascending.
    repeated_words: Vec<u32>,
    /// What each word is worth, in 256ths.
    pub(super) weights: Vec<u32>,
    /// Words that are said in the rest of the request.
    pub(super) said: Vec<u32>,
}

/// A piece that is taken or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The passage, as a position in [`Index::passages`].
    pub(super) passage: u32,
    /// What its text and a blank cost, in quarters of a token.
    pub(super) cost: u32,
    /// How much its words count, in thousandths.
    pub(super) factor: u32,
    /// How much of the cost is a key that items of the same list share.
    pub(super) key_cost: u16,
    /// The list, counted from 1 within the passage; 0 for none.
    pub(super) list: u16,
    /// The first of the words that no unit before has; they end where those of the next unit begin.
    new_words: u32,
    /// Where its other words begin in [`Index::repeated_words`]; they end where those of the next unit begin.
    words: u32,
}

/// A passage of the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassageEntry {
    /// The index of its message.
    pub(super) message: u32,
    /// Its position among the passages of the message.
    pub(super) ordinal: u32,
    /// What its line costs beside its units, in quarters of a token.
    pub(super) prefix: u32,
    /// The first of its units; they end where those of the next passage begin.
    first_unit: u32,
    pub(super) kind: NoteLineKind,
    pub(super) is_pinned: bool,
    /// Whether it is a call that changes something.
    pub(super) is_change: bool,
}

impl Index {
    /// Reads the messages at these indexes, and the words of the others. O(bytes).
    pub(super) fn of<'m>(
        messages: &[Message],
        indexes: &[usize],
        others: impl Iterator<Item = &'m Message>,
        making: &Making,
    ) -> Self {
        let mut reader =
            Reader { making, vocabulary: Vocabulary::default(), index: Self::default(), words: Vec::new() };
        reader.index.passages.reserve(indexes.len());
        for at in indexes {
            let Some(message) = messages.get(*at) else { continue };
            for (ordinal, passage) in passages(message).iter().enumerate() {
                reader.add(*at, ordinal, passage);
            }
        }
        others.for_each(|message| reader.note_other(message));
        reader.finish()
    }

    /// Returns how many units there are.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns a unit by its position.
    pub(super) fn unit(&self, at: usize) -> Option<&Unit> {
        self.units.get(at)
    }

    /// Returns the units of a passage.
    pub(super) fn units_of(&self, passage: u32) -> Range<usize> {
        let first = |passage: usize| self.passages.get(passage).map(|entry| entry.first_unit as usize);
        let passage = passage as usize;
        first(passage).map_or(0..0, |start| start..first(passage + 1).unwrap_or(self.len()))
    }

    /// Returns the position of a unit among those of its passage.
    pub(super) fn ordinal(&self, at: usize, unit: &Unit) -> u32 {
        narrow(at - self.units_of(unit.passage).start)
    }

    /// Returns the words of a unit, each once: the range of those that no unit before has, and the others.
    pub(super) fn words(&self, at: usize) -> (Range<usize>, impl Iterator<Item = u32>) {
        let new_words = |at: usize| self.unit(at).map_or(self.weights.len(), |unit| unit.new_words as usize);
        let words = |at: usize| self.unit(at).map_or(self.repeated_words.len(), |unit| unit.words as usize);
        let repeated = self.repeated_words[words(at)..words(at + 1)].iter().copied();
        (new_words(at)..new_words(at + 1), repeated)
    }

    /// Adds a unit, with those of its words that came before, ascending.
    fn push(&mut self, unit: Unit, words: &[u32]) {
        self.units.push(Unit { words: narrow(self.repeated_words.len()), ..unit });
        self.repeated_words.extend_from_slice(words);
    }

    /// Counts the units of each word, and weighs it.
    fn weigh(&mut self, kinds: &[Kind]) {
        let units = self.len();
        let mut counts = vec![1; kinds.len()];
        for word in (0..units).flat_map(|at| self.words(at).1) {
            if let Some(count) = counts.get_mut(word as usize) {
                *count += 1;
            }
        }
        self.weights = counts;
        let once: Vec<u32> = Kind::all().map(|kind| worth(units, 1, kind)).collect();
        for (weight, kind) in self.weights.iter_mut().zip(kinds) {
            *weight = match *weight {
                1 => once.get(kind.number()).copied().unwrap_or_default(),
                with => worth(units, with, *kind),
            };
        }
    }
}

/// How pieces are made from passages, the same whenever they are made.
#[derive(Debug)]
pub(super) struct Making {
    pub(super) style: Style,
    pub(super) speakers: Speakers,
    pub(super) argument_keys: HashSet<String>,
}

impl Making {
    /// Makes the pieces of a passage.
    pub(super) fn each_piece(&self, passage: &Passage<'_>, visit: &mut Visit<'_>) {
        each_piece(passage, self.speakers.name(passage.kind), self.style, &self.argument_keys, visit);
    }
}

/// Makes an index, message by message.
struct Reader<'a> {
    making: &'a Making,
    vocabulary: Vocabulary,
    index: Index,
    /// The words of the unit that is read, without its new ones.
    words: Vec<u32>,
}

impl Reader<'_> {
    fn add(&mut self, message: usize, ordinal: usize, passage: &Passage<'_>) {
        let mut prefix = String::new();
        write_prefix(passage.kind, passage.tool, &mut prefix);
        let is_call = passage.kind == NoteLineKind::Call;
        let is_talk = matches!(passage.kind, NoteLineKind::User | NoteLineKind::Assistant);
        let is_impersonal = is_talk && passage.cuts.is_none() && !speaks_of_itself(&passage.text);
        self.index.passages.push(PassageEntry {
            message: narrow(message),
            ordinal: narrow(ordinal),
            prefix: narrow(quarters(&prefix)),
            first_unit: narrow(self.index.len()),
            kind: passage.kind,
            is_pinned: passage.is_pinned,
            is_change: is_call && changes(passage.tool),
        });
        self.making.each_piece(passage, &mut |piece| {
            let share = if is_impersonal { IMPERSONAL } else { 100 };
            self.add_unit(Piece { factor: piece.factor * share / 100, ..piece }, is_call);
        });
    }

    fn add_unit(&mut self, piece: Piece<'_>, is_argument: bool) {
        let new_words = narrow(self.vocabulary.len());
        self.words.clear();
        each_word(piece.meaning, |word| {
            let number = self.vocabulary.add(word);
            if is_argument {
                self.vocabulary.note_argument(number);
            }
            self.words.extend(Some(number).filter(|number| *number < new_words));
        });
        self.words.sort_unstable();
        self.words.dedup();
        let passage = narrow(self.index.passages.len() - 1);
        let key = piece.text.get(..piece.key_len).unwrap_or_default();
        let unit = Unit {
            passage,
            cost: narrow(quarters(piece.text)).saturating_add(1),
            key_cost: u16::try_from(quarters(key)).unwrap_or(u16::MAX),
            list: piece.list,
            factor: piece.factor,
            new_words,
            words: 0,
        };
        self.index.push(unit, &self.words);
    }

    /// Notes what a message says that is not in the index, and which words are arguments of its calls.
    fn note_other(&mut self, message: &Message) {
        let calls = message.tool_calls.iter();
        for leaf in calls.filter_map(|call| leaves(&call.arguments)).flatten() {
            each_word(&leaf.value, |word| {
                if let Some(number) = self.vocabulary.find(word) {
                    self.vocabulary.note_argument(number);
                }
            });
        }
        for passage in passages(message) {
            each_word(&passage.text, |word| self.index.said.extend(self.vocabulary.find(word)));
        }
    }

    fn finish(mut self) -> Index {
        self.index.said.sort_unstable();
        self.index.said.dedup();
        let kinds = self.vocabulary.into_kinds();
        self.index.weigh(&kinds);
        self.index
    }
}

/// Collects the keys of arguments of all calls, in lower case.
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

/// What talk counts, in hundredths, that is not about the speaker.
const IMPERSONAL: u32 = 50;

/// Words with which people speak of themselves.
const FIRST_PERSON: [&str; 8] = ["i", "i'm", "i've", "i'd", "i'll", "my", "our", "we"];

/// Returns whether a text speaks of its speaker; so does every text in a language that this cannot tell of.
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

/// Brings a number into 32 bits; conversations are limited long before.
fn narrow(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
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
        // Nobody knows of these.
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
