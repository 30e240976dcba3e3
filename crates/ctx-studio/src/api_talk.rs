//! JSON types of conversations: the tree, the active branch, operations, and summaries.

use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::ConfigValue;
use ctx_types::ConfigField;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{Finding, TextSpan};

/// Response of GET `conversations/{f}?from=&to=&open=&at=`: messages of the active branch. Messages hidden by
/// a summary are omitted unless the summary is open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationView {
    /// Hash of the file, for the `base` of operations.
    pub(crate) hash: String,
    /// Number of messages to show.
    pub(crate) total: usize,
    /// Index of the first item of `rows` among them.
    pub(crate) from: usize,
    pub(crate) rows: Vec<MessageView>,
    /// Texts that append-only requests inserted next to `rows`, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) inserted: Vec<InsertedText>,
    /// Names of operations to undo, latest first.
    pub(crate) undo: Vec<String>,
    /// Names of operations to redo.
    pub(crate) redo: Vec<String>,
    /// Reason why the conversation is read-only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<String>,
    /// Whether the file is a list of messages, which can be converted to a session.
    pub(crate) is_list: bool,
}

/// A text of an append-only request that is not from the conversation. Later requests repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InsertedText {
    /// Id of the message that follows. Missing at the end of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    /// Kind of the source: `preset`, `worldbook`, …
    pub(crate) source: String,
    /// Display name of the entry.
    pub(crate) name: String,
    pub(crate) tokens: u64,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}

/// A message of the active branch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageView {
    pub(crate) id: String,
    /// Position in the branch, from 1.
    pub(crate) place: usize,
    pub(crate) role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    pub(crate) tokens: u64,
    /// Tool calls of the message, each with tool name and arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<String>,
    /// Names of the attachments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<String>,
    pub(crate) state: MessageState,
    /// Id of the summary that hides the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hidden_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<BranchView>,
    /// Error of the turn, if the message reports a failed turn. `text` is then the partial reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<FailureView>,
    /// Token and message counts, for a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<SummaryFigures>,
}

/// The error of a failed turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FailureView {
    /// Short code, such as `LLM_TIMEOUT`. Missing if another application stored the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    pub(crate) message: String,
}

/// Whether a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageState {
    Sent,
    /// Replaced by a summary.
    Hidden,
    /// Disabled.
    Off,
}

/// The position of a message among its siblings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BranchView {
    /// Position, from 1.
    pub(crate) at: usize,
    pub(crate) of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
}

/// Counts of a summary and of the messages that it replaces.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryFigures {
    pub(crate) messages: usize,
    pub(crate) original_tokens: u64,
    pub(crate) tokens: u64,
    /// Time of creation, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_millis: Option<i64>,
}

/// Response of GET `conversations/{f}/tree`: runs of messages without branches, parents before children.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeView {
    pub(crate) runs: Vec<RunView>,
    /// Whether `runs` is truncated.
    pub(crate) is_cut: bool,
}

/// Consecutive messages up to a branch point or a leaf.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    /// Index of the parent run in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) above: Option<usize>,
    pub(crate) first: String,
    pub(crate) last: String,
    pub(crate) messages: usize,
    pub(crate) summaries: usize,
    pub(crate) role: String,
    /// First words of the first message.
    pub(crate) head: String,
    /// Whether the run is in the active branch.
    pub(crate) is_active: bool,
}

/// Request of POST `conversations/{f}/steps`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct TakeStep {
    /// Hash of the file that the page last read.
    pub(crate) base: String,
    pub(crate) step: ConversationStep,
    /// Id of the agent whose summary settings apply.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

/// An operation on a conversation. Operations are recorded in the log and can be undone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum ConversationStep {
    /// Replaces the text of a message.
    Edit {
        id: String,
        text: String,
    },
    /// Adds a sibling message with another text, as a new branch.
    Branch {
        id: String,
        text: String,
    },
    /// Adds a message at the end of the active branch.
    Append {
        role: String,
        text: String,
    },
    /// Activates the branch of a message.
    Activate {
        id: String,
    },
    /// Enables or disables a message or a summary.
    Toggle {
        id: String,
        enabled: bool,
    },
    /// Deletes a message and all messages below it. For a summary, deletes only the summary.
    Remove {
        id: String,
    },
    /// Writes a summary again from the replaced messages.
    Regenerate {
        id: String,
    },
    Undo,
    Redo,
}

/// Response of POST `conversations/{f}/steps` and `conversations/{f}/compress`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StepTaken {
    pub(crate) hash: String,
    /// Result, for display.
    pub(crate) told: String,
    /// Id of the affected message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Conversation after the operation: the part selected by the query, as in GET `conversations/{f}`, or
    /// the part around the affected message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<ConversationView>,
}

/// Response of POST `conversations/{f}/session`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MadeSession {
    /// Id of the new file.
    pub(crate) id: String,
}

