use crate::phrase;
use std::fmt;

use serde::Serialize;

use crate::count_of;
use crate::phrasing::{self, Argument, Phrase, ToArgument};
use crate::source::Source;
use crate::words;

/// A recorded outcome of a message, entry, or injection, with the reason.
///
/// Consecutive dropped messages are one decision with their count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// Outcome.
    pub outcome: Outcome,
    /// Source of the message, entry, or injection; the first of consecutive ones.
    pub source: Source,
    /// Reason in one phrase: lower case, no final period, names in backticks.
    #[serde(flatten, serialize_with = "phrasing::as_reason")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Reason"))]
    pub reason: Phrase,
    /// Number of messages or entries in the decision.
    pub count: usize,
    /// Size of their text in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Number of their tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenFigure>,
}

impl Decision {
    /// Creates a decision about one message, entry, or injection.
    pub fn new(outcome: Outcome, source: Source, reason: Phrase) -> Self {
        Self { outcome, source, reason, count: 1, bytes: None, tokens: None }
    }

    /// Writes like `Display`, with another text for the source.
    pub fn write_with(&self, source: &dyn fmt::Display, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{} {source}", self.outcome)?;
        if self.count > 1 {
            write!(out, " and {} more", self.count - 1)?;
        }
        write!(out, ": {}", self.reason)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_with(&self.source, f)
    }
}

words! {
    /// The outcome of a message, entry, or injection.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Outcome: [as_str] {
        /// Sent at the intended place.
        Kept = "kept",
        /// Not sent.
        Dropped = "dropped",
        /// Sent in part.
        Cut = "cut",
        /// Sent at another place than intended.
        Moved = "moved",
        /// Sent as a part of another message.
        Merged = "merged",
        /// Not sent because it is disabled or a summary replaces it.
        Hidden = "hidden",
        /// Sent in a form with less information; also applies to attachments.
        Degraded = "degraded",
        /// Not sent because its condition is not met.
        NotActivated = "not_activated",
        /// Not sent because it is older than the loaded messages.
        NotLoaded = "not_loaded",
    }
}

/// A token count or an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TokenFigure {
    /// An exact count.
    Exact(u64),
    /// An uncounted upper bound: byte-level encodings have at most one token per byte.
    AtMost(u64),
}

impl TokenFigure {
    /// Formats the number: `1 token`, `at most 20 tokens`.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::Exact(count) => count_of!(count, "token"),
            Self::AtMost(count) => phrase!("at most {tokens}", tokens = count_of!(count, "token")),
        }
    }
}

impl fmt::Display for TokenFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl ToArgument for TokenFigure {
    fn to_argument(&self) -> Argument {
        self.phrase().to_argument()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TokenFigure {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TokenFigure".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let figure =
            |about: &str| serde_json::json!({ "type": "integer", "minimum": 0, "description": about });
        let (exact, at_most) = (figure("The number."), figure("An upper bound; not counted."));
        schemars::json_schema!({
            "type": "object",
            "description": "A number of tokens: exact (`exact`), or an upper bound (`atMost`).",
            "properties": { "exact": exact, "atMost": at_most },
            "minProperties": 1,
            "maxProperties": 1,
        })
    }
}
