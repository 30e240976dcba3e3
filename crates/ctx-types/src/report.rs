//! Report of an assembly: decisions, usage, and the part of a request that stays the same.

use serde::Serialize;

pub use crate::decision::*;
use crate::diagnostic::Diagnostic;
use crate::log_line::LogLine;
use crate::phrasing::{self, Phrase};
use crate::source::Source;

/// The report of one assembly: diagnostics, decisions, processor steps, and token usage.
///
/// It contains no timings: equal inputs give equal reports. JSON keys are in camelCase, like those of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Diagnostics, in processing order.
    pub diagnostics: Vec<Diagnostic>,
    /// Decisions about entries, messages, and injections, in processing order.
    pub decisions: Vec<Decision>,
    /// Processors that ran, in order.
    pub stages: Vec<StageReport>,
    /// Budget and token usage of the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Leading messages that the next turn will repeat unchanged. Missing if not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable: Option<StablePart>,
    /// The repeated part of an append-only request. Missing for other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixReport>,
}

/// The part of an append-only request that the previous request of the conversation sent, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrefixReport {
    /// Number of repeated messages.
    pub messages: usize,
    /// Tokens of the repeated messages.
    pub tokens: u64,
    /// Why the request does not repeat the whole previous request, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_break: Option<PlannedBreak>,
    /// Sources of the texts that this request inserted into the conversation; later requests repeat them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub insertions: Vec<Source>,
}

/// A planned break of an append-only conversation: this request does not repeat the whole previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlannedBreak {
    /// Reason for the break.
    #[serde(flatten, serialize_with = "phrasing::as_reason")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Reason"))]
    pub reason: Phrase,
    /// Tokens that the provider reads without its cache.
    pub tokens: u64,
}

/// The leading messages that the next turn of the conversation will repeat byte for byte, estimated from one
/// turn. Providers cache requests by prefix, so these messages can be cached.
///
/// The estimate assumes that a reply and another message follow, that nothing is edited, and that the same
/// messages fit. If system messages are converted to role `user`, the last of these messages can still be
/// merged with the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StablePart {
    /// Number of messages.
    pub messages: usize,
    /// First change after them. Missing if all messages are stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Unstable>,
}

/// A possible change in the next turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unstable {
    /// Index of the message that contains it, from 0.
    pub message: usize,
    /// Source of the message or of its changing part.
    pub source: Source,
    /// Reason for the change.
    #[serde(flatten, serialize_with = "phrasing::as_reason")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Reason"))]
    pub reason: Phrase,
}

/// The token usage and the budget of a context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of all messages after the last processor.
    pub tokens: TokenFigure,
    /// Token limit for the messages. Missing if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<u32>,
    /// Calculation of the budget: first the context window, then the deductions as negative numbers.
    pub budget: Vec<UsageLine>,
    /// Name of the token encoding.
    pub encoding: String,
    /// Whether it is the model's own encoding. Otherwise, the counts are estimates.
    pub is_exact: bool,
}

/// A line in the calculation of the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageLine {
    /// Display text of the line.
    pub name: Phrase,
    /// Tokens; negative for a deduction from the context window.
    pub tokens: i64,
}

/// The step of one processor in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StageReport {
    /// Processor id.
    pub id: String,
    /// Number of messages before the processor.
    pub messages_before: usize,
    /// Number of messages after the processor.
    pub messages_after: usize,
    /// Number of added messages.
    pub added: usize,
    /// Number of removed messages.
    pub removed: usize,
    /// Number of messages with changed text, role, or attachments.
    pub changed: usize,
    /// Log lines in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<LogLine>,
}

impl Report {
    /// Returns the decisions other than [`Outcome::Kept`].
    pub fn changes(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(|decision| decision.outcome != Outcome::Kept)
    }
}
