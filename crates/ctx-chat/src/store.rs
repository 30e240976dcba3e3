//! The port behind which conversations are kept.

mod schema;
mod sqlite;
mod worker;

use async_trait::async_trait;
use ctx_types::SessionOp;
use serde_json::Value;
use tokio::sync::broadcast;

pub use sqlite::SqliteStore;

/// Keeps conversations as logs of steps.
///
/// A conversation is what its steps come to, from its latest checkpoint on. The revision of a conversation is
/// the number of its steps; whoever appends names the one he has seen, so that no two writers overwrite each
/// other. Every call may be given up at any time: an append then either happened as a whole or not at all.
#[async_trait]
pub trait ConversationStore: Send + Sync {
    /// Begins a conversation with a first checkpoint.
    ///
    /// Errors: [`StoreError::Exists`].
    async fn create(&self, id: &str, checkpoint: Value, at_millis: Option<i64>) -> Result<(), StoreError>;

    /// Returns the latest checkpoint of a conversation and the steps after it.
    async fn load(&self, id: &str) -> Result<Stored, StoreError>;

    /// Adds steps as one unit, which are durable when this returns, and returns the new revision.
    ///
    /// Errors: [`StoreError::Stale`] if the conversation has another revision than `expected`; then nothing
    /// was added.
    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError>;

    /// Replaces the checkpoint, so that loading need not walk the steps before it; the steps are kept.
    ///
    /// One for an older revision than the stored one is ignored.
    async fn checkpoint(&self, id: &str, checkpoint: Checkpoint) -> Result<(), StoreError>;

    /// Lists the conversations, the latest changed first.
    async fn list(&self) -> Result<Vec<ConversationEntry>, StoreError>;

    /// Removes a conversation and every trace of it from the store.
    async fn delete(&self, id: &str) -> Result<(), StoreError>;

    /// Returns which conversations changed since a place of the store's journal, in any process, and the place
    /// now; 0 is the beginning.
    async fn changes(&self, since: u64) -> Result<(Vec<Notice>, u64), StoreError>;

    /// Hears of changes that this process makes; [`ConversationStore::changes`] tells of others'.
    fn watch(&self) -> broadcast::Receiver<Notice>;
}

/// A stored conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Where loading begins.
    pub checkpoint: Checkpoint,
    /// The steps after the checkpoint, in order.
    pub steps: Vec<LogEntry>,
    /// The number of steps in all.
    pub revision: u64,
}

/// What a conversation had come to at a revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The number of steps that it covers.
    pub revision: u64,
    /// The conversation as a file has it, with the log of what can be undone.
    pub session: Value,
}

/// One step of a conversation's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// When it was taken, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_millis: Option<i64>,
    /// What was done.
    pub step: Step,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Carries out an operation.
    Do {
        /// What it is called, for people.
        label: String,
        /// The operation.
        op: Box<SessionOp>,
    },
    /// Takes the latest operation back.
    Undo,
    /// Carries out again what was taken back last.
    Redo,
}

/// A line of the list of conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationEntry {
    /// The id.
    pub id: String,
    /// The title, if it has one.
    pub name: Option<String>,
    /// The number of its steps.
    pub revision: u64,
    /// When it was begun, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_millis: Option<i64>,
    /// When it was changed last.
    pub changed_millis: Option<i64>,
}

/// Says that a conversation changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The conversation.
    pub id: String,
    /// Its revision now; `None` if it was deleted.
    pub revision: Option<u64>,
}

/// Why the store did not do what it was asked for; the conversations are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such conversation.
    #[error("there is no conversation `{id}`")]
    NotFound {
        /// The id.
        id: String,
    },
    /// There is one with this id already.
    #[error("there is a conversation `{id}` already")]
    Exists {
        /// The id.
        id: String,
    },
    /// Somebody else changed the conversation: load it again.
    #[error("the conversation `{id}` was changed by somebody else: it is at step {found}, not {expected}")]
    Stale {
        /// The id.
        id: String,
        /// The revision that the caller had seen.
        expected: u64,
        /// The one that it has.
        found: u64,
    },
    /// A stored conversation cannot be read.
    #[error("the conversation `{id}` is damaged at step {step}: {fault}")]
    Damaged {
        /// The id.
        id: String,
        /// The step; 0 is the checkpoint.
        step: u64,
        /// What is wrong.
        fault: String,
    },
    /// An operation does not fit the conversation.
    #[error(transparent)]
    Session(#[from] ctx_types::SessionError),
    /// Nothing can be undone or redone, or not any more.
    #[error(transparent)]
    History(#[from] ctx_types::HistoryError),
    /// An earlier change was given up midway, so what is in memory may differ from the store: load it again.
    #[error("the conversation `{id}` has to be loaded again: an earlier change was given up midway")]
    Unsettled {
        /// The id.
        id: String,
    },
    /// The file was written by a newer version of this program.
    #[error("the store has version {found}; this program knows versions up to {known}")]
    Newer {
        /// The version of the file.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// Another process holds the store for too long.
    #[error("the store is in use by another process")]
    Busy(#[source] rusqlite::Error),
    /// The file is no store, or is damaged.
    #[error("the store cannot be read: {0}")]
    Corrupt(#[source] rusqlite::Error),
    /// The disk is full, or the file cannot be written.
    #[error("the store cannot be written: {0}")]
    Unwritable(#[source] rusqlite::Error),
    /// Anything else that the database reports.
    #[error("the store failed: {0}")]
    Database(#[source] rusqlite::Error),
    /// The store was closed, or its thread ended.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(error),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => Self::Unwritable(error),
            _ => Self::Database(error),
        }
    }
}
