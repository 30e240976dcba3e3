use serde::Serialize;

use crate::decision::{Decision, Outcome, TokenFigure};
use crate::diagnostic::Diagnostic;
use crate::log_line::LogLine;
use crate::phrasing::{self, Phrase};
use crate::source::Source;

/// Everything worth knowing about one assembly beside its messages.
///
/// It holds no timings, so that equal inputs give equal reports. In JSON its keys are camelCase, as those of
/// files are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What was found in the content, in the order of the work.
    pub diagnostics: Vec<Diagnostic>,
    /// What became of entries, messages and injections, in the order of the work.
    pub decisions: Vec<Decision>,
    /// The stages that ran, in order.
    pub stages: Vec<StageReport>,
    /// What the messages use of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Which messages the next turn will send again as they are; absent where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable: Option<StablePart>,
}

/// The leading messages that the next turn of the same conversation sends again, byte for byte, as far as one turn
/// can tell. Providers cache a request by its beginning: this much of it they can find again.
///
/// It supposes that an answer and another message follow, that nothing is edited, and that what fits now fits then.
/// Where system messages are changed to role `user`, the last of these messages may also be joined with the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StablePart {
    /// How many messages.
    pub messages: usize,
    /// What ends them; absent if all messages are stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Unstable>,
}

/// What may differ in the next turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unstable {
    /// The position of the message that it stands in, counted from 0.
    pub message: usize,
    /// The message, or the piece of it.
    pub source: Source,
    /// Why it may differ.
    #[serde(flatten, serialize_with = "phrasing::as_reason")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Reason"))]
    pub reason: Phrase,
}

/// What the messages of a context use of its budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The tokens of all messages, after the last stage.
    pub tokens: TokenFigure,
    /// How many tokens messages may have; absent if nothing limits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<u32>,
    /// How the budget came about: the window first, then what goes off it, as negative numbers.
    pub budget: Vec<UsageLine>,
    /// The name of the encoding that counted.
    pub encoding: String,
    /// Whether that is how the model counts; otherwise the figures are estimates.
    pub is_exact: bool,
}

/// One line of the account of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageLine {
    /// What it is, for people.
    pub name: Phrase,
    /// Its tokens; negative if they go off the window.
    pub tokens: i64,
}

/// What one stage did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StageReport {
    /// The id of the stage.
    pub id: String,
    /// How many messages there were before it.
    pub messages_before: usize,
    /// How many messages there were after it.
    pub messages_after: usize,
    /// How many messages it added.
    pub added: usize,
    /// How many messages it took out.
    pub removed: usize,
    /// How many messages it changed: their text, role or files.
    pub changed: usize,
    /// What it logged, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<LogLine>,
}

impl Report {
    /// Returns the decisions other than [`Outcome::Kept`].
    pub fn changes(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(|decision| decision.outcome != Outcome::Kept)
    }
}
