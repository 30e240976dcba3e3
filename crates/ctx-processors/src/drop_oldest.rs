use std::collections::BTreeMap;

use ctx_pipeline::PipelineContext;
use ctx_tokens::Budget;
use ctx_types::{
    Content, Decision, Message, Outcome, Phrase, Place, Role, Segment, Source, SourceKind, Span, Text,
    TokenFigure, Trust, count_of, phrase,
};

use crate::gap_ranks::{GapRanks, Name, name};
use crate::message_costs::MessageCosts;
use crate::token_limiter::{Units, is_one_of_several};
use crate::window::LoadedWindow;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropResult {
    pub(crate) messages: usize,
    /// Tokens kept of a shortened group.
    pub(crate) kept_of_shortened: u64,
    /// Tokens of tool rounds that fit, but were dropped with their question.
    pub(crate) rounds: u64,
}

/// Drops the oldest `count` groups and the tool rounds of a dropped question, or shortens the newest of these
/// groups if the settings allow it and the rest fits into `left` tokens.
///
/// A single injection between dropped messages moves to the front of the kept ones. O(messages).
pub(crate) fn drop_oldest(
    cx: &mut PipelineContext<'_>,
    units: &Units,
    count: usize,
    left: u64,
) -> DropResult {
    let newest: Vec<usize> = count.checked_sub(1).map_or_else(Vec::new, |unit| units.members(unit).collect());
    let window = cx.blackboard.get::<LoadedWindow>().cloned().unwrap_or_default();
    let skipped = window.skipped;
    let mut shortened = shorten(cx, &newest, left);
    let mut all = count;
    if shortened.as_ref().is_none_or(|cut| cut.message.role != Role::User) {
        all = units.with_rounds(cx.draft.messages(), count, has_question(cx, skipped));
        shortened = shortened.filter(|_| all == count);
    }
    let end = units.end(all - usize::from(shortened.is_some()));
    let limits = MessageCosts::new(cx).as_limiter(Some(cx.config));
    let rounds = (count..all).flat_map(|unit| units.members(unit));
    let rounds =
        rounds.filter_map(|index| cx.draft.messages().get(index)).map(|message| limits.cost(message));
    let rounds = rounds.sum();
    let mut run = DroppedRun::new(window, budget_phrase(cx.inputs.budget), shortened.is_some());
    let ranks = cx.blackboard.get::<GapRanks>().cloned().unwrap_or_default();
    let mut sifted = RemainingMessages::default();
    let costing = MessageCosts::new(cx);
    for (index, message) in cx.draft.take_messages().into_iter().enumerate() {
        match index < end && units.has(index) {
            false => {
                let is_unloaded = ranks.unloaded_gap(&message, skipped).is_some();
                sifted.keep(message, index < end || is_unloaded, &ranks);
            }
            true if is_one_of_several(&message) => sifted.drop_point(&message),
            true => run.add(&message, &costing),
        }
        if let Some(cut) = shortened.as_ref().filter(|cut| cut.index == index) {
            sifted.replace_last(cut.message.clone());
        }
    }
    let dropped = DropResult {
        messages: run.loaded + usize::from(shortened.is_some()),
        kept_of_shortened: shortened.as_ref().map_or(0, |cut| cut.tokens),
        rounds,
    };
    cx.draft.decide_all(shortened.map(|cut| cut.decision));
    cx.draft.decide_all(run.decision());
    let (messages, decisions) = sifted.finish(&ranks);
    cx.draft.set_messages(messages);
    cx.draft.decide_all(decisions);
    dropped
}

fn has_question(cx: &PipelineContext<'_>, skipped: usize) -> bool {
    let session = cx.inputs.session;
    let role = |position: usize| session.sent_node(position).map(|(_, node)| node.role.unwrap_or_default());
    let pinned = (0..session.sent_len())
        .take_while(|position| role(*position).is_some_and(Role::is_instruction))
        .count();
    (pinned..pinned + skipped).rev().any(|position| role(position) == Some(Role::User))
}

#[derive(Default)]
struct RemainingMessages {
    messages: Vec<Message>,
    /// Positions of single injections between dropped messages.
    moved: Vec<usize>,
    front: Option<usize>,
    points: Vec<Decision>,
    placements: BTreeMap<Name, usize>,
    moves: Vec<Decision>,
}

impl RemainingMessages {
    /// The assembler has already reported messages that it moved to the front.
    fn keep(&mut self, message: Message, is_before_the_last_gone: bool, ranks: &GapRanks) {
        if !is_before_the_last_gone {
            self.front.get_or_insert(self.messages.len());
        } else if message.place == (Place::Gap { multiple: false }) {
            if !ranks.is_reported(&message) {
                let reason = phrase!("its position is in dropped messages; placed before the kept ones");
                self.moves.push(Decision::new(Outcome::Moved, message.source.clone(), reason));
            }
            self.moved.push(self.messages.len());
        }
        self.messages.push(message);
    }

    fn replace_last(&mut self, message: Message) {
        if let Some(last) = self.messages.last_mut() {
            *last = message;
        }
    }

    /// One decision for all depths of a placement.
    fn drop_point(&mut self, message: &Message) {
        let next = self.points.len();
        let known = *self.placements.entry(name(&message.source)).or_insert(next);
        if let Some(decision) = self.points.get_mut(known) {
            decision.count += 1;
            return;
        }
        let reason = phrase!("its depths are in dropped messages");
        self.points.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
    }

