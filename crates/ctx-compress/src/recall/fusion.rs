//! Rankings by meaning in addition to words, from vectors of an [`Embedder`](ctx_types::ports::Embedder).

use std::collections::BTreeMap;

use crate::recall::search::{Hit, SearchResult};

/// Ranks messages by the cosine of their vectors and the query's vector, best first; of equal ones the newest is first.
///
/// Vectors that are zero or have another length than the query's are left out. O(messages · length).
pub fn nearest<V: AsRef<[f32]>>(query: &[f32], messages: &[V]) -> Vec<usize> {
    let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let norm = dot(query, query).sqrt();
    let cosine = |(at, vector): (usize, &V)| {
        let vector = vector.as_ref();
        let size = norm * dot(vector, vector).sqrt();
        let cosine = dot(query, vector) / size;
        (vector.len() == query.len() && cosine.is_finite()).then_some((cosine, at))
    };
    let mut ranked: Vec<(f32, usize)> = messages.iter().enumerate().filter_map(cosine).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    ranked.into_iter().map(|(_, at)| at).collect()
}

/// Merges the hits with another ranking of messages by reciprocal rank fusion: the sum of `1 / (60 + rank)` (Cormack,
/// Clarke, Büttcher 2009).
///
/// A message that is only in the other ranking is added with its first record.
pub fn joined(found: SearchResult, ranking: &[usize]) -> SearchResult {
    const SMOOTHING: u64 = 60;
    const ONE: u64 = 1_000_000_000;
    let part = |rank: usize| ONE / (SMOOTHING + 1 + rank as u64);
    let mut scores: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    let mut best: BTreeMap<usize, usize> = BTreeMap::new();
    for (rank, hit) in found.hits.iter().enumerate() {
        let (score, words) = scores.entry((hit.message, hit.record)).or_default();
        *score += part(rank);
        *words |= hit.words;
        best.entry(hit.message).or_insert(hit.record);
    }
    for (rank, message) in ranking.iter().enumerate() {
        let record = best.get(message).copied().unwrap_or(0);
        scores.entry((*message, record)).or_default().0 += part(rank);
    }
    let hit = |((message, record), (score, words))| Hit { message, record, score, words };
    let mut hits: Vec<Hit> = scores.into_iter().map(hit).collect();
    hits.sort_by_key(|hit| (u64::MAX - hit.score, usize::MAX - hit.message, hit.record));
    SearchResult { hits, ..found }
}
