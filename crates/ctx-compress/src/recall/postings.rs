//! Postings: in which records each word occurs, in little memory.

use std::borrow::Cow;

use crate::recall::radix;
use crate::recall::run::{Entry, HASH_BITS, Run, Writer};
use crate::recall::steps::{MOST_TIMES, Posting, newest_first, write_all};

/// For each word, by its hash, the records that have it, newest first, so that a search may stop before the oldest.
///
/// What is new waits for some company, is then sorted and becomes a run; 8 runs of like size, or up to 64 where many
/// are added at once, become one. So each occurrence is written a few times, always in order, where a table would wait
/// for the memory at each. A word takes some 4 bytes, and each record that has it 1 or 2. Words are told apart by 33 bits
/// of their hashes: of a million words some 60 pairs are taken for one word, and a word that is none of them is found
/// all the same once in 8,000 times.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    /// The oldest first.
    runs: Vec<Run>,
    /// What is in no run yet: bits of a hash, and how many records there are between `base` and the one that has it.
    recent: Vec<u64>,
    /// How many of the first of these are in order.
    in_order: usize,
    base: u32,
    /// How many occurrences are in runs.
    in_runs: usize,
}

/// Postings to be read: what waits is in order.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    postings: &'a Postings,
    recent: Cow<'a, [u64]>,
}

/// A word that was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Word<'a> {
    /// How many records have it.
    pub(super) count: u32,
    /// Those of each run, the newest run first, and from where they are counted.
    runs: Vec<(&'a [u8], u32)>,
    /// Those that are in no run, oldest first.
    recent: Vec<Posting>,
}

/// How many occurrences wait until they become a run, where many are added at once.
const RECENT: usize = 256 * 1_024;

/// How many wait when no more come for now: one for so many that are in runs, within these bounds.
const RESTING: (usize, usize) = (256, 4_096);
const IN_RUNS: usize = 128;

/// How many of these need not be in order, which each search then brings into order for itself.
const UNSORTED: usize = 512;

/// How many bits a run of the next size has more in its length: 8 times as many occurrences.
const TIER_BITS: u32 = 3;

/// Which part of the largest run all others may have together, where an index grows: one of these.
const SETTLED: usize = 10;

/// The bits of what waits that say which record.
const RECORD_BITS: u32 = u64::BITS - HASH_BITS;

/// How many records there may be.
pub(super) const MOST_RECORDS: usize = 1 << 31;

/// How many bytes there may be: places in them are 32 bits.
const MOST_BYTES: usize = 1 << 31;

impl Postings {
    /// Notes the words of a record, each as often as it occurs; records come in ascending order, each once.
    pub(super) fn push(&mut self, words: &[u64], record: u32) {
        if self.recent.len() >= RECENT || record - self.base >= 1 << RECORD_BITS {
            self.seal();
        }
        if self.recent.is_empty() {
            self.base = record;
        }
        if self.recent.capacity() < self.recent.len() + words.len() {
            self.recent.reserve_exact(words.len() + self.recent.len() / 8);
        }
        let between = u64::from(record - self.base);
        self.recent.extend(words.iter().map(|word| word >> RECORD_BITS << RECORD_BITS | between));
    }

    /// Makes a run of what waits.
    fn seal(&mut self) {
        // Of one word the older records come first already.
        radix::sort_by_key(&mut self.recent, HASH_BITS, |one| hash(*one));
        let words = self.recent.chunk_by(|a, b| hash(*a) == hash(*b));
        let len = self.recent.len();
        let run = Run::with_room(words.clone().count(), len * 8, len, self.base);
        let (mut writer, mut records) = (Writer::new(run), Vec::new());
        for same in words {
            records.clear();
            let count = write_all(&mut records, postings(same, 0));
            let hash = same.first().copied().map_or(0, hash);
            writer.add(Entry { hash, count, first: self.base, records: &records });
        }
        self.in_runs += len;
        self.recent.clear();
        self.in_order = 0;
        self.runs.push(writer.finish());
        if self.runs.len() >= Run::MOST_JOINED {
            self.join_alike();
        }
    }

