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

use crate::body::ParsedBody;
use crate::call::{self, Wishes};
use crate::conversations;
use crate::dialect::{self, Answer, Label, Pieces};
use crate::figures::Lasting;
use crate::forward::{ForwardedRequest, Provider, count_tokens, forward};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::refusal::{Kind, Refusal};
use crate::spans::Span;
use crate::stored_response::stored_response;
use crate::turn::{self, Going, Told, lock};
use crate::upstream::Piece;

/// Maximum number of characters of a loss in a header.
const MAX_LOSS: usize = 200;

/// Maximum number of listed agents whose context window is looked up.
const MAX_WINDOWS: usize = 200;

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
        .fallback(|| async { nowhere(404, phrase!("not found")) })
        .method_not_allowed_fallback(|| async { nowhere(405, phrase!("method not allowed")) })
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

fn nowhere(status: u16, message: ctx_types::Phrase) -> Response<Body> {
    Refusal::new(status, Kind::NotFound, message).into_response(Dialect::OpenaiChat)
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
    asked(server, model, query, request).await
}

async fn completions(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Completion, Action::Forward, "completions");
    asked(server, model, query, request).await
}

async fn embeddings(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::OpenaiChat, Action::Forward, "embeddings");
    asked(server, model, query, request).await
}

async fn responses(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::OpenaiResponses, Action::Reply, "responses");
    asked(server, model, query, request).await
}

async fn messages(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Anthropic, Action::Reply, "messages");
    asked(server, model, query, request).await
}

async fn count_messages(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    let model = ModelRequest::new(Dialect::Anthropic, Action::CountTokens, "messages/count_tokens");
    asked(server, model, query, request).await
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
        return Refusal::not_found(text).into_response(Dialect::Gemini);
    };
    asked(server, found, query, request).await
}

