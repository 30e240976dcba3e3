//! The words of a conversation as numbers.

use crate::request::coverage::words::Word;

/// The words of a conversation as numbers from 0 on, in the order in which they come, with the kind of each.
///
/// Of a word, 46 bits of a hash are kept: two words with the same count as one, which is rare (once in a thousand
/// conversations with 300,000 different words) and costs a little choice. Ten bytes of memory for each word, also
/// while it grows.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    shards: Vec<Shard>,
    kinds: Vec<Kind>,
}

/// How many different words there are at the most; others are passed over.
const MOST_WORDS: usize = 0x00FF_FFFE;

/// The bits of a hash that choose a shard.
const SHARD_BITS: u32 = 6;

impl Default for Vocabulary {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << SHARD_BITS], kinds: Vec::new() }
    }
}

impl Vocabulary {
    /// Returns how many words there are.
    pub(super) const fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the number of a word, the next one if it is new; `None` if there are too many.
    pub(crate) fn add(&mut self, word: Word<'_>) -> Option<u32> {
        let (shard, key) = place(word.stem);
        let shard = self.shards.get_mut(shard)?;
        let number = match shard.seek(key) {
            Ok(number) => number,
            Err(_) if self.kinds.len() == MOST_WORDS => return None,
            Err(at) => {
                let number = u32::try_from(self.kinds.len()).ok()?;
                shard.insert(at, key, number);
                self.kinds.push(Kind::of(word.stem));
                number
            }
        };
        let kind = self.kinds.get_mut(number as usize)?;
        kind.add(Kind::NAME, word.is_name);
        kind.add(Kind::QUOTED, word.is_quoted);
        Some(number)
    }

    /// Returns the number of a word that was added.
    pub(crate) fn find(&self, word: Word<'_>) -> Option<u32> {
        let (shard, key) = place(word.stem);
        self.shards.get(shard)?.seek(key).ok()
    }

    /// Notes that a word is a part of an argument of some call.
    pub(super) fn note_argument(&mut self, number: u32) {
        if let Some(kind) = self.kinds.get_mut(number as usize) {
            kind.add(Kind::ARGUMENT, true);
        }
    }

    /// Returns the bytes of memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        let slots: usize = self.shards.iter().map(|shard| shard.slots.capacity()).sum();
        slots * size_of::<u64>() + self.kinds.capacity() + self.shards.len() * size_of::<Shard>()
    }

    /// Forgets which words these are, and returns the kinds.
    pub(super) fn into_kinds(self) -> Vec<Kind> {
        self.kinds
    }
}

/// Where words stand whose hashes begin alike: sorted by hash, with gaps, each near the place that its hash names.
///
/// A slot is 40 bits of a hash and the number of the word, counted from 1; 0 is a gap. Sorted, a table can be nearly
/// full, and grows by a little at a time.
#[derive(Clone, Debug, Default)]
struct Shard {
    slots: Vec<u64>,
    /// How many slots there are for hashes to name; some more follow for what is moved on.
    named: usize,
    len: usize,
}

/// The bits of a slot that are the number of the word.
const NUMBER: u64 = 0x00FF_FFFF;

impl Shard {
    /// Returns the number under a key, or the place where it would stand.
    fn seek(&self, key: u64) -> Result<u32, usize> {
        let mut at = self.home(key);
        while let Some(slot) = self.slots.get(at).filter(|slot| **slot != 0 && **slot & !NUMBER <= key) {
            if slot & !NUMBER == key {
                return Ok(u32::try_from((slot & NUMBER) - 1).unwrap_or(u32::MAX));
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

/// Returns the shard of a word, and its key there: the 40 bits of its hash that follow.
fn place(stem: &str) -> (usize, u64) {
    let hash = hash(stem.as_bytes());
    (usize::try_from(hash >> (u64::BITS - SHARD_BITS)).unwrap_or_default(), (hash << SHARD_BITS) & !NUMBER)
}

/// Returns 64 bits in which every bit of a word takes part, the same on every machine.
fn hash(word: &[u8]) -> u64 {
    /// Bits without a pattern: the fractions of the golden ratio and of the root of two.
    const BITS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909];
    let [first, second] = BITS;
    let (chunks, rest) = word.as_chunks();
    let sum = chunks
        .iter()
        .fold(first ^ word.len() as u64, |sum, chunk| folded(sum ^ u64::from_le_bytes(*chunk), second));
    let rest = rest.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    folded(folded(sum ^ rest, second), first)
}

/// Multiplies two numbers and puts the halves of the product on each other.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let low = product & u128::from(u64::MAX);
    u64::try_from(low ^ (product >> u64::BITS)).unwrap_or_default()
}

/// What kind of word it is; a word that is several things once is all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    /// It has a digit.
    pub(super) const DIGIT: Self = Self(1);
    /// It has digits only, three at the most.
    pub(super) const SMALL_NUMBER: Self = Self(2);
    /// It has digits and letters, as ids have.
    pub(super) const MIXED: Self = Self(4);
    /// It stands capitalised within a sentence somewhere.
    pub(super) const NAME: Self = Self(8);
    /// It stands in a short quotation somewhere.
    pub(super) const QUOTED: Self = Self(16);
    /// It is a part of an argument of some tool call.
    pub(super) const ARGUMENT: Self = Self(32);

    /// Reports the kind of a word by its signs.
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

    /// Returns whether it is of another kind too.
    pub(super) const fn is(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns its position among [`Kind::all`].
    pub(super) fn number(self) -> usize {
        usize::from(self.0)
    }

    /// Returns all kinds there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..64).map(Self)
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
        assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(2)]);
        assert_eq!((vocabulary.find(word("c")), vocabulary.find(word("d"))), (Some(2), None));
        assert_eq!(vocabulary.len(), 3);
    }

    #[test]
    fn hashes_are_the_same_on_every_machine() {
        let hashes = ["", "a", "lake", "lakeside", "lakesides", "a word of more than two steps", "酒店"]
            .map(|word| hash(word.as_bytes()));
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
        assert_eq!(place("a"), (3, 0x7658_E8CB_D000_0000));
        assert_eq!(place("lake"), (49, 0x22D4_9EFD_0600_0000));
    }

    #[test]
    fn many_words_are_told_apart_and_found_again() {
        let mut vocabulary = Vocabulary::default();
        let stems: Vec<String> = (0..50_000).map(|number| format!("word-{number}")).collect();
        let numbers = |vocabulary: &mut Vocabulary| -> Vec<Option<u32>> {
            stems.iter().map(|stem| vocabulary.add(word(stem))).collect()
        };
        let expected: Vec<Option<u32>> = (0..50_000).map(Some).collect();
        assert_eq!(numbers(&mut vocabulary), expected);
        assert_eq!(numbers(&mut vocabulary), expected);
        let slots: usize = vocabulary.shards.iter().map(|shard| shard.slots.capacity()).sum();
        assert!(slots * 2 < 50_000 * 3, "{slots} slots");
        let distance = |shard: &Shard| -> usize {
            let words = shard.slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
            words.map(|(at, slot)| at - shard.home(*slot)).sum()
        };
        let distance: usize = vocabulary.shards.iter().map(distance).sum();
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

    #[test]
    fn what_a_word_is_once_it_is() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add(word("lin"));
        vocabulary.add(Word { stem: "lin", is_name: true, is_quoted: false });
        vocabulary.note_argument(0);
        let [kind] = vocabulary.into_kinds()[..] else { panic!("one word") };
        assert!(kind.is(Kind::NAME) && kind.is(Kind::ARGUMENT) && !kind.is(Kind::QUOTED));
    }
}
