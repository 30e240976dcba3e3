//! What is wrong with one document, whatever it is.

use ctx_compress::mask::check_summaries;
use ctx_engine::{Format, ImportError, Imported, read_conversation, read_profile};
use ctx_preset_import::Document;
use ctx_preset_import::codes::GUESSED_FORMAT;
use ctx_tokens::ModelTable;
use ctx_types::Diagnostic;
use ctx_types::internal::RequestRules;
use ctx_types::session::Session;
use ctx_wire::{Dialect, lint};
use serde_json::{Value, json};

use crate::edits;
use crate::scan;
use crate::texts::Position;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A file of `ctx` or of another application.
    Format(Format),
    /// A request body in an API dialect.
    RequestBody(Dialect),
    /// JSON lines with a request each.
    RequestLog,
    /// `case.yaml`: the turn of a case of `ctx test`. Only a program that reads folders knows it.
    Case,
    /// `ctx.toml`: defaults for the command line. Only a program that reads folders knows it.
    Config,
}

impl DocumentKind {
    /// Reads the id of a format or the name of an API dialect; any other text is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        Dialect::parse(name).map(Self::RequestBody).or_else(|| Format::parse(name).map(Self::Format))
    }

    /// Returns the name for programs.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Format(format) => format.id(),
            Self::RequestBody(_) => "request_body",
            Self::RequestLog => "request_log",
            Self::Case => "case",
            Self::Config => "config",
        }
    }

    /// Returns the words for people, such as `an agent`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Format(format) => format.as_str(),
            Self::RequestBody(Dialect::OpenaiChat) => "an OpenAI Chat Completions request body",
            Self::RequestBody(Dialect::OpenaiResponses) => "an OpenAI Responses request body",
            Self::RequestBody(Dialect::Anthropic) => "an Anthropic Messages request body",
            Self::RequestBody(Dialect::Gemini) => "a Gemini request body",
            Self::RequestBody(Dialect::Completion) => "a text completion request body",
            Self::RequestBody(_) => "a request body",
            Self::RequestLog => "a log of requests",
            Self::Case => "a case of `ctx test`",
            Self::Config => "defaults for the command line",
        }
    }
}

/// Reads a document as what it was detected to be, or as `named` where nothing tells that, and says what it is taken for.
///
/// An agent is looked at by `of_agent`, which may know more than the document. `models` has the rules for request bodies.
///
/// # Errors
///
/// Nothing tells what the document is, or it is not of its form.
pub fn look(
    (bytes, name): (&[u8], &str),
    detected: Result<Format, ImportError>,
    named: Option<DocumentKind>,
    models: &ModelTable,
    of_agent: &dyn Fn() -> Result<Vec<Diagnostic>, ImportError>,
) -> Result<(DocumentKind, Vec<Diagnostic>), ImportError> {
    if let Some(DocumentKind::RequestBody(dialect)) = named {
        let document = Document::read(bytes, name)?;
        return Ok((DocumentKind::RequestBody(dialect), of_body(&document, dialect, name, models)));
    }
    let unknown = match detected {
        Ok(format) => return look_as(format, (bytes, name), models, of_agent),
        Err(unknown) => unknown,
    };
    if !matches!(unknown, ImportError::UnknownShape { .. }) {
        return Err(unknown);
    }
    if let Some((dialect, found)) = request_body(bytes, name, models) {
        return Ok((DocumentKind::RequestBody(dialect), found));
    }
    if let Some(found) = request_log(bytes, name, models) {
        return Ok((DocumentKind::RequestLog, found));
    }
    let Some(DocumentKind::Format(format)) = named else { return Err(unknown) };
    let (kind, mut found) = look_as(format, (bytes, name), models, of_agent)?;
    // What is said by hand is no guess.
    found.retain(|finding| finding.code != GUESSED_FORMAT);
    Ok((kind, found))
}

/// Reads a document as what it was taken for.
fn look_as(
    format: Format,
    (bytes, name): (&[u8], &str),
    models: &ModelTable,
    of_agent: &dyn Fn() -> Result<Vec<Diagnostic>, ImportError>,
) -> Result<(DocumentKind, Vec<Diagnostic>), ImportError> {
    let found = match format {
        format if format.is_conversation() => match of_messages(bytes, name, models)? {
            (Some(dialect), found) => return Ok((DocumentKind::RequestBody(dialect), found)),
            (None, found) => found,
        },
        format if format.is_worldbook() => scan::findings(bytes, name)?,
        Format::Profile | Format::PlainText => read_profile(bytes, name)?.diagnostics,
        _ => of_agent()?,
    };
    Ok((DocumentKind::Format(format), found))
}

