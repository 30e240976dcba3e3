//! Looking for many phrases in texts at once.
//!
//! A phrase is a list of words, and so is a text, a piece of it at a time. Which lengths are wanted is looked up by the
//! first word; sums over the words tell in one step what stands in so many of them. An automaton over all phrases would
//! be as fast, and would need a hundred bytes for each of their letters.

use std::borrow::Cow;
use std::collections::HashMap;

use ctx_types::internal::Fingerprint;

use crate::quality::key::{Reading, Word, each_word};
use crate::quality::side::Side;
use crate::request::is_filler;

/// Phrases of more words are not looked for.
const LONGEST: usize = 200;

/// How many words of a text are looked at together.
const PIECE: usize = 16_384;

/// What became of a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hit {
    /// Whether it stands in a text of the side, word for word.
    pub(super) is_there: bool,
    /// Whether it stands there if words that carry little are left out of both.
    pub(super) is_light: bool,
    /// The first place: the passage, and where in it the phrase begins; none for what stands beside texts.
    pub(super) place: Option<(u32, u32)>,
}

/// Where phrases were found, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Hits(Vec<Hit>);

impl Hits {
    /// Looks for so many phrases, written as [`normal`](crate::quality::key::normal) writes them; blank ones are nowhere.
    ///
    /// O(bytes of both), times the lengths in which phrases begin with one word, which are at most 200.
    pub(super) fn of<'p, I: Iterator<Item = Cow<'p, str>>>(
        phrases: impl Fn() -> I,
        count: usize,
        side: &Side<'_>,
    ) -> Self {
        let mut hits = vec![Hit::default(); count];
        Wanted::of(phrases(), false).search_side(side, &mut |which, place| {
            if let Some(hit) = hits.get_mut(which) {
                hit.is_there = true;
                hit.place = hit.place.or(place);
            }
        });
        Wanted::of(phrases(), true).search_side(side, &mut |which, _| {
            if let Some(hit) = hits.get_mut(which) {
                hit.is_light = true;
            }
        });
        Self(hits)
    }

    /// Returns what became of a phrase.
    pub(super) fn get(&self, which: usize) -> Hit {
        self.0.get(which).copied().unwrap_or_default()
    }
}

/// Phrases that are looked for.
#[derive(Debug, Default)]
struct Wanted {
    /// Sums of words, each with the phrase that has them, sorted.
    sums: Vec<(u64, u32)>,
    /// First words with lengths of phrases, sorted, each once.
    lengths: Vec<(u64, u16)>,
    /// Where the lengths of a first word are.
    by_first: HashMap<u64, (u32, u32)>,
    /// Whether words that carry little are left out.
    is_light: bool,
}

