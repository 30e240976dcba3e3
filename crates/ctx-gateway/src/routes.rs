//! Routes and request handling.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use axum::routing::{get, post};
use ctx_types::internal::excerpt;
use ctx_types::phrase;
use ctx_wire::Dialect;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower_http::cors::{AllowHeaders, Any, CorsLayer};

use crate::api_error::{ApiError, ApiErrorKind};
use crate::authorized_request::AuthorizedRequest;
use crate::body::{ParsedBody, require_json};
use crate::conversations;
use crate::dialect::{self, ClientResponse, ResponseLabel, StreamWriter};
use crate::forward::{ForwardedRequest, Provider, count_tokens, forward};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::lock;
use crate::metrics::GaugeGuard;
use crate::models::{gemini_model, gemini_models, model, models};
use crate::provider_relay::StreamChunk;
use crate::request_options::{self, RequestOptions};
use crate::shared_prefix::SharedPrefix;
use crate::spans::Span;
use crate::stored_response::stored_response;
use crate::turn::{self, TurnHandle, TurnProgress};

/// Maximum number of characters of a loss in a header.
const MAX_LOSS: usize = 200;

/// Maximum length of all losses in a header, in bytes. Node.js accepts 16 KB of headers.
const MAX_LOSSES: usize = 4 << 10;

/// Maximum age of a preflight response.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

type App = State<Arc<Server>>;

/// Creates the router.
pub(crate) fn router(server: Arc<Server>) -> Router {
    let origins = server.origins.clone();
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(metrics))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(model))
        .route("/v1beta/models", get(gemini_models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(completions))
        .route("/v1/embeddings", post(embeddings))
        .route("/v1/responses", post(responses))
        .route("/v1/responses/{response}", get(response))
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_messages))
        .route("/v1beta/models/{*model}", post(gemini).get(gemini_model))
        .route("/v1/models/{*model}", post(gemini))
        .route("/conversations", get(list))
        .route("/conversations/{conversation}", get(show).delete(delete))
        .route("/conversations/{conversation}/turns/{turn}", get(report))
        .route("/turns/{turn}", get(unnamed_report))
        .route("/conversations/{conversation}/undo", post(undo))
        .route("/conversations/{conversation}/redo", post(redo))
        .fallback(|| async { route_error(404, phrase!("not found")) })
        .method_not_allowed_fallback(|| async { route_error(405, phrase!("method not allowed")) })
        .with_state(server);
    if origins.is_empty() { router } else { router.layer(cross_origin(origins)) }
}

/// Lets web pages of these origins send requests and read all headers of responses.
fn cross_origin(origins: Vec<HeaderValue>) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(PREFLIGHT_AGE)
}

fn route_error(status: u16, message: ctx_types::Phrase) -> Response<Body> {
    ApiError::new(status, ApiErrorKind::NotFound, message).into_response(Dialect::OpenaiChat)
}

/// A request for a model.
struct ModelRequest {
    dialect: Dialect,
    action: Action,
    /// Path below the provider's base URL. For Gemini, the part after the model.
    path: String,
    /// Model, for Gemini, which has it in the path.
    model: Option<String>,
}

/// Handling of a request for a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// A turn. The body selects a streaming or complete response.
    Reply,
    /// A turn, for Gemini, which has this selection in the path.
    ReplyAs {
        streams: bool,
    },
    CountTokens,
    /// The provider's response, unchanged.
    Forward,
}

impl ModelRequest {
    fn new(dialect: Dialect, action: Action, path: &str) -> Self {
        Self { dialect, action, path: path.to_owned(), model: None }
    }

    /// Returns the path below the base URL of a provider that has this model.
    fn provider_path(&self, model: &str) -> String {
        match self.model {
            Some(_) => format!("models/{model}:{}", self.path),
            None => self.path.clone(),
        }
    }
}

async fn chat(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::OpenaiChat, Action::Reply, "chat/completions");
    handle_model_request(server, model, query, request).await
}

async fn completions(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Completion, Action::Forward, "completions");
    handle_model_request(server, model, query, request).await
}

async fn embeddings(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::OpenaiChat, Action::Forward, "embeddings");
    handle_model_request(server, model, query, request).await
}

async fn responses(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::OpenaiResponses, Action::Reply, "responses");
    handle_model_request(server, model, query, request).await
}

async fn messages(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Anthropic, Action::Reply, "messages");
    handle_model_request(server, model, query, request).await
}

