//! Parts of `worldbook-processor`.

mod expanding;
mod gathering;
mod options;
mod outlets;
mod placing;
mod selection;
mod shelf;
mod state;
mod telling;
mod transcript;

pub(crate) use expanding::{Expanding, entry_source};
pub(crate) use gathering::Gathering;
pub(crate) use options::{at_gap, fields, settings};
pub(crate) use outlets::Outlets;
pub(crate) use placing::injection;
pub(crate) use selection::Selection;
pub(crate) use shelf::{Shelf, Shelves};
pub(crate) use state::{effect, stored_state};
pub use state::{keep_worldbook_state, worldbook_state};
pub(crate) use telling::{describe_inactive, tell};
pub(crate) use transcript::{Transcript, message_name};