impl Wanted {
    fn of<'p>(phrases: impl Iterator<Item = Cow<'p, str>>, is_light: bool) -> Self {
        let mut wanted = Self { is_light, ..Self::default() };
        for (phrase, which) in phrases.zip(0..) {
            wanted.add(&phrase, which);
        }
        wanted.sums.sort_unstable();
        wanted.lengths.sort_unstable();
        wanted.lengths.dedup();
        for ((first, _), at) in wanted.lengths.iter().zip(0_u32..) {
            wanted.by_first.entry(*first).or_insert((at, at)).1 = at + 1;
        }
        wanted
    }

    fn add(&mut self, phrase: &str, which: u32) {
        let (mut line, mut runs) = (Line::default(), 0);
        each_word(phrase, Reading::Signs, &mut |word| {
            if !self.is_light || !is_filler(word.text) {
                line.push(word);
                runs += usize::from(!word.is_joined);
            }
        });
        let length = line.words.len();
        // A phrase of which less than two words are left says too little.
        let says_enough = length > 0 && (!self.is_light || runs > 1);
        let (Some(first), true) = (line.words.first(), says_enough && length <= LONGEST) else { return };
        self.lengths.push((*first, u16::try_from(length).unwrap_or(u16::MAX)));
        self.sums.push((line.sum(0, length), which));
    }

    /// Calls `visit` for phrases that stand in texts of a side or beside them, with their places.
    fn search_side(&self, side: &Side<'_>, visit: &mut dyn FnMut(usize, Option<(u32, u32)>)) {
        for text in &side.beside {
            self.search(text, Reading::Signs, &mut |which, _| visit(which, None));
        }
        for (passage, number) in side.passages.iter().zip(0..) {
            for reading in passage.readings() {
                let mut visit = |which, start| visit(which, Some((number, start)));
                self.search(&passage.text, *reading, &mut visit);
            }
        }
    }

    /// Calls `visit` for phrases that stand in a text, with their first bytes.
    fn search(&self, text: &str, reading: Reading, visit: &mut dyn FnMut(usize, u32)) {
        if self.sums.is_empty() {
            return;
        }
        let mut line = Line::default();
        each_word(text, reading, &mut |word| {
            if !self.is_light || !is_filler(word.text) {
                line.push(word);
            }
            if line.words.len() == PIECE {
                self.search_line(&line, PIECE - LONGEST, visit);
                line.forget(PIECE - LONGEST);
            }
        });
        self.search_line(&line, line.words.len(), visit);
    }

    /// Looks for phrases that begin with one of the first words of a line.
    fn search_line(&self, line: &Line, begins: usize, visit: &mut dyn FnMut(usize, u32)) {
        for (at, first) in line.words.iter().enumerate().take(begins) {
            let Some((from, to)) = self.by_first.get(first) else { continue };
            let lengths = self.lengths.get(*from as usize..*to as usize).unwrap_or_default();
            let lengths = lengths.iter().map(|(_, length)| usize::from(*length));
            for length in lengths.take_while(|length| at + length <= line.words.len()) {
                let start = line.starts.get(at).copied().unwrap_or_default();
                self.each_with(line.sum(at, length), &mut |which| visit(which, start));
            }
        }
    }

    fn each_with(&self, sum: u64, visit: &mut dyn FnMut(usize)) {
        let first = self.sums.partition_point(|(other, _)| *other < sum);
        let equal = self.sums.iter().skip(first).take_while(|(other, _)| *other == sum);
        equal.for_each(|(_, which)| visit(*which as usize));
    }
}

/// The powers of [`Line::BASE`] up to that of the longest phrase.
const POWERS: [u64; LONGEST + 1] = {
    let mut powers = [1_u64; LONGEST + 1];
    let mut at = 1;
    while at <= LONGEST {
        powers[at] = powers[at - 1].wrapping_mul(Line::BASE);
        at += 1;
    }
    powers
};

/// Words in a row, as numbers.
#[derive(Debug)]
struct Line {
    words: Vec<u64>,
    starts: Vec<u32>,
    /// Before each word, and behind the last: the sum of what precedes, each word times a power of [`Line::BASE`].
    sums: Vec<u64>,
}

impl Default for Line {
    fn default() -> Self {
        Self { words: Vec::new(), starts: Vec::new(), sums: vec![0] }
    }
}

impl Line {
    /// An odd number without a pattern in its bits.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

    fn push(&mut self, word: Word<'_>) {
        let number = Fingerprint::default().text(word.text).as_u64();
        let sum = self.sums.last().copied().unwrap_or_default();
        self.words.push(number);
        self.starts.push(u32::try_from(word.start).unwrap_or(u32::MAX));
        self.sums.push(sum.wrapping_mul(Self::BASE).wrapping_add(number));
    }

    /// Returns a number for some words that is the same wherever they stand.
    fn sum(&self, at: usize, length: usize) -> u64 {
        let sum = |at: usize| self.sums.get(at).copied().unwrap_or_default();
        let power = POWERS.get(length).copied().unwrap_or_default();
        sum(at + length).wrapping_sub(sum(at).wrapping_mul(power))
    }

    /// Leaves the first words out.
    fn forget(&mut self, count: usize) {
        self.words.drain(..count);
        self.starts.drain(..count);
        self.sums.drain(..count);
    }
}
