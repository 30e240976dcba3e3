//! One compression pass.

use std::sync::Arc;

use ctx_compress::request::{
    Action, CompressionPipeline, Part, PassOutcome, PlanStep, PrefixStability, Protection, prefix_stability,
};
use ctx_types::{Diagnostic, Message, Phrase, Place, phrase};

use crate::compression::cache::{CompressedHistory, CompressionCache, EarlierRemoval, is_free};
use crate::compression::settings::Settings;
use crate::removal::{Digest, Origin, Reduction, RemainingMessages, Removal};
use crate::window::unloaded_slot;

pub(crate) struct CompressionInput<'a> {
    pub(crate) draft: &'a [Message],
    /// The draft, with messages that the user pinned marked.
    pub(crate) messages: &'a [Message],
    pub(crate) skipped: usize,
    pub(crate) settings: &'a Settings,
    pub(crate) pipeline: &'a CompressionPipeline<'a>,
    pub(crate) earlier: &'a CompressionCache,
}

#[derive(Debug)]
pub(crate) struct CompressionResult {
    pub(crate) messages: Vec<Message>,
    pub(crate) cache: CompressionCache,
    pub(crate) removal: Removal,
    /// Numbers of injections between removed messages.
    pub(crate) moved: Vec<usize>,
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

impl CompressionInput<'_> {
    /// Reuses the cached prefix if it fits, or runs a pass.
    ///
    /// A pass starts from the original messages if all covered ones are loaded, or from the cached result,
    /// which keeps older digests. If it makes no progress, the cached prefix stays.
    pub(crate) fn fit(&self) -> CompressionResult {
        let history = self.earlier.history.as_ref();
        let settings = self.settings.without_budget();
        let renewed = history
            .and_then(|history| Some((history, history.renew(&settings, self.messages, self.skipped == 0)?)));
        let Some((history, earlier)) = renewed else { return self.pass(&EarlierRemoval::default()) };
        let keep = |earlier| self.result(earlier, Some(history.clone()));
        if !self.pipeline.should_compress(&self.apply(&earlier.removal, self.messages).messages) {
            return keep(earlier.removal);
        }
        let result =
            if earlier.is_whole { self.pass(&EarlierRemoval::default()) } else { self.pass(&earlier) };
        match result.pass {
            Some(pass) if pass.outcome != PassOutcome::Compacted => CompressionResult {
                pass: Some(pass),
                diagnostics: result.diagnostics,
                ..keep(earlier.removal)
            },
            _ => result,
        }
    }

    fn pass(&self, earlier: &EarlierRemoval) -> CompressionResult {
        let given = self.apply(&earlier.removal, self.messages);
        let plan = self.pipeline.plan(&given.messages, Protection::PendingTurn);
        let is_settled = |step: &&PlanStep| {
            step.part == Part::History && !matches!(step.action, Action::Keep | Action::Write(_))
        };
        let last = plan.steps.iter().rfind(is_settled).filter(|_| plan.changes());
        let mut removal = earlier.removal.clone();
        if plan.changes() {
            let mut next = NextRemoval::new(&removal, &given);
            plan.steps.iter().for_each(|step| next.add(step));
            removal = next.removal;
        }
        let history = last.map(|last| {
            let mut changed = given.origins.iter().take(last.range.end).filter_map(|origin| origin.number());
            let end = changed.next_back().map_or(0, |newest| newest + 1).max(earlier.end);
            Arc::new(CompressedHistory::new(self.settings.without_budget(), self.messages, end, &removal))
        });
        let mut result = self.result(removal, history);
        let prefix = prefix_stability(&given.messages, &result.messages, self.pipeline.meter());
        let line = plan.headline();
        result.pass = Some(PassReport { outcome: plan.outcome.clone(), line, prefix });
        result.diagnostics = plan.diagnostics;
        result
    }

    fn apply(&self, removal: &Removal, messages: &[Message]) -> RemainingMessages {
        removal.apply(messages, |message| {
            let is_single = message.place == Place::Gap { multiple: false };
            is_single && self.skipped > 0 && unloaded_slot(message, self.skipped) != Some(0)
        })
    }

