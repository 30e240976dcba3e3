//! Diagnostic codes of this crate: 750 to 799.

use ctx_types::Code;

/// An agent names a macro dialect that does not exist, or that this version does not have.
pub const UNKNOWN_DIALECT: Code = Code::new(750, "unknown macro dialect");
