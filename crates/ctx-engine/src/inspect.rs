//! Explains a context: comparisons and token shares. Never needed to assemble one.

pub(crate) mod cache_lint;
mod comparison;
pub(crate) mod message_trace;
pub(crate) mod moving_text;
pub(crate) mod sample_turns;
mod saved_context;
mod shares;
mod snapshot;

pub use comparison::{Comparison, Difference, DifferenceKind, PrefixBreak, TextChange};
pub use saved_context::SavedContext;
pub use shares::TokenShare;
