//! One request becomes one turn of a conversation, as `ctx chat` carries turns out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::HeaderMap;
use ctx_chat::{
    Chat, ChatLog, Client, RequestShape, TurnEnd, TurnError, TurnEvent, TurnOutcome, TurnPreview, TurnRequest,
    UnstoredConversation, preview_turn, run_turn, run_unstored_turn,
};
use ctx_pipeline::Cancel;
use ctx_types::report::Report;
use ctx_types::session::{NodeId, Session};
use ctx_types::{Diagnostic, Role, Severity, phrase};
use ctx_wire::{Dialect, Reply, codes};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::agents::Compiled;
use crate::alignment::sent_session;
use crate::call::{Wishes, stored_id};
use crate::conversation_name::{ConversationName, StoredResponse};
use crate::dialect::{Answer, Asked};
use crate::figures::Lasting;
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::limits::Metered;
use crate::memory::ReservedMemory;
use crate::refusal::Refusal;
use crate::rooms::Kept;
use crate::shape;
use crate::spans::Observed;
use crate::turn_conversation::{
    NamedConversation, TurnConversation, UnnamedConversation, aligned, begin_named, enter, grow, leave,
    unnamed,
};
use crate::upstream::{OwnAnswer, Piece, Upstream};

/// How many pieces of an answer wait for a slow client.
const PIECES: usize = 16;

/// Findings that say that something was not sent.
const LOSSES: [ctx_types::Code; 9] = [
    codes::BLOCK_FIELDS,
    codes::PART_NOT_ACCEPTED,
    codes::PARAMETER_NOT_SENT,
    codes::RESERVED_PARAMETER,
    codes::NAME_NOT_SENT,
    codes::REASONING_NOT_SENT,
    codes::ATTACHMENT_NOT_SENT,
    codes::CALLS_NOT_SENT,
    codes::BLANK_NOT_SENT,
];

/// A request of a client.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) dialect: Dialect,
    pub(crate) owner: String,
    /// Id of the response, without the prefix of the dialect.
    pub(crate) id: String,
    pub(crate) asked: Asked,
    pub(crate) wishes: Wishes,
    pub(crate) since: Instant,
    /// Memory of the turn, reserved until its end.
    pub(crate) _memory: ReservedMemory,
}

/// A turn that is under way; it is stopped when this is dropped before its end.
#[derive(Debug)]
pub(crate) struct Going {
    pub(crate) pieces: Receiver<Piece<Answer>>,
    pub(crate) told: Arc<Mutex<Told>>,
    _stop: Stop,
}

/// What is known of a turn while it goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The conversation, as its key calls it. Empty without a name.
    pub(crate) conversation: String,
    /// The id under which it is stored.
    pub(crate) stored: String,
    /// The user's message, or the id of the response to an unnamed request.
    pub(crate) turn: Option<NodeId>,
    /// The message with the answer.
    pub(crate) answer: Option<NodeId>,
    pub(crate) revision: u64,
    /// What could not be said to the provider.
    pub(crate) lost: Vec<String>,
    pub(crate) observed: Observed,
    /// Headers of the last response of a provider that are returned to the client.
    pub(crate) provider_headers: HeaderMap,
}

/// The explanation of a turn.
#[derive(Debug)]
pub(crate) struct TurnReport {
    /// The report of its context, if there is one.
    pub(crate) report: Option<Box<Report>>,
    /// The error of a failed turn.
    pub(crate) error: Option<String>,
}

/// Stops a turn when the client is gone.
struct Stop(Cancel);

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A turn with its data.
struct Turn {
    server: Arc<Server>,
    agent: Arc<Compiled>,
    request: Request,
    input: Option<String>,
    conversation: TurnConversation,
    told: Arc<Mutex<Told>>,
    /// Memory of the stored conversation, reserved until the end.
    _memory: ReservedMemory,
}

