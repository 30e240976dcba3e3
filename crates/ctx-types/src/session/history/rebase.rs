use crate::session::history::HistoryEntry;
use crate::session::{Change, Node, NodeEdit, NodeId, NodePatch, Session, SessionOp};
use crate::{Phrase, phrase};

pub(super) fn inverse(session: &Session, entry: &HistoryEntry) -> Result<SessionOp, Phrase> {
    match &entry.op {
        SessionOp::Insert { node, .. } if node.is_summary() => remove(session, node),
        SessionOp::Toggle { id, enabled } => toggle(session, id, !enabled),
        SessionOp::Edit { id, edit } => revert_edit(session, id, edit, find_former_node(entry, id)),
        SessionOp::Remove { id } => restore_node(session, find_former_node(entry, id)),
        SessionOp::Append { .. }
        | SessionOp::Insert { .. }
        | SessionOp::ActivateLeaf { .. }
        | SessionOp::Patch(_) => Err(phrase!("the affected content has changed since")),
    }
}

fn find_former_node<'a>(entry: &'a HistoryEntry, id: &NodeId) -> Option<&'a Node> {
    let SessionOp::Patch(patch) = entry.inverse() else { return None };
    let of_node = |patch: &'a NodePatch| patch.node.as_deref().filter(|_| patch.id == *id);
    patch.nodes.iter().find_map(of_node)
}

/// Fails if the content, role, or name of the summary was edited.
fn remove(session: &Session, inserted: &Node) -> Result<SessionOp, Phrase> {
    let id = inserted.id.clone().unwrap_or_default();
    let is_edited = |node: &Node| {
        (&node.content, &node.role, &node.name) != (&inserted.content, &inserted.role, &inserted.name)
    };
    match session.node(&id) {
        Some(node) if node.is_summary() && is_edited(node) => {
            Err(phrase!("`{id}` was edited since", id = id.to_string()))
        }
        Some(node) if node.is_summary() => Ok(SessionOp::Remove { id }),
        Some(_) => Err(phrase!("`{id}` is no longer a summary", id = id.to_string())),
        None => Err(phrase!("`{id}` no longer exists", id = id.to_string())),
    }
}

fn toggle(session: &Session, id: &NodeId, enabled: bool) -> Result<SessionOp, Phrase> {
    match session.node(id) {
        Some(node) if node.is_enabled() != enabled => Ok(SessionOp::Toggle { id: id.clone(), enabled }),
        Some(_) => Err(phrase!("`{id}` was enabled or disabled since", id = id.to_string())),
        None => Err(phrase!("`{id}` no longer exists", id = id.to_string())),
    }
}

/// Fails if one of the edited fields was changed again.
fn revert_edit(
    session: &Session,
    id: &NodeId,
    edit: &NodeEdit,
    former: Option<&Node>,
) -> Result<SessionOp, Phrase> {
    let (Some(node), Some(former)) = (session.node(id), former) else {
        return Err(phrase!("`{id}` no longer exists", id = id.to_string()));
    };
    let mut edited = former.clone();
    edit.apply(&mut edited);
    let back = NodeEdit::between(edit, former);
    if NodeEdit::between(edit, node) == NodeEdit::between(edit, &edited) {
        Ok(SessionOp::Edit { id: id.clone(), edit: Box::new(back) })
    } else {
        Err(phrase!("`{id}` was edited since", id = id.to_string()))
    }
}

/// Fails if other nodes follow at the old position.
fn restore_node(session: &Session, former: Option<&Node>) -> Result<SessionOp, Phrase> {
    let gone = || phrase!("the affected content has changed since");
    let former = former.filter(|former| former.is_summary()).ok_or_else(gone)?;
    let after = former.parent_id.clone().ok_or_else(gone)?;
    let follows = &session.node(&after).ok_or_else(gone)?.children_ids;
    if *follows == former.children_ids {
        Ok(SessionOp::Insert { after, node: Box::new(former.clone()) })
    } else {
        Err(phrase!("other messages now follow `{after}`", after = after.to_string()))
    }
}

impl NodeEdit {
    fn between(edit: &Self, node: &Node) -> Self {
        fn field<T: Clone, U>(edit: &Change<U>, value: Option<&T>) -> Change<T> {
            if edit.is_keep() { Change::Keep } else { value.cloned().into() }
        }
        Self {
            content: field(&edit.content, node.content.as_ref()),
            name: field(&edit.name, node.name.as_ref()),
            role: field(&edit.role, node.role.as_ref()),
            status: field(&edit.status, node.status.as_ref()),
            is_enabled: field(&edit.is_enabled, node.is_enabled.as_ref()),
            timestamp: field(&edit.timestamp, node.timestamp.as_ref()),
            attachments: field(&edit.attachments, Some(&node.attachments)),
            tool_calls: field(&edit.tool_calls, Some(&node.tool_calls)),
            tool_call_id: field(&edit.tool_call_id, node.tool_call_id.as_ref()),
            metadata: field(&edit.metadata, node.metadata.as_ref()),
        }
    }
}
