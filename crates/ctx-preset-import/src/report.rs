//! What became of each field of an imported file.

mod fields;
mod groups;
mod written;

use std::fmt;

use ctx_types::Diagnostic;
use serde::Serialize;

pub use fields::FieldReports;
pub(crate) use fields::{Change, Extent, RowFacts};
pub use groups::FieldGroup;

/// Why a field is no more than kept that has another value than is read of it.
pub(crate) const NOT_READ: &str = "no valid value in that application";

/// Why a field is kept nowhere.
pub(crate) const NOWHERE: &str = "replaced by something else";

use crate::format::Format;

/// What became of the files of an import, one [`FileReport`] each, in the order in which they were given.
///
/// Written as `{"counts":{…},"files":[{"path","format","counts":{…},"diagnostics":[…],"fields":[{"pointer","status","to","note"}]}]}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// The files.
    pub files: Vec<FileReport>,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    /// The name under which the file was given.
    pub path: String,
    /// What it is; none for what cannot be read or is nothing known.
    pub format: Option<Format>,
    /// What the document was packed in, such as `png` and the name of its chunk; none for a plain one.
    pub container: Option<String>,
    /// One row for each leaf of the document: a scalar, or an empty list or object.
    pub fields: FieldReports,
    /// What a person should read, the worst first.
    pub diagnostics: Vec<Diagnostic>,
}

/// What became of one leaf of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldReport<'a> {
    /// Where it stands, as a JSON pointer.
    pub pointer: &'a str,
    /// What became of it.
    pub status: FieldStatus,
    /// Where it is now, as a JSON pointer into what was made of the files; none for what is nowhere.
    ///
    /// Below `/worldbooks/N`, `/conversations/N`, `/profile` and `/template` it leads into these, otherwise into the
    /// agent. What is empty and not written leads to what is around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'a str>,
    /// How it differs there, or why it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Whether it holds nothing: null, or an empty text, list or object.
    #[serde(skip)]
    pub is_empty: bool,
    /// Of one that is approximated: whether what is sent is the same, since it is only spelled in another way or says
    /// nothing of that.
    #[serde(skip)]
    pub is_alike: bool,
}

/// What became of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FieldStatus {
    /// It has the same meaning in a field of ours.
    Mapped,
    /// A field of ours means nearly the same; the note says what differs.
    Approximated,
    /// It is kept as it is, has no effect, and comes back on export.
    Kept,
    /// It is kept nowhere; the note says why.
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

/// How many fields became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldCounts {
    /// Fields that have the same meaning in a field of ours.
    pub mapped: usize,
    /// Fields that mean nearly the same there.
    pub approximated: usize,
    /// Fields that are kept as they are, without effect.
    pub kept: usize,
    /// Fields that are kept nowhere.
    pub unsupported: usize,
}

impl FieldCounts {
    fn new(count: impl Fn(FieldStatus) -> usize) -> Self {
        Self {
            mapped: count(FieldStatus::Mapped),
            approximated: count(FieldStatus::Approximated),
            kept: count(FieldStatus::Kept),
            unsupported: count(FieldStatus::Unsupported),
        }
    }
}

impl FileReport {
    /// Counts the fields of a status.
    pub fn count(&self, status: FieldStatus) -> usize {
        self.fields.iter().filter(|field| field.status == status).count()
    }

    /// Counts the fields of each status.
    pub fn counts(&self) -> FieldCounts {
        FieldCounts::new(|status| self.count(status))
    }
}

impl ImportReport {
    /// Counts the fields of a status in all files.
    pub fn count(&self, status: FieldStatus) -> usize {
        self.files.iter().map(|file| file.count(status)).sum()
    }

    /// Counts the fields of each status in all files.
    pub fn counts(&self) -> FieldCounts {
        FieldCounts::new(|status| self.count(status))
    }
}