    fn result(&self, removal: Removal, history: Option<Arc<CompressedHistory>>) -> CompressionResult {
        // Injections before the oldest message do not move.
        let first = self.messages.iter().position(is_free).filter(|_| self.skipped == 0);
        let moved = removal.moved(self.messages, first.unwrap_or_default(), is_free);
        let messages = self.apply(&removal, self.draft).sort_gaps(&moved);
        let since = prefix_stability(&self.earlier.sent, &messages, self.pipeline.meter());
        CompressionResult {
            cache: CompressionCache { history, sent: Arc::new(messages.clone()) },
            removal,
            moved,
            messages,
            diagnostics: Vec::new(),
            pass: None,
            since_last_turn: Some(since).filter(|_| !self.earlier.sent.is_empty()),
            tokens: since.tokens + since.rewritten_tokens,
        }
    }
}

/// Removal of a plan, added to the earlier removal whose result was the input of the plan.
struct NextRemoval<'a> {
    given: &'a RemainingMessages,
    removal: Removal,
    newest_digest: Option<Message>,
}

impl<'a> NextRemoval<'a> {
    fn new(earlier: &Removal, given: &'a RemainingMessages) -> Self {
        let removal = Removal { reductions: earlier.reductions.clone(), digests: Vec::new() };
        Self { given, removal, newest_digest: None }
    }

    fn add(&mut self, step: &PlanStep) {
        match &step.action {
            Action::Keep => step.range.clone().for_each(|index| self.keep(index)),
            Action::Write(digest) => {
                let before = match self.given.origins.get(step.range.start) {
                    Some(Origin::Message(number) | Origin::Digest { before: number }) => *number,
                    None => usize::MAX,
                };
                self.write(before, digest);
            }
            Action::Shorten(messages) => {
                let reason = Arc::new(step.reason.clone());
                for (index, short) in step.range.clone().zip(messages) {
                    self.cut(index, short, &reason);
                }
            }
            Action::Summarise | Action::Drop => {
                let reduction = match &self.newest_digest {
                    Some(digest) if step.action == Action::Summarise => {
                        let id = digest.source.id.as_deref().unwrap_or("a note");
                        let reason =
                            phrase!("older than the newest messages; replaced by `{note}`", note = id);
                        Reduction::Merged(Arc::new(reason))
                    }
                    _ => Reduction::Dropped(Arc::new(step.reason.clone())),
                };
                step.range.clone().for_each(|index| self.remove(index, &reduction));
            }
        }
    }

    fn keep(&mut self, index: usize) {
        let Some(message) = self.given.messages.get(index) else { return };
        match self.given.origins[index] {
            Origin::Digest { before } => self.write(before, message),
            Origin::Message(_) if message.note.is_some() => self.newest_digest = Some(message.clone()),
            Origin::Message(_) => {}
        }
    }

    fn cut(&mut self, index: usize, short: &Message, reason: &Arc<Phrase>) {
        match self.given.origins.get(index) {
            _ if self.given.messages.get(index).is_some_and(|message| message.is_shared_with(short)) => {
                self.keep(index);
            }
            Some(Origin::Message(number)) => {
                self.removal.reductions.insert(*number, Reduction::Cut(short.clone(), reason.clone()));
            }
            Some(Origin::Digest { before }) => self.write(*before, short),
            None => {}
        }
    }

    fn remove(&mut self, index: usize, reduction: &Reduction) {
        match self.given.origins.get(index) {
            Some(Origin::Message(number)) => {
                self.removal.reductions.insert(*number, reduction.clone());
            }
            // An earlier digest, with all messages that it replaced.
            Some(Origin::Digest { .. }) => {
                let earlier = self.removal.reductions.values_mut().filter(|earlier| earlier.is_gone());
                earlier.for_each(|earlier| earlier.clone_from(reduction));
            }
            None => {}
        }
    }

    fn write(&mut self, before: usize, digest: &Message) {
        if digest.note.is_some() {
            self.newest_digest = Some(digest.clone());
        }
        self.removal.digests.push(Digest { before, message: digest.clone() });
    }
}
