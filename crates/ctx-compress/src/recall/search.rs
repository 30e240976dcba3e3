//! A search: BM25, and what neighbours, questions and named speakers add to it.

use std::collections::BTreeMap;

use crate::recall::index::RecallIndex;
use crate::recall::records::{Record, beginning};
use crate::recall::terms::each_term;
use crate::request::Word;

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of its message among those that were added.
    pub message: usize,
    /// Which record of the message it is.
    pub record: usize,
    /// How well it fits, to be compared within one search only.
    pub score: u64,
}

/// How many bytes of a query are looked at.
const MOST_BYTES: usize = 16 * 1024;

/// How many words of a query are looked for; the rarest ones if it has more.
const MOST_TERMS: usize = 64;

/// How many occurrences of words are looked at in one search; the newest of words that many records have.
const MOST_POSTINGS: usize = 60_000;

/// How many of the best records, before neighbours count, are looked at again.
const MOST_CANDIDATES: usize = 4_096;

/// What a neighbour adds, in hundredths of its own score: the next one on either side.
const NEAR: u64 = 30;
/// The one behind it.
const FAR: u64 = 15;
/// The one before it, where that one asks: what follows is the answer.
const ANSWER: u64 = 60;
/// What is added, in hundredths, where the query names who speaks.
const NAMED: u64 = 30;
/// What a word counts, in hundredths, that the index does not have, but the one that it ends in.
const END: u64 = 50;
/// Which part of the best score a hit has at the least: one of these.
const FLOOR: u64 = 50;

/// Of BM25, in 256ths: how soon a word that comes often counts no more (1.2), and how far lengths matter (0.75).
const SATURATION: u64 = 307;
const LENGTH: u64 = 192;

impl RecallIndex {
    /// Finds the records that fit texts, each with its weight in hundredths; the best first, of equals the newest.
    ///
    /// Whatever the texts and however long the conversation is, the work has a bound: 16 KiB of texts, their 64
    /// rarest words, and 60,000 occurrences of these. Words that half of the records have say nothing.
    pub fn search(&self, query: &[(&str, u64)]) -> Vec<Hit> {
        let count = self.records.len();
        let mut scores = vec![0_u32; count];
        let candidates = self.score(query, &mut scores);
        let score = |record: Option<u32>| {
            let score = record.and_then(|record| scores.get(record as usize));
            u64::from(score.copied().unwrap_or(0))
        };
        let total = |record: u32| {
            let (before, after) = (record.checked_sub(1), record.checked_add(1));
            let far = |a: Option<u32>| score(a.and_then(|a| a.checked_sub(1)));
            let near = score(before).max(score(after)) * NEAR;
            let far = far(before).max(score(record.checked_add(2))) * FAR;
            let asks = before.and_then(|before| self.records.get(before as usize)).is_some_and(|r| r.asks());
            score(Some(record)) * 100 + near + far + if asks { score(before) * ANSWER } else { 0 }
        };
        let mut found: Vec<(u64, u32)> =
            candidates.into_iter().map(|record| (total(record), record)).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        let least = found.first().map_or(0, |(best, _)| best / FLOOR).max(1);
        let hit = |(score, record): (u64, u32)| {
            let (message, record) = self.place(record);
            Hit { message, record, score }
        };
        found.into_iter().take_while(|(score, _)| *score >= least).map(hit).collect()
    }

    /// Returns whether a text has a word that a search would look for.
    pub fn knows(&self, text: &str) -> bool {
        !self.terms(&[(text, 100)]).is_empty()
    }

