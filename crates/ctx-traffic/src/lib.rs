//! Explains requests that other programs sent: what broke the prompt cache, and what it cost.
//!
//! [`LogAnalysis`] reads request bodies of OpenAI, Anthropic, and Gemini, alone or with their times and usage. It compares
//! each request with the earlier one that has the longest common prefix, and forecasts what the provider's cache could
//! provide. Performs no I/O.
#![warn(clippy::disallowed_methods)]

mod analysis;
mod blocks;
mod cache;
mod change;
mod entry;
mod mask;
mod pair;
mod place;
mod report;
mod usage;

pub use analysis::LogAnalysis;
pub use change::Change;
pub use pair::{BlockExcerpt, RequestPair};
pub use place::{BlockPlace, Section};
pub use report::{
    Cause, LogReport, LogTotal, PrefixBreak, RequestComparison, RequestReport, SkipReason, SkippedLine,
};
pub use usage::Usage;
