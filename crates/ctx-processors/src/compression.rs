//! Compression of the conversation within a context: what the stage reads, keeps for later turns, and tells.

mod account;
mod beginning;
mod kept;
mod outcome;
mod settings;

pub use kept::KeptCompression;
pub use settings::compress_window;

/// Left on the blackboard where a beginning of the conversation stands rewritten: how many tokens are free below the
/// trigger of compression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressionRoom {
    pub(crate) tokens: u64,
}

pub(crate) use account::{tell, tell_repairs};
pub(crate) use beginning::Beginning;
pub use beginning::leaves_unchanged;
pub(crate) use outcome::StageInput;
pub(crate) use settings::{Settings, fields};