    /// Scores records by the words they have; returns the best with their neighbours, in their order, each once.
    fn score(&self, query: &[(&str, u64)], scores: &mut [u32]) -> Vec<u32> {
        let mut touched = Vec::new();
        let mut left = MOST_POSTINGS;
        let mean = (self.words / (self.records.len() as u64).max(1)).max(1);
        let named = self.named(query);
        for (word, weight, rarity) in self.terms(query) {
            if left == 0 {
                break;
            }
            let visited = self.postings.each(word, left, |record, times| {
                let at = record as usize;
                let (Some(score), Some(entry)) = (scores.get_mut(at), self.records.get(at)) else { return };
                let length = (256 - LENGTH) + LENGTH * u64::from(entry.words) / mean;
                let times = u64::from(times);
                let part = weight * rarity * times * (256 + SATURATION)
                    / (256 * times + SATURATION * length / 256)
                    / 100;
                let part =
                    if named.get(entry.speaker()) == Some(&true) { part * (100 + NAMED) / 100 } else { part };
                if *score == 0 {
                    touched.push(record);
                }
                *score = score.saturating_add(u32::try_from(part).unwrap_or(u32::MAX)).max(1);
            });
            left = left.saturating_sub(visited);
        }
        if touched.len() > MOST_CANDIDATES {
            let key = |record: &u32| {
                let score = scores.get(*record as usize).copied().unwrap_or(0);
                (u32::MAX - score, u32::MAX - record)
            };
            touched.select_nth_unstable_by_key(MOST_CANDIDATES, key);
            touched.truncate(MOST_CANDIDATES);
        }
        let last = u32::try_from(scores.len()).unwrap_or(u32::MAX).saturating_sub(1);
        let around = |record: u32| record.saturating_sub(2)..=record.saturating_add(2).min(last);
        let mut candidates: Vec<u32> = touched.into_iter().flat_map(around).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Returns the words of a query that are in the index, with their weights and how rare they are; rarest first.
    fn terms(&self, query: &[(&str, u64)]) -> Vec<(u32, u64, u64)> {
        let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
        let names = self.name_words();
        each_query_word(query, |word, weight| {
            let is_name = names.iter().any(|(_, name)| name == word.stem);
            if is_name {
                return;
            }
            let whole = self.vocabulary.find(word).map(|number| (number, weight));
            if let Some((number, weight)) =
                whole.or_else(|| self.end_of(word).map(|end| (end, weight * END / 100)))
            {
                let known = weights.entry(number).or_default();
                *known = weight.max(*known);
            }
        });
        let records = self.records.len() as u64;
        let term = |(word, weight): (u32, u64)| {
            let with = u64::from(self.postings.count(word));
            // A few records say nothing about how rare a word is.
            let tells = with * 2 <= records || records < 32;
            tells.then(|| (word, weight, rarity(records, with)))
        };
        let mut terms: Vec<(u32, u64, u64)> = weights.into_iter().filter_map(term).collect();
        terms.sort_unstable_by_key(|(word, _, rarity)| (u64::MAX - rarity, *word));
        terms.truncate(MOST_TERMS);
        terms
    }

    /// Returns the longest word of the index in which one that it does not have ends: `walnut` is a `nut`.
    fn end_of(&self, word: Word<'_>) -> Option<u32> {
        ends(word.stem).find_map(|stem| self.vocabulary.find(Word { stem, ..word }))
    }

    /// Returns for nobody, the user and the model whether the query names them.
    fn named(&self, query: &[(&str, u64)]) -> [bool; 3] {
        let names = self.name_words();
        let mut named = [false; 3];
        each_query_word(query, |word, _| {
            let of_name = names.iter().filter(|(_, name)| name == word.stem);
            of_name.for_each(|(number, _)| {
                named.get_mut(*number).into_iter().for_each(|named| *named = true);
            });
        });
        named
    }

    /// Returns the words of the names of the user (1) and the model (2).
    fn name_words(&self) -> Vec<(usize, String)> {
        let mut words = Vec::new();
        for number in [1, 2] {
            let name = self.speaker(number).unwrap_or_default();
            each_term(name, |word| words.push((number, word.stem.to_owned())));
        }
        words
    }
}

/// Returns the ends of a word that may be one of two words: both have three letters at the least. The longest first.
fn ends(word: &str) -> impl Iterator<Item = &str> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let cuts = if is_plain { 3..word.len().saturating_sub(2) } else { 0..0 };
    cuts.filter_map(|cut| word.get(cut..))
}

/// Calls `visit` for each word of the parts of a query that are looked at.
fn each_query_word(query: &[(&str, u64)], mut visit: impl FnMut(Word<'_>, u64)) {
    let mut left = MOST_BYTES;
    for (text, weight) in query {
        let looked_at = beginning(text, left);
        left -= looked_at.len();
        each_term(looked_at, |word| visit(word, *weight));
    }
}

/// Returns how rare a word is that so many of the records have, in 256ths: `ln(1 + (N - n + 0.5) / (n + 0.5))` (BM25).
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53, and the logarithm is between 0 and 23"
)]
fn rarity(records: u64, with: u64) -> u64 {
    let odds = (records.saturating_sub(with) as f64 + 0.5) / (with as f64 + 0.5);
    // Whole numbers, so that the last bit of a logarithm changes nothing.
    (odds.ln_1p() * 256.0).round() as u64
}

/// Returns the words of a question, as they stand there in lower case, that a record has too, each once.
pub(super) fn shared_words(question: &str, record: &Record<'_>) -> Vec<String> {
    let mut of_record = std::collections::BTreeSet::new();
    each_term(record.text, |word| {
        of_record.insert(word.stem.to_owned());
    });
    let mut shared: Vec<String> = Vec::new();
    let looked_at = beginning(question, MOST_BYTES);
    for word in looked_at.split(|c: char| !c.is_alphanumeric() && !"'’_-:.@/\\".contains(c)) {
        let mut is_shared = false;
        each_term(word, |term| {
            let is_pair = !term.stem.is_ascii() && term.stem.chars().count() == 2;
            match of_record.contains(term.stem) {
                true if is_pair && !shared.iter().any(|known| known == term.stem) => {
                    shared.push(term.stem.to_owned());
                }
                is_there => {
                    let is_there = is_there || ends(term.stem).any(|end| of_record.contains(end));
                    is_shared |= is_there && !is_pair;
                }
            }
        });
        let lower = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if is_shared && !shared.contains(&lower) {
            shared.push(lower);
        }
    }
    shared.truncate(MOST_SHARED);
    shared
}

/// How many words a reason names.
const MOST_SHARED: usize = 4;
