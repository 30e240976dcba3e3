//! The pass over a request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Message, Phrase, phrase};

use crate::codes;
use crate::request::config::{RequestConfig, share};
use crate::request::coverage::{Coverage, is_changed_note};
use crate::request::last_rounds::LastRounds;
use crate::request::layout::{LaidGroup, Layout, Part, Protection, is_point};
use crate::request::meter::Meter;
use crate::request::outcome::PassOutcome;
use crate::request::plan::{Action, CompressionPlan, CompressionReport, PlanStep, with_notes};
use crate::request::pressure::{relieve, saved_tokens};
use crate::request::repair::repair;
use crate::request::strategy::{Fate, Material, Selection, Strategy};
use crate::request::usage::ContextUsage;

/// Compresses requests that come near their budget.
///
/// The conversation does not change. Leading system messages, pins, summaries and the current turn stay. A [`Strategy`]
/// selects the rest.
///
/// ```
/// use ctx_compress::request::{CompressionPipeline, PassOutcome, RequestConfig};
/// use ctx_types::{Message, Role, Source};
///
/// let message = |n: usize| {
///     let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
///     Message::new(role, format!("Room {n} was booked for March {n}, said Lin."), Source::history(format!("n{n}"), role))
/// };
/// let messages: Vec<Message> = (0..31).map(message).collect();
/// let pipeline = CompressionPipeline::new(RequestConfig { token_budget: 700, ..RequestConfig::default() });
/// assert!(pipeline.should_compress(&messages));
/// let compression = pipeline.compress_if_needed(&messages);
/// assert_eq!(compression.report.outcome, PassOutcome::Compacted);
/// assert!(pipeline.usage(&compression.messages).used_tokens <= 350);
/// assert_eq!(compression.messages.last(), messages.last());
/// ```
#[derive(Debug)]
pub struct CompressionPipeline<'m> {
    config: RequestConfig,
    found: Vec<Diagnostic>,
    strategy: Arc<dyn Strategy>,
    meter: Meter<'m>,
}

/// The result of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Compression {
    /// The messages; except by repairs, they change only with [`PassOutcome::Compacted`].
    pub messages: Vec<Message>,
    /// The start of the current loop; the number of messages without a loop.
    pub new_loop_start: usize,
    /// The report.
    pub report: CompressionReport,
}

impl CompressionPipeline<'static> {
    /// Creates a pipeline with the default strategy and the estimate. [`RequestConfig::checked`] corrects invalid values.
    pub fn new(config: RequestConfig) -> Self {
        let (config, found) = config.checked();
        Self { config, found, strategy: Arc::new(Coverage::telegraphic()), meter: Meter::estimate() }
    }
}

impl<'m> CompressionPipeline<'m> {
    /// Sets the strategy.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Box<dyn Strategy>) -> Self {
        self.strategy = Arc::from(strategy);
        self
    }

    /// Sets the meter.
    #[must_use]
    pub fn with_meter(self, meter: Meter<'_>) -> CompressionPipeline<'_> {
        let Self { config, found, strategy, .. } = self;
        CompressionPipeline { config, found, strategy, meter }
    }

    /// Returns a pipeline with another configuration.
    pub(crate) fn with_config(&self, config: RequestConfig) -> Self {
        Self { config, found: self.found.clone(), strategy: self.strategy.clone(), meter: self.meter.clone() }
    }

    /// Returns the valid configuration.
    pub const fn config(&self) -> &RequestConfig {
        &self.config
    }

    /// Returns the meter.
    pub const fn meter(&self) -> &Meter<'m> {
        &self.meter
    }

    /// Returns the use of the budget. O(messages), and the counts of new texts.
    pub fn usage(&self, messages: &[Message]) -> ContextUsage {
        ContextUsage::new(self.meter.messages(messages), self.config.token_budget)
    }

    /// Returns whether messages exceed the trigger.
    pub fn should_compress(&self, messages: &[Message]) -> bool {
        self.config.is_above_trigger(self.meter.messages(messages))
    }

    /// Compresses messages that exceed the trigger; the pending turn stays.
    pub fn compress_if_needed(&self, messages: &[Message]) -> Compression {
        self.compress(messages, Protection::PendingTurn)
    }

    /// Compresses the messages before a running tool loop.
    ///
    /// The messages of the loop stay, unless they alone exceed the budget.
    pub fn compress_historical_messages(&self, messages: &[Message], loop_start: usize) -> Compression {
        self.compress(messages, Protection::CurrentLoop(loop_start))
    }

    /// Plans a pass and applies the plan.
    pub fn compress(&self, messages: &[Message], protection: Protection) -> Compression {
        let plan = self.plan(messages, protection);
        let messages = plan.apply();
        let report = plan.report(&messages, &self.meter);
        Compression { new_loop_start: plan.new_loop_start(), messages, report }
    }

    /// Plans a pass without changes.
    pub fn plan<'a>(&'a self, messages: &'a [Message], protection: Protection) -> CompressionPlan<'a> {
        let repaired = repair(messages);
        let loop_start = match protection {
            Protection::CurrentLoop(start) => start.min(messages.len()),
            Protection::PendingTurn | Protection::LastUserMessage => messages.len(),
        };
        let place = |index: usize| repaired.as_ref().map_or(index, |repaired| repaired.place(index));
        let loop_start = place(loop_start);
        let protection = match protection {
            Protection::CurrentLoop(_) => Protection::CurrentLoop(loop_start),
            other => other,
        };
        let (paired, mut diagnostics) = match repaired {
            None => (Cow::Borrowed(messages), Vec::new()),
            Some(repaired) => (Cow::Owned(repaired.messages), repaired.diagnostics),
        };
        diagnostics.splice(..0, self.found.iter().cloned());
        diagnostics.extend(changed_notes(messages));
        let mut pass =
            Pass { pipeline: self, layout: Layout::of(&paired, protection, &self.meter), diagnostics };
        let (outcome, steps) = pass.run(&paired);
        let (tokens_before, strategy) = (pass.layout.tokens(), self.strategy.name());
        CompressionPlan {
            strategy: if outcome == PassOutcome::NotNeeded { "none".into() } else { strategy.into() },
            budget: self.config.token_budget,
            target: self.config.target(),
            tokens_before,
            tokens_after: match outcome {
                PassOutcome::Compacted => steps.iter().map(|step| step.tokens_after).sum(),
                _ => tokens_before,
            },
            outcome,
            steps,
            diagnostics: pass.diagnostics,
            messages: paired,
            loop_start,
        }
    }
}

