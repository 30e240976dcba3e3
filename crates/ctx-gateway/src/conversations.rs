//! What is stored, for programs that look at it: the conversations of a key, and why a turn was sent as it was.

use ctx_chat::StepLabel;
use ctx_project::chat::now;
use ctx_types::phrase;
use serde_json::{Value, json};

use crate::call::{Wishes, conversation, stored_id};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::refusal::Refusal;
use crate::rooms::{Kept, load};

/// How many conversations are listed.
const MAX_LISTED: usize = 1_000;

/// Lists the conversations of a key, the latest changed first.
pub(crate) async fn list(server: &Server, key: &KeyEntry) -> Result<Value, Refusal> {
    let prefix = stored_id(&key.name, "");
    let entries = server.store.list().await?.into_iter().filter_map(|entry| {
        let name = entry.id.strip_prefix(&prefix)?.to_owned();
        Some(json!({
            "id": name, "revision": entry.revision,
            "createdMillis": entry.created_millis, "changedMillis": entry.changed_millis,
        }))
    });
    let list: Vec<Value> = entries.take(MAX_LISTED).collect();
    Ok(json!({ "object": "list", "data": list }))
}

/// Returns a conversation with its messages.
pub(crate) async fn show(server: &Server, key: &KeyEntry, name: &str) -> Result<Value, Refusal> {
    let id = stored_id(&key.name, &conversation(name)?);
    let stored = load(&server.store, &id).await?;
    let session = stored.session();
    let message = |node: &&ctx_types::session::Node| {
        let id = node.id.clone().unwrap_or_default();
        let message = node.to_message(&id);
        let mut shown = json!({
            "id": id, "role": message.role, "content": node.content.as_ref().map(|content| content.text()),
            "tool_calls": message.tool_calls.iter().map(|call| json!({
                "id": call.id, "name": call.name, "arguments": call.arguments.as_str(),
            })).collect::<Vec<_>>(),
            "tool_call_id": message.tool_call_id,
        });
        if node.is_error() {
            shown["partType"] = json!("error");
        }
        shown
    };
    let path = session.path();
    let root = session.root_id();
    let said = path.iter().filter(|node| node.id.as_ref() != Some(root));
    let messages: Vec<Value> = said.map(message).collect();
    Ok(json!({
        "id": name, "revision": stored.revision(), "leaf": session.active_leaf_id(), "messages": messages,
    }))
}

/// Returns why a turn sent what it sent.
pub(crate) fn report(
    server: &Server,
    key: &KeyEntry,
    name: Option<&str>,
    turn: &str,
) -> Result<Value, Refusal> {
    let id = stored_id(&key.name, &name.map_or(Ok(String::new()), conversation)?);
    let report = server.reports.get(&(id, turn.into())).ok_or_else(|| {
        Refusal::not_found(phrase!(
            "no report of this turn; the gateway keeps only the latest reports since it started"
        ))
    })?;
    Ok(json!({ "conversation": name, "turn": turn, "report": report.report, "error": report.error }))
}

/// Deletes a conversation.
pub(crate) async fn delete(server: &Server, key: &KeyEntry, name: &str) -> Result<Value, Refusal> {
    let mut visit = server.rooms.enter(&*server.store, &stored_id(&key.name, &conversation(name)?)).await?;
    if visit.load(&server.store).await?.is_none() {
        return Err(Refusal::no_conversation(visit.id()));
    }
    server.store.delete(visit.id()).await?;
    Ok(json!({ "id": name, "object": "conversation.deleted", "deleted": true }))
}

/// Undoes or redoes a turn, or one change.
pub(crate) async fn step(
    server: &Server,
    key: &KeyEntry,
    name: &str,
    (is_undo, wishes): (bool, Wishes),
) -> Result<Value, Refusal> {
    let mut visit = server.rooms.enter(&*server.store, &stored_id(&key.name, &conversation(name)?)).await?;
    let Some(mut kept) = visit.load(&server.store).await? else {
        return Err(Refusal::no_conversation(visit.id()));
    };
    let revision = kept.conversation.revision();
    if let Some(seen) = wishes.revision.filter(|seen| *seen != revision) {
        visit.leave(kept);
        let text = phrase!("the conversation is at revision {revision}, not {seen}", revision, seen);
        return Err(Refusal::conflict(text));
    }
    let (store, at) = (&*server.store, Some(now()));
    let history = kept.conversation.history();
    let steps = if is_undo { StepLabel::count_undo(history) } else { StepLabel::count_redo(history) };
    // Without a step, the store reports that there is none.
    for _ in 0..steps.max(1) {
        if is_undo {
            kept.conversation.undo(store, at).await?;
        } else {
            kept.conversation.redo(store, at).await?;
        }
    }
    let conversation = &kept.conversation;
    let state = json!({
        "id": name, "revision": conversation.revision(), "leaf": conversation.session().active_leaf_id(),
    });
    // What turns keep for each other is about what was taken back, too.
    visit.leave(Kept::new(kept.conversation));
    Ok(state)
}
