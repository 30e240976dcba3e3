use std::sync::Arc;

use ctx_pipeline::PipelineContext;
use ctx_tokens::Budget;
use ctx_types::internal::SourcedText;
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Content, Message, Phrase, Role, Source, SourceKind, Text, Trust, count_of, phrase};

use crate::message_costs::MessageCosts;
use crate::removal::{Reduction, Removal, RemovalReport};
use crate::token_limiter::{DroppableGroups, Fit, LimiterSettings, is_droppable};
use crate::window::{LoadedWindow, WindowSize, is_one_of_several};

/// Drops the oldest groups, as many as `fit` says, and the tool rounds of a dropped question, or shortens the newest of these
/// groups if the settings allow it and the rest fits into its remaining tokens.
///
/// A single injection between dropped messages moves to the front of the kept ones. Returns the number of
/// dropped and shortened messages. O(messages).
pub(crate) fn drop_oldest(
    cx: &mut PipelineContext<'_>,
    settings: &LimiterSettings,
    groups: &DroppableGroups,
    fit: &Fit,
) -> usize {
    let Fit { dropped: count, left } = *fit;
    let newest: Vec<usize> =
        count.checked_sub(1).map_or_else(Vec::new, |unit| groups.members(unit).collect());
    let session = cx.inputs.session;
    let window = cx.blackboard.get::<LoadedWindow>().copied().unwrap_or_default();
    let mut shortened = shorten(cx, settings, &newest, left);
    let mut all = count;
    if shortened.as_ref().is_none_or(|cut| cut.message.role != Role::User) {
        let role = |position| session.sent_node(position).and_then(|(_, node)| node.role);
        let is_question = |position| role(position).unwrap_or_default() == Role::User;
        let has_question = window.unloaded().rev().any(is_question);
        all = groups.with_rounds(cx.draft.messages(), count, has_question);
        shortened = shortened.filter(|_| all == count);
    }
    let mut messages = cx.draft.take_messages();
    let reason = phrase!("does not fit the budget of {budget}", budget = budget_phrase(cx.inputs.budget));
    let gone = 0..all - usize::from(shortened.is_some());
    let reduction = Reduction::Dropped(Arc::new(reason.clone()));
    let reductions = gone.flat_map(|unit| groups.members(unit)).map(|number| (number, reduction.clone()));
    let removal = Removal { reductions: reductions.collect(), digests: Vec::new() };
    let mut dropped = removal.gone_count(&messages);
    let mut decisions = Vec::new();
    if let Some(ShortenedMessage { index, message, decision }) = shortened {
        messages[index] = message;
        decisions.push(decision);
        dropped += 1;
    }
    // Without a dropped message, too few were loaded, and another run follows.
    let is_reported = cx.blackboard.get::<WindowSize>().is_some_and(|size| size.is_final);
    if dropped > 0 && !is_reported {
        decisions.extend(window.decision(session, Outcome::Dropped, reason));
    }
    let moved = removal.moved(&messages, 0, is_droppable);
    let report = RemovalReport {
        decisions,
        moved: phrase!("its position is in dropped messages; placed before the kept ones"),
        dropped: phrase!("its depths are in dropped messages"),
    };
    cx.draft.decide_all(removal.decisions(&messages, &moved, &MessageCosts::new(cx), report));
    cx.draft.set_messages(removal.apply(&messages, |_| false).sort_gaps(&moved));
    dropped
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
}

fn shorten(
    cx: &PipelineContext<'_>,
    settings: &LimiterSettings,
    unit: &[usize],
    left: u64,
) -> Option<ShortenedMessage> {
    let retained = settings.retained_characters;
    let at = |index: &usize| Some((*index, cx.draft.messages().get(*index)?));
    let (points, own): (Vec<_>, Vec<_>) =
        unit.iter().filter_map(at).partition(|(_, message)| is_one_of_several(message));
    let [(index, message)] = own.as_slice() else { return None };
    let Content::Text(text) = &message.content else { return None };
    let is_plain = message.tool_calls.is_empty() && message.reasoning.is_none();
    let (end, _) = text.char_indices().nth(retained).filter(|_| is_plain && retained > 0)?;
    let mut cut = SourcedText::default();
    cut.copy(&text[..end], &message.segments(), 0);
    let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("token-limiter");
    cut.push(&settings.truncation_marker, source, Vec::new());
    let mut shortened = (*message).clone();
    shortened.content = Content::Text(Text::from(cut.text));
    shortened.written = cut.segments;
    let kept = points.iter().map(|(_, point)| *point).chain([&shortened]);
    let costing = MessageCosts::as_limiter(cx);
    let tokens: u64 = kept.map(|message| costing.cost(message)).sum();
    let reason = phrase!("truncated to the first {retained} characters", retained);
    let decision = Decision {
        bytes: Some(text.len() - end),
        ..Decision::new(Outcome::Cut, message.source.clone(), reason)
    };
    (tokens <= left).then_some(ShortenedMessage { index: *index, message: shortened, decision })
}
