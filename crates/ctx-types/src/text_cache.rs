use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};

use crate::text::{EncodingId, Text};

/// Shares equal texts between turns to keep their cached token counts.
///
/// Never changes results. Cleared above [`TextCache::MAX_TEXTS`], [`TextCache::MAX_BYTES`], or
/// [`TextCache::MAX_PARTS`].
#[derive(Default)]
pub struct TextCache(Mutex<CachedTexts>);

#[derive(Default)]
struct CachedTexts {
    /// Never iterated, so its random order has no effect.
    texts: HashSet<Text>,
    bytes: usize,
    hasher: RandomState,
    /// Token counts of parts, such as lines, by keyed hash and length in bytes.
    parts: HashMap<(u64, usize), u32>,
}

impl TextCache {
    /// Maximum number of texts.
    pub const MAX_TEXTS: usize = 1_024;
    /// Maximum total bytes of texts.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;
    /// Maximum number of parts, of about 20 bytes each.
    pub const MAX_PARTS: usize = 100_000;

    /// Returns the equal cached text, or caches this one. O(bytes).
    pub fn share(&self, text: Text) -> Text {
        if text.len() > Self::MAX_BYTES {
            return text;
        }
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.texts.get(text.as_str()) {
            return known.clone();
        }
        if cached.texts.len() >= Self::MAX_TEXTS || cached.bytes + text.len() > Self::MAX_BYTES {
            (cached.texts, cached.bytes) = (HashSet::new(), 0);
        }
        cached.bytes += text.len();
        cached.texts.insert(text.clone());
        text
    }

    /// Returns the total tokens of parts, counting only uncached ones. O(bytes).
    pub fn count_parts<'a>(
        &self,
        encoding: EncodingId,
        parts: impl Iterator<Item = &'a str>,
        count: impl Fn(&str) -> u32,
    ) -> u32 {
        let mut new = Vec::new();
        let known = {
            let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            parts.fold(0_u32, |known, part| {
                let key = (cached.hasher.hash_one((encoding.0, part)), part.len());
                let tokens = cached.parts.get(&key).copied();
                new.extend(tokens.is_none().then_some((key, part, 0)));
                known.saturating_add(tokens.unwrap_or_default())
            })
        };
        for (_, part, tokens) in &mut new {
            *tokens = count(part);
        }
        if !new.is_empty() {
            let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for (key, _, tokens) in &new {
                if cached.parts.len() >= Self::MAX_PARTS {
                    cached.parts = HashMap::new();
                }
                cached.parts.insert(*key, *tokens);
            }
        }
        new.iter().fold(known, |sum, (_, _, tokens)| sum.saturating_add(*tokens))
    }
}

crate::opaque!(TextCache);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_part_counts_per_encoding_until_full() {
        let (memory, counted) = (TextCache::default(), std::cell::Cell::new(0));
        let check = |encoding: u32, parts: &[&str], expected: (u32, u32)| {
            counted.set(0);
            let count = |part: &str| {
                counted.set(counted.get() + 1);
                u32::try_from(part.len()).unwrap()
            };
            let sum = memory.count_parts(EncodingId(encoding), parts.iter().copied(), count);
            assert_eq!((sum, counted.get()), expected, "{encoding} {}", parts.len());
        };
        check(1, &["one\n", "three"], (9, 2));
        check(1, &["three", "one\n", "four"], (13, 1));
        check(2, &["three"], (5, 1));
        check(1, &["three"], (5, 0));
        check(1, &[], (0, 0));
        let many: Vec<String> = (0..TextCache::MAX_PARTS - 4).map(|number| format!("{number:05}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let all = u32::try_from(many.len()).unwrap();
        check(1, &many, (5 * all, all));
        check(1, &["three"], (5, 0));
        check(1, &["five5"], (5, 1));
        check(1, &["three"], (5, 1));
    }

    #[test]
    fn clears_full_cache_and_skips_long_texts() {
        let memory = TextCache::default();
        let first = memory.share("0".into());
        for number in 1..=TextCache::MAX_TEXTS {
            memory.share(number.to_string().into());
        }
        assert!(!memory.share("0".into()).is_shared_with(&first));
        let long: Text = "x".repeat(TextCache::MAX_BYTES + 1).into();
        assert!(memory.share(long.clone()).is_shared_with(&long));
        assert!(!memory.share(long.to_string().into()).is_shared_with(&long), "too long to cache");
    }
}
