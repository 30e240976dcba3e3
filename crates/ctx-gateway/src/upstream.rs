//! The provider behind a turn: its answer is handed on piece by piece, and no faster than the client takes it.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::HeaderMap;
use ctx_chat::{AskFailure, ChatModel, Client, ClientError, Delta, Progress, Reply, Watch};
use ctx_pipeline::Cancel;
use ctx_wire::{Dialect, FailureKind};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use crate::call::returned_headers;
use crate::refusal::Refusal;
use crate::turn::Told;

/// How long a client may take for one piece of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum number of requests to providers for one request of a client. After an overflow, a smaller request may follow.
const MAX_ATTEMPTS: usize = 2;

/// What comes of a turn, for whoever answers the client.
#[derive(Debug)]
pub(crate) enum Piece<A> {
    /// The provider accepted the request.
    Begun,
    /// A piece of the answer.
    Delta(Delta),
    /// JSON of a provider's event, for a client of the same dialect.
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
    /// Headers of the client for the next request.
    headers: Mutex<HeaderMap>,
    /// The raw response, if the client gets it.
    own: Option<Mutex<OwnAnswer>>,
    /// Pieces that have come and were not handed on yet.
    waiting: Mutex<VecDeque<Piece<A>>>,
    /// The last answer.
    reply: Mutex<Option<Reply>>,
    /// The host of whoever was asked last.
    host: Mutex<Option<String>>,
    /// Remaining requests to providers.
    attempts: AtomicUsize,
    /// Gets the headers of the response.
    told: &'a Mutex<Told>,
}

/// Events beyond this size are sent to the client even before the first delta of a response. In bytes.
const MAX_EVENTS: usize = 4 << 20;

/// The raw response of a provider.
#[derive(Debug, Default)]
pub(crate) struct OwnAnswer {
    /// Events not yet sent to the client. Before the first delta, the request may be retried.
    events: Vec<Arc<str>>,
    bytes: usize,
    has_begun: bool,
    /// Decoded and stored id of each tool call, by index.
    calls: BTreeMap<usize, (String, String)>,
    /// Number of tool calls already sent to a Gemini client.
    handed: usize,
    /// The body, if the response is not a stream.
    whole: Option<Arc<str>>,
}

impl OwnAnswer {
    fn add(&mut self, progress: &Progress) {
        match progress {
            Progress::Event(event) => {
                self.bytes += event.len();
                self.has_begun |= self.bytes > MAX_EVENTS;
                self.events.push(event.clone());
            }
            Progress::Whole(whole) => self.whole = Some(whole.clone()),
            Progress::Delta(delta) => {
                self.has_begun = true;
                if let Delta::Call { index, id, .. } = delta {
                    self.calls.insert(*index, (id.clone(), id.clone()));
                }
            }
            _ => *self = Self::default(),
        }
    }

    /// Sets the stored id of a tool call.
    fn rename(&mut self, delta: &Delta) {
        if let Delta::Call { index, id, .. } = delta
            && let Some((_, stored)) = self.calls.get_mut(index)
        {
            stored.clone_from(id);
        }
    }

    /// Takes the events, with stored ids of tool calls.
    fn take_events(&mut self, dialect: Dialect) -> Vec<String> {
        self.bytes = 0;
        let events = std::mem::take(&mut self.events);
        events.into_iter().map(|event| self.with_stored_ids(&event, dialect)).collect()
    }

    /// Returns the body, if the response was not a stream. `calls`: decoded and stored id of each tool call.
    pub(crate) fn into_whole(mut self, calls: Vec<(String, String)>, dialect: Dialect) -> Option<String> {
        (self.calls, self.handed) = (calls.into_iter().enumerate().collect(), 0);
        self.whole.take().map(|whole| self.with_stored_ids(&whole, dialect))
    }

