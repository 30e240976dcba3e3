//! Edits of a document: of its text by the places of its values, so that all else stays byte for byte, and of
//! its values, to tell whether the text came out as it should.

use std::ops::Range;

use ctx_types::internal::{pointer_key, pointer_step};
use ctx_types::{Diagnostic, Edit, Fix, Phrase, Span, phrase};
use serde_json::Value;

use crate::document_edit::{self, EditError};
use crate::locate::{Place, Places, properties_length, quoted_length};

/// Bytes of a text, and what takes their place.
pub type Replacement = (Range<usize>, String);

/// An edit that a finding asks for.
#[derive(Clone, Copy, Debug)]
pub struct RequestedEdit<'f> {
    pointer: &'f str,
    span: Option<Span>,
    fix: &'f Fix,
}

impl<'f> RequestedEdit<'f> {
    /// The edit of a finding, if it has one and a place.
    pub fn of(finding: &'f Diagnostic) -> Option<Self> {
        let pointer = finding.location.pointer.as_deref()?;
        Some(Self { pointer, span: finding.location.span, fix: finding.fix.as_deref()? })
    }

    /// The JSON pointer of what changes.
    pub fn pointer(&self) -> String {
        self.fix.pointer(self.pointer)
    }

    /// The JSON pointer of what was not read before the edit and is read after it, if there is something.
    pub fn reveals(&self) -> Option<String> {
        let pointer = self.pointer();
        match &self.fix.edit {
            Edit::Key(name) => {
                let (parent, _) = pointer.rsplit_once('/')?;
                Some(format!("{parent}/{}", pointer_step(name)))
            }
            Edit::Value(Value::Array(_)) => Some(pointer),
            Edit::Value(_) | Edit::Insert(_) | Edit::Part { .. } => None,
        }
    }

    /// Returns whether the edit adds a key. [`Self::in_text`] does not make it.
    pub fn is_insertion(&self) -> bool {
        matches!(self.fix.edit, Edit::Insert(_))
    }

    /// Returns the same edit of a value; else why it cannot be made.
    pub fn to_edit(&self, document: &Value) -> Result<document_edit::Edit, Phrase> {
        let pointer = self.pointer();
        let old = document.pointer(&pointer);
        let not_found = || EditError::NotFound(pointer.clone()).phrase();
        let value = match (&self.fix.edit, old) {
            (Edit::Insert(value), None) => value.clone(),
            (Edit::Insert(_), Some(_)) => {
                let (_, key) = pointer.rsplit_once('/').unwrap_or_default();
                return Err(EditError::Taken(pointer_key(key).into_owned()).phrase());
            }
            (Edit::Value(value), Some(_)) => value.clone(),
            (Edit::Key(name), Some(_)) => {
                return Ok(document_edit::Edit::Rename { pointer, key: name.clone() });
            }
            (Edit::Part { old: part, new }, Some(Value::String(text))) => {
                let from = self.span.map_or(0, |span| span.start);
                let at = text.get(from..).and_then(|rest| rest.find(part.as_str())).ok_or_else(not_found)?;
                let mut text = text.clone();
                text.replace_range(from + at..from + at + part.len(), new);
                Value::String(text)
            }
            _ => return Err(not_found()),
        };
        Ok(document_edit::Edit::Set { pointer, value })
    }

    /// Names which bytes of a text change, and to what; else why that cannot be said.
    pub fn in_text(&self, text: &str, places: &Places, is_yaml: bool) -> Result<Replacement, Phrase> {
        let missing = || {
            phrase!(
                "the file does not contain the value \
            there"
            )
        };
        let place = places.at(&self.pointer()).ok_or_else(missing)?;
        match &self.fix.edit {
            Edit::Value(value) => value_in_text(text, place, value, is_yaml),
            Edit::Insert(_) => Err(missing()),
            Edit::Key(name) => {
                let range = place.key.clone().ok_or_else(|| phrase!("the key contains escapes"))?;
                let range = scalar(text, range, is_yaml);
                let old = text.get(range.clone()).unwrap_or_default();
                Ok((range, written(&Value::from(name.as_str()), old, is_yaml)))
            }
            Edit::Part { old, new } => {
                let part = place.part(text, self.span);
                let found = text.get(part.clone()).and_then(|part| part.find(old.as_str()));
                let start = part.start
                    + found.ok_or_else(|| phrase!("the text contains escapes or spans several lines"))?;
                Ok((start..start + old.len(), new.clone()))
            }
        }
    }
}

