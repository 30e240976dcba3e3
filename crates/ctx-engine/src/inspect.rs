//! Explains a context: message traces, comparisons, token shares. Never needed to assemble one.

pub(crate) mod cache_lint;
mod comparison;
mod life;
mod saved_context;
mod shares;
mod snapshot;

pub use comparison::{Comparison, Difference, DifferenceKind};
pub use life::{
    CacheStanding, CostPart, Event, EventKind, Life, Lives, Piece, SentMessage, Step, UnknownMessage,
};
pub use saved_context::SavedContext;
pub use shares::TokenShare;

pub use crate::trace::Trace;