    /// Replaces ids of tool calls by their stored ids. Some servers send no ids, or repeat one.
    fn with_stored_ids(&mut self, json: &str, dialect: Dialect) -> String {
        let is_needed = match dialect {
            Dialect::OpenaiChat => json.contains("\"tool_calls\""),
            Dialect::Gemini => json.contains("\"functionCall\""),
            _ => self.calls.values().any(|(own, stored)| own != stored),
        };
        let value = Some(json).filter(|_| is_needed).and_then(|json| serde_json::from_str(json).ok());
        let Some(mut value) = value else { return json.to_owned() };
        if self.set_ids(&mut value, dialect) { value.to_string() } else { json.to_owned() }
    }

    /// Returns whether an id changed.
    fn set_ids(&mut self, answer: &mut Value, dialect: Dialect) -> bool {
        let mut is_changed = false;
        let mut set = |call: &mut Value, key: &str, stored: Option<&(String, String)>| {
            if let (Some((_, stored)), Some(call)) = (stored, call.as_object_mut())
                && call.get(key).is_none_or(|id| id != stored)
            {
                call.insert(key.to_owned(), Value::from(stored.as_str()));
                is_changed = true;
            }
        };
        let by_id = |call: &Value, key: &str| {
            let id = call.get(key).and_then(Value::as_str);
            self.calls.values().rev().find(|(own, _)| Some(own.as_str()) == id)
        };
        match dialect {
            Dialect::OpenaiChat => {
                let places = ["/choices/0/delta/tool_calls", "/choices/0/message/tool_calls"];
                let place =
                    places.into_iter().find(|place| answer.pointer(place).is_some_and(Value::is_array));
                for (position, call) in items(answer, place.unwrap_or_default()).enumerate() {
                    let index = call.get("index").and_then(Value::as_u64);
                    let index = index.and_then(|index| usize::try_from(index).ok()).unwrap_or(position);
                    let name = call.pointer("/function/name").and_then(Value::as_str);
                    if name.is_some_and(|name| !name.is_empty()) {
                        set(call, "id", self.calls.get(&index));
                    }
                }
            }
            Dialect::Gemini => {
                for part in items(answer, "/candidates/0/content/parts") {
                    if let Some(call) = part.get_mut("functionCall") {
                        set(call, "id", self.calls.values().nth(self.handed));
                        self.handed += 1;
                    }
                }
            }
            Dialect::OpenaiResponses => {
                if let Some(item) = answer.get_mut("item") {
                    let stored = by_id(item, "call_id");
                    set(item, "call_id", stored);
                }
                for place in ["/output", "/response/output"] {
                    let calls = items(answer, place).filter(|item| item["type"] == "function_call");
                    calls.zip(self.calls.values()).for_each(|(call, ids)| set(call, "call_id", Some(ids)));
                }
            }
            _ => {
                if let Some(block) = answer.get_mut("content_block") {
                    let stored = by_id(block, "id");
                    set(block, "id", stored);
                }
                let calls = items(answer, "/content").filter(|block| block["type"] == "tool_use");
                calls.zip(self.calls.values()).for_each(|(call, ids)| set(call, "id", Some(ids)));
            }
        }
        is_changed
    }
}

fn items<'v>(value: &'v mut Value, place: &str) -> impl Iterator<Item = &'v mut Value> {
    value.pointer_mut(place).and_then(Value::as_array_mut).into_iter().flatten()
}

impl<'a, A: Send> Upstream<'a, A> {
    /// `is_own`: whether the client gets the raw response. `headers` are sent with each request.
    pub(crate) fn new(
        clients: &'a [Client],
        pieces: Option<&'a Sender<Piece<A>>>,
        is_own: bool,
        headers: HeaderMap,
        told: &'a Mutex<Told>,
    ) -> Self {
        let own = is_own.then(Mutex::default);
        let (waiting, reply, host) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (headers, attempts) = (Mutex::new(headers), AtomicUsize::new(MAX_ATTEMPTS));
        Self { clients, pieces, headers, own, waiting, reply, host, attempts, told }
    }

