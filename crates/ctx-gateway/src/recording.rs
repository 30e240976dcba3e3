//! Records requests to providers.

use std::time::{Instant, SystemTime};

use axum::body::Bytes;
use axum::http::HeaderMap;
use ctx_chat::{ChatModel as _, Client, Progress};
use ctx_tap::{Exchange, Header, Recorder, ResponseCopy};
use url::{Position, Url};

/// Log of the requests of a turn.
#[derive(Debug)]
pub(crate) struct TurnRecorder {
    pub(crate) recorder: Recorder,
    /// Stored id of the conversation, if it has a name.
    pub(crate) conversation: Option<String>,
}

/// A request that waits for its response.
pub(crate) struct RequestRecord<'r> {
    recorder: &'r Recorder,
    begun: Instant,
    exchange: Exchange,
}

impl TurnRecorder {
    /// Begins to record a request. `headers` come from the client.
    pub(crate) fn start(&self, client: &Client, headers: &HeaderMap, body: &Bytes) -> RequestRecord<'_> {
        let url = client.endpoint().url().ok().and_then(|url| url.parse::<Url>().ok());
        let path = url.map(|url| url[Position::BeforePath..Position::AfterQuery].to_owned());
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| Header {
            name: name.as_str().to_owned(),
            value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        let exchange = Exchange {
            at: SystemTime::now(),
            api: client.endpoint().dialect,
            host: client.server().unwrap_or_default().to_owned(),
            path: path.unwrap_or_default(),
            headers: headers.iter().map(header).collect(),
            thread: self.conversation.clone(),
            request: self.recorder.copy_body(body),
            status: None,
            first: None,
            took: std::time::Duration::ZERO,
            response: ResponseCopy::Events(Vec::new()),
            error: None,
        };
        RequestRecord { recorder: &self.recorder, begun: Instant::now(), exchange }
    }
}

impl RequestRecord<'_> {
    /// Records a part of the response.
    pub(crate) fn add(&mut self, progress: &Progress) {
        let Exchange { status, first, response, .. } = &mut self.exchange;
        match progress {
            Progress::Response { status: received, .. } => *status = Some(*received),
            Progress::Event(event) => {
                first.get_or_insert_with(|| self.begun.elapsed());
                if let ResponseCopy::Events(events) = response {
                    events.push(event.clone());
                }
            }
            Progress::Whole(body) => {
                first.get_or_insert_with(|| self.begun.elapsed());
                *response = ResponseCopy::Json(body.clone());
            }
            _ => {}
        }
    }

    /// Records the end of the response.
    pub(crate) fn finish(mut self, error: Option<String>) {
        self.exchange.took = self.begun.elapsed();
        self.exchange.error = error;
        self.recorder.record(self.exchange);
    }
}
