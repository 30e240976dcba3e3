//! What became of the fields of a document that was converted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, Hasher};

use ctx_types::internal::pointer_step;
use serde_json::Value;

use crate::report::{Extent, FieldReports, FieldStatus, RowFacts};

/// What became of the fields of a document that was converted. What nobody took is kept.
///
/// Values are known by where they are in memory, which is the same as long as the document is borrowed: no field needs a
/// pointer of its own.
#[derive(Debug, Default)]
pub(crate) struct Record {
    entries: RefCell<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    fields: HashMap<usize, Claim, BuildHasherDefault<Addresses>>,
    scopes: HashMap<usize, Scope, BuildHasherDefault<Addresses>>,
    /// Places that were made of several parts.
    made: Vec<String>,
    /// Whether a scope is that of a leaf.
    has_leaf_scopes: bool,
}

/// What became of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) status: FieldStatus,
    pub(crate) tail: Tail,
    pub(crate) note: Option<&'static str>,
    /// Whether it may be somewhere else after all, even where other fields are not.
    pub(crate) is_unsure: bool,
    /// Whether it changes nothing of what is sent that it is only nearly the same.
    pub(crate) is_alike: bool,
}

/// Where a field goes, below where what is around it leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tail {
    Fixed(&'static str),
    Item(&'static str, u32),
    /// One of the places that were made.
    Made(u32),
    /// Where the field stands below what leads there.
    Same,
}

impl Claim {
    pub(crate) fn taken(note: Option<&'static str>, tail: Tail) -> Self {
        let status = if note.is_some() { FieldStatus::Approximated } else { FieldStatus::Mapped };
        Self { status, tail, note, is_unsure: false, is_alike: false }
    }

    pub(crate) fn kept(note: &'static str) -> Self {
        Self { tail: Tail::Fixed(""), status: FieldStatus::Kept, ..Self::taken(Some(note), Tail::Same) }
    }
}

/// For how many fields there is room before any is taken: few of a document that is nothing known are.
const MOST_ROOM: usize = 50_000;

/// What is recorded of all that is below a value.
#[derive(Debug, Default)]
struct Scope {
    /// Where it leads to.
    to: Option<String>,
    /// Where what nobody took is kept.
    kept_at: Option<Keeping>,
    kept_note: Option<&'static str>,
    /// What became of what nobody took, and whether the steps to it follow its place.
    rest: Option<(Claim, bool)>,
    sureness: Option<Sureness>,
}

/// What of a document is where it goes whatever else is imported.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sureness {
    /// What says something, but for items of lists.
    Said,
    All,
}

#[derive(Debug)]
enum Keeping {
    At(String),
    /// Below where the value leads to.
    Below(&'static str),
}

impl Record {
    /// Has room for the fields of a document.
    pub(crate) fn with_room(extent: Extent) -> Self {
        let record = Self::default();
        record.entries.borrow_mut().fields.reserve(extent.leaves.min(MOST_ROOM));
        record
    }

    pub(crate) fn claim(&self, value: &Value, claim: Claim) {
        self.entries.borrow_mut().fields.insert(address(value), claim);
    }

    pub(crate) fn claim_all(&self, value: &Value, claim: Claim, has_steps: bool) {
        if is_leaf(value) {
            return self.claim(value, claim);
        }
        self.scope(value, |scope| scope.rest = Some((claim, has_steps)));
    }

    /// Forgets what was said of what nobody took below a value.
    pub(crate) fn divide(&self, value: &Value) {
        self.scope(value, |scope| scope.rest = None);
    }

    pub(crate) fn keep_all(&self, value: &Value, note: &'static str) {
        if is_leaf(value) {
            return self.claim(value, Claim::kept(note));
        }
        self.scope(value, |scope| (scope.kept_note, scope.rest) = (Some(note), None));
    }

    pub(crate) fn lead_to(&self, value: &Value, place: String) {
        self.scope(value, |scope| scope.to = Some(place));
    }

    pub(crate) fn keep_at(&self, value: &Value, place: String) {
        self.scope(value, |scope| scope.kept_at = Some(Keeping::At(place)));
    }

    pub(crate) fn keep_below(&self, value: &Value, place: &'static str) {
        self.scope(value, |scope| scope.kept_at = Some(Keeping::Below(place)));
    }

    pub(crate) fn for_sure(&self, value: &Value, sureness: Sureness) {
        self.scope(value, |scope| scope.sureness = Some(sureness));
    }

    /// Adds a place that was made of several parts.
    pub(crate) fn made(&self, place: String) -> Tail {
        let made = &mut self.entries.borrow_mut().made;
        made.push(place);
        Tail::Made(u32::try_from(made.len() - 1).unwrap_or(u32::MAX))
    }

    fn scope(&self, value: &Value, change: impl FnOnce(&mut Scope)) {
        let mut entries = self.entries.borrow_mut();
        entries.has_leaf_scopes |= is_leaf(value);
        change(entries.scopes.entry(address(value)).or_default());
    }

    /// Makes a row for each leaf of the document; what nobody took is kept below a place. O(leaves).
    pub(crate) fn rows(&self, document: &Value, kept_at: &str, extent: Extent) -> FieldReports {
        let mut rows = FieldReports::with_room(extent);
        self.write(document, &mut String::new(), kept_at, &mut rows);
        rows
    }

