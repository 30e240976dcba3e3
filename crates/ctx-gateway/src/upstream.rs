//! The provider behind a turn: its answer is handed on piece by piece, and no faster than the client takes it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use ctx_chat::{AskFailure, ChatModel, Client, ClientError, Delta, Progress, Reply, Watch};
use ctx_pipeline::Cancel;
use ctx_wire::{Dialect, FailureKind};
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
    /// The turn is over.
    End(Box<Result<A, Refusal>>),
}

/// Asks a provider, and hands on what it says.
pub(crate) struct Upstream<'a, A> {
    /// The endpoint, and what stands in for it; there is always one.
    clients: &'a [Client],
    /// Where pieces go; nowhere if the answer is to come whole.
    pieces: Option<&'a Sender<Piece<A>>>,
    /// Pieces that have come and were not handed on yet.
    waiting: Mutex<VecDeque<Delta>>,
    /// The last answer.
    reply: Mutex<Option<Reply>>,
    /// The host of whoever was asked last.
    host: Mutex<Option<String>>,
}

impl<'a, A: Send> Upstream<'a, A> {
    pub(crate) fn new(clients: &'a [Client], pieces: Option<&'a Sender<Piece<A>>>) -> Self {
        Self { clients, pieces, waiting: Mutex::default(), reply: Mutex::default(), host: Mutex::default() }
    }

    /// Takes a piece as the turn tells of it: its calls have the ids under which they are stored.
    pub(crate) fn take(&self, delta: Delta) {
        if self.pieces.is_some() {
            lock(&self.waiting).push_back(delta);
        }
    }

    /// Returns the last answer, and the host of whoever was asked last.
    pub(crate) fn into_reply(self) -> (Option<Reply>, Option<String>) {
        let reply = self.reply.into_inner().unwrap_or_else(PoisonError::into_inner);
        (reply, self.host.into_inner().unwrap_or_else(PoisonError::into_inner))
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
            *lock(&self.host) = client.server().map(str::to_owned);
            let mut heard = |progress: Progress| {
                if matches!(progress, Progress::Delta(_)) {
                    kept = None;
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
            let Some(delta) = lock(&self.waiting).pop_front() else { return };
            if cancel.is_cancelled() {
                return;
            }
            if !matches!(timeout(PATIENCE, pieces.send(Piece::Delta(delta))).await, Ok(Ok(()))) {
                cancel.cancel();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
