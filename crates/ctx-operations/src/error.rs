//! Why an operation gives nothing.

use ctx_engine::{AssembleError, ImportError};
use ctx_types::{Diagnostic, Phrase};
use serde::Serialize;

use crate::texts::{Position, Texts};

/// Why an operation gives nothing: what exceptions of other languages carry.
///
/// What is odd about a document and stops nothing is a finding in the result instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct OperationError {
    /// The code of a finding, such as `CTX0600`; else `usage`, `budget`, `infeasible`, `cancelled`, `processor`,
    /// `provider` or `absent` (a feature that the build has not).
    pub code: String,
    /// One sentence: lower case, no full stop.
    pub message: String,
    /// The JSON pointer of what is wrong, in the document or in what the operation was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The document, line and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Box<Position>>,
    /// The way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl OperationError {
    /// An error of a kind that has no finding.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they have just made")]
    pub fn new(code: &str, message: impl ToString) -> Self {
        Self {
            code: code.to_owned(),
            message: message.to_string(),
            pointer: None,
            position: None,
            help: None,
        }
    }

    /// What was asked for makes no sense; asked otherwise it may.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they have just made")]
    pub fn usage(message: impl ToString) -> Self {
        Self::new("usage", message.to_string())
    }

    /// The error of a finding that leaves nothing to go on with.
    pub fn of_finding(finding: &Diagnostic, texts: &Texts) -> Self {
        let position = texts.positions(std::slice::from_ref(finding)).pop().flatten();
        Self {
            code: finding.code.to_string(),
            message: finding.message.to_string(),
            pointer: finding.location.pointer.clone(),
            position: position.map(Box::new),
            help: finding.help.as_ref().map(Phrase::to_string),
        }
    }

    /// The error of what a build without a feature has not.
    pub(crate) fn absent(what: &str, feature: &str) -> Self {
        Self::new("absent", format!("this build {what}: build it with the feature `{feature}`"))
    }

    /// The error of a document that cannot be read.
    pub(crate) fn of_document(error: &ImportError, name: &str, bytes: &[u8]) -> Self {
        let mut texts = Texts::default();
        texts.add(name, bytes);
        Self::of_finding(&texts.explained(name, error), &texts)
    }
}

impl From<AssembleError> for OperationError {
    fn from(error: AssembleError) -> Self {
        let code = match &error {
            AssembleError::Budget(_) => "budget",
            AssembleError::Infeasible(_) => "infeasible",
            AssembleError::Cancelled => "cancelled",
            _ => "processor",
        };
        Self::new(code, error.phrase())
    }
}
