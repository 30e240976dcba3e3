//! Postings: the records of each word.

use std::collections::HashMap;

/// The maximum count of a word in a record; higher counts hardly change a score.
pub(super) const MAX_TIMES: u8 = 15;

/// A record, and the number of times the word occurs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) record: u32,
    pub(super) times: u8,
}

/// The records of each word: most are in sorted arrays, which need little memory, and new ones in a map.
#[derive(Debug, Default)]
pub(super) struct Postings {
    recent: HashMap<Box<str>, PostingList>,
    /// The bytes of the lists in `recent`.
    recent_bytes: usize,
    settled: SettledPostings,
}

/// Sorted words with their lists.
#[derive(Debug, Default)]
struct SettledPostings {
    words: String,
    lists: Vec<u8>,
    entries: Vec<SettledEntry>,
}

/// The start of a word and of its list; they end at the start of the next ones.
#[derive(Clone, Copy, Debug)]
struct SettledEntry {
    word: u32,
    list: u32,
    count: u32,
    end: u32,
}

/// The records of a found word.
#[derive(Clone, Debug)]
pub(super) struct FoundWord<'a> {
    recent: Option<&'a PostingList>,
    settled: Option<(&'a [u8], SettledEntry)>,
}

/// The records of one word.
///
/// Each record is stored as the distance to the previous one, in groups of 7 bits. All bytes of a number except the
/// first have their highest bit set, so that a list can be read from its end: a search needs only the newest records.
/// Each further occurrence in the same record is a zero.
#[derive(Debug, Default)]
pub(super) struct PostingList {
    bytes: Vec<u8>,
    count: u32,
    /// The number after the newest record.
    end: u32,
}

impl Postings {
    /// Adds an occurrence of a word; records must come in ascending order.
    pub(super) fn add(&mut self, word: &str, record: u32) {
        let list = match self.recent.get_mut(word) {
            Some(list) => list,
            None => self.recent.entry(word.into()).or_default(),
        };
        let before = list.bytes.len();
        list.add(record);
        self.recent_bytes += list.bytes.len() - before;
    }

    pub(super) fn get(&self, word: &str) -> Option<FoundWord<'_>> {
        let (recent, settled) = (self.recent.get(word), self.settled.get(word));
        (recent.is_some() || settled.is_some()).then_some(FoundWord { recent, settled })
    }

    /// Moves new words into the arrays if there are many of them. O(all words), once per eighth of their occurrences.
    pub(super) fn settle_if_large(&mut self) {
        const FEW_BYTES: usize = 4_096;
        if self.recent_bytes > FEW_BYTES.max(self.settled.lists.len() / 8) {
            self.settle();
        }
    }

    pub(super) fn settle(&mut self) {
        let mut recent: Vec<(Box<str>, PostingList)> = std::mem::take(&mut self.recent).into_iter().collect();
        recent.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let before = std::mem::take(&mut self.settled);
        let mut next = 0;
        for (word, new) in recent {
            while next < before.entries.len() && before.word(next) < &*word {
                self.settled.push(before.word(next), before.list(next), before.entries[next]);
                next += 1;
            }
            if next < before.entries.len() && before.word(next) == &*word {
                let SettledEntry { count, end, .. } = before.entries[next];
                let mut joined = PostingList { bytes: before.list(next).to_vec(), count, end };
                let postings: Vec<Posting> = new.newest_first().collect();
                for posting in postings.iter().rev() {
                    (0..posting.times).for_each(|_| joined.add(posting.record));
                }
                self.settled.push_list(&word, &joined);
                next += 1;
            } else {
                self.settled.push_list(&word, &new);
            }
        }
        for next in next..before.entries.len() {
            self.settled.push(before.word(next), before.list(next), before.entries[next]);
        }
        self.settled.words.shrink_to_fit();
        self.settled.lists.shrink_to_fit();
        self.settled.entries.shrink_to_fit();
        self.recent_bytes = 0;
    }

    /// Returns the approximate size in memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let words = self.recent.len() * ALLOCATION;
        self.recent.capacity() * (size_of::<(Box<str>, PostingList)>() + 1)
            + words
            + self.recent_bytes
            + self.settled.words.capacity()
            + self.settled.lists.capacity()
            + self.settled.entries.capacity() * size_of::<SettledEntry>()
    }
}

