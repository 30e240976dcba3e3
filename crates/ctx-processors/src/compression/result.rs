//! One compression pass.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ctx_compress::request::{
    Action, CompressionPipeline, CompressionPlan, Part, PassOutcome, PlanStep, PrefixStability, Protection,
    prefix_stability,
};
use ctx_types::{Diagnostic, Message, Phrase, Place, phrase};

use crate::compression::cache::{
    CompressionCache, CoveredMessage, InputOrigin, MessageOutcome, PassInput, RewrittenHistory, is_free,
};
use crate::compression::settings::Settings;
use crate::gap_ranks::GapRanks;

pub(crate) struct CompressionInput<'a> {
    pub(crate) draft: &'a [Message],
    /// The draft, with messages that the user pinned marked.
    pub(crate) messages: &'a [Message],
    pub(crate) skipped: usize,
    pub(crate) ranks: &'a GapRanks,
    pub(crate) settings: &'a Settings,
    pub(crate) pipeline: &'a CompressionPipeline<'a>,
    pub(crate) earlier: &'a CompressionCache,
}

#[derive(Debug, Default)]
pub(crate) struct CompressionResult {
    pub(crate) messages: Vec<Message>,
    pub(crate) cache: CompressionCache,
    /// One per message of the draft; `None` if unchanged.
    pub(super) message_outcomes: Vec<Option<MessageOutcome>>,
    /// Positions of dropped injections with several depths.
    pub(super) points: Vec<usize>,
    /// Positions of injections between dropped messages.
    pub(super) moved: Vec<usize>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// `None` if the cached prefix fits.
    pub(crate) pass: Option<PassReport>,
    /// Prefix shared with the last turn.
    pub(crate) since_last_turn: Option<PrefixStability>,
    pub(crate) tokens: u64,
}

#[derive(Debug)]
pub(crate) struct PassReport {
    pub(crate) outcome: PassOutcome,
    pub(crate) line: Phrase,
    /// Prefix of the request that stayed unchanged.
    pub(crate) prefix: PrefixStability,
}

impl CompressionResult {
    pub(super) fn message_outcome(&self, place: usize) -> Option<&MessageOutcome> {
        self.message_outcomes.get(place)?.as_ref()
    }
}

