//! Diagnostic codes of this crate: 900 to 949.

use ctx_types::Code;

/// A file cannot be opened or read.
pub(crate) const UNREADABLE_FILE: Code = Code::new(900, "unreadable file");

/// A file of the command's own, `ctx.toml` or `case.yaml`, has a key that means nothing.
pub(crate) const UNKNOWN_KEY: Code = Code::new(901, "unknown key");

/// A file of the command's own has a value that its key does not take.
pub(crate) const BAD_VALUE: Code = Code::new(902, "bad value");

/// `ctx.toml` is not TOML.
pub(crate) const TOML_SYNTAX: Code = Code::new(903, "TOML syntax");
