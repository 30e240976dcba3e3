//! Facts of a report: kinds and places.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// Kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// A day, a time of day, a month or a year.
    Date,
    /// A number, with its unit if it has one.
    Number,
    /// A capitalized name of a person, a place or a product.
    Name,
    /// An id, a version, a URL, an e-mail address, a telephone number or a word of code.
    Identifier,
    /// A file or a folder.
    Path,
    /// Words in quotation marks.
    Quote,
}

impl FactKind {
    /// All kinds, in the order of a report.
    pub const ALL: [Self; 6] =
        [Self::Date, Self::Number, Self::Name, Self::Identifier, Self::Path, Self::Quote];

    /// Returns the spelling used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Number => "number",
            Self::Name => "name",
            Self::Identifier => "identifier",
            Self::Path => "path",
            Self::Quote => "quote",
        }
    }
}

impl fmt::Display for FactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Place of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The index of the message in the list that was given; 0 in a summary that is one text.
    pub message: usize,
    /// The id of that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// The index of the tool call whose arguments contain it; absent if the text does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// The first byte, in that text or those arguments.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A fact of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// The kind.
    pub kind: FactKind,
    /// Its words at its first place; at most the first 300 bytes.
    pub text: String,
    /// Its places: in the original, or, if it was invented, in the compressed form. At most
    /// [`Fact::MOST_PLACES`].
    pub places: Vec<Place>,
    /// Number of all its places.
    pub count: usize,
    /// Its place in the compressed form; only for kept facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<Place>>,
    /// Number of its places in later messages; only for lost facts, if those were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<usize>,
}

impl Fact {
    /// Limit of `places`.
    pub const MOST_PLACES: usize = 8;
}
