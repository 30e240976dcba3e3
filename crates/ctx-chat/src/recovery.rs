//! Conversations after an interruption: every call gets a result, so that they can always go on.

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
        let mut found = Vec::new();
        let mut attempts = ATTEMPTS;
        while let Some(dangling) = Dangling::first(&self.session().path()) {
            let (finding, id) = (dangling.finding(), self.free_id());
            match self.apply(store, StepLabel::NOTE_INTERRUPTION, dangling.op(id), at_millis).await {
                Ok(()) => found.push(finding),
                Err(StoreError::Stale { .. }) if attempts > 0 => {
                    attempts -= 1;
                    *self = Self::load(store, self.id()).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// Returns whether a conversation ends with calls of which one has no result. O(messages of that group).
pub(crate) fn ends_dangling(session: &Session) -> bool {
    let mut end = Vec::new();
    for (_, node) in session.ancestors(session.active_leaf_id()) {
        end.push(node);
        if node.role != Some(Role::Tool) {
            break;
        }
    }
    end.reverse();
    Dangling::first(&end).is_some()
}

/// As [`Conversation::recover`], for a copy of a conversation that no store has.
pub(crate) fn recover_copy(session: &mut Session) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    while let Some(dangling) = Dangling::first(&session.path()) {
        let finding = dangling.finding();
        let names = (0_usize..).map(|number| NodeId::from(format!("recovered{number}")));
        let id = names.into_iter().find(|id| session.node(id).is_none()).unwrap_or_default();
        if session.apply(&dangling.op(id)).is_err() {
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
    /// The message behind which the result goes.
    after: NodeId,
}

impl Dangling {
    /// Finds the first of a path.
    fn first(path: &[&Node]) -> Option<Self> {
        let mut open: Vec<(String, String)> = Vec::new();
        let mut last = NodeId::from("");
        for node in path {
            let id = node.id.clone().unwrap_or_default();
            let message = node.to_message(&id);
            if message.role == Role::Tool {
                open.retain(|(call, _)| message.tool_call_id.as_deref() != Some(call.as_str()));
            } else if !node.is_summary() {
                if !open.is_empty() {
                    break;
                }
                let calls = message.tool_calls.iter().filter(|call| !call.id.is_empty());
                open = calls.map(|call| (call.id.to_string(), call.name.to_string())).collect();
            }
            last = id;
        }
        let (call, tool) = open.into_iter().next()?;
        Some(Self { call, tool, after: last })
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

    fn op(self, id: NodeId) -> SessionOp {
        let mut metadata = NodeMetadata::default();
        metadata.kept.set("partType", Value::from("tool_result"));
        metadata.kept.set("toolName", Value::from(self.tool));
        metadata.kept.set("isError", Value::Bool(true));
        metadata.kept.set("interrupted", Value::Bool(true));
        let mut node = Node::new(Role::Tool, INTERRUPTED).with_id(id);
        node.tool_call_id = Some(self.call.as_str().into());
        node.metadata = Some(Box::new(metadata));
        SessionOp::Insert { after: self.after, node: Box::new(node) }
    }
}
