//! The built-in processors, one file each.
//!
//! Layer 3: adapters of the lower crates to the pipeline. Pure; no I/O.
#![warn(clippy::disallowed_methods)]

mod asset_resolver;
mod attachments;
pub mod codes;
mod compression;
mod convert_system_to_user;
mod costing;
mod default_set;
mod documents;
mod dropping;
mod ensure_alternating_roles;
mod gap_ranks;
mod infeasible;
mod injection_assembler;
mod join;
mod loaded_form;
mod macro_values;
mod merge_consecutive_roles;
mod merge_injections;
mod merge_system_to_head;
mod regex_processor;
pub mod regex_rules;
mod request_compressor;
mod rewrite;
mod session_loader;
mod token_limiter;
mod transcription_processor;
mod variable_processor;
mod variables;
mod window;
mod worldbook_processor;
mod worldbooks;

use ctx_pipeline::ConfigField;

pub use asset_resolver::AssetResolver;
pub use attachments::AttachmentPolicy;
pub use compression::{KeptCompression, compress_window};
pub use convert_system_to_user::ConvertSystemToUser;
pub use costing::cost_upper_bound;
pub use default_set::default_set;
pub use documents::{DocumentLimits, DocumentReader};
pub use ensure_alternating_roles::EnsureAlternatingRoles;
pub use infeasible::{Cause, Infeasible, Part, PartKind};
pub use injection_assembler::InjectionAssembler;
pub use macro_values::{MacroValues, macro_dialect};
pub use merge_consecutive_roles::MergeConsecutiveRoles;
pub use merge_injections::MergeInjections;
pub use merge_system_to_head::MergeSystemToHead;
pub use regex_processor::{ActiveRules, RegexProcessor};
pub use request_compressor::RequestCompressor;
pub use session_loader::SessionLoader;
pub use token_limiter::{LimiterResult, TokenLimiter};
pub use transcription_processor::TranscriptionProcessor;
pub use variable_processor::VariableProcessor;
pub use variables::{VariableDefinition, VariableDefinitions, VariableValue, Variables};
pub use window::{LoadedWindow, WindowSize};
pub use worldbook_processor::{WorldbookProcessor, WorldbookScan};
pub use worldbooks::keep_worldbook_state;

/// What stands between joined texts; AIO Hub's own default, so that its presets read the same.
fn separator_field() -> ConfigField {
    ConfigField::text("separator", "Between two texts", "\n\n---\n\n")
}
