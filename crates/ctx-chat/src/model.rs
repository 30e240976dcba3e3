//! The port behind which models answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ctx_pipeline::Cancel;
use ctx_types::Phrase;
use ctx_wire::{Delta, Dialect, Reply};
use reqwest::header::HeaderMap;

use crate::error::ClientError;

/// Answers requests, usually through a provider's API.
///
/// [`Client`](crate::Client) is the one for providers; hosts with a connection of their own, and tests, write
/// another.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Returns the dialect in which request bodies are to be written.
    fn dialect(&self) -> Dialect;

    /// Names the server that is asked, without secrets: what is learned of its models is kept under this name.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Takes the secrets by which the server is reached out of a text.
    ///
    /// What tools say is passed through this before it is kept and sent: a key may lie in a file that they read.
    fn redact(&self, text: String) -> String {
        text
    }

    /// Sends a request body, exactly these bytes, and returns the answer when it is whole.
    ///
    /// `watch` hears of every piece as it comes. When `cancel` is called, this returns at once with
    /// [`ClientError::Cancelled`] and what had come. Dropping the future stops it too, and loses that. The body is let go
    /// of once it need not be sent again: an answer takes longer than a request, and many may come at the same time.
    async fn ask(&self, body: Bytes, watch: &mut Watch<'_>, cancel: &Cancel)
    -> Result<Reply, RequestFailure>;
}

/// Receives the progress of a request.
pub type Watch<'a> = dyn FnMut(Progress) + Send + 'a;

/// Progress of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The head of a response, which may be an error.
    Response {
        /// HTTP status.
        status: u16,
        /// Headers.
        headers: HeaderMap,
    },
    /// A decoded part of the response.
    Delta(Delta),
    /// JSON of an event of a stream. The deltas of the event precede it.
    Event(Arc<str>),
    /// JSON of a complete response.
    Whole(Arc<str>),
    /// An attempt failed before anything of an answer came, and the request will be sent again.
    Retry {
        /// The number of the attempt that failed, from 1.
        attempt: usize,
        /// How long is waited before the next.
        wait: Duration,
        /// Why it failed.
        reason: Phrase,
    },
}

/// Error of a request, with the partial reply.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct RequestFailure {
    /// The error.
    #[source]
    pub cause: ClientError,
    /// The partial reply, if the response started. Its tool calls may be truncated.
    pub partial: Option<Box<Reply>>,
}

impl From<ClientError> for RequestFailure {
    fn from(cause: ClientError) -> Self {
        Self { cause, partial: None }
    }
}
