//! JSON types of previews: the messages of a request, with reasons.

use std::collections::BTreeMap;

use ctx_types::{GenerationKind, PrefixMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::Finding;

/// The settings of a turn.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TurnSettings {
    pub(crate) input: Option<String>,
    /// Time of the turn (RFC 3339).
    pub(crate) at: Option<String>,
    pub(crate) tz: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) model: Option<String>,
    pub(crate) context_tokens: Option<u32>,
    pub(crate) reserve: Option<u32>,
    pub(crate) kind: Option<String>,
    /// Prefix mode: `moving`, `append-only` or `auto`. Default: the agent's.
    pub(crate) prefix: Option<String>,
}

impl TurnSettings {
    /// Returns the generation kind; `None` if unknown.
    pub(crate) fn generation(&self) -> Option<GenerationKind> {
        match self.kind.as_deref() {
            None | Some("") => Some(GenerationKind::default()),
            Some(name) => GenerationKind::ALL.into_iter().find(|kind| kind.as_str() == name),
        }
    }

    /// Returns the prefix mode, if set. `Err` with its name if unknown.
    pub(crate) fn prefix_mode(&self) -> Result<Option<PrefixMode>, &str> {
        match self.prefix.as_deref() {
            None | Some("") => Ok(None),
            Some(name) => PrefixMode::parse(name).map(Some).ok_or(name),
        }
    }
}

/// Request of POST `preview`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewRequest {
    /// Name of the window. A newer request of the same window cancels the older one (409 with CTX1012),
    /// unless one of them is pinned.
    pub(crate) window: String,
    /// Id of a file, whose draft is used. Default: from `ctx.toml`. An empty id means no file.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) conversation: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) worldbooks: Vec<String>,
    /// Id of the file with the model's processor settings.
    #[serde(default)]
    pub(crate) model_settings: Option<String>,
    /// Id of an import, whose files are used before they are written. Replaces `agent`, `conversation` and
    /// `worldbooks`.
    #[serde(default)]
    pub(crate) import: Option<String>,
    /// Uses the saved files instead of the drafts.
    #[serde(default)]
    pub(crate) saved: bool,
    /// Pins the preview. The server keeps the last 8 previews of a window and the last 4 pinned ones.
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
    /// Id of the window's last preview. The response can then contain only the differences.
    #[serde(default)]
    pub(crate) have: Option<String>,
}

/// A message, sent or not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Row {
    /// Index in the request, from 0. Missing if not sent. Recount after applying splices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    /// Hash of all fields except `n` and `row`. Rows with equal keys are equal.
    pub(crate) key: String,
    pub(crate) role: String,
    /// Kind of the main source: `preset`, `history`, `worldbook`, `input`, `summary`, …
    pub(crate) source: String,
    /// Source with its id, such as `history:n3`.
    pub(crate) code: String,
    /// Display name of the entry, message, or anchor. Empty for sources with only a kind.
    pub(crate) name: String,
    /// JSON pointer of the entry in the agent file. Missing for other sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    /// JSON pointers of all entries in the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) entries: Vec<String>,
    /// Placement for display: `in order`, `depth 3`, `anchor chat_history`.
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    pub(crate) bytes: usize,
    /// First line, at most 200 characters.
    pub(crate) head: String,
    /// Reason why the message is not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dropped: Option<String>,
    /// Whether it is not sent because it is disabled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_disabled: bool,
    /// Index in the list, from 0, used to request the text. Recount after applying splices.
    pub(crate) row: usize,
}

/// A replacement of list items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct ListSplice<T> {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: Vec<T>,
}

/// All items of a list, or the splices that convert an earlier preview's list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Listed<T> {
    All(Vec<T>),
    Splices { splices: Vec<ListSplice<T>>, total: usize },
}

/// Token usage and budget.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reserved: Option<u64>,
    /// Whether all counts are from the model's own tokenizer.
    pub(crate) is_exact: bool,
    pub(crate) parts: Vec<UsagePart>,
}

/// The tokens of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct UsagePart {
    pub(crate) name: String,
    pub(crate) tokens: i64,
}

