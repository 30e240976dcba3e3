//! Search for many phrases in one pass over a text.

use std::collections::HashMap;

use crate::quality::key::each_word;

/// Words in a row that are searched for.
#[derive(Debug, Default)]
pub(super) struct PhraseIndex {
    words: HashMap<Box<str>, WordState>,
    /// The node after a node and a word; 0 is the root.
    next: HashMap<(usize, usize), usize>,
    /// The place of each phrase that was found, by its last node.
    found: Vec<Option<PhrasePlace>>,
}

/// A word of a phrase.
#[derive(Clone, Copy, Debug)]
struct WordState {
    number: usize,
    is_found: bool,
    is_found_in_lower_case: bool,
}

/// The bytes of a phrase in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhrasePlace {
    pub(super) text: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A phrase of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhraseId(usize);

/// The longest phrase in words; the rest of a longer one is ignored.
const MAX_WORDS: usize = 120;

impl PhraseIndex {
    pub(super) fn new() -> Self {
        Self { found: vec![None], ..Self::default() }
    }

    pub(super) fn insert(&mut self, phrase: &str) -> PhraseId {
        let mut node = 0;
        let mut left = MAX_WORDS;
        each_word(phrase, &mut |word| {
            if left == 0 {
                return;
            }
            left -= 1;
            let number = self.words.len();
            let state = self.words.entry(word.text.into()).or_insert(WordState {
                number,
                is_found: false,
                is_found_in_lower_case: false,
            });
            node = *self.next.entry((node, state.number)).or_insert(self.found.len());
            if node == self.found.len() {
                self.found.push(None);
            }
        });
        PhraseId(node)
    }

    /// Searches a text for all phrases. O(words × words of the longest phrase).
    pub(super) fn search(&mut self, text_number: usize, text: &str) {
        // Phrases that may continue: the node and the first byte.
        let mut open: Vec<(usize, usize)> = Vec::new();
        each_word(text, &mut |word| {
            let Some(state) = self.words.get_mut(word.text) else {
                open.clear();
                return;
            };
            state.is_found = true;
            state.is_found_in_lower_case |= !word.is_capitalized;
            open.push((0, word.start));
            open.retain_mut(|(node, _)| match self.next.get(&(*node, state.number)) {
                Some(next) => {
                    *node = *next;
                    true
                }
                None => false,
            });
            for (node, start) in &open {
                self.found[*node].get_or_insert(PhrasePlace {
                    text: text_number,
                    start: *start,
                    end: word.end,
                });
            }
        });
    }

    /// Returns the first place of a phrase; `None` for one without words.
    pub(super) fn place(&self, phrase: PhraseId) -> Option<PhrasePlace> {
        self.found[phrase.0]
    }

    /// Returns whether a word of a phrase was found.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.get(word).is_some_and(|state| state.is_found)
    }

    pub(super) fn has_word_in_lower_case(&self, word: &str) -> bool {
        self.words.get(word).is_some_and(|state| state.is_found_in_lower_case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_first_place_of_each_phrase() {
        let mut index = PhraseIndex::new();
        let ids = ["ada bell", "bell", "bell tower", "ada", ""].map(|phrase| index.insert(phrase));
        index.search(0, "No bells, Ada. Bell");
        index.search(1, "the Bell tower");
        let place = |text, start, end| Some(PhrasePlace { text, start, end });
        let expected = [place(0, 10, 19), place(0, 15, 19), place(1, 4, 14), place(0, 10, 13), None];
        assert_eq!(ids.map(|id| index.place(id)), expected);
        assert!(index.has_word("tower") && index.has_word_in_lower_case("tower"));
        assert!(index.has_word("ada") && !index.has_word_in_lower_case("ada"));
    }
}
