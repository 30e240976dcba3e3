//! A search: BM25, and what neighbours, questions, named speakers, age and pins add to it.

use std::collections::BTreeMap;

use crate::recall::index::RecallIndex;
use crate::recall::postings::Word;
use crate::recall::reasons::QueryWords;
use crate::recall::records::beginning;
use crate::recall::steps::Posting;
use crate::recall::terms::each_term;
use crate::request::word_hash;

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of its message among those that were added.
    pub message: usize,
    /// Which record of the message it is.
    pub record: usize,
    /// How well it fits, to be compared within one search only.
    pub score: u64,
    /// Which of the words that were looked for it has: a bit for each of them, the rarest first.
    pub words: u64,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The records, the best first.
    pub hits: Vec<Hit>,
    /// What was looked for.
    pub(super) words: QueryWords,
}

/// How many bytes of a query are looked at.
const MOST_BYTES: usize = 16 * 1024;

/// How many words of a query are looked for; the rarest ones if it has more. Each has a bit in [`Hit::words`].
const MOST_TERMS: usize = 64;

/// How many occurrences of words are looked at in one search; the newest of words that many records have.
const MOST_POSTINGS: usize = 40_000;

/// How many of the best records, before neighbours count, are looked at again.
const MOST_CANDIDATES: usize = 2_048;

/// How many records are found at the most.
const MOST_HITS: usize = 4_096;

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
/// What is added, in hundredths, to the newest record; the less, the older one is.
const NEWEST: u64 = 5;
/// What is added, in hundredths, to a record of a pinned message.
const PINNED: u64 = 20;
/// Which part of the best score a hit has at the least: one of these.
const FLOOR: u64 = 50;

/// Of BM25, in 256ths: how soon a word that comes often counts no more (1.2), and how far lengths matter (0.75).
const SATURATION: u64 = 307;
const LENGTH: u64 = 192;

/// A word of a query that the index has.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    pub(super) hash: u64,
    word: Word<'a>,
    weight: u64,
    rarity: u64,
}

/// A record, what it scores, and by which words.
#[derive(Clone, Copy, Default)]
struct Scored {
    record: u32,
    score: u32,
    words: u64,
}

/// The score of a record with what is around it, the record, and the words that it has.
type Found = (u64, u32, u64);

impl RecallIndex {
    /// Finds the records that fit texts, each with its weight in hundredths; the best first, of equals the newest.
    ///
    /// Whatever the texts and however long the conversation is, the work has a bound: 16 KiB of texts, their 64
    /// rarest words, and 40,000 occurrences of these; it finds 4,096 records at the most. Words that half of the
    /// records have say nothing.
    pub fn search(&self, query: &[(&str, u64)]) -> SearchResult {
        let terms = self.terms(query);
        let words = QueryWords::of(query, &terms);
        let scored = self.scored(query, terms);
        let mut found = self.with_neighbours(&scored);
        let order = |(score, record, _): &Found| (u64::MAX - score, u32::MAX - record);
        if found.len() > MOST_HITS {
            found.select_nth_unstable_by_key(MOST_HITS, order);
            found.truncate(MOST_HITS);
        }
        found.sort_unstable_by_key(order);
        let least = found.first().map_or(0, |(best, ..)| best / FLOOR).max(1);
        let hit = |(score, record, words): Found| {
            let (message, record) = self.place(record);
            Hit { message, record, score, words }
        };
        let hits = found.into_iter().take_while(|(score, ..)| *score >= least).map(hit).collect();
        SearchResult { hits, words }
    }

    /// Returns whether a text has a word that a search would look for.
    pub fn knows(&self, text: &str) -> bool {
        !self.terms(&[(text, 100)]).is_empty()
    }