async fn count_messages(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Anthropic, Action::CountTokens, "messages/count_tokens");
    handle_model_request(server, model, query, request).await
}

/// The path contains the model and the method.
async fn gemini(
    State(server): App,
    Path(path): Path<String>,
    query: RawQuery,
    request: Request<Body>,
) -> Response<Body> {
    let found = path.rsplit_once(':').and_then(|(model, method)| {
        let action = match method {
            "generateContent" => Action::ReplyAs { streams: false },
            "streamGenerateContent" => Action::ReplyAs { streams: true },
            "countTokens" => Action::CountTokens,
            "embedContent" | "batchEmbedContents" => Action::Forward,
            _ => return None,
        };
        let request = ModelRequest::new(Dialect::Gemini, action, method);
        Some(ModelRequest { model: Some(model.to_owned()), ..request })
    });
    let Some(found) = found else {
        let text = phrase!(
            "`{path}` does not end in a known method, such as `:generateContent`",
            path = excerpt(&path)
        );
        return ApiError::not_found(text).into_response(Dialect::Gemini);
    };
    handle_model_request(server, found, query, request).await
}

/// Handles a request for a model. Converts errors to responses.
async fn handle_model_request(
    server: Arc<Server>,
    model: ModelRequest,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Response<Body> {
    let dialect = model.dialect;
    let span = Span::new(server.exporter.clone(), dialect);
    let result = respond(&server, &span, model, (query, request)).await;
    let response = result.unwrap_or_else(|error| {
        tracing::info!(status = error.status, code = error.code(), %dialect, "rejected a request");
        error.into_response(dialect)
    });
    let status = response.status().as_u16();
    server.metrics.count_response(dialect, status);
    span.set_status(status);
    response
}

async fn respond(
    server: &Arc<Server>,
    span: &Arc<Span>,
    model: ModelRequest,
    (query, request): (Option<String>, Request<Body>),
) -> Result<Response<Body>, ApiError> {
    let (since, dialect) = (Instant::now(), model.dialect);
    let (parts, body) = request.into_parts();
    let key = server.keys.authorize(&parts.headers, query.as_deref())?;
    let options = RequestOptions::from_headers(&parts.headers)?.with_query(query.as_deref());
    if server.keys.is_open() {
        require_json(&parts.headers)?;
    }
    let mut body = server.bodies.read(&key, (&parts.headers, body)).await?;
    let name = model.model.clone().unwrap_or_else(|| body.model().to_owned());
    let provider = match Provider::for_other_model(server, &key, dialect, &name)? {
        None if model.action == Action::Forward => {
            Some(Provider::for_agent(server, &key, dialect, &name).await?)
        }
        found => found,
    };
    if let Some(provider) = provider {
        let path = model.provider_path(provider.model(&name));
        let request = ForwardedRequest { dialect, path, options, body };
        return forward(server, &key, provider, request, span.clone()).await;
    }
    if model.action == Action::CountTokens
        && let Some(Value::Object(mut counted)) = body.json.shift_remove("generateContentRequest")
    {
        counted.shift_remove("model");
        body.json = counted;
    }
    let ParsedBody { mut body, memory } = body.parse(dialect).await?;
    if let Some(name) = model.model {
        body.model = name;
    }
    if let Action::ReplyAs { streams } = model.action {
        body.streams = streams;
    }
    let (id, owner) = (crate::keys::random_name()?, key.name.clone());
    let request = turn::GatewayRequest { dialect, owner, id, body, options, since, _memory: memory };
    match model.action {
        Action::CountTokens => Box::pin(count_request_tokens(server, &key, request)).await,
        _ if request.options.dry_run => {
            server.meters.count_request(&key)?;
            Ok(json_bytes(Box::pin(turn::preview(server, &key, request, false)).await?.body))
        }
        _ => reply(server, &key, request, span).await,
    }
}

/// Runs a turn, and returns its reply.
async fn reply(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: turn::GatewayRequest,
    span: &Arc<Span>,
) -> Result<Response<Body>, ApiError> {
    let turn::GatewayRequest { dialect, id, body, options, .. } = &request;
    let label = ResponseLabel {
        id: id.clone(),
        model: body.model.clone(),
        created: ctx_project::chat::now() / 1_000,
    };
    let (dialect, wants_usage, streams, explains) =
        (*dialect, body.wants_usage, body.streams, options.explains);
    let handle = turn::begin(server, key, request).await?;
    span.set_turn(&handle.progress);
    let progress = handle.progress.clone();
    let response = if streams {
        streaming_response(server, handle, StreamWriter::new(dialect, label, wants_usage), span.clone()).await
    } else {
        complete_response(server, handle, (dialect, label), explains).await
    };
    response.map_err(|error| {
        let mut headers = HeaderMap::new();
        add_turn_headers(&mut headers, &lock(&progress), false);
        error.with_headers(headers)
    })
}

/// Counts the tokens of the request that a turn would send.
async fn count_request_tokens(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: turn::GatewayRequest,
) -> Result<Response<Body>, ApiError> {
    let (dialect, agent) = (request.dialect, server.agents.get(&request.body.model).await?);
    let client = &agent.complete_clients[0];
    let provider = client.endpoint().dialect;
    let mut parameters = request.options.parameters.clone();
    parameters.retain(|(name, _)| dialect == provider && name != "alt");
    let headers = request.options.headers_for(dialect, provider);
    let client = client.with_headers(headers).with_parameters(&parameters);
    // Until the provider has counted.
    let _usage = server.meters.start_turn(key)?;
    let _open_turn = GaugeGuard::new(server.clone(), |metrics| &metrics.open_turns);
    let preview = turn::preview(server, key, request, true).await?;
    let tokens = count_tokens(server, &client, &preview).await;
    let name = if dialect == Dialect::Gemini { "totalTokens" } else { "input_tokens" };
    Ok(json_bytes(json!({ name: tokens }).to_string().into_bytes()))
}

/// Waits for the complete response.
async fn complete_response(
    server: &Server,
    mut handle: TurnHandle,
    (dialect, label): (Dialect, ResponseLabel),
    explains: bool,
) -> Result<Response<Body>, ApiError> {
    let client_response = loop {
        match handle.chunks.recv().await {
            Some(StreamChunk::Accepted | StreamChunk::Delta(_) | StreamChunk::Event(_)) => {}
            Some(StreamChunk::End(ended)) => break (*ended)?,
            None => return Err(ApiError::internal()),
        }
    };
    let progress = lock(&handle.progress).clone();
    let provider_json = client_response.provider_json.as_deref();
    if let Some(provider_json) = provider_json.filter(|_| !explains) {
        let mut response = json_bytes(provider_json.as_bytes().to_vec());
        add_turn_headers(response.headers_mut(), &progress, true);
        return Ok(response);
    }
    let provider_json = provider_json.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut body = provider_json.unwrap_or_else(|| dialect::write(dialect, &label, &client_response));
    if let (true, Some(turn)) = (explains, &progress.turn) {
        let report = server.reports.get(&(progress.stored.clone(), turn.clone()));
        let report = report.as_ref().and_then(|entry| entry.report.as_ref());
        let name = Some(&progress.conversation).filter(|name| !name.is_empty());
        let explanation = json!({
            "conversation": name, "turn": turn, "lost": progress.lost, "report": report,
            "sharedPrefix": progress.shared_prefix.map(SharedPrefix::to_json),
        });
        if let Some(body) = body.as_object_mut() {
            body.insert("ctx".to_owned(), explanation);
        }
    }
    let mut response = json_bytes(body.to_string().into_bytes());
    add_turn_headers(response.headers_mut(), &progress, true);
    Ok(response)
}

/// Waits until the provider accepts the request, then streams the response. Earlier errors become normal error
/// responses. A provider that takes long is not waited for.
async fn streaming_response(
    server: &Arc<Server>,
    mut handle: TurnHandle,
    writer: StreamWriter,
    span: Arc<Span>,
) -> Result<Response<Body>, ApiError> {
    let first = match timeout(server.time.ping, handle.chunks.recv()).await {
        Ok(Some(StreamChunk::End(ended))) if ended.is_err() => {
            return Err(ended.err().unwrap_or_else(ApiError::internal));
        }
        Ok(None) => return Err(ApiError::internal()),
        Ok(first) => first,
        Err(_) => None,
    };
    let progress = lock(&handle.progress).clone();
    let open = GaugeGuard::new(server.clone(), |metrics| &metrics.open_streams);
    let ping = server.time.ping;
    let state = StreamingResponse {
        handle,
        writer,
        next: first,
        ping,
        has_begun: false,
        is_over: false,
        _open: open,
        _span: span,
    };
    let body = stream::unfold(state, |mut state| async move {
        let bytes = state.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(bytes)), state))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    add_turn_headers(headers, &progress, false);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// A streaming response.
struct StreamingResponse {
    handle: TurnHandle,
    writer: StreamWriter,
    /// The first chunk, if it has already arrived.
    next: Option<StreamChunk<ClientResponse>>,
    /// Interval of pings before the first chunk.
    ping: Duration,
    /// Whether a chunk was sent.
    has_begun: bool,
    is_over: bool,
    _open: GaugeGuard,
    /// Keeps the request's span open until the response ends.
    _span: Arc<Span>,
}

impl StreamingResponse {
    /// Returns the next bytes; `None` at the end of the response.
    async fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_over {
            return None;
        }
        let next = match self.next.take() {
            Some(next) => Some(next),
            None if self.has_begun => self.handle.chunks.recv().await,
            None => match timeout(self.ping, self.handle.chunks.recv()).await {
                Ok(next) => next,
                Err(_) => return Some(self.writer.ping()),
            },
        };
        let chunk = next.unwrap_or_else(|| StreamChunk::End(Box::new(Err(ApiError::internal()))));
        let needs_begin = match &chunk {
            StreamChunk::Delta(_) => !self.has_begun,
            StreamChunk::End(ended) => !self.has_begun && ended.is_ok(),
            StreamChunk::Accepted | StreamChunk::Event(_) => false,
        };
        let mut written = if needs_begin { self.writer.write_start() } else { Vec::new() };
        self.has_begun |= !matches!(chunk, StreamChunk::Accepted);
        match chunk {
            StreamChunk::Accepted => {}
            StreamChunk::Delta(delta) => written.extend(self.writer.write_delta(&delta)),
            StreamChunk::Event(event) => written.extend(self.writer.write_event(&event)),
            StreamChunk::End(ended) => {
                self.is_over = true;
                written.extend(match *ended {
                    Ok(client_response) => self.writer.write_end(&client_response),
                    Err(error) => self.writer.write_failure(&error, &error.message),
                });
            }
        }
        Some(written)
    }
}

