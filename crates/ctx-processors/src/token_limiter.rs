use ctx_compress::request::older_rounds;
use ctx_pipeline::{
    ConfigField, PipelineContext, PrepareInput, ProcessorError, ProcessorResult, TypedProcessor,
};
use ctx_types::internal::{JoinRule, each_group};
use ctx_types::report::{Decision, Outcome, TokenFigure};
use ctx_types::session::{LogLine, pending_start};
use ctx_types::{Message, Place, Role, SourceKind, count_of, phrase};
use serde_json::json;

use crate::append_only::AppendOnly;
use crate::drop_oldest::{drop_oldest, reserved_tokens};
use crate::infeasible::Infeasible;
use crate::internal::ids;
use crate::message_costs::{MessageCosts, cost_upper_bound};
use crate::request_compressor::compact_running_turn;
use crate::window::is_one_of_several;

/// Drops the oldest message groups until the request fits the budget, and all silent messages.
///
/// The pending turn, an unfinished reply, leading system messages, the preset, and injections are protected;
/// only an injection with several depths is dropped with the history around it. Tool rounds are dropped with
/// the question of their turn: providers reject a conversation that starts with a tool call. If the pending
/// turn does not fit, its older tool rounds become previews or a digest.
///
/// If the bytes of everything fit, nothing is counted. Otherwise, protected messages are counted, then groups
/// from the newest to the first that does not fit. The cost depends on the budget, not on the length of the
/// conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokenLimiter;

/// Result of the limiter, on the blackboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimiterResult {
    /// Number of dropped or shortened messages of the conversation.
    pub dropped: usize,
    /// Tokens of all remaining messages; `None` without a budget.
    pub kept: Option<TokenFigure>,
}

settings! {
    pub(crate) LimiterSettings {
        retained_characters: usize = ConfigField::integer("retainedCharacters", "Truncate to (characters)", 0)
            .between(0.0, 10_000_000.0)
            .with_description("the first message that does not fit; 0: drop it. Plain text only"),
        extra: u64 = ConfigField::integer("extraTokensPerMessage", "Extra tokens per message", 0)
            .between(0.0, 1_000.0)
            .with_description("to match applications that count more than the model"),
        cut_to: f64 = ConfigField::share("cutTo", "Cut to (share of the budget)", 0.65)
            .with_description("when an append-only conversation exceeds the budget"),
        truncation_marker: String = ConfigField::text("truncationMarker", "Truncation marker", "\n…"),
    }
}

impl LimiterSettings {
    /// Returns the tokens of `left` that a new append-only prefix uses for the conversation if it must be cut: a
    /// large step, so that many requests can repeat this one. At least half stays.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u32")]
    pub(crate) fn cut_tokens(&self, cx: &PipelineContext<'_>, left: u64, exceeds: bool) -> Option<u64> {
        let append_only = cx.blackboard.get::<AppendOnly>();
        let is_new = append_only.is_some_and(|new| new.starts_prefix() && (exceeds || new.must_cut()));
        let available = cx.inputs.budget.available.filter(|_| is_new)?;
        let unused = available - (f64::from(available) * self.cut_to) as u32;
        Some(left.saturating_sub(unused.into()).max(left / 2))
    }
}

impl TypedProcessor for TokenLimiter {
    type Prepared = LimiterSettings;

