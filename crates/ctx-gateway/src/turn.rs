//! One request becomes one turn of a conversation, as `ctx chat` carries turns out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::HeaderMap;
use ctx_chat::{
    Chat, ChatLog, Client, Conversation, RequestShape, TurnEnd, TurnEvent, TurnOutcome, TurnPreview,
    TurnRequest, preview_turn, run_turn,
};
use ctx_pipeline::Cancel;
use ctx_project::chat::now;
use ctx_types::session::{Node, NodeId, Session, SessionOp};
use ctx_types::{Content, Diagnostic, Role, Severity, phrase};
use ctx_wire::{Dialect, Reply, codes};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::agents::Compiled;
use crate::beginnings::{self, Beginning, REACH, Running};
use crate::call::{Wishes, conversation, stored_id};
use crate::dialect::{Answer, Asked};
use crate::figures::Lasting;
use crate::gateway::Server;
use crate::keys::{KeyEntry, random_name};
use crate::limits::Metered;
use crate::memory::ReservedMemory;
use crate::refusal::Refusal;
use crate::rooms::{Kept, Visit};
use crate::shape;
use crate::spans::Observed;
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
    /// The conversation, as its key calls it.
    pub(crate) conversation: String,
    /// The id under which it is stored.
    pub(crate) stored: String,
    /// The message that is answered.
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

/// Where a request goes on.
struct Start {
    visit: Visit,
    kept: Option<Kept>,
    /// How many of its messages are stored already.
    known: usize,
    after: Option<NodeId>,
    hashes: Vec<Option<Beginning>>,
    running: Running,
}

/// Begins a turn: what is new is stored when this returns.
pub(crate) async fn begin(server: &Arc<Server>, key: &KeyEntry, request: Request) -> Result<Going, Refusal> {
    let metered = server.meters.begin(key)?;
    let lasting = Lasting::new(server.clone(), |figures| &figures.open_turns);
    let (agent, mut request) = admitted(server, key, request).await?;
    let mut start = find(server, &agent, &mut request).await?;
    let stored = start.kept.as_ref().map_or(0, Kept::bytes);
    let memory = server.bodies.reserve_conversation(&key.name, stored)?;
    let told = Told {
        conversation: start.visit.id().split_once('/').map_or("", |(_, name)| name).to_owned(),
        stored: start.visit.id().to_owned(),
        observed: Observed { agent: Some(agent.agent.clone()), ..Observed::default() },
        ..Told::default()
    };
    let mut messages = std::mem::take(&mut request.asked.messages).split_off(start.known);
    let input = typed(&mut messages);
    let kept = start.kept.take();
    let may_begin = if kept.is_none() { one_more(server, key).await? } else { None };
    let (kept, places) = store(server, &start, kept, messages).await?;
    drop(may_begin);
    let going = Turn {
        server: server.clone(),
        agent,
        request,
        input,
        start,
        kept,
        places,
        told: Arc::default(),
        _memory: memory,
    };
    *lock(&going.told) = told;
    Ok(going.spawn((metered, lasting)))
}

/// Refuses one conversation more than a key may have. Until the visit ends, no other one of the key is begun, in any
/// process: it is that of a conversation which nobody can name.
async fn one_more(server: &Server, key: &KeyEntry) -> Result<Option<Visit>, Refusal> {
    let Some(limit) = key.limits.conversations else { return Ok(None) };
    let all = stored_id(&key.name, "");
    let visit = server.rooms.enter(&*server.store, &all).await?;
    if server.store.count(&all).await? < limit {
        Ok(Some(visit))
    } else {
        Err(Refusal::forbidden(phrase!(
            "this client key reached its limit of {limit} conversations; continue an existing one",
            limit
        )))
    }
}