/// Checks a conversation; a request body is also checked as its provider does. Returns the body's API dialect.
fn of_messages(
    bytes: &[u8],
    name: &str,
    models: &ModelTable,
) -> Result<(Option<Dialect>, Vec<Diagnostic>), ImportError> {
    let conversation = read_conversation(bytes, name)?;
    let (dialect, found) = request_body(bytes, name, models).unzip();
    let mut found = found.unwrap_or_default();
    // What the provider says about a place is enough there.
    let places: Vec<_> = found.iter().map(|finding| finding.location.pointer.clone()).collect();
    let is_new = |finding: &Diagnostic| !places.contains(&finding.location.pointer);
    found.extend(of_conversation(conversation, name).into_iter().filter(is_new));
    Ok((dialect, found))
}

/// Returns what was found in a conversation, and what is wrong with its summaries.
fn of_conversation(conversation: Imported<Session>, name: &str) -> Vec<Diagnostic> {
    let of_summaries = check_summaries(&conversation.value).into_iter().map(|mut found| {
        found.location.pointer = pointer_in(conversation.format, found.location.pointer.take());
        found.in_document(name)
    });
    let of_summaries: Vec<Diagnostic> = of_summaries.collect();
    [conversation.diagnostics, of_summaries].concat()
}

/// Looks at a request body as its provider does; `None` for a file that is none.
fn request_body(bytes: &[u8], name: &str, models: &ModelTable) -> Option<(Dialect, Vec<Diagnostic>)> {
    let document = Document::read(bytes, name).ok()?;
    let dialect = lint::detect(&document.value)?;
    Some((dialect, of_body(&document, dialect, name, models)))
}

/// Looks at each request of a log: bodies, or objects with a `request`. Returns `None` if no line has one.
fn request_log(bytes: &[u8], name: &str, models: &ModelTable) -> Option<Vec<Diagnostic>> {
    let document = Document::read(bytes, name).ok()?;
    let (mut found, mut is_log) = (Vec::new(), false);
    for (index, line) in document.value.as_array()?.iter().enumerate() {
        let places = ["", "/request", "/request/body", "/body"];
        let body = places.iter().find_map(|place| {
            let body = line.pointer(place)?;
            Some((place, body, lint::detect(body)?))
        });
        let Some((place, body, dialect)) = body else { continue };
        is_log = true;
        found.extend(lint::check_for(body, dialect, rules_of(body, models)).into_iter().map(
            |mut finding| {
                let inner = finding.location.pointer.take().unwrap_or_default();
                finding.location.pointer = Some(format!("/{index}{place}{inner}"));
                finding.in_document(name)
            },
        ));
    }
    is_log.then_some(found)
}

/// Looks at a request body as the provider of an API dialect does, by the rules of the model that it names.
fn of_body(document: &Document, dialect: Dialect, name: &str, models: &ModelTable) -> Vec<Diagnostic> {
    let found = lint::check_for(&document.value, dialect, rules_of(&document.value, models)).into_iter();
    found.map(|finding| finding.in_document(name)).collect()
}

/// Returns the request rules of the model that a body names.
pub(crate) fn rules_of(body: &Value, models: &ModelTable) -> RequestRules {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    models.lookup(model).0.request
}

/// Writes a finding as JSON, with its line and column where they are known.
pub fn finding_json(finding: &Diagnostic, position: Option<&Position>) -> Value {
    let mut value = json!(finding);
    if let (Value::Object(map), Some(position)) = (&mut value, position) {
        map.insert("position".to_owned(), json!(position));
    }
    if let (Value::Object(map), Some(fix)) = (&mut value, edits::to_json(finding)) {
        map.insert("fix".to_owned(), fix);
    }
    value
}

/// Leads a pointer into a session to where its form has that; none where it has it elsewhere.
pub fn pointer_in(format: Format, pointer: Option<String>) -> Option<String> {
    match format {
        Format::Session => pointer,
        Format::SessionHalves => pointer.map(|pointer| format!("/detail{pointer}")),
        _ => None,
    }
}
