//! Diagnostic codes of this crate: 900 to 949.

use ctx_types::Code;

/// A file cannot be opened or read.
pub(crate) const UNREADABLE_FILE: Code = Code::new(900, "unreadable file");
