use std::sync::Arc;

use ctx_types::{Phrase, phrase};

/// Result of a processor.
pub type ProcessorResult = Result<(), ProcessorError>;

/// Failure of a processor.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum ProcessorError {
    /// The processor returned an error.
    Failed {
        /// Error message.
        message: String,
    },
    /// The run was cancelled.
    Cancelled,
    /// The time limit passed.
    TimedOut,
    /// The processor panicked.
    Panicked {
        /// Panic message.
        message: String,
    },
    /// The processor removed, duplicated or separated members of a message group.
    BrokenGroup {
        /// Id of one such member.
        member: String,
    },
    /// No context fits the budget.
    #[error(transparent)]
    Infeasible(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl ProcessorError {
    /// Formats the error as a translatable phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Failed { message } => Phrase::verbatim(message.as_str()),
            Self::Cancelled => phrase!("the run was cancelled"),
            Self::TimedOut => phrase!("timed out"),
            Self::Panicked { message } => phrase!("the processor panicked: {message}", message),
            Self::BrokenGroup { member } => {
                phrase!("it removed, duplicated, or separated `{member}` from its tool call group", member)
            }
            Self::Infeasible(error) => Phrase::verbatim(error.to_string()),
        }
    }

    /// Creates a failure; write the message in lower case without a full stop.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// Failure of a run.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum RunError {
    /// A core processor failed.
    Core {
        /// Processor id.
        id: Arc<str>,
        /// Cause.
        #[source]
        error: ProcessorError,
    },
    /// The run was cancelled.
    Cancelled,
}

impl RunError {
    /// Formats the error as a translatable phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Core { id, error } => {
                phrase!("core processor `{id}` failed: {error}", id, error = error.phrase())
            }
            Self::Cancelled => phrase!("the run was cancelled"),
        }
    }
}
