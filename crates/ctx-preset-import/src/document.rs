//! Documents: bytes that become one JSON value, whatever they are written in.

mod build;
mod guard;
mod json;
mod key;
mod lines;
mod place;
mod punctuation;
mod repair;
mod text;
mod write;
mod yaml;

use std::fmt;

pub(crate) use json::check_size;
pub(crate) use punctuation::help_for_text;
pub use repair::repaired_json;
pub use text::decode;
pub(crate) use text::decode_with_limits;
pub use write::write_document;

use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use crate::codes;
use crate::error::ImportError;
use crate::limits::Limits;

/// A document as one JSON value, with what was odd about it.
///
/// ```
/// use ctx_preset_import::{Document, Syntax};
///
/// let document = Document::read(b"name: Ada", "ada.yaml")?;
/// assert_eq!(document.syntax, Syntax::Yaml);
/// assert_eq!(document.value, serde_json::json!({ "name": "Ada" }));
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What the document holds. Of JSON Lines: the list of all lines, null where a line is no object.
    pub value: Value,
    /// What it is written in.
    pub syntax: Syntax,
    /// The lines of a JSON Lines document that are not blank and no objects.
    pub bad_lines: Vec<BadLine>,
    /// What was odd, with pointers into `value`.
    pub diagnostics: Vec<Diagnostic>,
    /// The syntax error of invalid JSON that is read as YAML, unless the file is named as YAML.
    pub json_error: Option<ImportError>,
}

/// A line of a JSON Lines document that is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The number of the line, from 1.
    pub number: usize,
    /// The line as it stands.
    pub text: String,
}

/// What a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// JSON.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// YAML.
    Yaml,
    /// Text of no syntax.
    PlainText,
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON Lines",
            Self::Yaml => "YAML",
            Self::PlainText => "plain text",
        })
    }
}

impl Document {
    /// Reads a document.
    ///
    /// Its content decides what it is written in: JSON if it begins with `{` or `[` and parses, JSON Lines if
    /// it has several lines and most are JSON objects, else YAML. `name` is its file name, or empty; its
    /// ending decides which error is reported when nothing fits, and that a line break inside a JSON text,
    /// which YAML would fold, is an error everywhere but in `.yaml` and `.yml`.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, ImportError> {
        Self::read_with_limits(bytes, name, &Limits::default())
    }

    /// As [`read`](Self::read), with other limits.
    pub fn read_with_limits(bytes: &[u8], name: &str, limits: &Limits) -> Result<Self, ImportError> {
        let text = text::decode_with_limits(bytes, limits)?;
        Self::parse(&text, name, limits)
    }

    /// Makes a document of a value that is read already, such as messages of a program in another language.
    ///
    /// Errors: it has more values than a JSON document may have.
    pub fn of_value(value: Value) -> Result<Self, ImportError> {
        let limit = Limits::default().json_nodes;
        if values(&value) > limit {
            return Err(ImportError::TooManyNodes { limit });
        }
        let (bad_lines, diagnostics) = (Vec::new(), Vec::new());
        Ok(Self { value, syntax: Syntax::Json, bad_lines, diagnostics, json_error: None })
    }

    /// Reads a document that is decoded already.
    pub(crate) fn parse(text: &str, name: &str, limits: &Limits) -> Result<Self, ImportError> {
        let start = text.trim_start().chars().next().ok_or(ImportError::Empty)?;
        if ends_with(name, &["json"])
            && let Some(error) = json::comment_at_start(text)
        {
            return Err(error);
        }
        if !matches!(start, '{' | '[') {
            return if lines::applies(text, name) {
                lines::read(text, limits)
            } else {
                yaml::read(text, limits)
            };
        }
        let error = match json::read(text, limits) {
            Ok(document) => return Ok(document),
            Err(error @ ImportError::Json { .. }) => error,
            Err(error) => return Err(error),
        };
        if lines::applies(text, name) {
            return lines::read(text, limits);
        }
        let is_named_yaml = ends_with(name, &["yaml", "yml"]);
        // YAML would make a blank of the line break, and the author's text another one.
        if !is_named_yaml && repair::breaks_a_text(text) {
            return Err(error);
        }
        match yaml::read(text, limits) {
            Ok(document) if !yaml::has_comment_key(&document.value) => {
                let json_error = Some(error.clone()).filter(|_| !is_named_yaml);
                Ok(Self { json_error, ..document.noting(&error) })
            }
            Err(yaml) if is_named_yaml => Err(yaml),
            _ => Err(error),
        }
    }

    /// Notes that the document is YAML although it begins like JSON.
    fn noting(mut self, error: &ImportError) -> Self {
        let message = phrase!("{error}; the file is read as YAML", error = error.phrase());
        let found = Diagnostic::warning(codes::READ_AS_YAML, message);
        let found = match error.help() {
            Some(help) => found.with_help(help),
            None => found,
        };
        self.diagnostics.insert(0, found);
        self
    }
}

/// Counts the values that a value consists of.
fn values(value: &Value) -> usize {
    let below: usize = match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(map) => map.values().map(values).sum(),
        _ => 0,
    };
    1 + below
}

/// Returns whether a file name has one of these endings, in any letters.
pub(crate) fn ends_with(name: &str, endings: &[&str]) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| endings.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}
