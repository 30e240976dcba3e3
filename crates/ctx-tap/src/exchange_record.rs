//! Copies an exchange while it is relayed.

use std::time::{Duration, Instant, SystemTime};

use ctx_wire::Dialect;

use crate::body_scanner::BodyLength;
use crate::exchange::{BodyCopy, Exchange, ReadTime, ResponseCopy, WebSocketCopy};
use crate::head::{RequestHead, ResponseHead};
use crate::recorder::Recorder;
use crate::upstream::{Upstream, api};

/// Copy of an exchange. Dropping it records the exchange.
pub(crate) struct ExchangeRecord<'r> {
    recorder: Option<&'r Recorder>,
    at: SystemTime,
    api: Dialect,
    host: String,
    path: String,
    head: &'r RequestHead,
    pub(crate) request: Option<BodyCopy>,
    pub(crate) response: RecordedResponse,
    /// Times of a WebSocket connection.
    pub(crate) sent_times: Vec<ReadTime>,
    error: Option<String>,
}

/// The copied part of a response.
pub(crate) struct RecordedResponse {
    begun: Instant,
    status: Option<u16>,
    first: Option<Duration>,
    pub(crate) copy: Option<BodyCopy>,
    /// Whether the body has no length.
    pub(crate) is_until_close: bool,
    /// Extensions of a WebSocket connection.
    websocket: Option<String>,
    /// Times of a WebSocket connection.
    pub(crate) received_times: Vec<ReadTime>,
}

impl<'r> ExchangeRecord<'r> {
    pub(crate) fn start(
        recorder: Option<&'r Recorder>,
        head: &'r RequestHead,
        upstream: &Upstream,
        target: &str,
    ) -> Self {
        let is_request = head.method == "POST" || head.header("upgrade").is_some();
        let api = api(target).filter(|_| is_request);
        let recorder = recorder.filter(|_| api.is_some());
        Self {
            recorder,
            at: SystemTime::now(),
            api: api.unwrap_or_default(),
            host: upstream.host().to_owned(),
            // Not that of the upstream, whose base path may hold a secret.
            path: head.target.clone(),
            head,
            request: recorder
                .map(|recorder| recorder.empty_copy(head.header("content-encoding").unwrap_or_default())),
            response: RecordedResponse {
                begun: Instant::now(),
                status: None,
                first: None,
                copy: recorder.map(|recorder| recorder.empty_copy("")),
                is_until_close: false,
                websocket: None,
                received_times: Vec::new(),
            },
            sent_times: Vec::new(),
            error: Some("the proxy ended before the response".to_owned()),
        }
    }

    pub(crate) fn finish(&mut self) {
        self.error = None;
    }

    pub(crate) fn fail(&mut self, reason: String) {
        self.error = Some(reason);
    }
}

impl RecordedResponse {
    pub(crate) fn set_head(&mut self, head: &ResponseHead) {
        self.status = Some(head.status);
        self.is_until_close = head.length == BodyLength::UntilClose;
        if head.status == 101 {
            let extensions = head.header("sec-websocket-extensions").unwrap_or_default();
            self.websocket = Some(extensions.to_ascii_lowercase());
        }
        if let Some(copy) = &mut self.copy {
            copy.encoding = head.header("content-encoding").unwrap_or_default().to_owned();
            let kind = head.header("content-type").unwrap_or_default();
            copy.is_event_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        }
    }

    pub(crate) fn add(&mut self, data: &[u8]) {
        self.first.get_or_insert_with(|| self.begun.elapsed());
        if let Some(copy) = &mut self.copy {
            copy.add(data);
        }
    }
}

impl Drop for ExchangeRecord<'_> {
    fn drop(&mut self) {
        // A client without a WebSocket connection sends its requests in another way.
        let has_request = self.head.method == "POST" || self.response.websocket.is_some();
        let Some(recorder) = self.recorder.filter(|_| has_request) else { return };
        let (Some(request), Some(response)) = (self.request.take(), self.response.copy.take()) else {
            return;
        };
        let response = match self.response.websocket.take() {
            Some(extensions) => ResponseCopy::WebSocket(WebSocketCopy {
                received: response,
                extensions,
                sent_times: std::mem::take(&mut self.sent_times),
                received_times: std::mem::take(&mut self.response.received_times),
            }),
            None => ResponseCopy::Body(response),
        };
        recorder.record(Exchange {
            at: self.at,
            api: self.api,
            host: std::mem::take(&mut self.host),
            path: std::mem::take(&mut self.path),
            headers: self.head.headers.clone(),
            thread: None,
            request,
            status: self.response.status,
            first: self.response.first,
            took: self.response.begun.elapsed(),
            response,
            error: self.error.take(),
        });
    }
}
