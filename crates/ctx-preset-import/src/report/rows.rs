//! Rows of a report about a converted document.

use std::borrow::Cow;
use std::collections::HashMap;

use ctx_types::internal::pointer_step;
use serde_json::{Map, Value};

use super::{FieldReport, FieldStatus};
use crate::source::{Outcome, SourceNode};

/// Maximum number of rows for one document. Above it, keys are written as `*`.
const MAX_ROWS: usize = 10_000;

/// Lists the fields of a converted document. Fields without a result are kept below a place. O(values).
pub(crate) fn rows(document: &SourceNode<'_>, kept_at: &str) -> Vec<FieldReport> {
    let mut walk = Walk { pointer: String::new(), rows: Vec::new(), known: HashMap::new() };
    let inherited =
        Inherited { to: Base { place: "", from: 0 }, kept: Base { place: kept_at, from: 0 }, whole: None };
    walk.visit(document, inherited);
    walk.rows
}

struct Walk {
    /// The pointer of the value, with `*` for each number.
    pointer: String,
    rows: Vec<FieldReport>,
    known: HashMap<RowKey, usize>,
}

#[derive(PartialEq, Eq, Hash)]
struct RowKey {
    pointer: String,
    status: FieldStatus,
    to: Option<String>,
    note: Option<&'static str>,
}

/// Places and result that a value has from the values around it.
#[derive(Clone, Copy)]
struct Inherited<'n> {
    to: Base<'n>,
    kept: Base<'n>,
    whole: Option<&'n Outcome>,
}

/// A place, and the length of the pointer that leads there.
#[derive(Clone, Copy)]
struct Base<'n> {
    place: &'n str,
    from: usize,
}

impl Walk {
    fn visit(&mut self, node: &SourceNode<'_>, inherited: Inherited<'_>) {
        let mut inherited = inherited;
        let (place, own) = (node.place.borrow(), node.outcome.borrow());
        let from = self.pointer.len();
        if let Some(place) = place.as_deref() {
            if let Some(to) = &place.to {
                inherited.to = Base { place: to, from };
            }
            if let Some(kept) = &place.kept {
                inherited = Inherited { kept: Base { place: kept, from }, whole: None, ..inherited };
            }
        }
        let is_leaf = node.children.is_empty();
        inherited.whole = own.as_ref().filter(|own| own.is_whole || is_leaf).or(inherited.whole);
        // Fields of a value that a reader divides are next to other fields at its place.
        let is_divided = own.as_ref().map_or(place.is_some(), |own| !own.is_whole);
        if is_leaf || !is_divided && node.children.iter().all(is_plain) {
            return self.push(node, inherited);
        }
        let has_names = place.as_ref().is_some_and(|place| place.has_names);
        let mut keys = node.value.as_object().filter(|_| !has_names).into_iter().flat_map(Map::keys);
        for child in &node.children {
            let key = keys.next().filter(|_| self.rows.len() < MAX_ROWS);
            self.pointer.push('/');
            self.pointer.push_str(&key.map_or(Cow::Borrowed("*"), |key| pointer_step(key)));
            self.visit(child, inherited);
            self.pointer.truncate(from);
        }
    }

    /// Adds a value, with all values below it, to the row of its result.
    fn push(&mut self, node: &SourceNode<'_>, inherited: Inherited<'_>) {
        let kept = || Outcome { note: None, ..Outcome::new_kept("") };
        let outcome = inherited.whole.cloned().unwrap_or_else(kept);
        let below = |base: Base<'_>| format!("{}{}", base.place, &self.pointer[base.from..]);
        let to = match (outcome.status, &outcome.to) {
            (FieldStatus::Unsupported, _) => None,
            (FieldStatus::Kept, _) => Some(below(inherited.kept)),
            (_, None) => Some(below(inherited.to)),
            (_, Some(to)) if to.is_empty() || to.starts_with('/') => {
                Some(format!("{}{to}", inherited.to.place))
            }
            (_, Some(to)) => Some(format!("{}/{to}", inherited.to.place)),
        };
        let Outcome { status, note, is_equivalent: is_alike, .. } = outcome;
        let (count, is_empty) = (leaves(node.value), is_empty(node.value));
        let key = RowKey { pointer: self.pointer.clone(), status, to: to.clone(), note };
        let index = *self.known.entry(key).or_insert(self.rows.len());
        if let Some(row) = self.rows.get_mut(index) {
            row.count += count;
            row.is_empty &= is_empty;
            row.is_alike &= is_alike;
        } else {
            let pointer = self.pointer.clone();
            self.rows.push(FieldReport { pointer, status, to, note, count, is_empty, is_alike });
        }
    }
}

/// Returns whether nothing is recorded for a value or below it.
fn is_plain(node: &SourceNode<'_>) -> bool {
    node.outcome.borrow().is_none() && node.place.borrow().is_none() && node.children.iter().all(is_plain)
}

/// Counts the scalars, empty lists, and empty objects of a value.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) if !map.is_empty() => map.values().map(leaves).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Returns whether a value is null, or an empty text, list, or object.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
