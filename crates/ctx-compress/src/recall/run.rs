//! A run: the words of some messages in the order of their hashes, with the records that have them.

use std::ops::Range;

use crate::recall::steps::{append_all, copy_all, is_one_number, read_number, write_number};

/// How many bits of a hash tell words apart.
pub(super) const HASH_BITS: u32 = 33;

/// How many words a group has on average; where a run has few words, fewer, since a search looks into many such runs.
const GROUP: usize = 16;
const SMALL_GROUP: usize = 4;
const FEW_WORDS: usize = 2_048;

/// Words, each with its records, as bytes that do not change: two buffers, however many words there are.
///
/// Words stand in groups by the first bits of their hashes. Of each are written the distance from the hash before, or
/// from the least one of the group, doubled; how many records have it, and into how many bytes; and these. Of a word that
/// one record has once, as about half of them are, is written the distance, with 1 added, and the record.
#[derive(Clone, Debug)]
pub(super) struct Run {
    bytes: Vec<u8>,
    /// Where each group begins, and where the last one ends.
    groups: Vec<u32>,
    /// From where records are counted.
    first: u32,
    /// How many bits of a hash are not told by the group.
    rest_bits: u32,
    words: usize,
    /// How many occurrences of words there are.
    size: usize,
}

/// A word of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) hash: u64,
    pub(super) count: u32,
    /// From where its records are counted.
    pub(super) first: u32,
    /// The records that have it, as [`write_all`](crate::recall::steps::write_all) writes them.
    pub(super) records: &'a [u8],
}

impl Entry<'_> {
    /// What stands behind the last word.
    const NONE: Self = Self { hash: u64::MAX, count: 0, first: 0, records: &[] };
}

impl Run {
    /// How many runs can be joined at once.
    pub(super) const MOST_JOINED: usize = u64::BITS as usize;

    /// Makes room for about so many words; they are to be added in ascending order, each once, with records that are
    /// counted from `first`.
    pub(super) fn with_room(words: usize, bytes: usize, size: usize, first: u32) -> Self {
        let group = if words < FEW_WORDS { SMALL_GROUP } else { GROUP };
        let group_bits = (words / group).next_power_of_two().ilog2().min(HASH_BITS - 1);
        let (bytes, groups) = (Vec::with_capacity(bytes), Vec::with_capacity((1 << group_bits) + 1));
        Self { bytes, groups, first, rest_bits: HASH_BITS - group_bits, words: 0, size }
    }

    /// Joins at most [`MOST_JOINED`](Self::MOST_JOINED) runs, the oldest first, into one. O(bytes).
    pub(super) fn joined(runs: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> usize| runs.iter().map(of).sum::<usize>();
        let most = runs.iter().map(|run| run.words).max().unwrap_or_default();
        // Many words are in several runs.
        let words = most.max(sum(|run| run.words) / 2);
        let first = runs.first().map_or(0, |run| run.first);
        let (bytes, size) = (sum(|run| run.bytes.len()), sum(|run| run.size));
        let mut joined = Writer::new(Self::with_room(words, bytes, size, first));
        let mut heads = Heads::of(runs);
        let mut records = Vec::new();
        while let Some(hash) = heads.least() {
            let mut having = heads.having(hash);
            if having.is_power_of_two() {
                // Most words are of one run.
                joined.add(heads.take(having));
                continue;
            }
            records.clear();
            let mut count = 0;
            while having > 0 {
                let entry = heads.take(having);
                append_all(&mut records, entry.records, entry.first - first);
                count += entry.count;
                having &= having - 1;
            }
            joined.add(Entry { hash, count, first, records: &records });
        }
        joined.finish()
    }

