//! Diagnostic codes of this crate: 800 to 849.

use ctx_types::Code;

/// A setting of the masks has a value that it does not take.
pub const MASK_SETTING: Code = Code::new(825, "mask setting");
/// A setting of the masks is not known.
pub const UNKNOWN_MASK_SETTING: Code = Code::new(826, "unknown mask setting");
/// A prompt for summaries has no place for the messages.
pub const PROMPT_WITHOUT_CONTEXT: Code = Code::new(827, "prompt without context");
/// A summary lists itself, or summaries list each other in a circle.
pub const CYCLIC_SUMMARY: Code = Code::new(830, "cyclic summary");
/// A summary lists messages that do not exist or do not stand above it.
pub const FOREIGN_SUMMARY_ID: Code = Code::new(831, "foreign id in a summary");
/// A summary lists nothing that it could stand for.
pub const EMPTY_SUMMARY: Code = Code::new(832, "summary of nothing");
