//! Diagnostic codes of this crate: 700 to 799.

use ctx_types::Code;

/// A switch names a processor that does not exist.
pub const UNKNOWN_PROCESSOR: Code = Code::new(700, "unknown processor");
/// A switch names a processor that this version does not have.
pub const ABSENT_PROCESSOR: Code = Code::new(701, "absent processor");
/// There is neither a conversation nor an input.
pub const NOTHING_TO_ANSWER: Code = Code::new(702, "nothing to answer");
/// An agent names a macro dialect that does not exist, or that this version does not have.
pub const UNKNOWN_DIALECT: Code = Code::new(703, "unknown macro dialect");
