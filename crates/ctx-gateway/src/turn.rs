//! One request becomes one turn of a conversation, as `ctx chat` carries turns out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::http::HeaderMap;
use ctx_chat::{
    Chat, ChatLog, Client, RequestShape, TurnEnd, TurnError, TurnEvent, TurnOutcome, TurnPreview,
    TurnRequest, UnstoredConversation, preview_turn, run_turn, run_unstored_turn,
};
use ctx_pipeline::Cancel;
use ctx_types::report::Report;
use ctx_types::session::{NodeId, Session};
use ctx_types::{Diagnostic, PrefixMode, Role, Severity, TurnInput, phrase};
use ctx_wire::{Dialect, Reply, codes};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::agents::ServedAgent;
use crate::alignment::sent_session;
use crate::api_error::ApiError;
use crate::conversation_cache::CachedConversation;
use crate::conversation_name::{ConversationName, StoredResponse};
use crate::dialect::{ClientRequest, ClientResponse};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::limits::UsageGuard;
use crate::lock;
use crate::memory::ReservedMemory;
use crate::metrics::GaugeGuard;
use crate::provider_relay::{CallIds, ProviderRelay, ProviderResponse, StreamChunk};
use crate::request_options::{RequestOptions, stored_id};
use crate::shape;
use crate::shared_prefix::{SentRequest, SharedPrefix};
use crate::spans::SpanAttributes;
use crate::turn_conversation::{
    NamedConversation, TurnConversation, UnnamedConversation, align_messages, append_messages, begin_named,
    build_unnamed, lease_conversation, put_back, read_conversation,
};

/// Chunks buffered for a slow client.
pub(crate) const CHUNK_BUFFER: usize = 16;

/// Diagnostics about parts of a request that are not sent.
const LOSSES: [ctx_types::Code; 10] = [
    codes::BLOCK_FIELDS,
    codes::PART_NOT_ACCEPTED,
    codes::PARAMETER_NOT_SENT,
    codes::RESERVED_PARAMETER,
    codes::NAME_NOT_SENT,
    codes::REASONING_NOT_SENT,
    codes::ATTACHMENT_NOT_SENT,
    codes::CALLS_NOT_SENT,
    codes::BLANK_NOT_SENT,
    codes::CACHE_MARK,
];

/// Maximum number of system messages of a named request. Each is inserted into the conversation.
const MAX_INSTRUCTIONS: usize = 256;

/// A client's request with its owner and options.
#[derive(Debug)]
pub(crate) struct GatewayRequest {
    pub(crate) dialect: Dialect,
    pub(crate) owner: String,
    /// Id of the response, without the prefix of the dialect.
    pub(crate) id: String,
    pub(crate) body: ClientRequest,
    pub(crate) options: RequestOptions,
    pub(crate) since: Instant,
    /// Memory of the turn, reserved until its end.
    pub(crate) _memory: ReservedMemory,
}

/// A running turn. Dropping the handle cancels the turn.
#[derive(Debug)]
pub(crate) struct TurnHandle {
    pub(crate) chunks: Receiver<StreamChunk<ClientResponse>>,
    pub(crate) progress: Arc<Mutex<TurnProgress>>,
    _cancel: CancelGuard,
}

/// Progress of a running turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnProgress {
    /// The client's name of the conversation. Empty without a name.
    pub(crate) conversation: String,
    /// Stored id of the conversation.
    pub(crate) stored: String,
    /// The user's message, or the id of the response to an unnamed request.
    pub(crate) turn: Option<NodeId>,
    /// The stored reply.
    pub(crate) reply: Option<NodeId>,
    pub(crate) revision: u64,
    /// Whether the provider has the client's API, and gets all parts of the request.
    pub(crate) sends_all_parts: bool,
    /// Descriptions of parts that were not sent to the provider.
    pub(crate) lost: Vec<String>,
    /// The descriptions that came from diagnostics.
    diagnosed: HashSet<String>,
    pub(crate) attributes: SpanAttributes,
    /// Headers of the last response of a provider that are returned to the client.
    pub(crate) provider_headers: HeaderMap,
    /// The latest request to the provider.
    sent: Option<Arc<SentRequest>>,
    /// Comparison of that request with the previous request of the conversation.
    pub(crate) shared_prefix: Option<SharedPrefix>,
}

