//! What rules did to texts before, so that it need not be done again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctx_regex::{Error, Regex};
use ctx_types::Text;

use super::rewrite::Rewritten;

/// How many results are remembered at the most.
const MAX_RESULTS: usize = 16_384;
/// How many bytes of texts they have at the most.
const MAX_BYTES: usize = 16 << 20;
/// How many expressions with macros are remembered at the most.
const MAX_EXPRESSIONS: usize = 1_024;
/// How many lists of rules have a number at the most.
const MAX_LISTS: usize = 1_024;

/// Remembers results by text and rules; bounded, and begun anew when it is full.
#[derive(Default)]
pub(super) struct Memory(Mutex<Contents>);

/// Only looked up, never listed, so that the order of the maps shows nowhere.
#[derive(Default)]
struct Contents {
    results: HashMap<Key, Remembered>,
    bytes: usize,
    /// Lists of rules by their numbers, which are never given again.
    lists: HashMap<Vec<Resolved>, u64>,
    next_list: u64,
    /// What macros made of rules, by the number of the rule and the texts that they made.
    expressions: HashMap<(usize, Vec<String>), Expression>,
    next_expression: u64,
}

/// A text, and the number of the list of rules that run on it.
pub(super) type Key = (Text, u64);

/// A rule by its number, and which of the expressions that macros made of it; 0 if they made none.
pub(super) type Resolved = (usize, u64);

/// What came of a text.
#[derive(Clone)]
pub(super) struct Remembered {
    pub(super) rewritten: Rewritten,
    /// The steps that it cost.
    pub(super) steps: u64,
    /// Rules that gave up, with the reason.
    pub(super) gave_up: Vec<(usize, Error)>,
}

impl Remembered {
    pub(super) fn new(text: Text) -> Self {
        Self { rewritten: Rewritten::unchanged(text), steps: 0, gave_up: Vec::new() }
    }
}

/// What macros made of a rule.
#[derive(Clone)]
pub(super) struct Expression {
    /// Differs from all others, and is not 0.
    pub(super) number: u64,
    pub(super) text: Text,
    pub(super) regex: Result<Regex, Error>,
    pub(super) trims: Arc<[Text]>,
}

impl Memory {
    pub(super) fn result(&self, key: &Key) -> Option<Remembered> {
        self.lock().results.get(key).cloned()
    }

    /// O(bytes of the text).
    pub(super) fn keep(&self, key: Key, result: Remembered) {
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

    /// The number of a list of rules.
    pub(super) fn list(&self, rules: &[Resolved]) -> u64 {
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

    /// What macros made of a rule: its expression, then what is trimmed. `compile` is called the first time.
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

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
