//! The JSON of previews: what a model would be sent, and why.

use std::collections::BTreeMap;

use ctx_types::GenerationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::Finding;

/// What the moment of a turn gives.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TurnSettings {
    pub(crate) input: Option<String>,
    /// RFC 3339.
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
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewRequest {
    /// The name of the window: a newer request of it ends the older one (409 with CTX1012), unless one of them is pinned.
    pub(crate) window: String,
    /// The id of a file, whose draft counts. Without an id that of `ctx.toml` is meant; an empty id means none.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) conversation: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) worldbooks: Vec<String>,
    /// The model's own settings of processors: the id of a file.
    #[serde(default)]
    pub(crate) model_settings: Option<String>,
    /// Takes files as they are on disk, and not their drafts.
    #[serde(default)]
    pub(crate) saved: bool,
    /// Keeps it beside the last 8 previews of the window; of pinned ones the last 4.
    #[serde(default)]
    pub(crate) pin: bool,
    #[serde(default)]
    pub(crate) turn: TurnSettings,
    /// Ids of processors.
    #[serde(default)]
    pub(crate) enable: Vec<String>,
    /// Ids of processors.
    #[serde(default)]
    pub(crate) disable: Vec<String>,
    /// The id of the last preview of this window: then the answer may tell only what differs from it.
    #[serde(default)]
    pub(crate) have: Option<String>,
}

/// A message, or what became of one that is not sent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Row {
    /// The place in the request, 0-based; absent for what is not sent. After splices it is counted anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    /// A hash of all that the row shows but `n` and `row`: equal key, equal row.
    pub(crate) key: String,
    pub(crate) role: String,
    /// The kind of the source that owns most of it: `preset`, `history`, `worldbook`, `input`, `summary`, …
    pub(crate) source: String,
    /// The name a person knows: of an entry, a message or an anchor.
    pub(crate) name: String,
    /// In the agent's file, where an entry is what it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    /// How it came to its place, for people: `in order`, `depth 3`, `anchor chat_history`.
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    pub(crate) bytes: usize,
    /// The first line, at most 200 characters.
    pub(crate) head: String,
    /// For what is not sent: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dropped: Option<String>,
    /// Its place in the list, 0-based, by which its text is asked for. After splices it is counted anew.
    pub(crate) row: usize,
}

/// Items that take the place of others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct ListSplice<T> {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: Vec<T>,
}

/// All items of a list, or what makes them of those of an earlier preview.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Listed<T> {
    All(Vec<T>),
    Splices { splices: Vec<ListSplice<T>>, total: usize },
}

/// What is used of the budget.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reserved: Option<u64>,
    /// Whether every figure comes from the model's own tokenizer.
    pub(crate) is_exact: bool,
    pub(crate) parts: Vec<UsagePart>,
}

/// Tokens of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct UsagePart {
    pub(crate) name: String,
    pub(crate) tokens: i64,
}

/// What the next turn sends again as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StableView {
    /// So many of the first messages are the same in the next turn.
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    /// What ends that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Why something is sent, elsewhere, or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct DecisionView {
    /// What it is about, such as `history:n3`.
    pub(crate) code: String,
    /// What became of it, in the language of the request.
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) rows: Vec<usize>,
}

/// What one stage did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct StageView {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) log: Vec<String>,
}

/// What does not fit a budget.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InfeasibleView {
    pub(crate) parts: Vec<UsagePart>,
    pub(crate) message: String,
}

/// The answer to POST `preview`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    pub(crate) id: String,
    /// The preview from which the lists and the tokens of entries tell only what differs; absent where they are whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<String>,
    pub(crate) usage: UsageView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stable: Option<StableView>,
    pub(crate) decisions: Listed<DecisionView>,
    pub(crate) stages: Listed<StageView>,
    pub(crate) findings: Listed<Finding>,
    pub(crate) rows: Listed<Row>,
    /// Tokens of each entry of the agent that is sent, by pointer; of a difference, null for one that is sent no more.
    pub(crate) entry_tokens: BTreeMap<String, Option<u64>>,
    /// The budget cannot be met: what cannot be left out. No error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) infeasible: Option<InfeasibleView>,
}

/// A part of a text that one source wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PieceView {
    pub(crate) text: String,
    pub(crate) source: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
}

/// The text of a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowText {
    pub(crate) row: usize,
    pub(crate) pieces: Vec<PieceView>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}

/// GET `previews/{p}/rows`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RowTexts {
    pub(crate) rows: Vec<RowText>,
}

/// What a stage did to a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LifeEvent {
    pub(crate) stage: String,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// GET `previews/{p}/life`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LifeView {
    pub(crate) events: Vec<LifeEvent>,
    pub(crate) why: Vec<String>,
}

/// GET `previews/{p}/body`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BodyView {
    pub(crate) dialect: String,
    /// The request body, byte for byte what would be sent.
    pub(crate) text: String,
    pub(crate) findings: Vec<Finding>,
}

/// POST `compare`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompareRequest {
    pub(crate) a: String,
    pub(crate) b: String,
}

/// How a row of one context stands to one of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Same,
    Changed,
    Added,
    Removed,
}

/// Rows of two contexts that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WordChange {
    pub(crate) kind: ChangeKind,
    pub(crate) text: String,
}

/// The first byte that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DifferenceView {
    pub(crate) message: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<usize>,
    pub(crate) owners: [Option<String>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) excerpts: Option<[String; 2]>,
}

/// The answer to POST `compare`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compared {
    pub(crate) shared_messages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared_tokens: Option<u64>,
    pub(crate) messages: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<[u64; 2]>,
    /// Tokens that a provider with a cache bills again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<u64>,
    /// The first byte that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<DifferenceView>,
    pub(crate) rows: Vec<ComparedRow>,
}

/// POST `expand`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    pub(crate) pieces: Vec<PieceView>,
    pub(crate) findings: Vec<Finding>,
}
