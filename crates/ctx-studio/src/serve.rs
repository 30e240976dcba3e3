//! Listener, connections, and routing of requests.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, Response, header};
use axum::middleware::{self, Next};
use axum::routing::{MethodFilter, on};
use ctx_language::Language;
use ctx_project::connections::{Connection, Connections};
use ctx_types::phrase;
use futures_util::StreamExt as _;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};

use crate::call::{Call, Refusal, Reply};
use crate::desk::MAX_EDITED;
use crate::guard::{self, only};
use crate::routes::{Answer, Area, BodyKind, ROUTES, Route, Verb};
use crate::server::Server;
use crate::{codes, socket};

/// Maximum JSON body, in bytes.
pub(crate) const MAX_JSON: usize = 2 << 20;

/// Maximum JSON body with the text of a file, in bytes. JSON may write each byte of a text as 6 (`\u0001`).
const MAX_DOCUMENT: usize = MAX_JSON + 6 * MAX_EDITED;

/// Maximum JSON body without a token, in bytes.
const MAX_LOGIN: usize = 1 << 10;

/// Maximum size of an imported file, in bytes.
pub(crate) const MAX_IMPORT: usize = 64 << 20;

/// Maximum size of a request head, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Time limit for a request.
const TIME: Duration = Duration::from_secs(30);

/// Time limit for a login.
const LOGIN_TIME: Duration = Duration::from_secs(5);

/// Read limit of a request head. It is larger than [`MAX_HEAD`], to answer heads that are too large.
const MAX_HEAD_READ: usize = 4 * MAX_HEAD;

/// Time limit for receiving a request head.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Minimum and maximum pause between two scans of the folder. Longer scans get longer pauses, so a large folder uses
/// about 5% of a CPU core.
const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
const LOOK_SHARE: u32 = 20;

/// Delay before edits are written.
const GATHER: Duration = Duration::from_millis(100);

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

/// Maximum number of connections without a valid token.
const MAX_UNAUTHENTICATED: usize = 64;

/// Pause before the next attempt to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until `end`, then writes unsaved edits.
pub(crate) async fn serve(server: Arc<Server>, listener: TcpListener, end: impl Future<Output = ()> + Send) {
    let router = router(&server);
    let keeping = tokio::spawn(keep(server.clone()));
    let looking = tokio::spawn(look(server.clone()));
    let connections = Connections::new(MAX_CONNECTIONS, MAX_UNAUTHENTICATED);
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            taken = listener.accept() => match (taken, connections.open()) {
                (Ok((stream, _)), Some((connection, closed))) => {
                    let router = router.clone();
                    tokio::spawn(async move {
                        let served = serve_connection(stream, router, connection);
                        tokio::select! {
                            () = served => {}
                            () = closed.closed() => {}
                        }
                    });
                }
                // Too many connections here or in the system. Some will end soon.
                _ => sleep(PAUSE).await,
            },
        }
    }
    keeping.abort();
    looking.abort();
    server.turns.stop_all();
    drop(tokio::task::spawn_blocking(move || server.keep()).await);
}

async fn serve_connection(stream: TcpStream, router: Router, connection: Connection) {
    let (router, connection) = (TowerToHyperService::new(router), Arc::new(connection));
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.call(request)
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD_READ)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A broken connection does not affect others.
    drop(served.await);
}

/// Writes unsaved edits shortly after each edit.
async fn keep(server: Arc<Server>) {
    loop {
        server.desk.changed().await;
        sleep(GATHER).await;
        let server = server.clone();
        drop(tokio::task::spawn_blocking(move || server.keep()).await);
    }
}

/// Watches the folder for changes by other programs.
async fn look(server: Arc<Server>) {
    let mut pause = LOOK.0;
    loop {
        sleep(pause).await;
        let (server, start) = (server.clone(), Instant::now());
        drop(tokio::task::spawn_blocking(move || server.look()).await);
        pause = start.elapsed().saturating_mul(LOOK_SHARE).clamp(LOOK.0, LOOK.1);
    }
}

