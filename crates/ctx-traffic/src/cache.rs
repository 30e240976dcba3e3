//! What providers keep in their prompt caches.
//!
//! Rules of November 2026: Anthropic (platform.claude.com, prompt caching), OpenAI (developers.openai.com, prompt caching),
//! Gemini (ai.google.dev, context caching), DeepSeek (api-docs.deepseek.com, context caching).

use std::collections::HashMap;

use ctx_wire::Dialect;

use crate::blocks::{Lifetime, PlacedBlock};

/// Maximum number of cached prefixes that are remembered.
const MAX_ENTRIES: usize = 4_000_000;

/// Blocks that Anthropic looks back from a mark.
const LOOK_BACK: usize = 20;

const MINUTE: i64 = 60_000;

/// How a provider caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheRules {
    /// Prefixes that end at a mark. `is_implicit`: the end of each request is marked too.
    Marks { min: u64, look_back: usize, short: i64, long: i64, is_implicit: bool },
    /// Any prefix, in steps of tokens.
    Prefix { min: u64, step: u64, life: Option<i64> },
    /// Unknown provider.
    Unknown,
}

impl CacheRules {
    /// Returns the rules for a model.
    pub(crate) fn for_model(dialect: Dialect, model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if dialect == Dialect::Anthropic || name.contains("claude") {
            let min = if has(&["opus-4-7", "opus-4.7"]) {
                2_048
            } else if has(&["opus-4-5", "opus-4.5", "opus-4-6", "opus-4.6", "haiku-4-5", "haiku-4.5"]) {
                4_096
            } else if has(&["fable", "mythos-5", "opus-5", "sonnet-5-5", "haiku-5-5"]) {
                512
            } else {
                1_024
            };
            let (short, long) = (5 * MINUTE, 60 * MINUTE);
            return Self::Marks { min, look_back: LOOK_BACK, short, long, is_implicit: false };
        }
        if dialect == Dialect::Gemini || name.contains("gemini") {
            let min = if has(&["gemini-2", "gemini-1"]) { 2_048 } else { 4_096 };
            return Self::Prefix { min, step: 1, life: None };
        }
        if name.contains("deepseek") {
            return Self::Prefix { min: 64, step: 64, life: None };
        }
        let is_reasoning_model =
            name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        let is_open = name.starts_with("gpt-oss");
        if is_open || !(name.starts_with("gpt-") || is_reasoning_model || name.starts_with("codex")) {
            return Self::Unknown;
        }
        let version = name.strip_prefix("gpt-").and_then(|rest| rest.split('-').next()?.parse::<f32>().ok());
        if version.is_some_and(|version| version >= 5.6) {
            let (short, long) = (30 * MINUTE, 720 * MINUTE);
            return Self::Marks { min: 1_024, look_back: 80, short, long, is_implicit: true };
        }
        let life = if name.starts_with("gpt-5.5") { 24 * 60 * MINUTE } else { 60 * MINUTE };
        Self::Prefix { min: 1_024, step: 128, life: Some(life) }
    }
}

impl CacheRules {
    /// Returns the part of a common prefix that can be read.
    pub(crate) const fn round(self, tokens: u64) -> u64 {
        match self {
            Self::Marks { min, .. } | Self::Prefix { min, .. } if tokens < min => 0,
            Self::Prefix { step, .. } => tokens - tokens % step,
            Self::Marks { .. } | Self::Unknown => tokens,
        }
    }
}

/// A prefix in a cache.
#[derive(Clone, Copy, Debug)]
struct Entry {
    readable: Option<i64>,
    used: Option<i64>,
    life: Option<i64>,
}

/// What a request could read, and what it writes.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CacheForecast {
    /// Number of blocks that can be read.
    pub(crate) reused: usize,
    /// Number of blocks up to which the cache is written.
    pub(crate) written: usize,
    /// Whether what is written has the longer lifetime.
    pub(crate) is_long: bool,
    /// Whether a cached prefix was too old.
    pub(crate) is_expired: bool,
    /// Whether a cached prefix was not yet readable: its response had not begun.
    pub(crate) is_early: bool,
    /// Whether the request has a mark, or needs none.
    pub(crate) is_marked: bool,
}

/// The prefixes that providers keep.
#[derive(Debug, Default)]
pub(crate) struct CacheModel {
    entries: HashMap<u64, Entry>,
}

