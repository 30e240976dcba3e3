//! Reads agents, presets, conversations, user profiles and worldbooks of SillyTavern, AIO Hub, RisuAI and others.
//!
//! Also writes conversations, SillyTavern presets and cards, and AIO Hub agents. Takes bytes and opens no files.
//! Unknown fields are kept. An invalid value is a diagnostic. Only an unreadable document is an [`ImportError`].
//! [`Limits`] bounds every size.
//!
//! ```
//! use ctx_preset_import::{Format, read_agent, read_conversation};
//!
//! let preset = br#"[{ "role": "system", "content": "Be kind." }, { "type": "chat_history" }]"#;
//! let agent = read_agent(preset, "kind.json")?;
//! assert_eq!(agent.format, Format::PresetList);
//! assert_eq!(agent.value.preset_messages.len(), 2);
//!
//! let chat = b"messages:\n  - role: user\n    content: Hello\n";
//! let chat = read_conversation(chat, "chat.yaml")?;
//! assert!(chat.diagnostics.is_empty());
//! # Ok::<(), ctx_preset_import::ImportError>(())
//! ```
#![warn(clippy::disallowed_methods)]

mod agent;
pub mod codes;
mod container;
mod conversation;
mod document;
#[cfg(test)]
mod documented_fields;
mod error;
mod format;
mod formats;
mod groups;
mod import;
mod imported;
mod kept;
mod limits;
mod loose;
mod migrate;
mod parameters;
mod profile;
mod report;
mod source;
mod worldbook;

pub use agent::{AgentOrigin, agent_of, read_agent};
#[cfg(feature = "schema")]
pub use conversation::ChatMessage;
pub use conversation::{
    ConversationForm, RequestApi, RequestMessages, WrittenConversation, conversation_of, read_conversation,
    take_request_messages, write_conversation,
};
pub use document::{BadLine, Document, Syntax, decode, repaired_json, write_document};
pub use error::ImportError;
pub use format::{Format, detect};
pub use formats::aio_hub::export_agent;
pub use formats::sillytavern::{
    card_book, export_card, export_card_picture, export_preset, export_regex_scripts, read_regex_scripts,
};
pub use import::{Asset, AssetContent, Import, Importer, NamedBook, NamedConversation, SourceFile};
pub use imported::Imported;
pub use limits::Limits;
pub use migrate::{MigratedDocument, migrate, migrate_document};
pub use profile::read_profile;
pub use report::{FieldCounts, FieldReport, FieldStatus, FileReport, ImportReport};
pub use worldbook::{
    WorldbookOrigin, export_card_book, export_lorebook, export_worldbook, read_worldbook, worldbook_of,
};
