//! A table from words to numbers, in little memory.

use crate::request::coverage::word_list::bytes_as_number;

/// Numbers of 24 bits for words, of which 46 bits of a hash are kept.
///
/// Two words with the same bits count as one. Eight bytes of memory for each word and an eighth of that, also while
/// it grows.
#[derive(Clone, Debug)]
pub(crate) struct WordTable {
    shards: Vec<Shard>,
}

/// The bits of a number.
const BITS: u32 = 24;

/// The bits of a hash that choose a shard.
const SHARD_BITS: u32 = 6;

impl Default for WordTable {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << SHARD_BITS] }
    }
}

impl WordTable {
    /// Returns the number of a word, by its [`word_hash`].
    pub(crate) fn find(&self, hash: u64) -> Option<u32> {
        let (shard, key) = Shard::place(hash);
        let shard = self.shards.get(shard)?;
        let slot = shard.slots.get(shard.seek(key).ok()?)?;
        u32::try_from((slot & Shard::NUMBER) - 1).ok()
    }

    /// Gives a word a number, a new one if it has one already; it is below 2^24 − 1.
    pub(crate) fn set(&mut self, hash: u64, number: u32) {
        let (shard, key) = Shard::place(hash);
        let Some(shard) = self.shards.get_mut(shard) else { return };
        match shard.seek(key) {
            Ok(at) => {
                shard.slots.get_mut(at).into_iter().for_each(|slot| *slot = key | (u64::from(number) + 1));
            }
            Err(at) => shard.insert(at, key, number),
        }
    }
}

/// Where words stand whose hashes begin alike: sorted by hash, with gaps, each near the place that its hash names.
///
/// A slot is bits of a hash and the number of the word, counted from 1; 0 is a gap. Sorted, a table can be nearly
/// full, and grows by a little at a time.
#[derive(Clone, Debug, Default)]
struct Shard {
    slots: Vec<u64>,
    /// How many slots there are for hashes to name; some more follow for what is moved on.
    named: usize,
    len: usize,
}

impl Shard {
    /// The bits of a slot that are the number of the word.
    const NUMBER: u64 = (1 << BITS) - 1;

    /// Returns the shard of a word, and its key there: the bits of its hash that follow.
    fn place(hash: u64) -> (usize, u64) {
        let shard = usize::try_from(hash >> (u64::BITS - SHARD_BITS)).unwrap_or_default();
        (shard, (hash << SHARD_BITS) & !Self::NUMBER)
    }

    /// Returns the slot of a key, or the place where it would stand.
    fn seek(&self, key: u64) -> Result<usize, usize> {
        let mut at = self.home(key);
        while let Some(slot) = self.slots.get(at).filter(|slot| **slot != 0 && **slot & !Self::NUMBER <= key)
        {
            if slot & !Self::NUMBER == key {
                return Ok(at);
            }
            at += 1;
        }
        Err(at)
    }

    /// Puts a key that is not there at its place, and moves what stands there on up to the next gap.
    fn insert(&mut self, mut at: usize, key: u64, number: u32) {
        if self.len * 8 >= self.named * 7 {
            self.grow();
            at = self.seek(key).err().unwrap_or_default();
        }
        self.len += 1;
        let mut slot = key | (u64::from(number) + 1);
        while slot != 0 {
            match self.slots.get_mut(at) {
                Some(here) => std::mem::swap(here, &mut slot),
                None => self.slots.push(std::mem::take(&mut slot)),
            }
            at += 1;
        }
    }

    /// Moves to a table that is larger by an eighth. O(words).
    fn grow(&mut self) {
        /// How many slots the last words may be moved on by, before that costs another growth.
        const MORE: usize = 24;
        self.named += self.named / 8 + 8;
        let before = std::mem::replace(&mut self.slots, Vec::with_capacity(self.named + MORE));
        for slot in before.into_iter().filter(|slot| *slot != 0) {
            let home = self.home(slot).max(self.slots.len());
            self.slots.resize(home, 0);
            self.slots.push(slot);
        }
        self.slots.resize(self.slots.len().max(self.named), 0);
    }

