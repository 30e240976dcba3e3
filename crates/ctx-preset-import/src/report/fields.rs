//! The rows of one document, with their texts in one place.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{FieldReport, FieldStatus};

/// What became of each leaf of a document: one row each, in the order of the document.
///
/// A document has as many rows as values, so they share one text. O(1) for a row, which costs 24 bytes and its text.
#[derive(Clone, Default)]
pub struct FieldReports {
    text: String,
    rows: Vec<Row>,
    /// What is said of fields, each once.
    notes: Vec<&'static str>,
}

/// A row, in as little room as possible: to have it costs more than to make it.
#[derive(Clone, Copy)]
struct Row {
    /// Where its pointer begins in the text; where the field goes stands right behind it.
    start: usize,
    /// How many bytes the pointer has.
    pointer: u32,
    /// How many bytes the place has where the field goes, or [`NONE`].
    to: u32,
    /// The number of the note, or [`NO_NOTE`].
    note: u16,
    status: FieldStatus,
    is_sure: bool,
    is_empty: bool,
    is_alike: bool,
}

/// Instead of the length of a place that is nowhere.
const NONE: u32 = u32::MAX;

/// Instead of the number of a note.
const NO_NOTE: u16 = u16::MAX;

/// What is said of a field beside where it goes.
#[derive(Clone, Copy)]
pub(crate) struct RowFacts {
    pub(crate) status: FieldStatus,
    pub(crate) note: Option<&'static str>,
    /// Whether it is where it goes whatever else is imported.
    pub(crate) is_sure: bool,
    /// Whether it holds nothing.
    pub(crate) is_empty: bool,
    /// Whether it changes nothing of what is sent that it is only nearly the same.
    pub(crate) is_alike: bool,
}

/// What becomes of a row after all.
pub(crate) struct Change {
    pub(crate) status: FieldStatus,
    /// Where it is then; none for what is nowhere.
    pub(crate) to: Option<String>,
    pub(crate) note: Option<&'static str>,
}

/// How many leaves a document has, and how many bytes the pointers to them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) leaves: usize,
    pub(crate) pointer_bytes: usize,
}

impl FieldReports {
    /// Has room for the rows of a document, if their fields go where the pointers are about as long.
    pub(crate) fn with_room(extent: Extent) -> Self {
        let text = String::with_capacity(2 * extent.pointer_bytes);
        Self { text, rows: Vec::with_capacity(extent.leaves), notes: Vec::new() }
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is none.
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
    pub(crate) fn push(&mut self, pointer: &str, facts: RowFacts, to: impl FnOnce(&mut String) -> bool) {
        let start = self.text.len();
        self.text.push_str(pointer);
        let between = self.text.len();
        let is_somewhere = to(&mut self.text);
        let to = if is_somewhere { length(self.text.len() - between) } else { NONE };
        let RowFacts { status, note, is_sure, is_empty, is_alike } = facts;
        let note = self.note(note);
        let pointer = length(between - start);
        self.rows.push(Row { start, pointer, to, note, status, is_sure, is_empty, is_alike });
    }

    /// Returns the number of a note. O(notes), of which a format has a few.
    fn note(&mut self, note: Option<&'static str>) -> u16 {
        let Some(note) = note else { return NO_NOTE };
        let known = self.notes.iter().position(|known| *known == note);
        let number = known.unwrap_or_else(|| {
            self.notes.push(note);
            self.notes.len() - 1
        });
        u16::try_from(number).unwrap_or(NO_NOTE)
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
        let is_meant = |row: &Row| !row.is_sure || are_kept_meant && row.status == FieldStatus::Kept;
        self.change_where(is_meant, change);
    }

    fn change_where(
        &mut self,
        is_meant: impl Fn(&Row) -> bool,
        mut change: impl FnMut(FieldReport<'_>) -> Option<Change>,
    ) {
        for index in 0..self.rows.len() {
            let Some(row) = self.rows.get(index).copied() else { return };
            if !is_meant(&row) {
                continue;
            }
            let Some(Change { status, to, note }) = change(self.view(&row)) else { continue };
            let mut changed = Row { status, note: self.note(note), ..row };
            changed.is_sure &= status == row.status;
            changed.is_alike &= note == self.view(&row).note;
            match to {
                None => changed.to = NONE,
                Some(place) => {
                    changed.start = self.text.len();
                    let pointer = row.start..row.start + row.pointer as usize;
                    self.text.extend_from_within(pointer);
                    self.text.push_str(&place);
                    changed.to = length(place.len());
                }
            }
            if let Some(place) = self.rows.get_mut(index) {
                *place = changed;
            }
        }
    }

    fn view(&self, row: &Row) -> FieldReport<'_> {
        let between = row.start + row.pointer as usize;
        let text = |start: usize, end: usize| self.text.get(start..end).unwrap_or_default();
        let to = (row.to != NONE).then(|| text(between, between + row.to as usize));
        let note = self.notes.get(usize::from(row.note)).copied();
        FieldReport {
            pointer: text(row.start, between),
            status: row.status,
            to,
            note,
            is_empty: row.is_empty,
            is_alike: row.is_alike,
        }
    }
}

/// Returns a number of bytes, which is never too large: the pointers of all fields of a file have 32 MiB together.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(NONE - 1)
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
