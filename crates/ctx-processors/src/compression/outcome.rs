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

use crate::compression::kept::{Basis, Became, Covered, KeptCompression, Origin, RewrittenHistory, is_free};
use crate::compression::settings::Settings;
use crate::gap_ranks::GapRanks;

pub(crate) struct StageInput<'a> {
    pub(crate) draft: &'a [Message],
    /// The draft, with messages that the user pinned marked.
    pub(crate) messages: &'a [Message],
    pub(crate) skipped: usize,
    /// Whether compressed messages were skipped when loading.
    pub(crate) is_late: bool,
    pub(crate) ranks: &'a GapRanks,
    pub(crate) settings: &'a Settings,
    pub(crate) pipeline: &'a CompressionPipeline<'a>,
    pub(crate) earlier: &'a KeptCompression,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) messages: Vec<Message>,
    pub(crate) kept: KeptCompression,
    /// One per message of the draft; `None` if unchanged.
    pub(super) became: Vec<Option<Became>>,
    /// Positions of dropped injections with several depths.
    pub(super) points: Vec<usize>,
    /// Positions of injections between dropped messages.
    pub(super) moved: Vec<usize>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// `None` if the cached prefix fits.
    pub(crate) pass: Option<Pass>,
    /// Prefix shared with the last turn.
    pub(crate) since_last_turn: Option<PrefixStability>,
    pub(crate) tokens: u64,
}

#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) outcome: PassOutcome,
    pub(crate) line: Phrase,
    /// Prefix of the request that stayed unchanged.
    pub(crate) prefix: PrefixStability,
}

impl Outcome {
    pub(super) fn became_of(&self, place: usize) -> Option<&Became> {
        self.became.get(place)?.as_ref()
    }
}

impl StageInput<'_> {
    /// Reuses the cached prefix if it fits, or runs a pass. Returns `None` if compressed messages must be
    /// loaded first.
    ///
    /// A pass starts from the original messages if all covered ones are loaded, or from the cached result,
    /// which keeps older digests.
    pub(crate) fn fit(&self) -> Option<Outcome> {
        let made = self.earlier.made.as_ref().filter(|made| made.settings == self.settings.without_budget());
        let renewed = made.and_then(|made| made.renew(self.messages, self.skipped == 0));
        let mut outcome = match (renewed, made) {
            (Some(basis), Some(made)) if !self.pipeline.should_compress(&basis.messages) => {
                self.keep(&basis, made)
            }
            _ if self.is_late => return None,
            (Some(basis), Some(made)) => self.pass_again(&basis, made),
            _ => self.pass(&Basis::of(self.messages)),
        };
        let meter = self.pipeline.meter();
        let since = prefix_stability(&self.earlier.sent, &outcome.messages, meter);
        outcome.tokens = since.tokens + since.rewritten_tokens;
        if !self.earlier.sent.is_empty() {
            outcome.since_last_turn = Some(since);
        }
        outcome.kept.sent = Arc::new(outcome.messages.clone());
        Some(outcome)
    }

    fn keep(&self, basis: &Basis, made: &Arc<RewrittenHistory>) -> Outcome {
        let mut writing = Writing::new(self, basis);
        (0..basis.messages.len()).for_each(|index| writing.keep(index));
        let mut outcome = writing.finish();
        outcome.kept.made = Some(made.clone());
        outcome
    }

    /// If the pass makes no progress, keeps the cached prefix.
    fn pass_again(&self, basis: &Basis, made: &Arc<RewrittenHistory>) -> Outcome {
        let outcome = if basis.is_whole { self.pass(&Basis::of(self.messages)) } else { self.pass(basis) };
        match outcome.pass {
            Some(pass) if pass.outcome != PassOutcome::Compacted => {
                Outcome { pass: Some(pass), diagnostics: outcome.diagnostics, ..self.keep(basis, made) }
            }
            _ => outcome,
        }
    }

    fn pass(&self, basis: &Basis) -> Outcome {
        let plan = self.pipeline.plan(&basis.messages, Protection::PendingTurn);
        let mut writing = Writing::new(self, basis);
        if plan.changes() {
            plan.steps.iter().for_each(|step| writing.carry_out(step));
        } else {
            (0..basis.messages.len()).for_each(|index| writing.keep(index));
        }
        let mut outcome = writing.finish();
        outcome.kept.made = self.made(&plan, basis, &outcome);
        let prefix = prefix_stability(&basis.messages, &outcome.messages, self.pipeline.meter());
        let line = plan.headline();
        outcome.diagnostics.clone_from(&plan.diagnostics);
        outcome.pass = Some(Pass { outcome: plan.outcome.clone(), line, prefix });
        outcome
    }

    fn made(
        &self,
        plan: &CompressionPlan<'_>,
        basis: &Basis,
        outcome: &Outcome,
    ) -> Option<Arc<RewrittenHistory>> {
        let is_settled = |step: &&PlanStep| {
            step.part == Part::History && !matches!(step.action, Action::Keep | Action::Write(_))
        };
        let last = plan.steps.iter().rfind(is_settled).filter(|_| plan.changes())?;
        let changed =
            basis.origins.get(..last.range.end)?.iter().filter_map(|origin| origin.place()).next_back();
        let end = changed.max(basis.became.last().map(|(place, _)| *place))?;
        let places = (0..=end).filter(|place| self.messages.get(*place).is_some_and(is_free));
        let places: Vec<usize> = places.collect();
        let covered = places.iter().filter_map(|place| {
            let became = outcome.became_of(*place).cloned().unwrap_or(Became::Itself);
            Some(Covered { message: self.messages.get(*place)?.clone(), became })
        });
        let position = |step: &PlanStep| match basis.origins.get(step.range.start) {
            Some(Origin::Draft(next)) => places.partition_point(|place| place < next),
            Some(Origin::Note(position)) => *position,
            None => places.len(),
        };
        let is_note = |step: &PlanStep| matches!(basis.origins.get(step.range.start), Some(Origin::Note(_)));
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

struct Writing<'a> {
    given: &'a StageInput<'a>,
    basis: &'a Basis,
    outcome: Outcome,
    /// Positions in the draft; `None` for a digest.
    places: Vec<Option<usize>>,
}