    describe!(
        400,
        ids::TOKEN_LIMITER,
        "Token limiter",
        "Drops the oldest messages until the request fits the budget",
        is_core
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> LimiterSettings {
        LimiterSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &LimiterSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        cx.blackboard.insert(LimiterResult::default());
        drop_silent(cx);
        let Some(available) = cx.inputs.budget.available else {
            cx.log(phrase!("no budget, nothing to drop"));
            return Ok(());
        };
        let bound = |message| cost_upper_bound(message, cx.inputs.model) + settings.extra;
        let bound = cx.draft.messages().iter().map(bound);
        let bound = bound.fold(0, u64::saturating_add);
        let must_cut = cx.blackboard.get::<AppendOnly>().is_some_and(AppendOnly::must_cut);
        if bound <= u64::from(available) && !must_cut {
            cx.log(phrase!("everything fits without counting"));
            cx.blackboard.insert(LimiterResult { dropped: 0, kept: Some(TokenFigure::AtMost(bound)) });
            return Ok(());
        }
        if can_compact_running_turn(cx, available) {
            compact_running_turn(cx, available);
        }
        let groups = DroppableGroups::from_messages(cx.draft.messages());
        let left = left_for_history(cx, &groups, available)?;
        let mut fit = groups.fit(cx, left)?;
        if let Some(tokens) = settings.cut_tokens(cx, left, fit.dropped > 0) {
            fit = groups.fit(cx, tokens)?;
        }
        let dropped = if fit.dropped == 0 { 0 } else { drop_oldest(cx, settings, &groups, &fit) };
        let costing = MessageCosts::as_limiter(cx);
        let kept = TokenFigure::Exact(cx.draft.messages().iter().map(|message| costing.cost(message)).sum());
        cx.blackboard.insert(LimiterResult { dropped, kept: Some(kept) });
        let line = match dropped {
            0 => phrase!("everything fits: {used}", used = kept),
            count => phrase!(
                "{messages} dropped or truncated, {kept} kept",
                messages = count_of!(count, "message"),
                kept
            ),
        };
        cx.log(match reserved_tokens(cx.inputs.budget) {
            0 => LogLine::info(line),
            left => LogLine::info(line).with_details(json!({ "leftForLaterStages": left })),
        });
        Ok(())
    }
}

/// The message after a silent entry is not joined with the one above. Silent messages of the conversation do not
/// divide, as in `SillyTavern`.
fn drop_silent(cx: &mut PipelineContext<'_>) {
    if !cx.draft.messages().iter().any(|message| message.is_silent) {
        return;
    }
    let mut messages = cx.draft.take_messages();
    let (mut dropped, mut follows_entry) = (Vec::new(), false);
    messages.retain_mut(|message| {
        if message.is_silent {
            // The assembler has reported entries of the preset.
            if message.place == Place::History {
                let stored = message.source.id.as_deref().and_then(|id| cx.inputs.session.node(id));
                let is_stored_blank =
                    stored.is_some_and(|node| node.content.as_ref().is_none_or(ctx_types::Content::is_blank));
                let reason =
                    if is_stored_blank { phrase!("blank") } else { phrase!("empty after the regex rules") };
                dropped.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
            } else {
                follows_entry = true;
            }
        } else if std::mem::take(&mut follows_entry) {
            message.join_rule = JoinRule::Next;
        }
        !message.is_silent
    });
    cx.draft.set_messages(messages);
    cx.draft.decide_all(dropped);
}

/// Droppable message groups, oldest first, with their injections at several depths.
pub(crate) struct DroppableGroups {
    /// A group starts where the previous one ends. Protected messages may be inside.
    ends: Vec<usize>,
    /// The other messages are protected.
    is_member: Vec<bool>,
}

/// Number of groups to drop, and tokens left.
pub(crate) struct Fit {
    pub(crate) dropped: usize,
    pub(crate) left: u64,
}

impl DroppableGroups {
    pub(crate) fn from_messages(messages: &[Message]) -> Self {
        let is_history = |index: &usize| messages.get(*index).is_some_and(is_droppable);
        let indexes: Vec<usize> = (0..messages.len()).filter(is_history).collect();
        let history: Vec<&Message> = indexes.iter().filter_map(|index| messages.get(*index)).collect();
        let settled = pending_start(&history);
        let groups = each_group(history.get(..settled).unwrap_or_default());
        let ends = groups.filter_map(|group| Some(indexes.get(group)?.last()? + 1)).collect();
        let mut droppable = Self { ends, is_member: vec![false; messages.len()] };
        // An injection with several depths belongs to the group after it.
        let is_point = |index: &usize| messages.get(*index).is_some_and(is_one_of_several);
        let points = (0..droppable.end(droppable.ends.len())).filter(is_point);
        for index in indexes.into_iter().take(settled).chain(points) {
            droppable.is_member[index] = true;
        }
        droppable
    }

    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn end(&self, count: usize) -> usize {
        count.checked_sub(1).and_then(|newest| self.ends.get(newest)).copied().unwrap_or_default()
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.is_member.get(index) == Some(&true)
    }

