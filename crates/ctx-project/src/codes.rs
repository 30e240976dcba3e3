//! Diagnostic codes of this crate: 900 to 949.

use ctx_types::Code;

/// A file cannot be opened or read.
pub const UNREADABLE_FILE: Code = Code::new(900, "unreadable file");

/// A file of the command's own, `ctx.toml` or `case.yaml`, has a key that means nothing.
pub const UNKNOWN_KEY: Code = Code::new(901, "unknown key");

/// A file of the command's own has a value that its key does not take.
pub const BAD_VALUE: Code = Code::new(902, "invalid value");

/// `ctx.toml` is not TOML.
pub const TOML_SYNTAX: Code = Code::new(903, "invalid TOML");

/// An item of a list of tools is no definition with a name.
pub const NAMELESS_TOOL: Code = Code::new(904, "tool without a name");

/// A file of settings sets no processor.
pub const NOTHING_SET: Code = Code::new(905, "no processor settings in file");

/// The request body needs the name of a model, and nothing names one.
pub const UNNAMED_MODEL: Code = Code::new(906, "no model named");

/// A step is larger than the log of a conversation's file may be.
pub const UNLOGGED_STEP: Code = Code::new(907, "change cannot be undone");

/// Large results of a conversation are in files that its export does not hold.
pub const RESULTS_ELSEWHERE: Code = Code::new(908, "tool results stored in files");

/// A file of YAML that is written anew loses its comments.
pub const LOST_COMMENTS: Code = Code::new(909, "comments lost");

/// A file of YAML that is written anew has a number of more digits than memory holds.
pub const LOST_DIGITS: Code = Code::new(910, "digits lost");

/// A file of JSON would not come back as it is.
pub const NO_EDIT: Code = Code::new(911, "cannot edit in place");

/// A transcript of an agent does not contain everything that was sent.
pub const MISSING_PARTS: Code = Code::new(912, "incomplete transcript");

/// Records of a transcript are of an unknown type, invalid, or too long.
pub const UNREAD_RECORDS: Code = Code::new(913, "records not read");
