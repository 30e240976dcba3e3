//! What became of each field of an imported file.

mod rows;

use std::fmt;

use ctx_types::Diagnostic;
use serde::{Serialize, Serializer};

use crate::format::Format;

pub(crate) use rows::rows;

/// Why a field is no more than kept that has another value than is read of it.
pub(crate) const NOT_READ: &str = "no valid value in that application";

/// Why a field is kept nowhere.
pub(crate) const NOWHERE: &str = "replaced by something else";

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportReport {
    /// Numbers of fields by status, for all files.
    pub counts: FieldCounts,
    /// Files, in the given order.
    pub files: Vec<FileReport>,
}

/// The result of importing one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileReport {
    /// File name, as given.
    pub path: String,
    /// File format. `null` if the file is unreadable or unknown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub format: Option<Format>,
    /// Container of the document, such as `png` with the name of its chunk. Missing for a plain document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Numbers of fields by status.
    pub counts: FieldCounts,
    /// Diagnostics, most severe first.
    pub diagnostics: Vec<Diagnostic>,
    /// Conversion results, one row per path.
    pub fields: Vec<FieldReport>,
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// The conversion result of the values at one path. A value with all its parts counts as one if they have one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldReport {
    /// JSON pointer in the document, with `*` for numbers of list items and names of entries.
    pub pointer: String,
    /// Conversion status.
    pub status: FieldStatus,
    /// JSON pointer in the converted files, with `*` as in `pointer`. Missing if the field is nowhere.
    ///
    /// Pointers below `/worldbooks/N`, `/conversations/N`, `/profile`, and `/template` are in these files;
    /// others are in the agent. Empty fields may not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Difference to the original, or the reason why the field is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Number of values: scalars, and empty lists or objects.
    pub count: usize,
    /// Whether each value is empty: null, or an empty text, list, or object.
    #[serde(skip)]
    pub is_empty: bool,
    /// Whether an approximated field does not change the sent messages: only its notation differs, or it does
    /// not affect them.
    #[serde(skip)]
    pub is_alike: bool,
}

/// The conversion status of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FieldStatus {
    /// Converted with the same meaning.
    Mapped,
    /// Converted with nearly the same meaning; `note` explains the difference.
    Approximated,
    /// Kept unchanged without effect; exported again.
    Kept,
    /// Not kept; `note` explains why.
    Unsupported,
}

impl FieldStatus {
    /// Every status, the best first.
    pub const ALL: [Self; 4] = [Self::Mapped, Self::Approximated, Self::Kept, Self::Unsupported];

    /// Returns the spelling used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Approximated => "approximated",
            Self::Kept => "kept",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for FieldStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The numbers of fields by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldCounts {
    /// Fields converted with the same meaning.
    pub mapped: usize,
    /// Fields converted with nearly the same meaning.
    pub approximated: usize,
    /// Fields kept unchanged, without effect.
    pub kept: usize,
    /// Fields not kept.
    pub unsupported: usize,
}

impl FieldReport {
    /// Reports that the field is lost.
    pub(crate) fn reject(&mut self, note: &'static str) {
        (self.status, self.to, self.note) = (FieldStatus::Unsupported, None, Some(note));
    }
}

/// Returns whether a field goes to a place or below it.
pub(crate) fn leads_to(row: &FieldReport, place: &str) -> bool {
    let below = row.to.as_deref().and_then(|to| to.strip_prefix(place));
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

impl FieldCounts {
    pub(crate) fn from_rows<'f>(fields: impl IntoIterator<Item = &'f FieldReport>) -> Self {
        let mut counts = Self::default();
        for field in fields {
            *match field.status {
                FieldStatus::Mapped => &mut counts.mapped,
                FieldStatus::Approximated => &mut counts.approximated,
                FieldStatus::Kept => &mut counts.kept,
                FieldStatus::Unsupported => &mut counts.unsupported,
            } += field.count;
        }
        counts
    }
}
