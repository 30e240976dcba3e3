//! Diagnostic codes of this crate: 300 to 399.

use ctx_types::Code;

/// A call names a macro that nobody registered; it stays as it is written.
pub const UNKNOWN_MACRO: Code = Code::new(300, "unknown macro");
/// A call lacks an argument that its macro needs; it stays as it is written.
pub const MISSING_ARGUMENT: Code = Code::new(301, "missing argument");
/// A call has more arguments than its macro takes.
pub const EXTRA_ARGUMENT: Code = Code::new(302, "extra argument");
/// A call of a known macro has no closing braces; it is text.
pub const UNCLOSED_CALL: Code = Code::new(303, "unclosed macro");
/// The run has made as many calls as it may.
pub const STEP_LIMIT: Code = Code::new(310, "too many macro calls");
/// Calls are nested deeper than allowed.
pub const DEPTH_LIMIT: Code = Code::new(311, "macros nested too deep");
/// The macros of the run have written as many bytes as they may.
pub const OUTPUT_LIMIT: Code = Code::new(312, "macro output too long");
/// The run has as many variables, or bytes in them, as it may.
pub const VARIABLE_LIMIT: Code = Code::new(313, "too many variables");
/// A macro needs the time and the run was given none that can be used.
pub const NO_TIME: Code = Code::new(320, "no time given");
/// The name of the time zone is not known; UTC is used.
pub const UNKNOWN_ZONE: Code = Code::new(321, "unknown time zone");
/// A variable that is counted with holds something other than a number.
pub const NOT_A_NUMBER: Code = Code::new(322, "not a number");
/// A macro reported that it cannot give a value.
pub const MACRO_FAILED: Code = Code::new(330, "macro failed");
