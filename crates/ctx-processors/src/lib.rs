//! Built-in processors of the context pipeline.
//!
//! Start with [`default_set`], which returns them in run order. They load the conversation, activate worldbook
//! entries, place injections, compress or drop old messages, and adapt roles to a provider. They do no I/O.
//!
//! ```
//! use ctx_anchors::AnchorRegistry;
//! use ctx_processors::{MacroParts, default_set};
//!
//! let set = default_set(AnchorRegistry::system(), MacroParts::default());
//! assert!(set.get("worldbook-processor").is_some());
//! ```
#![warn(clippy::disallowed_methods)]

#[macro_use]
mod settings;

mod append_only;
mod asset_resolver;
mod attachments;
mod author_note;
mod card_expansion;
pub mod codes;
mod compression;
mod convert_system_to_user;
mod default_set;
mod dialogue_examples;
mod drop_oldest;
mod ensure_alternating_roles;
mod gap_lanes;
mod generation_prompt;
#[cfg(feature = "html")]
mod html;
mod infeasible;
mod injection_assembler;
mod injection_text;
// Not part of the API: only for the crates of this workspace. It may change in any release.
#[doc(hidden)]
pub mod internal;
mod join;
mod loaded_form;
mod macro_values;
mod merge_consecutive_roles;
mod merge_injections;
mod merge_system_to_head;
mod message_costs;
mod recall;
mod regex_processor;
pub mod regex_rules;
mod removal;
mod request_compressor;
mod rewrite;
mod session_loader;
mod speaker_names;
mod squash_system;
mod token_limiter;
mod transcription_processor;
mod unsent;
mod variable_processor;
mod variables;
mod window;
mod worldbook_processor;
mod worldbooks;

use ctx_pipeline::ConfigField;

pub use default_set::default_set;
#[cfg(feature = "html")]
pub use html::html_to_markdown;
pub use infeasible::{Cause, Infeasible, RequestPart, RequestPartKind};
pub use macro_values::MacroParts;

/// AIO Hub's default.
fn separator() -> ConfigField {
    ConfigField::text("separator", "Separator", "\n\n---\n\n")
}