    /// Scores the records that have words of the query, in their order.
    fn scored(&self, query: &[(&str, u64)], terms: Vec<Term<'_>>) -> Vec<Scored> {
        let mut scored: Vec<Scored> = Vec::new();
        let mean = (self.words / (self.records.len() as u64).max(1)).max(1);
        let named = self.named(query);
        let length = |words: u64| SATURATION * ((256 - LENGTH) + LENGTH * words / mean) / 256;
        let lengths: Vec<u64> = (0..=u64::from(u8::MAX)).map(length).collect();
        for (at, Term { word, weight, rarity, .. }) in terms.into_iter().enumerate() {
            let left = MOST_POSTINGS - scored.len();
            for Posting { record, times } in word.newest_first().take(left) {
                let Some(entry) = self.records.get(record as usize) else { continue };
                let length = lengths.get(usize::from(entry.words)).copied().unwrap_or_default();
                let times = u64::from(times);
                let part = weight * rarity * times * (256 + SATURATION) / (256 * times + length) / 100;
                let part =
                    if named.get(entry.speaker()) == Some(&true) { part * (100 + NAMED) / 100 } else { part };
                let score = u32::try_from(part).unwrap_or(u32::MAX).max(1);
                scored.push(Scored { record, score, words: 1 << at });
            }
        }
        let mut scored = by_record(scored, self.records.len());
        scored.dedup_by(|later, kept| {
            let is_same = later.record == kept.record;
            if is_same {
                kept.score = kept.score.saturating_add(later.score);
                kept.words |= later.words;
            }
            is_same
        });
        scored
    }

    /// Returns the best records and those around them, each with what its neighbours add.
    fn with_neighbours(&self, scored: &[Scored]) -> Vec<Found> {
        let end = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let (mut found, mut next, mut rest) = (Vec::new(), 0, scored);
        for best in best(scored) {
            for record in next.max(best.saturating_sub(2))..end.min(best.saturating_add(3)) {
                let passed = rest.iter().take_while(|first| first.record + 2 < record).count();
                rest = rest.get(passed..).unwrap_or_default();
                let (scores, words) = around(record, rest);
                found.push((self.total(record, scores), record, words));
                next = record + 1;
            }
        }
        found
    }

    /// Adds to a record's score what its neighbours, its age and a pin are worth; it stands in the middle.
    fn total(&self, record: u32, [far_before, before, own, after, far_after]: [u64; 5]) -> u64 {
        let entry = |record: u32| self.records.get(record as usize);
        let near = before.max(after) * NEAR;
        let far = far_before.max(far_after) * FAR;
        let asks = record.checked_sub(1).and_then(entry).is_some_and(|before| before.asks());
        let answer = if asks { before * ANSWER } else { 0 };
        let age = NEWEST * 100 * u64::from(record + 1) / (self.records.len() as u64).max(1);
        let pin = if entry(record).is_some_and(|entry| entry.is_pinned()) { PINNED * 100 } else { 0 };
        (own * 100 + near + far + answer) * (10_000 + age + pin) / 10_000
    }

    /// Returns the words of a query that are in the index; the rarest first.
    fn terms(&self, query: &[(&str, u64)]) -> Vec<Term<'_>> {
        let mut weights: BTreeMap<u64, (Word<'_>, u64)> = BTreeMap::new();
        let (names, reader) = (self.name_words(), self.postings.reader());
        let known = |stem: &str| {
            let hash = word_hash(stem);
            reader.find(hash).map(|found| (hash, found))
        };
        each_query_word(query, |word, weight| {
            let is_name = names.iter().any(|(_, name)| name == word);
            if is_name {
                return;
            }
            let whole = known(word).map(|(hash, found)| (hash, (found, weight)));
            // `walnut` is a `nut`.
            let end = || ends(word).find_map(known);
            let term = whole.or_else(|| end().map(|(hash, found)| (hash, (found, weight * END / 100))));
            if let Some((hash, (found, weight))) = term {
                let known = weights.entry(hash).or_insert((found, weight));
                known.1 = weight.max(known.1);
            }
        });
        let records = self.records.len() as u64;
        let terms = weights.into_iter().filter_map(|(hash, (word, weight))| {
            let with = u64::from(word.count);
            // A few records say nothing about how rare a word is.
            let tells = with * 2 <= records || records < 32;
            tells.then(|| Term { hash, word, weight, rarity: rarity(records, with) })
        });
        let mut terms: Vec<Term<'_>> = terms.collect();
        terms.sort_unstable_by_key(|term| (u64::MAX - term.rarity, term.hash));
        terms.truncate(MOST_TERMS);
        terms
    }

