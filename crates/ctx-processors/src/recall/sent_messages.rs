use std::collections::{BTreeMap, BTreeSet};

use ctx_pipeline::{PipelineContext, SettingsReader};
use ctx_types::Message;

use crate::internal::ids;
use crate::message_costs::MessageCosts;
use crate::token_limiter::{DroppableGroups, LimiterSettings};

/// The messages that the limiter keeps, depending on the size of the recall message. Older ones are not read.
pub(crate) struct SentMessages<'a> {
    /// Never dropped.
    safe: BTreeSet<&'a str>,
    /// Other messages that fit, with the number of newer groups.
    newer: BTreeMap<&'a str, usize>,
    /// Tokens left after the protected messages and n newest groups. Empty if protected messages do not fit.
    left: Vec<u64>,
    is_limited: bool,
    extra: u64,
}

impl<'a> SentMessages<'a> {
    pub(crate) fn new(cx: &'a PipelineContext<'_>) -> Self {
        let groups = DroppableGroups::from_messages(cx.draft.messages());
        let available = cx.inputs.budget.available.map(u64::from);
        let sent = Self::within(cx, &groups, available);
        let exceeds = sent.left.len() <= groups.len();
        let cut = sent.left.first().and_then(|left| {
            let settings = LimiterSettings::read(&mut SettingsReader::new(cx.config_of(ids::TOKEN_LIMITER)?));
            Some(left - settings.cut_tokens(cx, *left, exceeds)?)
        });
        cut.map_or(sent, |cut| Self::within(cx, &groups, available.map(|available| available - cut)))
    }

    fn within(cx: &'a PipelineContext<'_>, groups: &DroppableGroups, available: Option<u64>) -> Self {
        let messages = cx.draft.messages();
        let is_limited = available.is_some();
        let costing = MessageCosts::as_limiter(cx);
        let take = |left: Option<u64>, message: &Message| {
            if is_limited { left.and_then(|left| costing.take(message, left)) } else { left }
        };
        let safe = messages.iter().enumerate().filter(|(at, _)| !groups.has(*at)).map(|(_, message)| message);
        let mut left = safe.clone().fold(Some(available.unwrap_or_default()), take);
        let mut sent = Self {
            safe: safe.filter_map(id).collect(),
            newer: BTreeMap::new(),
            left: Vec::from_iter(left),
            is_limited,
            extra: costing.extra,
        };
        for newer in 0..groups.len() {
            let members = groups.members(groups.len() - 1 - newer).filter_map(|at| messages.get(at));
            let members: Vec<&Message> = members.collect();
            left = members.iter().copied().fold(left, take);
            sent.left.extend(left);
            if left.is_none() {
                break;
            }
            sent.newer.extend(members.into_iter().filter_map(|message| Some((id(message)?, newer))));
        }
        sent
    }

    pub(crate) fn remaining(&self) -> Option<u64> {
        self.is_limited.then(|| self.left.first().map_or(0, |left| left.saturating_sub(self.extra)))
    }

    pub(crate) fn has(&self, id: &str, taken: u64) -> bool {
        let fits = |newer: &usize| {
            let left = self.left.get(newer + 1);
            !self.is_limited || left.is_some_and(|left| *left >= taken + self.extra)
        };
        self.safe.contains(id) || self.newer.get(id).is_some_and(fits)
    }
}

fn id(message: &Message) -> Option<&str> {
    message.source.id.as_deref().filter(|_| message.source.kind.is_history())
}
