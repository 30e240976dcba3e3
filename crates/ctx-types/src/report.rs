//! The report that explains a context.

use serde::Serialize;

use crate::decision::{Decision, Outcome};
use crate::diagnostic::Diagnostic;

/// Everything worth knowing about one assembly beside its messages.
///
/// It holds no timings, so that equal inputs give equal reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// What was found in the content, in the order of the work.
    pub diagnostics: Vec<Diagnostic>,
    /// What became of entries, messages and injections, in the order of the work.
    pub decisions: Vec<Decision>,
    /// The stages that ran, in order.
    pub stages: Vec<StageReport>,
}

/// What one stage did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// What it logged, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

impl Report {
    /// Returns the decisions other than [`Outcome::Kept`].
    pub fn changes(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(|decision| decision.outcome != Outcome::Kept)
    }
}