/// The prefix that the next turn repeats unchanged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StableView {
    /// Number of leading messages that the next turn repeats.
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    /// Reason for the end of the prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// The part of an append-only request that repeats the previous request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrefixView {
    /// Number of repeated messages.
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    /// Missing if the request repeats the whole previous request, or if there is no previous request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) planned_break: Option<BreakView>,
}

/// A planned break: the request does not repeat the whole previous request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BreakView {
    pub(crate) reason: String,
    /// Tokens that the provider reads without its cache.
    pub(crate) tokens: u64,
}

/// A decision about a message: sent, moved, merged, or dropped, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct DecisionView {
    /// Source of the message, such as `history:n3`.
    pub(crate) code: String,
    /// Display name of the source, and the number of further ones.
    pub(crate) name: String,
    /// Outcome, in the language of the request.
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) rows: Vec<usize>,
}

/// The step of one processor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct StageView {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) before: usize,
    pub(crate) after: usize,
    /// Number of added messages.
    pub(crate) added: usize,
    /// Number of removed messages.
    pub(crate) removed: usize,
    /// Number of messages with changed text, role, or attachments.
    pub(crate) changed: usize,
    pub(crate) log: Vec<String>,
}

/// The parts that do not fit the budget.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InfeasibleView {
    pub(crate) parts: Vec<UsagePart>,
    pub(crate) message: String,
}

/// Response of POST `preview`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    pub(crate) id: String,
    /// Id of the earlier preview that the lists and `entryTokens` are relative to. Missing if they are
    /// complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<String>,
    pub(crate) usage: UsageView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stable: Option<StableView>,
    /// Missing unless the request is append-only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prefix: Option<PrefixView>,
    pub(crate) decisions: Listed<DecisionView>,
    pub(crate) stages: Listed<StageView>,
    pub(crate) findings: Listed<Finding>,
    pub(crate) rows: Listed<Row>,
    /// Tokens of each sent agent entry, by JSON pointer. In a difference, `null` marks an entry that is no
    /// longer sent.
    pub(crate) entry_tokens: BTreeMap<String, Option<u64>>,
    /// Required parts that exceed the budget. The response is not an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) infeasible: Option<InfeasibleView>,
}

/// A part of a text from one source.
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

/// Response of GET `previews/{p}/rows`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RowTexts {
    pub(crate) rows: Vec<RowText>,
}

/// A change of a message by a processor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LifeEvent {
    pub(crate) stage: String,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// Response of GET `previews/{p}/life`: the trace of a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LifeView {
    pub(crate) events: Vec<LifeEvent>,
    pub(crate) why: Vec<String>,
}

/// Response of GET `previews/{p}/body`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BodyView {
    pub(crate) dialect: String,
    /// Exact request body.
    pub(crate) text: String,
    pub(crate) findings: Vec<Finding>,
}

/// Request of POST `compare`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompareRequest {
    pub(crate) a: String,
    pub(crate) b: String,
}

/// The difference between rows or words of two contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Same,
    Changed,
    Moved,
    Added,
    Removed,
}

/// Matching messages of two contexts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ComparedRow {
    pub(crate) kind: ChangeKind,
    /// Index in the rows of the first preview, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) a: Option<usize>,
    /// Index in the rows of the second preview, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) b: Option<usize>,
    /// Why the second preview does not send a removed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dropped: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) words: Vec<WordChange>,
}

/// Equal, added, or removed words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WordChange {
    pub(crate) kind: ChangeKind,
    pub(crate) text: String,
}

/// The first byte that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DifferenceView {
    /// Index in the request, from 0.
    pub(crate) message: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<usize>,
    /// Display names of the sources.
    pub(crate) owners: [Option<String>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) excerpts: Option<[String; 2]>,
}

/// Response of POST `compare`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compared {
    pub(crate) shared_messages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared_tokens: Option<u64>,
    pub(crate) messages: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<[u64; 2]>,
    /// Tokens that a provider with a prompt cache bills again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<u64>,
    /// The first byte that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<DifferenceView>,
    pub(crate) rows: Vec<ComparedRow>,
}

/// Request of POST `expand`.
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

/// Response of POST `expand`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    pub(crate) pieces: Vec<PieceView>,
    pub(crate) findings: Vec<Finding>,
}
