//! Files that travel with messages: loaded, told apart, and brought into a form that the target takes.
//!
//! What becomes of a file is decided in one place, [`settling`], which three stages call: the one for transcripts
//! for the conversation, the assembler for the preset, and the resolver at the end for whatever is left. So what is
//! counted is what is sent.

mod agent_files;
mod forms;
mod lifting;
mod loading;
mod measuring;
mod media_type;
mod policy;
#[cfg(feature = "images")]
mod resizing;
mod settling;
mod target;
mod waiting;
mod writing;

pub use policy::AttachmentPolicy;

pub(crate) use loading::not_at_hand;
pub(crate) use policy::policy_fields;
pub(crate) use settling::{Reading, Settled, Settler};
pub(crate) use waiting::within;