impl CacheModel {
    /// Forecasts what a request reads, and remembers what it writes. `chain[i]` identifies the first `i + 1` blocks.
    pub(crate) fn pass(
        &mut self,
        rules: CacheRules,
        (blocks, chain, ends): (&[PlacedBlock], &[u64], &[u64]),
        (at, answered): (Option<i64>, Option<i64>),
    ) -> CacheForecast {
        if self.entries.len() > MAX_ENTRIES {
            self.entries.clear();
        }
        match rules {
            CacheRules::Unknown => CacheForecast::default(),
            CacheRules::Prefix { min, life, .. } => {
                let mut forecast =
                    CacheForecast { written: blocks.len(), is_marked: true, ..CacheForecast::default() };
                let all = (0..blocks.len()).rev().filter(|index| ends[*index] >= min);
                self.find(all, chain, at, &mut forecast);
                for hash in chain {
                    self.write(*hash, life, (at, answered));
                }
                forecast
            }
            CacheRules::Marks { min, look_back, short, long, is_implicit } => {
                let last = blocks.len().checked_sub(1).filter(|_| is_implicit);
                let marked = (0..blocks.len()).filter(|index| blocks[*index].mark.is_some());
                let mut marks: Vec<usize> = marked.chain(last).collect();
                marks.dedup();
                // Providers read at most four marks.
                let marks = &marks[marks.len().saturating_sub(4)..];
                let mut forecast = CacheForecast { is_marked: !marks.is_empty(), ..CacheForecast::default() };
                for &mark in marks.iter().rev() {
                    let places =
                        (mark.saturating_sub(look_back)..=mark).rev().filter(|index| ends[*index] >= min);
                    self.find(places, chain, at, &mut forecast);
                    if forecast.reused > 0 {
                        break;
                    }
                }
                for &mark in marks.iter().filter(|mark| ends[**mark] >= min) {
                    let is_long = blocks[mark].mark == Some(Lifetime::Long);
                    forecast.written = forecast.written.max(mark + 1);
                    forecast.is_long |= is_long;
                    self.write(chain[mark], Some(if is_long { long } else { short }), (at, answered));
                }
                forecast
            }
        }
    }

    /// Sets the longest of the prefixes that is cached. The places descend.
    fn find(
        &mut self,
        mut places: impl Iterator<Item = usize>,
        chain: &[u64],
        at: Option<i64>,
        forecast: &mut CacheForecast,
    ) {
        let found = places.find(|index| {
            let Some(entry) = self.entries.get_mut(&chain[*index]) else { return false };
            let is_early = matches!((entry.readable, at), (Some(readable), Some(at)) if at < readable);
            let age = at.zip(entry.used).map(|(at, used)| at.saturating_sub(used));
            let is_expired = matches!((age, entry.life), (Some(age), Some(life)) if age > life);
            forecast.is_early |= is_early;
            forecast.is_expired |= is_expired;
            if is_early || is_expired {
                return false;
            }
            entry.used = entry.used.max(at);
            true
        });
        if let Some(index) = found {
            forecast.reused = index + 1;
        }
    }

    fn write(&mut self, hash: u64, life: Option<i64>, (at, answered): (Option<i64>, Option<i64>)) {
        let entry = self.entries.entry(hash).or_insert(Entry { readable: answered, used: at, life });
        entry.readable = match (entry.readable, answered) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.and(new),
        };
        entry.used = entry.used.max(at);
        entry.life = entry.life.max(life);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_only_models_of_openai_by_their_first_letters() {
        let rules = |model| CacheRules::for_model(Dialect::OpenaiChat, model);
        assert!(
            ["olmo-3", "gpt-oss-120b", "llama-4"]
                .into_iter()
                .all(|model| rules(model) == CacheRules::Unknown)
        );
        assert!(matches!(rules("o4-mini"), CacheRules::Prefix { step: 128, .. }));
        assert!(matches!(rules("gpt-5.6-sol"), CacheRules::Marks { is_implicit: true, .. }));
    }

    #[test]
    fn keeps_the_latest_use_if_lines_are_out_of_order() {
        let rules = CacheRules::Prefix { min: 1, step: 1, life: Some(MINUTE) };
        let place = crate::place::BlockPlace::Tool(1);
        let block = [PlacedBlock { hash: 1, tokens: 9, place, mark: None }];
        let mut cache = CacheModel::default();
        let mut reused = |at| cache.pass(rules, (&block, &[1], &[9]), (Some(at), None)).reused;
        assert_eq!((reused(MINUTE), reused(0), reused(2 * MINUTE)), (0, 1, 1));
    }
}
