//! Files as documents whose format is known.

use ctx_types::Diagnostic;
use serde_json::Value;

use super::SourceFile;
use crate::document::{BadLine, Document, Syntax};
use crate::error::ImportError;
use crate::format::{Detected, Format, detected_in, stem};
use crate::limits::Limits;
use crate::report::Extent;

/// A format that is said by hand.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) format: Format,
    /// It is said of one file alone.
    pub(super) is_alone: bool,
}

/// A document of a file.
pub(super) struct Source {
    pub(super) name: String,
    /// The name of the file that holds it.
    pub(super) path: String,
    pub(super) format: Option<Format>,
    /// What the format was guessed by, if it is not certain.
    pub(super) guessed_by: Option<&'static str>,
    /// Where nothing tells the format, those that are nearest.
    pub(super) nearest: Vec<Format>,
    pub(super) container: Option<String>,
    pub(super) value: Value,
    pub(super) syntax: Syntax,
    /// The lines that are no objects, of one that has an object a line.
    pub(super) bad_lines: Vec<BadLine>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) extent: Extent,
}

impl Source {
    /// Reads a file that is a document by itself.
    pub(super) fn read(
        file: SourceFile<'_>,
        limits: &Limits,
        named: Option<Named>,
    ) -> Result<Self, ImportError> {
        Document::read(file.bytes, file.name, limits).map(|document| Self::of(document, file.name, named))
    }

    /// Takes a document that was read; `named` is the format of those that nothing tells for certain, and of one that is
    /// given by itself whatever its content tells.
    pub(super) fn of(document: Document, name: &str, named: Option<Named>) -> Self {
        let (format, guessed_by, nearest) = match (detected_in(&document, name), named) {
            (_, Some(Named { format, is_alone: true })) => (Some(format), None, Vec::new()),
            (Detected::Certain(format), _) | (_, Some(Named { format, .. })) => {
                (Some(format), None, Vec::new())
            }
            (Detected::Guess(format, what), None) => (Some(format), Some(what), Vec::new()),
            (Detected::Unknown(nearest), None) => (None, None, nearest),
        };
        Self {
            name: name.to_owned(),
            path: name.to_owned(),
            format,
            guessed_by,
            nearest,
            container: None,
            value: document.value,
            syntax: document.syntax,
            bad_lines: document.bad_lines,
            diagnostics: document.diagnostics,
            extent: Extent::default(),
        }
    }

    /// Returns the name without folders and ending.
    pub(super) fn stem(&self) -> &str {
        stem(&self.name)
    }
}
