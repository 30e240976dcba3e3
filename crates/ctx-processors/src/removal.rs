//! Removal of messages from a draft, by the compressor and the limiter.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::report::{Decision, Outcome, TokenFigure};
use ctx_types::{Message, Phrase, Place, Source, SourceKind};

use crate::message_costs::MessageCosts;
use crate::window::is_one_of_several;

/// What happens to a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reduction {
    /// Part of a digest.
    Merged(Arc<Phrase>),
    Dropped(Arc<Phrase>),
    Cut(Message, Arc<Phrase>),
}

impl Reduction {
    pub(crate) const fn is_gone(&self) -> bool {
        matches!(self, Self::Merged(_) | Self::Dropped(_))
    }
}

/// A digest, with the number of the message after it.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    pub(crate) before: usize,
    pub(crate) message: Message,
}

/// Messages that a processor removes, cuts, and adds. A number is a position in the draft.
///
/// An injection with several depths is removed with messages of the history. A single injection stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Removal {
    /// By number; other messages stay.
    pub(crate) reductions: BTreeMap<usize, Reduction>,
    /// In order.
    pub(crate) digests: Vec<Digest>,
}

/// Messages after a removal.
pub(crate) struct RemainingMessages {
    pub(crate) messages: Vec<Message>,
    pub(crate) origins: Vec<Origin>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// Number of the message in the draft.
    Message(usize),
    Digest {
        before: usize,
    },
}

impl Origin {
    pub(crate) const fn number(self) -> Option<usize> {
        match self {
            Self::Message(number) => Some(number),
            Self::Digest { .. } => None,
        }
    }
}

/// Start of the decisions about a removal, and the reasons for those about injections.
pub(crate) struct RemovalReport {
    pub(crate) decisions: Vec<Decision>,
    pub(crate) moved: Phrase,
    pub(crate) dropped: Phrase,
}

impl Removal {
    pub(crate) fn is_gone(&self, number: usize) -> bool {
        self.reductions.get(&number).is_some_and(Reduction::is_gone)
    }

    /// Counts removed messages without injections.
    pub(crate) fn gone_count(&self, messages: &[Message]) -> usize {
        let gone = self.reductions.iter().filter(|(_, reduction)| reduction.is_gone());
        gone.filter(|(number, _)| !is_one_of_several(&messages[**number])).count()
    }

    /// Returns the remaining messages. A digest goes before injections for which `is_unloaded` is true.
    pub(crate) fn apply(
        &self,
        messages: &[Message],
        is_unloaded: impl Fn(&Message) -> bool,
    ) -> RemainingMessages {
        let mut remaining = RemainingMessages { messages: Vec::new(), origins: Vec::new() };
        let mut digests = self.digests.iter().peekable();
        for (number, message) in messages.iter().enumerate() {
            while let Some(digest) = digests.next_if(|digest| digest.before <= number) {
                remaining.insert_digest(digest, &is_unloaded);
            }
            match self.reductions.get(&number) {
                Some(Reduction::Merged(_) | Reduction::Dropped(_)) => continue,
                Some(Reduction::Cut(short, _)) => remaining.messages.push(short.clone()),
                None => remaining.messages.push(message.clone()),
            }
            remaining.origins.push(Origin::Message(number));
        }
        for digest in digests {
            remaining.insert_digest(digest, &is_unloaded);
        }
        remaining
    }

    /// Returns the single injections from `first` on whose next message of the history is removed.
    pub(crate) fn moved(
        &self,
        messages: &[Message],
        first: usize,
        is_history: impl Fn(&Message) -> bool,
    ) -> Vec<usize> {
        let (mut moved, mut is_next_gone) = (Vec::new(), false);
        for (number, message) in messages.iter().enumerate().skip(first).rev() {
            if message.place == (Place::Gap { multiple: false }) {
                moved.extend(is_next_gone.then_some(number));
            } else if is_history(message) {
                is_next_gone = self.is_gone(number);
            }
        }
        moved.reverse();
        moved
    }

