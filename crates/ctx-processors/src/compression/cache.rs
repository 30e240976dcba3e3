use std::sync::Arc;

use ctx_compress::request::is_summary;
use ctx_types::internal::fingerprint_of;
use ctx_types::{Message, Place};

use crate::compression::settings::Settings;
use crate::removal::{Digest, Removal};
use crate::window::is_one_of_several;

/// Compressed prefix of a conversation, cached for later turns.
///
/// Put it on the blackboard before a run, and read it after the run. Each turn compares the compressed
/// messages and starts over if one differs. A clone is O(1).
#[derive(Clone, Debug, Default)]
pub struct CompressionCache {
    pub(super) history: Option<Arc<CompressedHistory>>,
    /// Messages sent in the last turn.
    pub(super) sent: Arc<Vec<Message>>,
}

impl CompressionCache {
    /// Returns whether no message is cached.
    pub fn is_empty(&self) -> bool {
        self.history.is_none() && self.sent.is_empty()
    }

    /// Returns whether a prefix is compressed.
    pub fn is_set(&self) -> bool {
        self.history.is_some()
    }
}

/// Compressed messages of a conversation.
#[derive(Debug)]
pub(super) struct CompressedHistory {
    settings: Settings,
    /// Messages up to the newest compressed one.
    messages: Vec<Message>,
    /// Numbers are positions in `messages`.
    removal: Removal,
}

/// Removal of an earlier turn, for the draft of this turn.
#[derive(Default)]
pub(super) struct EarlierRemoval {
    pub(super) removal: Removal,
    /// Number after the newest compressed message.
    pub(super) end: usize,
    /// Whether all compressed messages are loaded.
    pub(super) is_whole: bool,
}

/// Checks whether strategies may change a message.
pub(super) fn is_free(message: &Message) -> bool {
    message.place == Place::History && !message.is_continuation_prefix && !is_summary(message)
}

impl CompressedHistory {
    /// Caches the removal of the messages before `end`.
    pub(super) fn new(settings: Settings, draft: &[Message], end: usize, removal: &Removal) -> Self {
        let numbers: Vec<usize> = (0..end).filter(|number| is_free(&draft[*number])).collect();
        let reductions = numbers.iter().enumerate();
        let reductions = reductions
            .filter_map(|(position, number)| Some((position, removal.reductions.get(number)?.clone())));
        let digests = removal.digests.iter().map(|Digest { before, message }| Digest {
            before: numbers.partition_point(|number| number < before),
            message: message.clone(),
        });
        Self {
            settings,
            removal: Removal { reductions: reductions.collect(), digests: digests.collect() },
            messages: numbers.into_iter().map(|number| draft[number].clone()).collect(),
        }
    }

    /// Returns the removal for a draft; `None` if the settings or a compressed message differ.
    ///
    /// The oldest compressed messages may not be loaded. O(messages).
    pub(super) fn renew(
        &self,
        settings: &Settings,
        draft: &[Message],
        is_all_loaded: bool,
    ) -> Option<EarlierRemoval> {
        let last = self.messages.last().filter(|_| self.settings == *settings)?;
        let end = draft.iter().rposition(|message| is_same(message, last))? + 1;
        let numbers: Vec<usize> = (0..end).filter(|number| is_free(&draft[*number])).collect();
        let missing = self.messages.len().checked_sub(numbers.len())?;
        let mut loaded = numbers.iter().zip(&self.messages[missing..]);
        if (missing > 0 && is_all_loaded)
            || !loaded.all(|(number, message)| is_same(&draft[*number], message))
        {
            return None;
        }
        // An injection with several depths goes with the message after it.
        let start = |number: usize| {
            number - draft[..number].iter().rev().take_while(|message| is_one_of_several(message)).count()
        };
        let mut removal = Removal::default();
        for (position, reduction) in self.removal.reductions.range(missing..) {
            let number = numbers[position - missing];
            let first = if reduction.is_gone() { start(number) } else { number };
            removal.reductions.extend((first..=number).map(|number| (number, reduction.clone())));
        }
        let digests = self.removal.digests.iter().map(|Digest { before, message }| {
            let next = numbers.get(before.saturating_sub(missing));
            Digest { before: next.map_or(end, |next| start(*next)), message: message.clone() }
        });
        removal.digests = digests.collect();
        Some(EarlierRemoval { removal, end, is_whole: missing == 0 })
    }
}

/// Compares messages without their cache marks, which clients move.
fn is_same(now: &Message, before: &Message) -> bool {
    let is_equal = || now == before || fingerprint_of(now) == fingerprint_of(before);
    now.is_shared_with(before) || (now.source.id == before.source.id && is_equal())
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;
    use ctx_types::session::Node;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn ignores_cache_marks() {
        let message = |text: &str, mark: Value| {
            let mut node = Node::new(Role::User, text);
            node.kept.set("cache_control", mark);
            node.to_message(&"n1".into())
        };
        let short = message("Hello", json!({ "type": "ephemeral" }));
        assert!(is_same(&short, &message("Hello", json!({ "type": "ephemeral", "ttl": "1h" }))));
        assert!(!is_same(&short, &message("Bye", json!({ "type": "ephemeral" }))));
    }
}
