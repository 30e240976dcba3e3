//! A search: BM25 with additions for neighbors, questions, named speakers, age and pins.

use std::cmp::Reverse;

use ctx_types::Phrase;

use crate::recall::index::RecallIndex;
use crate::recall::postings::Posting;
use crate::recall::query::{Query, Term};
use crate::recall::reasons::QueryWords;

/// A found record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of its message in the index.
    pub message: usize,
    /// The position of the record in the message.
    pub record: usize,
    /// The score, which is only comparable within one search.
    pub score: u64,
    /// The words of the query in it: one bit each, the most important first.
    pub words: u64,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The records, the best first.
    pub hits: Vec<Hit>,
    /// The words of the query.
    pub(super) words: QueryWords,
    /// The reason why words found nothing.
    pub(super) nothing: Option<Phrase>,
}

impl SearchResult {
    /// Returns the reason why nothing was found, or `None` if there are hits.
    pub fn why_nothing(&self) -> Option<Phrase> {
        self.nothing.clone().filter(|_| self.hits.is_empty())
    }
}

/// The maximum number of occurrences read per search; of frequent words, only the newest are read.
const MOST_POSTINGS: usize = 8_192;

/// The number of best records that are scored again with their neighbors.
const MOST_CANDIDATES: usize = 1_024;

/// The maximum number of hits.
const MOST_HITS: usize = 1_024;

/// The part of the score of the record before or after it that is added, in percent.
const NEAR: u64 = 30;
/// The second record after it.
const FAR: u64 = 15;
/// The record before it if that is a question: the next record is often the answer.
const ANSWER: u64 = 60;
/// The addition if the query names the speaker, in percent.
const NAMED: u64 = 30;
/// The addition for the newest record, in percent; it falls with age.
const NEWEST: u64 = 5;
/// The addition for a record of a pinned message, in percent.
const PINNED: u64 = 20;
/// 1 divided by this is the minimum score of a hit relative to the best.
const FLOOR: u64 = 50;

/// BM25 parameters in 256ths: the saturation of frequent words (1.2) and the influence of the length (0.75).
const SATURATION: u64 = 307;
const LENGTH: u64 = 192;

/// A record, its score, and its words of the query.
#[derive(Clone, Copy, Default)]
struct Scored {
    record: u32,
    score: u32,
    words: u64,
}

/// The score of a record with its neighbors, the record, and its words of the query.
type Found = (u64, u32, u64);

impl RecallIndex {
    /// Finds the records that match texts, each with its weight in percent; the best first, of equal ones the
    /// newest.
    ///
    /// The work is limited for every input: 16 KiB of text, 64 words by weight and rarity (of these, 48 are reserved
    /// for the text with the highest weight), 8,192 occurrences and 1,024 hits. Words in more than half of the records
    /// are ignored. Texts below half of the highest weight add to the score of other hits, but find nothing alone.
    /// Weights above 10,000 count as 10,000, and more than 15 occurrences of a word in a record as 15.
    pub fn search(&self, query: &[(&str, u64)]) -> SearchResult {
        let looked_for = match Query::of(self, query) {
            Ok(looked_for) => looked_for,
            Err(why) => return SearchResult { nothing: Some(why), ..SearchResult::default() },
        };
        let words = QueryWords::of(query, &looked_for.terms);
        let scored = self.scored(looked_for);
        let mut found = self.with_neighbours(&scored);
        let least = found.iter().map(|(score, ..)| *score).max().map_or(0, |best| best / FLOOR).max(1);
        found.retain(|(score, ..)| *score >= least);
        // One number, which is compared in one step.
        let rank =
            |(score, record, _): &Found| Reverse(u128::from(*score) << u32::BITS | u128::from(*record));
        if found.len() > MOST_HITS {
            found.select_nth_unstable_by_key(MOST_HITS, rank);
            found.truncate(MOST_HITS);
        }
        found.sort_unstable_by_key(rank);
        let hit = |(score, record, words): Found| {
            let (message, record) = self.place(record);
            Hit { message, record, score, words }
        };
        SearchResult { hits: found.into_iter().map(hit).collect(), words, nothing: None }
    }

    /// Scores the records with words of the query, in order.
    fn scored(&self, Query { terms, named }: Query<'_>) -> Vec<Scored> {
        let mut scored: Vec<Scored> = Vec::new();
        let mean = (self.words / (self.records.len() as u64).max(1)).max(1);
        let length = |words: u8| SATURATION * ((256 - LENGTH) + LENGTH * u64::from(words) / mean) / 256;
        let lengths: Vec<u64> = (0..=u8::MAX).map(length).collect();
        for (at, Term { list, weight, rarity, .. }) in terms.into_iter().enumerate() {
            let part = |times: u8, length: u64| {
                let times = u64::from(times);
                weight * rarity * times * (256 + SATURATION) / (256 * times + length) / 100
            };
            // Words mostly come once in each record: where many have one, a table saves as many divisions.
            let once: Vec<u64> = match list.count() {
                0..=1_024 => Vec::new(),
                _ => lengths.iter().map(|length| part(1, *length)).collect(),
            };
            let postings = list.newest_first().take(MOST_POSTINGS - scored.len());
            scored.extend(postings.map(|Posting { record, times }| {
                let entry = self.records[record as usize];
                let words = usize::from(entry.words);
                let known = once.get(words).filter(|_| times == 1).copied();
                let part = known.unwrap_or_else(|| part(times, lengths[words]));
                let part =
                    if named.get(entry.speaker()) == Some(&true) { part * (100 + NAMED) / 100 } else { part };
                let score = u32::try_from(part).unwrap_or(u32::MAX).max(1);
                Scored { record, score, words: 1 << at }
            }));
        }
        summed(scored)
    }

    /// Returns the best records and their neighbors, each with its additions.
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

    /// Adds the shares of the neighbors, of age and of a pin to the score of the middle record.
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
}

/// Sums the scores of each record, in the order of the records.
fn summed(mut scored: Vec<Scored>) -> Vec<Scored> {
    scored.sort_unstable_by_key(|one| one.record);
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

/// Returns the scores from two records before a record to two after it, and its words; `scored` begins with the first
/// of them.
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

/// Returns the records with the highest scores, in order.
fn best(scored: &[Scored]) -> Vec<u32> {
    let mut best: Vec<(u32, u32)> = scored.iter().map(|one| (u32::MAX - one.score, one.record)).collect();
    if best.len() > MOST_CANDIDATES {
        best.select_nth_unstable_by_key(MOST_CANDIDATES, |(score, record)| (*score, u32::MAX - record));
        best.truncate(MOST_CANDIDATES);
        best.sort_unstable_by_key(|(_, record)| *record);
    }
    best.into_iter().map(|(_, record)| record).collect()
}