impl CompressionInput<'_> {
    /// Reuses the cached prefix if it fits, or runs a pass.
    ///
    /// A pass starts from the original messages if all covered ones are loaded, or from the cached result,
    /// which keeps older digests.
    pub(crate) fn fit(&self) -> CompressionResult {
        let history = self
            .earlier
            .history
            .as_ref()
            .filter(|history| history.settings == self.settings.without_budget());
        let renewed = history.and_then(|history| history.renew(self.messages, self.skipped == 0));
        let mut result = match (renewed, history) {
            (Some(basis), Some(history)) if !self.pipeline.should_compress(&basis.messages) => {
                self.keep(&basis, history)
            }
            (Some(basis), Some(history)) => self.pass_again(&basis, history),
            _ => self.pass(&PassInput::from_draft(self.messages)),
        };
        let meter = self.pipeline.meter();
        let since = prefix_stability(&self.earlier.sent, &result.messages, meter);
        result.tokens = since.tokens + since.rewritten_tokens;
        if !self.earlier.sent.is_empty() {
            result.since_last_turn = Some(since);
        }
        result.cache.sent = Arc::new(result.messages.clone());
        result
    }

    fn keep(&self, basis: &PassInput, history: &Arc<RewrittenHistory>) -> CompressionResult {
        let mut writing = ResultWriter::new(self, basis);
        (0..basis.messages.len()).for_each(|index| writing.keep(index));
        let mut result = writing.finish();
        result.cache.history = Some(history.clone());
        result
    }

    /// If the pass makes no progress, keeps the cached prefix.
    fn pass_again(&self, basis: &PassInput, history: &Arc<RewrittenHistory>) -> CompressionResult {
        let result =
            if basis.is_whole { self.pass(&PassInput::from_draft(self.messages)) } else { self.pass(basis) };
        match result.pass {
            Some(pass) if pass.outcome != PassOutcome::Compacted => CompressionResult {
                pass: Some(pass),
                diagnostics: result.diagnostics,
                ..self.keep(basis, history)
            },
            _ => result,
        }
    }

    fn pass(&self, basis: &PassInput) -> CompressionResult {
        let plan = self.pipeline.plan(&basis.messages, Protection::PendingTurn);
        let mut writing = ResultWriter::new(self, basis);
        if plan.changes() {
            plan.steps.iter().for_each(|step| writing.apply_step(step));
        } else {
            (0..basis.messages.len()).for_each(|index| writing.keep(index));
        }
        let mut result = writing.finish();
        result.cache.history = self.rewritten_history(&plan, basis, &result);
        let prefix = prefix_stability(&basis.messages, &result.messages, self.pipeline.meter());
        let line = plan.headline();
        result.diagnostics.clone_from(&plan.diagnostics);
        result.pass = Some(PassReport { outcome: plan.outcome.clone(), line, prefix });
        result
    }

    fn rewritten_history(
        &self,
        plan: &CompressionPlan<'_>,
        basis: &PassInput,
        result: &CompressionResult,
    ) -> Option<Arc<RewrittenHistory>> {
        let is_settled = |step: &&PlanStep| {
            step.part == Part::History && !matches!(step.action, Action::Keep | Action::Write(_))
        };
        let last = plan.steps.iter().rfind(is_settled).filter(|_| plan.changes())?;
        let changed =
            basis.origins.get(..last.range.end)?.iter().filter_map(|origin| origin.place()).next_back();
        let end = changed.max(basis.outcomes.last().map(|(place, _)| *place))?;
        let places = (0..=end).filter(|place| self.messages.get(*place).is_some_and(is_free));
        let places: Vec<usize> = places.collect();
        let covered = places.iter().filter_map(|place| {
            let outcome = result.message_outcome(*place).cloned().unwrap_or(MessageOutcome::Itself);
            Some(CoveredMessage { message: self.messages.get(*place)?.clone(), outcome })
        });
        let position = |step: &PlanStep| match basis.origins.get(step.range.start) {
            Some(InputOrigin::Draft(next)) => places.partition_point(|place| place < next),
            Some(InputOrigin::Note(position)) => *position,
            None => places.len(),
        };
        let is_note =
            |step: &PlanStep| matches!(basis.origins.get(step.range.start), Some(InputOrigin::Note(_)));
        let notes = plan.steps.iter().filter_map(|step| match &step.action {
            Action::Write(note) => Some((position(step), (**note).clone())),
            Action::Keep if is_note(step) => {
                Some((position(step), basis.messages.get(step.range.start)?.clone()))
            }
            _ => None,
        });
        Some(Arc::new(RewrittenHistory {
            settings: self.settings.without_budget(),
            covered: covered.collect(),
            notes: notes.collect(),
        }))
    }
}

struct ResultWriter<'a> {
    given: &'a CompressionInput<'a>,
    basis: &'a PassInput,
    result: CompressionResult,
    /// Positions in the draft; `None` for a digest.
    places: Vec<Option<usize>>,
}

impl<'a> ResultWriter<'a> {
    fn new(given: &'a CompressionInput<'a>, basis: &'a PassInput) -> Self {
        let result = CompressionResult {
            message_outcomes: vec![None; given.draft.len()],
            ..CompressionResult::default()
        };
        let mut writing = Self { given, basis, result, places: Vec::new() };
        for (place, outcome) in
            basis.outcomes.iter().filter(|(_, outcome)| *outcome != MessageOutcome::Itself)
        {
            writing.set(*place, outcome.clone());
        }
        writing
    }

    fn apply_step(&mut self, step: &PlanStep) {
        match &step.action {
            Action::Keep => step.range.clone().for_each(|index| self.keep(index)),
            Action::Write(note) => self.push((**note).clone(), None),
            Action::Shorten(messages) => {
                for (index, message) in step.range.clone().zip(messages) {
                    self.replace(index, message, &step.reason);
                }
            }
            Action::Summarise | Action::Drop => {
                let is_summarised = step.action == Action::Summarise;
                self.remove_range(step.range.clone(), is_summarised, &step.reason);
            }
        }
    }

    fn keep(&mut self, index: usize) {
        if let Some(message) = self.basis.messages.get(index) {
            self.push(message.clone(), self.place(index));
        }
    }

    fn replace(&mut self, index: usize, short: &Message, reason: &Phrase) {
        if self.basis.messages.get(index).is_some_and(|message| message.is_shared_with(short)) {
            return self.keep(index);
        }
        let place = self.place(index);
        self.push(short.clone(), place);
        if let Some(place) = place {
            self.set(place, MessageOutcome::Cut(short.clone(), Arc::new(reason.clone())));
        }
    }

