//! Caches of unnamed requests. The next request of a conversation finds them by a hash of its history.
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

/// Estimated size of a cache without messages, in bytes.
const ENTRY_BYTES: usize = 4 << 10;

/// Estimated size of the data of a short request without the hashes of its parts, in bytes.
const SHORT_ENTRY_BYTES: usize = 1 << 10;

/// Estimated size of a message in a cache without its text, in bytes.
const MESSAGE_BYTES: usize = 512;

/// Estimated size of the caches of a byte of text: the index of recall, and the rewritten prefix.
const BYTES_PER_BYTE: usize = 8;

/// Shortest history with a cache of turns. Shorter ones cost little.
const MIN_MESSAGES: usize = 20;

/// Replies at the end of a request that may follow a cached history.
const MAX_REPLIES: usize = 64;

/// Hash of the owner, the agent, and the messages without system messages.
pub(crate) type HistoryHash = [u8; 32];

/// Data of a request for the next request of its conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedHistory {
    turns: Arc<TurnCache>,
    sent: Option<Arc<SentRequest>>,
}

/// The data for a request, and where to keep it.
#[derive(Debug)]
pub(crate) struct FoundCache {
    owner: String,
    hash: HistoryHash,
    /// Estimated size without `sent`, in bytes.
    bytes: usize,
    /// `None` if the request is short.
    pub(crate) turns: Option<Arc<TurnCache>>,
    /// The latest request to the provider.
    pub(crate) sent: Option<Arc<SentRequest>>,
}

/// Takes the data of the longest history that a request continues.
pub(crate) fn take(
    caches: &BoundedMap<HistoryHash, CachedHistory>,
    (owner, agent): (&str, &str),
    messages: &[Node],
) -> FoundCache {
    let is_reply = |node: &Node| node.role == Some(Role::Assistant);
    let replies = messages.iter().filter(|node| is_reply(node)).count();
    let mut hash = Sha256::new();
    let mut ends = Vec::new();
    let mut bytes = add(&mut hash, owner) + add(&mut hash, agent);
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
    let CachedHistory { turns, sent } =
        ends.iter().rev().find_map(|end| caches.take(end)).unwrap_or_default();
    let is_long = messages.len() >= MIN_MESSAGES;
    let bytes = if is_long {
        ENTRY_BYTES + MESSAGE_BYTES * count + BYTES_PER_BYTE * bytes
    } else {
        SHORT_ENTRY_BYTES
    };
    FoundCache { owner: owner.to_owned(), hash, bytes, turns: is_long.then_some(turns), sent }
}

impl FoundCache {
    /// Keeps the data for the next request.
    pub(crate) fn store(self, caches: &BoundedMap<HistoryHash, CachedHistory>) {
        let bytes = self.bytes + self.sent.as_ref().map_or(0, |sent| sent.bytes());
        let history = CachedHistory { turns: self.turns.unwrap_or_default(), sent: self.sent };
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

    /// Messages by turns of the user and of the assistant, after a system message.
    fn history(clock: &str, count: usize) -> Vec<Node> {
        let role = |index: usize| if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let said = (0..count).map(|index| Node::new(role(index), format!("{index}")));
        std::iter::once(Node::new(Role::System, clock)).chain(said).collect()
    }

    #[test]
    fn finds_cache_of_previous_request() {
        let caches = BoundedMap::new(MAX_BYTES);
        let find =
            |owner: &str, clock: &str, count: usize| take(&caches, (owner, "ada"), &history(clock, count));
        let turns = |found: &FoundCache| found.turns.clone().unwrap();
        let first = find("a", "12:00", 41);
        let cache = turns(&first);
        first.store(&caches);
        assert!(!Arc::ptr_eq(&turns(&find("b", "12:01", 43)), &cache));
        assert!(!Arc::ptr_eq(&turns(&find("a", "12:01", 39)), &cache));
        let next = find("a", "12:01", 43);
        assert!(Arc::ptr_eq(&turns(&next), &cache));
        next.store(&caches);
        assert!(Arc::ptr_eq(&turns(&find("a", "12:02", 43)), &cache));
    }

    #[test]
    fn keeps_no_turns_of_short_requests() {
        let caches = BoundedMap::new(MAX_BYTES);
        let find = |count: usize| take(&caches, ("a", "ada"), &history("12:00", count));
        let first = FoundCache { sent: Some(Arc::default()), ..find(1) };
        assert!(first.turns.is_none());
        first.store(&caches);
        assert!(find(3).sent.is_some() && find(3).sent.is_none());
    }
}
