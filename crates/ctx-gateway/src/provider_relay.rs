//! Relays the provider's response to the client in chunks, with backpressure.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::HeaderMap;
use ctx_chat::{ChatModel, Client, ClientError, Delta, Progress, Reply, RequestFailure, Watch};
use ctx_pipeline::Cancel;
use ctx_wire::{Dialect, FailureKind};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use crate::api_error::ApiError;
use crate::lock;
use crate::request_options::returned_headers;
use crate::turn::TurnProgress;

/// Time limit for a client to read a chunk.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of requests to providers for one request of a client. After an overflow, a smaller request may follow.
const MAX_ATTEMPTS: usize = 2;

/// A part of a turn's response.
#[derive(Debug)]
pub(crate) enum StreamChunk<A> {
    /// The provider accepted the request.
    Accepted,
    /// Decoded part of the response.
    Delta(Delta),
    /// JSON of a provider's event, for a client of the same dialect.
    Event(String),
    /// Result of the turn.
    End(Box<Result<A, ApiError>>),
}

/// Sends requests to a provider, and relays its responses.
pub(crate) struct ProviderRelay<'a, A> {
    /// The endpoint, then its fallbacks. Never empty.
    clients: &'a [Client],
    /// Receives chunks. `None` for a complete response.
    chunks: Option<&'a Sender<StreamChunk<A>>>,
    /// Headers of the client for the next request.
    headers: Mutex<HeaderMap>,
    /// The raw response, if the client gets it.
    provider_response: Option<Mutex<ProviderResponse>>,
    /// Chunks that were not sent to the client yet.
    waiting: Mutex<VecDeque<StreamChunk<A>>>,
    /// The last reply.
    reply: Mutex<Option<Reply>>,
    /// Host of the last provider.
    host: Mutex<Option<String>>,
    /// Remaining requests to providers.
    attempts: AtomicUsize,
    /// Gets the headers of the response.
    turn_progress: &'a Mutex<TurnProgress>,
}

/// Events beyond this size are sent to the client even before the first delta of a response. In bytes.
const MAX_EVENTS: usize = 4 << 20;

/// Ids of a tool call.
#[derive(Debug)]
pub(crate) struct CallIds {
    /// Id in the provider's response. Some servers send none, or repeat one.
    pub(crate) decoded: String,
    pub(crate) stored: String,
}

/// The raw response of a provider.
#[derive(Debug, Default)]
pub(crate) struct ProviderResponse {
    /// Events not yet sent to the client. Before the first delta, the request may be retried.
    events: Vec<Arc<str>>,
    bytes: usize,
    has_begun: bool,
    /// Ids of tool calls by index.
    calls: BTreeMap<usize, CallIds>,
    /// Number of tool calls already sent to a Gemini client.
    sent_calls: usize,
    /// The body, if the response is not a stream.
    body: Option<Arc<str>>,
}

impl ProviderResponse {
    fn add(&mut self, progress: &Progress) {
        match progress {
            Progress::Event(event) => {
                self.bytes += event.len();
                self.has_begun |= self.bytes > MAX_EVENTS;
                self.events.push(event.clone());
            }
            Progress::Whole(body) => self.body = Some(body.clone()),
            Progress::Delta(delta) => {
                self.has_begun = true;
                if let Delta::Call { index, id, .. } = delta {
                    self.calls.insert(*index, CallIds { decoded: id.clone(), stored: id.clone() });
                }
            }
            _ => *self = Self::default(),
        }
    }

    /// Sets the stored id of a tool call.
    fn set_stored_id(&mut self, delta: &Delta) {
        if let Delta::Call { index, id, .. } = delta
            && let Some(ids) = self.calls.get_mut(index)
        {
            ids.stored.clone_from(id);
        }
    }

    /// Takes the events, with stored ids of tool calls.
    fn take_events(&mut self, dialect: Dialect) -> Vec<String> {
        self.bytes = 0;
        let events = std::mem::take(&mut self.events);
        events.into_iter().map(|event| self.with_stored_ids(&event, dialect)).collect()
    }

    /// Returns the body with stored ids of tool calls, if the response was not a stream.
    pub(crate) fn into_body(mut self, calls: Vec<CallIds>, dialect: Dialect) -> Option<String> {
        (self.calls, self.sent_calls) = (calls.into_iter().enumerate().collect(), 0);
        self.body.take().map(|body| self.with_stored_ids(&body, dialect))
    }