/// Handles a request for a model. Converts errors to responses.
async fn asked(
    server: Arc<Server>,
    model: ModelRequest,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Response<Body> {
    let dialect = model.dialect;
    let span = Span::new(server.exporter.clone(), dialect);
    let answered = answer(&server, &span, model, (query, request)).await;
    let response = answered.unwrap_or_else(|refusal| {
        tracing::info!(status = refusal.status, code = refusal.code(), %dialect, "rejected a request");
        refusal.into_response(dialect)
    });
    let status = response.status().as_u16();
    server.figures.answered(dialect, status);
    span.answered(status);
    response
}

async fn answer(
    server: &Arc<Server>,
    span: &Arc<Span>,
    model: ModelRequest,
    (query, request): (Option<String>, Request<Body>),
) -> Result<Response<Body>, Refusal> {
    let (since, dialect) = (Instant::now(), model.dialect);
    let (parts, body) = request.into_parts();
    let key = server.keys.authorize(&parts.headers, query.as_deref())?;
    let wishes = Wishes::of(&parts.headers)?.with_query(query.as_deref());
    if server.keys.is_open() {
        require_json(&parts.headers)?;
    }
    let mut body = server.bodies.read(&key, (&parts.headers, body)).await?;
    let name = model.model.clone().unwrap_or_else(|| body.model().to_owned());
    let provider = match Provider::for_other_model(server, &key, dialect, &name).await? {
        None if model.action == Action::Forward => {
            Some(Provider::for_agent(server, &key, dialect, &name).await?)
        }
        found => found,
    };
    if let Some(provider) = provider {
        let path = model.provider_path(provider.model(&name));
        let request = ForwardedRequest { dialect, path, wishes, body };
        return forward(server, &key, provider, request, span.clone()).await;
    }
    if model.action == Action::CountTokens
        && let Some(Value::Object(mut counted)) = body.json.shift_remove("generateContentRequest")
    {
        counted.shift_remove("model");
        body.json = counted;
    }
    let ParsedBody { mut asked, memory } = body.parse(dialect).await?;
    if let Some(name) = model.model {
        asked.model = name;
    }
    if let Action::ReplyAs { streams } = model.action {
        asked.streams = streams;
    }
    let (id, owner) = (crate::keys::random_name()?, key.name.clone());
    let request = turn::Request { dialect, owner, id, asked, wishes, since, _memory: memory };
    match model.action {
        Action::CountTokens => Box::pin(count(server, &key, request)).await,
        _ if request.wishes.dry_run => {
            Ok(json_bytes(Box::pin(turn::dry_run(server, &key, request)).await?.body))
        }
        _ => reply(server, &key, request, span).await,
    }
}

/// Runs a turn, and returns its reply.
async fn reply(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: turn::Request,
    span: &Arc<Span>,
) -> Result<Response<Body>, Refusal> {
    let turn::Request { dialect, id, asked, wishes, .. } = &request;
    let label = Label {
        id: id.clone(),
        model: asked.model.clone(),
        created: ctx_project::chat::now() / 1_000,
    };
    let (dialect, wants_usage, streams, explains) =
        (*dialect, asked.wants_usage, asked.streams, wishes.explains);
    let going = turn::begin(server, key, request).await?;
    span.follow(&going.told);
    let told = going.told.clone();
    let response = if streams {
        streamed(server, going, Pieces::new(dialect, label, wants_usage), span.clone()).await
    } else {
        in_one(server, going, (dialect, label), explains).await
    };
    response.map_err(|refusal| refusal.with_headers(lock(&told).provider_headers.clone()))
}

/// Counts the tokens of the request that a turn would send.
async fn count(
    server: &Arc<Server>,
    key: &KeyEntry,
    request: turn::Request,
) -> Result<Response<Body>, Refusal> {
    let (dialect, agent) = (request.dialect, server.agents.get(&request.asked.model).await?);
    let client = &agent.whole[0];
    let client = client.with_headers(request.wishes.headers_for(dialect, client.endpoint().dialect));
    let preview = turn::dry_run(server, key, request).await?;
    let tokens = count_tokens(server, &client, &preview).await;
    let name = if dialect == Dialect::Gemini { "totalTokens" } else { "input_tokens" };
    Ok(json_bytes(json!({ name: tokens }).to_string().into_bytes()))
}

/// Rejects a body that a form on another page could send without a preflight request.
fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = given.map(|value| value.split(';').next().unwrap_or_default().trim());
    if given.is_some_and(|given| given.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let text = phrase!("set the content type `application/json` (required without client keys)");
    Err(Refusal::new(415, Kind::Malformed, text))
}

/// Waits for the complete response.
async fn in_one(
    server: &Server,
    mut going: Going,
    (dialect, label): (Dialect, Label),
    explains: bool,
) -> Result<Response<Body>, Refusal> {
    let answer = loop {
        match going.pieces.recv().await {
            Some(Piece::Begun | Piece::Delta(_) | Piece::Event(_)) => {}
            Some(Piece::End(ended)) => break (*ended)?,
            None => return Err(Refusal::internal()),
        }
    };
    let told = lock(&going.told).clone();
    let own = answer.own.as_deref();
    if let Some(own) = own.filter(|_| !explains) {
        let mut response = json_bytes(own.as_bytes().to_vec());
        tell(response.headers_mut(), &told, true);
        return Ok(response);
    }
    let own = own.and_then(|own| serde_json::from_str::<Value>(own).ok());
    let mut body = own.unwrap_or_else(|| dialect::write(dialect, &label, &answer));
    if let (true, Some(turn)) = (explains, &told.turn) {
        let report = server.reports.get(&(told.stored.clone(), turn.clone()));
        let report = report.as_ref().and_then(|kept| kept.report.as_ref());
        let name = Some(&told.conversation).filter(|name| !name.is_empty());
        body["ctx"] = json!({ "conversation": name, "turn": turn, "lost": told.lost, "report": report });
    }
    let mut response = json_bytes(body.to_string().into_bytes());
    tell(response.headers_mut(), &told, true);
    Ok(response)
}

/// Waits until the provider accepts the request, then streams the response. Earlier errors become normal error
/// responses. A provider that takes long is not waited for.
async fn streamed(
    server: &Arc<Server>,
    mut going: Going,
    pieces: Pieces,
    span: Arc<Span>,
) -> Result<Response<Body>, Refusal> {
    let first = match timeout(server.time.ping, going.pieces.recv()).await {
        Ok(Some(Piece::End(ended))) if ended.is_err() => {
            return Err(ended.err().unwrap_or_else(Refusal::internal));
        }
        Ok(None) => return Err(Refusal::internal()),
        Ok(first) => first,
        Err(_) => None,
    };
    let told = lock(&going.told).clone();
    let open = Lasting::new(server.clone(), |figures| &figures.open_streams);
    let ping = server.time.ping;
    let state = Streaming {
        going,
        pieces,
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
    tell(headers, &told, false);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// A streaming response.
struct Streaming {
    going: Going,
    pieces: Pieces,
    /// The first chunk, if it has already arrived.
    next: Option<Piece<Answer>>,
    /// Interval of pings before the first chunk.
    ping: Duration,
    /// Whether a chunk was sent.
    has_begun: bool,
    is_over: bool,
    _open: Lasting,
    /// Keeps the request's span open until the response ends.
    _span: Arc<Span>,
}

impl Streaming {
    /// Returns the next bytes; `None` at the end of the response.
    async fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_over {
            return None;
        }
        let next = match self.next.take() {
            Some(next) => Some(next),
            None if self.has_begun => self.going.pieces.recv().await,
            None => match timeout(self.ping, self.going.pieces.recv()).await {
                Ok(next) => next,
                Err(_) => return Some(self.pieces.ping()),
            },
        };
        let piece = next.unwrap_or_else(|| Piece::End(Box::new(Err(Refusal::internal()))));
        let needs_begin = match &piece {
            Piece::Delta(_) => !self.has_begun,
            Piece::End(ended) => !self.has_begun && ended.is_ok(),
            Piece::Begun | Piece::Event(_) => false,
        };
        let mut written = if needs_begin { self.pieces.begin() } else { Vec::new() };
        self.has_begun |= !matches!(piece, Piece::Begun);
        match piece {
            Piece::Begun => {}
            Piece::Delta(delta) => written.extend(self.pieces.piece(&delta)),
            Piece::Event(event) => written.extend(self.pieces.event(&event)),
            Piece::End(ended) => {
                self.is_over = true;
                written.extend(match *ended {
                    Ok(answer) => self.pieces.end(&answer),
                    Err(refusal) => self.pieces.broken(&refusal, &refusal.message),
                });
            }
        }
        Some(written)
    }
}

/// Adds headers with the stored position and the losses of the request.
fn tell(headers: &mut HeaderMap, told: &Told, is_over: bool) {
    headers.extend(told.provider_headers.clone());
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    if !told.conversation.is_empty() {
        put("x-ctx-conversation", &call::encode_name(&told.conversation));
    }
    if let Some(turn) = &told.turn {
        put("x-ctx-turn", turn);
    }
    if let Some(answer) = told.answer.as_ref().filter(|_| is_over) {
        put("x-ctx-answer", answer);
        put("x-ctx-revision", &told.revision.to_string());
    }
    if !told.lost.is_empty() {
        let is_plain = |character: &char| character.is_ascii_graphic() || *character == ' ';
        let plain = |text: &String| text.chars().filter(is_plain).take(MAX_LOSS).collect::<String>();
        put("x-ctx-lost", &told.lost.iter().map(plain).collect::<Vec<_>>().join("; "));
    }
}

pub(crate) fn json_bytes(body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Handles a read request that requires a key.
async fn told<F: Future<Output = Result<Value, Refusal>>>(
    server: &Server,
    (headers, query): (&HeaderMap, Option<&str>),
    dialect: Dialect,
    work: impl FnOnce(Arc<KeyEntry>) -> F,
) -> Response<Body> {
    let value = match server.keys.authorize(headers, query) {
        Ok(key) => work(key).await,
        Err(refusal) => Err(refusal),
    };
    match value {
        Ok(value) => json_bytes(value.to_string().into_bytes()),
        Err(refusal) => refusal.into_response(dialect),
    }
}

/// Returns the agents that a key may use.
fn agents(server: &Server, key: &KeyEntry) -> Vec<String> {
    server.agents.names().into_iter().filter(|agent| key.check_agent(agent).is_ok()).collect()
}

/// Sizes of a model in tokens, if they are known.
#[derive(Clone, Copy, Default)]
struct ModelSize {
    window: Option<u32>,
    max_output: Option<u32>,
}

/// Returns the sizes of an agent's model.
async fn model_size(server: &Server, name: &str) -> ModelSize {
    let Ok(agent) = server.agents.get(name).await else { return ModelSize::default() };
    let facts = agent.setup.agent.model(&agent.setup.request("").turn).0;
    ModelSize { window: agent.setup.context_window().map(|(tokens, _)| tokens), max_output: facts.max_output }
}

/// Writes the agents that a key may use.
async fn list_models(
    server: &Server,
    key: &KeyEntry,
    write: impl Fn(&str, ModelSize) -> Value,
) -> Vec<Value> {
    let mut models = Vec::new();
    for (index, name) in agents(server, key).iter().enumerate() {
        let size = if index < MAX_WINDOWS { model_size(server, name).await } else { ModelSize::default() };
        models.push(write(name, size));
    }
    models
}

/// Writes a model for clients of OpenAI and Anthropic.
fn openai_model(name: &str, size: ModelSize) -> Value {
    let mut model = json!({
        "id": name, "object": "model", "created": 0, "owned_by": "ctx",
        "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
    });
    let sizes =
        [("context_window", size.window), ("max_input_tokens", size.window), ("max_tokens", size.max_output)];
    put_sizes(&mut model, &sizes);
    model
}

fn gemini_model_entry(name: &str, size: ModelSize) -> Value {
    let methods = ["generateContent", "streamGenerateContent", "countTokens"];
    let mut model = json!({
        "name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": methods,
    });
    put_sizes(&mut model, &[("inputTokenLimit", size.window), ("outputTokenLimit", size.max_output)]);
    model
}

fn put_sizes(model: &mut Value, sizes: &[(&str, Option<u32>)]) {
    for (key, tokens) in sizes {
        if let Some(tokens) = tokens {
            model[*key] = (*tokens).into();
        }
    }
}

async fn models(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    let from = (&headers, query.as_deref());
    told(&server, from, Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move {
            let data = list_models(&server, &key, openai_model).await;
            let (first, last) = (data.first().map(|m| m["id"].clone()), data.last().map(|m| m["id"].clone()));
            Ok(json!({ "object": "list", "has_more": false, "first_id": first, "last_id": last, "data": data }))
        }
    })
    .await
}

async fn model(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move {
            known(&server, &key, &name)?;
            Ok(openai_model(&name, model_size(&server, &name).await))
        }
    })
    .await
}

