//! Lists of short words that are searched for every word of a text.

/// How long the words of a list may be, in bytes.
const LONGEST: usize = 16;

/// How many places there are for words: some four times as many as words, so that most are found at once.
const PLACES: usize = 512;

/// A set of words, each as a number: to compare two is one step. Each stands at the place that its number names, or
/// at the next one that is free.
#[derive(Debug)]
pub(super) struct WordList([u128; PLACES]);

impl WordList {
    /// Makes a list of words of at most 16 bytes.
    pub(super) const fn new<const N: usize>(words: [&str; N]) -> Self {
        Self([0; PLACES]).with(words)
    }

    /// Adds words of at most 16 bytes.
    pub(super) const fn with<const N: usize>(mut self, words: [&str; N]) -> Self {
        let mut at = 0;
        while at < N {
            let number = packed(words[at].as_bytes());
            let mut place = place(number);
            while self.0[place] != 0 {
                place = (place + 1) % PLACES;
            }
            self.0[place] = number;
            at += 1;
        }
        self
    }

    /// Returns whether a word is in the list, in capital letters or small ones.
    pub(super) fn contains(&self, word: &str) -> bool {
        if word.len() > LONGEST {
            return false;
        }
        let number = lower(packed(word.as_bytes()), word.len());
        let (before, from) = self.0.split_at(place(number));
        let mut places = from.iter().chain(before).take_while(|here| **here != 0);
        places.any(|here| *here == number)
    }
}

/// Returns where a number is to stand.
const fn place(number: u128) -> usize {
    const HALF: u32 = u64::BITS;
    const BITS: u128 = 0x9E37_79B9_7F4A_7C15;
    let folded = (number ^ (number >> HALF)) & (u64::MAX as u128);
    ((folded * BITS) >> (HALF - PLACES.ilog2())) as usize % PLACES
}

/// Makes all capital letters of a packed word of so many bytes small ones at once; letters and apostrophes, of which
/// lists are made, come of nothing else but a control character.
const fn lower(number: u128, len: usize) -> u128 {
    match len.checked_sub(size_of::<u64>()) {
        Some(rest) => number | (case(size_of::<u64>()) as u128) << u64::BITS | case(rest) as u128,
        None => number | case(len) as u128,
    }
}

/// Returns the bits that tell small letters from capital ones in a number of so many bytes.
const fn case(len: usize) -> u64 {
    let bits = u64::from_be_bytes([0x20; size_of::<u64>()]);
    match len {
        0 => 0,
        _ => bits >> (8 * (size_of::<u64>() - len)),
    }
}

/// Writes a word as a number, its last byte the lowest.
const fn packed(word: &[u8]) -> u128 {
    // Most words have one half only, which a register holds.
    match word.split_at_checked(size_of::<u64>()) {
        Some((first, rest)) => (bytes_as_number(first) as u128) << u64::BITS | bytes_as_number(rest) as u128,
        None => bytes_as_number(word) as u128,
    }
}

/// Writes up to eight bytes as a number; without a loop, since every word of a text is looked for.
pub(super) const fn bytes_as_number(bytes: &[u8]) -> u64 {
    match (bytes, bytes.first_chunk(), bytes.last_chunk()) {
        (_, Some(first), Some(last)) => {
            let first = u32::from_be_bytes(*first) as u64;
            first << (8 * (bytes.len() - 4)) | u32::from_be_bytes(*last) as u64
        }
        ([a, b, c], ..) => (*a as u64) << 16 | (*b as u64) << 8 | *c as u64,
        ([a, b], ..) => (*a as u64) << 8 | *b as u64,
        ([a], ..) => *a as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_no_others() {
        let list = WordList::new(["a", "can't", "yourself", "absolutely"]);
        let found = ["A", "Can't", "YOURSELF", "aBsolutelY"].map(|word| list.contains(word));
        let others =
            ["", "b", "can", "absolutel", "a word of many letters", "你"].map(|word| list.contains(word));
        assert_eq!((found, others), ([true; 4], [false; 6]));
    }
}
