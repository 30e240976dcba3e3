//! JSON documents.

use ctx_types::Diagnostic;
use serde_json::error::Category;

use crate::codes;
use crate::document::build::Builder;
use crate::document::place;
use crate::document::{Document, Syntax};
use crate::error::ImportError;
use crate::limits::{Limits, MAX_DEPTH};

/// Reads a JSON document; everything but its syntax is lenient.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Document, ImportError> {
    check_size(text, limits, Syntax::Json)?;
    let mut builder = Builder::new(limits.json_nodes, false);
    let first = parse(text, &mut builder, limits);
    let value = match first {
        Err(ImportError::Json { .. }) => match mend_surrogates(text) {
            None => first?,
            Some((mended, count)) => {
                builder = Builder::new(limits.json_nodes, false);
                builder.note(surrogates(count));
                parse(&mended, &mut builder, limits)?
            }
        },
        first => first?,
    };
    let diagnostics = builder.finish();
    Ok(Document { value, syntax: Syntax::Json, bad_lines: Vec::new(), diagnostics })
}

/// Refuses a text that is larger than its limit.
pub(super) fn check_size(text: &str, limits: &Limits, syntax: Syntax) -> Result<(), ImportError> {
    let limit = match syntax {
        Syntax::Json | Syntax::JsonLines => limits.json_bytes,
        Syntax::Yaml | Syntax::PlainText => limits.yaml_bytes,
    };
    match text.len() > limit {
        true => Err(ImportError::TooLarge { bytes: text.len(), limit, syntax }),
        false => Ok(()),
    }
}

fn parse(text: &str, builder: &mut Builder, limits: &Limits) -> Result<serde_json::Value, ImportError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = builder.read(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| match builder.exhausted {
        true => ImportError::TooManyNodes { limit: limits.json_nodes },
        false => explain(&error, text),
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

fn help(message: &str) -> Option<&'static str> {
    Some(match message {
        "the document ends too early" => "the file may have been cut off; a bracket or a quote is not closed",
        "trailing comma" => "remove the comma before the closing bracket",
        "trailing characters" => "the file holds more than one JSON value",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "write line breaks in a text as `\\n` and tabs as `\\t`"
        }
        "key must be a string" => "put keys into double quotes",
        _ => return None,
    })
}

/// Reports halves of surrogate pairs that were replaced.
pub(super) fn surrogates(count: usize) -> Diagnostic {
    let message = format!("{count} halves of surrogate pairs stand alone and are replaced by U+FFFD");
    let help = "an application cut a text in the middle of an emoji or another rare character";
    Diagnostic::warning(codes::LONE_SURROGATE, message).with_help(help)
}

/// Replaces `\uD83D` and its like where the other half is missing, which JavaScript writes and reads.
///
/// Returns the mended text and the number of places, if there are any. O(length).
pub(super) fn mend_surrogates(text: &str) -> Option<(String, usize)> {
    let mut mended = String::new();
    let mut copied = 0;
    let mut count = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        at = start + 2;
        match escape(text, start) {
            Some(0xD800..=0xDBFF) if matches!(escape(text, start + 6), Some(0xDC00..=0xDFFF)) => {
                at = start + 12;
            }
            Some(0xD800..=0xDFFF) => {
                mended.push_str(text.get(copied..start)?);
                mended.push_str("\\ufffd");
                count += 1;
                at = start + 6;
                copied = at;
            }
            _ => {}
        }
    }
    mended.push_str(text.get(copied..)?);
    (count > 0).then_some((mended, count))
}

/// Reads the code unit of an escape `\uXXXX` at a place.
fn escape(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