    /// Returns a word by its hash.
    pub(super) fn find(&self, hash: u64) -> Option<Entry<'_>> {
        let group = usize::try_from(hash >> self.rest_bits).ok()?;
        let mut entries = Entries { run: self, group, rest: self.group(group)?, last: self.least(group) };
        entries.in_group().find(|entry| entry.hash >= hash).filter(|entry| entry.hash == hash)
    }

    fn group(&self, group: usize) -> Option<&[u8]> {
        let range = Range { start: *self.groups.get(group)?, end: *self.groups.get(group + 1)? };
        self.bytes.get(range.start as usize..range.end as usize)
    }

    /// Returns the least hash that a word of a group may have.
    fn least(&self, group: usize) -> u64 {
        (group as u64) << self.rest_bits
    }

    /// Returns how many occurrences of words there are.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Returns how many bytes the words take.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + self.groups.capacity() * size_of::<u32>()
    }
}

/// Writes a run.
#[derive(Debug)]
pub(super) struct Writer {
    run: Run,
    last: u64,
    /// Records that are counted from elsewhere, kept for its room alone.
    moved: Vec<u8>,
}

impl Writer {
    pub(super) const fn new(run: Run) -> Self {
        Self { run, last: 0, moved: Vec::new() }
    }

    /// Adds a word.
    pub(super) fn add(&mut self, entry: Entry<'_>) {
        self.begin_groups(usize::try_from(entry.hash >> self.run.rest_bits).unwrap_or_default());
        let bytes = &mut self.run.bytes;
        let (distance, later) = (entry.hash - self.last, entry.first - self.run.first);
        (self.last, self.run.words) = (entry.hash, self.run.words + 1);
        if entry.count == 1 && is_one_number(entry.records) {
            write_number(bytes, distance << 1 | 1);
            return copy_all(bytes, entry.records, later);
        }
        let mut records = entry.records;
        if later > 0 {
            self.moved.clear();
            copy_all(&mut self.moved, records, later);
            records = &self.moved;
        }
        write_number(bytes, distance << 1);
        let (count, len) = (entry.count as usize, records.len());
        match u8::try_from(count << 4 | len) {
            // It follows a number, so that its highest bit is not set.
            Ok(both @ ..0x80) if len < 0x10 => bytes.push(both),
            _ => {
                bytes.push(0);
                write_number(bytes, count as u64);
                write_number(bytes, len as u64);
            }
        }
        bytes.extend_from_slice(records);
    }

    /// Begins groups, up to one.
    fn begin_groups(&mut self, group: usize) {
        while self.run.groups.len() <= group {
            self.last = self.run.least(self.run.groups.len());
            self.run.groups.push(u32::try_from(self.run.bytes.len()).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn finish(mut self) -> Run {
        self.begin_groups(1 << (HASH_BITS - self.run.rest_bits));
        self.run.bytes.shrink_to_fit();
        self.run
    }
}

/// The words of a run, in their order.
struct Entries<'a> {
    run: &'a Run,
    group: usize,
    /// What is left of the group.
    rest: &'a [u8],
    last: u64,
}

impl<'a> Entries<'a> {
    fn of(run: &'a Run) -> Self {
        Self { run, group: 0, rest: run.group(0).unwrap_or_default(), last: 0 }
    }

    fn next_or_none(&mut self) -> Entry<'a> {
        self.next().unwrap_or(Entry::NONE)
    }

    /// Returns the words that are left of the group.
    fn in_group(&mut self) -> impl Iterator<Item = Entry<'a>> {
        std::iter::from_fn(|| {
            let doubled = read_number(&mut self.rest)?;
            self.last += doubled >> 1;
            let (count, len) = if doubled & 1 == 1 {
                let mut behind = self.rest;
                read_number(&mut behind)?;
                (1, self.rest.len() - behind.len())
            } else {
                self.count_and_len()?
            };
            let (records, rest) = self.rest.split_at_checked(len)?;
            self.rest = rest;
            Some(Entry { hash: self.last, count, first: self.run.first, records })
        })
    }
}

impl Entries<'_> {
    /// Takes off how many records a word has, and into how many bytes they are written.
    fn count_and_len(&mut self) -> Option<(u32, usize)> {
        let (both, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *both > 0 {
            return Some((u32::from(both >> 4), usize::from(both & 0xF)));
        }
        let (count, len) = (read_number(&mut self.rest)?, read_number(&mut self.rest)?);
        Some((u32::try_from(count).ok()?, usize::try_from(len).ok()?))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        while self.rest.is_empty() {
            self.group += 1;
            self.rest = self.run.group(self.group)?;
            self.last = self.run.least(self.group);
        }
        self.in_group().next()
    }
}