/// Reports notes with changed texts, whose pins are lost.
fn changed_notes(messages: &[Message]) -> impl Iterator<Item = Diagnostic> {
    let changed = messages.iter().enumerate().filter(|(_, message)| is_changed_note(message));
    changed.map(|(index, message)| {
        let name = excerpt(message.source.id.as_deref().unwrap_or("a note"));
        let text =
            phrase!("the text of `{name}` changed since it was written; it is treated as normal text", name);
        let help = phrase!("pin a message to keep it; messages pinned in this text may be dropped");
        Diagnostic::warning(codes::CHANGED_NOTE, text).at_pointer(format!("/{index}")).with_help(help)
    })
}

/// One pass over paired messages.
struct Pass<'a> {
    pipeline: &'a CompressionPipeline<'a>,
    layout: Layout,
    diagnostics: Vec<Diagnostic>,
}

impl Pass<'_> {
    fn run(&mut self, messages: &[Message]) -> (PassOutcome, Vec<PlanStep>) {
        let config = &self.pipeline.config;
        let before = self.layout.tokens();
        if !config.is_above_trigger(before) {
            return (PassOutcome::NotNeeded, self.steps(messages, &BTreeMap::new(), None));
        }
        let meter = &self.pipeline.meter;
        let is_over = self.layout.fixed_tokens() > config.token_budget;
        let shortened = match relieve(messages, &mut self.layout, meter, config.token_budget) {
            Ok(shortened) => shortened,
            Err(overflow) => {
                return (PassOutcome::Infeasible(overflow), self.steps(messages, &BTreeMap::new(), None));
            }
        };
        let fixed = self.layout.fixed_tokens() - saved_tokens(messages, shortened.iter(), meter);
        let selection = self.select(messages, fixed, is_over);
        let steps = self.steps(messages, &shortened, Some(selection));
        let after: u64 = steps.iter().map(|step| step.tokens_after).sum();
        (self.judge(before, after), steps)
    }

    /// Asks the strategy, and enforces its token limits.
    fn select(&mut self, messages: &[Message], fixed: u64, is_over: bool) -> Selection {
        let groups: Vec<Range<usize>> = self.layout.history().map(|group| group.range.clone()).collect();
        let (config, meter) = (&self.pipeline.config, &self.pipeline.meter);
        let room = room(config, fixed);
        let target = config.target().max(fixed + room);
        // A budget in which protected messages just fit has no tokens for others. A smaller one must not have more.
        let room_for_messages = if is_over { 0 } else { room };
        let material = Material { messages, groups: &groups, room, room_for_messages, target, config, meter };
        let mut selection = self.pipeline.strategy.choose(&material);
        let (tokens, kept) = (selection.tokens(&material), selection.kept_tokens(&material));
        let mut figures = [(tokens, room), (kept, room_for_messages)].into_iter();
        let over = figures.find(|(tokens, room)| tokens > room);
        if over.is_some() || selection.fates.len() != groups.len() {
            let name = self.pipeline.strategy.name();
            let (tokens, room) = over.unwrap_or((kept, room_for_messages));
            let message = phrase!(
                "strategy `{name}` kept {tokens} tokens, more than the {room} allowed",
                name,
                tokens,
                room
            );
            self.diagnostics.push(Diagnostic::warning(codes::STRATEGY_OVERRUN, message));
            selection = LastRounds::default().choose(&material);
        }
        selection
    }

    /// Makes the steps; without a selection all groups stay.
    fn steps(
        &self,
        messages: &[Message],
        shortened: &BTreeMap<usize, Message>,
        selection: Option<Selection>,
    ) -> Vec<PlanStep> {
        let meter = &self.pipeline.meter;
        let Selection { fates, notes } = selection.unwrap_or_default();
        let mut fates = fates.into_iter();
        let mut next = |group: &LaidGroup| match group.part {
            Part::History => fates.next(),
            _ => None,
        };
        let step = |group: &LaidGroup| {
            let members = messages.get(group.range.clone()).unwrap_or_default();
            let (action, reason) = match next(group) {
                Some(fate) => fate.into(),
                None => fixed_action(group, members, shortened),
            };
            PlanStep {
                tokens_after: match &action {
                    Action::Shorten(messages) => meter.messages(messages),
                    Action::Keep => group.tokens,
                    Action::Summarise | Action::Drop | Action::Write(_) => 0,
                },
                action,
                reason,
                range: group.range.clone(),
                part: group.part,
                id: members
                    .iter()
                    .find(|message| !is_point(message))
                    .and_then(|message| message.source.id.clone()),
                tokens_before: group.tokens,
            }
        };
        with_notes(self.layout.groups.iter().map(step), notes, meter)
    }

    fn judge(&self, before: u64, after: u64) -> PassOutcome {
        let config = &self.pipeline.config;
        let no_progress = |reason: Phrase| PassOutcome::NoProgress { reason };
        let saved = before.saturating_sub(after);
        if saved == 0 {
            return no_progress(phrase!("only protected messages are left"));
        }
        let least = share(before, config.min_saving);
        if before <= config.token_budget && saved < least {
            return no_progress(phrase!("saves only {saved} tokens; the minimum is {least}", saved, least));
        }
        PassOutcome::Compacted
    }
}

