//! Diagnostic codes of this crate: 700 to 749.

use ctx_types::Code;

/// The context has no messages.
pub const NOTHING_TO_ANSWER: Code = Code::new(702, "nothing to send");
/// A token limit in the settings is not a valid number.
pub const CONTEXT_TOKENS: Code = Code::new(703, "invalid number of tokens");
/// The limiter runs before messages are loaded.
pub const LIMITER_TOO_EARLY: Code = Code::new(705, "limiter runs too early");
/// A macro above stable text changes every turn, so everything below it misses the prompt cache.
pub const CACHE_BREAKER: Code = Code::new(706, "text that breaks the prompt cache");
/// Text that moves or changes each turn makes the provider read sent text again.
pub const MOVING_TEXT: Code = Code::new(707, "moving text is billed again");