/// The explanation of a turn.
#[derive(Debug)]
pub(crate) struct TurnReport {
    /// The report of the context.
    pub(crate) report: Option<Box<Report>>,
    /// Descriptions of parts that were not sent to the provider.
    pub(crate) lost: Vec<String>,
    /// Tokens of the request that repeat the previous one.
    pub(crate) shared_prefix: Option<SharedPrefix>,
    /// The error of a failed turn.
    pub(crate) error: Option<String>,
}

/// Cancels a turn when the client disconnects.
struct CancelGuard(Cancel);

impl std::fmt::Debug for CancelGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CancelGuard")
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Counters of a running turn.
struct TurnGuards {
    usage: UsageGuard,
    _open_turn: GaugeGuard,
}

/// A turn with its data.
struct Turn {
    server: Arc<Server>,
    agent: Arc<ServedAgent>,
    request: GatewayRequest,
    input: Option<String>,
    conversation: TurnConversation,
    progress: Arc<Mutex<TurnProgress>>,
    /// Memory of the stored conversation, reserved until the end.
    _memory: ReservedMemory,
}

/// A checked request, before its conversation is leased.
struct CheckedRequest {
    server: Arc<Server>,
    key: KeyEntry,
    agent: Arc<ServedAgent>,
    request: GatewayRequest,
    name: Option<ConversationName>,
    progress: Arc<Mutex<TurnProgress>>,
}

/// Checks a request, and begins its turn.
pub(crate) async fn begin(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: GatewayRequest,
) -> Result<TurnHandle, ApiError> {
    let usage = server.meters.start_turn(key)?;
    let open_turn = GaugeGuard::new(server.clone(), |metrics| &metrics.open_turns);
    let (agent, request, name) = authorize(server, key, request).await?;
    let conversation = name.as_ref().map(|name| name.name.clone()).unwrap_or_default();
    let progress = TurnProgress {
        stored: stored_id(&request.owner, &conversation),
        conversation,
        turn: name.is_none().then(|| request.id.as_str().into()),
        attributes: SpanAttributes { agent: Some(agent.agent.clone()), ..SpanAttributes::default() },
        sends_all_parts: request.dialect == agent.setup.endpoint().dialect,
        ..TurnProgress::default()
    };
    let progress = Arc::new(Mutex::new(progress));
    let checked = CheckedRequest { server: server.clone(), key: key.clone(), agent, request, name, progress };
    Ok(checked.spawn(TurnGuards { usage, _open_turn: open_turn }))
}

/// Returns the request that a turn would send to the provider. To count its tokens, does not wait for a running turn.
pub(crate) async fn preview(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: GatewayRequest,
    is_count: bool,
) -> Result<TurnPreview, ApiError> {
    let (agent, mut request, name) = authorize(server, key, request).await?;
    let (setup, is_stateless) = (&agent.setup, name.is_none());
    let (session, input, leased, cache, _memory) = if let Some(name) = name {
        let (lease, cached, memory) = if is_count {
            let cached = read_conversation(server, &request, &name).await?;
            let bytes = cached.as_ref().map_or(0, CachedConversation::bytes);
            (None, cached, server.bodies.reserve_conversation(&key.name, bytes)?)
        } else {
            let (lease, cached, memory) = lease_conversation(server, &request, &name).await?;
            (Some(lease), cached, memory)
        };
        let stored = cached.as_ref().map(|cached| cached.conversation.session());
        let (mut messages, input, after) = align_messages(stored, &mut request, &name);
        let mut session = stored.cloned().unwrap_or_else(|| Session::new("preview"));
        append_messages(&mut session, after.as_ref(), &mut messages)?;
        let is_same_dialect = request.dialect == setup.endpoint().dialect;
        let session = sent_session(&session, &messages, is_same_dialect)?.unwrap_or(session);
        (session, input, Some((lease, cached)), None, memory)
    } else {
        let memory = server.bodies.reserve_conversation(&key.name, 0)?;
        let (UnnamedConversation { session, cache }, input) = build_unnamed(server, &agent, &mut request);
        (session, input, None, Some(cache), memory)
    };
    let cached = leased.as_ref().and_then(|(_, cached)| cached.as_ref());
    let (mut turn, _) = setup.typed(input.as_deref().unwrap_or_default(), Some(&session));
    set_prefix(&mut turn.turn, server, &request, (&agent, is_stateless));
    let mut chat = setup.for_turns(None);
    fill_shape(&mut chat.shape, &mut request, setup.endpoint().dialect);
    chat.leaves_calls = true;
    let memory = cached.map(|cached| &cached.memory).or_else(|| cache.as_ref()?.turns.as_deref());
    let preview = Box::pin(preview_turn(&chat, Some(&session), memory, turn)).await;
    if let Some((Some(lease), cached)) = leased {
        put_back(lease, cached);
    }
    preview.map_err(ApiError::from)
}

