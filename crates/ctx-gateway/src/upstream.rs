//! The provider behind a turn: its answer is handed on piece by piece, and no faster than the client takes it.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use ctx_chat::{AskFailure, ChatModel, Client, ClientError, Delta, Progress, Reply, Watch};
use ctx_pipeline::Cancel;
use ctx_wire::{Dialect, FailureKind};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// How long a client may take for one piece of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What comes of a turn, for whoever answers the client.
#[derive(Debug)]
pub(crate) enum Piece<A> {
    /// A piece of the answer.
    Delta(Delta),
    /// An event of the provider, for a client of the same dialect: its JSON.
    Event(String),
    /// The turn is over.
    End(Box<Result<A, Refusal>>),
}

/// Asks a provider, and hands on what it says.
pub(crate) struct Upstream<'a, A> {
    /// The endpoint, and what stands in for it; there is always one.
    clients: &'a [Client],
    /// Where pieces go; nowhere if the answer is to come whole.
    pieces: Option<&'a Sender<Piece<A>>>,
    /// The provider's own answer, if the client gets it as it is.
    own: Option<Mutex<OwnAnswer>>,
    /// Pieces that have come and were not handed on yet.
    waiting: Mutex<VecDeque<Piece<A>>>,
    /// The last answer.
    reply: Mutex<Option<Reply>>,
    /// The host of whoever was asked last.
    host: Mutex<Option<String>>,
}

/// The answer of a provider as it came.
#[derive(Debug, Default)]
pub(crate) struct OwnAnswer {
    /// Events that are not handed on yet. They wait for the next piece of the answer: before the first, the request may
    /// be sent again, and a piece tells the id under which a call is stored.
    events: Vec<Arc<str>>,
    /// The ids of calls that have begun, by their place: as they were read, and as they are stored.
    calls: BTreeMap<usize, (String, String)>,
    /// The answer, if it is not streamed.
    whole: Option<Arc<str>>,
}

impl OwnAnswer {
    fn add(&mut self, progress: &Progress) {
        match progress {
            Progress::Event(event) => self.events.push(event.clone()),
            Progress::Whole(whole) => self.whole = Some(whole.clone()),
            Progress::Delta(Delta::Call { index, id, .. }) => {
                self.calls.insert(*index, (id.clone(), id.clone()));
            }
            Progress::Delta(_) => {}
            _ => *self = Self::default(),
        }
    }

    /// Notes under which id a call is stored.
    fn rename(&mut self, delta: &Delta) {
        if let Delta::Call { index, id, .. } = delta
            && let Some((_, stored)) = self.calls.get_mut(index)
        {
            stored.clone_from(id);
        }
    }

    /// Takes the events, with the ids under which calls are stored.
    fn take_events(&mut self, dialect: Dialect) -> Vec<String> {
        let events = std::mem::take(&mut self.events);
        events.into_iter().map(|event| self.rename_calls(&event, dialect)).collect()
    }

    /// Returns the whole answer, if it was not streamed. `calls`: the ids of its calls, as they were read and as they
    /// are stored.
    pub(crate) fn into_whole(mut self, calls: Vec<(String, String)>, dialect: Dialect) -> Option<String> {
        self.calls = calls.into_iter().enumerate().collect();
        self.whole.take().map(|whole| self.rename_calls(&whole, dialect))
    }

    /// Gives calls in a JSON text the ids under which they are stored. In chat completions of some servers they have
    /// none, or one several times.
    fn rename_calls(&self, json: &str, dialect: Dialect) -> String {
        if dialect == Dialect::OpenaiChat && json.contains("\"tool_calls\"") {
            return self.number_calls(json).unwrap_or_else(|| json.to_owned());
        }
        let quoted = |id: &str| Value::from(id).to_string();
        let changed = self.calls.values().filter(|(own, stored)| own != stored && !own.is_empty());
        changed.fold(json.to_owned(), |json, (own, stored)| json.replace(&quoted(own), &quoted(stored)))
    }

    /// Returns a chat completion, or a chunk of one, whose calls have other ids; `None` if they have theirs.
    fn number_calls(&self, json: &str) -> Option<String> {
        let mut chunk: Value = serde_json::from_str(json).ok()?;
        let choice = chunk.get_mut("choices")?.get_mut(0)?;
        let key = if choice.get("delta").is_some() { "delta" } else { "message" };
        let mut is_changed = false;
        for (place, call) in choice[key]["tool_calls"].as_array_mut()?.iter_mut().enumerate() {
            let index = call["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
            let begins = call["function"]["name"].as_str().is_some_and(|name| !name.is_empty());
            if let Some((_, stored)) = self.calls.get(&index).filter(|_| begins)
                && call["id"] != **stored
            {
                (call["id"], is_changed) = (Value::from(stored.as_str()), true);
            }
        }
        is_changed.then(|| chunk.to_string())
    }
}

impl<'a, A: Send> Upstream<'a, A> {
    /// `is_own`: whether the client gets the answer as the provider writes it.
    pub(crate) fn new(clients: &'a [Client], pieces: Option<&'a Sender<Piece<A>>>, is_own: bool) -> Self {
        let own = is_own.then(Mutex::default);
        let (waiting, reply, host) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { clients, pieces, own, waiting, reply, host }
    }