/// Adds headers with the stored position, the repeated tokens, and the losses of the request.
fn add_turn_headers(headers: &mut HeaderMap, progress: &TurnProgress, is_over: bool) {
    headers.extend(progress.provider_headers.clone());
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    if !progress.conversation.is_empty() {
        put("x-ctx-conversation", &request_options::encode_name(&progress.conversation));
    }
    if let Some(turn) = &progress.turn {
        put("x-ctx-turn", turn);
    }
    if let Some(SharedPrefix { shared, total }) = progress.shared_prefix {
        put("x-ctx-shared-prefix", &format!("{shared}/{total}"));
    }
    if let Some(reply) = progress.reply.as_ref().filter(|_| is_over) {
        put("x-ctx-answer", reply);
        put("x-ctx-revision", &progress.revision.to_string());
    }
    if !progress.lost.is_empty() {
        let is_plain = |character: &char| character.is_ascii_graphic() || *character == ' ';
        let plain = |text: &String| text.chars().filter(is_plain).take(MAX_LOSS).collect::<String>();
        let mut losses = String::new();
        for loss in progress.lost.iter().map(plain) {
            losses.push_str(if losses.is_empty() { "" } else { "; " });
            if losses.len() + loss.len() > MAX_LOSSES {
                losses.push_str("...");
                break;
            }
            losses.push_str(&loss);
        }
        put("x-ctx-lost", &losses);
    }
}

pub(crate) fn json_bytes(body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn response(request: AuthorizedRequest, Path(id): Path<String>) -> Response<Body> {
    request.respond(stored_response(&request.server, &request.key, &id).await)
}

async fn metrics(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    if let Err(error) = server.keys.authorize(&headers, query.as_deref()) {
        return error.into_response(Dialect::OpenaiChat);
    }
    let mut response = Response::new(Body::from(server.metrics.to_text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn list(request: AuthorizedRequest) -> Response<Body> {
    request.respond(conversations::list(&request.server, &request.key).await)
}

async fn show(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(conversations::show(&request.server, &request.key, &name).await)
}

async fn report(request: AuthorizedRequest, Path((name, turn)): Path<(String, String)>) -> Response<Body> {
    request.respond(conversations::report(&request.server, &request.key, Some(&name), &turn))
}

async fn unnamed_report(request: AuthorizedRequest, Path(turn): Path<String>) -> Response<Body> {
    request.respond(conversations::report(&request.server, &request.key, None, &turn))
}

async fn delete(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(conversations::delete(&request.server, &request.key, &name).await)
}

async fn undo(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(conversations::undo(&request, &name).await)
}

async fn redo(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(conversations::redo(&request, &name).await)
}
