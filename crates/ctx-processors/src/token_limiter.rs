//! `token-limiter`: drops the oldest groups of the conversation until the request fits.

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_tokens::message_cost;
use ctx_types::{
    Content, Decision, Message, Outcome, Place, Segment, Source, SourceKind, Span, Text, TokenFigure, Trust,
    groups, pending_start,
};

use crate::costing::{Costing, cost_upper_bound};
use crate::infeasible::Infeasible;
use crate::window::LoadedWindow;

/// Drops the oldest groups of the conversation until the request fits the budget.
///
/// The pending turn, leading instructions, the preset and injections are safe; only an injection with several
/// points goes with the part of the conversation that it stands in. If the bytes of everything fit, nothing is
/// counted; otherwise what is safe is counted, then groups from the newest to the first that does not fit. The
/// cost depends on the budget, not on the length of the conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenLimiter;

/// Left on the blackboard by the limiter: how many messages it dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimiterResult {
    /// How many messages of the conversation it dropped or shortened.
    pub dropped: usize,
}

#[async_trait]
impl ContextProcessor for TokenLimiter {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 400,
            is_core: true,
            config_fields: vec![
                ConfigField::number(
                    "retainedCharacters",
                    "Characters kept of the first message that does not fit",
                    0,
                )
                .between(0.0, 10_000_000.0)
                .with_description("0 drops it whole; only a message of plain text is shortened"),
                ConfigField::text("truncationMarker", "What stands at the end of a shortened text", "\n…"),
            ],
            ..Descriptor::new(
                "token-limiter",
                "Budget",
                "Drops the oldest messages of the conversation until the request fits",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        cx.blackboard.insert(LimiterResult::default());
        let Some(available) = cx.inputs.budget.available else {
            cx.log("no budget: nothing is limited");
            return Ok(());
        };
        let bound = cx.draft.messages().iter().map(|message| cost_upper_bound(message, cx.inputs.model));
        if bound.fold(0, u64::saturating_add) <= u64::from(available) {
            cx.log("everything fits, whatever its tokens");
            return Ok(());
        }
        let units = Units::of(cx.draft.messages());
        let left = left_for_history(cx, &units, available)?;
        let kept = units.kept(cx, left)?;
        if kept.dropped == 0 {
            cx.log("everything fits");
            return Ok(());
        }
        drop_units(cx, &units, &kept, available);
        Ok(())
    }
}

/// The droppable part of a draft: groups of the conversation, oldest first, each with what goes with it.
struct Units {
    /// The indexes of each unit's messages.
    units: Vec<Vec<usize>>,
    /// The indexes of everything else.
    safe: Vec<usize>,
}

/// What the budget keeps.
struct Kept {
    /// How many of the oldest units are dropped.
    dropped: usize,
    /// The tokens that are left after the kept units.
    left: u64,
}

impl Units {
    fn of(messages: &[Message]) -> Self {
        let is_history =
            |message: &Message| message.place == Place::History && message.source.kind.is_history();
        let indexes: Vec<usize> =
            (0..messages.len()).filter(|index| messages.get(*index).is_some_and(is_history)).collect();
        let history: Vec<&Message> = indexes.iter().filter_map(|index| messages.get(*index)).collect();
        let settled = pending_start(&history);
        let mut units: Vec<Vec<usize>> = Vec::new();
        let mut begun = 0;
        for group in groups(history.get(..settled).unwrap_or_default()) {
            let members = indexes.get(group).unwrap_or_default();
            let end = members.last().map_or(begun, |last| last + 1);
            // A point of several goes with the group that follows it.
            let points = (begun..end).filter(|index| messages.get(*index).is_some_and(is_one_of_several));
            let mut unit: Vec<usize> = points.chain(members.iter().copied()).collect();
            unit.sort_unstable();
            units.push(unit);
            begun = end;
        }
        let mut is_safe = vec![true; messages.len()];
        for index in units.iter().flatten() {
            if let Some(flag) = is_safe.get_mut(*index) {
                *flag = false;
            }
        }
        let safe =
            is_safe.iter().enumerate().filter(|(_, is_safe)| **is_safe).map(|(index, _)| index).collect();
        Self { units, safe }
    }

    /// Keeps units from the newest to the first that does not fit.
    fn kept(&self, cx: &PipelineContext<'_>, left: u64) -> Result<Kept, ProcessorError> {
        let costing = Costing { model: cx.inputs.model, counter: cx.inputs.counter };
        let mut kept = Kept { dropped: self.units.len(), left };
        for unit in self.units.iter().rev() {
            cx.checkpoint()?;
            let members = unit.iter().filter_map(|index| cx.draft.messages().get(*index));
            let Some(left) =
                members.into_iter().try_fold(kept.left, |left, message| costing.take(message, left))
            else {
                break;
            };
            kept = Kept { dropped: kept.dropped - 1, left };
        }
        Ok(kept)
    }
}

fn is_one_of_several(message: &Message) -> bool {
    message.place == Place::Gap { multiple: true }
}

/// Counts what is safe; if that alone is too much, no context can be made.
fn left_for_history(cx: &PipelineContext<'_>, units: &Units, available: u32) -> Result<u64, ProcessorError> {
    let messages = units.safe.iter().filter_map(|index| cx.draft.messages().get(*index));
    let costs: Vec<(&Message, u64)> = messages
        .map(|message| {
            (message, u64::from(message_cost(message, cx.inputs.model, cx.inputs.counter).total()))
        })
        .collect();
    let used: u64 = costs.iter().map(|(_, tokens)| tokens).sum();
    match u64::from(available).checked_sub(used) {
        Some(left) => Ok(left),
        None => Err(ProcessorError::Infeasible(Box::new(Infeasible::new(available, &costs)))),
    }
}