/// Sets what keeps the prefix of the next request unchanged.
///
/// Without a mode in the agent file, requests are append-only. No conversation stores the insertions of an unnamed
/// request. Unless the agent file asks for `moving`, text that can change therefore follows the pending message.
fn set_prefix(
    turn: &mut TurnInput,
    server: &Server,
    request: &GatewayRequest,
    (agent, is_stateless): (&ServedAgent, bool),
) {
    turn.is_stateless = is_stateless;
    let prefix = agent.setup.agent.agent().prefix.as_deref();
    let is_moving = prefix == Some(PrefixMode::Moving.as_str());
    if prefix.is_none() || is_stateless && !is_moving {
        turn.prefix = Some(PrefixMode::AppendOnly);
    }
    // The engine checks the messages.
    let ClientRequest { tools, parameters, .. } = &request.body;
    let is_marked = |mark: Option<&Value>| mark.is_some_and(Value::is_object);
    let has_marks = is_marked(parameters.get("cache_control"))
        || tools.iter().any(|tool| is_marked(tool.get("cache_control")));
    if agent.setup.endpoint().dialect == Dialect::Anthropic && !has_marks {
        turn.cache_marks = server.cache_marks;
    }
}

/// Adds the client's parameters to the agent's. Returns the names of parameters that the provider's dialect does not
/// have.
fn fill_shape(shape: &mut RequestShape, request: &mut GatewayRequest, provider: Dialect) -> Vec<String> {
    if request.options.has_no_samplers(request.dialect, provider) {
        for name in ["temperature", "top_p", "top_k"] {
            shape.parameters.shift_remove(name);
        }
    }
    shape::fill(shape, &mut request.body, request.dialect, provider)
}

/// Finds the agent, which the key must be allowed to use, and the name of the conversation.
async fn authorize(
    server: &Arc<Server>,
    key: &KeyEntry,
    mut request: GatewayRequest,
) -> Result<(Arc<ServedAgent>, GatewayRequest, Option<ConversationName>), ApiError> {
    let agent = server.agents.get(&request.body.model).await?;
    key.check_agent(&agent.agent)?;
    let name = server.find_name(agent.setup.endpoint().dialect, &mut request)?;
    shape::convert(&mut request.body, request.dialect, &agent.setup, server.on_loss)?;
    if name.is_none() && (request.options.after.is_some() || request.options.revision.is_some()) {
        return Err(ApiError::malformed(phrase!(
            "`x-ctx-after` and `x-ctx-revision` require `x-ctx-conversation`"
        )));
    }
    let instructions =
        request.body.messages.iter().filter(|node| node.role.is_some_and(Role::is_instruction));
    if name.is_some() && instructions.count() > MAX_INSTRUCTIONS {
        return Err(ApiError::malformed(phrase!(
            "a named conversation can have at most {limit} system messages",
            limit = MAX_INSTRUCTIONS
        )));
    }
    Ok((agent, request, name))
}

