//! JSON documents.

use ctx_types::{Phrase, phrase};
use serde_json::error::Category;

use crate::document::build::Builder;
use crate::document::repair::repair;
use crate::document::{Document, Syntax};
use crate::document::{place, punctuation};
use crate::error::ImportError;
use crate::limits::{Limits, MAX_DEPTH};

/// Reads a JSON document; everything but its syntax is lenient.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Document, ImportError> {
    check_size(text, limits, Syntax::Json)?;
    let mut builder = Builder::new(limits.json_nodes, false);
    let first = parse(text, &mut builder, limits);
    let value = match first {
        Err(ImportError::Json { .. }) => match repair(text) {
            None => first?,
            Some(repaired) => {
                builder = Builder::new(limits.json_nodes, false);
                repaired.findings.into_iter().for_each(|finding| builder.note(finding));
                parse(&repaired.text, &mut builder, limits)?
            }
        },
        first => first?,
    };
    let diagnostics = builder.finish();
    Ok(Document { value, syntax: Syntax::Json, bad_lines: Vec::new(), diagnostics, json_error: None })
}

/// Refuses a text that is larger than its limit.
pub(crate) fn check_size(text: &str, limits: &Limits, syntax: Syntax) -> Result<(), ImportError> {
    let limit = match syntax {
        Syntax::Json | Syntax::JsonLines => limits.json_bytes,
        Syntax::Yaml | Syntax::PlainText => limits.yaml_bytes,
    };
    if text.len() > limit { Err(ImportError::TooLarge { bytes: text.len(), limit, syntax }) } else { Ok(()) }
}

fn parse(text: &str, builder: &mut Builder, limits: &Limits) -> Result<serde_json::Value, ImportError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = builder.read(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        if builder.exhausted {
            ImportError::TooManyNodes { limit: limits.json_nodes }
        } else {
            explain(&error, text)
        }
    })
}

/// Turns a parser's error into ours.
fn explain(error: &serde_json::Error, text: &str) -> ImportError {
    let line = error.line();
    let column = place::character_column(text, line, error.column());
    let message = place::without_place(&error.to_string(), line, error.column());
    if message == "recursion limit exceeded" {
        return ImportError::TooDeep { limit: MAX_DEPTH, line, column };
    }
    let message = match error.classify() {
        _ if is_comment(text, line, error.column()) => COMMENT.to_owned(),
        Category::Eof => "the document ends too early".to_owned(),
        _ => message,
    };
    let help = rest_of(text, line, error.column())
        .and_then(|rest| punctuation::help(rest.chars().next()?))
        .or_else(|| help(&message));
    ImportError::Json { line, column, help, message }
}

/// The fault of a comment.
const COMMENT: &str = "JSON has no comments";

/// Returns the error of a document that begins with a comment.
pub(super) fn comment_at_start(text: &str) -> Option<ImportError> {
    let before = text.len() - text.trim_start().len();
    let line = text.bytes().take(before).filter(|byte| *byte == b'\n').count() + 1;
    let column = before - text.get(..before)?.rfind('\n').map_or(0, |end| end + 1) + 1;
    let (message, help) = (COMMENT.to_owned(), help(COMMENT));
    is_comment(text, line, column).then_some(ImportError::Json { line, column, message, help })
}

/// Returns whether a comment begins at a line and a column, in bytes from 1.
fn is_comment(text: &str, line: usize, column: usize) -> bool {
    rest_of(text, line, column).is_some_and(|rest| rest.starts_with("//") || rest.starts_with("/*"))
}

/// Returns the line from a column on, in bytes from 1.
fn rest_of(text: &str, line: usize, column: usize) -> Option<&str> {
    place::line_at(text, line).get(column.saturating_sub(1)..)
}

fn help(message: &str) -> Option<Phrase> {
    Some(match message {
        COMMENT => phrase!("remove the comment"),
        "the document ends too early" => {
            phrase!("close the open bracket or quote; the file may be truncated")
        }
        "trailing comma" => phrase!("remove the comma before the closing bracket"),
        "trailing characters" => phrase!("keep a single JSON value per file"),
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            phrase!("write line breaks as `\\n` and tabs as `\\t` inside strings")
        }
        "invalid escape" | "invalid unicode code point" => phrase!("write `\\` as `\\\\`"),
        "key must be a string" => phrase!("put keys in double quotes"),
        _ => return None,
    })
}
