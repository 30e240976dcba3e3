//! The provider behind a turn: its answer is handed on piece by piece, and no faster than the client takes it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use ctx_chat::{AskFailure, ChatModel, Client, Delta, Progress, Reply};
use ctx_pipeline::Cancel;
use ctx_wire::Dialect;
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
    client: &'a Client,
    /// Where pieces go; nowhere if the answer is to come whole.
    pieces: Option<&'a Sender<Piece<A>>>,
    /// The last answer.
    reply: Mutex<Option<Reply>>,
}

impl<'a, A: Send> Upstream<'a, A> {
    pub(crate) fn new(client: &'a Client, pieces: Option<&'a Sender<Piece<A>>>) -> Self {
        Self { client, pieces, reply: Mutex::default() }
    }

    /// Returns the last answer.
    pub(crate) fn into_reply(self) -> Option<Reply> {
        self.reply.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<A: Send> ChatModel for Upstream<'_, A> {
    fn dialect(&self) -> Dialect {
        self.client.dialect()
    }

    fn server(&self) -> Option<&str> {
        self.client.server()
    }

    fn redact(&self, text: String) -> String {
        self.client.redact(text)
    }

    async fn ask(
        &self,
        body: &[u8],
        watch: &mut ctx_chat::Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, AskFailure> {
        let waiting = Mutex::new(VecDeque::new());
        let mut heard = |progress: Progress| {
            if let (Progress::Delta(delta), Some(_)) = (&progress, self.pieces) {
                lock(&waiting).push_back(delta.clone());
            }
            watch(progress);
        };
        let mut asking = self.client.ask(body, &mut heard, cancel);
        loop {
            let done = poll_fn(|context| match asking.as_mut().poll(context) {
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending if lock(&waiting).is_empty() => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            });
            let done = done.await;
            // While the client is slow, nothing more is read from the provider.
            self.hand_on(&waiting, cancel).await;
            if let Some(result) = done {
                let kept = result.as_ref().ok().cloned();
                *lock(&self.reply) = kept;
                return result;
            }
        }
    }
}

impl<A: Send> Upstream<'_, A> {
    /// Hands on what waits; a client that is gone, or takes nothing, ends the turn.
    async fn hand_on(&self, waiting: &Mutex<VecDeque<Delta>>, cancel: &Cancel) {
        let Some(pieces) = self.pieces else { return };
        loop {
            let Some(delta) = lock(waiting).pop_front() else { return };
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
