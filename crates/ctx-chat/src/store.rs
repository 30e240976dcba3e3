//! The port behind which conversations are kept.

mod error;
mod file;
mod hold;
mod lease;
mod log;
mod notices;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod schema;
mod sqlite;
mod worker;

use std::time::Duration;

use async_trait::async_trait;
use ctx_types::{NodeId, Session, SessionOp};
use tokio::sync::broadcast;

pub use error::{StoreError, StoreFault};
pub use hold::Hold;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;

/// Shortest and longest wait before the next attempt to acquire a lease. Each wait doubles the previous wait.
const WAITS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

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
    async fn create(&self, id: &str, checkpoint: Session, at_millis: Option<i64>) -> Result<(), StoreError>;

    /// Returns the latest checkpoint of a conversation and the steps after it.
    ///
    /// Errors: [`StoreError::NotFound`], and [`StoreError::Damaged`] where what is stored is no conversation: whoever
    /// implements it must tell, since a [`Session`] does not say what it was read from.
    async fn load(&self, id: &str) -> Result<Stored, StoreError>;

    /// Returns the revision of a conversation; by default by loading all of it.
    async fn revision(&self, id: &str) -> Result<u64, StoreError> {
        Ok(self.load(id).await?.revision)
    }

    /// Returns the steps after a revision, in order; by default by loading all of the conversation.
    ///
    /// What is gone, or has fewer steps, has none: whoever must know asks for the step before too, and compares it.
    /// Errors: where a step between is missing, and by default [`StoreError::NotFound`] where there is no such revision.
    async fn since(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        let Stored { checkpoint, mut steps, .. } = self.load(id).await?;
        let known = revision.checked_sub(checkpoint.revision).and_then(|known| usize::try_from(known).ok());
        let known = known.filter(|known| *known <= steps.len());
        Ok(steps.split_off(known.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?))
    }

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

    /// Counts the conversations whose ids begin so; by default by listing all of them.
    async fn count(&self, prefix: &str) -> Result<u64, StoreError> {
        Ok(self.list().await?.iter().filter(|entry| entry.id.starts_with(prefix)).count() as u64)
    }

    /// Holds a conversation, which need not be there yet, so that no other process begins a turn of it; nothing if another
    /// still holds it after `patience`. Returns also its steps after a revision, as [`since`](Self::since) would now; none
    /// where none is given, or they cannot be read. Errors: the store cannot be reached.
    ///
    /// It orders turns and protects nothing: appends are safe without it. By default nothing is held, which is enough
    /// for a store that one process uses; within a process, the caller keeps the order.
    async fn hold(
        &self,
        id: &str,
        revision: Option<u64>,
        _patience: Duration,
    ) -> Result<Option<(Hold, Vec<LogEntry>)>, StoreError> {
        let steps = match revision {
            Some(revision) => self.since(id, revision).await.unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Some((Hold::default(), steps)))
    }

    /// Gives messages of a conversation marks, each in place of what had that mark; they go with the conversation. What is
    /// not there is given none. By default marks are not kept.
    async fn mark(&self, _id: &str, _marks: Vec<(Mark, NodeId)>) -> Result<(), StoreError> {
        Ok(())
    }

    /// Finds the first of these marks that a message has; by default none.
    async fn marked(&self, _marks: &[Mark]) -> Result<Option<Marked>, StoreError> {
        Ok(None)
    }

    /// Removes a conversation and every trace of it from the store.
    async fn delete(&self, id: &str) -> Result<(), StoreError>;

    /// Returns which conversations changed since a place of the store's journal, in any process, and the place
    /// now; 0 is the beginning.
    ///
    /// Of conversations that were deleted it says only that there were some, as the latest of all deletions.
    async fn changes(&self, since: u64) -> Result<(Vec<Notice>, u64), StoreError>;

    /// Hears of changes that this process makes; [`ConversationStore::changes`] tells of others'.
    fn watch(&self) -> broadcast::Receiver<Notice>;

    /// Returns what refusals taught of the windows of models, ordered by model.
    async fn limits(&self) -> Result<Vec<LearnedLimit>, StoreError>;

    /// Keeps what a refusal taught, in place of what was known of the model.
    async fn learn(&self, limit: LearnedLimit) -> Result<(), StoreError>;
}

/// What a host finds a message by, in whatever conversation it is, such as the hash of all that was said up to there.
pub type Mark = [u8; 16];

/// A message that has a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The mark.
    pub mark: Mark,
    /// The conversation.
    pub conversation: String,
    /// The message.
    pub node: NodeId,
}

/// How many tokens messages to a model may have, as a refusal showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedLimit {
    /// The model and the server that refused.
    pub model: String,
    /// The tokens, as we count them.
    pub tokens: u64,
    /// When it was learned, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_millis: i64,
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
    pub session: Session,
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

/// Describes what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A conversation is new, or has more steps.
    Changed {
        /// The conversation.
        id: String,
        /// The number of its steps now.
        revision: u64,
    },
    /// A conversation is gone.
    Deleted {
        /// Which; known only in the process that deleted it, since nothing of it is kept.
        id: Option<String>,
    },
}
