use std::sync::{Arc, OnceLock};

use imbl::Vector;
use serde_json::Value;

use crate::block::BlockOrder;
use crate::content::Content;
use crate::internal::SummaryAppendix;
use crate::message::{Message, Role};
use crate::persist::UnknownKeys;
use crate::session::hidden::{DisplayState, display_path};
use crate::session::node_message::{ANSWERED_CALLS, IS_ERROR, MODEL};
use crate::session::nodes::Slot;
use crate::session::{Change, Node, NodeEdit, NodeId, NodeMetadata, Patch, Session, SessionOp};

/// The sent messages, oldest first.
///
/// Appending at the active leaf extends it in O(1) plus the ids that summaries list; after other changes, the
/// next access recreates it in O(path). Uses 32 bytes per message.
#[derive(Clone, Debug, Default)]
pub(super) struct SentMessages {
    entries: Vector<SentEntry>,
    omitted: Vec<OmittedMessages>,
    /// Summaries, which may list a message before it is appended.
    summaries: Vec<usize>,
    pinned: Vec<usize>,
    /// Whether the newest message is not sent.
    ends_omitted: bool,
}

#[derive(Clone, Debug)]
struct SentEntry {
    slot: usize,
    /// Bytes of text up to and including this message.
    bytes_through: u64,
    message: OnceLock<Message>,
}

/// Adjacent messages of the active branch that are not sent for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedMessages {
    /// The oldest message.
    pub first: NodeId,
    /// The reason.
    pub reason: OmissionReason,
    /// Number of messages.
    pub count: usize,
    /// Bytes of text.
    pub bytes: u64,
}

/// Reason why a message is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// A summary hides it.
    Hidden {
        /// The summary.
        by: NodeId,
    },
    /// It reports a failed turn.
    Failed,
    /// It is disabled.
    Disabled,
    /// It has no calls, files, reasoning, audio, or text except white space.
    Blank,
}

impl Session {
    /// Returns the number of sent messages.
    ///
    /// Like the methods below, O(1), or O(path) after a change other than an append at the active leaf.
    pub fn sent_len(&self) -> usize {
        self.sent_messages().entries.len()
    }

    /// Returns a sent node by position; the oldest is 0.
    pub fn sent_node(&self, position: usize) -> Option<(&NodeId, &Node)> {
        let slot = self.tree.nodes.slot(self.sent_messages().entries.get(position)?.slot)?;
        Some((&slot.id, &slot.node))
    }

    /// Returns a sent message by position; the oldest is 0.
    ///
    /// It stays shared until the sent messages change.
    pub fn sent_message(&self, position: usize) -> Option<&Message> {
        let entry = self.sent_messages().entries.get(position)?;
        if let Some(message) = entry.message.get() {
            return Some(message);
        }
        let slot = self.tree.nodes.slot(entry.slot)?;
        Some(entry.message.get_or_init(|| slot.node.to_message(&slot.id)))
    }

    /// Returns the positions of pinned messages, ascending.
    pub fn sent_pinned(&self) -> &[usize] {
        &self.sent_messages().pinned
    }

    /// Returns the bytes of text of the oldest `count` messages.
    pub fn sent_bytes(&self, count: usize) -> u64 {
        let last = count.checked_sub(1).map(|last| last.min(self.sent_len().saturating_sub(1)));
        last.and_then(|last| self.sent_messages().entries.get(last)).map_or(0, |entry| entry.bytes_through)
    }

    /// Returns the unsent messages of the active branch, oldest first.
    pub fn omitted_messages(&self) -> &[OmittedMessages] {
        &self.sent_messages().omitted
    }

    fn sent_messages(&self) -> &SentMessages {
        self.sent.get_or_init(|| Arc::new(SentMessages::build(self)))
    }

    /// Keeps the cache after an append at the active leaf or an irrelevant edit.
    pub(super) fn update_sent_messages(&mut self, op: &SessionOp, leaf_before: &NodeId, undo: &Patch) {
        let Some(mut sent) = self.sent.take() else { return };
        if let SessionOp::Edit { id, edit } = op {
            if self.is_irrelevant_edit(id, edit, undo) {
                self.sent = OnceLock::from(sent);
            }
            return;
        }
        let SessionOp::Append { parent, .. } = op else { return };
        let Some(index) = self.tree.nodes.index(&self.tree.leaf.id).filter(|_| parent == leaf_before) else {
            return;
        };
        let Some(slot) = self.tree.nodes.slot(index).filter(|slot| !slot.node.is_summary()) else { return };
        let summaries = sent.summaries.iter().filter_map(|index| self.tree.nodes.slot(*index));
        if summaries.into_iter().any(|summary| summary.node.summarized_ids().contains(&slot.id)) {
            return;
        }
        Arc::make_mut(&mut sent).add(index, slot, None);
        self.sent = OnceLock::from(sent);
    }

