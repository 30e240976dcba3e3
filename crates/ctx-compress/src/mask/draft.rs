//! Writes the summary of a plan.

use std::fmt;

use ctx_types::internal::SummaryAppendix;
use ctx_types::ports::{Deadline, Summarizer, TokenCounter};
use ctx_types::{Message, SourceKind, Text};

use crate::mask::accept::{Bounds, accept_extract};
use crate::mask::appendix;
use crate::mask::ask::{Asking, SummaryFailure};
use crate::mask::extract::{Extract, Extraction};
use crate::mask::parts::{SEPARATOR, ending, pack, shorten};
use crate::mask::plan::{MaskPlan, SummaryTask};
use crate::mask::prompt::{self, PromptChoice, PromptValues};
use crate::mask::transcript::{Entry, entries, join};
use crate::mask::trigger::tokens_of;

/// Services for writing summaries.
///
/// `extract` writes the summary if there is no summarizer, or if it fails. Without a deadline there is no time limit.
#[derive(Clone, Copy)]
pub struct Summarizing<'a> {
    /// Writes summaries.
    pub summarizer: Option<&'a dyn Summarizer>,
    /// Cancels the work, and provides time limits.
    pub deadline: Option<&'a dyn Deadline>,
    /// Counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Writes summaries without a model.
    pub extract: Option<&'a Extract<'a>>,
}

impl fmt::Debug for Summarizing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarizing")
            .field("summarizer", &self.summarizer.is_some())
            .field("deadline", &self.deadline.is_some())
            .field("extract", &self.extract.is_some())
            .finish_non_exhaustive()
    }
}

/// A summary that is not in the session yet.
#[derive(Clone, Debug)]
pub struct MaskDraft {
    /// The plan.
    pub plan: MaskPlan,
    /// The summary.
    pub text: Text,
    /// Tokens of the summary as a message, with its appendix.
    pub summary_tokens: u64,
    /// Facts that the summary lost.
    pub appendix: Option<SummaryAppendix>,
    /// The writer.
    pub made_by: MadeBy,
    /// Number of parts that were summarized separately, then joined.
    pub parts: usize,
    /// Why the summarizer did not write it.
    pub failure: Option<SummaryFailure>,
}

/// The writer of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The summarizer.
    Summarizer,
    /// [`extract`](crate::mask::extract), from the messages' own sentences.
    Extract,
}

impl MadeBy {
    /// Returns the spelling used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Summarizer => "summarizer",
            Self::Extract => "extractive",
        }
    }
}

/// Limit of the parts of a summary.
const MAX_PARTS: usize = 64;

/// Least tokens for the summary of a part in the prompt that joins them.
const LEAST_SHARE: u64 = 64;

/// Default token limit of a response.
const DEFAULT_ANSWER: u64 = 4_096;

/// Limit of a summary in words or Chinese characters.
const MAX_WORDS: u64 = 3_000;

impl MaskDraft {
    /// Returns the summary with its appendix.
    pub fn sent_text(&self) -> String {
        let below =
            self.appendix.as_ref().map(|appendix| appendix.text_below(&self.text)).unwrap_or_default();
        format!("{}{below}", self.text.as_str())
    }
}

impl MaskPlan {
    /// Writes the summary.
    ///
    /// Each request is made at most 1 + [`summary_retries`](crate::mask::MaskConfig::summary_retries) times, each time
    /// with a limit of [`summary_timeout`](crate::mask::MaskConfig::summary_timeout) seconds. Messages that exceed the
    /// context window of the summarizer are split into at most 64 parts. One more request joins the summaries of the
    /// parts; if they exceed the context window, each of them loses its middle. More parts, or parts whose summaries
    /// would have less than 64 tokens, are a failure. If the summarizer refuses a prompt because of its size, the
    /// messages are split again, up to three times. If a part fails, the summary fails. Canceling ends all of it.
    pub async fn summarize(self, with: &Summarizing<'_>) -> Result<MaskDraft, SummaryFailure> {
        let Some(summarizer) = with.summarizer else {
            return self.extract_draft(with, None);
        };
        let mut work = Work { asking: Asking { plan: &self, with, summarizer }, parts: 1 };
        let result = work.summary().await;
        let parts = work.parts;
        match result {
            Ok(text) => Ok(MaskDraft { parts, ..self.into_draft(text, with.counter) }),
            Err(SummaryFailure::Stopped) => Err(SummaryFailure::Stopped),
            Err(failure) => self.extract_draft(with, Some(failure)),
        }
    }

