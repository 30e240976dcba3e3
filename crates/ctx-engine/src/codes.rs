//! Diagnostic codes of this crate: 700 to 749.

use ctx_types::Code;

/// There is neither a conversation nor an input.
pub const NOTHING_TO_ANSWER: Code = Code::new(702, "nothing to send");
/// Settings allow a number of tokens that is none.
pub const CONTEXT_TOKENS: Code = Code::new(703, "invalid number of tokens");
/// The limiter runs before there is anything to limit.
pub const LIMITER_TOO_EARLY: Code = Code::new(705, "limiter runs too early");
/// A macro above stable text differs from turn to turn, so that nothing below it comes from the prompt cache.
pub const CACHE_BREAKER: Code = Code::new(706, "text that breaks the prompt cache");
