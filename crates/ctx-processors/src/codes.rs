//! Diagnostic codes of this crate: 750 to 799.

use ctx_types::Code;

/// An agent names a macro dialect that does not exist.
pub const UNKNOWN_DIALECT: Code = Code::new(750, "unknown macro dialect");
/// The definition of a session variable is wrong.
pub const VARIABLE_DEFINITION: Code = Code::new(760, "bad variable definition");
/// A tag in a message cannot change a session variable as it says.
pub const VARIABLE_CHANGE: Code = Code::new(761, "bad change of a variable");
/// A text refers to a session variable that does not exist.
pub const UNKNOWN_VARIABLE: Code = Code::new(762, "unknown variable");
/// The variables of a request would write more than is allowed.
pub const VARIABLE_OUTPUT: Code = Code::new(763, "too much text from variables");
