//! Why a processor, or a whole run, came to nothing.

use std::sync::Arc;

/// Why a processor did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessorError {
    /// The processor says so.
    #[error("{message}")]
    Failed {
        /// What went wrong.
        message: String,
        /// What caused it.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// The time limit passed.
    #[error("the time limit passed")]
    TimedOut,
    /// The processor panicked.
    #[error("the processor panicked: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },
    /// The processor lost, doubled or separated members of a group.
    #[error("it lost, doubled or separated `{member}`, a member of a tool call's group")]
    BrokenGroup {
        /// The id of one such member.
        member: String,
    },
    /// No context can be made within the budget.
    #[error(transparent)]
    Infeasible(#[from] Box<dyn std::error::Error + Send + Sync>),
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
#[non_exhaustive]
pub enum RunError {
    /// A core processor failed.
    #[error("core processor `{id}` failed: {error}")]
    Core {
        /// The processor.
        id: Arc<str>,
        /// Why.
        #[source]
        error: ProcessorError,
    },
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}

/// Writes an error with its causes, outermost first.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    /// A chain of causes may lead back to itself.
    const MAX_CAUSES: usize = 8;
    let chain = std::iter::successors(Some(error), |error| error.source()).take(MAX_CAUSES);
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
