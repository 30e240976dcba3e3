//! Built-in processors of the context pipeline, one per file.
//!
//! They load the conversation, activate worldbook entries, place injections, compress or drop old messages,
//! and adapt roles to a provider. They adapt lower crates to the processor trait and perform no I/O. Start
//! with `default_set`, which returns them in run order.
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

pub use append_only::{AppendOnly, InsertedTexts};
pub use asset_resolver::AssetResolver;
pub use author_note::AuthorNote;
pub use compression::{CompressionCache, compress_window};
pub use convert_system_to_user::ConvertSystemToUser;
pub use default_set::default_set;
pub use dialogue_examples::DialogueExamples;
pub use ensure_alternating_roles::EnsureAlternatingRoles;
pub use generation_prompt::GenerationPrompt;
#[cfg(feature = "html")]
pub use html::html_to_markdown;
pub use infeasible::{Cause, Infeasible, RequestPart, RequestPartKind};
pub use injection_assembler::InjectionAssembler;
pub use macro_values::{AgentMacros, MacroParts, macro_dialect};
pub use merge_consecutive_roles::MergeConsecutiveRoles;
pub use merge_injections::MergeInjections;
pub use merge_system_to_head::MergeSystemToHead;
pub use message_costs::cost_upper_bound;
pub use recall::{RecallCache, RecallProcessor};
pub use regex_processor::{ActiveRules, RegexProcessor};
pub use request_compressor::RequestCompressor;
pub use session_loader::SessionLoader;
pub use speaker_names::SpeakerNames;
pub use squash_system::SquashSystem;
pub use token_limiter::{LimiterResult, TokenLimiter};
pub use transcription_processor::TranscriptionProcessor;
pub use unsent::unsent;
pub use variable_processor::VariableProcessor;
pub use variables::{VariableDefinition, VariableDefinitions, VariableValue, Variables};
pub use window::{LoadedWindow, WindowSize};
pub use worldbook_processor::{NewestHit, WorldbookProcessor, WorldbookScan};
pub use worldbooks::{keep_worldbook_state, worldbook_state};

/// AIO Hub's default.
fn separator() -> ConfigField {
    ConfigField::text("separator", "Separator", "\n\n---\n\n")
}