    /// Returns whether an edit changed only unknown metadata.
    fn is_irrelevant_edit(&self, id: &str, edit: &NodeEdit, undo: &Patch) -> bool {
        let is_note = NodeEdit { metadata: Change::Keep, ..edit.clone() } == NodeEdit::default();
        let before = undo.nodes.iter().find(|patch| *patch.id == *id).and_then(|patch| patch.node.as_ref());
        let after = self.tree.nodes.get(id);
        match (before, after) {
            (Some(before), Some(after)) => is_note && sent_metadata(before) == sent_metadata(&after.node),
            _ => false,
        }
    }
}

fn sent_metadata(node: &Node) -> (NodeMetadata, Option<SummaryAppendix>, [Option<Value>; 4]) {
    let notes = node.metadata.as_deref().cloned().unwrap_or_default();
    let known = [ANSWERED_CALLS, IS_ERROR, MODEL, BlockOrder::KEY].map(|key| notes.kept.get(key).cloned());
    (NodeMetadata { kept: UnknownKeys::default(), ..notes }, SummaryAppendix::from_node(node), known)
}

impl SentMessages {
    fn build(session: &Session) -> Self {
        let mut sent = Self::default();
        let mut slots: Vec<(usize, &Slot)> = session.tree.slots_above(&session.tree.leaf.id).collect();
        slots.reverse();
        for (shown, (index, slot)) in display_path(session, &[]).into_iter().zip(slots) {
            let by = match shown.state {
                DisplayState::Hidden { by } => Some(by),
                DisplayState::Visible | DisplayState::Disabled => None,
            };
            sent.add(index, slot, by);
        }
        sent
    }

    fn add(&mut self, index: usize, slot: &Slot, hidden_by: Option<NodeId>) {
        if slot.node.is_summary() {
            self.summaries.push(index);
        }
        let bytes = sent_bytes(&slot.node);
        let reason = match hidden_by {
            Some(by) => OmissionReason::Hidden { by },
            None if slot.node.is_error() => OmissionReason::Failed,
            None if !slot.node.is_enabled() => OmissionReason::Disabled,
            None if is_blank(slot) => OmissionReason::Blank,
            None => {
                let before = self.entries.last().map_or(0, |entry| entry.bytes_through);
                let message = OnceLock::new();
                if slot.node.is_pinned() {
                    self.pinned.push(self.entries.len());
                }
                self.entries.push_back(SentEntry { slot: index, bytes_through: before + bytes, message });
                self.ends_omitted = false;
                return;
            }
        };
        let continues = std::mem::replace(&mut self.ends_omitted, true);
        match self.omitted.last_mut().filter(|run| continues && run.reason == reason) {
            Some(run) => {
                run.count += 1;
                run.bytes += bytes;
            }
            None => self.omitted.push(OmittedMessages { first: slot.id.clone(), reason, count: 1, bytes }),
        }
    }
}

fn sent_bytes(node: &Node) -> u64 {
    let own = node.content.as_ref().map_or(0, Content::len);
    let said = || node.content.as_ref().map(Content::text).unwrap_or_default();
    (own + SummaryAppendix::from_node(node).map_or(0, |appendix| appendix.text_below(&said()).len())) as u64
}

