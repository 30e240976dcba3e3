//! Requests that pass to a provider without an agent's preset.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode, header};
use ctx_chat::{ChatModel as _, Client, ClientError, RawResponse, TurnPreview};
use ctx_types::internal::excerpt;
use ctx_types::phrase;
use ctx_wire::{Dialect, ReplyUsage};
use futures_util::stream;
use serde_json::{Deserializer, Map, Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;

use crate::api_error::ApiError;
use crate::body::RequestBody;
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::limits::UsageGuard;
use crate::metrics::GaugeGuard;
use crate::provider_relay::CLIENT_TIMEOUT;
use crate::request_options::{RequestOptions, has_same_provider, returned_headers};
use crate::routes::json_bytes;
use crate::spans::Span;
use crate::turn::CHUNK_BUFFER;

/// Maximum size of an error or a count, in bytes.
const MAX_SMALL: usize = 64 << 10;

/// Size of the end of a response that contains the usage, in bytes. Metadata of Responses may follow it.
const TAIL: usize = 32 << 10;

/// Maximum number of places in it that may be the usage.
const MAX_USAGES: usize = 64;

/// Bytes of a token, for a response without usage.
const BYTES_PER_TOKEN: u64 = 4;

/// Fields that Anthropic counts. Other fields are invalid there.
const COUNTED: [&str; 8] =
    ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"];

/// The provider of a forwarded request.
#[derive(Debug)]
pub(crate) struct Provider {
    client: Client,
    /// Model that replaces the agent's name. Without it, the body is sent unchanged.
    model: Option<String>,
}

/// A request that is forwarded.
#[derive(Debug)]
pub(crate) struct ForwardedRequest {
    pub(crate) dialect: Dialect,
    /// Path below the provider's base URL.
    pub(crate) path: String,
    pub(crate) options: RequestOptions,
    pub(crate) body: RequestBody,
}

impl Provider {
    /// Returns the provider for a model name that no agent has, if the operator and the key allow it.
    pub(crate) fn for_other_model(
        server: &Server,
        key: &KeyEntry,
        dialect: Dialect,
        model: &str,
    ) -> Result<Option<Self>, ApiError> {
        let Some(client) = &server.passthrough else { return Ok(None) };
        // A Gemini request has the model in its URL.
        let is_odd = |letter: char| letter.is_control() || ['%', '\\'].contains(&letter);
        let is_name = !model.is_empty() && !model.contains("..") && !model.contains(is_odd);
        if !is_name || server.agents.has_name(model) {
            return Ok(None);
        }
        key.check_agent(model)?;
        let provider = client.endpoint().dialect;
        if !has_same_provider(dialect, provider) {
            let text = phrase!(
                "no agent `{model}`; other models need the API dialect `{dialect}`",
                model = excerpt(model),
                dialect = provider.name()
            );
            return Err(ApiError::not_found(text).at("model"));
        }
        Ok(Some(Self { client: client.clone(), model: None }))
    }

    /// Returns the provider of an agent.
    pub(crate) async fn for_agent(
        server: &Server,
        key: &KeyEntry,
        dialect: Dialect,
        model: &str,
    ) -> Result<Self, ApiError> {
        let agent = server.agents.get(model).await?;
        key.check_agent(&agent.agent)?;
        let client = agent.complete_clients[0].clone();
        let endpoint = client.endpoint();
        if !has_same_provider(dialect, endpoint.dialect) {
            let text = phrase!(
                "the provider of `{agent}` uses the API dialect `{dialect}`, which does not have this path",
                agent = &agent.agent,
                dialect = endpoint.dialect.name()
            );
            return Err(ApiError::not_found(text).at("model"));
        }
        let model = endpoint.model.clone();
        Ok(Self { client, model })
    }

    /// Returns the name of a model in the provider's URL.
    pub(crate) fn model<'a>(&'a self, given: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(given).trim_start_matches("models/")
    }
}