    fn join_alike(&mut self) {
        while let Some(from) = self.first_alike() {
            self.join(from);
        }
    }

    /// Makes a run of what waits if it is much, and brings it into order, when no more comes for now.
    pub(super) fn rest(&mut self) {
        if self.recent.len() >= (self.in_runs / IN_RUNS).clamp(RESTING.0, RESTING.1) {
            self.seal();
            self.recent.shrink_to(0);
        }
        self.join_alike();
        if self.recent.len() - self.in_order > UNSORTED {
            // Most of it is in order already, which a stable sort makes use of.
            self.recent.sort_by_key(|one| hash(*one));
            self.in_order = self.recent.len();
        }
    }

    /// Makes one run of all, which is the least memory and the quickest to search. O(occurrences).
    pub(super) fn settle(&mut self) {
        if !self.recent.is_empty() {
            self.seal();
        }
        while self.runs.len() > 1 {
            self.join(self.runs.len().saturating_sub(Run::MOST_JOINED));
        }
        (self.recent, self.in_order, self.base) = (Vec::new(), 0, 0);
        self.runs.shrink_to_fit();
    }

    /// Returns whether the runs but the largest have so much that one of all is worth the work.
    pub(super) fn is_scattered(&self) -> bool {
        let largest = self.runs.iter().map(Run::size).max().unwrap_or_default();
        (self.in_runs - largest) * SETTLED > largest
    }

    fn join(&mut self, from: usize) {
        let joined = Run::joined(self.runs.get(from..).unwrap_or_default());
        self.runs.truncate(from);
        self.runs.push(joined);
    }

    /// Returns the first of the newest runs that are as small as the last one, if they are enough to be joined.
    fn first_alike(&self) -> Option<usize> {
        let tier = |run: &Run| run.size().max(1).ilog2() / TIER_BITS;
        let last = tier(self.runs.last()?);
        let alike = self.runs.iter().rev().take_while(|run| tier(run) <= last).count();
        (alike >= 1 << TIER_BITS).then(|| self.runs.len() - alike.min(Run::MOST_JOINED))
    }

    /// Returns whether nothing more can be written.
    pub(super) fn is_full(&self) -> bool {
        self.runs.iter().map(Run::len).sum::<usize>() >= MOST_BYTES
    }

    /// Makes them ready to be read. O(what waits).
    pub(super) fn reader(&self) -> Reader<'_> {
        let mut recent = Cow::Borrowed(&*self.recent);
        if !recent.is_sorted() {
            recent.to_mut().sort_by_key(|one| hash(*one));
        }
        Reader { postings: self, recent }
    }

    /// Returns the bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        let runs: usize = self.runs.iter().map(Run::memory).sum();
        runs + self.runs.capacity() * size_of::<Run>() + self.recent.capacity() * size_of::<u64>()
    }
}

impl<'a> Reader<'a> {
    /// Returns a word that some record has.
    pub(super) fn find(&self, word: u64) -> Option<Word<'a>> {
        self.find_all(vec![word]).pop().filter(|found| found.count > 0)
    }

    /// Returns a word for each hash, with a count of 0 if no record has it; quickest where the hashes are in order.
    pub(super) fn find_all(&self, mut words: Vec<u64>) -> Vec<Word<'a>> {
        for word in &mut words {
            *word >>= RECORD_BITS;
        }
        let mut found = vec![Word::default(); words.len()];
        // Run by run: what is looked at of one lies closer together.
        for run in self.postings.runs.iter().rev() {
            for (word, found) in words.iter().zip(&mut found) {
                let Some(entry) = run.find(*word) else { continue };
                found.count += entry.count;
                found.runs.push((entry.records, entry.first));
            }
        }
        for (word, found) in words.iter().zip(&mut found) {
            let from = self.recent.partition_point(|one| hash(*one) < *word);
            let recent = self.recent.get(from..).unwrap_or_default();
            let same = recent.partition_point(|one| hash(*one) == *word);
            found.recent.extend(postings(recent.get(..same).unwrap_or_default(), self.postings.base));
            found.count += u32::try_from(found.recent.len()).unwrap_or_default();
        }
        found
    }
}