    /// Returns for nobody, the user and the model whether the query names them.
    fn named(&self, query: &[(&str, u64)]) -> [bool; 3] {
        let names = self.name_words();
        let mut named = [false; 3];
        each_query_word(query, |word, _| {
            let of_name = names.iter().filter(|(_, name)| name == word);
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
            each_term(name, |word| words.push((number, word.to_owned())));
        }
        words
    }
}

/// Brings scores into the order of their records, of which there are so many: digit by digit, the lowest first.
fn by_record(scored: Vec<Scored>, records: usize) -> Vec<Scored> {
    const BITS: u32 = 11;
    let (mut sorted, mut next) = (scored, Vec::new());
    for digit in 0..(usize::BITS - records.leading_zeros()).div_ceil(BITS) {
        let digit = |one: &Scored| (one.record >> (digit * BITS)) as usize % (1 << BITS);
        let mut places = [0; 1 << BITS];
        let mut count = |one: &Scored| places.get_mut(digit(one)).into_iter().for_each(|count| *count += 1);
        sorted.iter().for_each(&mut count);
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        next.resize(sorted.len(), Scored::default());
        for one in &sorted {
            let Some(place) = places.get_mut(digit(one)) else { continue };
            next.get_mut(*place).into_iter().for_each(|next| *next = *one);
            *place += 1;
        }
        std::mem::swap(&mut sorted, &mut next);
    }
    sorted
}

/// Returns the scores from two records before one to two behind it, and the words of its own; `scored` begins with the
/// first of them.
fn around(record: u32, scored: &[Scored]) -> ([u64; 5], u64) {
    let (mut scores, mut words) = ([0; 5], 0);
    for near in scored.iter().take(scores.len()) {
        if let Some(place) = (near.record + 2).checked_sub(record).and_then(|at| scores.get_mut(at as usize))
        {
            *place = u64::from(near.score);
        }
        if near.record == record {
            words = near.words;
        }
    }
    (scores, words)
}

/// Returns the records that score best, in their order.
fn best(scored: &[Scored]) -> Vec<u32> {
    let mut best: Vec<(u32, u32)> = scored.iter().map(|one| (u32::MAX - one.score, one.record)).collect();
    if best.len() > MOST_CANDIDATES {
        best.select_nth_unstable_by_key(MOST_CANDIDATES, |(score, record)| (*score, u32::MAX - record));
        best.truncate(MOST_CANDIDATES);
        best.sort_unstable_by_key(|(_, record)| *record);
    }
    best.into_iter().map(|(_, record)| record).collect()
}

/// Returns the ends of a word that may be one of two words: both have three letters at the least. The longest first.
pub(super) fn ends(word: &str) -> impl Iterator<Item = &str> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let cuts = if is_plain { 3..word.len().saturating_sub(2) } else { 0..0 };
    cuts.filter_map(|cut| word.get(cut..))
}

/// Calls `visit` for each part of a query, as far as it is looked at.
pub(super) fn each_query_text(query: &[(&str, u64)], mut visit: impl FnMut(&str, u64)) {
    let mut left = MOST_BYTES;
    for (text, weight) in query {
        let looked_at = beginning(text, left);
        left -= looked_at.len();
        visit(looked_at, *weight);
    }
}

fn each_query_word(query: &[(&str, u64)], mut visit: impl FnMut(&str, u64)) {
    each_query_text(query, |text, weight| each_term(text, |word| visit(word, weight)));
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