/// The next word of each of some runs.
struct Heads<'a> {
    rest: Vec<Entries<'a>>,
    next: Vec<Entry<'a>>,
    /// Those of `next`, side by side.
    hashes: Vec<u64>,
}

impl<'a> Heads<'a> {
    fn of(runs: &'a [Run]) -> Self {
        let mut rest: Vec<Entries<'_>> = runs.iter().map(Entries::of).collect();
        let next: Vec<Entry<'_>> = rest.iter_mut().map(Entries::next_or_none).collect();
        let hashes = next.iter().map(|entry| entry.hash).collect();
        Self { rest, next, hashes }
    }

    fn least(&self) -> Option<u64> {
        self.hashes.iter().copied().min().filter(|hash| *hash < Entry::NONE.hash)
    }

    /// Returns a bit for each run that has a hash next, the lowest for the first; without branches, since which it is
    /// cannot be foretold.
    fn having(&self, hash: u64) -> u64 {
        self.hashes.iter().rev().fold(0, |having, next| having << 1 | u64::from(*next == hash))
    }

    /// Takes the word of the run of the lowest bit.
    fn take(&mut self, having: u64) -> Entry<'a> {
        let at = having.trailing_zeros() as usize;
        let Some((next, rest)) = self.next.get_mut(at).zip(self.rest.get_mut(at)) else { return Entry::NONE };
        let taken = std::mem::replace(next, rest.next_or_none());
        self.hashes.get_mut(at).into_iter().for_each(|hash| *hash = next.hash);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::steps::{Posting, write_all};

    /// Makes a run of words that one record each has.
    fn run(words: impl Iterator<Item = (u64, u32)> + Clone) -> Run {
        let count = words.clone().count();
        let first = words.clone().map(|(_, record)| record).min().unwrap_or_default();
        let mut writer = Writer::new(Run::with_room(count, 0, count, first));
        for (hash, record) in words {
            let mut records = Vec::new();
            let times = times(hash);
            write_all(&mut records, [Posting { record: record - first, times }].into_iter());
            writer.add(Entry { hash, count: 1, first, records: &records });
        }
        writer.finish()
    }

    fn times(hash: u64) -> u8 {
        1 + u8::from(hash.is_multiple_of(3))
    }

    #[test]
    fn words_are_found_and_no_others() {
        for count in [0, 1, 15, 16, 1_000, 70_000_u64] {
            let hash = |n: u64| n * ((1 << HASH_BITS) / (count + 1)) + n % 7;
            let run = run((0..count).map(|n| (hash(n), 3)));
            assert!((0..count).all(|n| run.find(hash(n)).is_some_and(|entry| entry.count == 1)));
            assert!((0..count).all(|n| run.find(hash(n) + 9).is_none()));
            let hashes: Vec<u64> = Entries::of(&run).map(|entry| entry.hash).collect();
            assert!(hashes.into_iter().eq((0..count).map(hash)));
        }
    }

    #[test]
    fn joined_runs_have_the_records_of_each() {
        let runs: Vec<Run> = [(2, 100), (3, 150), (5, 250)]
            .map(|(every, record)| run((0..600).step_by(every).map(|n| (n << 23, record))))
            .into();
        let joined = Run::joined(&runs);
        for n in 0..600_u64 {
            let having = [2_u32, 3, 5].into_iter().filter(|every| n.is_multiple_of(u64::from(*every)));
            let mut expected = Vec::new();
            let posting = |every| Posting { record: (every - 2) * 50, times: times(n << 23) };
            write_all(&mut expected, having.map(posting));
            let found = joined.find(n << 23).map(|entry| entry.records.to_vec());
            assert_eq!(found.unwrap_or_default(), expected, "{n}");
        }
        assert_eq!((joined.size(), joined.words), (300 + 200 + 120, 440));
    }
}
