//! From a plan to a draft: asking for the summary, in parts if need be, else putting one together.

use std::fmt;

use ctx_types::internal::SummaryAppendix;
use ctx_types::ports::{Deadline, Summarizer, TokenCounter};
use ctx_types::{Message, Role, Source, SourceKind, Text, Trust};

use crate::mask::accept::{Bounds, FRAME, accept};
use crate::mask::appendix;
use crate::mask::ask::{Asking, SummaryFailure};
use crate::mask::extract::{Extract, Extraction};
use crate::mask::parts::{ending, pack};
use crate::mask::plan::{MaskPlan, SummaryTask};
use crate::mask::prompt::{self, Choice, Filling};
use crate::mask::transcript::{Entry, entries, join};
use crate::mask::trigger::tokens_of;

/// What summaries are made with.
///
/// Without a summarizer, or if it fails, what `extract` puts together is the summary. Without a deadline no
/// time limit holds.
#[derive(Clone, Copy)]
pub struct Summarizing<'a> {
    /// What is asked for summaries.
    pub summarizer: Option<&'a dyn Summarizer>,
    /// What cancels the work, and makes time limits.
    pub deadline: Option<&'a dyn Deadline>,
    /// What counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// What puts summaries together without a model.
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

/// A summary that is made and not yet in the session.
#[derive(Clone, Debug)]
pub struct MaskDraft {
    /// What it was made from.
    pub plan: MaskPlan,
    /// The summary.
    pub text: Text,
    /// Its tokens, as a message, with the facts below it.
    pub summary_tokens: u64,
    /// Facts that it lost, which are kept beside it.
    pub appendix: Option<SummaryAppendix>,
    /// Who made it.
    pub made_by: MadeBy,
    /// How many parts the messages were summarised in.
    pub parts: usize,
    /// Why the summarizer did not make it, or not all of it.
    pub failure: Option<SummaryFailure>,
}

/// Who made a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The summarizer.
    Summarizer,
    /// The messages' own words.
    Extract,
    /// The summarizer, with the messages' own words for the parts that it failed at.
    Both,
}

impl MadeBy {
    /// Returns the spelling used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Summarizer => "summarizer",
            Self::Extract => "extractive",
            Self::Both => "both",
        }
    }
}

/// In how many parts messages are summarised at most.
const MAX_PARTS: usize = 64;

/// How often summaries of parts are summarised in parts again.
const MAX_ROUNDS: usize = 4;

/// How often the window is taken to be smaller than it was said to be.
const MAX_SHRINKS: usize = 4;

/// How many tokens the answer may have if nobody says so.
const DEFAULT_ANSWER: u64 = 4_096;

/// How many words or characters a summary has at most, whatever it stands for.
const MAX_WORDS: u64 = 3_000;

impl MaskDraft {
    /// Returns the summary as it is sent: its text, and the facts below it.
    pub fn sent_text(&self) -> String {
        let below =
            self.appendix.as_ref().map(|appendix| appendix.text_below(&self.text)).unwrap_or_default();
        format!("{}{below}", self.text.as_str())
    }
}

impl MaskPlan {
    /// Makes the summary.
    ///
    /// Each request is made at most 1 + [`summary_retries`](crate::mask::MaskConfig::summary_retries) times of
    /// [`summary_timeout`](crate::mask::MaskConfig::summary_timeout) seconds. Messages that do not fit the
    /// summarizer's window are summarised in at most 64 parts, whose summaries then become one; a part that
    /// fails falls back on its own words by itself. A caller's cancellation ends everything at once.
    pub async fn summarize(self, with: &Summarizing<'_>) -> Result<MaskDraft, SummaryFailure> {
        let Some(summarizer) = with.summarizer else {
            return match with.extract {
                Some(_) => self.extracted(with, None),
                None => Err(SummaryFailure::NoSummarizer),
            };
        };
        let asking = Asking {
            summarizer,
            deadline: with.deadline,
            counter: with.counter,
            config: &self.config,
            language: self.language,
        };
        let mut work = Work { plan: &self, asking, with, parts: 1, extracted: None, asked: false };
        match work.summary().await {
            Ok(text) => {
                let made_by = match (&work.extracted, work.asked) {
                    (None, _) => MadeBy::Summarizer,
                    (Some(_), true) => MadeBy::Both,
                    (Some(_), false) => MadeBy::Extract,
                };
                let (parts, failure) = (work.parts, work.extracted.take());
                Ok(MaskDraft { made_by, parts, failure, ..self.drafted(text, with.counter) })
            }
            Err(SummaryFailure::Stopped) => Err(SummaryFailure::Stopped),
            Err(failure) if with.extract.is_none() => Err(failure),
            Err(failure) => self.extracted(with, Some(failure)),
        }
    }

