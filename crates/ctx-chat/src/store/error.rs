//! Errors of a conversation store.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ctx_types::{Phrase, phrase};

/// An error of a conversation store. The stored conversations are unchanged.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum StoreError {
    /// The conversation does not exist.
    NotFound {
        /// The id.
        id: String,
    },
    /// The id exists already.
    Exists {
        /// The id.
        id: String,
    },
    /// Another request changed the conversation. Load it again.
    Stale {
        /// The id.
        id: String,
        /// Revision that the caller has seen.
        expected: u64,
        /// Current revision.
        found: u64,
    },
    /// A stored conversation cannot be read.
    Damaged {
        /// The id.
        id: String,
        /// Number of the step; 0 is the checkpoint.
        step: u64,
        /// Description of the damage.
        fault: String,
    },
    /// An operation does not fit the conversation.
    #[error(transparent)]
    Session(#[from] ctx_types::session::SessionError),
    /// Nothing can be undone or redone.
    #[error(transparent)]
    History(#[from] ctx_types::session::HistoryError),
    /// An earlier change was canceled, so the conversation in memory may differ from the store. Load it again.
    Unsettled {
        /// The id.
        id: String,
    },
    /// A newer version of this program wrote the file.
    Newer {
        /// Version of the file.
        found: i64,
        /// Newest supported version.
        known: i64,
    },
    /// The file is a database of another program. It was not changed.
    Foreign,
    /// The caller canceled the change before the store confirmed it.
    GivenUp,
    /// Another process locks the store for too long.
    Busy(StoreFault),
    /// The file is damaged or not a store.
    Corrupt(StoreFault),
    /// The disk is full, or the file cannot be written.
    Unwritable(StoreFault),
    /// Any other error of the database.
    Database(StoreFault),
    /// The store is closed, or its thread has ended.
    Closed,
    /// Another turn has the lease of the conversation.
    Held {
        /// Id of the conversation.
        id: String,
    },
    /// Another turn has acquired the lease, because this turn did not renew it in time. The turn must end.
    LeaseLost {
        /// Id of the conversation.
        id: String,
    },
    /// The write failed because the open file was deleted or replaced.
    Replaced {
        /// Path of the file.
        path: PathBuf,
    },
    /// The store cannot be reached, or the connection broke.
    Unreachable(StoreFault),
}

impl StoreError {
    /// Describes the error.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::NotFound { id } => phrase!("no conversation `{id}`", id),
            Self::Exists { id } => phrase!("conversation `{id}` already exists", id),
            Self::Stale { id, found, expected } => phrase!(
                "another process changed the conversation `{id}`: it is at revision {found}, not {expected}",
                id,
                found,
                expected
            ),
            Self::Damaged { id, step, fault } => {
                phrase!("the conversation `{id}` is damaged at revision {step}: {fault}", id, step, fault)
            }
            Self::Session(error) => error.phrase(),
            Self::History(error) => error.phrase(),
            Self::Unsettled { id } => {
                phrase!("reload the conversation `{id}`: an earlier change was interrupted", id)
            }
            Self::Newer { found, known } => phrase!(
                "the store has version {found}; this program supports up to {known}; update the program",
                found,
                known
            ),
            Self::Foreign => phrase!("the file is a database of another program"),
            Self::GivenUp => phrase!("the store timed out; the change may not be saved"),
            Self::Busy(_) => phrase!("another process is using the store"),
            Self::Corrupt(error) if error.to_string().contains("not a database") => {
                phrase!("the file is not a conversation store; use another path for `--store`")
            }
            Self::Corrupt(error) => phrase!("cannot read the store: {error}", error = error.phrase()),
            Self::Unwritable(error) => {
                phrase!("cannot write to the store: {error}", error = error.phrase())
            }
            Self::Database(error) => phrase!("the store failed: {error}", error = error.phrase()),
            Self::Closed => phrase!("the store is closed"),
            Self::Held { id } => phrase!("another turn of the conversation `{id}` is running", id),
            Self::LeaseLost { id } => phrase!(
                "another turn of the conversation `{id}` started, because this one did not respond for 10 seconds",
                id
            ),
            Self::Replaced { path } => phrase!(
                "the store `{path}` was deleted or replaced while open; restart the program",
                path = path.display().to_string()
            ),
            Self::Unreachable(error) => {
                phrase!("cannot reach the store: {error}", error = error.phrase())
            }
        }
    }
}

/// An error of the database. Several callers may share it.
#[derive(Clone)]
pub struct StoreFault(Arc<dyn Error + Send + Sync>);

impl StoreFault {
    /// Wraps an error of a database.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// Returns the original error of the database.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl StoreFault {
    /// Passes on the message of the database.
    fn phrase(&self) -> Phrase {
        Phrase::original(self.to_string())
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