/// Returns an error for an unknown agent or one that the key may not use.
fn known(server: &Server, key: &KeyEntry, name: &str) -> Result<(), Refusal> {
    let agent = name.split_once('@').map_or(name, |(agent, _)| agent);
    if agents(server, key).iter().any(|known| known == agent) {
        Ok(())
    } else {
        Err(Refusal::not_found(phrase!("no model `{name}`", name = excerpt(name))))
    }
}

async fn gemini_models(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::Gemini, |key| {
        let server = server.clone();
        async move {
            let models = list_models(&server, &key, gemini_model_entry).await;
            Ok(json!({ "models": models }))
        }
    })
    .await
}

async fn gemini_model(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::Gemini, |key| {
        let server = server.clone();
        async move {
            known(&server, &key, &name)?;
            Ok(gemini_model_entry(&name, model_size(&server, &name).await))
        }
    })
    .await
}

async fn response(
    State(server): App,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiResponses, |key| {
        let server = server.clone();
        async move { stored_response(&server, &key, &id).await }
    })
    .await
}

async fn metrics(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    if let Err(refusal) = server.keys.authorize(&headers, query.as_deref()) {
        return refusal.into_response(Dialect::OpenaiChat);
    }
    let mut response = Response::new(Body::from(server.figures.to_text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn list(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    let from = (&headers, query.as_deref());
    told(&server, from, Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move { conversations::list(&server, &key).await }
    })
    .await
}

async fn show(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move { conversations::show(&server, &key, &name).await }
    })
    .await
}

async fn report(
    State(server): App,
    Path((name, turn)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        std::future::ready(conversations::report(&server, &key, Some(&name), &turn))
    })
    .await
}

async fn unnamed_report(
    State(server): App,
    Path(turn): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        std::future::ready(conversations::report(&server, &key, None, &turn))
    })
    .await
}

async fn delete(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move { conversations::delete(&server, &key, &name).await }
    })
    .await
}

async fn undo(server: App, name: Path<String>, query: RawQuery, headers: HeaderMap) -> Response<Body> {
    step(server, name, query, (headers, true)).await
}

async fn redo(server: App, name: Path<String>, query: RawQuery, headers: HeaderMap) -> Response<Body> {
    step(server, name, query, (headers, false)).await
}

async fn step(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    (headers, is_undo): (HeaderMap, bool),
) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let (server, wishes) = (server.clone(), Wishes::of(&headers));
        async move { conversations::step(&server, &key, &name, (is_undo, wishes?)).await }
    })
    .await
}
