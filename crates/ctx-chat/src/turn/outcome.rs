//! How turns end.

use ctx_compress::request::{ContextUsage, Overflow};
use ctx_engine::AssembleError;
use ctx_types::report::Report;
use ctx_types::session::NodeId;
use ctx_types::{Phrase, Text, ToolCall, phrase};
use ctx_wire::ReplyUsage;

use crate::error::ClientError;
use crate::model::RequestFailure;
use crate::store::StoreError;
use crate::turn::{Running, TurnEvent};

/// What came of a turn.
#[derive(Debug, Default)]
pub struct TurnEnd {
    /// How it ended.
    pub outcome: TurnOutcome,
    /// The words of the answer, as far as they came.
    pub text: Text,
    /// The message that has them.
    pub answer: Option<NodeId>,
    /// Tool calls of the reply, with their stored ids.
    pub calls: Vec<ToolCall>,
    /// How often the model was asked.
    pub rounds: usize,
    /// How much of its budget the last request used.
    pub usage: Option<ContextUsage>,
    /// What the provider counted in all rounds together.
    pub provider_usage: ReplyUsage,
    /// What explains the context that was assembled, if one was.
    pub report: Option<Box<Report>>,
    /// How many tokens messages may have at the most, as the provider's refusal of more showed in this turn.
    pub learned_budget: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The model answered.
    #[default]
    Answered,
    /// The caller cancelled.
    Aborted,
    /// Something went wrong; the conversation says what.
    Failed(TurnFailure),
}

/// What went wrong in a turn.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum TurnFailure {
    /// The model gave no answer.
    #[error(transparent)]
    Model(ClientError),
    /// There is no context for it.
    #[error(transparent)]
    Context(AssembleError),
    /// What would be stored does not fit the conversation; only previews, which store nothing, end so.
    #[error(transparent)]
    Conversation(StoreError),
    /// What must be sent is larger than what may be.
    TooLarge(Box<Overflow>),
    /// The answer has neither words nor calls.
    Blank,
    /// The provider filtered the reply, or the model refused.
    Filtered,
    /// The model still called tools when it had been asked as often as allowed.
    TooManyRounds {
        /// How often it was asked.
        rounds: usize,
    },
}

impl TurnFailure {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Model(error) => error.phrase(),
            Self::Context(error) => error.phrase(),
            Self::Conversation(error) => error.phrase(),
            Self::TooLarge(error) => phrase!("the request is too large: {error}", error = error.phrase()),
            Self::Blank => phrase!("the model returned an empty response"),
            Self::Filtered => phrase!(
                "the response is empty: the provider's content filter blocked it, or the model refused"
            ),
            Self::TooManyRounds { rounds } => {
                phrase!("stopped after {rounds} requests; send `continue` to resume", rounds)
            }
        }
    }
}

impl TurnFailure {
    /// Returns the short code under which the failure is stored.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Model(error) => error.code(),
            Self::Context(AssembleError::Infeasible(_) | AssembleError::Budget(_)) | Self::TooLarge(_) => {
                "CONTEXT_TOO_LARGE"
            }
            Self::Context(_) => "CONTEXT_FAILED",
            Self::Conversation(_) => "CONVERSATION_FAILED",
            Self::Blank => "LLM_BLANK",
            Self::Filtered => "LLM_FILTERED",
            Self::TooManyRounds { .. } => "TOO_MANY_ROUNDS",
        }
    }
}

/// The store failed in the middle of a turn.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct TurnError {
    /// Why.
    #[source]
    pub source: StoreError,
    /// The words that could not be stored.
    pub unstored: Text,
}

/// Why a turn goes no further.
#[derive(Debug)]
pub(super) enum Stop {
    Answered,
    /// With what came of the answer.
    Aborted(Text),
    /// With what came of the answer.
    Failed(TurnFailure, Text),
    Store(TurnError),
}

impl Stop {
    pub(super) fn store(source: StoreError, unstored: &str) -> Self {
        Self::Store(TurnError { source, unstored: unstored.into() })
    }
}

impl From<TurnFailure> for Stop {
    fn from(failure: TurnFailure) -> Self {
        Self::Failed(failure, Text::default())
    }
}

impl From<AssembleError> for Stop {
    fn from(error: AssembleError) -> Self {
        match error {
            AssembleError::Cancelled => Self::Aborted(Text::default()),
            error => TurnFailure::Context(error).into(),
        }
    }
}

impl From<RequestFailure> for Stop {
    fn from(failure: RequestFailure) -> Self {
        let partial = failure.partial.map(|reply| reply.text).unwrap_or_default();
        match failure.cause {
            ClientError::Cancelled => Self::Aborted(partial),
            cause => Self::Failed(TurnFailure::Model(cause), partial),
        }
    }
}

impl Running<'_, '_> {
    /// Stores what there is to be stored at the end.
    pub(super) async fn finish(mut self, stop: Stop) -> Result<TurnEnd, TurnError> {
        let (outcome, partial) = match stop {
            Stop::Answered => return Ok(self.end),
            Stop::Store(error) => return Err(error),
            Stop::Aborted(partial) => (TurnOutcome::Aborted, partial),
            Stop::Failed(failure, partial) => (TurnOutcome::Failed(failure), partial),
        };
        if self.recorder.stores() {
            self.record_end(&outcome, &partial).await?;
        }
        self.end.outcome = outcome;
        self.end.text = partial;
        Ok(self.end)
    }

    async fn record_end(&mut self, outcome: &TurnOutcome, partial: &Text) -> Result<(), TurnError> {
        let is_continued = self.extend(partial).await?;
        let partial = if is_continued { "" } else { partial.as_str() };
        let node = match outcome {
            TurnOutcome::Failed(failure) => {
                self.request.tags.error(partial, failure.code(), &failure.to_string())
            }
            _ if partial.trim().is_empty() => return Ok(()),
            _ => self.request.tags.aborted(&partial.into()),
        };
        let added = self.recorder.add(node).await;
        let (id, message) = added.map_err(|source| TurnError { source, unstored: partial.into() })?;
        self.end.answer = Some(id.clone());
        self.emit(TurnEvent::Stored { id, role: message.role });
        Ok(())
    }
}
