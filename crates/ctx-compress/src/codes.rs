//! Diagnostic codes of this crate: 800 to 824 for requests, 825 to 849 for masks and reports.

use ctx_types::Code;

/// A tool call has no result; it gets one that says so.
pub const UNANSWERED_CALL: Code = Code::new(800, "tool call without a result");
/// A result answers no call; it is left out.
pub const ORPHAN_RESULT: Code = Code::new(801, "tool result without a call");
/// A call has a second result, which is left out.
pub const DUPLICATE_RESULT: Code = Code::new(802, "second result of a tool call");
/// A result does not directly follow its call; it is moved there.
pub const LATE_RESULT: Code = Code::new(803, "late tool result");
/// Two calls of one message have one id, or one has none; the call is left out.
pub const DUPLICATE_CALL: Code = Code::new(804, "ambiguous tool call");
/// A message that is no assistant's has calls, which are left out.
pub const MISPLACED_CALL: Code = Code::new(805, "tool call in another role");
/// A number of the configuration is out of its range.
pub const CONFIG: Code = Code::new(806, "request compression setting out of range");
/// A strategy kept more than there was room for; older rounds were left out instead.
pub const STRATEGY_OVERRUN: Code = Code::new(807, "strategy exceeds the budget");
/// A note has other lines than its writer knew of, and is read as plain text.
pub const CHANGED_NOTE: Code = Code::new(808, "edited digest");
/// Of messages of a conversation only the first part is searched, because there is too much.
pub const RECALL_LIMIT: Code = Code::new(809, "recall searches part of a message");

/// A setting of the masks has a value that it does not take.
pub const MASK_SETTING: Code = Code::new(825, "invalid compaction setting");
/// A setting of the masks is not known.
pub const UNKNOWN_MASK_SETTING: Code = Code::new(826, "unknown compaction setting");
/// A prompt for summaries has no place for the messages.
pub const PROMPT_WITHOUT_CONTEXT: Code = Code::new(827, "summary prompt without {context}");
/// A summary lists itself, or summaries list each other in a circle.
pub const CYCLIC_SUMMARY: Code = Code::new(830, "cyclic summary");
/// A summary lists messages that do not exist or do not stand above it.
pub const FOREIGN_SUMMARY_ID: Code = Code::new(831, "invalid message id in a summary");
/// A summary lists nothing that it could stand for.
pub const EMPTY_SUMMARY: Code = Code::new(832, "summary without messages");
/// A summary lists a message twice.
pub const DOUBLED_SUMMARY_ID: Code = Code::new(833, "duplicate id in a summary");
/// Two summaries that are both sent stand for the same messages.
pub const OVERLAPPING_SUMMARIES: Code = Code::new(834, "overlapping summaries");
/// A summary lists another one that is switched off.
pub const SUMMARY_OF_A_DISABLED_ONE: Code = Code::new(835, "summary of a disabled summary");

/// A report on facts did not look at everything, because there was too much.
pub const REPORT_LIMIT: Code = Code::new(840, "incomplete report");
