//! Routes and request handling.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Request, Response, header};
use axum::routing::{get, post};
use ctx_types::internal::excerpt;
use ctx_types::phrase;
use ctx_wire::Dialect;
use futures_util::stream;
use serde_json::{Value, json};

use crate::body::ParsedBody;
use crate::call::{self, Wishes};
use crate::conversations;
use crate::dialect::{self, Answer, Label, Pieces};
use crate::figures::Lasting;
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::refusal::{Kind, Refusal};
use crate::spans::Span;
use crate::turn::{self, Going, Told, lock};
use crate::upstream::Piece;

/// Maximum number of characters of a loss in a header.
const MAX_LOSS: usize = 200;

type App = State<Arc<Server>>;

/// Creates the router.
pub(crate) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(metrics))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(model))
        .route("/v1beta/models", get(gemini_models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
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
        .with_state(server)
}

fn nowhere(status: u16, message: ctx_types::Phrase) -> Response<Body> {
    Refusal::new(status, Kind::NotFound, message).into_response(Dialect::OpenaiChat)
}

async fn chat(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    asked(server, Dialect::OpenaiChat, None, query, request).await
}

async fn responses(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    asked(server, Dialect::OpenaiResponses, None, query, request).await
}

async fn messages(State(server): App, query: RawQuery, request: Request<Body>) -> Response<Body> {
    asked(server, Dialect::Anthropic, None, query, request).await
}

/// The path contains the model and selects a streaming or complete response.
async fn gemini(
    State(server): App,
    Path(path): Path<String>,
    query: RawQuery,
    request: Request<Body>,
) -> Response<Body> {
    let found = path.rsplit_once(':').and_then(|(model, verb)| match verb {
        "generateContent" => Some((model.to_owned(), false)),
        "streamGenerateContent" => Some((model.to_owned(), true)),
        _ => None,
    });
    let Some(found) = found else {
        let text = phrase!(
            "`{path}` is not a `generateContent` or `streamGenerateContent` path",
            path = excerpt(&path)
        );
        return Refusal::not_found(text).into_response(Dialect::Gemini);
    };
    asked(server, Dialect::Gemini, Some(found), query, request).await
}

/// Handles a request of a dialect. Converts errors to responses.
async fn asked(
    server: Arc<Server>,
    dialect: Dialect,
    model: Option<(String, bool)>,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Response<Body> {
    let span = Span::new(server.exporter.clone(), dialect);
    let answered = answer(&server, &span, (dialect, model), (query, request)).await;
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
    (dialect, model): (Dialect, Option<(String, bool)>),
    (query, request): (Option<String>, Request<Body>),
) -> Result<Response<Body>, Refusal> {
    let since = Instant::now();
    let (parts, body) = request.into_parts();
    let key = server.keys.authorize(&parts.headers, query.as_deref())?;
    let wishes = Wishes::of(&parts.headers)?;
    if server.keys.is_open() {
        require_json(&parts.headers)?;
    }
    let ParsedBody { mut asked, memory } = server.bodies.read(dialect, &key, (&parts.headers, body)).await?;
    if let Some((model, streams)) = model {
        (asked.model, asked.streams) = (model, streams);
    }
    let (owner, wants_usage, streams) = (key.name.clone(), asked.wants_usage, asked.streams);
    let label = Label {
        id: crate::keys::random_name()?,
        model: asked.model.clone(),
        created: ctx_project::chat::now() / 1_000,
    };
    let (explains, is_dry) = (wishes.explains, wishes.dry_run);
    let id = label.id.clone();
    let request = turn::Request { dialect, owner, id, asked, wishes, since, _memory: memory };
    if is_dry {
        return Ok(json_bytes(turn::dry_run(server, &key, request).await?));
    }
    let going = turn::begin(server, &key, request).await?;
    span.follow(&going.told);
    if streams {
        streamed(server, going, Pieces::new(dialect, label, wants_usage), span.clone()).await
    } else {
        in_one(server, going, (dialect, label), explains).await
    }
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
            Some(Piece::Delta(_) | Piece::Event(_)) => {}
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
        body["ctx"] = json!({ "conversation": name, "turn": turn, "report": report });
    }
    let mut response = json_bytes(body.to_string().into_bytes());
    tell(response.headers_mut(), &told, true);
    Ok(response)
}

/// Waits for the first chunk, then streams the response. Earlier errors become normal error responses.
async fn streamed(
    server: &Arc<Server>,
    mut going: Going,
    pieces: Pieces,
    span: Arc<Span>,
) -> Result<Response<Body>, Refusal> {
    let first = match going.pieces.recv().await {
        Some(Piece::End(ended)) if ended.is_err() => {
            return Err(ended.err().unwrap_or_else(Refusal::internal));
        }
        Some(piece) => piece,
        None => return Err(Refusal::internal()),
    };
    let told = lock(&going.told).clone();
    let open = Lasting::new(server.clone(), |figures| &figures.open_streams);
    let state = Streaming { going, pieces, next: Some(first), is_over: false, _open: open, _span: span };
    let body = stream::unfold(state, |mut state| async move {
        let bytes = state.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(bytes)), state))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    tell(headers, &told, false);
    Ok(response)
}

/// A streaming response.
struct Streaming {
    going: Going,
    pieces: Pieces,
    /// The first chunk, which has already arrived.
    next: Option<Piece<Answer>>,
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
        let mut written = Vec::new();
        let piece = match self.next.take() {
            Some(first) => {
                if !matches!(first, Piece::Event(_)) {
                    written = self.pieces.begin();
                }
                Some(first)
            }
            None => self.going.pieces.recv().await,
        };
        let internal = || Piece::End(Box::new(Err(Refusal::internal())));
        match piece.unwrap_or_else(internal) {
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

fn json_bytes(body: Vec<u8>) -> Response<Body> {
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
    server.agents.names().filter(|agent| key.check_agent(agent).is_ok()).map(str::to_owned).collect()
}

fn openai_model(name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": "ctx", "type": "model", "display_name": name })
}

fn gemini_entry(name: &str) -> Value {
    let methods = ["generateContent", "streamGenerateContent"];
    json!({ "name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": methods })
}

async fn models(State(server): App, RawQuery(query): RawQuery, headers: HeaderMap) -> Response<Body> {
    told(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let data: Vec<Value> = agents(&server, &key).iter().map(|name| openai_model(name)).collect();
        let (first, last) = (data.first().map(|m| m["id"].clone()), data.last().map(|m| m["id"].clone()));
        let list =
            json!({ "object": "list", "has_more": false, "first_id": first, "last_id": last, "data": data });
        std::future::ready(Ok(list))
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
        std::future::ready(known(&server, &key, &name).map(|()| openai_model(&name)))
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
        let data: Vec<Value> = agents(&server, &key).iter().map(|name| gemini_entry(name)).collect();
        std::future::ready(Ok(json!({ "models": data })))
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
        std::future::ready(known(&server, &key, &name).map(|()| gemini_entry(&name)))
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