/// Sends a request to a provider. The response passes unchanged, as it arrives.
pub(crate) async fn forward(
    server: &Arc<Server>,
    key: &KeyEntry,
    provider: Provider,
    request: ForwardedRequest,
    span: Arc<Span>,
) -> Result<Response<Body>, ApiError> {
    let ForwardedRequest { dialect, path, options, body } = request;
    let Provider { client, model } = provider;
    let RequestBody { bytes, mut json, .. } = body;
    let is_changed = model.is_some_and(|model| replace_model(&mut json, model, client.endpoint().dialect));
    let bytes = if is_changed { Value::Object(json).to_string().into_bytes() } else { bytes };
    if options.dry_run {
        return Ok(json_bytes(bytes));
    }
    // Counting tokens has no usage and costs nothing.
    let is_count = path.ends_with("/count_tokens") || path.ends_with(":countTokens");
    let bytes_sent = (!is_count).then_some(bytes.len() as u64);
    let usage_guard = server.meters.start_turn(key)?;
    let open_turn = GaugeGuard::new(server.clone(), |metrics| &metrics.open_turns);
    let headers = options.headers_for(dialect, client.endpoint().dialect);
    let client = client.with_headers(headers).with_parameters(&options.parameters);
    let mut response = client.forward(&path, bytes.into(), &server.end).await?;
    let status = StatusCode::from_u16(response.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = returned_headers(response.headers());
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING] {
        headers.extend(response.headers().get(&name).map(|value| (name, value.clone())));
    }
    let body = if status.is_success() {
        let (server, tail) = (server.clone(), Vec::new());
        let passing = PassingResponse {
            response,
            server,
            usage_guard,
            tail,
            bytes_sent,
            bytes_received: 0,
            has_failed: false,
            _open_turn: open_turn,
            _span: span,
        };
        passing.into_body()
    } else {
        server.metrics.count_turn(ReplyUsage::default(), true);
        // An error may repeat the API key.
        let error = read_small(&mut response).await?;
        client.redact(String::from_utf8_lossy(&error).into_owned()).into()
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Replaces the model of a body, and of each of the requests in it. Returns whether it has one.
fn replace_model(json: &mut Map<String, Value>, model: String, dialect: Dialect) -> bool {
    let model = match dialect {
        Dialect::Gemini => format!("models/{}", model.trim_start_matches("models/")),
        _ => model,
    };
    let mut has_model = false;
    let mut replace = |given: &mut Value| {
        *given = model.as_str().into();
        has_model = true;
    };
    json.get_mut("model").into_iter().for_each(&mut replace);
    if dialect == Dialect::Gemini {
        let requests = json.get_mut("requests").and_then(Value::as_array_mut);
        requests.into_iter().flatten().filter_map(|request| request.get_mut("model")).for_each(replace);
    }
    has_model
}

/// Reads a short body. Ignores the rest of a longer body.
async fn read_small(response: &mut RawResponse) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    while body.len() < MAX_SMALL
        && let Some(bytes) = response.chunk().await?
    {
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// A response that passes unchanged. Its usage is counted when it ends.
struct PassingResponse {
    response: RawResponse,
    server: Arc<Server>,
    usage_guard: UsageGuard,
    /// The last bytes.
    tail: Vec<u8>,
    /// Bytes of the request, if it costs tokens.
    bytes_sent: Option<u64>,
    bytes_received: u64,
    has_failed: bool,
    _open_turn: GaugeGuard,
    /// Keeps the request's span open until the response ends.
    _span: Arc<Span>,
}

impl PassingResponse {
    fn into_body(self) -> Body {
        let (sender, receiver) = channel(CHUNK_BUFFER);
        tokio::spawn(self.send_to(sender));
        Body::from_stream(stream::try_unfold(receiver, |mut receiver| async move {
            let bytes = receiver.recv().await.unwrap_or(Err(ClientError::Cancelled))?;
            Ok::<_, ClientError>(bytes.map(|bytes| (bytes, receiver)))
        }))
    }

    /// Sends the chunks, then `None`. Stops without it if the client is gone or too slow.
    async fn send_to(mut self, sender: Sender<Result<Option<Bytes>, ClientError>>) {
        let last = loop {
            let next = tokio::select! {
                next = self.next() => next,
                () = sender.closed() => return,
            };
            if !matches!(next, Ok(Some(_))) {
                break next;
            }
            if !matches!(timeout(CLIENT_TIMEOUT, sender.send(next)).await, Ok(Ok(()))) {
                return;
            }
        };
        // Count the usage before the client sees the end.
        drop(self);
        drop(timeout(CLIENT_TIMEOUT, sender.send(last)).await);
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        let bytes = self.response.chunk().await;
        self.has_failed = bytes.is_err();
        if let Ok(Some(bytes)) = &bytes {
            self.bytes_received += bytes.len() as u64;
            self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
            let excess = self.tail.len().saturating_sub(TAIL);
            self.tail.drain(..excess);
        }
        bytes
    }
}

impl Drop for PassingResponse {
    fn drop(&mut self) {
        let usage = usage_in(&String::from_utf8_lossy(&self.tail));
        self.server.metrics.count_turn(usage, self.has_failed);
        let mut tokens = usage.input.saturating_add(usage.output);
        // Streams of chat completions have a usage only on request. Interrupted streams do not have one.
        if let Some(sent) = self.bytes_sent.filter(|_| usage.input == 0) {
            let received = if tokens == 0 { self.bytes_received } else { 0 };
            tokens = tokens.saturating_add((sent + received) / BYTES_PER_TOKEN);
        }
        self.usage_guard.add_tokens(tokens);
    }
}

/// Reads the usage at the end of a response of any API, streaming or complete.
fn usage_in(tail: &str) -> ReplyUsage {
    let keys = ["\"usage\"", "\"usageMetadata\""];
    let mut found: Vec<(usize, &str)> = keys.into_iter().flat_map(|key| tail.match_indices(key)).collect();
    found.sort_unstable();
    let mut values = found.iter().rev().take(MAX_USAGES).filter_map(|(start, key)| {
        let value = tail[start + key.len()..].trim_start().strip_prefix(':')?;
        Deserializer::from_str(value).into_iter::<Value>().next()?.ok()
    });
    // Metadata may have the same name.
    let usage = values.find(Value::is_object).unwrap_or_default();
    let sum = |names: &[&str]| {
        names.iter().filter_map(|name| usage.get(name)?.as_u64()).fold(0, u64::saturating_add)
    };
    ReplyUsage {
        input: sum(&[
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "prompt_tokens",
            "promptTokenCount",
        ]),
        cached: None,
        output: sum(&["output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount"]),
    }
}

/// Returns the number of tokens of a request, from the provider or from the model's counter.
pub(crate) async fn count_tokens(server: &Server, client: &Client, preview: &TurnPreview) -> u64 {
    provider_count(server, client, &preview.body).await.unwrap_or(preview.tokens)
}

async fn provider_count(server: &Server, client: &Client, body: &[u8]) -> Option<u64> {
    let endpoint = client.endpoint();
    let mut body: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let (path, body, key) = match endpoint.dialect {
        Dialect::Anthropic => {
            body.retain(|key, _| COUNTED.contains(&key.as_str()));
            ("messages/count_tokens".to_owned(), Value::Object(body), "input_tokens")
        }
        Dialect::Gemini => {
            let model = endpoint.model.as_deref()?.trim_start_matches("models/");
            body.insert("model".to_owned(), format!("models/{model}").into());
            let body = json!({ "generateContentRequest": body });
            (format!("models/{model}:countTokens"), body, "totalTokens")
        }
        _ => return None,
    };
    let body = body.to_string().into_bytes().into();
    let mut response = client.forward(&path, body, &server.end).await.ok()?;
    if response.status() != 200 {
        return None;
    }
    let body = read_small(&mut response).await.ok()?;
    serde_json::from_slice::<Value>(&body).ok()?.get(key)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tail: &str, input: u64, output: u64) {
        assert_eq!(usage_in(tail), ReplyUsage { input, cached: None, output });
    }

    #[test]
    fn reads_usage_of_each_api() {
        check(r#"{"data":[],"usage":{"prompt_tokens":5,"total_tokens":5}}"#, 5, 0);
        check(
            r#"data: {"usage":null}

data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}

data: [DONE]

"#,
            5,
            3,
        );
        check(r#"0}],"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":3}}"#, 7, 3);
        check(
            r#"{"usageMetadata": {"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1}}"#,
            5,
            3,
        );
        check(r#"{"usage":{"input_tokens":5,"output_tokens":3},"metadata":{"usage":"x"}}"#, 5, 3);
        check(r#"{"text":"the \"usage\" of words"}"#, 0, 0);
        check("", 0, 0);
    }
}
