//! The trigger of automatic compaction.

use std::fmt;

use ctx_tokens::{ModelFacts, internal::message_cost};
use ctx_types::ports::TokenCounter;
use ctx_types::session::Session;
use ctx_types::{Message, Phrase, phrase};

use crate::mask::config::{MaskConfig, TriggerMode};

/// The size of a conversation: the sent messages of its active path, with summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskTotals {
    /// Tokens of all messages.
    pub tokens: u64,
    /// Number of messages.
    pub messages: usize,
}

impl MaskTotals {
    /// Measures a conversation. O(sent messages).
    pub fn of(session: &Session, counter: &dyn TokenCounter) -> Self {
        let messages = session.sent_len();
        let sent = (0..messages).filter_map(|position| session.sent_message(position));
        Self { tokens: tokens_of(sent, counter), messages }
    }
}

/// Counts messages as [`MaskTotals`] does.
pub(crate) fn tokens_of<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    counter: &dyn TokenCounter,
) -> u64 {
    let facts = ModelFacts::unknown("");
    messages.into_iter().map(|message| u64::from(message_cost(message, &facts, counter).total())).sum()
}

/// The decision of the trigger, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskTrigger {
    fires: bool,
    reason: Phrase,
}

impl MaskTrigger {
    /// Checks the size of a conversation. O(1).
    ///
    /// ```
    /// use ctx_compress::mask::{MaskConfig, MaskTotals, MaskTrigger};
    ///
    /// let config = MaskConfig::default();
    /// let check = |tokens, messages| MaskTrigger::check(&config, MaskTotals { tokens, messages }).fires();
    /// assert_eq!((check(80_000, 15), check(80_001, 15), check(80_001, 14)), (false, true, false));
    /// ```
    pub fn check(config: &MaskConfig, totals: MaskTotals) -> Self {
        let MaskTotals { tokens, messages } = totals;
        let minimum = config.min_history_count;
        let has_too_many_tokens =
            tokens > config.token_threshold && config.trigger_mode != TriggerMode::Count;
        let has_too_many_messages =
            messages > config.count_threshold && config.trigger_mode != TriggerMode::Token;
        let (fires, reason) = if !config.enabled {
            (false, phrase!("compression is disabled"))
        } else if !config.auto_trigger {
            (false, phrase!("compression is manual"))
        } else if messages < minimum {
            (false, phrase!("{messages} messages; compression starts at {minimum}", messages, minimum))
        } else if has_too_many_tokens {
            let threshold = config.token_threshold;
            (true, phrase!("{tokens} tokens exceed the threshold of {threshold}", tokens, threshold))
        } else if has_too_many_messages {
            let threshold = config.count_threshold;
            (true, phrase!("{messages} messages exceed the threshold of {threshold}", messages, threshold))
        } else {
            (false, phrase!("no threshold is exceeded"))
        };
        Self { fires, reason }
    }

    /// Returns whether to compress the conversation.
    pub const fn fires(&self) -> bool {
        self.fires
    }

    /// Returns the reason.
    pub fn phrase(&self) -> Phrase {
        self.reason.clone()
    }
}

impl fmt::Display for MaskTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}
