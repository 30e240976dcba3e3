//! Why a store did not do what it was asked for.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

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
    /// The file is a database, but no store: nothing in it was touched.
    #[error("it is a database of another program")]
    Foreign,
    /// Whoever waited for a change gave up before the store had answered.
    #[error("the store took too long, and may have it or not")]
    GivenUp,
    /// Another process holds the store for too long.
    #[error("the store is in use by another process")]
    Busy(StoreFault),
    /// The file is no store, or is damaged.
    #[error("the store cannot be read: {0}")]
    Corrupt(StoreFault),
    /// The disk is full, or the file cannot be written.
    #[error("the store cannot be written: {0}")]
    Unwritable(StoreFault),
    /// Anything else that the database reports.
    #[error("the store failed: {0}")]
    Database(StoreFault),
    /// The store was closed, or its thread ended.
    #[error("the store is closed")]
    Closed,
    /// The store cannot be reached, or the connection to it broke.
    #[error("the store cannot be reached: {0}")]
    Unreachable(StoreFault),
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
