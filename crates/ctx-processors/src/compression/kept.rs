//! What is kept between turns: a settled beginning is rewritten once, and stays so until the trigger fires again.

use std::sync::Arc;

use ctx_compress::request::is_summary;
use ctx_types::{Message, Phrase, Place, Session};

use crate::compression::beginning::Beginning;
use crate::compression::settings::Settings;
use crate::token_limiter::is_one_of_several;

/// What `request-compressor` made of the settled beginning of a conversation, for its later turns.
///
/// It goes on the blackboard before a run and is taken from there after it; whoever holds the conversation keeps it
/// in between. It holds for a conversation that begins with the messages that it was made from: each turn compares
/// them, shared ones by their address, and begins anew where they differ; those that need not be loaded are known to be
/// the same by the message behind them. A clone is O(1).
#[derive(Clone, Debug, Default)]
pub struct KeptCompression {
    pub(super) made: Option<Arc<RewrittenHistory>>,
    /// What the stage gave in the last turn.
    pub(super) sent: Arc<Vec<Message>>,
    /// What of the rewritten beginning need not be loaded.
    pub(crate) beginning: Option<Arc<Beginning>>,
}

impl KeptCompression {
    /// Returns whether there is a rewritten beginning.
    pub fn is_set(&self) -> bool {
        self.made.is_some()
    }

    /// Returns it such that all is loaded.
    #[must_use]
    pub fn loading_all(self) -> Self {
        Self { beginning: None, ..self }
    }

    /// Returns the last message of the conversation that was rewritten.
    pub(super) fn last_covered(&self) -> Option<&Message> {
        self.made.as_ref()?.covered.last().map(|covered| &covered.message)
    }

    /// Returns what need not be loaded of a conversation, if that still has it and a window of so many tokens behind so
    /// many leading instructions loads nothing older. O(1).
    pub(crate) fn beginning(&self, session: &Session, pinned: usize, window: u64) -> Option<&Beginning> {
        self.beginning.as_deref().filter(|beginning| beginning.is_of(session, pinned, window))
    }
}

/// A rewritten beginning.
#[derive(Debug)]
pub(super) struct RewrittenHistory {
    pub(super) settings: Settings,
    /// The messages of the conversation that it was made from, oldest first.
    pub(super) covered: Vec<Covered>,
    /// New messages, each with the number of covered messages before it.
    pub(super) notes: Vec<(usize, Message)>,
}

/// A message of the conversation, and what became of it.
#[derive(Clone, Debug)]
pub(super) struct Covered {
    pub(super) message: Message,
    pub(super) became: Became,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Became {
    /// It is as it was.
    Itself,
    /// This shorter one.
    Cut(Message, Arc<Phrase>),
    /// It is in a note, and no longer sent.
    Merged(Arc<Phrase>),
    /// It is no longer sent.
    Dropped(Arc<Phrase>),
}

impl Became {
    pub(super) const fn is_gone(&self) -> bool {
        matches!(self, Self::Merged(_) | Self::Dropped(_))
    }
}

/// The messages that a pass looks at: those of a draft, or with what was kept in the place of some.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    pub(super) messages: Vec<Message>,
    pub(super) origins: Vec<Origin>,
    /// What became earlier of the first messages of the conversation, as far as they are loaded.
    pub(super) became: Vec<(usize, Became)>,
    /// Whether all that was rewritten is loaded.
    pub(super) is_whole: bool,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It stands in the draft, at this place.
    Draft(usize),
    /// It is a note; so many loaded messages of those that were rewritten stand before it.
    Note(usize),
}

impl Origin {
    /// Returns the place in the draft.
    pub(super) const fn place(self) -> Option<usize> {
        match self {
            Self::Draft(place) => Some(place),
            Self::Note(_) => None,
        }
    }
}

impl Basis {
    /// The messages of a draft, as they are.
    pub(super) fn of(draft: &[Message]) -> Self {
        let origins = (0..draft.len()).map(Origin::Draft).collect();
        Self { messages: draft.to_vec(), origins, became: Vec::new(), is_whole: true }
    }

    fn push(&mut self, message: Message, origin: Origin) {
        self.messages.push(message);
        self.origins.push(origin);
    }
}

/// Returns whether a message is one that strategies decide about.
pub(super) fn is_free(message: &Message) -> bool {
    message.place == Place::History && !message.is_continuation_prefix && !is_summary(message)
}

impl RewrittenHistory {
    /// Puts what was kept in the place of what it was made from; `None` if the draft begins with something else.
    ///
    /// Of what it was made from, the oldest may be missing if some of the conversation was not loaded. O(messages).
    pub(super) fn renew(&self, draft: &[Message], is_all_loaded: bool) -> Option<Basis> {
        let last = &self.covered.last()?.message;
        let end = draft.iter().rposition(|message| is_same(message, last))?;
        let free: Vec<usize> = (0..=end).filter(|index| draft.get(*index).is_some_and(is_free)).collect();
        let missing = self.covered.len().checked_sub(free.len())?;
        if missing > 0 && is_all_loaded {
            return None;
        }
        let covered = self.covered.get(missing..)?;
        let is_covered = |(index, covered): (&usize, &Covered)| {
            draft.get(*index).is_some_and(|message| is_same(message, &covered.message))
        };
        if !free.iter().zip(covered).all(is_covered) {
            return None;
        }
        let became: Vec<(usize, Became)> =
            free.into_iter().zip(covered.iter().map(|covered| covered.became.clone())).collect();
        let mut basis = self.write(draft, &became, missing);
        basis.is_whole = missing == 0;
        basis.became = became;
        Some(basis)
    }

    fn write(&self, draft: &[Message], became: &[(usize, Became)], missing: usize) -> Basis {
        let mut basis = Basis::default();
        let mut notes = self.notes.iter().peekable();
        let mut next = became.iter().enumerate().peekable();
        for (index, message) in draft.iter().enumerate() {
            let (position, free, became) = match next.peek() {
                Some((position, (free, became))) => (*position, *free, became),
                None => (usize::MAX, index, &Became::Itself),
            };
            // What stands at one of several points goes with the message that follows.
            let is_lead = draft.get(index..free).unwrap_or_default().iter().all(is_one_of_several);
            while let Some((before, note)) =
                notes.next_if(|(before, _)| is_lead && *before <= missing.saturating_add(position))
            {
                basis.push(note.clone(), Origin::Note(before.saturating_sub(missing)));
            }
            match became {
                Became::Cut(short, _) if index == free => basis.push(short.clone(), Origin::Draft(index)),
                became if is_lead && became.is_gone() => {}
                _ => basis.push(message.clone(), Origin::Draft(index)),
            }
            if index == free {
                next.next();
            }
        }
        for (before, note) in notes {
            basis.push(note.clone(), Origin::Note(before.saturating_sub(missing)));
        }
        basis
    }
}

/// Returns whether a message is the same as in an earlier turn.
pub(super) fn is_same(now: &Message, before: &Message) -> bool {
    now.is_shared_with(before) || (now.source.id == before.source.id && now == before)
}