impl CheckedRequest {
    /// Runs the turn in a task. It is stored even if the client does not read the response.
    fn spawn(self, guards: TurnGuards) -> TurnHandle {
        let (sender, chunks) = channel(CHUNK_BUFFER);
        let cancel = Cancel::default();
        let handle =
            TurnHandle { chunks, progress: self.progress.clone(), _cancel: CancelGuard(cancel.clone()) };
        tokio::spawn(async move {
            let ended = self.run(guards, &sender, &cancel).await;
            // A disconnected client ignores the end.
            drop(sender.send(StreamChunk::End(Box::new(ended))).await);
        });
        handle
    }

    /// Waits for the conversation, and runs the turn.
    async fn run(
        self,
        guards: TurnGuards,
        sender: &Sender<StreamChunk<ClientResponse>>,
        cancel: &Cancel,
    ) -> Result<ClientResponse, ApiError> {
        let (server, progress, since) = (self.server.clone(), self.progress.clone(), self.request.since);
        let stopped = || Err(ApiError::unavailable(phrase!("the turn was stopped")));
        let turn = tokio::select! {
            turn = Box::pin(self.into_turn()) => turn,
            () = cancel.cancelled() => stopped(),
            () = server.end.cancelled() => stopped(),
        };
        let ended = turn?.run(sender, cancel).await;
        let usage = ended.as_ref().map(|response| response.usage).unwrap_or_default();
        let error = ended.as_ref().err().map(ApiError::code);
        {
            let mut progress = lock(&progress);
            (progress.attributes.usage, progress.attributes.error) = (usage, error);
        }
        server.metrics.count_turn(usage, ended.is_err());
        guards.usage.add_tokens(usage.input.saturating_add(usage.output));
        tracing::info!(
            took = ?since.elapsed(),
            input = usage.input,
            output = usage.output,
            error,
            "a turn ended"
        );
        ended
    }

    /// Leases a named conversation, and stores its new messages.
    async fn into_turn(self) -> Result<Turn, ApiError> {
        let Self { server, key, agent, mut request, name, progress } = self;
        let (conversation, input, memory) = if let Some(name) = name {
            let (named, input, memory) = begin_named(&server, &key, &agent, &mut request, &name).await?;
            (TurnConversation::Named(Box::new(named)), input, memory)
        } else {
            let memory = server.bodies.reserve_conversation(&key.name, 0)?;
            let (unnamed, input) = build_unnamed(&server, &agent, &mut request);
            (TurnConversation::Unnamed(Box::new(unnamed)), input, memory)
        };
        Ok(Turn { server, agent, request, input, conversation, progress, _memory: memory })
    }
}

impl Turn {
    /// Runs the turn.
    async fn run(
        mut self,
        sender: &Sender<StreamChunk<ClientResponse>>,
        cancel: &Cancel,
    ) -> Result<ClientResponse, ApiError> {
        let agent = self.agent.clone();
        let streams = self.request.body.streams;
        let clients = if streams { &agent.streaming_clients } else { &agent.complete_clients };
        let provider = agent.setup.endpoint().dialect;
        let is_same_dialect = self.request.dialect == provider;
        // The gateway itself selects the format `alt` of Gemini's stream.
        let parameters = &mut self.request.options.parameters;
        parameters.retain(|(name, _)| is_same_dialect && name != "alt");
        let clients = clients.iter().map(|client| client.clone().with_parameters(parameters));
        let clients: Vec<Client> = clients.collect();
        let headers = self.request.options.headers_for(self.request.dialect, provider);
        let progress = self.progress.clone();
        let relay =
            ProviderRelay::new(&clients, streams.then_some(sender), is_same_dialect, headers, &progress);
        let session = self.conversation.session();
        let (mut request, found) =
            agent.setup.typed(self.input.as_deref().unwrap_or_default(), Some(session));
        let is_stateless = matches!(self.conversation, TurnConversation::Unnamed(_));
        set_prefix(&mut request.turn, &self.server, &self.request, (&agent, is_stateless));
        request.tags.run_id = self.request.tags().run_id;
        self.record_losses(&found);
        let mut chat = agent.setup.for_turns(None);
        let lost = fill_shape(&mut chat.shape, &mut self.request, provider);
        lock(&self.progress).lost.extend(lost);
        (chat.leaves_calls, chat.accepts_blank) = (true, is_same_dialect);
        chat.model = &relay;
        let ended = self.run_until_end(&chat, &relay, request, cancel).await;
        drop(chat);
        let (reply, provider_response, host) = relay.into_reply();
        lock(&self.progress).attributes.server = host;
        self.finish(ended, (reply, provider_response))
    }