impl<'a> Writing<'a> {
    fn new(given: &'a StageInput<'a>, basis: &'a Basis) -> Self {
        let outcome = Outcome { became: vec![None; given.draft.len()], ..Outcome::default() };
        let mut writing = Self { given, basis, outcome, places: Vec::new() };
        for (place, became) in basis.became.iter().filter(|(_, became)| *became != Became::Itself) {
            writing.set(*place, became.clone());
        }
        writing
    }

    fn carry_out(&mut self, step: &PlanStep) {
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
                self.leave_out(step.range.clone(), is_summarised, &step.reason);
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
            self.set(place, Became::Cut(short.clone(), Arc::new(reason.clone())));
        }
    }

    fn leave_out(&mut self, range: Range<usize>, is_summarised: bool, reason: &Phrase) {
        let became = match self.outcome.messages.iter().rfind(|message| message.note.is_some()) {
            Some(note) if is_summarised => {
                let id = note.source.id.as_deref().unwrap_or("a note");
                let reason = phrase!("older than the newest messages; replaced by `{note}`", note = id);
                Became::Merged(Arc::new(reason))
            }
            _ => Became::Dropped(Arc::new(reason.clone())),
        };
        for index in range {
            match self.place(index) {
                Some(place) if self.basis.messages.get(index).is_some_and(is_free) => {
                    self.set(place, became.clone());
                }
                Some(_) => {}
                // An earlier digest, with all messages that it replaced.
                None => {
                    let earlier = self.outcome.became.iter_mut().flatten();
                    for earlier in earlier.filter(|earlier| earlier.is_gone()) {
                        earlier.clone_from(&became);
                    }
                }
            }
        }
    }

    fn set(&mut self, place: usize, became: Became) {
        if let Some(earlier) = self.outcome.became.get_mut(place) {
            *earlier = Some(became);
        }
    }

    /// Adds a message. A digest goes before injections whose slot is not loaded.
    fn push(&mut self, message: Message, place: Option<usize>) {
        let behind = match place {
            Some(_) => 0,
            None => {
                self.outcome.messages.iter().rev().take_while(|message| self.is_unloaded(message)).count()
            }
        };
        let is_marked = |place: usize| {
            self.given.messages.get(place).is_some_and(|marked| marked.is_shared_with(&message))
        };
        let unmarked =
            place.filter(|place| is_marked(*place)).and_then(|place| self.given.draft.get(place).cloned());
        let at = self.outcome.messages.len() - behind;
        self.outcome.messages.insert(at, unmarked.unwrap_or(message));
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

    fn finish(mut self) -> Outcome {
        let StageInput { messages, skipped, .. } = self.given;
        // Computed only if needed: few messages are injections.
        let sent = LazyCell::new(|| self.places.iter().copied().flatten().collect::<BTreeSet<usize>>());
        let next_is_gone = |place: usize| {
            let behind = messages.iter().enumerate().skip(place + 1);
            let next = behind.into_iter().find(|(_, message)| is_free(message));
            next.and_then(|(next, _)| self.outcome.became_of(next)).is_some_and(Became::is_gone)
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
        (self.outcome.points, self.outcome.moved) = (points, moved);
        self.sort_gaps();
        self.outcome
    }

    fn sort_gaps(&mut self) {
        let is_gap = |message: &Message| matches!(message.place, Place::Gap { .. });
        let is_moved = |place: &Option<usize>| {
            place.is_some_and(|place| self.outcome.moved.binary_search(&place).is_ok())
        };
        let mut runs = Vec::new();
        let mut start = 0;
        for run in self.outcome.messages.chunk_by(|left, right| is_gap(left) && is_gap(right)) {
            let range = start..start + run.len();
            start = range.end;
            if self.places.get(range.clone()).unwrap_or_default().iter().any(is_moved) {
                runs.push(range);
            }
        }
        let ranks = self.given.ranks;
        for run in runs {
            let run = self.outcome.messages.get_mut(run).unwrap_or_default();
            run.sort_by_cached_key(|message| ranks.key(message));
        }
    }
}
