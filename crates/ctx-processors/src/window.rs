use std::ops::Range;

use ctx_types::report::{Decision, Outcome, TokenFigure};
use ctx_types::session::{Session, Window};
use ctx_types::{Message, Phrase, Place};

/// Amount of the conversation to load, on the blackboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Maximum tokens of the newest messages that the request can need.
    pub tokens: u64,
    /// Whether no larger limit follows: older messages are never loaded.
    pub is_final: bool,
}

/// Messages that the loader did not load, on the blackboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedWindow {
    /// Number of leading system messages, which slot numbers exclude.
    pub pinned: usize,
    /// Number of unloaded messages after the leading system messages.
    pub skipped: usize,
}

impl LoadedWindow {
    /// Returns the positions of the unloaded messages.
    pub(crate) const fn unloaded(self) -> Range<usize> {
        self.pinned..self.pinned + self.skipped
    }

    pub(crate) fn unloaded_bytes(self, session: &Session) -> u64 {
        session.sent_bytes(self.pinned + self.skipped) - session.sent_bytes(self.pinned)
    }

    /// Creates a decision about the unloaded messages. Only their bytes are known.
    pub(crate) fn decision(self, session: &Session, outcome: Outcome, reason: Phrase) -> Option<Decision> {
        let oldest = session.sent_message(self.pinned).filter(|_| self.skipped > 0)?;
        let bytes = self.unloaded_bytes(session);
        Some(Decision {
            count: self.skipped,
            bytes: usize::try_from(bytes).ok(),
            tokens: Some(TokenFigure::AtMost(bytes)),
            ..Decision::new(outcome, oldest.source.clone(), reason)
        })
    }
}

/// Messages that a plug-in put above the leading system messages or after the continued message belong to the
/// conversation.
pub(crate) fn window(mut messages: Vec<Message>, skipped: usize) -> Window {
    let pinned = messages.extract_if(.., |message| message.place == Place::Pinned).collect();
    let prefix = messages.iter().rposition(is_after_conversation);
    let prefix = prefix.map(|prefix| messages.remove(prefix));
    Window { pinned, skipped, is_sent: false, messages, prefix }
}

/// Returns the slot of an injection at the front whose slot is not loaded.
pub(crate) fn unloaded_slot(message: &Message, skipped: usize) -> Option<usize> {
    let is_single = message.place == Place::Gap { multiple: false };
    message.slot_rank?.front.filter(|slot| is_single && *slot < skipped)
}

/// Checks for an injection with several depths.
pub(crate) fn is_one_of_several(message: &Message) -> bool {
    message.place == Place::Gap { multiple: true }
}

/// Checks for a continued reply or message after the conversation, which depths ignore.
pub(crate) fn is_after_conversation(message: &Message) -> bool {
    message.is_continuation_prefix || (message.place == Place::Skeleton && message.source.kind.is_history())
}

/// Left on the blackboard if the input of the turn is an instruction, not a user message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructingInput;
