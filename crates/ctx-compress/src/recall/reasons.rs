//! The words of a query in a record, with the spelling of the query.

use crate::recall::query::{Term, each_query_text, ends};
use crate::recall::search::Hit;
use crate::recall::terms::each_term;

/// The words of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueryWords(Vec<QueryWord>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryWord {
    /// In lower case.
    shown: String,
    /// The bits of its index words, as in [`Hit::words`].
    bits: u64,
}

/// The maximum number of words in a reason.
const MOST_SHARED: usize = 4;

impl QueryWords {
    pub(super) fn of(query: &[(&str, u64)], terms: &[Term<'_>]) -> Self {
        let looked_for = |stem: &str| terms.iter().position(|term| term.word == stem).map(|at| 1 << at);
        let mut words = Self(Vec::new());
        each_query_text(query, |text, _| {
            for word in text.split(|c: char| !c.is_alphanumeric() && !"'’_-:.@/\\".contains(c)) {
                words.add(word, &looked_for);
            }
        });
        words
    }

    /// Adds a word with its spelling; for a script without spaces, each pair of characters.
    fn add(&mut self, word: &str, looked_for: &impl Fn(&str) -> Option<u64>) {
        let mut bits = 0;
        each_term(word, |term| {
            let bit = looked_for(term);
            if !term.is_ascii() && term.chars().count() == 2 {
                self.add_found(term, bit.unwrap_or(0));
            } else {
                bits |= bit.or_else(|| ends(term).find_map(looked_for)).unwrap_or(0);
            }
        });
        self.add_found(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase(), bits);
    }

    fn add_found(&mut self, shown: &str, bits: u64) {
        if bits != 0 && !self.0.iter().any(|word| word.shown == shown) {
            self.0.push(QueryWord { shown: shown.to_owned(), bits });
        }
    }

    /// Returns the words that found a hit, in the order of the query.
    pub(super) fn of_hit(&self, hit: &Hit) -> Vec<String> {
        let shared = self.0.iter().filter(|word| word.bits & hit.words != 0);
        shared.take(MOST_SHARED).map(|word| word.shown.clone()).collect()
    }
}
