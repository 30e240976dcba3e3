//! The conversation of a turn: a stored one that the request names, or the messages of the request.

use std::sync::Arc;

use ctx_chat::{Conversation, MessageTags, StepLabel, StoreError};
use ctx_project::chat::now;
use ctx_types::session::{Node, NodeId, Session, SessionError, SessionOp};
use ctx_types::{Content, Role, phrase};

use crate::agents::ServedAgent;
use crate::alignment::{AlignmentRules, RequestMessage, align, align_below, sent_session, take_stored_ids};
use crate::api_error::ApiError;
use crate::conversation_cache::{CachedConversation, ConversationLease, read};
use crate::conversation_name::ConversationName;
use crate::gateway::Server;
use crate::history_cache::{self, FoundCache, HistoryScope};
use crate::keys::KeyEntry;
use crate::memory::ReservedMemory;
use crate::request_options::stored_id;
use crate::shared_prefix::SentRequest;
use crate::turn::GatewayRequest;

/// Time in which the same message again is a retry.
const RETRY_MILLIS: i64 = 60_000;

/// The conversation of a turn.
pub(crate) enum TurnConversation {
    Named(Box<NamedConversation>),
    Unnamed(Box<UnnamedConversation>),
}

/// A stored conversation.
pub(crate) struct NamedConversation {
    pub(crate) lease: ConversationLease,
    pub(crate) cached: CachedConversation,
    /// The conversation for the provider, if it differs.
    pub(crate) sent: Option<Session>,
}

/// The messages of a request that is not stored.
pub(crate) struct UnnamedConversation {
    pub(crate) session: Session,
    pub(crate) cache: FoundCache,
}

/// Stores the new messages of a named conversation. Also returns the user's text, which the turn stores.
pub(crate) async fn begin_named(
    server: &Arc<Server>,
    key: &KeyEntry,
    agent: &ServedAgent,
    request: &mut GatewayRequest,
    name: &ConversationName,
) -> Result<(NamedConversation, Option<String>, ReservedMemory), ApiError> {
    let (lease, cached, memory) = lease_conversation(server, request, name).await?;
    let session = cached.as_ref().map(|cached| cached.conversation.session());
    let (mut messages, input, after) = align_messages(session, request, name);
    let limit_lease = if cached.is_none() { check_conversation_limit(server, key).await? } else { None };
    let cached =
        store_messages(server, &lease, cached, (after.as_ref(), &mut messages), &request.tags()).await?;
    drop(limit_lease);
    let is_same_dialect = request.dialect == agent.setup.endpoint().dialect;
    let sent = sent_session(cached.conversation.session(), &messages, is_same_dialect)?;
    Ok((NamedConversation { lease, cached, sent }, input, memory))
}

/// Leases a conversation, loads it, and reserves its memory. After an error, the conversation stays in the cache.
pub(crate) async fn lease_conversation(
    server: &Server,
    request: &GatewayRequest,
    name: &ConversationName,
) -> Result<(ConversationLease, Option<CachedConversation>, ReservedMemory), ApiError> {
    let mut lease =
        server.conversations.lease(&*server.store, &stored_id(&request.owner, &name.name)).await?;
    let cached = lease.load(&server.store).await?;
    if cached.is_none() && name.after.is_some() {
        return Err(ApiError::no_conversation(lease.id()));
    }
    let checked = check_position(cached.as_ref(), request, name).and_then(|()| {
        let bytes = cached.as_ref().map_or(0, CachedConversation::bytes);
        server.bodies.reserve_conversation(&request.owner, bytes)
    });
    match checked {
        Ok(memory) => Ok((lease, cached, memory)),
        Err(error) => {
            put_back(lease, cached);
            Err(error)
        }
    }
}

