//! Diagnostic codes of this crate: 300 to 399.

use ctx_types::Code;

/// Unregistered macro name; the call is left unchanged.
pub const UNKNOWN_MACRO: Code = Code::new(300, "unknown macro");
/// Call without a required argument; left unchanged.
pub const MISSING_ARGUMENT: Code = Code::new(301, "missing argument");
/// Call with too many arguments.
pub const EXTRA_ARGUMENT: Code = Code::new(302, "extra argument");
/// Call of a known macro without closing braces; left as text.
pub const UNCLOSED_CALL: Code = Code::new(303, "unclosed macro");
/// Closing tag without an open block (left unchanged), or `{{else}}` outside a condition (expands to
/// nothing).
pub const UNMATCHED_CLOSER: Code = Code::new(304, "unmatched block tag");
/// Call with a reserved `|` in an argument; left unchanged.
pub const RESERVED_PIPE: Code = Code::new(305, "reserved character");
/// Call of a known macro, or variable shorthand, that is invalid in the current macro syntax; left unchanged.
pub const UNREAD_CALL: Code = Code::new(306, "invalid macro call");
/// The run reached its limit of macro calls.
pub const STEP_LIMIT: Code = Code::new(310, "too many macro calls");
/// Calls are nested too deeply.
pub const DEPTH_LIMIT: Code = Code::new(311, "macros nested too deeply");
/// The run reached its limit of macro output in bytes.
pub const OUTPUT_LIMIT: Code = Code::new(312, "macro output too long");
/// The run reached its limit of variables or of bytes in variables.
pub const VARIABLE_LIMIT: Code = Code::new(313, "too many variables");
/// A macro needs the time, which is missing or out of range.
pub const NO_TIME: Code = Code::new(320, "missing time");
/// Unknown time zone (UTC is used), or a UTC offset that no time zone has.
pub const UNKNOWN_ZONE: Code = Code::new(321, "unknown time zone");
/// Arithmetic on a variable that is not a number.
pub const NOT_A_NUMBER: Code = Code::new(322, "not a number");
/// Invalid dates in an agent's virtual clock; the real time is used.
pub const BAD_VIRTUAL_TIME: Code = Code::new(323, "invalid virtual time");
/// Result beyond the exact integers of JavaScript; computed as JavaScript does.
pub const INEXACT_NUMBER: Code = Code::new(324, "number too large to be exact");
/// A macro failed to produce a value.
pub const MACRO_FAILED: Code = Code::new(330, "macro failed");
/// Argument of the wrong type or out of range.
pub const BAD_ARGUMENT: Code = Code::new(340, "invalid argument");
/// Unclosed bracket in a date format.
pub const BAD_PATTERN: Code = Code::new(341, "unclosed bracket in a date format");
/// Unsupported language for dates.
pub const UNKNOWN_LOCALE: Code = Code::new(342, "unknown language");
/// Unknown tool name.
pub const UNKNOWN_TOOL: Code = Code::new(343, "unknown tool");
/// The host does not provide the macro's value.
pub const NOT_PROVIDED: Code = Code::new(344, "value not provided by the host");
