//! Postings: in which records each word occurs, in little memory.

use crate::request::WordTable;

/// For each word, by its hash, the records that have it, newest first, so that a search may stop before the oldest.
///
/// A word that one record has once takes 8 bytes and the free places of a table; any other takes 16 more, and 1 or 2
/// for each record but the newest. Words are told apart by 38 bits of their hashes: of a million, two take each other
/// for the same once or twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    /// For each word the record that has it once, or with [`LIST`] the number of its list.
    words: WordTable<32>,
    lists: Vec<List>,
    /// The slices of all lists.
    bytes: Vec<u8>,
}

/// A word that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordId(u32);

const LIST: u32 = 1 << 31;

/// How many records there may be: their numbers and that of a list share 32 bits.
pub(super) const MOST_RECORDS: usize = LIST as usize - 2;

/// How many bytes all slices may have: places in them are 32 bits.
const MOST_BYTES: usize = u32::MAX as usize - 2 * SLICE.1;

/// The records of a word.
#[derive(Clone, Copy, Debug)]
struct List {
    /// The newest record.
    last: u32,
    /// How many records there are.
    count: u32,
    /// Where the newest slice begins.
    slice: u32,
    /// How many slices there are.
    slices: u16,
    /// How many bytes of the newest are free.
    free: u8,
    /// How often the newest record has the word.
    times: u8,
}

/// The least and the greatest number of bytes in a slice; each has 4 more than the one before.
///
/// So what a list leaves free, and what it takes to lead from slice to slice, are both near the root of its length.
const SLICE: (usize, usize) = (6, 250);

/// The bytes before a slice that say where the one before begins; the first has none.
const LINK: usize = size_of::<u32>();

fn slice_len(slices: u16) -> usize {
    (SLICE.0 + 4 * usize::from(slices.saturating_sub(1))).min(SLICE.1)
}

impl Postings {
    /// Notes that a record has a word so many times, at least once. Records come in ascending order, each once.
    pub(super) fn push(&mut self, word: u64, record: u32, times: u8) {
        match self.words.find(word) {
            None if times == 1 => self.words.set(word, record),
            None => {
                let list = self.begin(record, times);
                self.words.set(word, list);
            }
            Some(list) if list & LIST != 0 => self.append((list ^ LIST) as usize, record, times),
            Some(first) => {
                let list = self.begin(first, 1);
                self.words.set(word, list);
                self.append((list ^ LIST) as usize, record, times);
            }
        }
    }

    fn begin(&mut self, record: u32, times: u8) -> u32 {
        make_room(&mut self.lists);
        self.lists.push(List { last: record, count: 1, slice: 0, slices: 0, free: 0, times });
        LIST | u32::try_from(self.lists.len() - 1).unwrap_or_default()
    }

    /// Writes the way back from a record to the one before: in groups of 7 bits, the lowest first, doubled, and with 1
    /// added where a byte follows that says how often that one has the word. A slice is filled from its end, so that
    /// the newest is read first; free bytes are 0, with which no step begins.
    fn append(&mut self, at: usize, record: u32, times: u8) {
        let Some(list) = self.lists.get_mut(at) else { return };
        let mut code = [0; LONGEST];
        let len = encoded(record - list.last, list.times, &mut code);
        let start = usize::from(list.free).checked_sub(len).unwrap_or_else(|| {
            let before = list.slice;
            list.slices = list.slices.saturating_add(1);
            let (link, len_of_slice) = (if list.slices > 1 { LINK } else { 0 }, slice_len(list.slices));
            let begin = self.bytes.len() + link;
            let end = begin + len_of_slice;
            if self.bytes.capacity() < end {
                self.bytes.reserve_exact(self.bytes.len() / 8 + LINK + SLICE.1);
            }
            self.bytes.extend_from_slice(before.to_le_bytes().get(..link).unwrap_or_default());
            self.bytes.resize(end, 0);
            list.slice = u32::try_from(begin).unwrap_or_default();
            len_of_slice - len
        });
        let begin = list.slice as usize + start;
        if let Some((bytes, code)) = self.bytes.get_mut(begin..begin + len).zip(code.get(..len)) {
            bytes.copy_from_slice(code);
        }
        list.free = u8::try_from(start).unwrap_or_default();
        (list.last, list.count, list.times) = (record, list.count + 1, times);
    }

    /// Returns whether nothing more can be written.
    pub(super) const fn is_full(&self) -> bool {
        self.bytes.len() >= MOST_BYTES
    }

    /// Returns a word that some record has.
    pub(super) fn find(&self, word: u64) -> Option<WordId> {
        self.words.find(word).map(WordId)
    }