impl Word<'_> {
    /// Returns the records that have it, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = Posting> {
        let runs = self.runs.iter().flat_map(|(records, first)| newest_first(records, *first));
        self.recent.iter().rev().copied().chain(runs)
    }
}

/// Returns the bits of a hash of what waits.
const fn hash(waiting: u64) -> u64 {
    waiting >> RECORD_BITS
}

/// Returns the records of what waits of one word, in ascending order.
fn postings(same: &[u64], base: u32) -> impl Iterator<Item = Posting> {
    same.chunk_by(|a, b| a == b).map(move |same| {
        let between = same.first().map_or(0, |one| one & ((1 << RECORD_BITS) - 1));
        Posting {
            record: base + u32::try_from(between).unwrap_or_default(),
            times: u8::try_from(same.len()).unwrap_or(MOST_TIMES).min(MOST_TIMES),
        }
    })
}

/// Grows by an eighth, where doubling would leave half of the memory empty.
pub(super) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 8);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Checks that what was pushed of each record is read again, the newest first.
    #[track_caller]
    fn check(pushed: &BTreeMap<u32, Vec<(u64, u8)>>) {
        let spread = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (mut postings, mut expected) = (Postings::default(), BTreeMap::<u64, Vec<Posting>>::new());
        for (record, words) in pushed {
            let occurrences = words.iter().flat_map(|(word, times)| vec![spread(*word); usize::from(*times)]);
            postings.push(&occurrences.collect::<Vec<u64>>(), *record);
            for (word, times) in words {
                expected
                    .entry(*word)
                    .or_default()
                    .push(Posting { record: *record, times: MOST_TIMES.min(*times) });
            }
        }
        let reader = postings.reader();
        for (word, expected) in expected {
            let found = reader.find(spread(word)).unwrap();
            assert_eq!(found.count as usize, expected.len());
            assert!(found.newest_first().eq(expected.into_iter().rev()), "{word}");
        }
        assert!(reader.find(spread(u64::MAX)).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_is_read(records in prop::collection::vec((prop_oneof![1..40_u32, 1..90_000_000_u32], prop::collection::btree_map(prop_oneof![0..4_u64, 0..3_000_u64], prop_oneof![4 => Just(1_u8), 1 => 1..=255_u8], 1..80)), 1..40)) {
            let mut next = 0_u32;
            let pushed = records.into_iter().map(|(step, words)| {
                next = next.saturating_add(step);
                (next, words.into_iter().collect())
            });
            check(&pushed.collect());
        }
    }

    #[test]
    fn many_records_and_words_are_told_apart() {
        let words = |n: u32| {
            let rare = u64::from(n);
            vec![(10 + rare % 700, 1), (1_000 + rare, 1), (rare % 3, 1 + u8::from(n.is_multiple_of(5)))]
        };
        check(&(0..20_000).map(|n| (n * 3, words(n))).collect());
    }

    #[test]
    fn what_is_settled_is_one_run_with_the_same_words() {
        let mut postings = Postings::default();
        let word = |n: u32| u64::from(n % 4_001) << 40;
        (0..30_000).for_each(|n| postings.push(&[word(n)], n));
        let read = |postings: &Postings| -> Vec<Vec<Posting>> {
            let of = |n: u32| postings.reader().find(word(n)).unwrap().newest_first().collect();
            (0..40).map(|n| of(n * 100)).collect()
        };
        let before = read(&postings);
        postings.settle();
        assert_eq!((read(&postings), postings.runs.len()), (before, 1));
        postings.push(&[word(0)], 40_000);
        assert_eq!(read(&postings)[0][0], Posting { record: 40_000, times: 1 });
    }

    #[test]
    fn there_are_few_runs() {
        let mut postings = Postings::default();
        for record in 0..400_000 {
            postings.push(&[u64::from(record) << 30], record);
            postings.rest();
            assert!(postings.runs.len() <= 3 * 16, "{} runs", postings.runs.len());
        }
    }
}