    /// Adds the rows of a value that stands at a pointer.
    pub(crate) fn write(&self, value: &Value, pointer: &mut String, kept_at: &str, rows: &mut FieldReports) {
        let start = pointer.len();
        let around =
            Around { to: (start, ""), kept: (start, kept_at, ""), note: None, rest: None, sureness: None };
        Walk { entries: &self.entries.borrow(), pointer, rows }.visit(value, around);
    }
}

/// A walk over the leaves of a document.
struct Walk<'a> {
    entries: &'a Entries,
    pointer: &'a mut String,
    rows: &'a mut FieldReports,
}

/// What is recorded of what is around a value.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// Where it leads to, and how long the pointer was where that began to hold.
    to: (usize, &'a str),
    /// Where what nobody took is kept: how long the pointer was where that began to hold, and the two parts of the place.
    kept: (usize, &'a str, &'static str),
    note: Option<&'static str>,
    /// What became of what nobody took, and how long the pointer was where that began to hold, if the steps matter.
    rest: Option<(&'a Claim, Option<usize>)>,
    sureness: Option<Sureness>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &Value, around: Around<'a>) {
        let before = self.pointer.len();
        match value {
            Value::Object(map) if !map.is_empty() => {
                let around = self.enter(value, around);
                for (key, value) in map {
                    self.pointer.push('/');
                    self.pointer.push_str(&pointer_step(key));
                    self.visit(value, around);
                    self.pointer.truncate(before);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let around = self.enter(value, around);
                for (index, value) in items.iter().enumerate() {
                    // Writing into a string never fails.
                    let _ = write!(self.pointer, "/{index}");
                    self.visit(value, around);
                    self.pointer.truncate(before);
                }
            }
            leaf => self.leaf(leaf, around),
        }
    }

    fn enter(&self, value: &Value, mut around: Around<'a>) -> Around<'a> {
        let entries: &'a Entries = self.entries;
        let Some(scope) = entries.scopes.get(&address(value)) else { return around };
        let start = self.pointer.len();
        if let Some(to) = &scope.to {
            around.to = (start, to);
        }
        if let Some(keeping) = &scope.kept_at {
            let (place, below) = match keeping {
                Keeping::At(place) => (place.as_str(), ""),
                Keeping::Below(below) => (around.to.1, *below),
            };
            around = Around { kept: (start, place, below), note: None, rest: None, ..around };
        }
        if scope.kept_note.is_some() {
            around = Around { note: scope.kept_note, rest: None, ..around };
        }
        if let Some((claim, has_steps)) = &scope.rest {
            around.rest = Some((claim, has_steps.then_some(start)));
        }
        around.sureness = scope.sureness.or(around.sureness);
        around
    }

    fn leaf(&mut self, leaf: &Value, mut around: Around<'a>) {
        let entries: &'a Entries = self.entries;
        let claim = entries.fields.get(&address(leaf)).map(|claim| (claim, None));
        let is_empty = is_empty(leaf);
        if entries.has_leaf_scopes || claim.is_none_or(|(claim, _)| claim.status == FieldStatus::Kept) {
            around = self.enter(leaf, around);
        }
        let claim = claim.or(around.rest);
        let (status, note) =
            claim.map_or((FieldStatus::Kept, around.note), |(claim, _)| (claim.status, claim.note));
        let is_alike = claim.is_some_and(|(claim, _)| claim.is_alike);
        let is_item = claim.is_some_and(|(claim, _)| matches!(claim.tail, Tail::Item(..)));
        let is_sure = match around.sureness {
            _ if claim.is_some_and(|(claim, _)| claim.is_unsure) => false,
            Some(Sureness::All) => true,
            Some(Sureness::Said) => !is_item && !is_empty,
            None => false,
        };
        let pointer = &*self.pointer;
        let from = |start: usize| pointer.get(start..).unwrap_or_default();
        self.rows.push(pointer, RowFacts { status, note, is_sure, is_empty, is_alike }, |text| {
            if status == FieldStatus::Unsupported {
                return false;
            }
            if let Some((claim, steps_from)) = claim.filter(|(claim, _)| claim.status != FieldStatus::Kept) {
                text.push_str(around.to.1);
                if matches!(claim.tail, Tail::Same) {
                    text.push_str(from(around.to.0));
                    return true;
                }
                entries.push(claim.tail, text);
                text.push_str(steps_from.map(from).unwrap_or_default());
            } else {
                let (start, place, below) = around.kept;
                text.extend([place, below, from(start)]);
            }
            true
        });
    }
}

impl Entries {
    fn push(&self, tail: Tail, text: &mut String) {
        let (tail, item) = match tail {
            Tail::Fixed(tail) => (tail, None),
            Tail::Item(tail, item) => (tail, Some(item)),
            Tail::Same => ("", None),
            Tail::Made(number) => (self.made.get(number as usize).map_or("", String::as_str), None),
        };
        if !tail.is_empty() && !tail.starts_with('/') {
            text.push('/');
        }
        text.push_str(tail);
        if let Some(item) = item {
            // Writing into a string never fails.
            let _ = write!(text, "/{item}");
        }
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Returns whether a leaf holds nothing.
fn is_empty(leaf: &Value) -> bool {
    match leaf {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
        // Lists and objects are leaves where nothing is in them.
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// Hashes addresses, which nobody chooses, so that it need not be hard to find two of one hash.
#[derive(Default)]
struct Addresses(u64);

impl Hasher for Addresses {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, number: usize) {
        let mixed = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
