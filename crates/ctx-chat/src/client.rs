//! The client: requests to providers over HTTP, their answers as they come, and what is done when none comes.

mod attempt;
mod endpoint;
mod events;
mod forward;
mod key;
mod transcriber;
mod transport;
mod wait;
mod window;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBuilder};
use bytes::Bytes;
use ctx_pipeline::Cancel;
use ctx_wire::{Dialect, Reply};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use tracing::Instrument as _;

pub use endpoint::{Endpoint, RetryPolicy, TimeLimits};
pub use forward::RawResponse;
pub use key::ApiKey;
pub use transcriber::AudioTranscriber;

use crate::error::ClientError;
use crate::model::{ChatModel, Progress, RequestFailure, Watch};
use attempt::Attempt;

/// Asks a provider for answers. `Send + Sync`; connections are kept and shared by clones.
///
/// Requests go out byte for byte as they are given; whether the answer comes as a stream is what the body asks
/// for. Nothing is sent again once a piece of an answer came.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    endpoint: Endpoint,
    headers: HeaderMap,
}

impl Client {
    /// Makes a client; nothing is connected yet.
    ///
    /// Errors: [`ClientError::Config`] for an address, a header or certificates that cannot be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ClientError> {
        let made = endpoint.parsed().and_then(|url| Ok((transport::open(&endpoint, &url)?, url)));
        let (http, url) = made.map_err(|error| error.cleaned(&|text| endpoint.redact(text)))?;
        Ok(Self { http, url, endpoint, headers: HeaderMap::new() })
    }

    /// Returns a client on the same connections that sends these headers, too. A header of the endpoint is kept, but
    /// values of `anthropic-beta` are joined, and `anthropic-version` is replaced.
    #[must_use]
    pub fn with_headers(&self, mut headers: HeaderMap) -> Self {
        const BETA: &str = "anthropic-beta";
        let own = self.endpoint.header_map().ok().and_then(|own| own.get(BETA).cloned());
        if let (Some(own), Some(given)) = (own, headers.get(BETA))
            && let Ok(joined) = HeaderValue::from_bytes(&[own.as_bytes(), b",", given.as_bytes()].concat())
        {
            headers.insert(BETA, joined);
        }
        let is_kept = |name: &&str| ![BETA, "anthropic-version"].contains(&name.to_lowercase().as_str());
        for name in self.endpoint.headers.iter().map(|(name, _)| name.as_str()).filter(is_kept) {
            headers.remove(name);
        }
        Self { headers, ..self.clone() }
    }

    /// Returns a client on the same connections with at most this number of retries.
    #[must_use]
    pub fn with_retries(mut self, limit: usize) -> Self {
        let retries = &mut self.endpoint.retry.retries;
        *retries = limit.min(*retries);
        self
    }

    /// Returns the endpoint.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a request, and again as long as that may help.
    async fn attempts(
        &self,
        body: Bytes,
        watch: &mut Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, RequestFailure> {
        let policy = &self.endpoint.retry;
        let waits = ExponentialBuilder::new()
            .with_min_delay(policy.first_wait)
            .with_max_delay(policy.longest_wait)
            .with_max_times(policy.retries)
            .with_jitter();
        let (mut waits, mut kept) = (waits.build(), Some(body));
        for attempt in 1.. {
            let Some(body) = kept.clone() else { break };
            // What has begun to be answered is not sent again.
            let mut heard = |progress: Progress| {
                if matches!(progress, Progress::Delta(_)) {
                    kept = None;
                }
                watch(progress);
            };
            let failure = match Attempt::new(self, cancel).run(body, &mut heard).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let may_retry = failure.partial.is_none() && failure.cause.is_transient();
            let Some(wait) = waits.next().filter(|_| may_retry) else { return Err(failure) };
            let wait = wait.max(asked(&failure.cause));
            if wait > policy.longest_asked {
                return Err(failure);
            }
            tracing::info!(attempt, ?wait, code = failure.cause.code(), "retrying a request");
            let reason = failure.cause.cleaned(&|text| self.endpoint.redact(text)).phrase();
            watch(Progress::Retry { attempt, wait, reason });
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
            }
        }
        Err(ClientError::Cancelled.into())
    }
}

#[async_trait]
impl ChatModel for Client {
    fn dialect(&self) -> Dialect {
        self.endpoint.dialect
    }

    fn server(&self) -> Option<&str> {
        self.url.host_str()
    }

    fn redact(&self, text: String) -> String {
        self.endpoint.redact(text)
    }

    async fn ask(
        &self,
        body: Bytes,
        watch: &mut Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, RequestFailure> {
        let span = tracing::debug_span!("ask", bytes = body.len());
        let result = self.attempts(body, watch, cancel).instrument(span).await;
        result.map_err(|failure| RequestFailure {
            cause: failure.cause.cleaned(&|text| self.endpoint.redact(text)),
            partial: failure.partial,
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// How long the provider asked to wait.
fn asked(cause: &ClientError) -> Duration {
    match cause {
        ClientError::Provider { retry_after, .. } => retry_after.unwrap_or_default(),
        _ => Duration::ZERO,
    }
}
