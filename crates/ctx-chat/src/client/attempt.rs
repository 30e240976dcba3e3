//! One attempt: a request goes out, an answer comes in, whole or in pieces.

use bytes::Bytes;
use ctx_pipeline::Cancel;
use ctx_types::phrase;
use ctx_wire::{Failure, FailureKind, Reply, ReplyStream, StreamError};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION};

use crate::client::Client;
use crate::client::events::Events;
use crate::client::transport::{is_refused, is_unresolved, is_untrusted, is_without_tls, words};
use crate::client::wait::{Until, asked_wait};
use crate::error::{ClientError, Phase};
use crate::model::{Progress, RequestFailure, Watch};

/// How much of the body of an error is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// How much larger than its words the JSON of an answer may be.
const JSON_SHARE: usize = 2;

/// How long the end of a stream is waited for once its answer is whole.
const LAST_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// An attempt under way.
pub(super) struct Attempt<'a> {
    client: &'a Client,
    cancel: &'a Cancel,
    /// When the first piece must be there.
    first: Until,
    /// When everything must be there.
    answer: Until,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(client: &'a Client, cancel: &'a Cancel) -> Self {
        let time = &client.endpoint.time;
        let answer = Until::new(Phase::Answer, time.answer);
        Self { client, cancel, first: Until::new(Phase::FirstToken, time.first_token).or(answer), answer }
    }

    /// Sends the request and reads the answer.
    pub(super) async fn run(self, body: Bytes, watch: &mut Watch<'_>) -> Result<Reply, RequestFailure> {
        let request = self.client.http.post(self.client.url.clone());
        let request = request.headers(self.client.headers.clone()).body(body);
        let response = self.first.wait(self.cancel, request.send()).await?;
        let response = response.map_err(|error| self.client.lost(error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        watch(Progress::Response { status, headers });
        if !response.status().is_success() {
            return Err(self.refusal(response).await?.into());
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.map(str::to_ascii_lowercase).unwrap_or_default();
        if kind.contains("html") {
            let message = "the response is a web page; check the base URL".to_owned();
            let failure = Failure { kind: FailureKind::Unreadable, status: None, code: None, message };
            return Err(ClientError::Provider { failure, retry_after: None }.into());
        }
        if kind.contains("json") {
            Ok(self.whole(response, watch).await?)
        } else {
            self.streamed(response, watch).await
        }
    }

    async fn refusal(&self, mut response: Response) -> Result<ClientError, ClientError> {
        if let Some(base_url) = self.redirection(&response) {
            return Ok(ClientError::Redirected { base_url });
        }
        let (status, retry_after) = (response.status().as_u16(), asked_wait(response.headers()));
        let mut body = Vec::new();
        while body.len() < MAX_ERROR {
            // What says why is welcome, but the status alone says enough.
            match self.first.wait(self.cancel, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Err(ClientError::Cancelled) => return Err(ClientError::Cancelled),
                _ => break,
            }
        }
        body.truncate(MAX_ERROR);
        let failure = Failure::read(status, &String::from_utf8_lossy(&body));
        Ok(ClientError::Provider { failure, retry_after })
    }

    /// Returns the base URL at the address that a redirection names.
    fn redirection(&self, response: &Response) -> Option<String> {
        let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
        let target = self.client.url.join(location.to_str().ok()?).ok()?;
        let url = self.client.url.as_str();
        let path = url.strip_prefix(self.client.endpoint.base_url.trim().trim_end_matches('/'));
        Some(path.and_then(|path| target.as_str().strip_suffix(path)).unwrap_or(target.as_str()).to_owned())
    }

    /// Reads an answer that does not come as a stream.
    async fn whole(&self, mut response: Response, watch: &mut Watch<'_>) -> Result<Reply, ClientError> {
        let limit = self.client.endpoint.reply.bytes.saturating_mul(JSON_SHARE);
        let mut body = Vec::new();
        while let Some(bytes) = self.next(self.first, &mut response).await? {
            if body.len() + bytes.len() > limit {
                return Err(ClientError::TooLarge { limit });
            }
            body.extend_from_slice(&bytes);
        }
        let provider = |failure| ClientError::Provider { failure, retry_after: None };
        let value = serde_json::from_slice(&body).map_err(|_| {
            let text = String::from_utf8_lossy(&body);
            StreamError::Malformed { excerpt: ctx_types::internal::excerpt(&text).into_owned() }
        })?;
        let reply = self.client.endpoint.dialect.decode(&value).map_err(provider)?;
        self.client.endpoint.reply.check(&reply)?;
        watch(Progress::Whole(String::from_utf8_lossy(&body).into()));
        Ok(reply)
    }

    async fn streamed(&self, mut response: Response, watch: &mut Watch<'_>) -> Result<Reply, RequestFailure> {
        let mut stream = ReplyStream::new(self.client.endpoint.dialect, self.client.endpoint.reply);
        match self.read(&mut response, &mut stream, watch).await {
            Ok(()) => Ok(stream.finish().map_err(ClientError::from)?),
            // An answer that was whole before its stream broke is an answer.
            Err(cause) if stream.is_complete() && !matches!(cause, ClientError::Cancelled) => {
                Ok(stream.finish().map_err(ClientError::from)?)
            }
            Err(cause) => {
                let partial = stream.has_begun().then(|| Box::new(stream.partial()));
                Err(RequestFailure { cause, partial })
            }
        }
    }

    /// Reads the pieces of an answer to its end.
    async fn read(
        &self,
        response: &mut Response,
        stream: &mut ReplyStream,
        watch: &mut Watch<'_>,
    ) -> Result<(), ClientError> {
        let (mut events, mut last) = (Events::default(), None);
        while !stream.is_done() {
            let until = if stream.is_complete() {
                *last.get_or_insert_with(|| self.last_wait())
            } else {
                self.patience(stream)
            };
            let Some(bytes) = self.next(until, response).await? else {
                return end(events, stream, watch);
            };
            events.push(&bytes, &mut |data| push(stream, data, watch))?;
        }
        Ok(())
    }

    /// How long the next piece may take.
    fn patience(&self, stream: &ReplyStream) -> Until {
        if stream.has_begun() {
            Until::new(Phase::NextToken, self.client.endpoint.time.stall).or(self.answer)
        } else {
            self.first
        }
    }

    /// How long the end of the stream may take once the answer is whole.
    fn last_wait(&self) -> Until {
        Until::new(Phase::NextToken, self.client.endpoint.time.stall.min(LAST_WAIT)).or(self.answer)
    }

    async fn next(&self, until: Until, response: &mut Response) -> Result<Option<Vec<u8>>, ClientError> {
        let bytes = until.wait(self.cancel, response.chunk()).await?;
        Ok(bytes.map_err(|error| self.client.lost(error))?.map(Into::into))
    }
}

/// Takes what the stream did not complete; where that is half an event, the stream was cut off.
fn end(events: Events, stream: &mut ReplyStream, watch: &mut Watch<'_>) -> Result<(), ClientError> {
    if let Some(data) = events.finish()?
        && let Err(error) = push(stream, &data, watch)
    {
        return Err(match error {
            StreamError::Malformed { .. } => StreamError::Truncated.into(),
            error => error.into(),
        });
    }
    if stream.is_complete() { Ok(()) } else { Err(StreamError::Truncated.into()) }
}

fn push(stream: &mut ReplyStream, data: &str, watch: &mut Watch<'_>) -> Result<(), StreamError> {
    for delta in stream.push(data)? {
        watch(Progress::Delta(delta));
    }
    watch(Progress::Event(data.into()));
    Ok(())
}

impl Client {
    /// Describes how a connection was lost.
    pub(super) fn lost(&self, error: reqwest::Error) -> ClientError {
        let host = self.url.host_str().unwrap_or_default().to_owned();
        if error.is_connect() && error.is_timeout() {
            return ClientError::TimedOut { phase: Phase::Connect, limit: self.endpoint.time.connect };
        }
        match error.is_connect() {
            true if is_refused(&error) => {
                let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
                ClientError::ConnectionRefused { host: host + &port }
            }
            true if is_unresolved(&error) => ClientError::UnknownHost { host },
            true if is_without_tls(&error) => ClientError::Config(phrase!(
                "the server at `{host}` does not use TLS; use `http://` in the base URL",
                host
            )),
            true if is_untrusted(&error) => ClientError::Untrusted { host, detail: words(error) },
            true => ClientError::Unreachable { host, detail: words(error) },
            false => ClientError::Disconnected { host, detail: words(error) },
        }
    }
}
