//! Cache of rule results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctx_regex::{Error, Regex};
use ctx_types::Text;

use super::rewrite::RewrittenText;

const MAX_RESULTS: usize = 16_384;
const MAX_BYTES: usize = 16 << 20;
const MAX_EXPRESSIONS: usize = 1_024;
const MAX_LISTS: usize = 1_024;

/// Results by text and rules; cleared when full.
#[derive(Default)]
pub(super) struct ResultCache(Mutex<CacheContents>);

/// Never iterated: the order of the maps has no effect.
#[derive(Default)]
struct CacheContents {
    results: HashMap<Key, CachedResult>,
    bytes: usize,
    /// Numbers of rule lists, never reused.
    lists: HashMap<Vec<ResolvedRule>, u64>,
    next_list: u64,
    /// Rules after macro expansion, by number and expanded texts.
    expressions: HashMap<(usize, Vec<String>), Expression>,
    next_expression: u64,
}

/// A text, and the number of its rule list.
pub(super) type Key = (Text, u64);

/// Number of a rule, and of its expansion; 0 without macros.
pub(super) type ResolvedRule = (usize, u64);

#[derive(Clone)]
pub(super) struct CachedResult {
    pub(super) rewritten: RewrittenText,
    pub(super) steps: u64,
    pub(super) gave_up: Vec<(usize, Error)>,
}

impl CachedResult {
    pub(super) fn new(text: Text) -> Self {
        Self { rewritten: RewrittenText::unchanged(text), steps: 0, gave_up: Vec::new() }
    }
}

#[derive(Clone)]
pub(super) struct Expression {
    /// Unique and not 0.
    pub(super) number: u64,
    pub(super) text: Text,
    pub(super) regex: Result<Regex, Error>,
    pub(super) trims: Arc<[Text]>,
}

impl ResultCache {
    pub(super) fn result(&self, key: &Key) -> Option<CachedResult> {
        self.lock().results.get(key).cloned()
    }

    pub(super) fn keep(&self, key: Key, result: CachedResult) {
        let changed = if result.rewritten.is_changed() { result.rewritten.text.len() } else { 0 };
        let bytes = key.0.len() + changed;
        if bytes > MAX_BYTES {
            return;
        }
        let mut contents = self.lock();
        if contents.results.len() >= MAX_RESULTS || contents.bytes + bytes > MAX_BYTES {
            contents.results.clear();
            contents.bytes = 0;
        }
        if contents.results.insert(key, result).is_none() {
            contents.bytes += bytes;
        }
    }

    pub(super) fn list(&self, rules: &[ResolvedRule]) -> u64 {
        let mut contents = self.lock();
        if let Some(known) = contents.lists.get(rules) {
            return *known;
        }
        if contents.lists.len() >= MAX_LISTS {
            contents.lists.clear();
        }
        contents.next_list += 1;
        let number = contents.next_list;
        contents.lists.insert(rules.to_vec(), number);
        number
    }

    /// `texts` are the expanded pattern and trimmed strings.
    pub(super) fn expression(
        &self,
        rule: usize,
        texts: Vec<String>,
        compile: impl FnOnce(&str) -> Result<Regex, Error>,
    ) -> Expression {
        let mut contents = self.lock();
        let key = (rule, texts);
        if let Some(known) = contents.expressions.get(&key) {
            return known.clone();
        }
        if contents.expressions.len() >= MAX_EXPRESSIONS {
            contents.expressions.clear();
        }
        contents.next_expression += 1;
        let number = contents.next_expression;
        let mut all = key.1.iter().map(|text| Text::from(text.as_str()));
        let text = all.next().unwrap_or_default();
        let made = Expression { number, regex: compile(&text), trims: all.collect(), text };
        contents.expressions.insert(key, made.clone());
        made
    }

    fn lock(&self) -> MutexGuard<'_, CacheContents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