    /// Returns how many records have a word.
    pub(super) fn count(&self, word: WordId) -> u32 {
        self.list(word).map_or(1, |list| list.count)
    }

    fn list(&self, word: WordId) -> Option<&List> {
        self.lists.get((word.0 & LIST != 0).then_some(word.0 ^ LIST)? as usize)
    }

    /// Visits the newest records that have a word, `most` at the most, with how often; returns how many.
    pub(super) fn each(&self, word: WordId, most: usize, mut visit: impl FnMut(u32, u8)) -> usize {
        if most == 0 {
            return 0;
        }
        let Some(list) = self.list(word) else {
            visit(word.0, 1);
            return 1;
        };
        let (mut record, mut visited) = (list.last, 1);
        visit(record, list.times);
        let mut begin = list.slice as usize;
        for slices in (1..=list.slices).rev() {
            let slice = self.bytes.get(begin..begin + slice_len(slices)).unwrap_or_default();
            let mut bytes = slice.iter().copied().skip_while(|byte| *byte == 0);
            while let Some((step, times)) = decoded(&mut bytes) {
                if visited == most {
                    return visited;
                }
                record -= step;
                visit(record, times);
                visited += 1;
            }
            begin = self.link(begin);
        }
        visited
    }

    /// Returns where the slice before another begins.
    fn link(&self, begin: usize) -> usize {
        let link = begin.checked_sub(LINK).and_then(|link| self.bytes.get(link..begin));
        let link: Option<[u8; LINK]> = link.and_then(|link| link.try_into().ok());
        link.map_or(0, |link| u32::from_le_bytes(link) as usize)
    }

    /// Returns the bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.words.memory() + self.lists.capacity() * size_of::<List>() + self.bytes.capacity()
    }
}

/// Grows by an eighth, where doubling would leave half of the memory empty.
pub(super) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 8);
    }
}

/// The longest step: 33 bits, and how often.
const LONGEST: usize = 6;

/// Writes a step, and how often the word occurs; returns the bytes taken.
fn encoded(difference: u32, times: u8, into: &mut [u8; LONGEST]) -> usize {
    let mut rest = u64::from(difference) << 1 | u64::from(times > 1);
    let mut len = 0;
    for byte in into.iter_mut() {
        let low = u8::try_from(rest & 0x7F).unwrap_or_default();
        rest >>= 7;
        *byte = low | if rest > 0 { 0x80 } else { 0 };
        len += 1;
        if rest == 0 {
            break;
        }
    }
    if times > 1 {
        into[len.min(LONGEST - 1)] = times;
        len += 1;
    }
    len
}

fn decoded(bytes: &mut impl Iterator<Item = u8>) -> Option<(u32, u8)> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let times = if number & 1 == 1 { bytes.next()? } else { 1 };
    let difference = u32::try_from(number >> 1).ok().filter(|difference| *difference > 0)?;
    Some((difference, times))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks that what was pushed for some words is read again, the newest first.
    #[track_caller]
    fn check(pushed: &[(u64, u32, u8)]) {
        let mut postings = Postings::default();
        for (word, record, times) in pushed {
            postings.push(*word << 58, *record, *times);
        }
        for word in 0..4 {
            let of_word = pushed.iter().rev().filter(|(of, ..)| *of == word);
            let written: Vec<(u32, u8)> = of_word.map(|(_, record, times)| (*record, *times)).collect();
            let Some(found) = postings.find(word << 58) else {
                assert!(written.is_empty());
                continue;
            };
            for most in [0, 1, written.len() / 2, usize::MAX] {
                let mut read = Vec::new();
                let visited = postings.each(found, most, |record, times| read.push((record, times)));
                assert_eq!((visited, &*read), (read.len(), &written[..written.len().min(most)]));
            }
            assert_eq!(postings.count(found) as usize, written.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_is_read(steps in prop::collection::vec((0..4_u64, prop_oneof![1..40_u32, 1..9_000_000_u32], prop_oneof![4 => Just(1_u8), 1 => 1..=255_u8]), 1..200)) {
            let mut record = 0;
            let pushed: Vec<(u64, u32, u8)> = steps.into_iter().map(|(word, step, times)| {
                record += step;
                (word, record, times)
            }).collect();
            check(&pushed);
        }
    }

    #[test]
    fn long_lists_are_read_to_their_end() {
        let pushed: Vec<(u64, u32, u8)> =
            (0..100_000).map(|n| (u64::from(n % 7 == 0), n * 3, 1 + u8::from(n % 5 == 0))).collect();
        check(&pushed);
    }

    #[test]
    fn a_word_that_is_not_there_is_not_found() {
        assert_eq!(Postings::default().find(7), None);
    }
}
