//! The index of a conversation: its units, their words, and what both are worth.

use std::collections::HashSet;

use ctx_types::{Message, NoteLineKind};

use crate::request::coverage::calls::changes;
use crate::request::coverage::leaves::leaves;
use crate::request::coverage::passage::{Passage, passages, write_prefix};
use crate::request::coverage::pieces::{Piece, Style, pieces};
use crate::request::coverage::speakers::Speakers;
use crate::request::coverage::words::{Kind, Vocabulary, each_word};
use crate::request::meter::quarters;

/// A piece that is taken or not, without its text: that is made again where it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The passage, as a position in [`Index::passages`].
    pub(super) passage: u32,
    /// Its position among the pieces of the passage.
    pub(super) ordinal: u32,
    /// What its text and a blank cost, in quarters of a token.
    pub(super) cost: u32,
    /// How much of that is a key that items of the same list share.
    pub(super) key_cost: u16,
    /// The list, counted from 1 within the passage; 0 for none.
    pub(super) list: u16,
    /// How much its words count, in thousandths.
    pub(super) factor: u32,
    /// Where its words begin in [`Index::words`]; they end where those of the next unit begin.
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
    pub(super) kind: NoteLineKind,
    pub(super) is_pinned: bool,
    /// Whether it is a call that changes something.
    pub(super) is_change: bool,
}

/// All units of a part of a conversation, oldest first.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) passages: Vec<PassageEntry>,
    pub(super) units: Vec<Unit>,
    words: Vec<u32>,
    pub(super) vocabulary: Vocabulary,
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
    pub(super) fn pieces<'a>(&self, passage: &'a Passage<'_>) -> Vec<Piece<'a>> {
        pieces(passage, self.speakers.name(passage.kind), self.style, &self.argument_keys)
    }
}

impl Index {
    /// Reads the messages at these indexes. O(bytes), and some 40 bytes of memory for each unit.
    pub(super) fn of(
        messages: &[Message],
        indexes: impl IntoIterator<Item = usize>,
        making: &Making,
    ) -> Self {
        let mut index = Self::default();
        for at in indexes {
            let Some(message) = messages.get(at) else { continue };
            for (ordinal, passage) in passages(message).iter().enumerate() {
                index.add(at, ordinal, passage, making);
            }
        }
        index
    }

    fn add(&mut self, message: usize, ordinal: usize, passage: &Passage<'_>, making: &Making) {
        let mut prefix = String::new();
        write_prefix(passage.kind, passage.tool, &mut prefix);
        let is_call = passage.kind == NoteLineKind::Call;
        self.passages.push(PassageEntry {
            message: narrow(message),
            ordinal: narrow(ordinal),
            prefix: narrow(quarters(&prefix)),
            kind: passage.kind,
            is_pinned: passage.is_pinned,
            is_change: is_call && changes(passage.tool),
        });
        let first = self.units.len();
        for (ordinal, piece) in making.pieces(passage).iter().enumerate() {
            self.add_unit(ordinal, piece, is_call);
        }
        let is_talk = matches!(passage.kind, NoteLineKind::User | NoteLineKind::Assistant);
        if is_talk && passage.cuts.is_none() && !speaks_of_itself(&passage.text) {
            for unit in self.units.iter_mut().skip(first) {
                unit.factor = unit.factor * IMPERSONAL / 100;
            }
        }
    }

    fn add_unit(&mut self, ordinal: usize, piece: &Piece<'_>, is_argument: bool) {
        let words = narrow(self.words.len());
        let number = narrow(self.units.len() + 1);
        let (vocabulary, list) = (&mut self.vocabulary, &mut self.words);
        each_word(piece.meaning.as_deref().unwrap_or(&piece.text), &mut |word| {
            list.extend(vocabulary.add(word, number));
        });
        if is_argument {
            for word in self.words.iter().skip(words as usize) {
                self.vocabulary.note_argument(*word);
            }
        }
        let key = piece.text.get(..piece.key_len).unwrap_or_default();
        self.units.push(Unit {
            passage: narrow(self.passages.len() - 1),
            ordinal: narrow(ordinal),
            cost: narrow(quarters(&piece.text)).saturating_add(1),
            key_cost: u16::try_from(quarters(key)).unwrap_or(u16::MAX),
            list: piece.list,
            factor: piece.factor,
            words,
        });
    }

    /// Returns the words of a unit, each once.
    pub(super) fn words(&self, unit: usize) -> &[u32] {
        let start = self.units.get(unit).map_or(0, |unit| unit.words as usize);
        let end = self.units.get(unit + 1).map_or(self.words.len(), |unit| unit.words as usize);
        self.words.get(start..end).unwrap_or_default()
    }

    /// Notes which words are arguments of calls that are not in the index.
    pub(super) fn note_arguments_of(&mut self, message: &Message) {
        let calls = message.tool_calls.iter();
        let vocabulary = &mut self.vocabulary;
        for leaf in calls.filter_map(|call| leaves(&call.arguments)).flatten() {
            each_word(&leaf.value, &mut |word| {
                vocabulary.id(word).into_iter().for_each(|id| vocabulary.note_argument(id));
            });
        }
    }

    /// Returns what each word is worth, in 256ths.
    ///
    /// Rare words are worth more, but one that occurs once only is hardly spoken of. Numbers, ids, names, titles and
    /// what calls were made with are what later turns need to the letter.
    pub(super) fn weights(&self) -> Vec<u32> {
        let units = self.units.len();
        self.vocabulary.known.iter().map(|known| weight(units, known.units, known.kind)).collect()
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

/// Tells whether a text speaks of its speaker; so does every text in a language that this cannot tell of.
fn speaks_of_itself(text: &str) -> bool {
    let is_chinese = text.chars().any(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c));
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

fn weight(units: usize, with: u32, kind: Kind) -> u32 {
    const FLOOR: f64 = 0.3;
    const ONCE: f64 = 0.6;
    const DIGITS: f64 = 4.0;
    const SMALL_NUMBER: f64 = 0.35;
    const MIXED: f64 = 2.0;
    const NAME: f64 = 3.0;
    const TITLE: f64 = 2.0;
    const ARGUMENT: f64 = 2.0;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let rarity = (1.0 + units as f64 / f64::from(with.max(1))).ln() - FLOOR;
    let factors = [
        (with == 1, ONCE),
        (kind.has_digit, DIGITS),
        (kind.is_small_number, SMALL_NUMBER),
        (kind.is_mixed, MIXED),
        (kind.is_name && !kind.has_digit, NAME),
        (kind.is_quoted, TITLE),
        (kind.is_argument, ARGUMENT),
    ];
    let worth =
        factors.iter().filter(|(holds, _)| *holds).fold(rarity.max(0.0), |worth, (_, factor)| worth * factor);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most some thousands, not negative"
    )]
    // Whole numbers, so that the last bit of a logarithm changes nothing.
    let rounded = (worth * 256.0).round() as u32;
    rounded
}

/// Brings a number into 32 bits; conversations are limited long before.
fn narrow(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
