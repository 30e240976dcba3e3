//! The façade of `ctx`: compile an agent once, assemble any number of contexts.
//!
//! Layer 4: pure. Bytes come in through [`read_agent`] and its kin, request bodies go out through
//! [`Context::encode`]; files, clocks and networks are the caller's.
//!
//! ```
//! use ctx_engine::{Compile, Engine, Limits, Request, openai_chat, read_agent, read_conversation};
//! use ctx_types::TurnInput;
//!
//! let engine = Engine::new();
//! let limits = Limits::default();
//! let agent = read_agent(b"presetMessages:\n- {role: system, content: Be kind.}", "agent.yaml", &limits, &engine.anchors)?;
//! let chat = read_conversation(br#"[{"role": "user", "content": "Hello"}]"#, "chat.json", &limits)?;
//! let compiled = engine.compile(&agent.value, &Compile::default());
//! let context = compiled.assemble_blocking(&chat.value, &TurnInput::default())?;
//! let body = openai_chat::encode(&context.messages, &Request::new("gpt-5")).to_value();
//! assert_eq!(body["messages"][1]["content"], "Hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(clippy::disallowed_methods)]

mod appended;
mod assembly;
mod attachments;
mod attempt;
mod cache_lint;
pub mod codes;
mod comparison;
mod compiled;
mod context;
mod context_limit;
mod encode;
mod engine;
#[cfg(doctest)]
mod guide;
mod life;
mod limiting;
mod memory;
mod prepared_input;
mod recall;
mod saved_context;
#[cfg(feature = "schema")]
pub mod schema;
mod shares;
mod snapshot;
mod stable;
mod switches;
mod trace;

pub use appended::Appended;
pub use assembly::{AssembleError, Ports};
pub use comparison::{Comparison, Difference, DifferenceKind};
pub use compiled::{CompiledAgent, MODEL_SETTINGS, USER_SETTINGS};
pub use context::Context;
pub use engine::{Compile, Engine};
pub use life::{
    CacheStanding, CostPart, Event, EventKind, Life, Lives, Piece, SentMessage, Step, UnknownMessage,
};
pub use memory::ConversationMemory;
pub use prepared_input::PreparedInput;
pub use saved_context::SavedContext;
pub use shares::TokenShare;
pub use switches::Switches;
pub use trace::Trace;

pub use ctx_preset_import::{
    Format, ImportError, Imported, Limits, read_agent, read_conversation, read_profile, read_worldbook,
};
pub use ctx_processors::has_inline_picture;
pub use ctx_wire::completion::Template;
pub use ctx_wire::{Dialect, Encoded, Options, Request, SystemPlacement, openai_chat};
