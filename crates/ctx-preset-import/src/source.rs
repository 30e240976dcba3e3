//! Documents from which importers take fields: what is taken is converted and recorded in one step.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use ctx_types::pointer_step;
use serde_json::Value;

use crate::loose::{Object, number_of};
use crate::report::{Extent, FieldReports, FieldStatus, NOT_READ, Said, is_empty};

/// What became of the fields of a document that was converted. What nobody took is kept.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// By where a value is in memory, which is the same as long as the document is borrowed: no field needs a pointer
    /// of its own.
    told: RefCell<HashMap<usize, Told>>,
}

/// What is recorded of a value.
#[derive(Debug, Default)]
struct Told {
    /// What became of it, if it is a leaf.
    field: Option<Claim>,
    /// Where it is kept, and all that is below it.
    kept_at: Option<String>,
    /// Why nothing is made of what is below it.
    kept_note: Option<&'static str>,
}

#[derive(Debug)]
struct Claim {
    status: FieldStatus,
    to: String,
    note: Option<&'static str>,
}

/// A place in a document, at which there may be nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'v> {
    value: Option<&'v Value>,
    record: &'v Record,
}

/// A field that was read as one type.
#[derive(Debug)]
pub(crate) struct Field<'v, T> {
    source: Source<'v>,
    /// What was read; nothing for null too, which has each type.
    read: Option<T>,
    note: Option<&'static str>,
}

impl<'v> Source<'v> {
    pub(crate) fn new(document: &'v Value, record: &'v Record) -> Self {
        Self { value: Some(document), record }
    }

    /// Returns what is at some steps below this place.
    pub(crate) fn at(self, path: &str) -> Self {
        let below = |value: &'v Value, step: &str| value.as_object()?.get(step);
        Self {
            value: path.split('/').try_fold(self.value, |value, step| Some(below(value?, step))).flatten(),
            ..self
        }
    }

    /// Returns the items of a list, each with its number.
    pub(crate) fn items(self) -> impl Iterator<Item = (usize, Self)> {
        let items = self.value.and_then(Value::as_array).into_iter().flatten();
        items.enumerate().map(move |(index, item)| (index, Self { value: Some(item), ..self }))
    }

    pub(crate) fn value(self) -> Option<&'v Value> {
        self.value
    }

    pub(crate) fn object(self) -> Option<&'v Object> {
        self.value?.as_object()
    }

    pub(crate) fn text(self) -> Field<'v, &'v str> {
        self.read(Value::as_str)
    }

    /// Reads a text that is one of these.
    pub(crate) fn named(self, names: &[&str]) -> Field<'v, &'v str> {
        self.read(|value| value.as_str().filter(|text| names.contains(text)))
    }

    /// Reads a number, also one in quotes.
    pub(crate) fn number(self) -> Field<'v, f64> {
        self.read(number_of)
    }

    pub(crate) fn flag(self) -> Field<'v, bool> {
        self.read(Value::as_bool)
    }

    /// Reads a switch, also as a number or in quotes.
    pub(crate) fn switch(self) -> Field<'v, &'v Value> {
        self.read(|value| {
            Some(value).filter(|value| value.is_boolean() || value.is_number() || value.is_string())
        })
    }

    pub(crate) fn list(self) -> Field<'v, &'v [Value]> {
        self.read(|value| value.as_array().map(Vec::as_slice))
    }

    /// Reads a list of texts, or one text, and records the texts of the list one by one.
    pub(crate) fn texts(self, to: &str) {
        self.read(|value| Some(value).filter(|value| value.is_array() || value.is_string())).into(to);
        for (index, item) in self.items() {
            item.text().into(&format!("{to}/{index}"));
        }
    }

    /// Says where all that is not taken at this place or below it is kept.
    pub(crate) fn keep_at(self, place: String) {
        self.tell(|told| told.kept_at = Some(place));
    }

    /// Says why this is kept and no more.
    pub(crate) fn keep(self, note: &'static str) {
        self.claim(FieldStatus::Kept, String::new(), Some(note));
    }

    /// Says why this and all that is below it is kept and no more.
    pub(crate) fn keep_all(self, note: &'static str) {
        self.tell(|told| told.kept_note = Some(note));
    }

    fn read<T>(self, read: impl FnOnce(&'v Value) -> Option<T>) -> Field<'v, T> {
        Field { source: self, read: self.value.and_then(read), note: None }
    }

    fn claim(self, status: FieldStatus, to: String, note: Option<&'static str>) {
        self.tell(|told| told.field = Some(Claim { status, to, note }));
    }

    fn tell(self, tell: impl FnOnce(&mut Told)) {
        if let Some(value) = self.value {
            tell(self.record.told.borrow_mut().entry(address(value)).or_default());
        }
    }
}

impl<T> Field<'_, T> {
    /// Says how it differs where it goes.
    pub(crate) fn nearly(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Returns what was read, and records that it is at a place.
    pub(crate) fn into(self, to: &str) -> Option<T> {
        let Self { source, read, note } = self;
        let status = if note.is_some() { FieldStatus::Approximated } else { FieldStatus::Mapped };
        match source.value {
            Some(value) if read.is_none() && !value.is_null() => source.keep(NOT_READ),
            _ => source.claim(status, to.to_owned(), note),
        }
        read
    }
}

impl Record {
    /// Makes a row for each leaf of the document; what nobody took is kept below a place. O(leaves).
    pub(crate) fn rows(&self, document: &Value, kept_at: &str, extent: Extent) -> FieldReports {
        let mut rows = FieldReports::with_room(extent);
        self.write(document, &mut String::new(), kept_at, &mut rows);
        rows
    }

    /// Adds the rows of a value that stands at a pointer.
    pub(crate) fn write(&self, value: &Value, pointer: &mut String, kept_at: &str, rows: &mut FieldReports) {
        let start = pointer.len();
        Walk { told: &self.told.borrow(), pointer, rows }
            .visit(value, Kept { start, place: kept_at, note: None });
    }
}

/// A walk over the leaves of a document.
struct Walk<'a> {
    told: &'a HashMap<usize, Told>,
    pointer: &'a mut String,
    rows: &'a mut FieldReports,
}

