//! The plan of a pass: the fate of every message, with a reason.

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

/// The planned changes of a request; [`CompressionPlan::apply`] makes them.
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
    /// The outcome.
    pub outcome: PassOutcome,
    /// The strategy; `none` if compression is not needed.
    pub strategy: Cow<'a, str>,
    /// The budget.
    pub budget: u64,
    /// The target in tokens.
    pub target: u64,
    /// Tokens of the request.
    pub tokens_before: u64,
    /// Tokens of the result.
    pub tokens_after: u64,
    /// The steps for groups and notes, in the order of the result.
    pub steps: Vec<PlanStep>,
    /// Diagnostics, with pointers into the list of messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The request, with paired calls and results.
    pub(crate) messages: Cow<'a, [Message]>,
    /// The start of the current loop in `messages`.
    pub(crate) loop_start: usize,
}

/// The plan for a group of messages or a note.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The action.
    pub action: Action,
    /// The reason, in lower case.
    pub reason: Phrase,
    /// The messages of the repaired request; an empty range for a note.
    pub range: Range<usize>,
    /// Their part; for a note, that of the replaced messages.
    pub part: Part,
    /// The id of the first message, or of the note.
    pub id: Option<Arc<str>>,
    /// Tokens of the group.
    pub tokens_before: u64,
    /// Tokens of the result.
    pub tokens_after: u64,
}

/// The action on a group of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Keeps it.
    Keep,
    /// Replaces it with messages of less text.
    Shorten(Vec<Message>),
    /// Replaces it with a note.
    Summarise,
    /// Drops it.
    Drop,
    /// Inserts a new message.
    Write(Box<Message>),
}

impl Action {
    /// Returns the name used in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Shorten(_) => "shorten",
            Self::Summarise => "summarise",
            Self::Drop => "drop",
            Self::Write(_) => "write",
        }
    }

    /// Returns the name for users.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Summarise => "digest",
            other => other.as_str(),
        }
    }
}

/// Figures of a pass. `input_count − dropped_count + note_count = output_count`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompressionReport {
    /// The outcome.
    pub outcome: PassOutcome,
    /// Whether messages changed, except by repairs.
    pub compressed: bool,
    /// The strategy; `none` if compression was not needed.
    pub strategy_used: String,
    /// The budget.
    pub budget: u64,
    /// Number of messages before, with repairs.
    pub input_count: usize,
    /// Number of messages after.
    pub output_count: usize,
    /// Number of removed messages.
    pub dropped_count: usize,
    /// Number of notes.
    pub note_count: usize,
    /// Tokens before.
    pub input_tokens: u64,
    /// Tokens after.
    pub output_tokens: u64,
    /// Ids of the removed messages, in order; a note may replace them.
    pub dropped_message_ids: Vec<Arc<str>>,
    /// The unchanged prefix.
    pub prefix: PrefixStability,
    /// Diagnostics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl CompressionPlan<'_> {
    /// Makes the messages of the result; texts are shared. O(messages).
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

    /// Returns the request with paired calls and results.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the plan as JSON, without texts.
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

    /// Returns the outcome, tokens and messages as a phrase.
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

    /// Returns whether the plan changes messages, except by repairs.
    pub fn changes(&self) -> bool {
        self.outcome == PassOutcome::Compacted
    }

    /// Returns the start of the current loop in the result.
    pub fn new_loop_start(&self) -> usize {
        if !self.changes() {
            return self.loop_start;
        }
        let before = self.steps.iter().filter(|step| step.range.start < self.loop_start);
        // A group across the start keeps its border.
        before.map(|step| step.len_after().min((self.loop_start - step.range.start).max(1))).sum()
    }

    /// Returns the figures of the pass with this result. O(messages).
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

/// Inserts each note before the first group at or after its position.
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