/// The approximate bytes of memory for a new word and its list, in addition to the list's content.
const ALLOCATION: usize = 32;

impl SettledPostings {
    fn push_list(&mut self, word: &str, list: &PostingList) {
        self.push(word, &list.bytes, SettledEntry { word: 0, list: 0, count: list.count, end: list.end });
    }

    fn push(&mut self, word: &str, list: &[u8], entry: SettledEntry) {
        let position = |length: usize| u32::try_from(length).expect("the index of 2^31 bytes is full");
        let (start, first) = (position(self.words.len()), position(self.lists.len()));
        self.words.push_str(word);
        self.lists.extend_from_slice(list);
        self.entries.push(SettledEntry { word: start, list: first, ..entry });
    }

    fn word(&self, at: usize) -> &str {
        let end = self.entries.get(at + 1).map_or(self.words.len(), |next| next.word as usize);
        &self.words[self.entries[at].word as usize..end]
    }

    fn list(&self, at: usize) -> &[u8] {
        let end = self.entries.get(at + 1).map_or(self.lists.len(), |next| next.list as usize);
        &self.lists[self.entries[at].list as usize..end]
    }

    fn get(&self, word: &str) -> Option<(&[u8], SettledEntry)> {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.word(middle) < word {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.entries.len() && self.word(low) == word).then(|| (self.list(low), self.entries[low]))
    }
}

impl FoundWord<'_> {
    /// Returns the number of records that contain the word.
    pub(super) fn count(&self) -> u32 {
        self.recent.map_or(0, |list| list.count) + self.settled.map_or(0, |(_, entry)| entry.count)
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = Posting> {
        let recent = self.recent.into_iter().flat_map(PostingList::newest_first);
        recent.chain(self.settled.into_iter().flat_map(|(bytes, entry)| newest_first(bytes, entry.end)))
    }
}

impl PostingList {
    fn add(&mut self, record: u32) {
        let distance = record + 1 - self.end;
        if distance == 0 && self.newest_first().next().is_some_and(|newest| newest.times >= MAX_TIMES) {
            return;
        }
        let groups = (u32::BITS - distance.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            let bits = u8::try_from(distance >> (7 * group) & 0x7F).expect("7 bits fit into a byte");
            self.bytes.push(if group + 1 < groups { bits | 0x80 } else { bits });
        }
        self.count += u32::from(distance > 0);
        self.end = record + 1;
    }

    fn newest_first(&self) -> impl Iterator<Item = Posting> {
        newest_first(&self.bytes, self.end)
    }
}

/// Reads a list from its end; `end` is the number after the newest record.
fn newest_first(bytes: &[u8], end: u32) -> impl Iterator<Item = Posting> {
    let (mut rest, mut end) = (bytes, end);
    std::iter::from_fn(move || {
        let mut times = 1;
        while let Some((0, before)) = rest.split_last() {
            (times, rest) = (times + 1, before);
        }
        let record = end.checked_sub(1)?;
        end -= pop(&mut rest)?;
        Some(Posting { record, times })
    })
}

/// Removes the last number.
fn pop(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (last, rest) = bytes.split_last()?;
        *bytes = rest;
        number |= u32::from(last & 0x7F) << shift;
        if last & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn reads_what_was_added(steps in prop::collection::vec((prop_oneof![0..40_u32, 1..9_000_000_u32], 0..3_usize), 1..200)) {
            let mut postings = Postings::default();
            let mut expected = BTreeMap::<&str, Vec<Posting>>::new();
            let mut record = 0;
            for (step, word) in steps {
                record += step;
                if step > 0 && step.is_multiple_of(5) {
                    postings.settle();
                }
                let word = ["nut", "过敏", "tree"][word];
                postings.add(word, record);
                let list = expected.entry(word).or_default();
                match list.last_mut().filter(|last| last.record == record) {
                    Some(last) => last.times = MAX_TIMES.min(last.times + 1),
                    None => list.push(Posting { record, times: 1 }),
                }
            }
            for (word, expected) in expected {
                let list = postings.get(word).unwrap();
                prop_assert_eq!(list.count() as usize, expected.len());
                prop_assert!(list.newest_first().eq(expected.into_iter().rev()), "{}", word);
            }
            prop_assert!(postings.get("zebra").is_none());
        }
    }
}
