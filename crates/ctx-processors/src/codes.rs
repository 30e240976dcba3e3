//! Diagnostic codes of this crate: 750 to 799.

use ctx_types::Code;

/// The agent names an unknown macro syntax.
pub const UNKNOWN_DIALECT: Code = Code::new(750, "unknown macro syntax");
/// The definition of a session variable is invalid.
pub const VARIABLE_DEFINITION: Code = Code::new(760, "invalid variable definition");
/// A tag contains an invalid change of a session variable.
pub const VARIABLE_CHANGE: Code = Code::new(761, "invalid change of a variable");
/// A text uses an unknown session variable.
pub const UNKNOWN_VARIABLE: Code = Code::new(762, "unknown variable");
/// The session variables of a request exceed the output limit.
pub const VARIABLE_OUTPUT: Code = Code::new(763, "variables produce too much text");

/// A regex rule has no pattern or an invalid one.
pub const RULE_PATTERN: Code = Code::new(770, "invalid regex rule");
/// A regex rule has a replacement script.
pub const RULE_SCRIPT: Code = Code::new(771, "script in a regex rule");
/// A field of a regex rule has an unknown value.
pub const RULE_VALUE: Code = Code::new(772, "unknown value in a regex rule");
/// A regex rule exceeded its step or output limit.
pub const RULE_GAVE_UP: Code = Code::new(773, "regex rule stopped");
/// The regex rules of a run exceeded the total step limit.
pub const RULES_SPENT: Code = Code::new(774, "regex rules exceed the step limit");
/// There are too many regex rules.
pub const RULES_LIMIT: Code = Code::new(775, "too many regex rules");

/// Protected messages exceed the compression budget.
pub const NOT_COMPRESSIBLE: Code = Code::new(780, "cannot compress enough");

/// Recall searches by words only, without embeddings.
pub const RECALL_WITHOUT_VECTORS: Code = Code::new(781, "recall without embeddings");

/// A worldbook that is referred to is not loaded.
pub const MISSING_WORLDBOOK: Code = Code::new(785, "missing worldbook");

/// An attachment cannot be loaded.
pub const ATTACHMENT_NOT_LOADED: Code = Code::new(790, "attachment not loaded");
/// The content of an attachment differs from its declared type.
pub const ATTACHMENT_TYPE: Code = Code::new(791, "conflicting attachment type");
/// A placeholder replaces an attachment that the target does not accept.
pub const ATTACHMENT_PLACEHOLDER: Code = Code::new(792, "attachment replaced by a placeholder");
/// A document yields no text: it is damaged, locked, or empty, or exceeded a limit.
pub const DOCUMENT_UNREADABLE: Code = Code::new(793, "unreadable document");
/// An image, recording, or video cannot be transcribed.
pub const NOT_TRANSCRIBED: Code = Code::new(794, "transcription failed");
/// An image exceeds the pixel limit or cannot be resized.
pub const ATTACHMENT_TOO_LARGE: Code = Code::new(795, "image too large");
