//! All routes, in one table: the router is made of it, and so are the tests that every route must pass.

use crate::call::{Call, Refusal, Reply};
use crate::handlers::{about, context, edit, imports};
use crate::page;
use crate::server::Server;

/// One route.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: Verb,
    pub(crate) path: &'static str,
    pub(crate) area: Area,
    pub(crate) body: BodyKind,
    pub(crate) answer: Answer,
}

/// Which method a route has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// A file of the page, without secrets: whoever names this host.
    Page,
    /// The page, which has a code and no token yet.
    Login,
    /// The page, with the token.
    Api,
}

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Nothing,
    Json,
    Bytes,
}

/// How a request is answered.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// On a thread that may wait for files.
    Call(fn(&Server, &Call) -> Result<Reply, Refusal>),
    /// With bytes that are always the same, and their content type.
    File(&'static [u8], &'static str),
    /// By a socket that stays.
    Socket,
}

/// The table.
pub(crate) const ROUTES: &[Route] = &[
    Route { area: Area::Page, ..get("/", page::index) },
    file("/studio.js", page::SCRIPT, "text/javascript; charset=utf-8"),
    file("/editor.js", page::EDITOR, "text/javascript; charset=utf-8"),
    file("/studio.css", page::STYLE, "text/css; charset=utf-8"),
    file("/icons.svg", page::ICONS, "image/svg+xml"),
    file("/LICENSES.txt", page::LICENSES, "text/plain; charset=utf-8"),
    Route { area: Area::Login, ..post("/api/login", about::log_in) },
    get("/api/project", about::project),
    get("/api/registry", about::registry),
    get("/api/files/{f}", edit::view),
    post("/api/files/{f}/edits", edit::edits),
    post("/api/files/{f}/undo", edit::undo),
    post("/api/files/{f}/redo", edit::redo),
    post("/api/files/{f}/discard", edit::discard),
    post("/api/files/{f}/fix", edit::fix),
    post("/api/files/{f}/save", edit::save),
    post("/api/preview", context::preview),
    get("/api/previews/{p}/rows", context::rows),
    get("/api/previews/{p}/life", context::life),
    get("/api/previews/{p}/body", context::body),
    post("/api/compare", context::compare),
    post("/api/expand", context::expand),
    Route { body: BodyKind::Bytes, ..post("/api/import", imports::take) },
    post("/api/import/write", imports::write),
    post("/api/import/discard", imports::discard),
    post("/api/start", imports::start),
    Route {
        method: Verb::Get,
        path: "/api/events",
        area: Area::Api,
        body: BodyKind::Nothing,
        answer: Answer::Socket,
    },
];

type Handler = fn(&Server, &Call) -> Result<Reply, Refusal>;

const fn file(path: &'static str, bytes: &'static [u8], content_type: &'static str) -> Route {
    let answer = Answer::File(bytes, content_type);
    Route { method: Verb::Get, path, area: Area::Page, body: BodyKind::Nothing, answer }
}

const fn get(path: &'static str, answer: Handler) -> Route {
    let answer = Answer::Call(answer);
    Route { method: Verb::Get, path, area: Area::Api, body: BodyKind::Nothing, answer }
}

const fn post(path: &'static str, answer: Handler) -> Route {
    let answer = Answer::Call(answer);
    Route { method: Verb::Post, path, area: Area::Api, body: BodyKind::Json, answer }
}

/// A route, as programs and tests see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteInfo {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The path, with names in braces for what differs.
    pub path: &'static str,
    /// Whether it is answered only with the token of the run.
    pub needs_token: bool,
    /// The content type that its body has, if it has one.
    pub content_type: Option<&'static str>,
}

/// Lists all routes: the router is made of the same table.
pub fn routes() -> impl Iterator<Item = RouteInfo> {
    ROUTES.iter().map(|route| RouteInfo {
        method: match route.method {
            Verb::Get => "GET",
            Verb::Post => "POST",
        },
        path: route.path,
        needs_token: route.area == Area::Api,
        content_type: match route.body {
            BodyKind::Nothing => None,
            BodyKind::Json => Some("application/json"),
            BodyKind::Bytes => Some("application/octet-stream"),
        },
    })
}
