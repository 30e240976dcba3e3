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
/// The end of a block that nothing began, which stays as it is written; or an `{{else}}` outside of a condition, which
/// gives nothing.
pub const UNMATCHED_CLOSER: Code = Code::new(304, "unmatched block tag");
/// A call has a `|` in an argument, which is reserved; it stays as it is written.
pub const RESERVED_PIPE: Code = Code::new(305, "reserved character");
/// A call of a known macro, or the use of a variable in short, is not written as the dialect reads it; it stays as
/// it is written.
pub const UNREAD_CALL: Code = Code::new(306, "invalid macro call");
/// The run has made as many calls as it may.
pub const STEP_LIMIT: Code = Code::new(310, "too many macro calls");
/// Calls are nested deeper than allowed.
pub const DEPTH_LIMIT: Code = Code::new(311, "macros nested too deeply");
/// The macros of the run have written as many bytes as they may.
pub const OUTPUT_LIMIT: Code = Code::new(312, "macro output too long");
/// The run has as many variables, or bytes in them, as it may.
pub const VARIABLE_LIMIT: Code = Code::new(313, "too many variables");
/// A macro needs the time and the run was given none that can be used.
pub const NO_TIME: Code = Code::new(320, "missing time");
/// The name of the time zone is not known, so that UTC is used; or no zone has an offset that is asked for.
pub const UNKNOWN_ZONE: Code = Code::new(321, "unknown time zone");
/// A variable that is counted with holds something other than a number.
pub const NOT_A_NUMBER: Code = Code::new(322, "not a number");
/// The dates of an agent's own clock cannot be used; the real time is.
pub const BAD_VIRTUAL_TIME: Code = Code::new(323, "invalid virtual time");
/// Counting has left the numbers that are exact; it goes on as JavaScript counts.
pub const INEXACT_NUMBER: Code = Code::new(324, "number too large to be exact");
/// A macro reported that it cannot give a value.
pub const MACRO_FAILED: Code = Code::new(330, "macro failed");
/// An argument is of the wrong kind or out of range.
pub const BAD_ARGUMENT: Code = Code::new(340, "invalid argument");
/// A pattern of a date is not complete.
pub const BAD_PATTERN: Code = Code::new(341, "unclosed bracket in a date format");
/// Dates cannot be written in the language that is asked for.
pub const UNKNOWN_LOCALE: Code = Code::new(342, "unknown language");
/// A call names a tool that does not exist.
pub const UNKNOWN_TOOL: Code = Code::new(343, "unknown tool");
/// A macro gives what a host provides, and the host does not.
pub const NOT_PROVIDED: Code = Code::new(344, "value not provided by the host");