    fn remove_range(&mut self, range: Range<usize>, is_summarised: bool, reason: &Phrase) {
        let outcome = match self.result.messages.iter().rfind(|message| message.note.is_some()) {
            Some(note) if is_summarised => {
                let id = note.source.id.as_deref().unwrap_or("a note");
                let reason = phrase!("older than the newest messages; replaced by `{note}`", note = id);
                MessageOutcome::Merged(Arc::new(reason))
            }
            _ => MessageOutcome::Dropped(Arc::new(reason.clone())),
        };
        for index in range {
            match self.place(index) {
                Some(place) if self.basis.messages.get(index).is_some_and(is_free) => {
                    self.set(place, outcome.clone());
                }
                Some(_) => {}
                // An earlier digest, with all messages that it replaced.
                None => {
                    let earlier = self.result.message_outcomes.iter_mut().flatten();
                    for earlier in earlier.filter(|earlier| earlier.is_gone()) {
                        earlier.clone_from(&outcome);
                    }
                }
            }
        }
    }

    fn set(&mut self, place: usize, outcome: MessageOutcome) {
        if let Some(earlier) = self.result.message_outcomes.get_mut(place) {
            *earlier = Some(outcome);
        }
    }

    /// Adds a message. A digest goes before injections whose slot is not loaded.
    fn push(&mut self, message: Message, place: Option<usize>) {
        let behind = match place {
            Some(_) => 0,
            None => self.result.messages.iter().rev().take_while(|message| self.is_unloaded(message)).count(),
        };
        let is_marked = |place: usize| {
            self.given.messages.get(place).is_some_and(|marked| marked.is_shared_with(&message))
        };
        let unmarked =
            place.filter(|place| is_marked(*place)).and_then(|place| self.given.draft.get(place).cloned());
        let at = self.result.messages.len() - behind;
        self.result.messages.insert(at, unmarked.unwrap_or(message));
        self.places.insert(at, place);
    }

    fn is_unloaded(&self, message: &Message) -> bool {
        let skipped = self.given.skipped;
        let is_single = message.place == Place::Gap { multiple: false };
        is_single && skipped > 0 && self.given.ranks.unloaded_gap(message, skipped) != Some(0)
    }

    fn place(&self, index: usize) -> Option<usize> {
        self.basis.origins.get(index).and_then(|origin| origin.place())
    }

    fn finish(mut self) -> CompressionResult {
        let CompressionInput { messages, skipped, .. } = self.given;
        // Computed only if needed: few messages are injections.
        let sent = LazyCell::new(|| self.places.iter().copied().flatten().collect::<BTreeSet<usize>>());
        let next_is_gone = |place: usize| {
            let behind = messages.iter().enumerate().skip(place + 1);
            let next = behind.into_iter().find(|(_, message)| is_free(message));
            next.and_then(|(next, _)| self.result.message_outcome(next)).is_some_and(MessageOutcome::is_gone)
        };
        // Injections before the oldest message do not move.
        let first = messages.iter().position(is_free).filter(|_| *skipped == 0);
        let (mut points, mut moved) = (Vec::new(), Vec::new());
        for (place, message) in messages.iter().enumerate() {
            match message.place {
                Place::Gap { multiple: true } if !sent.contains(&place) => points.push(place),
                Place::Gap { multiple: false }
                    if first.is_none_or(|first| first < place) && next_is_gone(place) =>
                {
                    moved.push(place);
                }
                _ => {}
            }
        }
        (self.result.points, self.result.moved) = (points, moved);
        self.sort_gaps();
        self.result
    }

    fn sort_gaps(&mut self) {
        let is_gap = |message: &Message| matches!(message.place, Place::Gap { .. });
        let is_moved = |place: &Option<usize>| {
            place.is_some_and(|place| self.result.moved.binary_search(&place).is_ok())
        };
        let mut runs = Vec::new();
        let mut start = 0;
        for run in self.result.messages.chunk_by(|left, right| is_gap(left) && is_gap(right)) {
            let range = start..start + run.len();
            start = range.end;
            if self.places.get(range.clone()).unwrap_or_default().iter().any(is_moved) {
                runs.push(range);
            }
        }
        let ranks = self.given.ranks;
        for run in runs {
            let run = self.result.messages.get_mut(run).unwrap_or_default();
            run.sort_by_cached_key(|message| ranks.key(message));
        }
    }
}
