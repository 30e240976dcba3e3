mod account;
mod beginning;
mod kept;
mod outcome;
mod settings;

pub use kept::KeptCompression;
pub use settings::compress_window;

/// Blackboard entry, set if a prefix is compressed: tokens left below the compression trigger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressionRoom {
    pub(crate) tokens: u64,
}

pub(crate) use account::{tell, tell_repairs};
pub(crate) use beginning::Beginning;
pub use beginning::leaves_unchanged;
pub(crate) use outcome::StageInput;
pub(crate) use settings::{Settings, fields};