/// Creates the router. The same guard protects all routes and the fallback.
pub(crate) fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let filter = match route.method {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
        };
        let server = server.clone();
        let handler = move |request: Request| answered(server.clone(), route, request);
        router = router.route(route.path, on(filter, handler));
    }
    let of_nothing = {
        let server = server.clone();
        move |request: Request| {
            let language = language(&server, request.headers());
            async move { Refusal::not_found(phrase!("page not found")).into_response(language) }
        }
    };
    let of_method = {
        let server = server.clone();
        move |request: Request| {
            let language = language(&server, request.headers());
            async move {
                let message = phrase!("method not allowed");
                Refusal::new(405, codes::MALFORMED, message).into_response(language)
            }
        }
    };
    let server = server.clone();
    router.method_not_allowed_fallback(of_method).fallback(of_nothing).layer(middleware::from_fn(
        move |request: Request, next: Next| guarded(server.clone(), request, next),
    ))
}

/// Checks the host and origin of a request, and adds security headers to the response.
async fn guarded(server: Arc<Server>, request: Request, next: Next) -> Response<Body> {
    let is_api = request.uri().path().starts_with("/api");
    let language = language(&server, request.headers());
    let checked = server.names.check(request.headers(), is_api).and_then(|()| refuse_long_head(&request));
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(language),
    };
    guard::protect(response.headers_mut(), &server.build);
    response
}

fn refuse_long_head(request: &Request) -> Result<(), Refusal> {
    let headers = request.headers().iter();
    let headers: usize = headers.map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if headers + address <= MAX_HEAD {
        return Ok(());
    }
    let message = phrase!("the request headers are larger than {limit} KiB", limit = MAX_HEAD >> 10);
    Err(Refusal::new(431, codes::TOO_LARGE, message))
}

async fn answered(
    server: Arc<Server>,
    route: &'static Route,
    request: Request,
) -> Result<Response<Body>, Infallible> {
    let language = language(&server, request.headers());
    let answered = match route.answer {
        Answer::Socket => socket::open(server, request).await,
        Answer::File(body, content_type) => {
            Ok(Reply { body: body.to_vec(), content_type, headers: Vec::new() }.into_response())
        }
        Answer::Call(_) | Answer::Begin(_) => {
            let limit = if route.area == Area::Login { LOGIN_TIME } else { TIME };
            match timeout(limit, called(server, route, request)).await {
                Ok(reply) => reply.map(Reply::into_response),
                Err(_) => Err(Refusal::new(
                    503,
                    codes::TOO_LONG,
                    phrase!("the request took longer than {limit} seconds", limit = limit.as_secs()),
                )),
            }
        }
    };
    Ok(answered.unwrap_or_else(|refusal| refusal.into_response(language)))
}

async fn called(server: Arc<Server>, route: &'static Route, request: Request) -> Result<Reply, Refusal> {
    let (mut parts, body) = request.into_parts();
    if route.area == Area::Api {
        admit(&server, &parts.headers)?;
        authenticate(&parts.extensions);
    }
    refuse_content_type(route.body, &parts.headers)?;
    let limit = match (route.body, route.area) {
        (BodyKind::Nothing, _) => 0,
        (BodyKind::Json, Area::Login) => MAX_LOGIN,
        (BodyKind::Json, _) => MAX_JSON,
        (BodyKind::Document, _) => MAX_DOCUMENT,
        (BodyKind::Bytes, _) => MAX_IMPORT,
    };
    // A slow client delays only itself: the number of handlers and of connections is limited.
    let body = whole(body, limit).await?;
    let call = call(&server, &mut parts, body).await?;
    let permits = if route.area == Area::Login { &server.logins } else { &server.requests };
    let permit = permits.clone().acquire_owned().await.map_err(|_| {
        let message = phrase!("too many concurrent requests");
        Refusal::new(503, codes::BUSY, message)
    })?;
    let done = tokio::task::spawn_blocking(move || {
        let reply = match route.answer {
            Answer::Call(answer) => answer(&server, &call),
            Answer::Begin(answer) => answer(&server, &call),
            Answer::File(..) | Answer::Socket => Err(Refusal::not_found(phrase!("page not found"))),
        };
        drop(permit);
        reply
    });
    done.await.unwrap_or_else(|_| {
        Err(Refusal::new(500, codes::UNUSABLE, phrase!("internal error; please report it")))
    })
}

