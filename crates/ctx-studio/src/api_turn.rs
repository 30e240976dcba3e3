//! The JSON of turns: what a model answers in a conversation, and the summaries that it writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api_preview::TurnSettings;
use crate::api_talk::{CompressRange, StepTaken};

/// POST `conversations/{f}/turns`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BeginTurn {
    /// The hash that the page saw.
    pub(crate) base: String,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(crate) worldbooks: Vec<String>,
    /// What the user says is its `input`; without it what is pending is answered.
    #[serde(default)]
    pub(crate) turn: TurnSettings,
    /// Files that the user sends with it.
    #[serde(default)]
    pub(crate) attachments: Vec<AttachedFile>,
    /// Sends nothing, and tells what would be sent.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// A file that can be sent with a message: the answer to POST `conversations/{f}/attachments?name=`, which keeps it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AttachedFile {
    /// As the user knows it.
    pub(crate) name: String,
    /// Where it is, as messages say it.
    pub(crate) path: String,
    pub(crate) bytes: usize,
}

/// POST `conversations/{f}/attachments/discard`: deletes a file that is in no message yet, unless another window has
/// attached it too.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscardAttached {
    pub(crate) path: String,
}

/// POST `conversations/{f}/summaries`: has a model write a summary, told and stopped like an answer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeginSummary {
    /// What the model is chosen by; the turn itself is not carried out.
    pub(crate) with: BeginTurn,
    pub(crate) summary: SummaryOf,
}

/// Which summary a model is to write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum SummaryOf {
    /// A new one, of these messages.
    Range { range: CompressRange },
    /// One that is there, written again.
    Again { id: String },
}

/// A summary that a model writes, or has written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SummaryWork {
    pub(crate) of: SummaryOf,
    /// Which request the model answers, from 1.
    pub(crate) request: usize,
    /// How many there are, as far as that is known.
    pub(crate) requests: usize,
    /// The step that it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) taken: Option<StepTaken>,
}

/// The answer to POST `conversations/{f}/turns` and `conversations/{f}/summaries`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TurnBegun {
    /// The number of the turn, or of the summary that is written; none where nothing is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<usize>,
    /// The request that would be sent, byte for byte, if only that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
}

/// GET `conversations/{f}/turn?turn=&from=`: the latest turn, and of its words those that the page does not have.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnView {
    /// The number of the turn; 0 if there was none.
    pub(crate) turn: usize,
    pub(crate) is_running: bool,
    /// How many bytes of the answer the page must have before `text`.
    pub(crate) from: usize,
    pub(crate) text: String,
    /// How many bytes it has then.
    pub(crate) length: usize,
    /// What happened on the way.
    pub(crate) notes: Vec<String>,
    /// A call that waits until somebody agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<PendingCall>,
    /// Why it went no further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// Where it is no answer but a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<SummaryWork>,
}

/// A call that waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PendingCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// As the model wrote them.
    pub(crate) arguments: String,
}

/// POST `conversations/{f}/turn/stop`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopTurn {}

/// POST `conversations/{f}/turn/call`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallVerdict {
    /// The id of the call.
    pub(crate) id: String,
    pub(crate) allow: bool,
    /// What the model is told of a refusal.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}
