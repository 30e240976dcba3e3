//! [`file_resolver`] decides how a file is sent. `transcription-processor` calls it for the conversation,
//! `injection-assembler` for the preset, and `asset-resolver` for the rest. Tokens are counted for the final
//! form.

mod agent_files;
mod file_resolver;
mod forms;
mod lift;
mod loader;
mod measure;
mod media_type;
mod policy;
#[cfg(feature = "images")]
mod resize;
mod target;
mod timeout;
mod write;

pub(crate) use policy::AttachmentPolicy;

pub(crate) use file_resolver::{FileCounts, FileResolver, TranscriptionSettings};
pub(crate) use loader::not_cached_error;
pub(crate) use timeout::within;
