//! Conversations after an interruption: every call gets a result, so that they can always go on.

use std::collections::{HashMap, HashSet, VecDeque};

use ctx_types::internal::excerpt;
use ctx_types::session::{Node, NodeId, NodeMetadata, Session, SessionOp};
use ctx_types::{Diagnostic, Role, phrase};
use serde_json::Value;

use crate::codes;
use crate::conversation::Conversation;
use crate::step_label::StepLabel;
use crate::store::{ConversationStore, StoreError};

/// What stands for the result of a call on which the work was interrupted.
pub const INTERRUPTED: &str = "error: interrupted; the outcome is unknown";

/// How often a conversation that others change is looked at again.
const ATTEMPTS: usize = 8;

impl Conversation {
    /// Loads a conversation and gives each call on its active path that has no result one that says so.
    ///
    /// Such calls are what is left when a program ends between a call and its result. Each that is found is
    /// reported.
    pub async fn open(
        store: &dyn ConversationStore,
        id: &str,
        at_millis: Option<i64>,
    ) -> Result<(Self, Vec<Diagnostic>), StoreError> {
        let mut conversation = Self::load(store, id).await?;
        let found = conversation.recover(store, at_millis).await?;
        Ok((conversation, found))
    }

    /// Gives each call on the active path that has no result one that says so; O(active path).
    ///
    /// To be asked for after another branch became active, too.
    pub async fn recover(
        &mut self,
        store: &dyn ConversationStore,
        at_millis: Option<i64>,
    ) -> Result<Vec<Diagnostic>, StoreError> {
        let (mut found, mut attempts) = (Vec::new(), ATTEMPTS);
        let mut open = VecDeque::from(Dangling::all(&self.session().path()));
        // The results of a message follow each other.
        let mut last: Option<(NodeId, NodeId)> = None;
        while let Some(dangling) = open.pop_front() {
            let (finding, id, end) = (dangling.finding(), self.free_id(), dangling.after.clone());
            let after =
                last.take().filter(|(of, _)| *of == end).map_or_else(|| end.clone(), |(_, last)| last);
            let op = dangling.op(after, id.clone());
            match self.apply(store, StepLabel::NOTE_INTERRUPTION, op, at_millis).await {
                Ok(()) => {
                    last = Some((end, id));
                    found.push(finding);
                }
                Err(StoreError::Stale { .. }) if attempts > 0 => {
                    attempts -= 1;
                    *self = Self::load(store, self.id()).await?;
                    open = Dangling::all(&self.session().path()).into();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// Returns whether a conversation ends with calls of which one has no result. O(messages of that group).
pub(crate) fn ends_dangling(session: &Session) -> bool {
    !Dangling::at_end(session).is_empty()
}

/// Adds a placeholder result to each open call at the end of a copy. O(messages of that group).
///
/// Elsewhere, the messages of the request are repaired.
pub(crate) fn recover_copy(session: &mut Session) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut numbers = 0_usize..;
    for dangling in Dangling::at_end(session) {
        let mut names = numbers.by_ref().map(|number| NodeId::from(format!("recovered{number}")));
        let id = names.find(|id| session.node(id).is_none()).unwrap_or_default();
        let (finding, after) = (dangling.finding(), session.active_leaf_id().clone());
        if session.apply(&dangling.op(after, id)).is_err() {
            break;
        }
        found.push(finding);
    }
    found
}

/// A call without a result.
struct Dangling {
    call: String,
    tool: String,
    /// The last result of its message, or the message itself.
    after: NodeId,
}

impl Dangling {
    /// Returns the calls of the last group of a conversation that have no result.
    fn at_end(session: &Session) -> Vec<Self> {
        let mut end = Vec::new();
        for (_, node) in session.ancestors(session.active_leaf_id()) {
            end.push(node);
            if node.role != Some(Role::Tool) {
                break;
            }
        }
        end.reverse();
        Self::all(&end)
    }

    /// Returns the calls of a path that have no result, also no late one. O(messages and calls).
    fn all(path: &[&Node]) -> Vec<Self> {
        let (mut found, mut ends) = (Vec::new(), Vec::new());
        let mut open: HashMap<String, usize> = HashMap::new();
        for node in path {
            let id = node.id.clone().unwrap_or_default();
            let message = node.to_message(&id);
            if message.role == Role::Tool {
                if let Some(at) = message.tool_call_id.as_deref().and_then(|call| open.remove(call)) {
                    found[at] = None;
                }
            } else if !node.is_summary() {
                let mut seen = HashSet::new();
                let calls = message.tool_calls.iter();
                for call in calls.filter(|call| !call.id.is_empty() && seen.insert(call.id.clone())) {
                    open.insert(call.id.to_string(), found.len());
                    found.push(Some((call.id.to_string(), call.name.to_string(), ends.len())));
                }
                ends.push(id.clone());
            }
            if let Some(end) = ends.last_mut() {
                *end = id;
            }
        }
        let dangling = found.into_iter().flatten();
        dangling.map(|(call, tool, group)| Self { call, tool, after: ends[group].clone() }).collect()
    }

    fn finding(&self) -> Diagnostic {
        let text = phrase!(
            "tool call `{call}` to `{tool}` was interrupted",
            call = excerpt(&self.call),
            tool = excerpt(&self.tool)
        );
        let help = phrase!("its result tells the model that the outcome is unknown");
        Diagnostic::warning(codes::INTERRUPTED_CALL, text).with_help(help)
    }

    fn op(self, after: NodeId, id: NodeId) -> SessionOp {
        let mut metadata = NodeMetadata::default();
        metadata.kept.set("partType", Value::from("tool_result"));
        metadata.kept.set("toolName", Value::from(self.tool));
        metadata.kept.set("isError", Value::Bool(true));
        metadata.kept.set("interrupted", Value::Bool(true));
        let mut node = Node::new(Role::Tool, INTERRUPTED).with_id(id);
        node.tool_call_id = Some(self.call.as_str().into());
        node.metadata = Some(Box::new(metadata));
        SessionOp::Insert { after, node: Box::new(node) }
    }
}
