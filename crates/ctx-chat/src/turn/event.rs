//! What a turn tells whoever watches it.

use std::sync::Arc;
use std::time::Duration;

use ctx_compress::mask::{MaskNotice, MaskTrigger};
use ctx_compress::request::{CompressionReport, ContextUsage};
use ctx_types::report::PlannedBreak;
use ctx_types::session::NodeId;
use ctx_types::{Diagnostic, Phrase, Role};
use ctx_wire::{BodyPart, Delta, ReplyUsage};

/// Hears of a turn as it goes on.
pub type TurnWatch<'a> = dyn FnMut(TurnEvent) + Send + 'a;

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent {
    /// A message is in the store.
    Stored {
        /// The message.
        id: NodeId,
        /// Who speaks it.
        role: Role,
    },
    /// How much of its budget the next request uses.
    Usage {
        /// The figures.
        usage: ContextUsage,
        /// What they mean.
        level: UsageLevel,
    },
    /// Older messages are being summarised.
    Summarizing(MaskTrigger),
    /// A summary replaces older messages from now on.
    Summarized(MaskNotice),
    /// There is no summary; the turn goes on without one.
    NotSummarized(Phrase),
    /// The request was made smaller; the conversation is as it was.
    Compressed(Box<CompressionReport>),
    /// An append-only request does not repeat the previous one.
    PlannedBreak(PlannedBreak),
    /// The request is large, and could not be made smaller.
    NotCompressed(Phrase),
    /// A request is sent.
    Sending {
        /// The number of the round, from 1.
        round: usize,
        /// The size of its body.
        bytes: usize,
        /// The tools, system prompts and messages of its body.
        parts: Vec<BodyPart>,
        /// The tokens of these parts.
        tokens: u64,
    },
    /// The provider cannot answer now, and is asked again.
    Retry {
        /// The number of the attempt that failed, from 1.
        attempt: usize,
        /// How long is waited.
        wait: Duration,
        /// Why it failed.
        reason: Phrase,
    },
    /// The request was too large for the model, and is sent again, smaller.
    Overflowed,
    /// A piece of an answer came.
    Delta(Delta),
    /// An answer is whole.
    Replied {
        /// What the provider counted.
        usage: Option<ReplyUsage>,
    },
    /// A call is carried out.
    ToolStarted {
        /// The id of the call.
        id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// Its arguments, as the model wrote them.
        arguments: String,
    },
    /// A call has its result.
    ToolFinished {
        /// The id of the call.
        id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// Whether it failed.
        is_error: bool,
        /// How long it took.
        took: Duration,
        /// How many bytes its result has.
        bytes: usize,
    },
    /// Something is odd; each is told once in a turn.
    Found(Diagnostic),
}

/// What the usage of a budget means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageLevel {
    /// There is room.
    Normal,
    /// More than 60 % are used.
    Warning,
    /// So much is used that the request is made smaller.
    Compressing,
}

impl UsageLevel {
    /// Above which share of the budget it is a warning.
    const WARNING: f64 = 0.6;

    /// Returns the level of figures of which nothing is to be compressed.
    pub fn of(usage: &ContextUsage) -> Self {
        if usage.usage_percent > Self::WARNING { Self::Warning } else { Self::Normal }
    }

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Compressing => "compressing",
        }
    }
}
