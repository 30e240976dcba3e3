//! Compiles an agent once and assembles a context for each turn.
//!
//! Performs no I/O: it takes the bytes of files and returns the body of a request. The entry point is
//! [`Engine`]. Most programs need only this crate:
//!
//! - [`prelude`] exports the common types, the processor trait and the ports.
//! - [`import`] reads files of other applications.
//! - [`compress`] creates summaries.
//! - [`inspect`] explains a context.
//!
//! ```
//! use ctx_engine::prelude::*;
//!
//! let engine = Engine::new();
//! let agent = read_agent(b"presetMessages:\n- {role: system, content: Be kind.}", "agent.yaml")?;
//! let chat = read_conversation(br#"[{"role": "user", "content": "Hello"}]"#, "chat.json")?;
//! let compiled = engine.compile(&agent.value, &Compile::default());
//! let context = compiled.assemble_blocking(&chat.value, &TurnInput::default())?;
//! let body = context.encode(&Request::new("gpt-5")).to_value();
//! assert_eq!(body["messages"][1]["content"], "Hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Features:
//!
//! | feature | adds |
//! |---|---|
//! | `bpe` (default) | exact token counts for OpenAI models; without it, all counts are estimates |
//! | `bpe-loaded` | as `bpe`, with tables that the program supplies |
//! | `html` | conversion of HTML in messages to Markdown |
//! | `images` | smaller copies of large images |
//! | `lunar` | macros of the traditional Chinese calendar |
//! | `schema` | JSON Schemas of files and reports |
#![warn(clippy::disallowed_methods)]

mod append_only;
mod appended_messages;
mod assembly;
mod attempt;
pub mod codes;
mod compiled_agent;
pub mod compress;
mod context;
mod context_limit;
mod encode;
mod engine;
#[cfg(doctest)]
mod guide;
pub mod import;
pub mod inspect;
mod limiter;
pub mod prelude;
mod prepared_input;
mod recall;
#[cfg(feature = "schema")]
pub mod schema;
mod stable;
mod switches;
mod trace;
mod turn_cache;

pub use appended_messages::AppendedMessages;
pub use assembly::{AssembleError, Ports};
pub use compiled_agent::CompiledAgent;
pub use context::Context;
pub use engine::{Compile, Engine};
pub use prepared_input::PreparedInput;
pub use switches::Switches;
pub use turn_cache::TurnCache;

pub use ctx_preset_import::{
    Format, ImportError, Imported, read_agent, read_conversation, read_profile, read_worldbook,
};
// Not part of the API: only for the crates of this workspace. It may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::compiled_agent::{MODEL_SETTINGS, USER_SETTINGS};
    pub use crate::inspect::message_trace::{
        CacheStatus, CostPart, Event, EventKind, MessageSegment, MessageTrace, SentMessage, Step,
        TracedMessage, UnknownMessage,
    };
    #[cfg(feature = "schema")]
    pub use crate::schema::{Parameters, file_schema};
    pub use crate::trace::Trace;
}

pub use ctx_wire::completion::Template;
pub use ctx_wire::{Dialect, Encoded, Options, Request, SystemPlacement};