    /// Runs the turn until its end, or until it is canceled.
    async fn run_until_end(
        &mut self,
        chat: &Chat<'_>,
        relay: &ProviderRelay<'_, ClientResponse>,
        mut request: TurnRequest,
        cancel: &Cancel,
    ) -> Result<TurnEnd, ApiError> {
        let Self { server, agent, conversation, progress, request: client_request, .. } = self;
        let (watched, previous) = (progress.clone(), conversation.sent());
        let mut watch = |event| match event {
            TurnEvent::Stored { id, role: Role::User } => lock(&watched).turn = Some(id),
            TurnEvent::Delta(delta) => relay.take_delta(delta),
            TurnEvent::Found(found) => record_losses(&watched, &[found]),
            TurnEvent::Sending { parts, tokens, .. } => {
                let took = client_request.since.elapsed();
                server.metrics.record_ready_time(took);
                let target = format!("{} {}", agent.setup.endpoint().base_url, agent.setup.model());
                let sent = SentRequest::new(target, parts, tokens);
                let mut progress = lock(&watched);
                progress.attributes.ready = Some(took);
                progress.shared_prefix = Some(sent.shared_prefix(previous.as_deref()));
                progress.sent = Some(Arc::new(sent));
            }
            _ => {}
        };
        match conversation {
            TurnConversation::Named(named) => {
                let NamedConversation { lease, cached, sent } = &mut **named;
                request.sent = sent.take();
                let log = ChatLog {
                    store: &*server.store,
                    conversation: &mut cached.conversation,
                    memory: Some(&cached.memory),
                    lease: Some(lease.store_lease()),
                };
                lock(progress).turn = Some(log.conversation.session().active_leaf_id().clone());
                let turn = run_turn(chat, Some(log), request, &mut watch, cancel);
                wait_for_end(&server.end, cancel, turn).await
            }
            TurnConversation::Unnamed(unnamed) => {
                let UnnamedConversation { session, cache } = &mut **unnamed;
                let session = std::mem::replace(session, Session::new("none"));
                let unstored = UnstoredConversation { session, memory: cache.turns.as_deref() };
                let turn = run_unstored_turn(chat, unstored, request, &mut watch, cancel);
                wait_for_end(&server.end, cancel, turn).await
            }
        }
    }

