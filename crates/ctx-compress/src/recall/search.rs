//! A search: BM25, and what neighbours, questions, named speakers, age and pins add to it.

use std::cmp::Reverse;

use ctx_types::Phrase;

use crate::recall::index::RecallIndex;
use crate::recall::postings::Posting;
use crate::recall::query::{Query, Term};
use crate::recall::reasons::QueryWords;

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of its message among those that were added.
    pub message: usize,
    /// Which record of the message it is.
    pub record: usize,
    /// How well it fits, to be compared within one search only.
    pub score: u64,
    /// Which of the words that were looked for it has: a bit for each of them, what counts most first.
    pub words: u64,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The records, the best first.
    pub hits: Vec<Hit>,
    /// What was looked for.
    pub(super) words: QueryWords,
    /// Why words found nothing.
    pub(super) nothing: Option<Phrase>,
}

impl SearchResult {
    /// Says why nothing was found; none if something was.
    pub fn why_nothing(&self) -> Option<Phrase> {
        self.nothing.clone().filter(|_| self.hits.is_empty())
    }
}

/// How many occurrences of words are looked at in one search; the newest of words that many records have.
const MOST_POSTINGS: usize = 8_192;

/// How many of the best records, before neighbours count, are looked at again.
const MOST_CANDIDATES: usize = 1_024;

/// How many records are found at the most.
const MOST_HITS: usize = 1_024;

/// What a neighbour adds, in hundredths of its own score: the next one on either side.
const NEAR: u64 = 30;
/// The one behind it.
const FAR: u64 = 15;
/// The one before it, where that one asks: what follows is the answer.
const ANSWER: u64 = 60;
/// What is added, in hundredths, where the query names who speaks.
const NAMED: u64 = 30;
/// What is added, in hundredths, to the newest record; the less, the older one is.
const NEWEST: u64 = 5;
/// What is added, in hundredths, to a record of a pinned message.
const PINNED: u64 = 20;
/// Which part of the best score a hit has at the least: one of these.
const FLOOR: u64 = 50;

/// Of BM25, in 256ths: how soon a word that comes often counts no more (1.2), and how far lengths matter (0.75).
const SATURATION: u64 = 307;
const LENGTH: u64 = 192;

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
    /// Whatever the texts and however long the conversation is, the work has a bound: 16 KiB of texts, 64 of their
    /// words by weight and rarity, of which the text of the greatest weight has 48 if it has as many, and 8,192 of the
    /// places where they occur; it finds 1,024 records at the most. Words that more than half of the records have say
    /// nothing. Texts of less than half of the greatest weight count for what the others find, and find nothing by
    /// themselves. Weights above 10,000 count as that, and a word that a record has more than 15 times as 15 times.
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

    /// Scores the records that have words of the query, in their order.
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
}

/// Adds up the scores of each record, in the order of the records.
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
