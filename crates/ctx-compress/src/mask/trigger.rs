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

/// The decision of the trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaskTrigger {
    /// There are more tokens than the threshold.
    TooManyTokens {
        /// Number of tokens.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// There are more messages than the threshold.
    TooManyMessages {
        /// Number of messages.
        messages: usize,
        /// The threshold.
        threshold: usize,
    },
    /// Compaction is disabled.
    Off,
    /// Compaction is manual.
    ByHandOnly,
    /// The conversation has too few messages.
    TooShort {
        /// Number of messages.
        messages: usize,
        /// The required number.
        minimum: usize,
    },
    /// No threshold is exceeded.
    WithinThresholds,
}

impl MaskTrigger {
    /// Returns whether to compress the conversation.
    pub const fn fires(self) -> bool {
        matches!(self, Self::TooManyTokens { .. } | Self::TooManyMessages { .. })
    }

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
        let too_many_tokens = tokens > config.token_threshold;
        let too_many_messages = messages > config.count_threshold;
        let of_tokens = Self::TooManyTokens { tokens, threshold: config.token_threshold };
        let of_messages = Self::TooManyMessages { messages, threshold: config.count_threshold };
        match config.trigger_mode {
            _ if !config.enabled => Self::Off,
            _ if !config.auto_trigger => Self::ByHandOnly,
            _ if messages < config.min_history_count => {
                Self::TooShort { messages, minimum: config.min_history_count }
            }
            TriggerMode::Token | TriggerMode::Both if too_many_tokens => of_tokens,
            TriggerMode::Count | TriggerMode::Both if too_many_messages => of_messages,
            TriggerMode::Token | TriggerMode::Count | TriggerMode::Both => Self::WithinThresholds,
        }
    }

    /// Returns the decision as a phrase.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::TooManyTokens { tokens, threshold } => {
                phrase!("{tokens} tokens exceed the threshold of {threshold}", tokens, threshold)
            }
            Self::TooManyMessages { messages, threshold } => {
                phrase!("{messages} messages exceed the threshold of {threshold}", messages, threshold)
            }
            Self::Off => phrase!("compression is disabled"),
            Self::ByHandOnly => phrase!("compression is manual"),
            Self::TooShort { messages, minimum } => {
                phrase!("{messages} messages; compression starts at {minimum}", messages, minimum)
            }
            Self::WithinThresholds => phrase!("no threshold is exceeded"),
        }
    }
}

impl fmt::Display for MaskTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}
