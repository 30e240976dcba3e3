//! Edits that a text cannot express as it is written, as where an alias repeats a value: the smallest part of the file
//! that can hold what is wanted is written anew.

use ctx_operations::document_edit::{Edit, edited_yaml};
use ctx_preset_import::{Syntax, write_document};
use serde_json::Value;

use super::{Form, read};
use crate::migration::comments::comments;
use crate::schemas;

/// The part of a file that is written anew, and what is lost by that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The JSON pointer of the list or object; empty for the whole file.
    pub pointer: String,
    /// How many comments go.
    pub comments: usize,
}

/// Returns a text of YAML that holds what is wanted after edits, and what of it is new.
pub(super) fn rewritten(name: &str, text: &str, edits: &[Edit], wanted: &Value) -> Option<(String, Rewrite)> {
    let holds = |text: &str| {
        read(name, text)
            .is_some_and(|content| content.value == *wanted && content.form == Form::Document(Syntax::Yaml))
    };
    let mut pointer = around(edits)?;
    let made = loop {
        if pointer.is_empty() {
            let whole = schemas::with_line_of(text.as_bytes(), &write_document(wanted));
            break Some(whole).filter(|whole| holds(whole))?;
        }
        let edit = Edit::Set { pointer: pointer.to_owned(), value: wanted.pointer(pointer)?.clone() };
        if let Ok(part) = edited_yaml(text, &[edit], wanted, &holds) {
            break part;
        }
        (pointer, _) = pointer.rsplit_once('/')?;
    };
    let lost = comments(text).len().saturating_sub(comments(&made).len());
    Some((made, Rewrite { pointer: pointer.to_owned(), comments: lost }))
}

/// Returns the pointer of the smallest list or object that all edits are in.
fn around(edits: &[Edit]) -> Option<&str> {
    let mut parents = edits.iter().map(|edit| edit.pointer().rsplit_once('/').map_or("", |(above, _)| above));
    let first = parents.next()?;
    let common = |mut a, b: &str| {
        while !b.strip_prefix(a).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/')) {
            a = str::rsplit_once(a, '/').map_or("", |(above, _)| above);
        }
        a
    };
    Some(parents.fold(first, common))
}
