//! Diagnostic codes of this crate: 800 to 824 for requests, 825 to 849 for masks and reports.

use ctx_types::Code;

/// A tool call has no result; a placeholder result is added.
pub const UNANSWERED_CALL: Code = Code::new(800, "tool call without a result");
/// A result belongs to no call; it is left out.
pub const ORPHAN_RESULT: Code = Code::new(801, "tool result without a call");
/// A call has a second result; that one is left out.
pub const DUPLICATE_RESULT: Code = Code::new(802, "second result of a tool call");
/// A result does not directly follow its call; it is moved there.
pub const LATE_RESULT: Code = Code::new(803, "late tool result");
/// A call has no id, or the same id as another call of the message; it is left out.
pub const DUPLICATE_CALL: Code = Code::new(804, "ambiguous tool call");
/// A message of a role other than the assistant has calls; they are left out.
pub const MISPLACED_CALL: Code = Code::new(805, "tool call in another role");
/// A number in the configuration is out of range.
pub const CONFIG: Code = Code::new(806, "request compression setting out of range");
/// A strategy exceeded its room; older rounds were left out instead.
pub const STRATEGY_OVERRUN: Code = Code::new(807, "strategy exceeds the budget");
/// A note was edited and has another number of lines; it is read as plain text.
pub const CHANGED_NOTE: Code = Code::new(808, "edited digest");
/// Messages are not or only partly searched because there is too much text.
pub const RECALL_LIMIT: Code = Code::new(809, "recall searches part of a message");

/// A mask setting has an invalid value.
pub const MASK_SETTING: Code = Code::new(825, "invalid compaction setting");
/// A mask setting is unknown.
pub const UNKNOWN_MASK_SETTING: Code = Code::new(826, "unknown compaction setting");
/// A summary prompt has no placeholder for the messages.
pub const PROMPT_WITHOUT_CONTEXT: Code = Code::new(827, "summary prompt without {context}");
/// A summary covers itself, or summaries cover each other in a circle.
pub const CYCLIC_SUMMARY: Code = Code::new(830, "cyclic summary");
/// A summary covers messages that do not exist or are not before it.
pub const FOREIGN_SUMMARY_ID: Code = Code::new(831, "invalid message id in a summary");
/// A summary covers nothing.
pub const EMPTY_SUMMARY: Code = Code::new(832, "summary without messages");
/// A summary covers a message twice.
pub const DOUBLED_SUMMARY_ID: Code = Code::new(833, "duplicate id in a summary");
/// Two active summaries cover the same messages.
pub const OVERLAPPING_SUMMARIES: Code = Code::new(834, "overlapping summaries");
/// A summary covers another one that is disabled.
pub const SUMMARY_OF_A_DISABLED_ONE: Code = Code::new(835, "summary of a disabled summary");

/// A report on facts is incomplete because there was too much text.
pub const REPORT_LIMIT: Code = Code::new(840, "incomplete report");
