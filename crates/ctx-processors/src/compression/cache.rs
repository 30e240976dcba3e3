use std::sync::Arc;

use ctx_compress::request::is_summary;
use ctx_types::{Message, Phrase, Place};

use crate::compression::settings::Settings;
use crate::token_limiter::is_one_of_several;

/// Compressed prefix of a conversation, cached for later turns.
///
/// Put it on the blackboard before a run, and read it after the run. Each turn compares the compressed
/// messages and starts over if one differs. A clone is O(1).
#[derive(Clone, Debug, Default)]
pub struct CompressionCache {
    pub(super) history: Option<Arc<RewrittenHistory>>,
    /// Messages sent in the last turn.
    pub(super) sent: Arc<Vec<Message>>,
}

impl CompressionCache {
    /// Returns whether a prefix is compressed.
    pub fn is_set(&self) -> bool {
        self.history.is_some()
    }
}

#[derive(Debug)]
pub(super) struct RewrittenHistory {
    pub(super) settings: Settings,
    pub(super) covered: Vec<CoveredMessage>,
    /// Digests, each with the number of covered messages before it.
    pub(super) notes: Vec<(usize, Message)>,
}

#[derive(Clone, Debug)]
pub(super) struct CoveredMessage {
    pub(super) message: Message,
    pub(super) outcome: MessageOutcome,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageOutcome {
    Itself,
    Cut(Message, Arc<Phrase>),
    /// Part of a digest.
    Merged(Arc<Phrase>),
    Dropped(Arc<Phrase>),
}

impl MessageOutcome {
    pub(super) const fn is_gone(&self) -> bool {
        matches!(self, Self::Merged(_) | Self::Dropped(_))
    }
}

/// Input of a pass: a draft, or a draft with cached results.
#[derive(Clone, Debug, Default)]
pub(super) struct PassInput {
    pub(super) messages: Vec<Message>,
    pub(super) origins: Vec<InputOrigin>,
    /// Earlier outcomes, by position in the draft.
    pub(super) outcomes: Vec<(usize, MessageOutcome)>,
    /// Whether all covered messages are loaded.
    pub(super) is_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputOrigin {
    /// Position in the draft.
    Draft(usize),
    /// A digest, with the number of loaded covered messages before it.
    Note(usize),
}

impl InputOrigin {
    pub(super) const fn place(self) -> Option<usize> {
        match self {
            Self::Draft(place) => Some(place),
            Self::Note(_) => None,
        }
    }
}

impl PassInput {
    pub(super) fn from_draft(draft: &[Message]) -> Self {
        let origins = (0..draft.len()).map(InputOrigin::Draft).collect();
        Self { messages: draft.to_vec(), origins, outcomes: Vec::new(), is_whole: true }
    }

    fn push(&mut self, message: Message, origin: InputOrigin) {
        self.messages.push(message);
        self.origins.push(origin);
    }
}

/// Checks whether strategies may change a message.
pub(super) fn is_free(message: &Message) -> bool {
    message.place == Place::History && !message.is_continuation_prefix && !is_summary(message)
}

impl RewrittenHistory {
    /// Replaces covered messages with the cached results. Returns `None` for another prefix.
    ///
    /// The oldest covered messages may not be loaded. O(messages).
    pub(super) fn renew(&self, draft: &[Message], is_all_loaded: bool) -> Option<PassInput> {
        let last = &self.covered.last()?.message;
        let end = draft.iter().rposition(|message| is_same(message, last))?;
        let free: Vec<usize> = (0..=end).filter(|index| draft.get(*index).is_some_and(is_free)).collect();
        let missing = self.covered.len().checked_sub(free.len())?;
        if missing > 0 && is_all_loaded {
            return None;
        }
        let covered = self.covered.get(missing..)?;
        let is_covered = |(index, covered): (&usize, &CoveredMessage)| {
            draft.get(*index).is_some_and(|message| is_same(message, &covered.message))
        };
        if !free.iter().zip(covered).all(is_covered) {
            return None;
        }
        let outcomes: Vec<(usize, MessageOutcome)> =
            free.into_iter().zip(covered.iter().map(|covered| covered.outcome.clone())).collect();
        let mut basis = self.write(draft, &outcomes, missing);
        basis.is_whole = missing == 0;
        basis.outcomes = outcomes;
        Some(basis)
    }

    fn write(&self, draft: &[Message], outcomes: &[(usize, MessageOutcome)], missing: usize) -> PassInput {
        let mut basis = PassInput::default();
        let mut notes = self.notes.iter().peekable();
        let mut next = outcomes.iter().enumerate().peekable();
        for (index, message) in draft.iter().enumerate() {
            let (position, free, outcome) = match next.peek() {
                Some((position, (free, outcome))) => (*position, *free, outcome),
                None => (usize::MAX, index, &MessageOutcome::Itself),
            };
            // An injection with several depths goes with the message after it.
            let is_lead = draft.get(index..free).unwrap_or_default().iter().all(is_one_of_several);
            while let Some((before, note)) =
                notes.next_if(|(before, _)| is_lead && *before <= missing.saturating_add(position))
            {
                basis.push(note.clone(), InputOrigin::Note(before.saturating_sub(missing)));
            }
            match outcome {
                MessageOutcome::Cut(short, _) if index == free => {
                    basis.push(short.clone(), InputOrigin::Draft(index));
                }
                outcome if is_lead && outcome.is_gone() => {}
                _ => basis.push(message.clone(), InputOrigin::Draft(index)),
            }
            if index == free {
                next.next();
            }
        }
        for (before, note) in notes {
            basis.push(note.clone(), InputOrigin::Note(before.saturating_sub(missing)));
        }
        basis
    }
}

pub(super) fn is_same(now: &Message, before: &Message) -> bool {
    now.is_shared_with(before) || (now.source.id == before.source.id && now == before)
}