/// Names which bytes of a text change where a scalar becomes another value, and to what; else why that cannot be said.
pub(crate) fn value_in_text(
    text: &str,
    place: &Place,
    value: &Value,
    is_yaml: bool,
) -> Result<Replacement, Phrase> {
    let range = scalar(text, place.range.clone(), is_yaml);
    let old = text.get(range.clone()).unwrap_or_default();
    if is_yaml && (old.starts_with(['*', '|', '>']) || is_block(text, place.range.start)) {
        return Err(phrase!("the value is a YAML alias or block"));
    }
    if is_spelled_otherwise(old, value) {
        return Err(phrase!("the file uses another notation for the number"));
    }
    Ok((range, written(value, old, is_yaml)))
}

/// Makes replacements in a text; none if two of them are about the same bytes.
pub fn replaced(text: &str, mut replacements: Vec<Replacement>) -> Option<String> {
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (range, new) in replacements {
        result.push_str(text.get(done..range.start)?);
        result.push_str(&new);
        done = range.end;
    }
    result.push_str(text.get(done..)?);
    Some(result)
}

/// Returns whether a YAML value is the text of a block, above which stands how it is read.
fn is_block(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default().trim_end();
    before.trim_end_matches(['-', '+']).ends_with(['|', '>'])
}

/// The part of a value that is replaced: in YAML without the anchor and the tag before it, and without the blanks
/// and the comment that a parser counts to it.
fn scalar(text: &str, range: Range<usize>, is_yaml: bool) -> Range<usize> {
    let old = text.get(range.clone()).unwrap_or_default();
    let start = if is_yaml { properties_length(old) } else { 0 };
    let rest = old.get(start..).unwrap_or_default();
    let length = quoted_length(rest).unwrap_or_else(|| {
        let line = rest.lines().next().unwrap_or_default();
        if is_yaml {
            line.split_once(" #").map_or(line, |(value, _)| value).trim_end().len()
        } else {
            rest.len()
        }
    });
    range.start + start..range.start + start + length
}

/// Returns whether a number is spelled in another way than the text that would stand for it.
fn is_spelled_otherwise(old: &str, new: &Value) -> bool {
    let is_number = old.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    is_number && new.as_str().is_some_and(|new| new.parse::<f64>().is_ok() && new != old)
}

/// Writes a value with the quotes that the old one has.
fn written(value: &Value, old: &str, is_yaml: bool) -> String {
    match value.as_str() {
        Some(text) if is_yaml && old.starts_with('\'') => format!("'{}'", text.replace('\'', "''")),
        Some(text) if is_yaml && !old.starts_with('"') && is_plain(text) => text.to_owned(),
        _ => value.to_string(),
    }
}

/// Returns whether YAML reads a text without quotes as that text.
fn is_plain(text: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let means_else = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_of_word)
        && !means_else.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Writes the edit of a finding for programs, if it has one.
pub fn to_json(finding: &Diagnostic) -> Option<Value> {
    let asked = RequestedEdit::of(finding)?;
    let pointer = asked.pointer();
    Some(match &asked.fix.edit {
        Edit::Value(value) | Edit::Insert(value) => {
            serde_json::json!({ "pointer": pointer, "value": value })
        }
        Edit::Key(name) => serde_json::json!({ "pointer": pointer, "key": name }),
        Edit::Part { old, new } => serde_json::json!({ "pointer": pointer, "old": old, "new": new }),
    })
}

#[cfg(test)]
mod tests;
