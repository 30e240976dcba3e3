//! A request as handlers see it, and their answers.

use std::collections::BTreeMap;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use ctx_chat::StoreError;
use ctx_engine::AssembleError;
use ctx_language::Language;
use ctx_project::ProjectError;
use ctx_project::sources::Mark;
use ctx_types::{Code, Diagnostic, Phrase, phrase};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::{Failure, FileView, Finding, RewriteView};
use crate::codes;

/// A request whose sender may ask.
#[derive(Debug)]
pub(crate) struct Call {
    /// The language in which it is answered.
    pub(crate) language: Language,
    /// The window that asks, by the name that it gave itself.
    pub(crate) window: Option<String>,
    /// The parts of the path that the route names.
    pub(crate) path: BTreeMap<String, String>,
    /// What stands behind the `?`.
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    /// Reads the body.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let error = error.to_string();
            Refusal::malformed(phrase!("the request body is not valid: {error}", error))
        })
    }

    /// Returns a part of the path.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns a number behind the `?`, if it is there.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Refusal> {
        let read = |text: &String| {
            text.parse().map_err(|_| Refusal::malformed(phrase!("`{name}` is not a whole number", name)))
        };
        self.query.get(name).map(read).transpose()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) body: Vec<u8>,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(header::HeaderName, HeaderValue)>,
}

impl Reply {
    /// Answers with JSON.
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Refusal> {
        let body = serde_json::to_vec(value).map_err(|error| {
            let error = error.to_string();
            Refusal::new(500, codes::UNUSABLE, phrase!("cannot write the response: {error}", error))
        })?;
        Ok(Self { body, content_type: "application/json", headers: Vec::new() })
    }

    /// Says which version of a file it is.
    #[must_use]
    pub(crate) fn with_tag(mut self, hash: &str) -> Self {
        self.headers
            .extend(HeaderValue::from_str(&format!("\"{hash}\"")).ok().map(|tag| (header::ETAG, tag)));
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        let content_type = HeaderValue::from_static(self.content_type);
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        response.headers_mut().extend(self.headers);
        response
    }
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Refusal(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: u16,
    code: Code,
    message: Phrase,
    help: Option<Phrase>,
    found: Vec<(Diagnostic, Option<Mark>)>,
    theirs: Option<Box<FileView>>,
    rewrite: Option<RewriteView>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: Code, message: Phrase) -> Self {
        let (help, found, theirs, rewrite) = (None, Vec::new(), None, None);
        Self(Box::new(Refused { status, code, message, help, found, theirs, rewrite }))
    }

    pub(crate) fn malformed(message: Phrase) -> Self {
        Self::new(400, codes::MALFORMED, message)
    }

    pub(crate) fn not_found(message: Phrase) -> Self {
        Self::new(404, codes::NOT_FOUND, message)
    }

    pub(crate) fn unusable(message: Phrase) -> Self {
        Self::new(422, codes::UNUSABLE, message)
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: Phrase) -> Self {
        self.0.help = Some(help);
        self
    }

    #[must_use]
    pub(crate) fn with_theirs(mut self, theirs: FileView) -> Self {
        self.0.theirs = Some(Box::new(theirs));
        self
    }

    /// Says how edits can be made all the same.
    #[must_use]
    pub(crate) fn with_rewrite(mut self, rewrite: Option<RewriteView>) -> Self {
        self.0.rewrite = rewrite;
        self
    }

    pub(crate) fn into_response(self, language: Language) -> Response<Body> {
        let Refused { status, code, message, help, found, theirs, rewrite } = *self.0;
        let finding = |(index, (found, mark)): (usize, &(Diagnostic, Option<Mark>))| {
            let position = mark.as_ref().map(|mark| (mark.line, mark.column));
            Finding::of(language, found, index).at(mark.as_ref(), position)
        };
        let failure = Failure {
            code: code.to_string(),
            message: language.say(&message),
            help: help.map(|help| language.say(&help)),
            findings: found.iter().enumerate().map(finding).collect(),
            theirs,
            rewrite,
        };
        let body = serde_json::to_vec(&failure).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

impl From<ProjectError> for Refusal {
    fn from(error: ProjectError) -> Self {
        let mut refusal = Self::unusable(error.phrase());
        match error {
            ProjectError::Fault(fault) => {
                refusal.0.help.clone_from(&fault.finding.help);
                refusal.0.found.push((fault.finding, fault.mark));
            }
            ProjectError::Store(error @ StoreError::Stale { .. }) => {
                return Self::new(409, codes::STALE_FILE, error.phrase());
            }
            ProjectError::Store(error @ StoreError::NotFound { .. }) => {
                return Self::not_found(error.phrase());
            }
            _ => {}
        }
        refusal
    }
}

impl From<AssembleError> for Refusal {
    fn from(error: AssembleError) -> Self {
        Self::unusable(error.phrase())
    }
}
