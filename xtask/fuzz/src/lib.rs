//! What strangers' files may do to what reads them: each target takes any bytes, and panics only where a promise is
//! broken.

mod seeds;
mod targets;

pub use seeds::seeds;
pub use targets::{TARGETS, Target, target};
