//! Diagnostic codes of this crate: 850 to 899.

use ctx_types::Code;

/// A tool call has no result, because the work on it was interrupted.
pub const INTERRUPTED_CALL: Code = Code::new(850, "interrupted tool call");
/// The arguments of a stored tool call are no JSON object, and are sent within one.
pub const WRAPPED_ARGUMENTS: Code = Code::new(851, "tool arguments wrapped");
/// A stored tool call has a name that no tool can have, and is sent with another.
pub const RENAMED_TOOL: Code = Code::new(852, "invalid tool name replaced");
