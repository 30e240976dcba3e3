//! Diagnostic codes of this crate: 200 to 299.

use ctx_types::Code;

/// An entry goes to an anchor that no entry of the preset declares.
pub const MISSING_TARGET: Code = Code::new(200, "missing anchor target");
/// An entry goes to an anchor whose entry is switched off.
pub const DISABLED_TARGET: Code = Code::new(201, "disabled anchor target");
/// An entry's type is not a registered anchor.
pub const UNREGISTERED_TYPE: Code = Code::new(202, "unknown entry type");
/// A placeholder has no id, so that nothing can go to it.
pub const NAMELESS_PLACEHOLDER: Code = Code::new(203, "placeholder without an id");
/// Two entries declare the same anchor.
pub const DUPLICATE_ANCHOR: Code = Code::new(204, "duplicate anchor");
/// The entry that says where the history goes is switched off.
pub const DISABLED_HISTORY: Code = Code::new(205, "disabled chat_history");
/// An anchor entry has a placement of its own.
pub const PLACED_ANCHOR: Code = Code::new(206, "placement on an anchor");
/// A placeholder has content, which is never sent.
pub const PLACEHOLDER_CONTENT: Code = Code::new(207, "content in a placeholder");
/// Two entries have the same id.
pub const DUPLICATE_ID: Code = Code::new(208, "duplicate entry id");
/// An entry belongs to a group that the preset does not declare.
pub const UNKNOWN_GROUP: Code = Code::new(209, "unknown group");
/// A pattern of a model match is not a regular expression that can run.
pub const MODEL_PATTERN: Code = Code::new(210, "invalid pattern in modelMatch");
/// `historyWhenUnplaced` is neither `append` nor `omit`.
pub const UNPLACED_HISTORY: Code = Code::new(211, "invalid historyWhenUnplaced");
