//! JSON types of turns: replies and summaries of a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api_preview::TurnSettings;
use crate::api_talk::{CompressRange, StepTaken};

/// Request of POST `conversations/{f}/turns`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BeginTurn {
    /// Hash of the file that the page last read.
    pub(crate) base: String,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) worldbooks: Vec<String>,
    /// Settings of the turn. `input` is the user's message; without it, the model answers the pending
    /// message.
    #[serde(default)]
    pub(crate) turn: TurnSettings,
    /// Id of an earlier message to answer. The reply starts a new branch below it.
    #[serde(default)]
    pub(crate) answer_to: Option<String>,
    /// Attachments of the user's message.
    #[serde(default)]
    pub(crate) attachments: Vec<AttachedFile>,
    /// Returns the request without sending it.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// A stored file that can be attached to a message. Response of POST `conversations/{f}/attachments?name=`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AttachedFile {
    /// File name of the user.
    pub(crate) name: String,
    /// Path, as stored in messages.
    pub(crate) path: String,
    pub(crate) bytes: usize,
}

/// Request of POST `conversations/{f}/attachments/discard`: deletes a file that no message or other window
/// uses.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscardAttached {
    pub(crate) path: String,
}

/// Request of POST `conversations/{f}/summaries`: starts a summary by a model. It is reported and stopped
/// like a reply.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeginSummary {
    /// Settings that choose the model. The turn itself does not run.
    pub(crate) with: BeginTurn,
    pub(crate) summary: SummaryOf,
}

/// The summary to write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum SummaryOf {
    /// A new summary of these messages.
    Range { range: CompressRange },
    /// An existing summary, written again.
    Again { id: String },
}

/// The progress of a summary by a model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SummaryWork {
    pub(crate) of: SummaryOf,
    /// Number of the current request, from 1.
    pub(crate) request: usize,
    /// Number of requests, as far as known.
    pub(crate) requests: usize,
    /// Resulting operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) taken: Option<StepTaken>,
}

/// Response of POST `conversations/{f}/turns` and `conversations/{f}/summaries`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TurnBegun {
    /// Number of the turn or summary. Missing if nothing is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<usize>,
    /// Exact request body, for a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
}

/// Response of GET `conversations/{f}/turn?turn=&from=`: the latest turn with the text that the page does not
/// have yet.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnView {
    /// Number of the turn; 0 before the first turn.
    pub(crate) turn: usize,
    pub(crate) is_running: bool,
    /// Bytes of the reply before `text`.
    pub(crate) from: usize,
    pub(crate) text: String,
    /// Bytes of the reply up to the end of `text`.
    pub(crate) length: usize,
    /// Events during the turn.
    pub(crate) notes: Vec<String>,
    /// Tool call that waits for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<PendingCall>,
    /// Reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// Summary, if the turn writes one instead of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<SummaryWork>,
}

/// A tool call that waits for approval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PendingCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Arguments as the model wrote them.
    pub(crate) arguments: String,
}

/// Request of POST `conversations/{f}/turn/stop`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopTurn {}

/// Request of POST `conversations/{f}/turn/call`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallVerdict {
    /// Id of the tool call.
    pub(crate) id: String,
    pub(crate) allow: bool,
    /// Reason for a denial, sent to the model.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}