/// Request of POST `conversations/{f}/session`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeSession {}

/// Request of POST `conversations/{f}/plan` and `conversations/{f}/compress`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompressRequest {
    /// Hash of the file that the page last read. A plan is only valid for this text.
    pub(crate) base: String,
    /// Id of the agent whose settings override `ctx.toml`.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) range: CompressRange,
}

/// The messages to summarize.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum CompressRange {
    /// All messages that the settings do not protect.
    #[default]
    All,
    /// The messages that automatic compression would summarize now.
    Auto,
    /// The existing summaries, merged into one.
    RollUp,
    /// From one message id to another.
    Between { from: String, to: String },
}

/// Request of POST `compression`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompressionRequest {
    /// Id of the agent.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

/// The compression settings. Each key has the value of the highest layer that sets it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CompressionSettings {
    pub(crate) fields: Vec<ConfigField>,
    pub(crate) values: Vec<ConfigValue>,
    /// Files that can set them, highest first.
    pub(crate) layers: Vec<CompressionLayer>,
    pub(crate) findings: Vec<Finding>,
}

/// A file that can set compression.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CompressionLayer {
    pub(crate) origin: SettingOrigin,
    pub(crate) file: String,
    /// JSON pointer of the object with the settings.
    pub(crate) base: String,
}

/// A compression plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompressionPlan {
    /// Plan in words, or the reason why nothing can be compressed.
    pub(crate) told: String,
    /// Whether there is something to compress.
    pub(crate) is_needed: bool,
    /// Ids of the messages to hide.
    pub(crate) ids: Vec<String>,
    /// Ids of the summaries to merge with them.
    pub(crate) summaries: Vec<String>,
    /// Tokens of the messages to hide.
    pub(crate) tokens: u64,
    /// Whether automatic compression would run now, in words.
    pub(crate) trigger: String,
    pub(crate) fires: bool,
}

/// Request of POST `conversations`: creates a conversation in the store.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewConversation {
    /// Title, at most 200 characters. Default: none.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Id of the conversation to copy. Default: an empty conversation.
    #[serde(default)]
    pub(crate) from: Option<String>,
    /// Starts with the greetings of this agent, each as a branch. `greeting` selects the active one.
    /// Default: no greeting.
    #[serde(default)]
    pub(crate) greets: Option<GreetingsRequest>,
    /// Index of the active greeting, from 0.
    #[serde(default)]
    pub(crate) greeting: usize,
}

/// Request of POST `greetings`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GreetingsRequest {
    /// Id of the agent.
    pub(crate) agent: String,
    /// Id of the user profile. Default: from `ctx.toml`. An empty id means no profile.
    #[serde(default)]
    pub(crate) profile: Option<String>,
}

/// Response of POST `greetings`: the possible first messages of a conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GreetingsView {
    pub(crate) greetings: Vec<GreetingView>,
}

/// A greeting with expanded macros.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GreetingView {
    pub(crate) title: String,
    /// Start of the text.
    pub(crate) head: String,
}

/// Request of POST `conversations/{f}/rename`, for a conversation in the store.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameConversation {
    /// Title, at most 200 characters.
    pub(crate) name: String,
}

/// Request of POST `conversations/{f}/delete`, for a conversation in the store.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteConversation {}

/// Response of GET `search?text=`: the conversations whose active branch contains a text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchView {
    pub(crate) hits: Vec<SearchHit>,
    /// Whether the search stopped early.
    pub(crate) is_cut: bool,
}

/// The newest message of a conversation that contains the text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SearchHit {
    /// Id of the conversation.
    pub(crate) conversation: String,
    /// Id of the message.
    pub(crate) message: String,
    /// Text around the match.
    pub(crate) excerpt: String,
}

/// Response of GET `conversations/{f}/summaries/{n}`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryView {
    /// Counts in one sentence.
    pub(crate) told: String,
    pub(crate) text: String,
    pub(crate) figures: SummaryFigures,
    /// Recorded details of its creation.
    pub(crate) made: Vec<NotedValue>,
    /// Numbers of kept, lost, and invented facts by kind.
    pub(crate) kinds: Vec<FactCounts>,
    /// Lost facts, at most 500.
    pub(crate) lost: Vec<FactView>,
    /// Facts that are not in the messages, at most 500.
    pub(crate) invented: Vec<FactView>,
}

/// A recorded detail of a summary.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NotedValue {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// The numbers of facts of one kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FactCounts {
    /// Kind of fact, such as `date`.
    pub(crate) kind: &'static str,
    pub(crate) kept: usize,
    pub(crate) lost: usize,
    pub(crate) invented: usize,
}

/// A fact with its location.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FactView {
    /// Kind of fact, such as `date`.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// Id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Range in the message's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<TextSpan>,
}