    /// Puts the summary together from the messages' own words.
    fn extracted(
        self,
        with: &Summarizing<'_>,
        failure: Option<SummaryFailure>,
    ) -> Result<MaskDraft, SummaryFailure> {
        let earlier = |text: &Text| {
            Message::new(Role::System, text.clone(), Source::new(SourceKind::Summary, Trust::Model))
        };
        let taken_in = self.previous.iter().filter(|_| self.task == SummaryTask::Merge).map(earlier);
        let messages: Vec<Message> =
            taken_in.chain(self.material.iter().map(|one| one.message.clone())).collect();
        let bounds = Bounds { below: self.replaced_tokens, asked: 0 };
        let text = self.extract(with, &messages, self.room_for_extract(&messages, with.counter));
        let text = text.unwrap_or_default();
        match accept_extract(text, bounds, with.counter) {
            Ok(text) => {
                let draft = self.drafted(text, with.counter);
                Ok(MaskDraft { made_by: MadeBy::Extract, failure, ..draft })
            }
            Err(fault) => Err(failure.unwrap_or(fault)),
        }
    }

    /// Returns how many tokens an extract may have: a quarter of what is said, half of what is a summary already.
    fn room_for_extract(&self, messages: &[Message], counter: &dyn TokenCounter) -> u64 {
        /// Less than this says nothing.
        const LEAST: u64 = 96;
        let is_summary = |message: &&Message| message.source.kind == SourceKind::Summary;
        let summaries = tokens_of(messages.iter().filter(is_summary), counter);
        let said = self.replaced_tokens.saturating_sub(summaries);
        let most = match u64::from(self.config.summary_max_tokens) {
            0 => DEFAULT_ANSWER,
            most => most,
        };
        (said / 4 + summaries / 2).max(LEAST).min(self.replaced_tokens / 2).min(most)
    }

    fn extract(&self, with: &Summarizing<'_>, messages: &[Message], tokens: u64) -> Option<Text> {
        with.extract.and_then(|extract| extract(&Extraction { messages, tokens, language: self.language }))
    }

    fn drafted(self, text: Text, counter: &dyn TokenCounter) -> MaskDraft {
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
}

/// Checks what was put together; it may end anywhere, since it ends where its sentences end.
fn accept_extract(text: Text, bounds: Bounds, counter: &dyn TokenCounter) -> Result<Text, SummaryFailure> {
    use crate::mask::accept::SummaryFault;
    let tokens = u64::from(counter.count_text(&text)) + FRAME;
    match accept(&text.clone().into(), bounds, counter) {
        Ok(text) => Ok(text),
        Err(SummaryFault::CutOff | SummaryFault::ToolCall) if tokens < bounds.below => Ok(text),
        Err(fault) => Err(SummaryFailure::NoExtract(fault)),
    }
}

/// The work on one plan.
struct Work<'a> {
    plan: &'a MaskPlan,
    asking: Asking<'a>,
    with: &'a Summarizing<'a>,
    parts: usize,
    /// Why a part was put together from its own words.
    extracted: Option<SummaryFailure>,
    /// Whether the summarizer made any part.
    asked: bool,
}

/// How much a prompt may hold.
#[derive(Clone, Copy)]
struct Room {
    /// For messages.
    context: u64,
    /// For the answer.
    answer: u64,
}

