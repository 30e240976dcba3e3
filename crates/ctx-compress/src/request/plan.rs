//! The plan of a pass: what becomes of every message and why, before anything is done.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ctx_types::{Diagnostic, Message, Phrase, count_of, phrase};
use serde::Serialize;
use serde_json::{Value, json};

use crate::request::cache::{PrefixStability, prefix_stability};
use crate::request::layout::Part;
use crate::request::meter::Meter;
use crate::request::outcome::PassOutcome;
use crate::request::strategy::PlacedNote;

/// What a pass would do to a request; [`CompressionPlan::apply`] does it.
///
/// ```
/// use ctx_compress::request::{CompressionPipeline, Protection, RequestConfig, strategy};
/// use ctx_types::{Message, Role, Source};
///
/// let message = |n: usize, role| Message::new(role, "some words of 12 tokens, about, for each", Source::history(format!("n{n}"), role));
/// let messages = [message(1, Role::Assistant), message(2, Role::Assistant), message(3, Role::User)];
/// let pipeline = CompressionPipeline::new(RequestConfig::to_fit(45)).with_strategy(strategy("key-message").unwrap());
/// let plan = pipeline.plan(&messages, Protection::PendingTurn);
/// assert_eq!(plan.headline().to_string(), "compacted by `key-message`: 60 → 40 of 45 tokens, 3 → 2 messages");
/// assert_eq!(plan.apply().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct CompressionPlan<'a> {
    /// How the pass would end.
    pub outcome: PassOutcome,
    /// The strategy that decided; `none` if nothing was to be decided.
    pub strategy: Cow<'a, str>,
    /// How many tokens the request may have.
    pub budget: u64,
    /// How many tokens were aimed at.
    pub target: u64,
    /// How many tokens the request has.
    pub tokens_before: u64,
    /// How many tokens it would have.
    pub tokens_after: u64,
    /// What becomes of each group, and the notes, in the order of the result.
    pub steps: Vec<PlanStep>,
    /// What was odd in the request, with pointers into the list of messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The request, calls and results paired.
    pub(crate) messages: Cow<'a, [Message]>,
    /// Where the current loop begins in `messages`.
    pub(crate) loop_start: usize,
}

/// What becomes of one group of messages.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// What is done.
    pub action: Action,
    /// Why: one phrase, lower case, no full stop.
    pub reason: Phrase,
    /// Which messages: a range of the repaired request; empty for a note, at its place.
    pub range: Range<usize>,
    /// What these are; of a note, what it stands for.
    pub part: Part,
    /// The id of the first message, or of the note.
    pub id: Option<Arc<str>>,
    /// How many tokens the group has.
    pub tokens_before: u64,
    /// How many it would have.
    pub tokens_after: u64,
}

/// What is done with a group of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It stays.
    Keep,
    /// These messages with less text take its place.
    Shorten(Vec<Message>),
    /// A note stands for it.
    Summarise,
    /// It is left out.
    Drop,
    /// This new message is written.
    Write(Box<Message>),
}

impl Action {
    /// Returns the word in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Shorten(_) => "shorten",
            Self::Summarise => "summarise",
            Self::Drop => "drop",
            Self::Write(_) => "write",
        }
    }

    /// Returns the word that people read.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Summarise => "digest",
            other => other.as_str(),
        }
    }
}

