//! Stores conversations, sends them to a model, and runs tools.
//!
//! Each conversation is a log of operations in SQLite or PostgreSQL. A write returns when it is durable. Chat
//! applications need no other crate of this workspace: it re-exports `ctx-engine` as [`engine`].
//!
//! ```
//! use ctx_chat::engine::prelude::{Node, Role};
//! use ctx_chat::{Conversation, SqliteStore};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = SqliteStore::in_memory()?;
//! let mut chat = Conversation::create(&store, "c1", None).await?;
//! chat.append(&store, Node::new(Role::User, "hello"), None).await?;
//!
//! let again = Conversation::load(&store, "c1").await?;
//! assert_eq!(again.session(), chat.session());
//! # Ok::<(), ctx_chat::StoreError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod assets;
mod briefing;
mod client;
pub mod codes;
mod conversation;
mod deadline;
mod error;
pub mod files;
mod folder;
#[cfg(doctest)]
mod guide;
mod learned;
mod model;
mod private;
mod recovery;
mod settings;
mod spill;
mod step_label;
mod store;
mod summarizer;
mod tools;
mod turn;
mod url;

pub use briefing::{Briefing, Mode, Persona, data_context, extra_message, run_directive, user_input};
/// The body of a request, shared and not copied.
pub use bytes::Bytes;
pub use client::{ApiKey, AudioTranscriber, Client, Endpoint, RawResponse, RetryPolicy, TimeLimits};
pub use conversation::{Conversation, LogPosition};
pub use ctx_engine as engine;
pub use ctx_wire::{Delta, Reply, ReplyUsage};
pub use deadline::TokioDeadline;
pub use error::{ClientError, Phase};
pub use folder::FolderTools;
pub use learned::LearnedLimits;
pub use model::{ChatModel, Progress, RequestFailure, Watch};
pub use private::create_private_folder;
pub use recovery::INTERRUPTED;
pub use settings::with_compression;
pub use spill::{SpillFolder, Spilled};
pub use step_label::StepLabel;
#[cfg(feature = "postgres")]
pub use store::PostgresStore;
pub use store::{
    Checkpoint, ConversationEntry, ConversationStore, LearnedLimit, LogEntry, Notice, SqliteStore, Step,
    StoreError, StoreFault, StoreLease, Stored,
};
pub use summarizer::ModelSummarizer;
pub use tools::{Approval, Tool, ToolError, ToolHost, ToolLimits, ToolPolicy, ToolRules, Verdict};
pub use turn::{
    Chat, ChatLog, Masks, MessageTags, RequestBody, RequestCompression, RequestShape, Target, ToolAccess,
    TurnEnd, TurnError, TurnEvent, TurnFailure, TurnOutcome, TurnPreview, TurnRequest, TurnWatch,
    UnstoredConversation, UsageLevel, compress_conversation, preview_turn, run_turn, run_unstored_turn,
    sampling, within,
};
pub use url::{redact_text, redact_url, text_secrets, url_origin, url_secrets};