/// Returns the request that a turn would send to the provider.
pub(crate) async fn dry_run(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: Request,
) -> Result<TurnPreview, Refusal> {
    let _metered = server.meters.begin(key)?;
    let (agent, mut request) = admitted(server, key, request).await?;
    let mut start = find(server, &agent, &mut request).await?;
    let stored = start.kept.as_ref().map_or(0, Kept::bytes);
    let _memory = server.bodies.reserve_conversation(&key.name, stored)?;
    let mut messages = std::mem::take(&mut request.asked.messages).split_off(start.known);
    let input = typed(&mut messages);
    let (setup, kept) = (&agent.setup, start.kept.take());
    let mut session =
        kept.as_ref().map_or_else(|| Session::new("preview"), |kept| kept.conversation.session().clone());
    grow(&mut session, start.after.as_ref(), messages)?;
    let mut chat = setup.for_turns(None);
    fill_shape(&mut chat.shape, &mut request, setup.endpoint().dialect);
    chat.leaves_calls = true;
    let conversation = kept.as_ref().map(|kept| &kept.conversation);
    let (mut turn, _) = setup.typed(input.as_deref().unwrap_or_default(), conversation);
    turn.turn.is_stateless = request.wishes.conversation.is_none();
    let preview = preview_turn(&chat, Some(&session), kept.as_ref().map(|kept| &kept.memory), turn).await;
    leave(start.visit, kept);
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

/// Leaves a conversation as it was found.
fn leave(visit: Visit, kept: Option<Kept>) {
    if let Some(kept) = kept {
        visit.leave(kept);
    }
}

/// Finds the agent, which the key must be allowed to use.
async fn admitted(
    server: &Arc<Server>,
    key: &KeyEntry,
    mut request: Request,
) -> Result<(Arc<Compiled>, Request), Refusal> {
    let agent = server.agents.get(&request.asked.model).await?;
    key.check_agent(&agent.agent)?;
    shape::convert(&mut request.asked, request.dialect, &agent.setup, server.on_loss)?;
    let named = request.asked.conversation.take().map(|name| conversation(&name)).transpose()?;
    request.wishes.conversation = request.wishes.conversation.or(named);
    Ok((agent, request))
}

/// Finds the conversation that a request goes on with, and waits for its turn.
async fn find(server: &Server, agent: &Compiled, request: &mut Request) -> Result<Start, Refusal> {
    let mut running = Running::new(&request.owner, &agent.agent);
    if let Some(name) = &request.wishes.conversation {
        let mut visit = server.rooms.enter(&*server.store, &stored_id(&request.owner, name)).await?;
        let kept = visit.load(&server.store).await?;
        let (known, revision) = (0, kept.as_ref().map_or(0, |kept| kept.conversation.revision()));
        if let Some(seen) = request.wishes.revision.filter(|seen| *seen != revision) {
            leave(visit, kept);
            return Err(Refusal::conflict(phrase!(
                "the conversation is at revision {revision}, not {seen}",
                revision,
                seen
            )));
        }
        let after = request.wishes.after.as_deref().map(NodeId::from);
        return Ok(Start { visit, kept, known, after, hashes: Vec::new(), running });
    }
    if request.wishes.after.is_some() || request.wishes.revision.is_some() {
        return Err(Refusal::malformed(phrase!(
            "`x-ctx-after` and `x-ctx-revision` require `x-ctx-conversation`"
        )));
    }
    let hashes = running.extend(&request.asked.messages);
    if let Some((known, place)) = beginnings::find(server, &hashes, &request.asked.messages).await?
        && let Some(mut visit) = server.rooms.try_enter(&*server.store, &place.conversation).await?
    {
        let kept = visit.load(&server.store).await?;
        if kept.as_ref().is_some_and(|kept| kept.conversation.session().node(&place.node).is_some()) {
            return Ok(Start { visit, kept, known, after: Some(place.node), hashes, running });
        }
        leave(visit, kept);
    }
    // Nobody has it, or somebody is at it: then it is another conversation.
    let new = stored_id(&request.owner, &format!("auto-{}", random_name()?));
    let visit = server.rooms.enter(&*server.store, &new).await?;
    Ok(Start { visit, kept: None, known: 0, after: None, hashes, running })
}

/// Takes what the user types out of the messages, if the last one is that.
fn typed(messages: &mut Vec<Node>) -> Option<String> {
    let is_plain = |node: &Node| {
        let text = node.content.as_ref().filter(|content| matches!(content, Content::Text(_)));
        let has_more = node.metadata.is_some() || node.kept.get("providerFields").is_some();
        node.role == Some(Role::User)
            && node.name.is_none()
            && !has_more
            && text.is_some_and(|text| !text.is_blank())
    };
    messages.pop_if(|last| is_plain(last))?.content.map(|content| content.text().into_owned())
}

/// Stores messages behind the one where the request goes on; returns where each of the request's messages is.
async fn store(
    server: &Server,
    start: &Start,
    kept: Option<Kept>,
    messages: Vec<Node>,
) -> Result<(Kept, Vec<(usize, NodeId)>), Refusal> {
    let (store, at) = (&*server.store, Some(now()));
    let Some(mut kept) = kept else {
        if start.after.is_some() && start.hashes.is_empty() {
            return Err(Refusal::no_conversation(start.visit.id()));
        }
        let mut session = Session::new(start.visit.id());
        let ids = grow(&mut session, None, messages)?;
        let conversation = Conversation::import(store, start.visit.id(), session, at).await?;
        return Ok((Kept::new(conversation), (start.known..).zip(ids).collect()));
    };
    if let Some(after) =
        start.after.as_ref().filter(|after| *after != kept.conversation.session().active_leaf_id())
    {
        let op = SessionOp::ActivateLeaf { id: after.clone() };
        kept.conversation.apply(store, "switch branches", op, at).await?;
    }
    let mut places = Vec::new();
    for (index, message) in (start.known..).zip(messages) {
        places.push((index, kept.conversation.append(store, message, at).await?));
    }
    Ok((kept, places))
}

/// Adds messages to a conversation in memory.
pub(crate) fn grow(
    session: &mut Session,
    after: Option<&NodeId>,
    messages: Vec<Node>,
) -> Result<Vec<NodeId>, Refusal> {
    let fault = |error: ctx_types::session::SessionError| Refusal::malformed(error.phrase());
    if let Some(id) = after {
        session.apply(&SessionOp::ActivateLeaf { id: id.clone() }).map_err(fault)?;
    }
    let (mut ids, mut next) = (Vec::new(), session.nodes().count());
    for node in messages {
        let names = (next..).map(|number| (number, NodeId::from(format!("n{number}"))));
        let free = names.into_iter().find(|(_, id)| session.node(id).is_none());
        let (number, id) = free.unwrap_or_default();
        next = number + 1;
        let parent = session.active_leaf_id().clone();
        session
            .apply(&SessionOp::Append { parent, node: Box::new(node.with_id(id.clone())) })
            .map_err(fault)?;
        ids.push(id);
    }
    Ok(ids)
}

/// A turn, ready to be carried out.
struct Turn {
    server: Arc<Server>,
    agent: Arc<Compiled>,
    request: Request,
    input: Option<String>,
    start: Start,
    kept: Kept,
    /// Where messages of the request are stored, by their index.
    places: Vec<(usize, NodeId)>,
    told: Arc<Mutex<Told>>,
    /// Memory of the stored conversation, reserved until the end.
    _memory: ReservedMemory,
}

impl Turn {
    /// Carries the turn out on its own: what is stored does not depend on whether anybody listens.
    fn spawn(self, counted: (Metered, Lasting)) -> Going {
        let (sender, pieces) = channel(PIECES);
        let (cancel, told) = (Cancel::default(), self.told.clone());
        let (stop, heard) = (Stop(cancel.clone()), told.clone());
        tokio::spawn(async move {
            let (server, since, id) =
                (self.server.clone(), self.request.since, self.start.visit.id().to_owned());
            let mut marks = Vec::new();
            let ended = self.run(&sender, &cancel, &mut marks).await;
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
            let _marking = Lasting::new(server.clone(), |figures| &figures.open_marks);
            drop(counted);
            let end = sender.send(Piece::End(Box::new(ended)));
            // Whoever left has no use for the end; nobody waits for the marks.
            drop(tokio::join!(end, beginnings::mark(&server, &id, marks)));
        });
        Going { pieces, told: heard, _stop: stop }
    }

    /// Carries the turn out; `marks` gets the places by which it is found again.
    async fn run(
        mut self,
        sender: &Sender<Piece<Answer>>,
        cancel: &Cancel,
        marks: &mut Vec<(Beginning, NodeId)>,
    ) -> Result<Answer, Refusal> {
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
        let (mut request, found) =
            agent.setup.typed(self.input.as_deref().unwrap_or_default(), Some(&self.kept.conversation));
        request.turn.is_stateless = self.request.wishes.conversation.is_none();
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
        self.settle(ended, (reply, own), marks)
    }

    /// Carries the turn out; it is stopped by whoever stops it, and when the gateway ends.
    async fn carry_out(
        &mut self,
        chat: &Chat<'_>,
        upstream: &Upstream<'_, Answer>,
        request: TurnRequest,
        cancel: &Cancel,
    ) -> Result<TurnEnd, Refusal> {
        let Self { server, start, kept, told, request: asked, .. } = self;
        let log = ChatLog {
            store: &*server.store,
            conversation: &mut kept.conversation,
            memory: Some(&kept.memory),
            lease: Some(start.visit.hold()),
        };
        lock(told).turn = Some(log.conversation.session().active_leaf_id().clone());
        let mut watch = |event| match event {
            TurnEvent::Stored { id, role: Role::User } => lock(told).turn = Some(id),
            TurnEvent::Delta(delta) => upstream.take(delta),
            TurnEvent::Found(found) => lose(told, &[found]),
            TurnEvent::Sending { round: 1, .. } => {
                let took = asked.since.elapsed();
                server.figures.ready_after(took);
                lock(told).observed.ready = Some(took);
            }
            _ => {}
        };
        let mut turn = std::pin::pin!(run_turn(chat, Some(log), request, &mut watch, cancel));
        let ended = tokio::select! {
            ended = &mut turn => ended,
            () = server.end.cancelled() => {
                cancel.cancel();
                turn.await
            }
        };
        ended.map_err(|error| error.source.into())
    }

    /// Keeps what came of the turn, and makes the answer of it.
    fn settle(
        mut self,
        ended: Result<TurnEnd, Refusal>,
        reply: (Option<Reply>, Option<OwnAnswer>),
        marks: &mut Vec<(Beginning, NodeId)>,
    ) -> Result<Answer, Refusal> {
        // After an error the conversation in memory may be behind the store: it is loaded anew.
        let mut end = ended?;
        let turn = {
            let mut told = lock(&self.told);
            told.answer.clone_from(&end.answer);
            told.revision = self.kept.conversation.revision();
            told.turn.clone()
        };
        if let (Some(report), Some(turn)) = (end.report.take(), &turn) {
            let id = self.start.visit.id().to_owned();
            self.server.reports.keep((id, turn.clone()), report.into());
        }
        let node = end.answer.as_ref().and_then(|id| self.kept.conversation.session().node(id)).cloned();
        let answer = answer_of(&end, node.as_ref(), reply, self.request.dialect);
        if self.request.wishes.conversation.is_none() {
            let answered = node.filter(|_| matches!(end.outcome, TurnOutcome::Answered));
            *marks = self.marks(turn, end.answer.zip(answered));
            beginnings::remember(&self.server, self.start.visit.id(), marks);
        }
        self.start.visit.leave(self.kept);
        match end.outcome {
            TurnOutcome::Answered => Ok(answer),
            TurnOutcome::Failed(failure) => Err(failure.into()),
            _ => Err(Refusal::unavailable(phrase!("the turn was stopped"))),
        }
    }

    /// Returns the places by which a request that goes on from here finds the conversation: those of the messages that
    /// are new, the oldest first, that of what was answered, and that of the answer.
    fn marks(&mut self, turn: Option<NodeId>, answer: Option<(NodeId, Node)>) -> Vec<(Beginning, NodeId)> {
        let (start, places) = (&mut self.start, std::mem::take(&mut self.places));
        let new = places.len().saturating_sub(REACH);
        let last = turn.map(|turn| (start.hashes.len().saturating_sub(1), turn));
        let places = places.into_iter().skip(new).chain(last);
        let hashed = |(index, node): (usize, NodeId)| Some((start.hashes.get(index).copied()??, node));
        let mut marks: Vec<_> = places.filter_map(hashed).collect();
        if let Some((id, node)) = answer {
            start.running.push(&node);
            marks.extend(start.running.beginning().map(|hash| (hash, id)));
        }
        marks
    }

    fn lose(&self, found: &[Diagnostic]) {
        lose(&self.told, found);
    }
}

/// Makes the answer of what is stored, so that the client has the ids that the conversation has.
fn answer_of(
    end: &TurnEnd,
    node: Option<&Node>,
    (reply, own): (Option<Reply>, Option<OwnAnswer>),
    dialect: Dialect,
) -> Answer {
    let reply = reply.unwrap_or_default();
    let stored = node.map(|node| node.to_message(&node.id.clone().unwrap_or_default()));
    let calls = stored.map(|message| message.tool_calls.clone()).unwrap_or_default();
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