/// What a pass did, in figures. `input_count − dropped_count + note_count = output_count`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompressionReport {
    /// How it ended.
    pub outcome: PassOutcome,
    /// Whether the messages are others than before, repairs aside.
    pub compressed: bool,
    /// The strategy that decided; `none` if nothing was to be decided.
    pub strategy_used: String,
    /// How many tokens the request may have.
    pub budget: u64,
    /// How many messages there were, after repairs.
    pub input_count: usize,
    /// How many there are.
    pub output_count: usize,
    /// How many are no longer there.
    pub dropped_count: usize,
    /// How many notes were written.
    pub note_count: usize,
    /// How many tokens there were.
    pub input_tokens: u64,
    /// How many there are.
    pub output_tokens: u64,
    /// The ids of the messages that are no longer there, in their order; a note may stand for them.
    pub dropped_message_ids: Vec<Arc<str>>,
    /// What of the request's beginning stayed as it was.
    pub prefix: PrefixStability,
    /// What was odd in the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl CompressionPlan<'_> {
    /// Makes the messages of the result. Texts are shared, and nothing is decided here. O(messages).
    pub fn apply(&self) -> Vec<Message> {
        if !self.changes() {
            return self.messages.to_vec();
        }
        let mut result = Vec::with_capacity(self.messages.len());
        for step in &self.steps {
            match &step.action {
                Action::Keep => {
                    result.extend_from_slice(self.messages.get(step.range.clone()).unwrap_or_default());
                }
                Action::Shorten(messages) => result.extend_from_slice(messages),
                Action::Write(note) => result.push((**note).clone()),
                Action::Summarise | Action::Drop => {}
            }
        }
        result
    }

    /// Returns the request that the steps are about: what was given, calls and results paired.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Writes the plan as JSON, without the texts of messages.
    pub fn to_json(&self) -> Value {
        let step = |step: &PlanStep| {
            json!({
                "action": step.action.as_str(),
                "id": step.id,
                "messages": step.range.len().max(1),
                "reason": step.reason,
                "tokensBefore": step.tokens_before,
                "tokensAfter": step.tokens_after,
            })
        };
        json!({
            "outcome": self.outcome,
            "strategy": self.strategy,
            "budget": self.budget,
            "target": self.target,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "diagnostics": self.diagnostics,
        })
    }

    /// Writes in one phrase how it ends, and with how many tokens and messages.
    pub fn headline(&self) -> Phrase {
        let outcome = self.outcome.phrase();
        let (before, budget, messages) = (self.tokens_before, self.budget, self.messages.len());
        if !self.changes() {
            let messages = count_of!(messages, "message");
            return phrase!(
                "{outcome} ({before} of {budget} tokens, {messages})",
                outcome,
                before,
                budget,
                messages
            );
        }
        let result: usize = self.steps.iter().map(PlanStep::len_after).sum();
        phrase!(
            "{outcome} by `{strategy}`: {before} → {after} of {budget} tokens, {messages} → {result}",
            outcome,
            strategy = self.strategy,
            before,
            after = self.tokens_after,
            budget,
            messages,
            result = count_of!(result, "message")
        )
    }

    /// Returns whether applying it changes anything, repairs aside.
    pub fn changes(&self) -> bool {
        self.outcome == PassOutcome::Compacted
    }

    /// Returns where the current loop begins in the result.
    pub fn new_loop_start(&self) -> usize {
        if !self.changes() {
            return self.loop_start;
        }
        let before = self.steps.iter().filter(|step| step.range.start < self.loop_start);
        // A group that reaches over the start is whole on both sides, and so keeps its border.
        before.map(|step| step.len_after().min((self.loop_start - step.range.start).max(1))).sum()
    }

    /// Returns the figures of the pass, given the messages that it made. O(messages).
    pub fn report(&self, result: &[Message], meter: &Meter<'_>) -> CompressionReport {
        let changes = self.changes();
        let gone = |step: &&PlanStep| changes && matches!(step.action, Action::Drop | Action::Summarise);
        let gone = self.steps.iter().filter(gone).flat_map(|step| step.range.clone());
        let gone: Vec<usize> = gone.collect();
        let id = |index: &usize| self.messages.get(*index).and_then(|message| message.source.id.clone());
        let notes = self.steps.iter().filter(|step| changes && matches!(step.action, Action::Write(_)));
        CompressionReport {
            outcome: self.outcome.clone(),
            compressed: changes,
            strategy_used: self.strategy.to_string(),
            budget: self.budget,
            input_count: self.messages.len(),
            output_count: result.len(),
            dropped_count: gone.len(),
            note_count: notes.count(),
            input_tokens: self.tokens_before,
            output_tokens: self.tokens_after,
            dropped_message_ids: gone.iter().map(|index| id(index).unwrap_or_default()).collect(),
            prefix: prefix_stability(&self.messages, result, meter),
            diagnostics: self.diagnostics.clone(),
        }
    }
}

impl PlanStep {
    fn len_after(&self) -> usize {
        match &self.action {
            Action::Keep => self.range.len(),
            Action::Shorten(messages) => messages.len(),
            Action::Write(_) => 1,
            Action::Summarise | Action::Drop => 0,
        }
    }
}

/// Puts notes between the steps of groups, each before the first group at or behind its place.
pub(crate) fn with_notes(
    steps: impl ExactSizeIterator<Item = PlanStep>,
    mut notes: Vec<PlacedNote>,
    meter: &Meter<'_>,
) -> Vec<PlanStep> {
    notes.sort_by_key(|note| note.before);
    let mut result = Vec::with_capacity(steps.len() + notes.len());
    let mut notes = notes.into_iter().peekable();
    for step in steps {
        while let Some(note) = notes.next_if(|note| note.before <= step.range.start) {
            result.push(written(note, meter));
        }
        result.push(step);
    }
    result.extend(notes.map(|note| written(note, meter)));
    result
}

fn written(note: PlacedNote, meter: &Meter<'_>) -> PlanStep {
    PlanStep {
        reason: phrase!("replaces older messages"),
        range: note.before..note.before,
        part: Part::History,
        id: note.message.source.id.clone(),
        tokens_before: 0,
        tokens_after: meter.message(&note.message),
        action: Action::Write(Box::new(note.message)),
    }
}
