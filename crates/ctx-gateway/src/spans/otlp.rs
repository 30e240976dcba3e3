//! Exports spans with OTLP over HTTP, as JSON. A task sends batches; spans that do not fit into its queue are dropped.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ctx_types::{Phrase, phrase};
use ctx_wire::Dialect;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::FinishedSpan;
use crate::keys::random_name;
use crate::lock;

/// Time limit for sending a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for collecting a batch.
const DELAY: Duration = Duration::from_secs(2);

/// Maximum number of spans in a batch.
const MAX_BATCH: usize = 512;

/// Maximum number of queued spans.
const MAX_QUEUE: usize = 2_048;

/// Connection to a collector.
#[derive(Debug)]
pub(crate) struct Exporter {
    /// Queue and its task, until the exporter is closed.
    open: Mutex<Option<(Sender<Value>, JoinHandle<()>)>>,
}

impl Exporter {
    /// Prepares the export to a collector URL. Additional headers come from `OTEL_EXPORTER_OTLP_HEADERS`. Requires an
    /// async runtime.
    pub(crate) fn open(address: &str) -> Result<Self, Phrase> {
        let wrong = |reason: String| {
            phrase!(
                "cannot send spans to `{address}`: {reason}",
                address = ctx_chat::redact_url(address),
                reason
            )
        };
        let headers = std::env::var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let client = client(address.starts_with("https:"), headers_of(&headers)).map_err(&wrong)?;
        let url = format!("{}/v1/traces", address.trim_end_matches('/'));
        let url = url.parse::<reqwest::Url>().map_err(|error| wrong(error.to_string()))?;
        let (sender, spans) = channel(MAX_QUEUE);
        let task = tokio::spawn(export(client, url, spans));
        Ok(Self { open: Mutex::new(Some((sender, task))) })
    }

    pub(super) fn send(&self, ended: &FinishedSpan) {
        let Some(span) = span(ended) else { return };
        let open = lock(&self.open);
        if open.as_ref().is_some_and(|(sender, _)| sender.try_send(span).is_err()) {
            tracing::debug!("a span was dropped");
        }
    }

    /// Sends the queued spans and waits for the collector.
    pub(crate) async fn close(&self) {
        let open = lock(&self.open).take();
        let Some((sender, task)) = open else { return };
        drop(sender);
        if timeout(EXPORT_TIMEOUT, task).await.is_err() {
            tracing::warn!("the last spans were not sent");
        }
    }
}

/// Sends batches of spans until the queue is closed and empty.
async fn export(client: reqwest::Client, url: reqwest::Url, mut spans: Receiver<Value>) {
    while let Some(span) = spans.recv().await {
        let mut batch = vec![span];
        drop(timeout(DELAY, fill(&mut spans, &mut batch)).await);
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [attribute("service.name", &json!({ "stringValue": "ctx" }))] },
            "scopeSpans": [{ "scope": { "name": "ctx-gateway" }, "spans": batch }],
        }] });
        let sent = client.post(url.clone()).body(body.to_string()).send().await;
        if let Err(error) = sent.and_then(reqwest::Response::error_for_status) {
            tracing::warn!(error = %error.without_url(), "spans were not sent");
        }
    }
}

/// Adds queued spans to a batch until it is full or the queue is closed.
async fn fill(spans: &mut Receiver<Value>, batch: &mut Vec<Value>) {
    while batch.len() < MAX_BATCH && spans.recv_many(batch, MAX_BATCH - batch.len()).await > 0 {}
}

/// Encodes a span. Returns `None` if the system has no random numbers.
fn span(ended: &FinishedSpan) -> Option<Value> {
    let (turn, usage) = (&ended.turn, ended.turn.usage);
    let provider = match ended.dialect {
        Dialect::Anthropic => "anthropic",
        Dialect::Gemini => "gcp.gemini",
        _ => "openai",
    };
    // 64-bit numbers are strings in the JSON of OTLP.
    let number = |number: u64| json!({ "intValue": number.to_string() });
    let text = |text: &str| json!({ "stringValue": text });
    let optional = [
        ("gen_ai.usage.cache_read.input_tokens", usage.cached.map(number)),
        ("gen_ai.agent.name", turn.agent.as_deref().map(text)),
        ("server.address", turn.server.as_deref().map(text)),
        ("ctx.ready_seconds", turn.ready.map(|ready| json!({ "doubleValue": ready.as_secs_f64() }))),
        ("error.type", turn.error.map(text)),
    ];
    let mut attributes = vec![
        attribute("http.response.status_code", &number(ended.status.into())),
        attribute("gen_ai.operation.name", &text("chat")),
        attribute("gen_ai.provider.name", &text(provider)),
        attribute("ctx.dialect", &text(ended.dialect.name())),
        attribute("gen_ai.usage.input_tokens", &number(usage.input)),
        attribute("gen_ai.usage.output_tokens", &number(usage.output)),
    ];
    attributes.extend(optional.into_iter().filter_map(|(key, value)| Some(attribute(key, &value?))));
    let has_failed = ended.status >= 500 || turn.error.is_some();
    let nanos = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
    Some(json!({
        "traceId": random_name().ok()?,
        "spanId": &random_name().ok()?[..16],
        "name": "ctx.request",
        "kind": 2,
        "startTimeUnixNano": nanos(ended.begun),
        "endTimeUnixNano": nanos(SystemTime::now()),
        "attributes": attributes,
        "status": { "code": if has_failed { 2 } else { 0 } },
    }))
}

fn attribute(key: &str, value: &Value) -> Value {
    json!({ "key": key, "value": value })
}

/// Reads headers in the form `name=value,name=value`. Values are percent-encoded; invalid headers are skipped.
fn headers_of(text: &str) -> HeaderMap {
    let header = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?))
    };
    text.split(',').filter_map(header).collect()
}

fn client(is_secure: bool, mut headers: HeaderMap) -> Result<reqwest::Client, String> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let tls = tls.map_err(|error| error.to_string())?;
    let tls = if is_secure {
        tls.with_platform_verifier().map_err(|error| error.to_string())?
    } else {
        // A small machine may have no certificates.
        tls.with_root_certificates(RootCertStore::empty())
    };
    let client = reqwest::Client::builder().tls_backend_preconfigured(tls.with_no_client_auth());
    let client = client.default_headers(headers).timeout(EXPORT_TIMEOUT);
    client.build().map_err(|error| error.without_url().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers_of_environment() {
        let headers = headers_of("x-team=lamps, authorization=Bearer%20abc,broken,b ad=1");
        let read: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(read, [("x-team", "lamps"), ("authorization", "Bearer abc")]);
    }
}
