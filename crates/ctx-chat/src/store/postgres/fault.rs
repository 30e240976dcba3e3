//! What a server or the way to it reports, as errors of stores.

use std::error::Error;
use std::fmt;

use tokio_postgres::error::SqlState;

use crate::store::{StoreError, StoreFault};

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let state = error.code().cloned();
        let fault = StoreFault::new(ServerError(error));
        let Some(state) = state else { return Self::Unreachable(fault) };
        match state {
            SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED => Self::Busy(fault),
            SqlState::DISK_FULL
            | SqlState::READ_ONLY_SQL_TRANSACTION
            | SqlState::INSUFFICIENT_PRIVILEGE
            | SqlState::INVALID_SCHEMA_NAME => Self::Unwritable(fault),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Self::Corrupt(fault),
            SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
                Self::Unreachable(fault)
            }
            // Connections, and who may have one; no such database.
            state if ["08", "28", "3D"].iter().any(|class| state.code().starts_with(class)) => {
                Self::Unreachable(fault)
            }
            _ => Self::Database(fault),
        }
    }
}

/// An error in the words of the server, else with its causes.
struct ServerError(tokio_postgres::Error);

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(told) = self.0.as_db_error() {
            return f.write_str(told.message());
        }
        let mut words = self.0.to_string();
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let more = error.to_string();
            if !words.ends_with(&more) {
                words = format!("{words}: {more}");
            }
            cause = error.source();
        }
        f.write_str(&words)
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ServerError {}