impl Work<'_> {
    async fn summary(&mut self) -> Result<Text, SummaryFailure> {
        let plan = self.plan;
        let entries = entries(&plan.material, plan.language, self.with.counter);
        let mut window = self.asking.summarizer.window();
        for _ in 0..MAX_SHRINKS {
            let context = join(&entries);
            let previous = plan.previous_text();
            let prompt = self.prompt(plan.task, &context, &previous, plan.replaced_tokens);
            let tokens = u64::from(self.with.counter.count(&prompt));
            let answer = self.answer_tokens(window);
            let fits = window.is_none_or(|window| tokens + answer <= u64::from(window));
            let result = match (fits, window) {
                (false, Some(window)) => self.in_parts(entries.clone(), window).await,
                _ => self.asking.ask(&prompt, self.bounds(answer)).await,
            };
            match result {
                Err(failure) if failure.is_too_large() => {
                    let large =
                        window.map_or(tokens + answer, |window| u64::from(window).min(tokens + answer));
                    window = Some(u32::try_from(large.saturating_mul(3) / 5).unwrap_or(u32::MAX));
                }
                Ok(text) => {
                    self.asked = true;
                    return Ok(text);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(SummaryFailure::WindowTooSmall {
            window: window.unwrap_or_default(),
            needed: plan.replaced_tokens,
        })
    }

    /// Summarises parts, then their summaries, until there is one.
    async fn in_parts(&mut self, entries: Vec<Entry>, window: u32) -> Result<Text, SummaryFailure> {
        let plan = self.plan;
        let (task, previous) = self.closing_task(window);
        let mut entries = match plan.task {
            SummaryTask::Merge => [self.previous_entries(), entries].concat(),
            SummaryTask::First | SummaryTask::Append | SummaryTask::Parts => entries,
        };
        let of_part = self.room(window, SummaryTask::First, "")?;
        let of_whole = self.room(window, task, &previous)?;
        for _ in 0..MAX_ROUNDS {
            let tokens: u64 = entries.iter().map(|entry| entry.tokens + 2).sum();
            if tokens <= of_whole.context && self.parts > 1 {
                let prompt = self.prompt(task, &join(&entries), &previous, plan.replaced_tokens);
                self.asking.summarizer.begins(entries.len() + 1, entries.len() + 1);
                return self.asking.ask(&prompt, self.bounds(of_whole.answer)).await;
            }
            entries = self.round(entries, of_part).await?;
            if entries.iter().map(|entry| entry.tokens + 2).sum::<u64>() >= tokens {
                return Err(SummaryFailure::NoProgress);
            }
        }
        Err(SummaryFailure::NoProgress)
    }

    /// Makes a summary of each part.
    async fn round(&mut self, entries: Vec<Entry>, room: Room) -> Result<Vec<Entry>, SummaryFailure> {
        let parts = pack(entries, room.context, self.with.counter);
        if parts.len() > MAX_PARTS {
            return Err(SummaryFailure::TooManyParts { parts: parts.len(), most: MAX_PARTS });
        }
        self.parts = self.parts.max(parts.len()).max(2);
        let mut summaries = Vec::with_capacity(parts.len());
        for part in &parts {
            let number = summaries.len() + 1;
            self.asking.summarizer.begins(number, parts.len() + 1);
            let text = self.part(part, room).await?;
            let text = format!("[{number}]\n{}", text.as_str());
            let tokens = u64::from(self.with.counter.count(&text));
            summaries.push(Entry { text, tokens, material: None, joins: false, is_result: false });
        }
        Ok(summaries)
    }

    async fn part(&mut self, part: &[Entry], room: Room) -> Result<Text, SummaryFailure> {
        let tokens: u64 = part.iter().map(|entry| entry.tokens).sum();
        let prompt = self.prompt(SummaryTask::First, &join(part), "", tokens);
        let bounds = Bounds { below: tokens.max(room.answer.min(64)), asked: room.answer };
        let failure = match self.asking.ask(&prompt, bounds).await {
            Ok(text) => {
                self.asked = true;
                return Ok(text);
            }
            Err(failure) => failure,
        };
        if failure == SummaryFailure::Stopped || failure.is_too_large() {
            return Err(failure);
        }
        let messages = self.messages_of(part);
        let text = self.plan.extract(self.with, &messages, room.answer.min(tokens / 3)).unwrap_or_default();
        match accept_extract(text, bounds, self.with.counter) {
            Ok(text) => {
                self.extracted = Some(failure);
                Ok(text)
            }
            Err(_) => Err(failure),
        }
    }

    /// Returns the messages of a part, each once; a summary in it speaks as the system.
    fn messages_of(&self, part: &[Entry]) -> Vec<Message> {
        let mut messages = Vec::with_capacity(part.len());
        let mut last = None;
        for entry in part {
            let of_material = entry.material.and_then(|index| self.plan.material.get(index));
            match of_material {
                Some(_) if entry.material == last => {}
                Some(one) => messages.push(one.message.clone()),
                None => {
                    let source = Source::new(SourceKind::Summary, Trust::Model);
                    messages.push(Message::new(Role::System, entry.text.as_str(), source));
                }
            }
            last = entry.material;
        }
        messages
    }

    /// Returns what is asked for in the end, and with which earlier summaries.
    fn closing_task(&self, window: u32) -> (SummaryTask, String) {
        match self.plan.task {
            SummaryTask::Append => {
                let previous = self.plan.previous_text();
                let room = u64::from(window) / 4;
                (SummaryTask::Append, ending(&previous, room, self.with.counter).to_owned())
            }
            SummaryTask::First | SummaryTask::Merge | SummaryTask::Parts => {
                (SummaryTask::Parts, String::new())
            }
        }
    }

    fn previous_entries(&self) -> Vec<Entry> {
        let entry = |text: &Text| Entry {
            text: text.as_str().to_owned(),
            tokens: u64::from(self.with.counter.count_text(text)),
            material: None,
            joins: false,
            is_result: false,
        };
        self.plan.previous.iter().map(entry).collect()
    }

    /// Returns how much messages may be in a prompt.
    fn room(&self, window: u32, task: SummaryTask, previous: &str) -> Result<Room, SummaryFailure> {
        /// Less than this is no room for anything.
        const LEAST: u64 = 64;
        let empty = self.prompt(task, "", previous, self.plan.replaced_tokens);
        let frame = u64::from(self.with.counter.count(&empty)) + 16;
        let answer = self.answer_tokens(Some(window));
        match u64::from(window).checked_sub(frame + answer).filter(|room| *room >= LEAST) {
            Some(context) => Ok(Room { context, answer }),
            None => Err(SummaryFailure::WindowTooSmall { window, needed: frame + answer + LEAST }),
        }
    }

    /// Returns how many tokens an answer may have.
    fn answer_tokens(&self, window: Option<u32>) -> u64 {
        let asked = u64::from(self.plan.config.summary_max_tokens);
        match window {
            None => asked,
            Some(window) => {
                let most = if asked == 0 { DEFAULT_ANSWER } else { asked };
                most.min(u64::from(window) / 4)
            }
        }
    }

    fn bounds(&self, answer: u64) -> Bounds {
        Bounds { below: self.plan.replaced_tokens, asked: answer }
    }

    fn prompt(&self, task: SummaryTask, context: &str, previous: &str, tokens: u64) -> Text {
        let plan = self.plan;
        let choice = Choice { config: &plan.config, task, kind: plan.kind, language: plan.language };
        // A quarter of what it stands for, so that the answer is shorter even if it is longer than asked.
        let limit = (tokens / 4).clamp(40, MAX_WORDS);
        prompt::write(&choice, &Filling { context, previous, limit })
    }
}

impl MaskPlan {
    fn previous_text(&self) -> String {
        let texts: Vec<&str> = self.previous.iter().map(Text::as_str).collect();
        texts.join("\n\n")
    }
}
