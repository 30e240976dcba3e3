//! YAML documents.

use ctx_types::{Phrase, phrase};
use serde_json::Value;

use crate::document::build::Builder;
use crate::document::json::check_size;
use crate::document::{Document, Syntax, guard, place, punctuation};
use crate::error::ImportError;
use crate::limits::{Limits, MAX_DEPTH};

/// Reads a YAML document, after a look at what it would cost.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Document, ImportError> {
    check_size(text, limits, Syntax::Yaml)?;
    guard::check(text, limits)?;
    let mut builder = Builder::new(limits.yaml_nodes, true);
    let read = builder.read(serde_yaml::Deserializer::from_str(text));
    let value = read.map_err(|error| {
        if builder.exhausted {
            ImportError::TooManyNodes { limit: limits.yaml_nodes }
        } else {
            explain(&error, text, limits)
        }
    })?;
    let diagnostics = builder.finish();
    Ok(Document { value, syntax: Syntax::Yaml, bad_lines: Vec::new(), diagnostics, json_error: None })
}

/// Returns whether a key begins like a comment of JavaScript, which YAML takes for text.
///
/// Such a document is JSON with comments rather than YAML.
pub(super) fn has_comment_key(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            let comment = key.starts_with("//") || key.starts_with("/*");
            comment || has_comment_key(value)
        }),
        Value::Array(items) => items.iter().any(has_comment_key),
        _ => false,
    }
}

/// Turns a parser's error into ours.
fn explain(error: &serde_yaml::Error, text: &str, limits: &Limits) -> ImportError {
    let message = error.to_string();
    let (line, column) = match error.location() {
        Some(location) => (location.line(), location.column()),
        None => (second_document(text), 1),
    };
    if message.contains("recursion limit exceeded") {
        return ImportError::TooDeep { limit: MAX_DEPTH, line, column };
    }
    if message.contains("repetition limit exceeded") {
        return ImportError::TooManyNodes { limit: limits.yaml_nodes };
    }
    let message = place::without_place(&message, line, column);
    let (line, column) = left_open(&message, text, line).unwrap_or((line, column));
    let message = if message.contains("more than one document") {
        "a second document starts".to_owned()
    } else {
        message.replace("expected a string as key", "where a key should be a string")
    };
    ImportError::Yaml { line, column, help: help(&message, text, line), message }
}

/// What a parser's message says of a list or object in brackets.
const IN_BRACKETS: &str = "while parsing a flow ";

/// Returns where a list or object in brackets begins, or else where the text ends, if it is not closed until then:
/// behind the end there is no line that could be shown.
fn left_open(message: &str, text: &str, line: usize) -> Option<(usize, usize)> {
    let text = text.trim_end();
    let last = text.lines().count().max(1);
    let (_, what) = message.split_once(IN_BRACKETS)?;
    let is_behind = line > last || (line == last && text.ends_with(['[', '{', ',']));
    if !is_behind {
        return None;
    }
    let begins = what.split_once(" at line ").and_then(|(_, place)| {
        let (line, column) = place.split_once(" column ")?;
        Some((line.parse().ok()?, column.parse().ok()?))
    });
    let column = text.lines().last().map_or(1, |line| line.chars().count());
    Some(begins.unwrap_or((last, column.max(1))))
}

/// Returns the line at which a second document begins; the only error without a place of its own.
fn second_document(text: &str) -> usize {
    let mut begun = false;
    for (index, line) in text.lines().enumerate() {
        if begun && line.starts_with("---") {
            return index + 1;
        }
        begun |= !line.trim().is_empty() && !line.starts_with('#');
    }
    1
}

/// Guesses what went wrong from the line of the error and the one above it.
fn help(message: &str, text: &str, line: usize) -> Option<Phrase> {
    if message == "a second document starts" {
        return Some(phrase!("put each document in its own file, or indent `---` inside text"));
    }
    let here = place::line_at(text, line);
    let above = place::line_at(text, line.saturating_sub(1));
    if [here, above].iter().any(|line| bare_value(line).starts_with("{{")) {
        return Some(phrase!("quote values that start with `{{{{`"));
    }
    if let Some(help) = [here, above].into_iter().find_map(punctuation::help_for_key) {
        return Some(help);
    }
    let indent = here.len() - here.trim_start().len();
    if here.get(..indent).is_some_and(|indent| indent.contains('\t')) {
        return Some(phrase!("indent with spaces; YAML does not allow tabs here"));
    }
    Some(match bare_value(here).chars().next() {
        Some('*') => phrase!("quote values that start with `*`"),
        Some('&') => phrase!("quote values that start with `&`"),
        Some('@' | '`' | '%') => phrase!("quote values that start with `@`, `%`, or a backtick"),
        Some('[' | '{') => phrase!("quote values that start with `[` or `{{`, or close the bracket"),
        Some('"' | '\'') => phrase!("close the quotes; double inner quotes or escape them with `\\`"),
        _ if message.contains("quoted scalar") && message.contains("end of stream") => {
            phrase!("close the quotes; double inner quotes or escape them with `\\`")
        }
        _ if message.contains("mapping values are not allowed") => {
            phrase!("quote values that contain `: `, and align the keys of one object")
        }
        _ if message.contains(IN_BRACKETS) => {
            phrase!("close the list with `]` or the object with `}}`, and separate items with commas")
        }
        _ if message.contains("did not find expected") => {
            phrase!("align the items of the list or object")
        }
        _ => return None,
    })
}

/// Returns what follows the dashes and the key of a line.
fn bare_value(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    match rest.split_once(": ") {
        Some((key, value)) if !key.starts_with(['"', '\'', '{', '[']) => value.trim_start(),
        _ => rest,
    }
}
