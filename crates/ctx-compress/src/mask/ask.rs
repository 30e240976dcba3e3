//! Requests to a summarizer, with time limit and retries.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;

use ctx_types::ports::{Deadline, PortError, PortErrorKind, Summarizer, SummaryAnswer, SummaryRequest};
use ctx_types::{Phrase, Text, phrase};

use crate::mask::accept::{Bounds, SummaryFault, accept};
use crate::mask::draft::Summarizing;
use crate::mask::plan::MaskPlan;
use crate::mask::prompt;

/// Why there is no summary; the session is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SummaryFailure {
    /// The summarizer reports an error.
    Port {
        /// The kind of error.
        kind: PortErrorKind,
        /// The message.
        detail: Phrase,
    },
    /// The summarizer timed out.
    TimedOut {
        /// The limit.
        seconds: u32,
    },
    /// The caller's deadline passed, or the caller canceled.
    Stopped,
    /// The summarizer panicked.
    Panicked,
    /// The response is not a summary.
    Unusable(SummaryFault),
    /// The prompt exceeds the context window of the summarizer.
    WindowTooSmall {
        /// The context window.
        window: u32,
        /// The required tokens.
        needed: u64,
    },
    /// The messages need too many parts.
    TooManyParts {
        /// Number of parts.
        parts: usize,
        /// The limit.
        most: usize,
    },
    /// There is neither a summarizer nor `extract`.
    NoSummarizer,
    /// The messages' own sentences are not a summary.
    NoExtract(SummaryFault),
}

impl SummaryFailure {
    /// Returns the failure as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Port { kind, detail } => {
                phrase!(
                    "the summarizer failed ({kind}): {detail}",
                    kind = Phrase::from(kind.as_str()),
                    detail
                )
            }
            Self::TimedOut { seconds } => {
                phrase!("the summarizer timed out after {seconds} s", seconds)
            }
            Self::Stopped => phrase!("cancelled or timed out"),
            Self::Panicked => phrase!("the summarizer panicked"),
            Self::Unusable(error) => {
                phrase!("invalid summary: {error}", error = error.phrase())
            }
            Self::WindowTooSmall { window, needed } => phrase!(
                "the summarizer's context window is {window} tokens, but the prompt alone needs {needed}",
                window,
                needed
            ),
            Self::TooManyParts { parts, most } => phrase!(
                "the messages are {parts} times what the summarizer can read at once; the limit is {most} times",
                parts,
                most
            ),
            Self::NoSummarizer => phrase!("no summarizer is configured"),
            Self::NoExtract(error) => {
                phrase!("cannot build a shorter digest: {error}", error = error.phrase())
            }
        }
    }

    /// Returns whether a retry may succeed.
    const fn is_transient(&self) -> bool {
        match self {
            Self::Port { kind, .. } => kind.is_transient(),
            _ => matches!(self, Self::TimedOut { .. } | Self::Unusable(_)),
        }
    }

    /// Returns whether the summarizer refused the prompt because of its size.
    pub(super) const fn is_too_large(&self) -> bool {
        matches!(self, Self::Port { kind: PortErrorKind::TooLarge, .. })
    }
}

/// A summarizer and the limits of its requests.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) plan: &'a MaskPlan,
    pub(super) with: &'a Summarizing<'a>,
    pub(super) summarizer: &'a dyn Summarizer,
}

impl Asking<'_> {
    /// Asks until there is a summary or no retry is left; each attempt has the whole time limit.
    ///
    /// A retry names the fault of the last response.
    pub(super) async fn ask(&self, text: &Text, bounds: Bounds) -> Result<Text, SummaryFailure> {
        let mut prompt = text.clone();
        let mut left = self.plan.config.summary_retries;
        loop {
            let failure = match self.ask_once(prompt.clone(), bounds).await {
                Ok(summary) => return Ok(summary),
                Err(failure) => failure,
            };
            if left == 0 || !failure.is_transient() {
                return Err(failure);
            }
            left -= 1;
            if let SummaryFailure::Unusable(fault) = &failure {
                prompt = prompt::retry(text, &fault.to_string(), self.plan.language);
            }
        }
    }

    async fn ask_once(&self, prompt: Text, bounds: Bounds) -> Result<Text, SummaryFailure> {
        let asked = u32::try_from(bounds.asked).unwrap_or(u32::MAX);
        let request = SummaryRequest {
            prompt,
            model: self.plan.config.summary_model.clone(),
            temperature: Some(self.plan.config.summary_temperature),
            max_tokens: Some(asked).filter(|asked| *asked > 0),
        };
        let answer = self.answer(&request).await?;
        accept(&answer, bounds, self.with.counter).map_err(SummaryFailure::Unusable)
    }

    /// Waits for a response until the time limit, or until the caller cancels.
    async fn answer(&self, request: &SummaryRequest) -> Result<SummaryAnswer, SummaryFailure> {
        let seconds = self.plan.config.summary_timeout;
        let is_stopped = || self.with.deadline.is_some_and(Deadline::is_over);
        if is_stopped() {
            return Err(SummaryFailure::Stopped);
        }
        let limit = Duration::from_secs(u64::from(seconds));
        let own = self.with.deadline.filter(|_| seconds > 0).map(|deadline| deadline.within(limit));
        let mut over = own.as_deref().or(self.with.deadline).map(Deadline::over);
        let begin = catch_unwind(AssertUnwindSafe(|| self.summarizer.summarize(request)));
        let mut work = begin.map_err(|_| SummaryFailure::Panicked)?;
        poll_fn(|cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
            match polled {
                Err(_) => return Poll::Ready(Err(SummaryFailure::Panicked)),
                Ok(Poll::Ready(answer)) => return Poll::Ready(answer.map_err(port)),
                Ok(Poll::Pending) => {}
            }
            let is_over = over.as_mut().is_some_and(|over| over.as_mut().poll(cx).is_ready());
            match is_over || own.as_deref().is_some_and(Deadline::is_over) {
                _ if is_stopped() => Poll::Ready(Err(SummaryFailure::Stopped)),
                true if own.is_none() => Poll::Ready(Err(SummaryFailure::Stopped)),
                true => Poll::Ready(Err(SummaryFailure::TimedOut { seconds })),
                false => Poll::Pending,
            }
        })
        .await
    }
}

fn port(error: PortError) -> SummaryFailure {
    match error.kind {
        PortErrorKind::Cancelled => SummaryFailure::Stopped,
        kind => SummaryFailure::Port { kind, detail: error.detail },
    }
}
