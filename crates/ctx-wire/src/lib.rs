//! Encodes requests for OpenAI, Anthropic, Gemini and text completion, and decodes their responses and streams.
//!
//! Performs no I/O. Every message is written in order. Content that an API cannot express is reported as a diagnostic.
//! Equal inputs give equal bytes.
//!
//! ```
//! use ctx_types::{Message, Role, Source};
//! use ctx_wire::{Request, openai_chat};
//! use serde_json::Map;
//!
//! let messages = [Message::new(Role::User, "hello", Source::history("n1", Role::User))];
//! let request = Request { model: "gpt-4o", tools: &[], parameters: &Map::new() };
//! let encoded = openai_chat::encode(&messages, &request);
//!
//! let expected = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}"#;
//! assert_eq!(encoded.to_string(), expected);
//! assert!(encoded.diagnostics.is_empty());
//! ```
#![warn(clippy::disallowed_methods)]

pub mod anthropic;
mod blocks;
mod body_part;
mod call_ids;
pub mod codes;
pub mod completion;
mod dialect;
mod failure;
pub mod gemini;
mod json;
pub mod lint;
mod marks;
mod media;
pub mod openai_chat;
pub mod openai_responses;
pub mod pairing;
mod parameters;
mod reasoning;
mod reply;
mod request;
mod stream;
mod tools;

pub use body_part::BodyPart;
pub use dialect::Dialect;
pub use failure::{Failure, FailureKind, OverflowFigures};
pub use media::{canonical as canonical_media_type, is_plain_text};
pub use reply::{Finish, Reply, ReplyUsage};
pub use request::{Encoded, Options, Request, SystemPlacement, tool_definition};
pub use stream::{Delta, ReplyLimits, ReplyStream, StreamError};
pub use tools::read_tools;