    /// Replaces ids of tool calls by their stored ids. Some servers send no ids, or repeat one.
    fn with_stored_ids(&mut self, json: &str, dialect: Dialect) -> String {
        let is_needed = match dialect {
            Dialect::OpenaiChat => json.contains("\"tool_calls\""),
            Dialect::Gemini => json.contains("\"functionCall\""),
            _ => self.calls.values().any(|ids| ids.decoded != ids.stored),
        };
        let value = Some(json).filter(|_| is_needed).and_then(|json| serde_json::from_str(json).ok());
        let Some(mut value) = value else { return json.to_owned() };
        if self.set_ids(&mut value, dialect) { value.to_string() } else { json.to_owned() }
    }

    /// Returns whether an id changed.
    fn set_ids(&mut self, body: &mut Value, dialect: Dialect) -> bool {
        let mut is_changed = false;
        let mut set = |call: &mut Value, key: &str, ids: Option<&CallIds>| {
            if let (Some(ids), Some(call)) = (ids, call.as_object_mut())
                && call.get(key).is_none_or(|id| *id != ids.stored)
            {
                call.insert(key.to_owned(), Value::from(ids.stored.as_str()));
                is_changed = true;
            }
        };
        let by_id = |call: &Value, key: &str| {
            let id = call.get(key).and_then(Value::as_str);
            self.calls.values().rev().find(|ids| Some(ids.decoded.as_str()) == id)
        };
        match dialect {
            Dialect::OpenaiChat => {
                let places = ["/choices/0/delta/tool_calls", "/choices/0/message/tool_calls"];
                let place = places.into_iter().find(|place| body.pointer(place).is_some_and(Value::is_array));
                for (position, call) in items(body, place.unwrap_or_default()).enumerate() {
                    let index = call.get("index").and_then(Value::as_u64);
                    let index = index.and_then(|index| usize::try_from(index).ok()).unwrap_or(position);
                    let name = call.pointer("/function/name").and_then(Value::as_str);
                    if name.is_some_and(|name| !name.is_empty()) {
                        set(call, "id", self.calls.get(&index));
                    }
                }
            }
            Dialect::Gemini => {
                for part in items(body, "/candidates/0/content/parts") {
                    if let Some(call) = part.get_mut("functionCall") {
                        set(call, "id", self.calls.values().nth(self.sent_calls));
                        self.sent_calls += 1;
                    }
                }
            }
            Dialect::OpenaiResponses => {
                if let Some(item) = body.get_mut("item") {
                    let stored = by_id(item, "call_id");
                    set(item, "call_id", stored);
                }
                for place in ["/output", "/response/output"] {
                    let calls = items(body, place).filter(|item| item["type"] == "function_call");
                    calls.zip(self.calls.values()).for_each(|(call, ids)| set(call, "call_id", Some(ids)));
                }
            }
            _ => {
                if let Some(block) = body.get_mut("content_block") {
                    let stored = by_id(block, "id");
                    set(block, "id", stored);
                }
                let calls = items(body, "/content").filter(|block| block["type"] == "tool_use");
                calls.zip(self.calls.values()).for_each(|(call, ids)| set(call, "id", Some(ids)));
            }
        }
        is_changed
    }
}

fn items<'v>(value: &'v mut Value, place: &str) -> impl Iterator<Item = &'v mut Value> {
    value.pointer_mut(place).and_then(Value::as_array_mut).into_iter().flatten()
}

impl<'a, A: Send> ProviderRelay<'a, A> {
    /// `is_passed_through`: whether the client gets the raw response. `headers` are sent with each request.
    pub(crate) fn new(
        clients: &'a [Client],
        chunks: Option<&'a Sender<StreamChunk<A>>>,
        is_passed_through: bool,
        headers: HeaderMap,
        turn_progress: &'a Mutex<TurnProgress>,
    ) -> Self {
        let provider_response = is_passed_through.then(Mutex::default);
        let (waiting, reply, host) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (headers, attempts) = (Mutex::new(headers), AtomicUsize::new(MAX_ATTEMPTS));
        Self { clients, chunks, headers, provider_response, waiting, reply, host, attempts, turn_progress }
    }

    /// Takes a delta of the turn. Its tool calls have stored ids.
    pub(crate) fn take_delta(&self, delta: Delta) {
        if self.chunks.is_none() {
            return;
        }
        match &self.provider_response {
            Some(response) => lock(response).set_stored_id(&delta),
            None => lock(&self.waiting).push_back(StreamChunk::Delta(delta)),
        }
    }

    /// Takes the head of a response.
    fn take_head(&self, progress: &Progress) {
        let Progress::Response { status, headers } = progress else { return };
        lock(self.turn_progress).provider_headers = returned_headers(headers);
        if (200..300).contains(status) && self.chunks.is_some() {
            lock(&self.waiting).push_back(StreamChunk::Accepted);
        }
    }