/// Begins a turn. New messages of a named conversation are stored when this returns.
pub(crate) async fn begin(server: &Arc<Server>, key: &KeyEntry, request: Request) -> Result<Going, Refusal> {
    let metered = server.meters.begin(key)?;
    let lasting = Lasting::new(server.clone(), |figures| &figures.open_turns);
    let (agent, mut request, name) = admitted(server, key, request).await?;
    let observed = Observed { agent: Some(agent.agent.clone()), ..Observed::default() };
    let mut told = Told { stored: stored_id(&request.owner, ""), observed, ..Told::default() };
    let (conversation, input, memory) = if let Some(name) = name {
        let (named, input, memory) = begin_named(server, key, &agent, &mut request, &name).await?;
        (told.conversation, told.stored) = (name.name, named.visit.id().to_owned());
        (TurnConversation::Named(Box::new(named)), input, memory)
    } else {
        told.turn = Some(request.id.as_str().into());
        let memory = server.bodies.reserve_conversation(&key.name, 0)?;
        let (unnamed, input) = unnamed(server, &agent, &mut request);
        (TurnConversation::Unnamed(Box::new(unnamed)), input, memory)
    };
    let turn = Turn {
        server: server.clone(),
        agent,
        request,
        input,
        conversation,
        told: Arc::default(),
        _memory: memory,
    };
    *lock(&turn.told) = told;
    Ok(turn.spawn((metered, lasting)))
}

/// Returns the request that a turn would send to the provider.
pub(crate) async fn dry_run(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: Request,
) -> Result<TurnPreview, Refusal> {
    let _metered = server.meters.begin(key)?;
    let (agent, mut request, name) = admitted(server, key, request).await?;
    let (setup, is_stateless) = (&agent.setup, name.is_none());
    let (session, input, found, cache) = if let Some(name) = name {
        let (visit, kept) = enter(server, &request, &name).await?;
        let stored = kept.as_ref().map(|kept| kept.conversation.session());
        let (mut messages, input, after) = aligned(stored, &mut request, &name);
        let mut session = stored.cloned().unwrap_or_else(|| Session::new("preview"));
        grow(&mut session, after.as_ref(), &mut messages)?;
        let is_own = request.dialect == setup.endpoint().dialect;
        let session = sent_session(&session, &messages, is_own)?.unwrap_or(session);
        (session, input, Some((visit, kept)), None)
    } else {
        let (UnnamedConversation { session, cache }, input) = unnamed(server, &agent, &mut request);
        (session, input, None, cache)
    };
    let kept = found.as_ref().and_then(|(_, kept)| kept.as_ref());
    let _memory = server.bodies.reserve_conversation(&key.name, kept.map_or(0, Kept::bytes))?;
    let mut chat = setup.for_turns(None);
    fill_shape(&mut chat.shape, &mut request, setup.endpoint().dialect);
    chat.leaves_calls = true;
    let (mut turn, _) = setup.typed(input.as_deref().unwrap_or_default(), Some(&session));
    turn.turn.is_stateless = is_stateless;
    let memory = kept.map(|kept| &kept.memory).or_else(|| cache.as_ref().map(|found| &*found.cache));
    let preview = Box::pin(preview_turn(&chat, Some(&session), memory, turn)).await;
    if let Some((visit, kept)) = found {
        leave(visit, kept);
    }
    if let Some(cache) = cache {
        cache.keep(&server.caches);
    }
    preview.map_err(Refusal::from)
}

/// Adds the client's parameters to the agent's. Returns the names of parameters that the provider's dialect does not
/// have.
fn fill_shape(shape: &mut RequestShape, request: &mut Request, provider: Dialect) -> Vec<String> {
    if request.wishes.has_no_samplers(provider) {
        for name in ["temperature", "top_p", "top_k"] {
            shape.parameters.shift_remove(name);
        }
    }
    shape::fill(shape, &mut request.asked, request.dialect, provider)
}

/// Finds the agent, which the key must be allowed to use, and the name of the conversation.
async fn admitted(
    server: &Arc<Server>,
    key: &KeyEntry,
    mut request: Request,
) -> Result<(Arc<Compiled>, Request, Option<ConversationName>), Refusal> {
    let agent = server.agents.get(&request.asked.model).await?;
    key.check_agent(&agent.agent)?;
    let name = server.find_name(agent.setup.endpoint().dialect, &mut request)?;
    shape::convert(&mut request.asked, request.dialect, &agent.setup, server.on_loss)?;
    if name.is_none() && (request.wishes.after.is_some() || request.wishes.revision.is_some()) {
        return Err(Refusal::malformed(phrase!(
            "`x-ctx-after` and `x-ctx-revision` require `x-ctx-conversation`"
        )));
    }
    Ok((agent, request, name))
}

