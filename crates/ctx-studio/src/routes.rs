//! All routes, in one table: the router is made of it, and so are the tests that every route must pass.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::api::{LoggedIn, Login};
use crate::api_files::{
    CreatedFile, DeleteFile, Edited, Edits, ExportedFile, FileFindings, FileName, FileView, Fix, NewFile,
    Project, Resolve, Save, Step,
};
use crate::api_imports::{
    ImportDiscard, ImportTarget, ImportTargetView, ImportView, ImportWrite, ImportWritten, Nothing, Start,
};
use crate::api_pipeline::PipelineView;
use crate::api_preview::{
    BodyView, CompareRequest, Compared, ExpandRequest, Expanded, LifeView, Preview, PreviewRequest, RowTexts,
};
use crate::api_registry::{CodeView, Registry};
use crate::api_requests::{LogList, LogPair, LogView};
use crate::api_scan::ScanView;
use crate::api_talk::{
    CompressRequest, CompressionPlan, CompressionRequest, CompressionSettings, ConversationView,
    DeleteConversation, GreetingsRequest, GreetingsView, MadeSession, MakeSession, NewConversation,
    RenameConversation, SearchView, StepTaken, SummaryView, TakeStep, TreeView,
};
use crate::api_turn::{
    AttachedFile, BeginSummary, BeginTurn, CallVerdict, DiscardAttached, StopTurn, TurnBegun, TurnView,
};
use crate::call::{Call, Refusal, Reply};
use crate::handlers::{about, context, edit, files, imports, requests, talk};
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
    /// Describes the body of a request, where it is JSON.
    pub(crate) taken: Option<Describe>,
    /// Describes the body of an answer that is no failure, where it is JSON.
    pub(crate) answered: Option<Describe>,
}

/// Describes a type.
pub(crate) type Describe = fn(&mut SchemaGenerator) -> Schema;

