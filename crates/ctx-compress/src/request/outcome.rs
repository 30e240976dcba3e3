//! Outcomes of request compression.

use std::fmt;
use std::sync::Arc;

use ctx_types::internal::{Argument, Divider};
use ctx_types::{Message, Phrase, phrase};
use serde::Serialize;

use crate::request::layout::{LaidGroup, Layout, Part};

/// The outcome of a pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PassOutcome {
    /// The request is smaller.
    Compacted,
    /// The request does not exceed the trigger.
    NotNeeded,
    /// The request exceeds the trigger, but compression would not help. Another pass has the same outcome.
    NoProgress {
        /// The reason, in lower case.
        reason: Phrase,
    },
    /// The protected messages exceed the budget, even if shortened.
    Infeasible(Box<Overflow>),
}

impl PassOutcome {
    /// Returns its name: `compacted`, `notNeeded`, `noProgress` or `infeasible`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::NotNeeded => "notNeeded",
            Self::NoProgress { .. } => "noProgress",
            Self::Infeasible(_) => "infeasible",
        }
    }

    /// Returns the outcome as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Compacted => phrase!("compacted"),
            Self::NotNeeded => phrase!("not needed"),
            Self::NoProgress { reason } => phrase!("no progress: {reason}", reason),
            Self::Infeasible(overflow) => phrase!("impossible: {overflow}", overflow = overflow.phrase()),
        }
    }
}

impl fmt::Display for PassOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Protected messages that exceed the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{}", self.phrase())]
pub struct Overflow {
    /// Tokens of the protected messages, shortened as far as possible.
    pub needed: u64,
    /// The budget.
    pub budget: u64,
    /// Cost of each part, the largest first.
    pub parts: Vec<PartCost>,
    /// The 3 largest messages.
    pub largest: Vec<MessageCost>,
}

/// Cost of a part of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartCost {
    /// The part.
    pub part: Part,
    /// Number of messages.
    pub messages: usize,
    /// Number of tokens.
    pub tokens: u64,
}

impl PartCost {
    /// Adds up groups by part, in the order of their first use.
    pub(crate) fn from_groups(groups: &[LaidGroup]) -> Vec<Self> {
        let mut costs: Vec<Self> = Vec::new();
        for LaidGroup { range, part, tokens } in groups {
            let (part, tokens, messages) = (*part, *tokens, range.len());
            match costs.iter_mut().find(|cost| cost.part == part) {
                Some(cost) => (cost.messages, cost.tokens) = (cost.messages + messages, cost.tokens + tokens),
                None => costs.push(Self { part, messages, tokens }),
            }
        }
        costs
    }
}

/// Cost of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageCost {
    /// The id, if it has one.
    pub id: Option<Arc<str>>,
    /// Tokens of its group.
    pub tokens: u64,
}

impl Overflow {
    /// Returns the costs as a phrase.
    pub fn phrase(&self) -> Phrase {
        let Self { needed, budget, parts, .. } = self;
        let part =
            |cost: &PartCost| phrase!("{part} {tokens}", part = cost.part.phrase(), tokens = cost.tokens);
        let parts = Argument::list(parts.iter().map(part), Divider::Comma);
        phrase!(
            "protected messages need {needed} tokens; the budget is {budget}: {parts}",
            needed,
            budget,
            parts
        )
    }

    /// Adds up the protected groups; `saved` returns the tokens that shortening has saved in a group.
    pub(crate) fn of(
        messages: &[Message],
        layout: &Layout,
        budget: u64,
        saved: impl Fn(&LaidGroup) -> u64,
    ) -> Self {
        let fixed = layout.groups.iter().filter(|group| group.part != Part::History);
        let shortened =
            |group: &LaidGroup| LaidGroup { tokens: group.tokens - saved(group), ..group.clone() };
        let fixed: Vec<LaidGroup> = fixed.map(shortened).collect();
        let needed = fixed.iter().map(|group| group.tokens).sum();
        let mut parts = PartCost::from_groups(&fixed);
        parts.sort_by_key(|cost| std::cmp::Reverse(cost.tokens));
        let id = |index: usize| messages.get(index).and_then(|message| message.source.id.clone());
        let mut largest: Vec<MessageCost> = fixed
            .iter()
            .map(|group| MessageCost { id: id(group.range.start), tokens: group.tokens })
            .collect();
        largest.sort_by_key(|cost| std::cmp::Reverse(cost.tokens));
        largest.truncate(3);
        Self { needed, budget, parts, largest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_names_and_words() {
        let part = |part, tokens| PartCost { part, messages: 1, tokens };
        let parts = vec![part(Part::Current, 12), part(Part::Instructions, 5)];
        let overflow = Overflow { needed: 17, budget: 9, parts, largest: Vec::new() };
        let outcomes = [
            (PassOutcome::Compacted, "compacted", "compacted"),
            (PassOutcome::NotNeeded, "notNeeded", "not needed"),
            (PassOutcome::NoProgress { reason: phrase!("so") }, "noProgress", "no progress: so"),
            (
                PassOutcome::Infeasible(Box::new(overflow)),
                "infeasible",
                "impossible: protected messages need 17 tokens; the budget is 9: current turn 12, leading system messages 5",
            ),
        ];
        for (outcome, name, words) in outcomes {
            assert_eq!((outcome.name(), outcome.to_string().as_str()), (name, words));
            assert_eq!(serde_json::json!(outcome)["kind"], name);
        }
    }
}