fn fixed_action(
    group: &LaidGroup,
    members: &[Message],
    shortened: &BTreeMap<usize, Message>,
) -> (Action, Phrase) {
    if shortened.range(group.range.clone()).next().is_none() {
        return (Action::Keep, group.part.phrase());
    }
    let members = group.range.clone().zip(members);
    let members = members.map(|(index, message)| shortened.get(&index).unwrap_or(message).clone());
    (Action::Shorten(members.collect()), phrase!("larger than the whole budget"))
}

/// Returns the token limit of the history, given the tokens of protected messages.
///
/// It is the rest of the target, but at least 10% of the budget, within 50% of the way to the trigger or 25% of the way to
/// the budget. So a long loop does not drop the whole history. It never falls when the budget grows.
pub(crate) fn room(config: &RequestConfig, fixed: u64) -> u64 {
    let to_trigger = share(config.token_budget, config.trigger_threshold).saturating_sub(fixed);
    let to_budget = config.token_budget.saturating_sub(fixed);
    let least = (config.token_budget / 10).min((to_trigger / 2).max(to_budget / 4));
    config.target().saturating_sub(fixed).max(least)
}

impl From<Fate> for (Action, Phrase) {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Keep(reason) => (Action::Keep, reason),
            Fate::Shorten(messages, reason) => (Action::Shorten(messages), reason),
            Fate::Summarise(reason) => (Action::Summarise, reason),
            Fate::Drop(reason) => (Action::Drop, reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_has_what_the_target_leaves_or_a_little() {
        let check = |trigger_threshold, target_usage, fixed, expected| {
            let config = RequestConfig {
                token_budget: 1_000,
                trigger_threshold,
                target_usage,
                ..RequestConfig::default()
            };
            assert_eq!(room(&config, fixed), expected, "{fixed}");
        };
        check(0.8, 0.5, 100, 400);
        check(0.8, 0.5, 399, 101);
        // A tenth of the budget.
        check(0.8, 0.5, 450, 100);
        check(0.8, 0.5, 600, 100);
        // A quarter of the way to the budget, or half of the way to the trigger.
        check(0.8, 0.5, 620, 95);
        check(0.8, 0.5, 760, 60);
        check(0.8, 0.5, 1_000, 0);
        check(0.8, 0.5, 1_200, 0);
        check(1.0, 0.0, 900, 50);
    }
}