    /// Writes the summary without a model.
    fn extract_draft(
        self,
        with: &Summarizing<'_>,
        failure: Option<SummaryFailure>,
    ) -> Result<MaskDraft, SummaryFailure> {
        let Some(extract) = with.extract else {
            return Err(failure.unwrap_or(SummaryFailure::NoSummarizer));
        };
        let messages: Vec<Message> = self.sources().map(|(_, message)| message).collect();
        let tokens = self.extract_tokens(&messages, with.counter);
        let text = extract(&Extraction { messages: &messages, tokens, language: self.language });
        match accept_extract(&text.unwrap_or_default(), self.replaced_tokens, with.counter) {
            Ok(text) => {
                let draft = self.into_draft(text, with.counter);
                Ok(MaskDraft { made_by: MadeBy::Extract, failure, ..draft })
            }
            Err(fault) => Err(failure.unwrap_or(SummaryFailure::NoExtract(fault))),
        }
    }

    /// Returns the token limit of an extract: a quarter of the messages and half of the summaries.
    fn extract_tokens(&self, messages: &[Message], counter: &dyn TokenCounter) -> u64 {
        const LEAST: u64 = 96;
        let is_summary = |message: &&Message| message.source.kind == SourceKind::Summary;
        let summaries = tokens_of(messages.iter().filter(is_summary), counter);
        let said = self.replaced_tokens.saturating_sub(summaries);
        (said / 4 + summaries / 2).max(LEAST).min(self.replaced_tokens / 2).min(self.most_answer_tokens())
    }

    fn most_answer_tokens(&self) -> u64 {
        match u64::from(self.config.summary_max_tokens) {
            0 => DEFAULT_ANSWER,
            most => most,
        }
    }

    fn into_draft(self, text: Text, counter: &dyn TokenCounter) -> MaskDraft {
        let facts = self.lost_facts(&text, counter);
        let appendix = (!facts.is_empty()).then(|| appendix::appendix(facts, self.language));
        MaskDraft {
            summary_tokens: appendix::tokens_with(&text, appendix.as_ref(), counter),
            plan: self,
            text,
            appendix,
            made_by: MadeBy::Summarizer,
            parts: 1,
            failure: None,
        }
    }

    fn previous_text(&self) -> String {
        let texts: Vec<&str> = self.previous.iter().map(Text::as_str).collect();
        texts.join("\n\n")
    }
}

/// The requests to a summarizer for one plan.
struct Work<'a> {
    asking: Asking<'a>,
    parts: usize,
}

/// Token limits of a request.
#[derive(Clone, Copy)]
struct Limits {
    context: u64,
    answer: u64,
}