/// Where what nobody took is kept.
#[derive(Clone, Copy)]
struct Kept<'a> {
    /// How long the pointer was where the place began to hold.
    start: usize,
    place: &'a str,
    note: Option<&'static str>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &Value, mut kept: Kept<'a>) {
        let known: &'a HashMap<usize, Told> = self.told;
        let told = known.get(&address(value));
        if let Some(place) = told.and_then(|told| told.kept_at.as_deref()) {
            kept = Kept { start: self.pointer.len(), place, note: None };
        }
        kept.note = told.and_then(|told| told.kept_note).or(kept.note);
        let before = self.pointer.len();
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    self.pointer.push('/');
                    self.pointer.push_str(&pointer_step(key));
                    self.visit(value, kept);
                    self.pointer.truncate(before);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    // Writing into a string never fails.
                    let _ = write!(self.pointer, "/{index}");
                    self.visit(value, kept);
                    self.pointer.truncate(before);
                }
            }
            leaf => self.leaf(leaf, told.and_then(|told| told.field.as_ref()), kept),
        }
    }

    fn leaf(&mut self, leaf: &Value, claim: Option<&Claim>, kept: Kept<'_>) {
        let status = claim.map_or(FieldStatus::Kept, |claim| claim.status);
        let note = claim.map_or(kept.note, |claim| claim.note);
        let said = Said { status, note, is_sure: false, is_empty: is_empty(leaf) };
        let pointer = &*self.pointer;
        self.rows.push(pointer, said, |text| {
            match claim.filter(|claim| claim.status != FieldStatus::Kept) {
                Some(claim) => text.push_str(&claim.to),
                None => {
                    text.push_str(kept.place);
                    text.push_str(pointer.get(kept.start..).unwrap_or_default());
                }
            }
            true
        });
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_is_recorded_and_the_rest_is_kept() {
        let document = json!({
            "name": "Ada", "age": "x", "tags": ["a", 1], "deep": { "own": true, "a~/b": [] }, "odd": { "x": 1 }, "none": null,
        });
        let record = Record::default();
        let source = Source::new(&document, &record);
        assert_eq!(source.at("name").text().nearly("cut").into("/title"), Some("Ada"));
        assert_eq!(source.at("age").number().into("/age"), None);
        source.at("tags").texts("/tags");
        assert_eq!(source.at("deep/own").flag().into("/own"), Some(true));
        source.at("deep").keep_at("/deep/imported".to_owned());
        source.at("odd").keep_all("nothing reads it");
        source.at("none").text().into("/none");
        source.at("not/there").text().into("/none");
        let rows = record.rows(&document, "/imported", Extent::default());
        let told: Vec<String> = rows
            .iter()
            .map(|row| {
                let note = row.note.map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{} {} {}{note}", row.pointer, row.status, row.to.unwrap_or("-"))
            })
            .collect();
        assert_eq!(
            told,
            [
                "/name approximated /title (cut)",
                "/age kept /imported/age (no value that means something there)",
                "/tags/0 mapped /tags/0",
                "/tags/1 kept /imported/tags/1 (no value that means something there)",
                "/deep/own mapped /own",
                "/deep/a~0~1b kept /deep/imported/a~0~1b",
                "/odd/x kept /imported/odd/x (nothing reads it)",
                "/none mapped /none",
            ]
        );
    }
}
