//! Which stored conversation a request continues that sends all of it: found by running hashes of its messages.

use ctx_chat::{Mark, Marked, StoreError};
use ctx_types::session::{Node, NodeId};
use ctx_types::{Content, ContentPart, Role};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::gateway::Server;
use crate::latest::Latest;

/// How many beginnings are remembered; the store has all of them.
pub(crate) const MAX_ENTRIES: usize = 200_000;

/// How many messages behind the end a conversation is recognised.
pub(crate) const REACH: usize = 64;

/// A hash of a beginning: of its owner, its agent and all of its messages.
pub(crate) type Beginning = Mark;

/// A message of a stored conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) conversation: String,
    pub(crate) node: NodeId,
}

/// Finds the longest beginning of a request that is stored: how many messages it has, and where it ends.
///
/// The store is asked only where an answer stands behind what is remembered: another process has stored it, or this one
/// before it was started anew.
pub(crate) async fn find(
    server: &Server,
    hashes: &[Option<Beginning>],
    messages: &[Node],
) -> Result<Option<(usize, Place)>, StoreError> {
    let remembered = remembered(&server.beginnings, hashes);
    let known = remembered.as_ref().map_or(0, |(known, _)| *known);
    let is_answer = |node: &Node| node.role == Some(Role::Assistant);
    if !messages.get(known..).unwrap_or_default().iter().any(is_answer) {
        return Ok(remembered);
    }
    let behind = hashes.get(known..).unwrap_or_default().iter().flatten().rev().copied();
    let found = server.store.marked(&behind.collect::<Vec<_>>()).await?;
    let found = found.and_then(|Marked { mark, conversation, node }| {
        let index = hashes.iter().rposition(|hash| *hash == Some(mark))?;
        Some((index + 1, Place { conversation, node }))
    });
    Ok(found.or(remembered))
}

/// Remembers where beginnings end in a conversation.
pub(crate) fn remember(server: &Server, conversation: &str, marks: &[(Beginning, NodeId)]) {
    for (hash, node) in marks {
        let place = Place { conversation: conversation.to_owned(), node: node.clone() };
        server.beginnings.keep(*hash, place);
    }
}

/// Stores where beginnings end in a conversation. Without it a client that sends everything begins another stored
/// conversation once it is not remembered any more, and is answered the same.
pub(crate) async fn mark(server: &Server, conversation: &str, marks: Vec<(Beginning, NodeId)>) {
    if marks.is_empty() {
        return;
    }
    if let Err(error) = server.store.mark(conversation, marks).await {
        tracing::warn!(%error, "cannot store prefix hashes; keeping them in memory only");
    }
}

/// Finds the longest beginning that is remembered.
fn remembered(stored: &Latest<Beginning, Place>, hashes: &[Option<Beginning>]) -> Option<(usize, Place)> {
    let newest = hashes.iter().enumerate().rev().take(REACH);
    newest.into_iter().find_map(|(index, hash)| Some((index + 1, stored.get(hash.as_ref()?)?)))
}

/// A hash that grows with each message.
#[derive(Clone)]
pub(crate) struct Running {
    hash: Sha256,
    has_answer: bool,
}

impl Running {
    pub(crate) fn new(owner: &str, agent: &str) -> Self {
        let mut running = Self { hash: Sha256::new(), has_answer: false };
        running.text(owner);
        running.text(agent);
        running
    }

    /// Takes messages, and returns the hash up to each of them that may be looked for: others cost their texts alone.
    pub(crate) fn extend(&mut self, nodes: &[Node]) -> Vec<Option<Beginning>> {
        let first = nodes.len().saturating_sub(REACH);
        let hashes = nodes.iter().enumerate().map(|(index, node)| {
            self.push(node);
            if index >= first { self.beginning() } else { None }
        });
        hashes.collect()
    }

    /// Takes the next message. Reasoning, which few clients send back, does not count.
    pub(crate) fn push(&mut self, node: &Node) {
        self.has_answer |= node.role == Some(Role::Assistant);
        self.text(node.role.unwrap_or_default().as_str());
        match &node.content {
            None => self.text(""),
            Some(Content::Text(text)) => self.text(text),
            Some(content @ Content::Parts(parts)) => {
                self.text(&content.text());
                // Replies are stored with their texts and calls.
                let others = parts.iter().filter(|_| node.role != Some(Role::Assistant));
                others.for_each(|part| match part {
                    ContentPart::Text(_) => {}
                    ContentPart::Other(other) => self.text(&without_marks(other).to_string()),
                });
            }
        }
        for call in &node.tool_calls {
            self.text(call.id.as_deref().unwrap_or_default());
            self.text(call.name.as_deref().unwrap_or_default());
            let arguments = call.arguments.as_ref().map_or("", |text| text.as_str());
            // Some dialects send arguments as JSON, whose blanks are lost.
            match serde_json::from_str::<Value>(arguments) {
                Ok(value) => self.text(&value.to_string()),
                Err(_) => self.text(arguments),
            }
        }
        self.text(node.tool_call_id.as_deref().unwrap_or_default());
        self.text(node.name.as_deref().unwrap_or_default());
        if node.is_tool_error() {
            self.text("error");
        }
    }

    /// Returns the hash up to here; none before the first answer, since many conversations begin with the same words.
    pub(crate) fn beginning(&self) -> Option<Beginning> {
        self.has_answer.then(|| {
            let whole = self.hash.clone().finalize();
            let mut hash = Beginning::default();
            hash.copy_from_slice(&whole[..16]);
            hash
        })
    }

    /// Takes a text with its length, so that no two lists of texts look alike.
    fn text(&mut self, text: &str) {
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text.as_bytes());
    }
}

/// Returns a part without its cache mark, which clients move each turn.
fn without_marks(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.shift_remove("cache_control");
    }
    part
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn separates_failed_results() {
        let hash = |failed: bool| {
            let file = json!({ "role": "tool", "content": "x", "metadata": { "isError": failed } });
            let node: Node = serde_json::from_value(file).unwrap();
            assert_eq!(node.is_tool_error(), failed);
            let mut running = Running::new("owner", "agent");
            running.extend(&[Node::new(Role::Assistant, "a"), node])
        };
        assert_ne!(hash(true), hash(false));
    }
}
