//! Diagnostic codes of this crate: 700 to 749.

use ctx_types::Code;

/// There is neither a conversation nor an input.
pub const NOTHING_TO_ANSWER: Code = Code::new(702, "nothing to answer");