    fn finish(mut self, ranks: &GapRanks) -> (Vec<Message>, Vec<Decision>) {
        if !self.moved.is_empty() {
            let front = self.front.unwrap_or(self.messages.len());
            let at_front = self.messages.iter().enumerate().skip(front);
            let at_front = at_front.take_while(|(_, message)| matches!(message.place, Place::Gap { .. }));
            let mut places = self.moved;
            places.extend(at_front.map(|(place, _)| place));
            // Injections with an unloaded slot are already at the front.
            places.sort_unstable();
            places.dedup();
            let mut sorted: Vec<Message> =
                places.iter().filter_map(|place| self.messages.get(*place).cloned()).collect();
            sorted.sort_by_cached_key(|message| ranks.key(message));
            for (place, message) in places.into_iter().zip(sorted) {
                if let Some(slot) = self.messages.get_mut(place) {
                    *slot = message;
                }
            }
        }
        self.moves.append(&mut self.points);
        (self.messages, self.moves)
    }
}

/// One decision for all dropped messages, including unloaded ones.
///
/// Bytes and tokens refer to the text. Nothing more is known of unloaded messages.
struct DroppedRun {
    first: Option<Source>,
    loaded: usize,
    count: usize,
    bytes: u64,
    tokens: u64,
    is_exact: bool,
    budget: Phrase,
    is_one_shortened: bool,
}

impl DroppedRun {
    fn new(window: LoadedWindow, budget: Phrase, is_one_shortened: bool) -> Self {
        let (skipped, bytes) =
            if window.is_reported { (0, 0) } else { (window.skipped, window.skipped_bytes) };
        Self {
            first: window.oldest.filter(|_| skipped > 0),
            loaded: 0,
            count: skipped,
            bytes,
            tokens: bytes,
            is_exact: skipped == 0,
            budget,
            is_one_shortened,
        }
    }

    fn add(&mut self, message: &Message, costing: &MessageCosts<'_>) {
        let (tokens, is_exact) = costing.text(message);
        self.first.get_or_insert_with(|| message.source.clone());
        self.loaded += 1;
        self.count += 1;
        self.bytes += message.content.len() as u64;
        self.tokens = self.tokens.saturating_add(tokens);
        self.is_exact &= is_exact;
    }

    /// Without a dropped message, too few were loaded, and another run follows.
    fn decision(&self) -> Option<Decision> {
        let is_decided = self.loaded > 0 || self.is_one_shortened;
        let source = self.first.clone().filter(|_| is_decided)?;
        let reason = phrase!("does not fit the budget of {budget}", budget = self.budget);
        let mut decision = Decision::new(Outcome::Dropped, source, reason);
        decision.count = self.count;
        decision.bytes = usize::try_from(self.bytes).ok();
        decision.tokens = Some(if self.is_exact {
            TokenFigure::Exact(self.tokens)
        } else {
            TokenFigure::AtMost(self.tokens)
        });
        Some(decision)
    }
}

fn budget_phrase(budget: &Budget) -> Phrase {
    let available = i64::from(budget.available.unwrap_or_default());
    match reserved_tokens(budget) {
        0 => tokens(available),
        free => {
            phrase!("{tokens}, {free} of them for later processors", tokens = tokens(available + free), free)
        }
    }
}

fn tokens(count: i64) -> Phrase {
    count_of!(usize::try_from(count).unwrap_or_default(), "token")
}

/// Tokens reserved for later processors: part of the lines of the budget, but not of `available`.
pub(crate) fn reserved_tokens(budget: &Budget) -> i64 {
    let available = i64::from(budget.available.unwrap_or_default());
    let whole: i64 = budget.lines.iter().map(|line| line.tokens).sum();
    (whole - available).max(0)
}

struct ShortenedMessage {
    index: usize,
    message: Message,
    decision: Decision,
    /// Tokens of the kept part of the group.
    tokens: u64,
}

fn shorten(cx: &PipelineContext<'_>, unit: &[usize], left: u64) -> Option<ShortenedMessage> {
    let retained = cx.config.count("retainedCharacters");
    let at = |index: &usize| Some((*index, cx.draft.messages().get(*index)?));
    let (points, own): (Vec<_>, Vec<_>) =
        unit.iter().filter_map(at).partition(|(_, message)| is_one_of_several(message));
    let [(index, message)] = own.as_slice() else { return None };
    let Content::Text(text) = &message.content else { return None };
    let is_plain = message.tool_calls.is_empty() && message.reasoning.is_none();
    let (end, _) = text.char_indices().nth(retained).filter(|_| is_plain && retained > 0)?;
    let marker = cx.config.text("truncationMarker");
    let mut shortened = (*message).clone();
    shortened.content = Content::Text(Text::from(format!("{}{marker}", text.get(..end)?)));
    shortened.written = cut_segments(message, end, marker.len());
    let kept = points.iter().map(|(_, point)| *point).chain([&shortened]);
    let costing = MessageCosts::new(cx).as_limiter(Some(cx.config));
    let tokens = kept.map(|message| costing.cost(message)).sum();
    let reason = phrase!("truncated to the first {retained} characters", retained);
    let decision = Decision {
        bytes: Some(text.len() - end),
        ..Decision::new(Outcome::Cut, message.source.clone(), reason)
    };
    (tokens <= left).then_some(ShortenedMessage { index: *index, message: shortened, decision, tokens })
}

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
