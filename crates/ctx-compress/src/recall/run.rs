//! A run: the words of some messages in the order of their hashes, with the records that have them.

use std::ops::Range;

use crate::recall::steps::append_all;

/// How many bits of a hash tell words apart.
pub(super) const HASH_BITS: u32 = 38;

/// How many words a group has on average; where a run has few words, fewer, since a search looks into many such runs.
const GROUP: usize = 12;
const SMALL_GROUP: usize = 4;
const FEW_WORDS: usize = 4_096;

/// Words, each with its records, as bytes that do not change: two buffers, however many words there are.
///
/// Words stand in groups by the first bits of their hashes. Of each are written the distance from the hash before, or
/// from the least one of the group; how many records have it, and into how many bytes; and these.
#[derive(Clone, Debug)]
pub(super) struct Run {
    bytes: Vec<u8>,
    /// Where each group begins, and where the last one ends.
    groups: Vec<u32>,
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
    /// The records that have it, as [`write_all`](crate::recall::steps::write_all) writes them.
    pub(super) records: &'a [u8],
}

impl Entry<'_> {
    /// What stands behind the last word.
    const NONE: Self = Self { hash: u64::MAX, count: 0, records: &[] };
}

impl Run {
    /// How many runs can be joined at once.
    pub(super) const MOST_JOINED: usize = u64::BITS as usize;

    /// Makes room for about so many words; they are to be added in ascending order, each once.
    pub(super) fn with_room(words: usize, bytes: usize, size: usize) -> Self {
        let group = if words < FEW_WORDS { SMALL_GROUP } else { GROUP };
        let group_bits = (words / group).next_power_of_two().ilog2().min(HASH_BITS - 1);
        let groups = Vec::with_capacity((1 << group_bits) + 1);
        Self { bytes: Vec::with_capacity(bytes), groups, rest_bits: HASH_BITS - group_bits, words: 0, size }
    }

    /// Joins at most [`MOST_JOINED`](Self::MOST_JOINED) runs, the oldest first, into one. O(bytes).
    pub(super) fn joined(runs: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> usize| runs.iter().map(of).sum::<usize>();
        let most = runs.iter().map(|run| run.words).max().unwrap_or_default();
        // Many words are in several runs.
        let words = most.max(sum(|run| run.words) / 2);
        let mut joined = Writer::new(Self::with_room(words, sum(|run| run.bytes.len()), sum(|run| run.size)));
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
                append_all(&mut records, entry.records);
                count += entry.count;
                having &= having - 1;
            }
            joined.add(Entry { hash, count, records: &records });
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
}

impl Writer {
    pub(super) const fn new(run: Run) -> Self {
        Self { run, last: 0 }
    }

    /// Adds a word.
    pub(super) fn add(&mut self, entry: Entry<'_>) {
        self.begin_groups(usize::try_from(entry.hash >> self.run.rest_bits).unwrap_or_default());
        let bytes = &mut self.run.bytes;
        write(bytes, entry.hash - self.last);
        let (count, len) = (entry.count as usize, entry.records.len());
        match u8::try_from(count << 4 | len) {
            Ok(both) if len < 0x10 => bytes.push(both),
            _ => {
                bytes.push(0);
                write(bytes, count as u64);
                write(bytes, len as u64);
            }
        }
        bytes.extend_from_slice(entry.records);
        self.last = entry.hash;
        self.run.words += 1;
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
            let hash = self.last + read(&mut self.rest)?;
            let (both, rest) = self.rest.split_first()?;
            self.rest = rest;
            let (count, len) = match *both {
                0 => (read(&mut self.rest)?, read(&mut self.rest)?),
                both => (u64::from(both >> 4), u64::from(both & 0xF)),
            };
            let (records, rest) = self.rest.split_at_checked(usize::try_from(len).ok()?)?;
            (self.rest, self.last) = (rest, hash);
            Some(Entry { hash, count: u32::try_from(count).ok()?, records })
        })
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

/// Writes a number in groups of 7 bits, the lowest first; all bytes but the last have their highest bit set.
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while let Some(rest) = number.checked_shr(7).filter(|rest| *rest > 0) {
        bytes.push(u8::try_from(number & 0x7F).unwrap_or_default() | 0x80);
        number = rest;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::steps::{Posting, write_all};

    /// Makes a run of words that one record each has.
    fn run(words: impl Iterator<Item = (u64, u32)> + Clone) -> Run {
        let mut writer = Writer::new(Run::with_room(words.clone().count(), 0, words.clone().count()));
        for (hash, record) in words {
            let mut records = Vec::new();
            write_all(&mut records, [Posting { record, times: 1 }].into_iter());
            writer.add(Entry { hash, count: 1, records: &records });
        }
        writer.finish()
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
            .map(|(every, record)| run((0..600).step_by(every).map(|n| (n << 28, record))))
            .into();
        let joined = Run::joined(&runs);
        for n in 0..600_u64 {
            let having = [2_u32, 3, 5].into_iter().filter(|every| n.is_multiple_of(u64::from(*every)));
            let mut expected = Vec::new();
            write_all(&mut expected, having.map(|every| Posting { record: every * 50, times: 1 }));
            let found = joined.find(n << 28).map(|entry| entry.records.to_vec());
            assert_eq!(found.unwrap_or_default(), expected, "{n}");
        }
        assert_eq!((joined.size(), joined.words), (300 + 200 + 120, 440));
    }
}
