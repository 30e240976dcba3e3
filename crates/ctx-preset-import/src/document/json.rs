//! JSON documents.

use ctx_types::{Phrase, phrase};
use serde_json::error::Category;

use crate::document::build::Builder;
use crate::document::place;
use crate::document::repair::repair;
use crate::document::{Document, Syntax};
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
pub(super) fn check_size(text: &str, limits: &Limits, syntax: Syntax) -> Result<(), ImportError> {
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
        Category::Eof => "the document ends too early".to_owned(),
        _ => message,
    };
    ImportError::Json { line, column, help: help(&message), message }
}

fn help(message: &str) -> Option<Phrase> {
    Some(match message {
        "the document ends too early" => {
            phrase!("close the open bracket or quote; the file may be truncated")
        }
        "trailing comma" => phrase!("remove the comma before the closing bracket"),
        "trailing characters" => phrase!("keep a single JSON value per file"),
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            phrase!("write line breaks as `\\n` and tabs as `\\t` inside strings")
        }
        "key must be a string" => phrase!("put keys in double quotes"),
        _ => return None,
    })
}
