use crate::Phrase;
use crate::phrase;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::fingerprint::Fingerprint;
use crate::session::history::{HistoryError, rebase};
use crate::session::{NodeId, Session, SessionOp};

/// An operation in the log, with its inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// The name for users.
    pub label: Arc<str>,
    /// Time of the first application, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_millis: Option<i64>,
    /// The requested operation.
    pub op: SessionOp,
    /// The inverse; of an undone operation, its redo.
    inverse: SessionOp,
    /// Fingerprint of the nodes that `inverse` sets, after the operation.
    state: Fingerprint,
    /// Size in a file.
    bytes: usize,
}

impl HistoryEntry {
    pub(super) fn new(
        session: &Session,
        label: &str,
        at_millis: Option<i64>,
        op: SessionOp,
        inverse: SessionOp,
    ) -> Self {
        let state = state(session, &inverse);
        let mut entry = Self { label: label.into(), at_millis, op, inverse, state, bytes: 0 };
        entry.bytes = entry.write().to_string().len();
        entry
    }

    pub(super) fn undo(&self, session: &mut Session) -> Result<Self, HistoryError> {
        self.turn(session, "undo", |session| rebase::inverse(session, self))
    }

    pub(super) fn redo(&self, session: &mut Session) -> Result<Self, HistoryError> {
        self.turn(session, "redo", |_| Ok(self.op.clone()))
    }

    fn turn(
        &self,
        session: &mut Session,
        direction: &'static str,
        otherwise: impl FnOnce(&Session) -> Result<SessionOp, Phrase>,
    ) -> Result<Self, HistoryError> {
        let conflict = |reason| HistoryError::Conflict { direction, label: self.label.clone(), reason };
        let is_untouched = state(session, &self.inverse) == self.state;
        let exact = is_untouched.then(|| session.apply(&self.inverse).ok()).flatten();
        let inverse = if let Some(inverse) = exact {
            inverse
        } else {
            let op = otherwise(session).map_err(conflict)?;
            session.apply(&op).map_err(|error| conflict(error.phrase()))?
        };
        Ok(Self::new(session, &self.label, self.at_millis, self.op.clone(), inverse))
    }

    /// Returns the exact inverse; of an undone operation, its redo.
    pub fn inverse(&self) -> &SessionOp {
        &self.inverse
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn write(&self) -> Value {
        json!({
            "label": &*self.label,
            "at": self.at_millis,
            "op": self.op,
            "wayBack": self.inverse,
            "state": self.state.to_string(),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let value: &Map<String, Value> = value.as_object()?;
        let op = |key: &str| serde_json::from_value::<SessionOp>(value.get(key)?.clone()).ok();
        Some(Self {
            label: value.get("label")?.as_str()?.into(),
            at_millis: value.get("at").and_then(Value::as_i64),
            op: op("op")?,
            inverse: op("wayBack").filter(|op| matches!(op, SessionOp::Patch(_)))?,
            state: Fingerprint::parse(value.get("state")?.as_str()?)?,
            bytes: serde_json::to_string(value).ok()?.len(),
        })
    }
}

pub(super) fn read_list(
    list: Option<&Value>,
    pointer: &str,
    found: &mut Vec<Diagnostic>,
) -> Vec<HistoryEntry> {
    let Some(Value::Array(items)) = list else { return Vec::new() };
    let read: Vec<HistoryEntry> = items.iter().rev().map_while(HistoryEntry::read).collect();
    if read.len() < items.len() {
        let at = items.len() - read.len() - 1;
        let message = phrase!("invalid operation in the log; it and older ones cannot be undone or redone");
        let found_here = Diagnostic::warning(codes::OPERATION_LOG, message);
        found.push(found_here.at_pointer(format!("{pointer}/{at}")));
    }
    read.into_iter().rev().collect()
}

fn state(session: &Session, inverse: &SessionOp) -> Fingerprint {
    let SessionOp::Patch(patch) = inverse else { return Fingerprint::default() };
    let of_node = |sum: Fingerprint, id: &NodeId| match session.node(id) {
        // Serialize the node without repaired links, as in the file.
        Some(node) => sum.text(id).text(&serde_json::to_string(node).expect("a node is JSON")),
        None => sum.text(id).number(0),
    };
    let nodes = patch.nodes.iter().fold(Fingerprint::default(), |sum, node| of_node(sum, &node.id));
    match &patch.active_leaf {
        Some(_) => nodes.text(session.active_leaf_id()),
        None => nodes,
    }
}