/// Takes the dropped units out, shortens the newest of them if that is wanted, and records both.
fn drop_units(cx: &mut PipelineContext<'_>, units: &Units, kept: &Kept, available: u32) {
    let shortened =
        kept.dropped.checked_sub(1).and_then(|newest| shorten(cx, units.units.get(newest)?, kept.left));
    let dropped = kept.dropped - usize::from(shortened.is_some());
    let mut gone: Vec<bool> = vec![false; cx.draft.messages().len()];
    for index in units.units.iter().take(dropped).flatten() {
        if let Some(flag) = gone.get_mut(*index) {
            *flag = true;
        }
    }
    let window = cx.blackboard.get::<LoadedWindow>().cloned().unwrap_or_default();
    let mut run = DroppedRun::new(window);
    let mut points: Vec<Decision> = Vec::new();
    let mut rest = Vec::with_capacity(cx.draft.messages().len());
    let encoding = Costing { model: cx.inputs.model, counter: cx.inputs.counter };
    for (message, is_gone) in cx.draft.take_messages().into_iter().zip(gone) {
        match is_gone {
            false => rest.push(message),
            true if is_one_of_several(&message) => add_point(&mut points, &message),
            true => run.add(&message, &encoding),
        }
    }
    let decision = run.decision(available);
    cx.blackboard.insert(LimiterResult { dropped: run.loaded + usize::from(shortened.is_some()) });
    if let Some((message, decision)) = shortened {
        if let Some(old) = rest.iter_mut().find(|old| old.source == message.source) {
            *old = message;
        }
        cx.draft.decide(decision);
    }
    cx.log(format!("{} messages dropped", run.loaded));
    cx.draft.set_messages(rest);
    cx.draft.decide_all(decision);
    cx.draft.decide_all(points);
}

/// One decision for all dropped messages of the conversation, those that were not even loaded among them.
struct DroppedRun {
    first: Option<Source>,
    loaded: usize,
    count: usize,
    bytes: u64,
    tokens: u64,
    is_exact: bool,
}

impl DroppedRun {
    fn new(window: LoadedWindow) -> Self {
        Self {
            first: window.oldest.filter(|_| window.skipped > 0),
            loaded: 0,
            count: window.skipped,
            bytes: window.skipped_bytes,
            tokens: window.skipped_bytes,
            is_exact: window.skipped == 0,
        }
    }

    fn add(&mut self, message: &Message, costing: &Costing<'_>) {
        let (tokens, is_exact) = costing.known(message);
        self.first.get_or_insert_with(|| message.source.clone());
        self.loaded += 1;
        self.count += 1;
        self.bytes += message.content.len() as u64;
        self.tokens = self.tokens.saturating_add(tokens);
        self.is_exact &= is_exact;
    }

    fn decision(&self, available: u32) -> Option<Decision> {
        let source = self.first.clone().filter(|_| self.loaded > 0)?;
        let reason = format!("older than what fits the budget of {available} tokens");
        let mut decision = Decision::new(Outcome::Dropped, source, reason);
        decision.count = self.count;
        decision.bytes = usize::try_from(self.bytes).ok();
        decision.tokens = Some(match self.is_exact {
            true => TokenFigure::Exact(self.tokens),
            false => TokenFigure::AtMost(self.tokens),
        });
        Some(decision)
    }
}

/// One decision for all points of one placement.
fn add_point(points: &mut Vec<Decision>, message: &Message) {
    if let Some(decision) = points.iter_mut().find(|decision| decision.source == message.source) {
        decision.count += 1;
        return;
    }
    let reason = "its points lie in the dropped part of the conversation";
    points.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
}

/// Shortens a unit that is one message of plain text, if that is wanted and what is kept of it fits.
fn shorten(cx: &PipelineContext<'_>, unit: &[usize], left: u64) -> Option<(Message, Decision)> {
    let retained = cx.config.count("retainedCharacters");
    let [index] = unit else { return None };
    let message = cx.draft.messages().get(*index).filter(|_| retained > 0)?;
    let Content::Text(text) = &message.content else { return None };
    let is_plain = message.tool_calls.is_empty() && message.reasoning.is_none();
    let (end, _) = text.char_indices().nth(retained).filter(|_| is_plain)?;
    let marker = cx.config.text("truncationMarker");
    let kept = text.get(..end)?;
    let mut shortened = message.clone();
    shortened.content = Content::Text(Text::from(format!("{kept}{marker}")));
    shortened.written = cut_segments(message, end, marker.len());
    let cost = message_cost(&shortened, cx.inputs.model, cx.inputs.counter).total();
    let decision = Decision {
        bytes: Some(text.len() - end),
        ..Decision::new(
            Outcome::Cut,
            message.source.clone(),
            format!("its first {retained} characters are kept"),
        )
    };
    (u64::from(cost) <= left).then_some((shortened, decision))
}

/// The segments of the first bytes of a message, and one of the marker.
fn cut_segments(message: &Message, end: usize, marker: usize) -> Vec<Segment> {
    let mut segments: Vec<Segment> = message.segments().into_owned();
    segments.retain(|segment| segment.span.start < end);
    if let Some(last) = segments.last_mut() {
        last.span.end = last.span.end.min(end);
    }
    if marker > 0 {
        let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("token-limiter");
        segments.push(Segment { span: Span::new(end, end + marker), source, via: Vec::new() });
    }
    segments
}
