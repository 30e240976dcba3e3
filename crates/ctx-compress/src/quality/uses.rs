//! Number of uses of facts.

use std::collections::HashMap;

use ctx_types::Message;

use crate::quality::fact::FactKind;
use crate::quality::key::Key;
use crate::quality::side::{MAX_FACTS, Side};

/// The facts of messages, with the number of their places.
///
/// Has at most 100,000 different facts.
#[derive(Debug, Default)]
pub struct FactUses {
    counts: HashMap<(FactKind, Key), usize>,
}

impl FactUses {
    /// Adds messages. O(bytes).
    pub fn add(&mut self, messages: &[Message]) {
        for fact in Side::new(messages).facts {
            let is_full = self.counts.len() >= MAX_FACTS;
            let key = (fact.kind, fact.key);
            if !is_full || self.counts.contains_key(&key) {
                *self.counts.entry(key).or_default() += fact.count;
            }
        }
    }

    pub(super) fn count(&self, kind: FactKind, key: &Key) -> usize {
        self.counts.get(&(kind, key.clone())).copied().unwrap_or(0)
    }
}
