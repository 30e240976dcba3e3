//! The JSON of conversations: the tree, the active path, steps, and summaries.

use ctx_pipeline::{ConfigValue, Origin};
use ctx_types::ConfigField;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{Finding, TextSpan};

/// GET `conversations/{f}?from=&to=&open=&at=`: messages of the active path, without those behind summaries that are
/// not open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationView {
    /// The hash of the file, which steps name as their `base`.
    pub(crate) hash: String,
    /// How many messages there are to be shown.
    pub(crate) total: usize,
    /// The place of the first of `rows` among them.
    pub(crate) from: usize,
    pub(crate) rows: Vec<MessageView>,
    /// The names of steps that can be taken back, the latest first.
    pub(crate) undo: Vec<String>,
    /// The names of steps that can be done again.
    pub(crate) redo: Vec<String>,
    /// Why it cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<String>,
    /// Whether it is a list of messages, of which a session can be made.
    pub(crate) is_list: bool,
}

/// A message of the active path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageView {
    pub(crate) id: String,
    /// Its place on the path, from 1.
    pub(crate) place: usize,
    pub(crate) role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    pub(crate) tokens: u64,
    /// The calls that it makes, each as the name of the tool and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<String>,
    /// The names of the files that are sent with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<String>,
    pub(crate) state: MessageState,
    /// The summary that hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hidden_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<BranchView>,
    /// Of a summary: what it stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<SummaryFigures>,
}

/// Whether a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageState {
    Sent,
    /// A summary stands for it.
    Hidden,
    /// It is switched off.
    Off,
}

/// The place of a message among its siblings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BranchView {
    /// From 1.
    pub(crate) at: usize,
    pub(crate) of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
}

/// What a summary stands for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryFigures {
    pub(crate) messages: usize,
    pub(crate) original_tokens: u64,
    pub(crate) tokens: u64,
    /// In milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_millis: Option<i64>,
}

/// GET `conversations/{f}/tree`: runs of messages without branches, parents before children.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeView {
    pub(crate) runs: Vec<RunView>,
    /// Whether there are more runs than are told.
    pub(crate) is_cut: bool,
}

/// Messages one behind the other, up to a branching or an end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    /// The place of the run above in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) above: Option<usize>,
    pub(crate) first: String,
    pub(crate) last: String,
    pub(crate) messages: usize,
    pub(crate) summaries: usize,
    pub(crate) role: String,
    /// The beginning of its first message.
    pub(crate) head: String,
    /// Whether it is on the active path.
    pub(crate) is_active: bool,
}

/// POST `conversations/{f}/steps`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct TakeStep {
    /// The hash that the page saw.
    pub(crate) base: String,
    pub(crate) step: ConversationStep,
    /// The id of the agent whose settings of summaries count.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

/// A step of a conversation. Each is noted in its log, and can be taken back.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum ConversationStep {
    /// Gives a message another text.
    Edit {
        id: String,
        text: String,
    },
    /// Puts another text beside a message, as a branch of its own.
    Branch {
        id: String,
        text: String,
    },
    /// Adds a message at the end of the active path.
    Append {
        role: String,
        text: String,
    },
    /// Shows the branch of a message.
    Activate {
        id: String,
    },
    /// Switches a message or a summary on or off.
    Toggle {
        id: String,
        enabled: bool,
    },
    /// Deletes a message with all below it; of a summary only the summary.
    Remove {
        id: String,
    },
    /// Writes a summary again, from what it stands for.
    Regenerate {
        id: String,
    },
    Undo,
    Redo,
}

/// The answer to it, and to POST `conversations/{f}/compress`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StepTaken {
    pub(crate) hash: String,
    /// What happened, for people.
    pub(crate) told: String,
    /// The message that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// What a step leaves: the part that the query names, as that of GET `conversations/{f}`, or the one around the
    /// message that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<ConversationView>,
}

/// The answer to POST `conversations/{f}/session`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MadeSession {
    /// The id of the new file.
    pub(crate) id: String,
}

/// POST `conversations/{f}/session`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeSession {}

/// POST `conversations/{f}/plan` and `conversations/{f}/compress`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompressRequest {
    /// The hash that the page saw; a plan of another text would be another one.
    pub(crate) base: String,
    /// The id of the agent whose settings count over those of `ctx.toml`.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) range: CompressRange,
}

/// Which messages a summary is to stand for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum CompressRange {
    /// All that the settings do not protect.
    #[default]
    All,
    /// Only where the settings would compress by themselves, and as much as they would.
    Auto,
    /// The summaries that are there, which are joined.
    RollUp,
    /// From one message to another, by their ids.
    Between { from: String, to: String },
}

/// POST `compression`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CompressionRequest {
    /// The id of the agent.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

/// The settings of compression: each key by itself takes the value of the highest layer that has it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CompressionSettings {
    pub(crate) fields: Vec<ConfigField>,
    pub(crate) values: Vec<ConfigValue>,
    /// The files that may set them, the highest first.
    pub(crate) layers: Vec<CompressionLayer>,
    pub(crate) findings: Vec<Finding>,
}

/// A file that may set compression.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CompressionLayer {
    pub(crate) origin: Origin,
    pub(crate) file: String,
    /// The pointer of the object that holds them.
    pub(crate) base: String,
}

/// What would be compressed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompressionPlan {
    /// The plan, or why there is nothing to do.
    pub(crate) told: String,
    /// Whether there is something to do.
    pub(crate) is_needed: bool,
    /// The messages that would be hidden.
    pub(crate) ids: Vec<String>,
    /// The summaries that would be joined with them.
    pub(crate) summaries: Vec<String>,
    /// The tokens that would be hidden.
    pub(crate) tokens: u64,
    /// Whether the settings would compress by themselves now, in words.
    pub(crate) trigger: String,
    pub(crate) fires: bool,
}

/// POST `conversations`: begins a conversation in the store.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewConversation {
    /// Its title, at most 200 characters; absent means none.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The conversation that it begins with; absent means an empty one.
    #[serde(default)]
    pub(crate) from: Option<String>,
}

/// GET `conversations/{f}/summaries/{n}`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryView {
    /// Its figures in a sentence.
    pub(crate) told: String,
    pub(crate) text: String,
    pub(crate) figures: SummaryFigures,
    /// How it was made, as it was noted.
    pub(crate) made: Vec<NotedValue>,
    /// How many facts of each kind it kept, lost and made up.
    pub(crate) kinds: Vec<FactCounts>,
    /// What it lost, at most 500.
    pub(crate) lost: Vec<FactView>,
    /// What it says and the messages do not, at most 500.
    pub(crate) invented: Vec<FactView>,
}

/// Something that was noted about a summary.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NotedValue {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// How many facts of a kind there are.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FactCounts {
    /// A word for programs, such as `date`.
    pub(crate) kind: &'static str,
    pub(crate) kept: usize,
    pub(crate) lost: usize,
    pub(crate) invented: usize,
}

/// A fact, and where it stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FactView {
    /// A word for programs, such as `date`.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// The message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Where in its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<TextSpan>,
}
