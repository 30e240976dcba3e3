//! Lists of short words that are searched for every word of a text.

/// How long the words of a list may be, in bytes.
const LONGEST: usize = 16;

/// A sorted list of words, each as a number whose order is that of the texts: to compare two is one step.
#[derive(Debug)]
pub(super) struct WordList<const N: usize>([u128; N]);

impl<const N: usize> WordList<N> {
    /// Makes a list of sorted words of at most 16 bytes.
    pub(super) const fn new(words: [&str; N]) -> Self {
        let mut list = [0; N];
        let mut at = 0;
        while at < N {
            list[at] = packed(words[at]);
            at += 1;
        }
        Self(list)
    }

    /// Returns whether a word is in the list. O(log N).
    pub(super) fn contains(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let mut number = [0; LONGEST];
        let Some(begin) = number.get_mut(..bytes.len()) else { return false };
        begin.copy_from_slice(bytes);
        self.0.binary_search(&u128::from_be_bytes(number)).is_ok()
    }

    /// Returns whether the list can be searched.
    #[cfg(test)]
    pub(super) fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|a, b| a < b)
    }
}

/// Writes a word as a number, its first byte the highest.
const fn packed(word: &str) -> u128 {
    let bytes = word.as_bytes();
    let mut number = [0; LONGEST];
    let mut at = 0;
    while at < bytes.len() {
        number[at] = bytes[at];
        at += 1;
    }
    u128::from_be_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_no_others() {
        let list = WordList::new(["a", "can't", "cannot", "yourself"]);
        assert!(list.is_sorted());
        let found = ["a", "can't", "cannot", "yourself"].map(|word| list.contains(word));
        let others =
            ["", "b", "can", "cannots", "a word of many letters", "你"].map(|word| list.contains(word));
        assert_eq!((found, others), ([true; 4], [false; 6]));
    }
}
