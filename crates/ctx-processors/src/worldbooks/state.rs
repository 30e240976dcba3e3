//! Timed effects between turns: they stand beside a message, so that each branch of a conversation has its own.

use std::sync::Arc;

use ctx_types::{Change, Node, NodeEdit, Session, SessionOp};
use ctx_worldbook::TimedState;
use serde_json::Value;

/// The key under which a message keeps the timed effects that held when what follows it was made.
const STATE: &str = "worldbookState";

/// The newest state on a path.
#[derive(Clone, Default)]
struct Newest(Option<Arc<Value>>);

/// Returns the state that the newest message of the active path keeps, else that of the conversation, else the one
/// that SillyTavern kept. O(new messages).
pub(crate) fn stored_state(session: &Session) -> Option<Arc<Value>> {
    let newest = session.fold_path(0, Newest::default, |newest, _, node| {
        if let Some(state) = of_node(node) {
            newest.0 = Some(Arc::new(state.clone()));
        }
    });
    let of_root = || session.node(session.root_id()).and_then(of_node).cloned().map(Arc::new);
    let foreign = || session.header.kept.get("chat_metadata")?.get("timedWorldInfo").cloned().map(Arc::new);
    newest.0.clone().or_else(of_root).or_else(foreign)
}

/// Returns the timed effects with which the next scan of a conversation begins. O(new messages).
pub fn worldbook_state(session: &Session) -> TimedState {
    stored_state(session).map(|state| TimedState::read(&state).0).unwrap_or_default()
}

fn of_node(node: &Node) -> Option<&Value> {
    node.metadata.as_ref()?.kept.get(STATE)
}

/// Returns the operation that keeps timed effects beside the newest message of a conversation; nothing if it has
/// them already. O(messages).
///
/// For hosts that bring a state of their own, such as another application's.
pub fn keep_worldbook_state(session: &Session, state: &TimedState) -> Option<SessionOp> {
    effect(session, stored_state(session).as_deref(), state)
}

/// Returns what keeps a state beside the newest message; nothing if it is kept already.
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
