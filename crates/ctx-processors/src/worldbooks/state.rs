//! Stores timed effects with messages: each branch has its own.

use std::sync::Arc;

use ctx_types::session::{Change, Node, NodeEdit, Session, SessionOp};
use ctx_worldbook::TimedState;
use serde_json::Value;

/// Metadata key of the timed effects that applied after the message.
const STATE: &str = "worldbookState";

#[derive(Clone, Default)]
struct Newest(Option<Arc<Value>>);

/// Prefers the newest message, then the conversation, then SillyTavern's state. O(new messages).
pub(crate) fn stored_state(session: &Session) -> Option<Arc<Value>> {
    let newest = session.fold_path(0, Newest::default, |newest, _, node| {
        if let Some(state) = stored_value(node) {
            newest.0 = Some(Arc::new(state.clone()));
        }
    });
    let of_root = || session.node(session.root_id()).and_then(stored_value).cloned().map(Arc::new);
    let foreign = || session.header.kept.get("chat_metadata")?.get("timedWorldInfo").cloned().map(Arc::new);
    newest.0.clone().or_else(of_root).or_else(foreign)
}

/// Returns the timed effects at the start of the next scan. O(new messages).
pub fn worldbook_state(session: &Session) -> TimedState {
    stored_state(session).map(|state| TimedState::read(&state).0).unwrap_or_default()
}

fn stored_value(node: &Node) -> Option<&Value> {
    node.metadata.as_ref()?.kept.get(STATE)
}

/// Returns the operation that stores timed effects with the newest message, unless they are stored.
/// O(messages).
///
/// For hosts that import the state of another application.
pub fn keep_worldbook_state(session: &Session, state: &TimedState) -> Option<SessionOp> {
    effect(session, stored_state(session).as_deref(), state)
}

pub(crate) fn effect(session: &Session, before: Option<&Value>, state: &TimedState) -> Option<SessionOp> {
    let state = before.map_or_else(|| state.write(), |before| state.write_over(before));
    let is_empty = |value: &Value| TimedState::read(value).0.is_empty();
    if before.map_or_else(|| is_empty(&state), |before| TimedState::read(before) == TimedState::read(&state))
    {
        return None;
    }
    let id = session.active_leaf_id().clone();
    let mut metadata = session.node(&id)?.metadata.clone().unwrap_or_default();
    metadata.kept.set(STATE, state);
    let edit = Box::new(NodeEdit { metadata: Change::Set(metadata), ..NodeEdit::default() });
    Some(SessionOp::Edit { id, edit })
}
