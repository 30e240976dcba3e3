//! Why a store did not do what it was asked for.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ctx_types::{Phrase, phrase};

/// Why the store did not do what it was asked for; the conversations are as they were.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such conversation.
    NotFound {
        /// The id.
        id: String,
    },
    /// There is one with this id already.
    Exists {
        /// The id.
        id: String,
    },
    /// Somebody else changed the conversation: load it again.
    Stale {
        /// The id.
        id: String,
        /// The revision that the caller had seen.
        expected: u64,
        /// The one that it has.
        found: u64,
    },
    /// A stored conversation cannot be read.
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
    Unsettled {
        /// The id.
        id: String,
    },
    /// The file was written by a newer version of this program.
    Newer {
        /// The version of the file.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// The file is a database, but no store: nothing in it was touched.
    Foreign,
    /// Whoever waited for a change gave up before the store had answered.
    GivenUp,
    /// Another process holds the store for too long.
    Busy(StoreFault),
    /// The file is no store, or is damaged.
    Corrupt(StoreFault),
    /// The disk is full, or the file cannot be written.
    Unwritable(StoreFault),
    /// Anything else that the database reports.
    Database(StoreFault),
    /// The store was closed, or its thread ended.
    Closed,
    /// Another turn has the lease of the conversation.
    Held {
        /// Id of the conversation.
        id: String,
    },
    /// The write failed because the open file was deleted or replaced.
    Replaced {
        /// Path of the file.
        path: PathBuf,
    },
    /// The store cannot be reached, or the connection to it broke.
    Unreachable(StoreFault),
}

impl StoreError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::NotFound { id } => phrase!("no conversation `{id}`", id),
            Self::Exists { id } => phrase!("a conversation `{id}` already exists", id),
            Self::Stale { id, found, expected } => phrase!(
                "the conversation `{id}` was changed by another process: it is at step {found}, not {expected}",
                id,
                found,
                expected
            ),
            Self::Damaged { id, step, fault } => {
                phrase!("the conversation `{id}` is damaged at step {step}: {fault}", id, step, fault)
            }
            Self::Session(error) => error.phrase(),
            Self::History(error) => error.phrase(),
            Self::Unsettled { id } => {
                phrase!("load the conversation `{id}` again: an earlier change was interrupted", id)
            }
            Self::Newer { found, known } => phrase!(
                "the store has version {found}; this program knows versions up to {known}",
                found,
                known
            ),
            Self::Foreign => phrase!("it is a database of another program"),
            Self::GivenUp => phrase!("the store took too long; the change may or may not be saved"),
            Self::Busy(_) => phrase!("the store is in use by another process"),
            Self::Corrupt(error) => phrase!("the store cannot be read: {error}", error = error.phrase()),
            Self::Unwritable(error) => {
                phrase!("the store cannot be written: {error}", error = error.phrase())
            }
            Self::Database(error) => phrase!("the store failed: {error}", error = error.phrase()),
            Self::Closed => phrase!("the store is closed"),
            Self::Held { id } => phrase!("another turn of the conversation `{id}` is under way", id),
            Self::Replaced { path } => phrase!(
                "the store `{path}` was deleted or replaced while open; restart the program",
                path = path.display().to_string()
            ),
            Self::Unreachable(error) => {
                phrase!("the store cannot be reached: {error}", error = error.phrase())
            }
        }
    }
}

/// What the database behind a store reports; shared, since several callers may hear of it.
#[derive(Clone)]
pub struct StoreFault(Arc<dyn Error + Send + Sync>);

impl StoreFault {
    /// Takes the error of a database.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// Returns the database's own error, for those who know which database it is.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl StoreFault {
    /// Takes over what the database says.
    fn phrase(&self) -> Phrase {
        Phrase::verbatim(self.to_string())
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for StoreFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
