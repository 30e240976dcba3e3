//! Caches of answered unnamed requests. The next request of a conversation finds them by a hash of its history.
//!
//! They keep earlier compression decisions. Measured with 30 requests of 241 to 299 messages of `LoCoMo` in 8,000 tokens:
//! in the median, 98% of a request repeated the previous one. Without the caches, it was 0%.

use std::sync::Arc;

use ctx_engine::TurnCache;
use ctx_types::session::Node;
use ctx_types::{Content, Role};
use sha2::{Digest as _, Sha256};

use crate::bounded_map::BoundedMap;
use crate::shared_prefix::SentRequest;

/// Maximum size of all caches, in bytes.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// Estimated size of a cache of turns without its messages, in bytes.
const ENTRY_BYTES: usize = 4 << 10;

/// Estimated size of the data of a request without a cache of turns and the hashes of its parts, in bytes.
const SHORT_ENTRY_BYTES: usize = 1 << 10;

/// Estimated size of a message in a cache without its text, in bytes.
const MESSAGE_BYTES: usize = 512;

/// Estimated size of the caches of a byte of text: the index of recall, and the rewritten prefix.
const BYTES_PER_BYTE: usize = 8;

/// Shortest history with a cache of turns. Shorter ones cost little.
const MIN_MESSAGES: usize = 20;

/// Replies at the end of a request that may follow a cached history.
const MAX_REPLIES: usize = 64;

/// Hash of the owner, the agent, the model, and the messages without system messages.
pub(crate) type HistoryHash = [u8; 32];

/// Data of an answered request for the next request of its conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedHistory {
    turns: Arc<TurnCache>,
    sent: Option<Arc<SentRequest>>,
    /// The history that the request continued. It stays for another reply or another last message.
    previous: Option<HistoryHash>,
}

/// The data for a request, and where to keep it.
#[derive(Debug)]
pub(crate) struct FoundCache {
    owner: String,
    hash: HistoryHash,
    /// Estimated size of the cache of turns, in bytes.
    bytes: usize,
    /// The history that the request continues.
    found: Option<HistoryHash>,
    /// The history that `found` continued.
    outdated: Option<HistoryHash>,
    /// `None` if the request is short.
    pub(crate) turns: Option<Arc<TurnCache>>,
    /// The latest request to the provider.
    pub(crate) sent: Option<Arc<SentRequest>>,
}

/// Who sends a history, and who answers it.
#[derive(Clone, Copy)]
pub(crate) struct HistoryScope<'a> {
    pub(crate) owner: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) model: &'a str,
}

/// Finds the data of the longest history that a request continues.
pub(crate) fn find(
    caches: &BoundedMap<HistoryHash, CachedHistory>,
    scope: HistoryScope<'_>,
    messages: &[Node],
) -> FoundCache {
    let is_reply = |node: &Node| node.role == Some(Role::Assistant);
    let replies = messages.iter().filter(|node| is_reply(node)).count();
    let mut hash = Sha256::new();
    let mut ends = Vec::new();
    let mut bytes: usize =
        [scope.owner, scope.agent, scope.model].into_iter().map(|text| add(&mut hash, text)).sum();
    let mut passed = 0;
    let mut count = 0;
    for node in messages.iter().filter(|node| !node.role.is_some_and(Role::is_instruction)) {
        count += 1;
        if is_reply(node) {
            passed += 1;
            if passed + MAX_REPLIES > replies {
                ends.push(hash.clone().finalize().into());
            }
        }
        bytes += add(&mut hash, node.role.unwrap_or_default().as_str());
        bytes += add(&mut hash, node.content.as_ref().map(Content::text).unwrap_or_default().trim());
        hash.update((node.tool_calls.len() as u64).to_le_bytes());
        for call in &node.tool_calls {
            bytes += add(&mut hash, call.name.as_deref().unwrap_or_default());
            bytes += add(&mut hash, call.arguments.as_deref().unwrap_or_default());
        }
    }
    let hash: HistoryHash = hash.finalize().into();
    ends.push(hash);
    let found = ends.iter().rev().find_map(|end| Some((*end, caches.get(end)?)));
    let (found, history) = found.unzip();
    let CachedHistory { turns, sent, previous } = history.unwrap_or_default();
    let bytes = ENTRY_BYTES + MESSAGE_BYTES * count + BYTES_PER_BYTE * bytes;
    // Another request may continue the same history.
    let turns = (messages.len() >= MIN_MESSAGES).then(|| turns.fork().into());
    let owner = scope.owner.to_owned();
    FoundCache { owner, hash, bytes, found, outdated: previous, turns, sent }
}

impl FoundCache {
    /// Keeps the data of an answered request, and drops the data of the request before the previous one.
    pub(crate) fn store(self, caches: &BoundedMap<HistoryHash, CachedHistory>) {
        let is_repeated = self.found == Some(self.hash);
        let previous = if is_repeated { self.outdated } else { self.found };
        if let Some(outdated) = self.outdated.filter(|_| !is_repeated) {
            caches.take(&outdated);
        }
        let turns = self.turns.unwrap_or_default();
        let bytes = if turns.is_empty() { SHORT_ENTRY_BYTES } else { self.bytes };
        let bytes = bytes + self.sent.as_ref().map_or(0, |sent| sent.bytes());
        let history = CachedHistory { turns, sent: self.sent, previous };
        caches.insert_weighted(&self.owner, self.hash, history, bytes);
    }
}

/// Adds a text with its length. Returns the size in memory, in bytes.
fn add(hash: &mut Sha256, text: &str) -> usize {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
    text.len() + size_of::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: HistoryScope<'_> = HistoryScope { owner: "a", agent: "ada", model: "m" };

    /// Messages by turns of the user and of the assistant, after a system message.
    fn history(clock: &str, count: usize) -> Vec<Node> {
        let role = |index: usize| if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let said = (0..count).map(|index| Node::new(role(index), format!("{index}")));
        std::iter::once(Node::new(Role::System, clock)).chain(said).collect()
    }

    #[test]
    fn finds_cache_of_previous_request() {
        let caches = BoundedMap::new(MAX_BYTES);
        let found = |scope: HistoryScope<'_>, clock: &str, count: usize| {
            find(&caches, scope, &history(clock, count)).found.is_some()
        };
        find(&caches, ADA, &history("12:00", 41)).store(&caches);
        assert!(!found(HistoryScope { owner: "b", ..ADA }, "12:01", 43));
        assert!(!found(HistoryScope { model: "n", ..ADA }, "12:01", 43));
        assert!(!found(ADA, "12:01", 39));
        // A preview or a failed turn does not store its data.
        assert!(found(ADA, "12:01", 43) && found(ADA, "12:01", 43));
    }

    #[test]
    fn keeps_two_requests_of_a_conversation() {
        let caches = BoundedMap::new(MAX_BYTES);
        let hash = |count: usize| find(&caches, ADA, &history("12:00", count)).hash;
        for count in [1, 3, 3, 5] {
            find(&caches, ADA, &history("12:00", count)).store(&caches);
        }
        let stored = [1, 3, 5].map(|count| caches.get(&hash(count)).is_some());
        assert_eq!(stored, [false, true, true]);
    }

    #[test]
    fn keeps_no_turns_of_short_requests() {
        let caches = BoundedMap::new(MAX_BYTES);
        let find = |count: usize| find(&caches, ADA, &history("12:00", count));
        let first = FoundCache { sent: Some(Arc::default()), ..find(1) };
        assert!(first.turns.is_none());
        first.store(&caches);
        assert!(find(3).sent.is_some());
    }
}
