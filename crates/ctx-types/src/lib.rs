//! The nouns of `ctx`: what every other crate speaks about.
//!
//! Layer 0: plain data and its invariants. No I/O, no clock, no randomness.
mod agent;
mod attachment;
pub mod codes;
mod decision;
mod depth;
mod diagnostic;
mod fields;
mod injection;
mod message;
mod persist;
mod placement;
mod report;
mod session;
mod source;
mod text;
mod turn;

pub use agent::*;
pub use attachment::*;
pub use decision::*;
pub use depth::*;
pub use diagnostic::*;
pub use injection::*;
pub use message::*;
pub use persist::{Kept, Persist, Reader};
pub use placement::*;
pub use report::*;
pub use session::*;
pub use source::*;
pub use text::*;
pub use turn::*;