impl Work<'_> {
    async fn summary(&mut self) -> Result<Text, SummaryFailure> {
        const MAX_SPLITS: usize = 3;
        let (plan, counter) = (self.asking.plan, self.asking.with.counter);
        let entries = entries(&plan.material, plan.language, counter);
        let prompt = self.prompt(plan.task, &join(&entries), &plan.previous_text(), plan.replaced_tokens);
        let window = self.asking.summarizer.window();
        let answer = self.answer_tokens(window);
        let needed = u64::from(counter.count(&prompt)) + answer;
        let (mut window, mut result) = match window {
            Some(window) if needed > u64::from(window) => {
                (window, self.summary_of_parts(entries.clone(), window).await)
            }
            _ => {
                let window = u32::try_from(needed * 2 / 3).unwrap_or(u32::MAX);
                (window, self.asking.ask(&prompt, self.bounds(answer)).await)
            }
        };
        for _ in 0..MAX_SPLITS {
            if !result.as_ref().is_err_and(SummaryFailure::is_too_large) {
                break;
            }
            window /= 2;
            match self.summary_of_parts(entries.clone(), window).await {
                // This window is a guess. The refusal is the reason.
                Err(SummaryFailure::WindowTooSmall { .. } | SummaryFailure::TooManyParts { .. }) => break,
                next => result = next,
            }
        }
        result
    }

    /// Summarizes parts, and joins their summaries.
    async fn summary_of_parts(
        &mut self,
        mut entries: Vec<Entry>,
        window: u32,
    ) -> Result<Text, SummaryFailure> {
        let (plan, counter) = (self.asking.plan, self.asking.with.counter);
        let previous = plan.previous_text();
        let (task, previous) = match plan.task {
            SummaryTask::Append => (SummaryTask::Append, ending(&previous, u64::from(window) / 4, counter)),
            SummaryTask::First | SummaryTask::Merge | SummaryTask::Parts => (SummaryTask::Parts, ""),
        };
        if plan.task == SummaryTask::Merge {
            let summaries = plan.previous.iter().map(|text| Entry::new(text.as_str().to_owned(), counter));
            entries.splice(..0, summaries);
        }
        let of_part = self.limits(window, SummaryTask::First, "")?;
        let of_whole = self.limits(window, task, previous)?;
        let parts = pack(entries, of_part.context, counter);
        let joined = usize::try_from(of_whole.context / (LEAST_SHARE + SEPARATOR)).unwrap_or(usize::MAX);
        let most = MAX_PARTS.min(joined);
        if parts.len() > most {
            return Err(SummaryFailure::TooManyParts { parts: parts.len(), most });
        }
        self.parts = parts.len();
        let requests = parts.len() + 1;
        let share = (of_whole.context / parts.len().max(1) as u64).saturating_sub(SEPARATOR);
        let mut summaries = Vec::with_capacity(parts.len());
        for (part, number) in parts.iter().zip(1_usize..) {
            self.asking.summarizer.begins(number, requests);
            let text = self.part(part, share, of_part.answer).await?;
            summaries.push(shorten(&format!("[{number}]\n{}", text.as_str()), share, counter));
        }
        self.asking.summarizer.begins(requests, requests);
        let prompt = self.prompt(task, &summaries.join("\n\n"), previous, plan.replaced_tokens);
        self.asking.ask(&prompt, self.bounds(of_whole.answer)).await
    }

    /// Asks for the summary of a part, with at most `share` tokens: half a word or Chinese character for each.
    async fn part(&self, part: &[Entry], share: u64, answer: u64) -> Result<Text, SummaryFailure> {
        let tokens: u64 = part.iter().map(|entry| entry.tokens).sum();
        let prompt = self.prompt(SummaryTask::First, &join(part), "", tokens.min(share.saturating_mul(2)));
        self.asking.ask(&prompt, Bounds { below: tokens.max(answer.min(64)), asked: answer }).await
    }

    /// Returns the limits of a request with a prompt of this task.
    fn limits(&self, window: u32, task: SummaryTask, previous: &str) -> Result<Limits, SummaryFailure> {
        const LEAST: u64 = 64;
        let empty = self.prompt(task, "", previous, self.asking.plan.replaced_tokens);
        let answer = self.answer_tokens(Some(window));
        let needed = u64::from(self.asking.with.counter.count(&empty)) + 16 + answer;
        match u64::from(window).checked_sub(needed).filter(|context| *context >= LEAST) {
            Some(context) => Ok(Limits { context, answer }),
            None => Err(SummaryFailure::WindowTooSmall { window, needed: needed + LEAST }),
        }
    }

    /// Returns the token limit of a response; 0 leaves it to the model.
    fn answer_tokens(&self, window: Option<u32>) -> u64 {
        match window {
            None => u64::from(self.asking.plan.config.summary_max_tokens),
            Some(window) => self.asking.plan.most_answer_tokens().min(u64::from(window) / 4),
        }
    }

    fn bounds(&self, answer: u64) -> Bounds {
        Bounds { below: self.asking.plan.replaced_tokens, asked: answer }
    }

    fn prompt(&self, task: SummaryTask, context: &str, previous: &str, tokens: u64) -> Text {
        let plan = self.asking.plan;
        let choice = PromptChoice { config: &plan.config, task, kind: plan.kind, language: plan.language };
        // A summary that exceeds this limit is still shorter than the original.
        let limit = (tokens / 4).clamp(40, MAX_WORDS);
        prompt::write(&choice, &PromptValues { context, previous, limit })
    }
}