    /// Returns the place that a key names. A higher key names no lower place.
    fn home(&self, key: u64) -> usize {
        const HALF: u32 = 32;
        usize::try_from(((key >> HALF) * self.named as u64) >> HALF).unwrap_or_default()
    }
}

/// Returns 64 bits in which every bit of a word takes part, the same on every machine.
pub(crate) fn word_hash(word: &str) -> u64 {
    /// Bits without a pattern: the fractions of the golden ratio and of the root of two.
    const BITS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909];
    let [first, second] = BITS;
    let word = word.as_bytes();
    let (chunks, rest) = word.as_chunks();
    let sum = chunks
        .iter()
        .fold(first ^ word.len() as u64, |sum, chunk| folded(sum ^ u64::from_le_bytes(*chunk), second));
    folded(folded(sum ^ bytes_as_number(rest), second), first)
}

/// Multiplies two numbers and puts the halves of the product on each other.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let low = product & u128::from(u64::MAX);
    u64::try_from(low ^ (product >> u64::BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_same_on_every_machine() {
        let hashes = ["", "a", "lake", "lakeside", "lakesides", "a word of more than two steps", "酒店"]
            .map(word_hash);
        assert_eq!(
            hashes,
            [
                0x5E75_6F37_91F9_D2F6,
                0x0DD9_63A3_2F42_CC65,
                0xC48B_527B_F41A_97DA,
                0x779D_A008_3ADF_4CA0,
                0xF886_AD5A_AA55_5EA4,
                0x9964_1D70_D11C_6950,
                0xD171_E362_6636_81F5
            ]
        );
        assert_eq!(Shard::place(word_hash("a")), (3, 0x7658_E8CB_D000_0000));
        assert_eq!(Shard::place(word_hash("lake")), (49, 0x22D4_9EFD_0600_0000));
    }

    #[test]
    fn many_words_are_told_apart_and_found_again() {
        let mut table = WordTable::default();
        let hashes: Vec<u64> = (0..50_000).map(|number| word_hash(&format!("word-{number}"))).collect();
        for (number, hash) in (0..).zip(&hashes) {
            table.set(*hash, number + 7);
        }
        for (number, hash) in (0..).zip(&hashes) {
            assert_eq!(table.find(*hash), Some(number + 7));
            table.set(*hash, number);
        }
        let numbers: Vec<Option<u32>> = hashes.iter().map(|hash| table.find(*hash)).collect();
        assert_eq!(numbers, (0..50_000).map(Some).collect::<Vec<_>>());
        assert_eq!(table.find(word_hash("another")), None);
        let slots: usize = table.shards.iter().map(|shard| shard.slots.capacity()).sum();
        assert!(slots * 2 < 50_000 * 3, "{slots} slots");
        let distance = |shard: &Shard| -> usize {
            let words = shard.slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
            words.map(|(at, slot)| at - shard.home(*slot)).sum()
        };
        let distance: usize = table.shards.iter().map(distance).sum();
        assert!(distance < 50_000 * 4, "{distance} steps to find each word once");
    }

    #[test]
    fn a_table_grows_by_an_eighth() {
        let mut shard = Shard::default();
        let sizes = [(); 3].map(|()| {
            shard.grow();
            (shard.named, shard.slots.len())
        });
        assert_eq!(sizes, [(8, 8), (17, 17), (27, 27)]);
        shard.named = 805;
        shard.grow();
        assert_eq!((shard.named, shard.slots.len()), (913, 913));
    }

    #[test]
    fn keys_name_places_all_over_the_table() {
        let shard = Shard { named: 1_000, ..Shard::default() };
        let homes = [0, 1 << 61, 1 << 62, 1 << 63, u64::MAX].map(|key| shard.home(key));
        assert_eq!(homes, [0, 125, 250, 500, 999]);
    }
}
