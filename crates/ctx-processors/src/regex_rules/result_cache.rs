//! Cache of rule results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ctx_regex::Error;
use ctx_types::Text;

use super::rewrite::RewrittenText;

const MAX_RESULTS: usize = 16_384;
const MAX_BYTES: usize = 16 << 20;

/// Results by text and rules; cleared when full. Never iterated: the order of the map has no effect.
#[derive(Default)]
pub(super) struct ResultCache(Mutex<CacheContents>);

#[derive(Default)]
struct CacheContents {
    results: HashMap<Key, CachedResult>,
    bytes: usize,
}

/// A text, and the rules that run on it.
pub(super) type Key = (Text, Arc<[ResolvedRule]>);

/// A rule after macro expansion.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ResolvedRule {
    pub(super) number: usize,
    /// `None` for a pattern without macros.
    pub(super) pattern: Option<Text>,
    pub(super) trims: Arc<[Text]>,
}

#[derive(Clone)]
pub(super) struct CachedResult {
    pub(super) rewritten: RewrittenText,
    pub(super) steps: u64,
    pub(super) gave_up: Vec<(usize, Error)>,
}

impl ResultCache {
    pub(super) fn result(&self, key: &Key) -> Option<CachedResult> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).results.get(key).cloned()
    }

    pub(super) fn keep(&self, key: Key, result: CachedResult) {
        let changed = if result.rewritten.is_changed() { result.rewritten.text.len() } else { 0 };
        let changed = changed + result.rewritten.size();
        let length = |rule: &ResolvedRule| {
            let pattern = rule.pattern.as_ref().map_or(0, |pattern| pattern.len());
            pattern + rule.trims.iter().map(|trim| trim.len()).sum::<usize>()
        };
        let bytes = key.0.len() + changed + key.1.iter().map(length).sum::<usize>();
        if bytes > MAX_BYTES {
            return;
        }
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if contents.results.len() >= MAX_RESULTS || contents.bytes + bytes > MAX_BYTES {
            *contents = CacheContents::default();
        }
        if contents.results.insert(key, result).is_none() {
            contents.bytes += bytes;
        }
    }
}
