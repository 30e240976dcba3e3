//! Why something of a project cannot be done.

use ctx_chat::files::reason;
use ctx_chat::{ClientError, StoreError};
use ctx_compress::request::Overflow;
use ctx_engine::AssembleError;
use ctx_types::session::HistoryError;
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::sources::Mark;

/// What is given back where a project cannot be used as asked.
pub type Result<T, E = ProjectError> = std::result::Result<T, E>;

/// Why something of a project cannot be done. What is odd and stops nothing is a finding instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// What was asked for makes no sense; asked otherwise it may.
    #[error("{0}")]
    Usage(Phrase),
    /// A file or a folder cannot be read, written or used; the text names it and says why.
    #[error("{0}")]
    Unusable(Phrase),
    /// A document cannot be used.
    #[error("{}", .0.finding)]
    Fault(Box<Fault>),
    /// The endpoint of a model, or its key.
    #[error(transparent)]
    Endpoint(#[from] ClientError),
    /// No context can be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The messages that must stay exceed a budget.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// A step in a conversation cannot be taken, taken back or done again.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The store of conversations did not do what it was asked for.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ProjectError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Usage(phrase) | Self::Unusable(phrase) => phrase.clone(),
            Self::Fault(fault) => fault.finding.message.clone(),
            Self::Endpoint(error) => error.phrase(),
            Self::Assemble(error) => error.phrase(),
            Self::Overflow(error) => error.phrase(),
            Self::History(error) => error.phrase(),
            Self::Store(error) => error.phrase(),
        }
    }
}

/// A finding that makes a document useless, and its place.
#[derive(Debug)]
pub struct Fault {
    /// What is wrong.
    pub finding: Diagnostic,
    /// Where in the text of the file it stands, if that is known.
    pub mark: Option<Mark>,
}

/// Explains why work cannot begin.
pub fn not_started(error: &std::io::Error) -> ProjectError {
    ProjectError::Unusable(phrase!("cannot start: {error}", error = reason(error)))
}

/// Reports that a file or a folder cannot be used.
#[doc(hidden)]
#[macro_export]
macro_rules! unusable {
    ($($text:tt)*) => {
        $crate::error::ProjectError::Unusable(ctx_types::phrase!($($text)*))
    };
}
pub(crate) use unusable;
