//! Diagnostic codes of this crate: 200 to 299.

use ctx_types::Code;

/// Target anchor that no entry declares.
pub const MISSING_TARGET: Code = Code::new(200, "missing anchor target");
/// Target anchor of a disabled entry.
pub const DISABLED_TARGET: Code = Code::new(201, "disabled anchor target");
/// Type that is not a registered anchor.
pub const UNREGISTERED_TYPE: Code = Code::new(202, "unknown entry type");
/// Placeholder without an id, which cannot be a target.
pub const NAMELESS_PLACEHOLDER: Code = Code::new(203, "placeholder without an id");
/// Anchor declared by 2 entries.
pub const DUPLICATE_ANCHOR: Code = Code::new(204, "duplicate anchor");
/// Disabled entry for the history position.
pub const DISABLED_HISTORY: Code = Code::new(205, "disabled chat_history");
/// Placement on an anchor entry.
pub const PLACED_ANCHOR: Code = Code::new(206, "placement on an anchor");
/// Content in a placeholder, which is never sent.
pub const PLACEHOLDER_CONTENT: Code = Code::new(207, "content in a placeholder");
/// Id used by 2 entries.
pub const DUPLICATE_ID: Code = Code::new(208, "duplicate entry id");
/// Group that the preset does not declare.
pub const UNKNOWN_GROUP: Code = Code::new(209, "unknown group");
/// Invalid regular expression in a model match.
pub const MODEL_PATTERN: Code = Code::new(210, "invalid pattern in modelMatch");
/// `historyWhenUnplaced` is neither `append` nor `omit`.
pub const UNPLACED_HISTORY: Code = Code::new(211, "invalid historyWhenUnplaced");
/// `prefix` is not a prefix mode.
pub const PREFIX_MODE: Code = Code::new(212, "invalid prefix");
