//! The JSON of previews: what a model would be sent, and why.

use std::collections::BTreeMap;

use ctx_types::GenerationKind;
use serde::{Deserialize, Serialize};

use crate::api::Finding;

/// What the moment of a turn gives.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TurnSettings {
    pub(crate) input: Option<String>,
    pub(crate) at: Option<String>,
    pub(crate) tz: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) model: Option<String>,
    pub(crate) context_tokens: Option<u32>,
    pub(crate) reserve: Option<u32>,
    pub(crate) kind: Option<String>,
}

impl TurnSettings {
    /// Returns what is generated; none for a kind that there is not.
    pub(crate) fn generation(&self) -> Option<GenerationKind> {
        match self.kind.as_deref() {
            None | Some("") => Some(GenerationKind::default()),
            Some(name) => GenerationKind::ALL.into_iter().find(|kind| kind.as_str() == name),
        }
    }
}

/// POST `preview`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewRequest {
    pub(crate) window: String,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) conversation: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) worldbooks: Vec<String>,
    #[serde(default)]
    pub(crate) saved: bool,
    #[serde(default)]
    pub(crate) pin: bool,
    #[serde(default)]
    pub(crate) turn: TurnSettings,
    #[serde(default)]
    pub(crate) enable: Vec<String>,
    #[serde(default)]
    pub(crate) disable: Vec<String>,
    #[serde(default)]
    pub(crate) have: Option<String>,
}

/// A message, or what became of one that is not sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    pub(crate) key: String,
    pub(crate) role: String,
    pub(crate) source: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    pub(crate) bytes: usize,
    pub(crate) head: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dropped: Option<String>,
    pub(crate) row: usize,
}

/// Rows that take the place of others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RowSplice {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: Vec<Row>,
}

/// All rows, or what makes them of those before.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Rows {
    All(Vec<Row>),
    Splices { splices: Vec<RowSplice>, total: usize },
}

/// What is used of the budget.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reserved: Option<u64>,
    pub(crate) is_exact: bool,
    pub(crate) parts: Vec<UsagePart>,
}

/// Tokens of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct UsagePart {
    pub(crate) name: String,
    pub(crate) tokens: i64,
}

/// What the next turn sends again as it is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StableView {
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Why something is sent, elsewhere, or not.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DecisionView {
    pub(crate) code: String,
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) rows: Vec<usize>,
}

/// What one stage did.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StageView {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) log: Vec<String>,
}

/// What does not fit a budget.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InfeasibleView {
    pub(crate) parts: Vec<UsagePart>,
    pub(crate) message: String,
}

/// The answer to POST `preview`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    pub(crate) id: String,
    pub(crate) usage: UsageView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stable: Option<StableView>,
    pub(crate) decisions: Vec<DecisionView>,
    pub(crate) stages: Vec<StageView>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) rows: Rows,
    pub(crate) entry_tokens: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) infeasible: Option<InfeasibleView>,
}

/// A part of a text that one source wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PieceView {
    pub(crate) text: String,
    pub(crate) source: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
}

/// The text of a row.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowText {
    pub(crate) row: usize,
    pub(crate) pieces: Vec<PieceView>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}

/// GET `previews/{p}/rows`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RowTexts {
    pub(crate) rows: Vec<RowText>,
}

/// What a stage did to a message.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LifeEvent {
    pub(crate) stage: String,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// GET `previews/{p}/life`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LifeView {
    pub(crate) events: Vec<LifeEvent>,
    pub(crate) why: Vec<String>,
}

/// GET `previews/{p}/body`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BodyView {
    pub(crate) dialect: String,
    pub(crate) text: String,
    pub(crate) findings: Vec<Finding>,
}

/// POST `compare`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CompareRequest {
    pub(crate) a: String,
    pub(crate) b: String,
}

/// How a row of one context stands to one of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Same,
    Changed,
    Added,
    Removed,
}

/// Rows of two contexts that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ComparedRow {
    pub(crate) kind: ChangeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) a: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) b: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) words: Vec<WordChange>,
}

/// Words that stayed, came or went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WordChange {
    pub(crate) kind: ChangeKind,
    pub(crate) text: String,
}

/// The first byte that differs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DifferenceView {
    pub(crate) message: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<usize>,
    pub(crate) owners: [Option<String>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) excerpts: Option<[String; 2]>,
}

/// The answer to POST `compare`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compared {
    pub(crate) shared_messages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared_tokens: Option<u64>,
    pub(crate) messages: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<DifferenceView>,
    pub(crate) rows: Vec<ComparedRow>,
}

/// POST `expand`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExpandRequest {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) conversation: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) turn: TurnSettings,
}

/// The answer to it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    pub(crate) pieces: Vec<PieceView>,
    pub(crate) findings: Vec<Finding>,
}
