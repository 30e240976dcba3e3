//! Operations of `ctx` for other languages: JSON in, JSON out.
//!
//! [`call`] runs one of [`OPERATIONS`] by name. Compile an [`Agent`] once, and pass the messages of a [`Conversation`]
//! once. Invalid options return an [`OperationError`]. Faults in a document are diagnostics in the result.
//!
//! ```
//! use serde_json::json;
//!
//! let input = json!({ "conversation": [{ "role": "user", "content": "Hello" }], "budget": 100 });
//! let fitted = ctx_operations::call("fit", input)?;
//! assert_eq!(fitted["numbers"], json!([0]));
//! let error = ctx_operations::call("fit", json!({ "conversation": [], "bugdet": 100 })).unwrap_err();
//! assert_eq!(error.code, "usage");
//! # Ok::<(), ctx_operations::OperationError>(())
//! ```
#![warn(clippy::disallowed_methods)]

mod agent;
pub mod agent_file;
pub mod book_file;
pub mod check;
pub mod codes;
mod conversation;
pub mod document_edit;
pub mod edits;
mod ending;
mod error;
#[cfg_attr(not(feature = "files"), path = "no_files.rs")]
mod files;
mod fit;
mod given;
mod host_parts;
pub mod lines;
mod list;
pub mod locate;
pub mod macro_env;
mod messages;
pub mod migration;
mod plan;
pub mod scan;
pub mod texts;
mod texts_operations;
mod turn;
mod wire;

pub use agent::Agent;
pub use agent_file::AgentFile;
pub use book_file::BookFile;
pub use conversation::Conversation;
pub use ctx_engine::Engine;
pub use ctx_types::ports::{Deadline, PortFuture};
pub use ctx_types::{Role, Text};
pub use error::OperationError;
pub use fit::{Fitted, Kept};
pub use given::Given;
pub use host_parts::{AskHost, engine_with};
pub use list::{OPERATIONS, Operation, call};
pub use messages::{message_to_json, sent_messages, tool_of};
pub use wire::Stream;