    /// Keeps the results of the turn, and builds the response.
    fn finish(
        self,
        ended: Result<TurnEnd, ApiError>,
        (reply, provider_response): (Option<Reply>, Option<ProviderResponse>),
    ) -> Result<ClientResponse, ApiError> {
        // After an error, the conversation in memory may be older than the stored one. The next turn loads it again.
        let mut end = ended?;
        let Self { server, request, mut conversation, progress, .. } = self;
        let is_answered = matches!(end.outcome, TurnOutcome::Answered);
        let (name, stored, turn, lost, shared_prefix) = {
            let mut progress = lock(&progress);
            if let TurnConversation::Named(named) = &conversation {
                progress.reply.clone_from(&end.answer);
                progress.revision = named.cached.conversation.revision();
            }
            if is_answered {
                conversation.set_sent(progress.sent.take());
            }
            let TurnProgress { conversation, stored, turn, lost, shared_prefix, .. } = &*progress;
            (conversation.clone(), stored.clone(), turn.clone(), lost.clone(), *shared_prefix)
        };
        if let Some(shared_prefix) = shared_prefix.filter(|_| is_answered) {
            server.metrics.count_shared_prefix(shared_prefix);
        }
        let error = match &end.outcome {
            TurnOutcome::Failed(failure) => Some(failure.to_string()),
            _ => None,
        };
        if let Some(turn) = turn {
            let report = TurnReport { report: end.report.take(), lost, shared_prefix, error };
            server.reports.insert((stored, turn), Arc::new(report));
        }
        let provider_id = provider_response.as_ref().and(reply.as_ref()).and_then(|reply| reply.id.clone());
        let response = build_response(&end, (reply, provider_response), request.dialect);
        match conversation {
            TurnConversation::Named(named) => {
                named.lease.put_back(named.cached);
                if let (Dialect::OpenaiResponses, Some(node)) = (request.dialect, end.answer) {
                    let id = provider_id.unwrap_or_else(|| format!("resp_{}", request.id));
                    server.responses.insert((request.owner, id), StoredResponse { conversation: name, node });
                }
            }
            TurnConversation::Unnamed(unnamed) if is_answered => unnamed.cache.store(&server.caches),
            TurnConversation::Unnamed(_) => {}
        }
        match end.outcome {
            _ if is_answered => Ok(response),
            TurnOutcome::Failed(failure) => Err(failure.into()),
            _ => Err(ApiError::unavailable(phrase!("the turn was stopped"))),
        }
    }

    fn record_losses(&self, diagnostics: &[Diagnostic]) {
        record_losses(&self.progress, diagnostics);
    }
}

/// Waits for the end of a turn. Cancels it when the gateway ends.
async fn wait_for_end(
    end: &Cancel,
    cancel: &Cancel,
    turn: impl Future<Output = Result<TurnEnd, TurnError>>,
) -> Result<TurnEnd, ApiError> {
    let mut turn = std::pin::pin!(turn);
    let ended = tokio::select! {
        ended = &mut turn => ended,
        () = end.cancelled() => {
            cancel.cancel();
            turn.await
        }
    };
    ended.map_err(|error| error.source.into())
}

/// Builds the response, with the tool call ids of the conversation.
fn build_response(
    end: &TurnEnd,
    (reply, provider_response): (Option<Reply>, Option<ProviderResponse>),
    dialect: Dialect,
) -> ClientResponse {
    let (reply, calls) = (reply.unwrap_or_default(), end.calls.clone());
    let ids = reply
        .tool_calls
        .iter()
        .zip(&calls)
        .map(|(decoded, stored)| CallIds { decoded: decoded.id.to_string(), stored: stored.id.to_string() });
    let ids: Vec<CallIds> = ids.collect();
    ClientResponse {
        provider_json: provider_response.and_then(|response| response.into_body(ids, dialect)),
        text: reply.text.to_string(),
        reasoning: reply.reasoning,
        calls,
        finish: reply.finish,
        usage: end.provider_usage,
    }
}

/// Records the parts that were not sent to the provider. Logs all diagnostics.
fn record_losses(progress: &Mutex<TurnProgress>, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let place = diagnostic.location.pointer.as_deref().unwrap_or_default();
        tracing::debug!(code = %diagnostic.code, place, "a finding");
        let is_hint = match diagnostic.code {
            // An info names fields that the model does not read, or marks that have no effect.
            codes::BLOCK_FIELDS | codes::CACHE_MARK => diagnostic.severity == Severity::Info,
            codes::PART_NOT_ACCEPTED => lock(progress).sends_all_parts,
            _ => false,
        };
        if LOSSES.contains(&diagnostic.code) && !is_hint {
            tracing::info!(code = %diagnostic.code, place, "the API dialect of the provider does not support everything in the request");
            let (mut progress, text) =
                (lock(progress), format!("{} {}", diagnostic.code, diagnostic.message));
            if progress.diagnosed.insert(text.clone()) {
                progress.lost.push(text);
            }
        }
    }
}