impl Route {
    const fn takes<T: JsonSchema>(self) -> Self {
        Self { taken: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    const fn answers<T: JsonSchema>(self) -> Self {
        Self { answered: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }
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
    /// JSON that may hold the whole text of a file.
    Document,
    Bytes,
}

/// How a request is answered.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// On a thread that may wait for files.
    Call(Handler),
    /// As that, and goes on behind the answer.
    Begin(fn(&Arc<Server>, &Call) -> Result<Reply, Refusal>),
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
    Route { area: Area::Login, ..post("/api/login", about::log_in).takes::<Login>().answers::<LoggedIn>() },
    get("/api/project", about::project).answers::<Project>(),
    get("/api/registry", about::registry).answers::<Registry>(),
    get("/api/codes/{c}", about::code).answers::<CodeView>(),
    get("/api/files/{f}", edit::view).answers::<FileView>(),
    get("/api/files/{f}/findings", edit::findings).answers::<FileFindings>(),
    Route {
        body: BodyKind::Document,
        ..post("/api/files/{f}/edits", edit::edits).takes::<Edits>().answers::<Edited>()
    },
    post("/api/files/{f}/undo", edit::undo).takes::<Step>().answers::<FileView>(),
    post("/api/files/{f}/redo", edit::redo).takes::<Step>().answers::<FileView>(),
    post("/api/files/{f}/discard", edit::discard).takes::<Step>().answers::<FileView>(),
    post("/api/files/{f}/fix", edit::fix).takes::<Fix>().answers::<FileView>(),
    post("/api/files/{f}/resolve", edit::resolve).takes::<Resolve>().answers::<FileView>(),
    post("/api/files/{f}/save", edit::save).takes::<Save>().answers::<FileView>(),
    post("/api/files", files::create).takes::<NewFile>().answers::<CreatedFile>(),
    post("/api/files/{f}/duplicate", files::duplicate).takes::<FileName>().answers::<CreatedFile>(),
    post("/api/files/{f}/rename", files::rename).takes::<FileName>().answers::<CreatedFile>(),
    post("/api/files/{f}/delete", files::delete).takes::<DeleteFile>().answers::<Nothing>(),
    get("/api/files/{f}/export", files::export).answers::<ExportedFile>(),
    post("/api/preview", context::preview).takes::<PreviewRequest>().answers::<Preview>(),
    post("/api/pipeline", context::pipeline).takes::<PreviewRequest>().answers::<PipelineView>(),
    post("/api/worldbooks/scan", context::scan).takes::<PreviewRequest>().answers::<ScanView>(),
    get("/api/previews/{p}/rows", context::rows).answers::<RowTexts>(),
    get("/api/previews/{p}/life", context::life).answers::<LifeView>(),
    get("/api/previews/{p}/body", context::body).answers::<BodyView>(),
    post("/api/compare", context::compare).takes::<CompareRequest>().answers::<Compared>(),
    post("/api/expand", context::expand).takes::<ExpandRequest>().answers::<Expanded>(),
    post("/api/conversations", talk::create).takes::<NewConversation>().answers::<MadeSession>(),
    post("/api/greetings", talk::greetings).takes::<GreetingsRequest>().answers::<GreetingsView>(),
    get("/api/search", talk::search).answers::<SearchView>(),
    post("/api/compression", talk::settings).takes::<CompressionRequest>().answers::<CompressionSettings>(),
    get("/api/conversations/{f}", talk::view).answers::<ConversationView>(),
    get("/api/conversations/{f}/tree", talk::tree).answers::<TreeView>(),
    get("/api/conversations/{f}/summaries/{n}", talk::summary).answers::<SummaryView>(),
    post("/api/conversations/{f}/steps", talk::step).takes::<TakeStep>().answers::<StepTaken>(),
    post("/api/conversations/{f}/plan", talk::plan).takes::<CompressRequest>().answers::<CompressionPlan>(),
    post("/api/conversations/{f}/compress", talk::compress).takes::<CompressRequest>().answers::<StepTaken>(),
    Route {
        answer: Answer::Begin(talk::begin_turn),
        ..post("/api/conversations/{f}/turns", talk::view).takes::<BeginTurn>().answers::<TurnBegun>()
    },
    Route {
        body: BodyKind::Bytes,
        ..post("/api/conversations/{f}/attachments", talk::attach).answers::<AttachedFile>()
    },
    post("/api/conversations/{f}/attachments/discard", talk::discard_attached)
        .takes::<DiscardAttached>()
        .answers::<Nothing>(),
    Route {
        answer: Answer::Begin(talk::begin_summary),
        ..post("/api/conversations/{f}/summaries", talk::view).takes::<BeginSummary>().answers::<TurnBegun>()
    },
    get("/api/conversations/{f}/turn", talk::turn).answers::<TurnView>(),
    post("/api/conversations/{f}/turn/stop", talk::stop_turn).takes::<StopTurn>().answers::<TurnView>(),
    post("/api/conversations/{f}/turn/call", talk::answer_call).takes::<CallVerdict>().answers::<TurnView>(),
    post("/api/conversations/{f}/session", talk::make_session)
        .takes::<MakeSession>()
        .answers::<MadeSession>(),
    post("/api/conversations/{f}/rename", talk::rename).takes::<RenameConversation>().answers::<Nothing>(),
    post("/api/conversations/{f}/delete", talk::delete).takes::<DeleteConversation>().answers::<Nothing>(),
    Route { body: BodyKind::Bytes, ..post("/api/import", imports::take).answers::<ImportView>() },
    post("/api/import/check", imports::check).takes::<ImportTarget>().answers::<ImportTargetView>(),
    post("/api/import/write", imports::write).takes::<ImportWrite>().answers::<ImportWritten>(),
    post("/api/import/discard", imports::discard).takes::<ImportDiscard>().answers::<Nothing>(),
    post("/api/start", imports::start).takes::<Start>().answers::<ImportWritten>(),
    get("/api/logs", requests::list).answers::<LogList>(),
    get("/api/logs/{f}", requests::report).answers::<LogView>(),
    get("/api/logs/{f}/pair", requests::pair).answers::<LogPair>(),
    Route { body: BodyKind::Bytes, ..post("/api/log", requests::dropped_report).answers::<LogView>() },
    Route { body: BodyKind::Bytes, ..post("/api/log/pair", requests::dropped_pair).answers::<LogPair>() },
    Route {
        method: Verb::Get,
        path: "/api/events",
        area: Area::Api,
        body: BodyKind::Nothing,
        answer: Answer::Socket,
        taken: None,
        answered: None,
    },
];

pub(crate) type Handler = fn(&Server, &Call) -> Result<Reply, Refusal>;

const fn file(path: &'static str, bytes: &'static [u8], content_type: &'static str) -> Route {
    let answer = Answer::File(bytes, content_type);
    Route {
        method: Verb::Get,
        path,
        area: Area::Page,
        body: BodyKind::Nothing,
        answer,
        taken: None,
        answered: None,
    }
}

const fn get(path: &'static str, answer: Handler) -> Route {
    let answer = Answer::Call(answer);
    Route {
        method: Verb::Get,
        path,
        area: Area::Api,
        body: BodyKind::Nothing,
        answer,
        taken: None,
        answered: None,
    }
}

const fn post(path: &'static str, answer: Handler) -> Route {
    let answer = Answer::Call(answer);
    Route {
        method: Verb::Post,
        path,
        area: Area::Api,
        body: BodyKind::Json,
        answer,
        taken: None,
        answered: None,
    }
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
            BodyKind::Json | BodyKind::Document => Some("application/json"),
            BodyKind::Bytes => Some("application/octet-stream"),
        },
    })
}
