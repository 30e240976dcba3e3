//! Lines that were written for earlier turns: mostly the same ones are recalled again.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The lines of one index. It changes no result, and is forgotten where a turn begins with more than
/// [`LineMemory::MAX_BYTES`] in it.
#[derive(Debug, Default)]
pub(super) struct LineMemory {
    form: LineForm,
    /// By message and record.
    lines: BTreeMap<(usize, usize), Arc<str>>,
    bytes: usize,
}

/// What lines look like beside what a record says: other speakers make other lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineForm {
    /// How many of the first messages stand on other branches.
    pub(super) others: usize,
    /// The names that begin the messages of the user and of the model.
    pub(super) speakers: [Option<String>; 2],
}

impl LineMemory {
    /// How many bytes of lines are kept for the next turn.
    const MAX_BYTES: usize = 512 << 10;

    /// Begins to write lines of a form; those of another form are forgotten.
    pub(super) fn begin(&mut self, form: LineForm) {
        if self.form != form || self.bytes > Self::MAX_BYTES {
            *self = Self { form, ..Self::default() };
        }
    }

    pub(super) fn get(&self, message: usize, record: usize) -> Option<Arc<str>> {
        self.lines.get(&(message, record)).cloned()
    }

    /// Keeps lines of a message, by their records.
    pub(super) fn keep(&mut self, message: usize, lines: Vec<(usize, Arc<str>)>) {
        for (record, line) in lines {
            let bytes = line.len() + size_of::<(usize, usize, Arc<str>)>();
            if self.lines.insert((message, record), line).is_none() {
                self.bytes += bytes;
            }
        }
    }
}