/// Checks the revision and the message that a request continues.
fn check_position(
    cached: Option<&CachedConversation>,
    request: &GatewayRequest,
    name: &ConversationName,
) -> Result<(), ApiError> {
    let revision = cached.map_or(0, |cached| cached.conversation.revision());
    if let Some(seen) = request.options.revision.filter(|seen| *seen != revision) {
        return Err(ApiError::conflict(phrase!(
            "the conversation is at revision {revision}, not {seen}",
            revision,
            seen
        )));
    }
    if let (Some(cached), Some(after)) = (cached, &name.after)
        && cached.conversation.session().node(after).is_none()
    {
        return Err(SessionError::UnknownNode { id: after.clone() }.into());
    }
    Ok(())
}

/// Loads a conversation to read it while a turn may run.
pub(crate) async fn read_conversation(
    server: &Server,
    request: &GatewayRequest,
    name: &ConversationName,
) -> Result<Option<CachedConversation>, ApiError> {
    match read(&server.store, &stored_id(&request.owner, &name.name)).await {
        Ok(conversation) => Ok(Some(CachedConversation::new(conversation))),
        Err(StoreError::NotFound { .. }) if name.after.is_none() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes the messages of a request, with the stored message of each known one, the user's text, and the message that
/// the new ones follow.
pub(crate) fn align_messages(
    session: Option<&Session>,
    request: &mut GatewayRequest,
    name: &ConversationName,
) -> (Vec<RequestMessage>, Option<String>, Option<NodeId>) {
    let messages = std::mem::take(&mut request.body.messages);
    let mut messages: Vec<RequestMessage> = messages.into_iter().map(RequestMessage::new).collect();
    let (tags, at) = (request.tags(), now());
    let is_retry = |node: &Node| tags.is_repeat(node, at, RETRY_MILLIS);
    let rules = AlignmentRules { sends_history: name.sends_history, is_retry: &is_retry };
    let after = match (&name.after, session) {
        (None, Some(session)) => Some(align(session, &mut messages, rules)),
        (Some(after), Some(session)) => Some(align_below(session, after, &mut messages, rules)),
        (after, None) => after.clone(),
    };
    if let Some(session) = session {
        take_stored_ids(session, &mut messages);
    }
    let input = messages.pop_if(|last| last.is_new() && is_plain_text(&last.node));
    let input = input.and_then(|last| last.node.content).map(|content| content.text().into_owned());
    (messages, input, after)
}

/// Builds the conversation of a request without a name, and takes the user's text.
pub(crate) fn build_unnamed(
    server: &Server,
    agent: &ServedAgent,
    request: &mut GatewayRequest,
) -> (UnnamedConversation, Option<String>) {
    let mut messages = std::mem::take(&mut request.body.messages);
    let scope = HistoryScope { owner: &request.owner, agent: &agent.agent, model: agent.setup.model() };
    let cache = history_cache::find(&server.caches, scope, &messages);
    let input = messages.pop_if(|last| is_plain_text(last)).and_then(|last| last.content);
    let (mut others, mut instructions) = (0, 0);
    // The ids of a history do not depend on system messages, because its cache does not.
    let nodes = messages.into_iter().map(|node| {
        let is_instruction = node.role.is_some_and(Role::is_instruction);
        let (letter, count) = if is_instruction { ('s', &mut instructions) } else { ('n', &mut others) };
        *count += 1;
        node.with_id(format!("{letter}{count}"))
    });
    let (session, _) = Session::linear("unnamed", nodes);
    let input = input.map(|content| content.text().into_owned());
    (UnnamedConversation { session, cache }, input)
}

/// Checks that a key may have another conversation. Until the lease ends, no other process can start one for the key.
async fn check_conversation_limit(
    server: &Server,
    key: &KeyEntry,
) -> Result<Option<ConversationLease>, ApiError> {
    let Some(limit) = key.limits.conversations else { return Ok(None) };
    let all = stored_id(&key.name, "");
    let lease = server.conversations.lease(&*server.store, &all).await?;
    if server.store.count(&all).await? < limit {
        Ok(Some(lease))
    } else {
        Err(ApiError::forbidden(phrase!(
            "this client key reached its limit of {limit} conversations; continue an existing one",
            limit
        )))
    }
}

/// Puts an unchanged conversation back into the cache.
pub(crate) fn put_back(lease: ConversationLease, cached: Option<CachedConversation>) {
    if let Some(cached) = cached {
        lease.put_back(cached);
    }
}

/// Returns whether a message has only a text of the user.
fn is_plain_text(node: &Node) -> bool {
    let text = node.content.as_ref().filter(|content| matches!(content, Content::Text(_)));
    let has_more = node.metadata.is_some() || node.kept.get("providerFields").is_some();
    node.role == Some(Role::User)
        && node.name.is_none()
        && !has_more
        && text.is_some_and(|text| !text.is_blank())
}

/// Stores the new messages of a request.
async fn store_messages(
    server: &Server,
    lease: &ConversationLease,
    cached: Option<CachedConversation>,
    (after, messages): (Option<&NodeId>, &mut [RequestMessage]),
    tags: &MessageTags,
) -> Result<CachedConversation, ApiError> {
    let (store, at) = (&*server.store, now());
    messages.iter_mut().filter(|message| message.is_new()).for_each(|new| tags.stamp(&mut new.node, at));
    let Some(mut cached) = cached else {
        let mut session = Session::new(lease.id());
        append_messages(&mut session, None, messages)?;
        return Ok(CachedConversation::new(
            Conversation::import(store, lease.id(), session, Some(at)).await?,
        ));
    };
    if let Some(after) = after.filter(|after| *after != cached.conversation.session().active_leaf_id()) {
        let op = SessionOp::ActivateLeaf { id: after.clone() };
        cached.conversation.apply(store, StepLabel::SWITCH_BRANCH, op, Some(at)).await?;
    }
    for message in messages.iter_mut().filter(|message| message.is_new()) {
        message.set_added(cached.conversation.append(store, message.to_stored(), Some(at)).await?);
    }
    Ok(cached)
}

/// Adds the new messages of a request to a conversation in memory.
pub(crate) fn append_messages(
    session: &mut Session,
    after: Option<&NodeId>,
    messages: &mut [RequestMessage],
) -> Result<(), ApiError> {
    if let Some(id) = after {
        session.apply(&SessionOp::ActivateLeaf { id: id.clone() })?;
    }
    let mut next = session.nodes().count();
    for message in messages.iter_mut().filter(|message| message.is_new()) {
        let mut names = (next..).map(|number| (number, NodeId::from(format!("n{number}"))));
        let free = names.find(|(_, id)| session.node(id).is_none());
        let (number, id) = free.expect("an unbounded range has a free id");
        next = number + 1;
        let parent = session.active_leaf_id().clone();
        let node = Box::new(message.to_stored().with_id(id.clone()));
        session.apply(&SessionOp::Append { parent, node })?;
        message.set_added(id);
    }
    Ok(())
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        Self::malformed(error.phrase())
    }
}

impl GatewayRequest {
    /// Returns the tags of its messages. They repeat in a retry.
    pub(crate) fn tags(&self) -> MessageTags {
        MessageTags { run_id: self.options.idempotency_key().map(Arc::from), ..MessageTags::default() }
    }
}

impl TurnConversation {
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Named(named) => named.cached.conversation.session(),
            Self::Unnamed(unnamed) => &unnamed.session,
        }
    }

    /// Returns the previous request to the provider.
    pub(crate) fn sent(&self) -> Option<Arc<SentRequest>> {
        match self {
            Self::Named(named) => named.cached.sent.clone(),
            Self::Unnamed(unnamed) => unnamed.cache.sent.clone(),
        }
    }

    /// Sets the latest request to the provider.
    pub(crate) fn set_sent(&mut self, sent: Option<Arc<SentRequest>>) {
        match self {
            Self::Named(named) => named.cached.sent = sent,
            Self::Unnamed(unnamed) => unnamed.cache.sent = sent,
        }
    }
}
