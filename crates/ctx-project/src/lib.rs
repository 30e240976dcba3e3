//! Turns a folder of agents, conversations, worldbooks and settings into contexts.
//!
//! Reads, checks and edits files in place. It returns values and never prints or prompts: that is the task of the
//! command, the page or the server that uses it.
//!
//! ```
//! use ctx_project::{ConfigOptions, Sources, Turn, TurnOptions};
//!
//! # fn main() -> Result<(), ctx_project::ProjectError> {
//! let mut sources = Sources::default();
//! let options = TurnOptions {
//!     input: Some("Hi".to_owned()),
//!     at: Some("2026-01-31T12:00:00Z".to_owned()),
//!     config: ConfigOptions { is_ignored: true, ask: None },
//!     ..TurnOptions::default()
//! };
//! let turn = Turn::open(&options, &mut sources)?;
//! let context = turn.assemble(false)?;
//! assert_eq!(context.messages[0].content.text(), "Hi");
//! # Ok(())
//! # }
//! ```

pub mod books;
pub mod case;
pub mod chat;
pub mod check;
pub mod codes;
pub mod compress;
pub mod config;
pub mod connections;
pub mod counting;
pub mod digits;
mod documents;
pub mod drafts;
pub mod endpoint;
pub mod error;
pub mod export;
pub mod files;
pub mod folder;
pub mod home;
pub mod imported;
pub mod inputs;
pub mod keyed;
pub mod keys;
pub mod life;
pub mod migration;
pub mod named;
pub mod options;
pub mod request_log;
pub mod sample;
pub mod scan;
pub mod schemas;
mod secrets;
pub mod session_file;
pub mod session_store;
pub mod sources;
pub mod store;
pub mod switches;
mod toml_document;
pub mod transcript_folders;
pub mod transcripts;
pub mod turn;
pub mod worldbook_state;

pub use config::Config;
pub use ctx_operations::{edits, lines, locate, macro_env};
pub use documents::document_text;
pub use error::{Fault, ProjectError};
pub use options::{ConfigOptions, CountingOptions, EndpointOptions, OnLoss, TurnOptions};
pub use sources::Sources;
pub use turn::Turn;
