//! The words of a query that a record has, as they stand in the query.

use crate::recall::index::RecallIndex;
use crate::recall::records::Record;
use crate::recall::search::{Term, each_query_text, ends};
use crate::recall::terms::each_term;
use crate::request::word_hash;

/// The words of a query that were looked for.
#[derive(Debug)]
pub(super) struct QueryWords(Vec<QueryWord>);

#[derive(Debug)]
struct QueryWord {
    /// In lower case.
    shown: String,
    /// The words of the index that it stands for.
    hashes: Vec<u64>,
}

/// How many words a reason names.
const MOST_SHARED: usize = 4;

impl QueryWords {
    pub(super) fn of(query: &[(&str, u64)], index: &RecallIndex) -> Self {
        let terms = index.terms(query);
        let looked_for = |stem: &str| {
            let hash = word_hash(stem);
            terms.iter().any(|term: &Term<'_>| term.hash == hash).then_some(hash)
        };
        let mut words = Self(Vec::new());
        each_query_text(query, |text, _| {
            for word in text.split(|c: char| !c.is_alphanumeric() && !"'’_-:.@/\\".contains(c)) {
                words.add(word, &looked_for);
            }
        });
        words
    }

    /// Adds a word as it stands in the query; of a script without blanks each pair of characters.
    fn add(&mut self, word: &str, looked_for: &impl Fn(&str) -> Option<u64>) {
        let mut hashes = Vec::new();
        each_term(word, |term| {
            let hash = looked_for(term);
            if !term.is_ascii() && term.chars().count() == 2 {
                self.add_found(term, hash.into_iter().collect());
            } else {
                hashes.extend(hash.or_else(|| ends(term).find_map(looked_for)));
            }
        });
        self.add_found(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase(), hashes);
    }

    fn add_found(&mut self, shown: &str, hashes: Vec<u64>) {
        if !hashes.is_empty() && !self.0.iter().any(|word| word.shown == shown) {
            self.0.push(QueryWord { shown: shown.to_owned(), hashes });
        }
    }

    /// Returns those that a record has, in the order of the query.
    pub(super) fn of_record(&self, record: &Record<'_>) -> Vec<String> {
        let mut has = vec![false; self.0.len()];
        for text in [record.text, record.tool] {
            each_term(text, |term| {
                let hash = word_hash(term);
                for (has, word) in has.iter_mut().zip(&self.0) {
                    *has |= word.hashes.contains(&hash);
                }
            });
        }
        let shared = has.iter().zip(&self.0).filter(|(has, _)| **has);
        shared.take(MOST_SHARED).map(|(_, word)| word.shown.clone()).collect()
    }
}
