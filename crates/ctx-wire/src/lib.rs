//! Provider dialects: from the messages of a context to the exact bytes of a request body.
//!
//! Layer 1: pure functions over [`ctx_types`]; no network, no files, no clock. Every message is written, in
//! its order; what a dialect has no words for is reported and never vanishes in silence. Equal inputs give
//! equal bytes, because the order of all keys is fixed.
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

pub mod codes;
pub mod openai_chat;
pub mod pairing;
mod request;

pub use request::{Encoded, Request};