    /// Queues the provider's events for the client.
    fn take_events(&self) {
        if let Some(response) = self.provider_response.as_ref().filter(|_| self.chunks.is_some()) {
            lock(&self.waiting)
                .extend(lock(response).take_events(self.dialect()).into_iter().map(StreamChunk::Event));
        }
    }

    /// Returns the last reply, decoded and raw, and the host of the last provider.
    pub(crate) fn into_reply(self) -> (Option<Reply>, Option<ProviderResponse>, Option<String>) {
        let reply = self.reply.into_inner().unwrap_or_else(PoisonError::into_inner);
        let provider_response = self
            .provider_response
            .map(|response| response.into_inner().unwrap_or_else(PoisonError::into_inner));
        (reply, provider_response, self.host.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl<A: Send> ChatModel for ProviderRelay<'_, A> {
    fn dialect(&self) -> Dialect {
        self.clients.first().map(ChatModel::dialect).unwrap_or_default()
    }

    fn server(&self) -> Option<&str> {
        self.clients.first()?.server()
    }

    fn redact(&self, text: String) -> String {
        self.clients.iter().fold(text, |text, client| client.redact(text))
    }

    /// Sends the request to one provider after the other until one responds. After the first delta, the request is not
    /// sent again.
    ///
    /// Only the last provider is retried, and only for a client that does not retry itself.
    async fn ask(
        &self,
        body: Bytes,
        watch: &mut Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, RequestFailure> {
        let (mut failure, mut retry_body) = (RequestFailure::from(ClientError::Cancelled), Some(body));
        let headers = lock(&self.headers).clone();
        let client_retries = headers.contains_key("x-stainless-retry-count");
        // The key is for this body: another request of the turn has another one.
        lock(&self.headers).remove("idempotency-key");
        let mut attempts = self.attempts.load(Ordering::Relaxed).max(1);
        for (index, client) in self.clients.iter().enumerate() {
            let Some(body) = retry_body.clone() else { break };
            if let Some(response) = &self.provider_response {
                *lock(response) = ProviderResponse::default();
            }
            *lock(&self.host) = client.server().map(str::to_owned);
            let has_fallback = index + 1 < self.clients.len();
            let retries = if has_fallback || client_retries { 0 } else { attempts - 1 };
            lock(self.turn_progress).provider_headers.clear();
            let mut handle = |progress: Progress| {
                self.take_head(&progress);
                if matches!(progress, Progress::Delta(_)) {
                    retry_body = None;
                }
                attempts -= usize::from(matches!(progress, Progress::Retry { .. }));
                let is_event = matches!(progress, Progress::Event(_));
                if let Some(response) =
                    self.provider_response.as_ref().filter(|_| !is_event || self.chunks.is_some())
                {
                    lock(response).add(&progress);
                }
                watch(progress);
                if is_event
                    && self.provider_response.as_ref().is_some_and(|response| lock(response).has_begun)
                {
                    retry_body = None;
                    self.take_events();
                }
            };
            let client = client.with_headers(headers.clone()).with_retries(retries);
            match self.ask_one(&client, body, &mut handle, cancel).await {
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

/// Returns whether another provider may respond to the same request.
fn may_differ(cause: &ClientError) -> bool {
    use FailureKind::{NotFound, QuotaExhausted, Unauthorized, Unreadable};
    let of_provider = cause.failure().map(|failure| failure.kind);
    cause.is_transient()
        || is_unconnected(cause)
        || matches!(cause, ClientError::Untrusted { .. })
        || matches!(of_provider, Some(NotFound | QuotaExhausted | Unauthorized | Unreadable))
}

impl<A: Send> ProviderRelay<'_, A> {
    async fn ask_one(
        &self,
        client: &Client,
        body: Bytes,
        watch: &mut Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, RequestFailure> {
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
            self.send_waiting(cancel).await;
            if let Some(result) = done {
                return result;
            }
        }
    }

    /// Sends waiting chunks to the client. A disconnected or stalled client cancels the turn.
    async fn send_waiting(&self, cancel: &Cancel) {
        let Some(chunks) = self.chunks else { return };
        loop {
            let Some(chunk) = lock(&self.waiting).pop_front() else { return };
            if cancel.is_cancelled() {
                return;
            }
            if !matches!(timeout(CLIENT_TIMEOUT, chunks.send(chunk)).await, Ok(Ok(()))) {
                cancel.cancel();
            }
        }
    }
}