/// A tool result is never blank, because its call needs it. Depths count messages of `SillyTavern` chats.
/// Converts to a message only without text.
fn is_blank(slot: &Slot) -> bool {
    if slot.node.role == Some(Role::Tool) || slot.node.is_of_silly_tavern() {
        return false;
    }
    slot.node.content.as_ref().is_none_or(Content::is_blank) && slot.node.to_message(&slot.id).is_blank()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::internal::AppendedFact;

    fn letters(session: &Session) -> String {
        (0..session.sent_len()).filter_map(|at| session.sent_node(at)).map(|(id, _)| &**id).collect()
    }

    fn append(session: &mut Session, parent: &str, id: &str, text: &str) {
        let node = Box::new(Node::new(Role::User, text).with_id(id));
        session.apply(&SessionOp::Append { parent: parent.into(), node }).unwrap();
    }

    #[test]
    fn extends_sent_messages_when_appending_at_leaf() {
        let nodes = ["a", "b"].map(|id| Node::new(Role::User, "xy").with_id(id));
        let (mut session, _) = Session::linear("s", nodes);
        assert_eq!((letters(&session).as_str(), session.sent_bytes(2)), ("ab", 4));
        append(&mut session, "b", "c", "xyz");
        append(&mut session, "c", "d", "  ");
        assert!(session.sent.get().is_some());
        assert_eq!((letters(&session).as_str(), session.sent_bytes(9)), ("abc", 7));
        assert_eq!(session.omitted_messages()[0].reason, OmissionReason::Blank);
        let error = json!({ "role": "assistant", "content": "no", "metadata": { "partType": "error" } });
        let error: Node = serde_json::from_value(error).unwrap();
        let node = Box::new(error.with_id("x"));
        session.apply(&SessionOp::Append { parent: "d".into(), node }).unwrap();
        assert_eq!(letters(&session), "abc");
        assert_eq!(session.omitted_messages()[1].reason, OmissionReason::Failed);
        append(&mut session, "a", "e", "x");
        assert!(session.sent.get().is_none());
        assert_eq!((letters(&session).as_str(), session.sent_bytes(1)), ("ae", 2));
    }

    #[test]
    fn keeps_sent_messages_when_unrelated_metadata_changes() {
        let nodes = ["a", "b"].map(|id| Node::new(Role::User, "xy").with_id(id));
        let (mut session, _) = Session::linear("s", nodes);
        let mut note = |set: fn(&mut NodeMetadata)| {
            let mut metadata = NodeMetadata::default();
            set(&mut metadata);
            let edit = NodeEdit { metadata: Change::Set(Box::new(metadata)), ..NodeEdit::default() };
            assert_eq!(letters(&session), "ab");
            session.apply(&SessionOp::Edit { id: "b".into(), edit: Box::new(edit) }).unwrap();
            session.sent.get().is_some()
        };
        assert!(note(|metadata| metadata.kept.set("mine", Value::from(1))));
        assert!(note(|metadata| metadata.kept.set("mine", Value::from(2))));
        assert!(!note(|metadata| metadata.reasoning_content = Some("hm".into())));
        assert!(!note(|metadata| metadata.is_compression_node = Some(true)));
        assert!(!note(|metadata| {
            metadata.is_compression_node = Some(true);
            let fact = AppendedFact { text: "B-17".into(), from: "a".into() };
            SummaryAppendix { heading: "Also:".into(), facts: vec![fact], is_sent: true }.write(metadata);
        }));
    }

    #[test]
    fn shares_message_until_sent_messages_change() {
        let nodes = ["a", "b"].map(|id| Node::new(Role::User, "xy").with_id(id));
        let (mut session, _) = Session::linear("s", nodes);
        let first = session.sent_message(0).unwrap().clone();
        append(&mut session, "b", "c", "xyz");
        let again = |session: &Session| session.sent_message(0).unwrap().is_shared_with(&first);
        assert!(again(&session) && again(&session.clone()));
        let edit = Box::new(NodeEdit::content(Content::Text("other".into())));
        let undo = session.apply(&SessionOp::Edit { id: "a".into(), edit }).unwrap();
        assert_eq!(session.sent_message(0).unwrap().text(), "other");
        session.apply(&undo).unwrap();
        assert_eq!(*session.sent_message(0).unwrap(), first);
        assert!(session.sent_message(3).is_none());
    }

    #[test]
    fn updates_answered_call_when_metadata_changes() {
        let (mut session, _) = Session::linear("s", [Node::new(Role::Tool, "red").with_id("a")]);
        let answers = |call: &str| {
            let mut metadata = NodeMetadata::default();
            metadata.kept.set(ANSWERED_CALLS, json!([{ "requestId": call }]));
            let edit = NodeEdit { metadata: Change::Set(Box::new(metadata)), ..NodeEdit::default() };
            session.apply(&SessionOp::Edit { id: "a".into(), edit: Box::new(edit) }).unwrap();
            session.sent_message(0).and_then(|message| message.tool_call_id.clone())
        };
        assert_eq!(["c1", "c2"].map(answers), ["c1", "c2"].map(|call| Some(call.into())));
    }

    #[test]
    fn updates_sent_messages_when_toggled() {
        let nodes = ["a", "b"].map(|id| Node::new(Role::User, "xy").with_id(id));
        let (mut session, _) = Session::linear("s", nodes);
        let undo = session.apply(&SessionOp::Toggle { id: "a".into(), enabled: false }).unwrap();
        assert_eq!(letters(&session), "b");
        session.apply(&undo).unwrap();
        assert_eq!(letters(&session), "ab");
    }
}
