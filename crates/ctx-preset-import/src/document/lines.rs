//! JSON Lines documents: one object a line.

use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::Value;

use crate::codes;
use crate::document::build::Builder;
use crate::document::json::check_size;
use crate::document::repair::repair;
use crate::document::{BadLine, Document, Syntax, ends_with, place};
use crate::error::ImportError;
use crate::limits::Limits;

/// How many lines are looked at to tell JSON Lines from anything else.
const SAMPLE: usize = 20;

/// Returns whether a text that is no JSON value is JSON Lines: at least half of its first lines are objects.
///
/// A text that does not begin with `{` must also be named so.
pub(super) fn applies(text: &str, name: &str) -> bool {
    let named = ends_with(name, &["jsonl", "ndjson"]);
    if !named && !text.trim_start().starts_with('{') {
        return false;
    }
    let mut lines = 0;
    let mut objects = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE) {
        lines += 1;
        objects += usize::from(line.starts_with('{') && is_json(line));
    }
    objects > 0 && lines > 1 && 2 * objects >= lines
}

fn is_json(line: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
}

/// Reads a JSON Lines document; a line that is no object is kept and reported.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Document, ImportError> {
    check_size(text, limits, Syntax::JsonLines)?;
    let mut builder = Builder::new(limits.json_nodes, false);
    let mut values = Vec::new();
    let mut bad_lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let value = read_line(line, index, &mut builder);
        if builder.exhausted {
            return Err(ImportError::TooManyNodes { limit: limits.json_nodes });
        }
        if value.is_none() && !line.trim().is_empty() {
            bad_lines.push(BadLine { number: index + 1, text: line.to_owned() });
        }
        values.push(value.unwrap_or(Value::Null));
    }
    let diagnostics = builder.finish();
    Ok(Document {
        value: Value::Array(values),
        syntax: Syntax::JsonLines,
        bad_lines,
        diagnostics,
        json_error: None,
    })
}

/// Reads one line; none if it is blank or no object.
fn read_line(line: &str, index: usize, builder: &mut Builder) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let read: Result<_, serde_json::Error> = parse(line, index, builder).or_else(|error| {
        let repaired = repair(line).ok_or(error)?;
        let value = parse(&repaired.text, index, builder)?;
        repaired.findings.into_iter().for_each(|finding| builder.note_line(index, finding));
        Ok(value)
    });
    let problem = match read {
        Ok(value @ Value::Object(_)) => return Some(value),
        Ok(_) => Phrase::from("it is not an object"),
        Err(error) => {
            Phrase::original(place::without_place(&error.to_string(), error.line(), error.column()))
        }
    };
    let message = phrase!("line {index} is skipped: {problem}", index = index + 1, problem);
    let bad =
        Diagnostic::error(codes::BAD_LINE, message).with_help(phrase!("fix the line; it is kept unchanged"));
    builder.note_line(index, bad);
    None
}

fn parse(line: &str, index: usize, builder: &mut Builder) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let value = builder.read_line(index, &mut deserializer)?;
    deserializer.end().map(|()| value)
}
