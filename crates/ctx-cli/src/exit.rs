//! Exit codes, and which error gives which.

use std::process::ExitCode;

use ctx_chat::ClientError;
use ctx_compress::mask::SummaryFailure;
use ctx_engine::AssembleError;
use ctx_project::error::ProjectError;

/// How a run of `ctx` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well; warnings do not count.
    Success,
    /// What was looked at has faults.
    Findings,
    /// The command line makes no sense.
    Usage,
    /// A file cannot be read or written.
    Unreadable,
    /// A provider gave no answer that could be used.
    Provider,
    /// No context fits the budget.
    Impossible,
    /// Somebody stopped it, as shells count it: 128 and the number of the signal.
    Stopped,
    /// Exit code of a command that `ctx tap` ran.
    Command(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Exit {
    /// Returns the number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Unreadable => 3,
            Self::Provider => 4,
            Self::Impossible => 5,
            Self::Stopped => 130,
            Self::Command(code) => code,
        }
    }

    /// Returns the exit of an error; whatever is no other kind is a file that cannot be read or written.
    pub(crate) const fn of(error: &ProjectError) -> Self {
        match error {
            ProjectError::Usage(_) => Self::Usage,
            ProjectError::Endpoint(error) => Self::of_endpoint(error),
            ProjectError::Assemble(error) => Self::of_assembly(error),
            ProjectError::Overflow(_) => Self::Impossible,
            ProjectError::History(_) => Self::Findings,
            _ => Self::Unreadable,
        }
    }

    /// Returns the exit of an endpoint that cannot be used, before a request is sent.
    const fn of_endpoint(error: &ClientError) -> Self {
        match error {
            ClientError::KeyFile { .. } => Self::Unreadable,
            _ => Self::Usage,
        }
    }

    const fn of_assembly(error: &AssembleError) -> Self {
        match error {
            AssembleError::Budget(_) | AssembleError::Infeasible(_) => Self::Impossible,
            _ => Self::Findings,
        }
    }

    /// Returns the exit of a summary that could not be made.
    pub(crate) const fn of_summary(failure: &SummaryFailure) -> Self {
        match failure {
            SummaryFailure::WindowTooSmall { .. } | SummaryFailure::TooManyParts { .. } => Self::Impossible,
            _ => Self::Provider,
        }
    }
}