    /// Appends one decision for each run of messages with the same reduction, then for each moved injection that
    /// the assembler has not reported, then for each removed placement with several depths.
    pub(crate) fn decisions(
        &self,
        messages: &[Message],
        moved: &[usize],
        costing: &MessageCosts<'_>,
        report: RemovalReport,
    ) -> Vec<Decision> {
        let RemovalReport { mut decisions, moved: moved_reason, dropped: dropped_reason } = report;
        let mut placements = BTreeMap::new();
        let mut dropped: Vec<Decision> = Vec::new();
        for (message, reduction) in
            self.reductions.iter().map(|(number, reduction)| (&messages[*number], reduction))
        {
            if !is_one_of_several(message) {
                push_decision(&mut decisions, message, reduction, costing);
                continue;
            }
            let known = *placements.entry(placement_id(&message.source)).or_insert(dropped.len());
            if let Some(decision) = dropped.get_mut(known) {
                decision.count += 1;
                continue;
            }
            dropped.push(Decision::new(Outcome::Dropped, message.source.clone(), dropped_reason.clone()));
        }
        let moved = moved.iter().map(|number| &messages[*number]);
        let moved = moved.filter(|message| message.slot_rank.is_none_or(|rank| rank.front.is_none()));
        decisions.extend(
            moved.map(|message| Decision::new(Outcome::Moved, message.source.clone(), moved_reason.clone())),
        );
        decisions.append(&mut dropped);
        decisions
    }
}

fn placement_id(source: &Source) -> (SourceKind, Option<&str>, Option<usize>) {
    (source.kind, source.id.as_deref(), source.index())
}

fn push_decision(
    decisions: &mut Vec<Decision>,
    message: &Message,
    reduction: &Reduction,
    costing: &MessageCosts<'_>,
) {
    let (outcome, reason) = match reduction {
        Reduction::Cut(short, reason) => {
            let bytes = message.content.len().saturating_sub(short.content.len());
            let cut = Decision::new(Outcome::Cut, message.source.clone(), Phrase::clone(reason));
            decisions.push(Decision { bytes: Some(bytes), ..cut });
            return;
        }
        Reduction::Merged(reason) => (Outcome::Merged, reason),
        Reduction::Dropped(reason) => (Outcome::Dropped, reason),
    };
    let (tokens, is_exact) = costing.text(message);
    let tokens = if is_exact { TokenFigure::Exact(tokens) } else { TokenFigure::AtMost(tokens) };
    match decisions.last_mut().filter(|last| last.outcome == outcome && last.reason == **reason) {
        Some(run) => {
            run.count += 1;
            run.bytes = run.bytes.map(|bytes| bytes + message.content.len());
            run.tokens = run.tokens.map(|sum| add(sum, tokens));
        }
        None => decisions.push(Decision {
            bytes: Some(message.content.len()),
            tokens: Some(tokens),
            ..Decision::new(outcome, message.source.clone(), Phrase::clone(reason))
        }),
    }
}

fn add(sum: TokenFigure, more: TokenFigure) -> TokenFigure {
    use TokenFigure::{AtMost, Exact};
    match (sum, more) {
        (Exact(sum), Exact(more)) => Exact(sum.saturating_add(more)),
        (Exact(sum) | AtMost(sum), Exact(more) | AtMost(more)) => AtMost(sum.saturating_add(more)),
    }
}

impl RemainingMessages {
    fn insert_digest(&mut self, digest: &Digest, is_unloaded: impl Fn(&Message) -> bool) {
        let behind = self.messages.iter().rev().take_while(|message| is_unloaded(message)).count();
        let at = self.messages.len() - behind;
        self.messages.insert(at, digest.message.clone());
        self.origins.insert(at, Origin::Digest { before: digest.before });
    }

    /// Sorts neighboring injections if one of them moved.
    pub(crate) fn sort_gaps(mut self, moved: &[usize]) -> Vec<Message> {
        let is_gap = |message: &Message| matches!(message.place, Place::Gap { .. });
        let is_moved =
            |origin: &Origin| origin.number().is_some_and(|number| moved.binary_search(&number).is_ok());
        let mut start = 0;
        for run in self.messages.chunk_by_mut(|left, right| is_gap(left) && is_gap(right)) {
            let origins = &self.origins[start..start + run.len()];
            start += run.len();
            if origins.iter().any(is_moved) {
                run.sort_by_key(Message::slot_key);
            }
        }
        self.messages
    }
}
