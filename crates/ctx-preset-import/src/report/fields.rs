//! The rows of one document, with their texts in one place.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{FieldReport, FieldStatus};

/// What became of each leaf of a document: one row each, in the order of the document.
///
/// A document has as many rows as values, so they share one text. O(1) for a row, which costs 64 bytes and its text.
#[derive(Clone, Default)]
pub struct FieldReports {
    text: String,
    rows: Vec<Row>,
}

#[derive(Clone, Copy)]
struct Row {
    pointer: Span,
    to: Option<Span>,
    said: Said,
}

/// What is said of a field beside where it goes.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) status: FieldStatus,
    pub(super) note: Option<&'static str>,
    /// Whether it is where it goes whatever else is imported.
    pub(super) is_sure: bool,
}

/// A part of the text, in bytes.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

/// What becomes of a row after all.
pub(crate) struct Change {
    pub(crate) status: FieldStatus,
    pub(crate) to: Target,
    pub(crate) note: Option<&'static str>,
}

/// Where a field goes after all.
pub(crate) enum Target {
    Same,
    Nowhere,
    At(String),
}

/// How many leaves a document has, and how many bytes the pointers to them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) leaves: usize,
    pub(crate) pointer_bytes: usize,
}

impl FieldReports {
    /// Has room for the rows of a document, if their fields go where the pointers are about as long.
    pub(super) fn with_room(extent: Extent) -> Self {
        let text = String::with_capacity(2 * extent.pointer_bytes);
        Self { text, rows: Vec::with_capacity(extent.leaves) }
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FieldReport<'_>> + DoubleEndedIterator + Clone {
        self.rows.iter().map(|row| self.view(row))
    }

    /// Returns the row of a leaf. O(rows).
    pub fn find(&self, pointer: &str) -> Option<FieldReport<'_>> {
        self.iter().find(|row| row.pointer == pointer)
    }

    /// Adds a row; `to` writes where the field goes, and says whether that is anywhere.
    pub(super) fn push(&mut self, pointer: &str, said: Said, to: impl FnOnce(&mut String) -> bool) {
        let start = self.text.len();
        self.text.push_str(pointer);
        let end = self.text.len();
        let is_somewhere = to(&mut self.text);
        let to = is_somewhere.then_some(Span { start: end, end: self.text.len() });
        self.rows.push(Row { pointer: Span { start, end }, to, said });
    }

    /// Changes the rows for which there is a change.
    pub(crate) fn change(&mut self, change: impl FnMut(FieldReport<'_>) -> Option<Change>) {
        self.change_where(|_| true, change);
    }

    /// Changes rows of which it is not sure that their fields are where they go; `are_kept_meant` if each field that
    /// is kept is such a one.
    pub(crate) fn change_unsure(
        &mut self,
        are_kept_meant: bool,
        change: impl FnMut(FieldReport<'_>) -> Option<Change>,
    ) {
        let is_meant = |said: Said| !said.is_sure || are_kept_meant && said.status == FieldStatus::Kept;
        self.change_where(is_meant, change);
    }

    fn change_where(
        &mut self,
        is_meant: impl Fn(Said) -> bool,
        mut change: impl FnMut(FieldReport<'_>) -> Option<Change>,
    ) {
        for index in 0..self.rows.len() {
            let Some(row) = self.rows.get(index).copied() else { return };
            if !is_meant(row.said) {
                continue;
            }
            let Some(Change { status, to, note }) = change(self.view(&row)) else { continue };
            let to = match to {
                Target::Same => row.to,
                Target::Nowhere => None,
                Target::At(place) => {
                    let start = self.text.len();
                    self.text.push_str(&place);
                    Some(Span { start, end: self.text.len() })
                }
            };
            if let Some(place) = self.rows.get_mut(index) {
                let is_sure = row.said.is_sure && status == row.said.status;
                *place = Row { pointer: row.pointer, to, said: Said { status, note, is_sure } };
            }
        }
    }

    fn view(&self, row: &Row) -> FieldReport<'_> {
        let text = |span: Span| self.text.get(span.start..span.end).unwrap_or_default();
        let Said { status, note, .. } = row.said;
        FieldReport { pointer: text(row.pointer), status, to: row.to.map(text), note }
    }
}

impl PartialEq for FieldReports {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for FieldReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for FieldReports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
