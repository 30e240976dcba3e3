//! One request to a summarizer, within its time, and again if it fails.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;

use ctx_types::ports::{
    Deadline, PortError, PortErrorKind, Summarizer, SummaryAnswer, SummaryRequest, TokenCounter,
};
use ctx_types::{Phrase, Text, phrase};

use crate::mask::accept::{Bounds, SummaryFault, accept};
use crate::mask::config::MaskConfig;
use crate::mask::language::Language;
use crate::mask::prompt;

/// Why there is no summary; the session is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SummaryFailure {
    /// The summarizer reports an error.
    Port {
        /// What kind of error.
        kind: PortErrorKind,
        /// What happened.
        detail: Phrase,
    },
    /// It did not answer in time.
    TimedOut {
        /// The limit.
        seconds: u32,
    },
    /// The caller's deadline is over, or the caller cancelled.
    Stopped,
    /// The summarizer panicked.
    Panicked,
    /// What it answered is no summary.
    Unusable(SummaryFault),
    /// The summarizer's window has no room for a prompt.
    WindowTooSmall {
        /// The window.
        window: u32,
        /// What there has to be room for.
        needed: u64,
    },
    /// The messages would be more parts than are asked for.
    TooManyParts {
        /// How many parts there would be.
        parts: usize,
        /// How many there may be.
        most: usize,
    },
    /// The summaries of parts are no shorter than the parts.
    NoProgress,
    /// There is neither a summarizer nor another way to make a summary.
    NoSummarizer,
    /// What was put together from the messages' own sentences is no summary.
    NoExtract(SummaryFault),
}

impl SummaryFailure {
    /// Writes it in one phrase.
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
            Self::NoProgress => phrase!("summarizing in parts saved no tokens"),
            Self::NoSummarizer => phrase!("no summarizer is configured"),
            Self::NoExtract(error) => {
                phrase!("cannot build a shorter digest: {error}", error = error.phrase())
            }
        }
    }
}

impl SummaryFailure {
    /// Returns whether the same request may succeed if it is made again.
    const fn is_passing(&self) -> bool {
        match self {
            Self::Port { kind, .. } => kind.is_transient(),
            Self::TimedOut { .. } | Self::Unusable(_) => true,
            Self::Stopped
            | Self::Panicked
            | Self::WindowTooSmall { .. }
            | Self::TooManyParts { .. }
            | Self::NoProgress
            | Self::NoSummarizer
            | Self::NoExtract(_) => false,
        }
    }

    /// Returns whether the summarizer had no room for the prompt.
    pub(super) const fn is_too_large(&self) -> bool {
        matches!(self, Self::Port { kind: PortErrorKind::TooLarge, .. })
    }
}

/// A summarizer with what limits it.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) summarizer: &'a dyn Summarizer,
    pub(super) deadline: Option<&'a dyn Deadline>,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) config: &'a MaskConfig,
    pub(super) language: Language,
}

impl Asking<'_> {
    /// Asks until there is a summary or all attempts are used; each attempt has the whole time limit.
    ///
    /// An attempt after an answer that was no summary says what was wrong with it.
    pub(super) async fn ask(&self, text: &Text, bounds: Bounds) -> Result<Text, SummaryFailure> {
        let mut prompt = text.clone();
        let mut left = self.config.summary_retries;
        loop {
            let failure = match self.ask_once(prompt.clone(), bounds).await {
                Ok(summary) => return Ok(summary),
                Err(failure) => failure,
            };
            if left == 0 || !failure.is_passing() {
                return Err(failure);
            }
            left -= 1;
            if let SummaryFailure::Unusable(fault) = &failure {
                prompt = prompt::again(text, &fault.to_string(), self.language);
            }
        }
    }

    async fn ask_once(&self, prompt: Text, bounds: Bounds) -> Result<Text, SummaryFailure> {
        let asked = u32::try_from(bounds.asked).unwrap_or(u32::MAX);
        let request = SummaryRequest {
            prompt,
            model: self.config.summary_model.clone(),
            temperature: Some(self.config.summary_temperature),
            max_tokens: Some(asked).filter(|asked| *asked > 0),
        };
        let answer = self.answer(&request).await?;
        accept(&answer, bounds, self.counter).map_err(SummaryFailure::Unusable)
    }

    /// Waits for an answer until it is there, the time is over, or the caller cancels.
    async fn answer(&self, request: &SummaryRequest) -> Result<SummaryAnswer, SummaryFailure> {
        let seconds = self.config.summary_timeout;
        let is_stopped = || self.deadline.is_some_and(Deadline::is_over);
        if is_stopped() {
            return Err(SummaryFailure::Stopped);
        }
        let limit = Duration::from_secs(u64::from(seconds));
        let own = self.deadline.filter(|_| seconds > 0).map(|deadline| deadline.within(limit));
        let mut over = own.as_deref().or(self.deadline).map(Deadline::over);
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