    /// Takes a piece as the turn tells of it: its calls have the ids under which they are stored.
    pub(crate) fn take(&self, delta: Delta) {
        if self.pieces.is_none() {
            return;
        }
        match &self.own {
            Some(own) => lock(own).rename(&delta),
            None => lock(&self.waiting).push_back(Piece::Delta(delta)),
        }
    }

    /// Takes the head of a response.
    fn take_head(&self, progress: &Progress) {
        let Progress::Response { status, headers } = progress else { return };
        lock(self.told).provider_headers = returned_headers(headers);
        if (200..300).contains(status) && self.pieces.is_some() {
            lock(&self.waiting).push_back(Piece::Begun);
        }
    }

    /// Queues the provider's events for the client.
    fn take_events(&self) {
        if let Some(own) = self.own.as_ref().filter(|_| self.pieces.is_some()) {
            lock(&self.waiting).extend(lock(own).take_events(self.dialect()).into_iter().map(Piece::Event));
        }
    }

    /// Returns the last reply, decoded and raw, and the host of the last provider.
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
    ///
    /// Only the last one is retried, and only for a client that does not retry itself.
    async fn ask(&self, body: Bytes, watch: &mut Watch<'_>, cancel: &Cancel) -> Result<Reply, AskFailure> {
        let (mut failure, mut kept) = (AskFailure::from(ClientError::Cancelled), Some(body));
        let headers = lock(&self.headers).clone();
        let client_retries = headers.contains_key("x-stainless-retry-count");
        // The key is for this body: another request of the turn has another one.
        lock(&self.headers).remove("idempotency-key");
        let mut attempts = self.attempts.load(Ordering::Relaxed).max(1);
        for (index, client) in self.clients.iter().enumerate() {
            let Some(body) = kept.clone() else { break };
            if let Some(own) = &self.own {
                *lock(own) = OwnAnswer::default();
            }
            *lock(&self.host) = client.server().map(str::to_owned);
            let has_fallback = index + 1 < self.clients.len();
            let retries = if has_fallback || client_retries { 0 } else { attempts - 1 };
            lock(self.told).provider_headers.clear();
            let mut heard = |progress: Progress| {
                self.take_head(&progress);
                if matches!(progress, Progress::Delta(_)) {
                    kept = None;
                }
                attempts -= usize::from(matches!(progress, Progress::Retry { .. }));
                let is_event = matches!(progress, Progress::Event(_));
                if let Some(own) = self.own.as_ref().filter(|_| !is_event || self.pieces.is_some()) {
                    lock(own).add(&progress);
                }
                watch(progress);
                if is_event && self.own.as_ref().is_some_and(|own| lock(own).has_begun) {
                    kept = None;
                    self.take_events();
                }
            };
            let client = client.with_headers(headers.clone()).with_retries(retries);
            match self.ask_one(&client, body, &mut heard, cancel).await {
                Ok(reply) => {
                    *lock(&self.reply) = Some(reply.clone());
                    return Ok(reply);
                }
                Err(failed) => failure = failed,
            }
            attempts -= usize::from(!is_unconnected(&failure.cause));
            if failure.partial.is_some() || attempts == 0 || !may_differ(&failure.cause) {
                break;
            }
            tracing::warn!(
                server = client.server(),
                code = failure.cause.code(),
                "a provider did not respond"
            );
        }
        self.attempts.store(attempts, Ordering::Relaxed);
        Err(failure)
    }
}

/// Returns whether no request was sent.
fn is_unconnected(cause: &ClientError) -> bool {
    matches!(cause, ClientError::ConnectionRefused { .. } | ClientError::UnknownHost { .. })
}

/// Returns whether another provider may answer what this one did not.
fn may_differ(cause: &ClientError) -> bool {
    use FailureKind::{NotFound, QuotaExhausted, Unauthorized, Unreadable};
    let of_provider = cause.failure().map(|failure| failure.kind);
    cause.is_transient()
        || is_unconnected(cause)
        || matches!(cause, ClientError::Untrusted { .. })
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
