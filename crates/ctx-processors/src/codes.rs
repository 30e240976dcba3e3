//! Diagnostic codes of this crate: 750 to 799.

use ctx_types::Code;

/// An agent names a macro dialect that does not exist.
pub const UNKNOWN_DIALECT: Code = Code::new(750, "unknown macro syntax");
/// The definition of a session variable is wrong.
pub const VARIABLE_DEFINITION: Code = Code::new(760, "invalid variable definition");
/// A tag in a message cannot change a session variable as it says.
pub const VARIABLE_CHANGE: Code = Code::new(761, "invalid change of a variable");
/// A text refers to a session variable that does not exist.
pub const UNKNOWN_VARIABLE: Code = Code::new(762, "unknown variable");
/// The variables of a request would write more than is allowed.
pub const VARIABLE_OUTPUT: Code = Code::new(763, "variables produce too much text");

/// A regex rule has no expression, or one that cannot run.
pub const RULE_PATTERN: Code = Code::new(770, "invalid regex rule");
/// A regex rule would replace by a script.
pub const RULE_SCRIPT: Code = Code::new(771, "script in a regex rule");
/// A field of a regex rule has a value that means nothing.
pub const RULE_VALUE: Code = Code::new(772, "unknown value in a regex rule");
/// A search of a regex rule took too much, or made too much.
pub const RULE_GAVE_UP: Code = Code::new(773, "regex rule stopped");
/// The rules of a run have spent all their steps.
pub const RULES_SPENT: Code = Code::new(774, "regex rules exceed the step limit");
/// There are more regex rules than run.
pub const RULES_LIMIT: Code = Code::new(775, "too many regex rules");

/// What must stay of a conversation is more than it was to be compressed into.
pub const NOT_COMPRESSIBLE: Code = Code::new(780, "cannot compress enough");

/// What is recalled was found by words alone: there are no vectors.
pub const RECALL_WITHOUT_VECTORS: Code = Code::new(781, "recall without embeddings");

/// An agent, a person or a conversation asks for a worldbook that is not at hand.
pub const MISSING_WORLDBOOK: Code = Code::new(785, "missing worldbook");

/// An attached file cannot be loaded.
pub const ATTACHMENT_NOT_LOADED: Code = Code::new(790, "attachment not loaded");
/// The bytes of an attached file are of another type than its name or its entry says.
pub const ATTACHMENT_TYPE: Code = Code::new(791, "conflicting attachment type");
/// A placeholder stands for an attached file that the target does not take.
pub const ATTACHMENT_PLACEHOLDER: Code = Code::new(792, "attachment replaced by a placeholder");
/// There is no text of an attached document: it is broken, locked or without words, or reading it took too much.
pub const DOCUMENT_UNREADABLE: Code = Code::new(793, "unreadable document");
/// There is no transcript of an attached picture, recording or film.
pub const NOT_TRANSCRIBED: Code = Code::new(794, "transcription failed");
/// An attached picture has more pixels than are looked at.
pub const ATTACHMENT_TOO_LARGE: Code = Code::new(795, "image too large");
