//! Routes of stored conversations and of turn reports.

use ctx_chat::StepLabel;
use ctx_project::chat::now;
use ctx_types::phrase;
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::authorized_request::AuthorizedRequest;
use crate::conversation_cache::{CachedConversation, read};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::request_options::{RequestOptions, parse_conversation_name, stored_id};
use crate::shared_prefix::SharedPrefix;

/// Maximum number of listed conversations.
const MAX_LISTED: usize = 1_000;

/// Lists the conversations of a key, the latest changed first.
pub(crate) async fn list(server: &Server, key: &KeyEntry) -> Result<Value, ApiError> {
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
pub(crate) async fn show(server: &Server, key: &KeyEntry, name: &str) -> Result<Value, ApiError> {
    let id = stored_id(&key.name, &parse_conversation_name(name)?);
    let stored = read(&server.store, &id).await?;
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

/// Returns the report of a turn.
pub(crate) fn report(
    server: &Server,
    key: &KeyEntry,
    name: Option<&str>,
    turn: &str,
) -> Result<Value, ApiError> {
    let id = stored_id(&key.name, &name.map_or(Ok(String::new()), parse_conversation_name)?);
    let report = server.reports.get(&(id, turn.into())).ok_or_else(|| {
        ApiError::not_found(phrase!(
            "no report of this turn; the gateway keeps only the latest reports since it started"
        ))
    })?;
    Ok(json!({
        "conversation": name, "turn": turn, "report": report.report, "lost": report.lost, "error": report.error,
        "sharedPrefix": report.shared_prefix.map(SharedPrefix::to_json),
    }))
}

/// Deletes a conversation.
pub(crate) async fn delete(server: &Server, key: &KeyEntry, name: &str) -> Result<Value, ApiError> {
    let mut lease = server
        .conversations
        .lease(&*server.store, &stored_id(&key.name, &parse_conversation_name(name)?))
        .await?;
    if lease.load(&server.store).await?.is_none() {
        return Err(ApiError::no_conversation(lease.id()));
    }
    server.store.delete(lease.id()).await?;
    // The messages of a new conversation have the same ids.
    server.reports.retain(|(stored, _), _| stored != lease.id());
    server.responses.retain(|(owner, _), response| *owner != key.name || response.conversation != name);
    Ok(json!({ "id": name, "object": "conversation.deleted", "deleted": true }))
}

/// Undoes a turn, or one change.
pub(crate) async fn undo(request: &AuthorizedRequest, name: &str) -> Result<Value, ApiError> {
    step(request, name, Direction::Undo).await
}

/// Redoes a turn, or one change.
pub(crate) async fn redo(request: &AuthorizedRequest, name: &str) -> Result<Value, ApiError> {
    step(request, name, Direction::Redo).await
}

#[derive(Clone, Copy)]
enum Direction {
    Undo,
    Redo,
}

async fn step(
    AuthorizedRequest { server, key, headers, .. }: &AuthorizedRequest,
    name: &str,
    direction: Direction,
) -> Result<Value, ApiError> {
    let options = RequestOptions::from_headers(headers)?;
    let mut lease = server
        .conversations
        .lease(&*server.store, &stored_id(&key.name, &parse_conversation_name(name)?))
        .await?;
    let Some(mut cached) = lease.load(&server.store).await? else {
        return Err(ApiError::no_conversation(lease.id()));
    };
    let revision = cached.conversation.revision();
    if let Some(seen) = options.revision.filter(|seen| *seen != revision) {
        lease.put_back(cached);
        let text = phrase!("the conversation is at revision {revision}, not {seen}", revision, seen);
        return Err(ApiError::conflict(text));
    }
    let (store, at) = (&*server.store, Some(now()));
    let history = cached.conversation.history();
    let steps = match direction {
        Direction::Undo => StepLabel::count_undo(history),
        Direction::Redo => StepLabel::count_redo(history),
    };
    // The store reports an error if no step is left.
    for _ in 0..steps.max(1) {
        match direction {
            Direction::Undo => cached.conversation.undo(store, at).await?,
            Direction::Redo => cached.conversation.redo(store, at).await?,
        }
    }
    let conversation = &cached.conversation;
    let state = json!({
        "id": name, "revision": conversation.revision(), "leaf": conversation.session().active_leaf_id(),
    });
    // The cache of turns contains undone messages, so it is not reused.
    let mut renewed = CachedConversation::new(cached.conversation);
    renewed.sent = cached.sent;
    lease.put_back(renewed);
    Ok(state)
}
