//! Why a processor, or a whole run, failed.

use std::sync::Arc;

use ctx_types::{Phrase, phrase};

/// Why a processor did not do its work.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum ProcessorError {
    /// The processor says so.
    Failed {
        /// What went wrong.
        message: String,
        /// What caused it.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The run was cancelled.
    Cancelled,
    /// The time limit passed.
    TimedOut,
    /// The processor panicked.
    Panicked {
        /// What it said.
        message: String,
    },
    /// The processor lost, doubled or separated members of a group.
    BrokenGroup {
        /// The id of one such member.
        member: String,
    },
    /// No context can be made within the budget.
    #[error(transparent)]
    Infeasible(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl ProcessorError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Failed { message, .. } => Phrase::verbatim(message.as_str()),
            Self::Cancelled => phrase!("the run was cancelled"),
            Self::TimedOut => phrase!("timed out"),
            Self::Panicked { message } => phrase!("the processor panicked: {message}", message),
            Self::BrokenGroup { member } => {
                phrase!("it removed, duplicated, or separated `{member}` from its tool call group", member)
            }
            Self::Infeasible(error) => Phrase::verbatim(error.to_string()),
        }
    }
}

impl ProcessorError {
    /// A failure with a message: lower case, no full stop.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// A failure with a message and its cause; the message does not repeat the cause.
    pub fn caused_by(
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { message: message.into(), source: Some(source.into()) }
    }
}

/// Why a run gives no context.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum RunError {
    /// A core processor failed.
    Core {
        /// The processor.
        id: Arc<str>,
        /// Why.
        #[source]
        error: ProcessorError,
    },
    /// The run was cancelled.
    Cancelled,
}

impl RunError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Core { id, error } => {
                phrase!("core processor `{id}` failed: {error}", id, error = error.phrase())
            }
            Self::Cancelled => phrase!("the run was cancelled"),
        }
    }
}

/// Writes an error with its causes, outermost first.
pub(crate) fn with_causes(error: &ProcessorError) -> Phrase {
    /// A chain of causes may lead back to itself.
    const MAX_CAUSES: usize = 8;
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let causes: Vec<String> = causes.take(MAX_CAUSES).map(ToString::to_string).collect();
    if causes.is_empty() {
        return error.phrase();
    }
    phrase!("{error}: {causes}", error = error.phrase(), causes = causes.join(": "))
}
