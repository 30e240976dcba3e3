//! Compression of the conversation within a context: what the stage reads, keeps for later turns, and tells.

mod account;
mod kept;
mod outcome;
mod settings;

pub use kept::KeptCompression;
pub use settings::compress_window;

pub(crate) use account::{tell, tell_repairs};
pub(crate) use outcome::StageInput;
pub(crate) use settings::{Settings, fields};
