//! The interface of a conversation store.

mod error;
mod file;
mod lease;
mod log;
mod notices;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod schema;
mod sqlite;
mod store_lease;
mod worker;

use std::time::Duration;

use async_trait::async_trait;
use ctx_types::session::{Session, SessionOp};
use tokio::sync::broadcast;

pub use error::{StoreError, StoreFault};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;
pub use store_lease::StoreLease;

/// Shortest and longest wait before the next attempt to acquire a lease. Each wait doubles the previous wait.
const WAITS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// Stores conversations as logs of steps.
///
/// A conversation is its latest checkpoint with the later steps applied. Its revision is the number of its steps. A
/// caller that appends passes the revision it has seen, so two writers cannot overwrite each other. Every call may be
/// canceled at any time: an append then happens completely or not at all.
#[async_trait]
pub trait ConversationStore: Send + Sync {
    /// Creates a conversation with a first checkpoint.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Exists`] if the id exists.
    async fn create(&self, id: &str, checkpoint: Session, at_millis: Option<i64>) -> Result<(), StoreError>;

    /// Returns the latest checkpoint of a conversation and the later steps.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotFound`], or [`StoreError::Damaged`] if the stored data is not a conversation.
    /// Implementations must check this, because a [`Session`] does not show the data it was read from.
    async fn load(&self, id: &str) -> Result<Stored, StoreError>;

    /// Returns the revision of a conversation. The default implementation loads the conversation.
    async fn revision(&self, id: &str) -> Result<u64, StoreError> {
        Ok(self.load(id).await?.revision)
    }

    /// Returns the steps after a revision, in order. The default implementation loads the conversation.
    ///
    /// Returns no steps if the conversation was deleted or has fewer steps. To detect this, also request the step
    /// before and compare it.
    ///
    /// # Errors
    ///
    /// Returns an error if a step in between is missing. The default implementation returns [`StoreError::NotFound`]
    /// if the revision does not exist.
    async fn since(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        let Stored { checkpoint, mut steps, .. } = self.load(id).await?;
        let known = revision.checked_sub(checkpoint.revision).and_then(|known| usize::try_from(known).ok());
        let known = known.filter(|known| *known <= steps.len());
        Ok(steps.split_off(known.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?))
    }

    /// Appends steps atomically and returns the new revision. The steps are durable when this returns.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Stale`] and appends nothing if the revision of the conversation is not `expected`.
    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError>;

    /// Replaces the checkpoint. Keeps the steps before it, but loading no longer reads them.
    ///
    /// Ignores a checkpoint that is older than the stored one.
    async fn checkpoint(&self, id: &str, checkpoint: Checkpoint) -> Result<(), StoreError>;

    /// Lists the conversations, most recently changed first.
    async fn list(&self) -> Result<Vec<ConversationEntry>, StoreError>;

    /// Counts the conversations with this id prefix. The default implementation lists all conversations.
    async fn count(&self, prefix: &str) -> Result<u64, StoreError> {
        Ok(self.list().await?.iter().filter(|entry| entry.id.starts_with(prefix)).count() as u64)
    }

    /// Acquires the lease of a conversation, which may not exist yet. No other process can then start a turn.
    ///
    /// Returns `None` if another turn still has the lease after `patience`. Also returns the steps after `revision`,
    /// like [`since`](Self::since); none if `revision` is `None` or the steps cannot be read.
    ///
    /// Leases order turns, but appends are safe without them. If a lease is lost, the store cancels
    /// [`StoreLease::lost`], and rejects appends with [`StoreError::LeaseLost`]. The default implementation has no
    /// leases, which is enough for a store with one process: the caller orders the turns of its own process.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be reached.
    async fn hold(
        &self,
        id: &str,
        revision: Option<u64>,
        _patience: Duration,
    ) -> Result<Option<(StoreLease, Vec<LogEntry>)>, StoreError> {
        let steps = match revision {
            Some(revision) => self.since(id, revision).await.unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Some((StoreLease::default(), steps)))
    }

    /// Deletes a conversation with all its data.
    async fn delete(&self, id: &str) -> Result<(), StoreError>;

    /// Returns the changes by all processes since a position in the store's journal, and the current position.
    /// Position 0 is the start.
    ///
    /// Deletions have no id, and only the latest deletion is returned.
    async fn changes(&self, since: u64) -> Result<(Vec<Notice>, u64), StoreError>;

    /// Subscribes to the changes by this process. [`ConversationStore::changes`] returns those by other processes.
    fn watch(&self) -> broadcast::Receiver<Notice>;

    /// Returns the context windows learned from rejected requests, ordered by model.
    async fn limits(&self) -> Result<Vec<LearnedLimit>, StoreError>;

    /// Stores a learned limit and replaces the previous limit of the model.
    async fn learn(&self, limit: LearnedLimit) -> Result<(), StoreError>;
}

/// Maximum tokens of the messages to a model, learned from a rejected request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedLimit {
    /// Model and server that rejected the request.
    pub model: String,
    /// Number of tokens, by our own count.
    pub tokens: u64,
    /// Time of the rejection, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_millis: i64,
}

/// A stored conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Latest checkpoint.
    pub checkpoint: Checkpoint,
    /// Steps after the checkpoint, in order.
    pub steps: Vec<LogEntry>,
    /// Total number of steps.
    pub revision: u64,
}

/// State of a conversation at a revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Number of steps before the checkpoint.
    pub revision: u64,
    /// The conversation in its file format, with the undo history.
    pub session: Session,
}

/// One step of a conversation's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Time of the step, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_millis: Option<i64>,
    /// The change.
    pub step: Step,
}

/// A change to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Applies an operation.
    Do {
        /// Label for the user.
        label: String,
        /// The operation.
        op: Box<SessionOp>,
    },
    /// Undoes the latest operation.
    Undo,
    /// Redoes the latest undone operation.
    Redo,
}

/// An entry in the list of conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationEntry {
    /// The id.
    pub id: String,
    /// Title, if there is one.
    pub name: Option<String>,
    /// Number of steps.
    pub revision: u64,
    /// Creation time, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_millis: Option<i64>,
    /// Time of the latest change.
    pub changed_millis: Option<i64>,
}

/// A change to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A conversation is new or has new steps.
    Changed {
        /// The conversation.
        id: String,
        /// Current number of steps.
        revision: u64,
    },
    /// A conversation was deleted.
    Deleted {
        /// Id of the conversation. Only the process that deleted it knows the id, because the store does not keep it.
        id: Option<String>,
    },
}