    pub(crate) fn members(&self, unit: usize) -> impl Iterator<Item = usize> {
        (self.end(unit)..self.end(unit + 1)).filter(|index| self.has(*index))
    }

    /// Tool rounds are dropped with the question of their turn.
    ///
    /// `has_older_question`: a question precedes all groups.
    pub(crate) fn with_rounds(&self, messages: &[Message], count: usize, has_older_question: bool) -> usize {
        let own = |unit: usize| {
            let members = self.members(unit).filter_map(|index| messages.get(index));
            members.filter(|message| is_droppable(message))
        };
        let is_question = |unit: &usize| own(*unit).any(|message| message.role == Role::User);
        let has_calls = |unit: &usize| own(*unit).any(|message| !message.tool_calls.is_empty());
        if !has_older_question && !(0..count).any(|unit| is_question(&unit)) {
            return count;
        }
        let turn_end = (count..self.len()).find(is_question).unwrap_or(self.len());
        (count..turn_end).rfind(has_calls).map_or(count, |round| round + 1)
    }

    fn fit(&self, cx: &PipelineContext<'_>, left: u64) -> Result<Fit, ProcessorError> {
        let costing = MessageCosts::as_limiter(cx);
        let mut fit = Fit { dropped: self.ends.len(), left };
        for unit in (0..self.ends.len()).rev() {
            cx.checkpoint()?;
            let mut members = self.members(unit).filter_map(|index| cx.draft.messages().get(index));
            let Some(left) = members.try_fold(fit.left, |left, message| costing.take(message, left)) else {
                break;
            };
            fit = Fit { dropped: unit, left };
        }
        Ok(fit)
    }
}

/// A joined message belongs to the conversation if all its parts do.
pub(crate) fn is_droppable(message: &Message) -> bool {
    let is_own = |kind: SourceKind| kind.is_history() || kind == SourceKind::Separator;
    let is_history = match message.source.kind {
        SourceKind::Merged => message.segments().iter().all(|segment| is_own(segment.source.kind)),
        kind => kind.is_history(),
    };
    is_history && message.place == Place::History && !message.is_continuation_prefix
}

/// Checks whether protected messages fit only without the older tool rounds of a running turn.
fn can_compact_running_turn(cx: &PipelineContext<'_>, available: u32) -> bool {
    if cx.blackboard.get::<AppendOnly>().is_some_and(AppendOnly::has_prefix) {
        return false;
    }
    let messages = cx.draft.messages();
    let older = older_rounds(messages);
    if older.is_empty() {
        return false;
    }
    let groups = DroppableGroups::from_messages(messages);
    let costing = MessageCosts::as_limiter(cx);
    let (mut rounds, mut others) = (0, 0);
    for (index, message) in messages.iter().enumerate().filter(|(index, _)| !groups.has(*index)) {
        let sum = if older.contains(&index) && is_droppable(message) { &mut rounds } else { &mut others };
        *sum += costing.cost(message);
    }
    let available = u64::from(available);
    others <= available && available < others + rounds
}

fn left_for_history(
    cx: &PipelineContext<'_>,
    groups: &DroppableGroups,
    available: u32,
) -> Result<u64, ProcessorError> {
    let messages = cx.draft.messages().iter().enumerate();
    let safe = messages.filter(|(index, _)| !groups.has(*index)).map(|(_, message)| message);
    let costing = MessageCosts::as_limiter(cx);
    let costs: Vec<(&Message, u64)> = safe.map(|message| (message, costing.cost(message))).collect();
    let used: u64 = costs.iter().map(|(_, tokens)| tokens).sum();
    match u64::from(available).checked_sub(used) {
        Some(left) => Ok(left),
        None => Err(ProcessorError::Infeasible(Box::new(Infeasible::undroppable(available, &costs)))),
    }
}
