//! Explains requests that other programs sent: what broke the prompt cache, and what it cost.
//!
//! [`LogAnalysis`] reads request bodies of OpenAI, Anthropic, and Gemini, alone or with their times and usage. It compares
//! each request with the earlier one that has the longest common prefix, and forecasts what the provider's cache could
//! provide. [`Transcript`] reads what coding agents write down, and [`compaction_loss`] finds what a compaction lost.
//! Performs no I/O.
#![warn(clippy::disallowed_methods)]

mod analysis;
mod blocks;
mod cache;
mod change;
mod entry;
mod loss;
mod mask;
mod outline;
mod pair;
mod place;
mod report;
mod transcript;
mod usage;

pub use analysis::LogAnalysis;
pub use change::Change;
pub use loss::{CompactionLoss, LossAnalysis, LostFact, compaction_loss};
pub use outline::{OutlineBlock, RequestOutline};
pub use pair::{BlockExcerpt, RequestPair};
pub use place::{BlockPlace, Section};
pub use report::{
    Cause, LogReport, LogTotal, PrefixBreak, RequestComparison, RequestReport, SkipReason, SkippedLine,
};
pub use transcript::{
    Compaction, MAX_TRANSCRIPT_LINE, MissingPart, ResponseUsage, SubAgent, Transcript, TranscriptFormat,
    TranscriptReader, UnreadReason, UnreadRecord,
};
pub use usage::Usage;
