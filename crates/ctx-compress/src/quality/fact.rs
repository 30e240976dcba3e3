//! Facts: what kinds there are, and where one stands.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Something that must, must not, or may only so far be done.
    Constraint,
    /// Something that is not so.
    Negation,
    /// A question that nobody answered.
    Question,
    /// A day, a time of the day, a month or a year.
    Date,
    /// A number, with its unit if it has one.
    Number,
    /// A person, a place, a product.
    Name,
    /// A name for machines: an id, a version, an address, a word of code.
    Identifier,
    /// A file or a folder.
    Path,
    /// Words in quotation marks.
    Quote,
}

impl FactKind {
    /// All kinds, the weightiest first.
    pub const ALL: [Self; 9] = [
        Self::Constraint,
        Self::Negation,
        Self::Question,
        Self::Date,
        Self::Number,
        Self::Name,
        Self::Identifier,
        Self::Path,
        Self::Quote,
    ];

    /// Returns the spelling used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Negation => "negation",
            Self::Question => "question",
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

/// Where a fact stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The index of the message in the list that was given; 0 in a summary that is one text.
    pub message: usize,
    /// The id of that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// Which of the message's tool calls has it in its arguments; absent if the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// Where it begins, in bytes of that text or those arguments.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Where something stands in a side: the passage, and bytes of its text.
///
/// A side has at most 32 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) passage: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Spot {
    pub(super) fn new(passage: u32, bytes: &Range<usize>) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { passage, start: narrow(bytes.start), end: narrow(bytes.end) }
    }

    pub(super) const fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A fact of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is about.
    pub kind: FactKind,
    /// Its words as they stand at its first place; of long ones the beginning.
    pub text: String,
    /// Where it stands: in the original, or, if it was invented, in the compressed form. At most
    /// [`Fact::MOST_PLACES`].
    pub places: Vec<Place>,
    /// In how many places it stands.
    pub count: usize,
    /// Where the compressed form says it; only for facts that were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<Place>>,
    /// Where the other side says the opposite; only for rules and negations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opposed: Option<Box<Place>>,
}

impl Fact {
    /// How many places are told of one fact.
    pub const MOST_PLACES: usize = 8;
}