impl Turn {
    /// Runs the turn in a task: what is stored does not depend on whether the client reads the response.
    fn spawn(self, counted: (Metered, Lasting)) -> Going {
        let (sender, pieces) = channel(PIECES);
        let (cancel, told) = (Cancel::default(), self.told.clone());
        let (stop, heard) = (Stop(cancel.clone()), told.clone());
        tokio::spawn(async move {
            let (server, since) = (self.server.clone(), self.request.since);
            let ended = self.run(&sender, &cancel).await;
            let usage = ended.as_ref().map(|answer| answer.usage).unwrap_or_default();
            let error = ended.as_ref().err().map(Refusal::code);
            {
                let mut told = lock(&told);
                (told.observed.usage, told.observed.error) = (usage, error);
            }
            server.figures.ended(usage, ended.is_err());
            counted.0.used(usage.input.saturating_add(usage.output));
            tracing::info!(
                took = ?since.elapsed(),
                input = usage.input,
                output = usage.output,
                error,
                "a turn ended"
            );
            drop(counted);
            // A disconnected client ignores the end.
            drop(sender.send(Piece::End(Box::new(ended))).await);
        });
        Going { pieces, told: heard, _stop: stop }
    }

    /// Runs the turn.
    async fn run(mut self, sender: &Sender<Piece<Answer>>, cancel: &Cancel) -> Result<Answer, Refusal> {
        let agent = self.agent.clone();
        let pieces = self.request.asked.streams;
        let clients = if pieces { &agent.pieces } else { &agent.whole };
        let provider = agent.setup.endpoint().dialect;
        let is_own = self.request.dialect == provider;
        // The gateway itself selects the format `alt` of Gemini's stream.
        let parameters = &mut self.request.wishes.parameters;
        parameters.retain(|(name, _)| is_own && name != "alt");
        let clients = clients.iter().map(|client| client.clone().with_parameters(parameters));
        let clients: Vec<Client> = clients.collect();
        let headers = self.request.wishes.headers_for(self.request.dialect, provider);
        let told = self.told.clone();
        let upstream = Upstream::new(&clients, pieces.then_some(sender), is_own, headers, &told);
        let session = self.conversation.session();
        let (mut request, found) =
            agent.setup.typed(self.input.as_deref().unwrap_or_default(), Some(session));
        request.turn.is_stateless = matches!(self.conversation, TurnConversation::Unnamed(_));
        request.tags.run_id = self.request.tags().run_id;
        self.lose(&found);
        let mut chat = agent.setup.for_turns(None);
        let lost = fill_shape(&mut chat.shape, &mut self.request, provider);
        lock(&self.told).lost.extend(lost);
        (chat.leaves_calls, chat.accepts_blank) = (true, is_own);
        chat.model = &upstream;
        let ended = self.carry_out(&chat, &upstream, request, cancel).await;
        drop(chat);
        let (reply, own, host) = upstream.into_reply();
        lock(&self.told).observed.server = host;
        self.settle(ended, (reply, own))
    }

    /// Runs the turn until its end, or until it is canceled.
    async fn carry_out(
        &mut self,
        chat: &Chat<'_>,
        upstream: &Upstream<'_, Answer>,
        mut request: TurnRequest,
        cancel: &Cancel,
    ) -> Result<TurnEnd, Refusal> {
        let Self { server, conversation, told, request: asked, .. } = self;
        let watched = told.clone();
        let mut watch = |event| match event {
            TurnEvent::Stored { id, role: Role::User } => lock(&watched).turn = Some(id),
            TurnEvent::Delta(delta) => upstream.take(delta),
            TurnEvent::Found(found) => lose(&watched, &[found]),
            TurnEvent::Sending { round: 1, .. } => {
                let took = asked.since.elapsed();
                server.figures.ready_after(took);
                lock(&watched).observed.ready = Some(took);
            }
            _ => {}
        };
        match conversation {
            TurnConversation::Named(named) => {
                let NamedConversation { visit, kept, sent } = &mut **named;
                request.sent = sent.take();
                let log = ChatLog {
                    store: &*server.store,
                    conversation: &mut kept.conversation,
                    memory: Some(&kept.memory),
                    lease: Some(visit.hold()),
                };
                lock(told).turn = Some(log.conversation.session().active_leaf_id().clone());
                let turn = run_turn(chat, Some(log), request, &mut watch, cancel);
                until_end(&server.end, cancel, turn).await
            }
            TurnConversation::Unnamed(unnamed) => {
                let UnnamedConversation { session, cache } = &mut **unnamed;
                let session = std::mem::replace(session, Session::new("none"));
                let memory = cache.as_ref().map(|found| &*found.cache);
                let unstored = UnstoredConversation { session, memory };
                let turn = run_unstored_turn(chat, unstored, request, &mut watch, cancel);
                until_end(&server.end, cancel, turn).await
            }
        }
    }