    /// Takes a piece as the turn tells of it: its calls have the ids under which they are stored.
    pub(crate) fn take(&self, delta: Delta) {
        if self.pieces.is_none() {
            return;
        }
        match &self.own {
            Some(own) => {
                lock(own).rename(&delta);
                self.take_events();
            }
            None => lock(&self.waiting).push_back(Piece::Delta(delta)),
        }
    }

    /// Hands on the events of the provider that came.
    fn take_events(&self) {
        if let Some(own) = self.own.as_ref().filter(|_| self.pieces.is_some()) {
            lock(&self.waiting).extend(lock(own).take_events(self.dialect()).into_iter().map(Piece::Event));
        }
    }

    /// Returns the last answer, as it was read and as it came, and the host of whoever was asked last.
    pub(crate) fn into_reply(self) -> (Option<Reply>, Option<OwnAnswer>, Option<String>) {
        let reply = self.reply.into_inner().unwrap_or_else(PoisonError::into_inner);
        let own = self.own.map(|own| own.into_inner().unwrap_or_else(PoisonError::into_inner));
        (reply, own, self.host.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl<A: Send> ChatModel for Upstream<'_, A> {
    fn dialect(&self) -> Dialect {
        self.clients.first().map(ChatModel::dialect).unwrap_or_default()
    }

    fn server(&self) -> Option<&str> {
        self.clients.first()?.server()
    }

    fn redact(&self, text: String) -> String {
        self.clients.iter().fold(text, |text, client| client.redact(text))
    }

    /// Asks one after the other until one answers; none is asked any more once a piece of an answer came.
    async fn ask(&self, body: Bytes, watch: &mut Watch<'_>, cancel: &Cancel) -> Result<Reply, AskFailure> {
        let (mut failure, mut kept) = (AskFailure::from(ClientError::Cancelled), Some(body));
        for client in self.clients {
            let Some(body) = kept.clone() else { break };
            if let Some(own) = &self.own {
                *lock(own) = OwnAnswer::default();
            }
            *lock(&self.host) = client.server().map(str::to_owned);
            let mut heard = |progress: Progress| {
                if matches!(progress, Progress::Delta(_)) {
                    kept = None;
                }
                if let Some(own) = &self.own {
                    lock(own).add(&progress);
                }
                watch(progress);
            };
            match self.ask_one(client, body, &mut heard, cancel).await {
                Ok(reply) => {
                    *lock(&self.reply) = Some(reply.clone());
                    return Ok(reply);
                }
                Err(failed) => failure = failed,
            }
            if failure.partial.is_some() || !may_differ(&failure.cause) {
                break;
            }
            tracing::warn!(
                server = client.server(),
                code = failure.cause.code(),
                "a provider did not respond"
            );
        }
        Err(failure)
    }
}

/// Returns whether another provider may answer what this one did not.
fn may_differ(cause: &ClientError) -> bool {
    use FailureKind::{NotFound, QuotaExhausted, Unauthorized, Unreadable};
    let of_provider = cause.failure().map(|failure| failure.kind);
    cause.is_transient()
        || matches!(cause, ClientError::Untrusted { .. } | ClientError::ConnectionRefused { .. })
        || matches!(of_provider, Some(NotFound | QuotaExhausted | Unauthorized | Unreadable))
}

impl<A: Send> Upstream<'_, A> {
    async fn ask_one(
        &self,
        client: &Client,
        body: Bytes,
        watch: &mut Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, AskFailure> {
        let mut asking = client.ask(body, watch, cancel);
        loop {
            let done = poll_fn(|context| match asking.as_mut().poll(context) {
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending if lock(&self.waiting).is_empty() => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            });
            let done = done.await;
            if matches!(done, Some(Ok(_))) {
                self.take_events();
            }
            // While the client is slow, nothing more is read from the provider.
            self.hand_on(cancel).await;
            if let Some(result) = done {
                return result;
            }
        }
    }

    /// Hands on what waits; a client that is gone, or takes nothing, ends the turn.
    async fn hand_on(&self, cancel: &Cancel) {
        let Some(pieces) = self.pieces else { return };
        loop {
            let Some(piece) = lock(&self.waiting).pop_front() else { return };
            if cancel.is_cancelled() {
                return;
            }
            if !matches!(timeout(PATIENCE, pieces.send(piece)).await, Ok(Ok(()))) {
                cancel.cancel();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