/// Rejects requests without a valid token of this run.
pub(crate) fn admit(server: &Server, headers: &HeaderMap) -> Result<(), Refusal> {
    let given = only(headers, &header::AUTHORIZATION).ok().flatten();
    let is_admitted = given
        .and_then(|given| given.strip_prefix("Bearer "))
        .is_some_and(|token| server.access.admits(token));
    if is_admitted { Ok(()) } else { Err(no_token()) }
}

/// Marks the connection of a request as authenticated.
pub(crate) fn authenticate(extensions: &Extensions) {
    if let Some(connection) = extensions.get::<Arc<Connection>>() {
        connection.authenticate();
    }
}

pub(crate) fn no_token() -> Refusal {
    let message = phrase!("missing or invalid access token");
    let help = phrase!("open the link in the terminal; press Enter there for a new link");
    Refusal::new(401, codes::NO_TOKEN, message).with_help(help)
}

/// Requires content types that a form on another page cannot send without a preflight request.
fn refuse_content_type(body: BodyKind, headers: &HeaderMap) -> Result<(), Refusal> {
    let expected = match body {
        BodyKind::Nothing => return Ok(()),
        BodyKind::Json | BodyKind::Document => "application/json",
        BodyKind::Bytes => "application/octet-stream",
    };
    let given = only(headers, &header::CONTENT_TYPE).ok().flatten();
    let given = given.map(|given| given.split(';').next().unwrap_or_default().trim());
    if given.is_some_and(|given| given.eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    let message = phrase!("the request body must be `{expected}`", expected);
    Err(Refusal::new(415, codes::CONTENT_TYPE, message))
}

/// Reads a body up to a limit.
async fn whole(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let mut read = Vec::new();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Refusal::malformed(phrase!("the request body is incomplete")))?;
        if read.len() + piece.len() > limit {
            let message = phrase!("the request body is larger than {limit} bytes", limit);
            return Err(Refusal::new(413, codes::TOO_LARGE, message));
        }
        read.extend_from_slice(&piece);
    }
    Ok(read.into())
}

async fn call(server: &Server, parts: &mut Parts, body: Bytes) -> Result<Call, Refusal> {
    let path = RawPathParams::from_request_parts(parts, &()).await;
    let path = path.map_err(|_| Refusal::malformed(phrase!("the path is not valid")))?;
    let path: BTreeMap<String, String> =
        path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Call {
        language: language(server, &parts.headers),
        window: window(&parts.headers),
        path,
        query: query(parts.uri.query()),
        headers: std::mem::take(&mut parts.headers),
        body,
    })
}

/// Parses a query string. The last value of a repeated name is used.
pub(crate) fn query(text: Option<&str>) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.unwrap_or_default().as_bytes()).into_owned().collect()
}

/// Returns the name that a browser window chose.
fn window(headers: &HeaderMap) -> Option<String> {
    let name = only(headers, &HeaderName::from_static("x-ctx-window")).ok().flatten()?;
    (!name.is_empty() && name.len() <= 100).then(|| name.to_owned())
}

/// Returns the language that a browser window requests.
fn language(server: &Server, headers: &HeaderMap) -> Language {
    let asked = only(headers, &header::ACCEPT_LANGUAGE).ok().flatten();
    let first = asked.and_then(|asked| asked.split([',', ';']).next());
    first.and_then(Language::parse).unwrap_or(server.language)
}