    /// Keeps the results of the turn, and builds the response.
    fn settle(
        self,
        ended: Result<TurnEnd, Refusal>,
        (reply, own): (Option<Reply>, Option<OwnAnswer>),
    ) -> Result<Answer, Refusal> {
        // After an error, the conversation in memory may be older than the stored one. The next turn loads it again.
        let mut end = ended?;
        let Self { server, request, conversation, told, .. } = self;
        let (name, stored, turn) = {
            let mut told = lock(&told);
            if let TurnConversation::Named(named) = &conversation {
                told.answer.clone_from(&end.answer);
                told.revision = named.kept.conversation.revision();
            }
            (told.conversation.clone(), told.stored.clone(), told.turn.clone())
        };
        let error = match &end.outcome {
            TurnOutcome::Failed(failure) => Some(failure.to_string()),
            _ => None,
        };
        if let Some(turn) = turn {
            server.reports.keep((stored, turn), Arc::new(TurnReport { report: end.report.take(), error }));
        }
        let provider_id = own.as_ref().and(reply.as_ref()).and_then(|reply| reply.id.clone());
        let answer = answer_of(&end, (reply, own), request.dialect);
        let is_answered = matches!(end.outcome, TurnOutcome::Answered);
        match conversation {
            TurnConversation::Named(named) => {
                named.visit.leave(named.kept);
                if let (Dialect::OpenaiResponses, Some(node)) = (request.dialect, end.answer) {
                    let id = provider_id.unwrap_or_else(|| format!("resp_{}", request.id));
                    server.responses.keep((request.owner, id), StoredResponse { conversation: name, node });
                }
            }
            TurnConversation::Unnamed(unnamed) => {
                if let Some(cache) = unnamed.cache {
                    cache.keep(&server.caches);
                }
            }
        }
        match end.outcome {
            _ if is_answered => Ok(answer),
            TurnOutcome::Failed(failure) => Err(failure.into()),
            _ => Err(Refusal::unavailable(phrase!("the turn was stopped"))),
        }
    }

    fn lose(&self, found: &[Diagnostic]) {
        lose(&self.told, found);
    }
}

/// Waits for the end of a turn. Cancels it when the gateway ends.
async fn until_end(
    end: &Cancel,
    cancel: &Cancel,
    turn: impl Future<Output = Result<TurnEnd, TurnError>>,
) -> Result<TurnEnd, Refusal> {
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

/// Makes the answer, with the tool call ids of the conversation.
fn answer_of(end: &TurnEnd, (reply, own): (Option<Reply>, Option<OwnAnswer>), dialect: Dialect) -> Answer {
    let (reply, calls) = (reply.unwrap_or_default(), end.calls.clone());
    let ids =
        reply.tool_calls.iter().zip(&calls).map(|(own, stored)| (own.id.to_string(), stored.id.to_string()));
    let ids: Vec<(String, String)> = ids.collect();
    Answer {
        own: own.and_then(|own| own.into_whole(ids, dialect)),
        text: reply.text.to_string(),
        reasoning: reply.reasoning,
        calls,
        finish: reply.finish,
        usage: end.provider_usage,
    }
}

/// Notes what could not be said to the provider, and tells the log of everything.
fn lose(told: &Mutex<Told>, found: &[Diagnostic]) {
    for finding in found {
        let place = finding.location.pointer.as_deref().unwrap_or_default();
        tracing::debug!(code = %finding.code, place, "a finding");
        // An info about fields names those that the model does not read. A path into the body, such as `/messages/1`,
        // names a part that was sent.
        let is_sent = !place.trim_start_matches('/').starts_with(|first: char| first.is_ascii_digit());
        let is_hint = match finding.code {
            codes::BLOCK_FIELDS => finding.severity == Severity::Info,
            codes::PART_NOT_ACCEPTED => is_sent,
            _ => false,
        };
        if LOSSES.contains(&finding.code) && !is_hint {
            tracing::info!(code = %finding.code, place, "the API dialect of the provider does not support everything in the request");
            let (mut told, text) = (lock(told), format!("{} {}", finding.code, finding.message));
            if !told.lost.contains(&text) {
                told.lost.push(text);
            }
        }
    }
}

pub(crate) fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}
