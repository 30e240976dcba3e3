//! Explains a context: message traces, comparisons, token shares. Never needed to assemble one.

pub(crate) mod cache_lint;
mod comparison;
mod message_trace;
pub(crate) mod moving_text;
pub(crate) mod sample_turns;
mod saved_context;
mod shares;
mod snapshot;

pub use comparison::{Comparison, Difference, DifferenceKind, PrefixBreak, TextChange};
pub use message_trace::{
    CacheStatus, CostPart, Event, EventKind, MessageSegment, MessageTrace, SentMessage, Step, TracedMessage,
    UnknownMessage,
};
pub use saved_context::SavedContext;
pub use shares::TokenShare;

pub use crate::trace::Trace;
