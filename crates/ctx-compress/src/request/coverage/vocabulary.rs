//! The numbers and kinds of words.

use std::collections::HashMap;

use crate::request::coverage::words::Word;

/// The words of a conversation: numbers from 0 in the order of their first use, with their kinds.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    numbers: HashMap<Box<str>, u32>,
    kinds: Vec<Kind>,
}

impl Vocabulary {
    /// Returns the number of a word, the next one for a new word.
    pub(super) fn add(&mut self, word: Word<'_>) -> u32 {
        let number = self.find(word).unwrap_or_else(|| {
            let number = u32::try_from(self.kinds.len()).expect("a conversation has fewer than 2^32 words");
            self.numbers.insert(word.stem.into(), number);
            self.kinds.push(Kind::of(word.stem));
            number
        });
        let kind = &mut self.kinds[number as usize];
        kind.add(Kind::NAME, word.is_name);
        kind.add(Kind::QUOTED, word.is_quoted);
        number
    }

    /// Returns the number of an earlier word.
    pub(super) fn find(&self, word: Word<'_>) -> Option<u32> {
        self.numbers.get(word.stem).copied()
    }

    /// Marks a word as part of an argument of a call.
    pub(super) fn add_argument(&mut self, number: u32) {
        self.kinds[number as usize].add(Kind::ARGUMENT, true);
    }

    /// Returns the kinds of the words.
    pub(super) fn into_kinds(self) -> Vec<Kind> {
        self.kinds
    }
}

/// The kind of a word: the flags from all its occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    /// The word contains a digit.
    pub(super) const DIGIT: Self = Self(1);
    /// The word has one to three digits and nothing else.
    pub(super) const SMALL_NUMBER: Self = Self(2);
    /// The word has digits and letters, like an id.
    pub(super) const MIXED: Self = Self(4);
    /// The word is capitalized within a sentence.
    pub(super) const NAME: Self = Self(8);
    /// The word is in a short quotation.
    pub(super) const QUOTED: Self = Self(16);
    /// The word is in an argument of a tool call.
    pub(super) const ARGUMENT: Self = Self(32);

    /// Returns the kind of a word by its characters.
    fn of(stem: &str) -> Self {
        let has_digit = stem.contains(char::is_numeric);
        let mut kind = Self::default();
        if has_digit {
            let is_number = !stem.contains(|c: char| !c.is_ascii_digit());
            kind.add(Self::DIGIT, true);
            kind.add(Self::SMALL_NUMBER, is_number && stem.len() <= 3);
            kind.add(Self::MIXED, stem.contains(char::is_alphabetic));
        }
        kind
    }

    /// Returns whether the word has these flags.
    pub(super) const fn is(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn add(&mut self, other: Self, is_so: bool) {
        self.0 |= if is_so { other.0 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn word(stem: &str) -> Word<'_> {
        Word { stem, is_name: false, is_quoted: false }
    }

    #[test]
    fn kinds_are_told_by_the_signs() {
        let shown =
            |word: &str| [Kind::DIGIT, Kind::SMALL_NUMBER, Kind::MIXED].map(|kind| Kind::of(word).is(kind));
        assert_eq!(shown("123"), [true, true, false]);
        assert_eq!(shown("2024-05-01"), [true, false, false]);
        assert_eq!(shown("hat069"), [true, false, true]);
        assert_eq!(shown("hat"), [false, false, false]);
        assert_eq!(shown("酒店"), [false, false, false]);
        assert_eq!(shown("1234"), [true, false, false]);
        assert_eq!(shown("1.5"), [true, false, false]);
        assert_eq!(shown("٣"), [true, false, false]);
    }

    #[test]
    fn words_have_numbers_in_the_order_in_which_they_come() {
        let mut vocabulary = Vocabulary::default();
        let numbers = ["a", "b", "a", "c"].map(|stem| vocabulary.add(word(stem)));
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!((vocabulary.find(word("c")), vocabulary.find(word("d"))), (Some(2), None));
        assert_eq!(vocabulary.into_kinds().len(), 3);
    }

    #[test]
    fn what_a_word_is_once_it_is() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add(word("lin"));
        vocabulary.add(Word { stem: "lin", is_name: true, is_quoted: false });
        vocabulary.add_argument(0);
        let [kind] = vocabulary.into_kinds()[..] else { panic!("one word") };
        assert!(kind.is(Kind::NAME) && kind.is(Kind::ARGUMENT) && !kind.is(Kind::QUOTED));
    }
}
