//! [`settling`] decides how a file is sent. `transcription-processor` calls it for the conversation,
//! `injection-assembler` for the preset, and `asset-resolver` for the rest. Tokens are counted for the final
//! form.

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
