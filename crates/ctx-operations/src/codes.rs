//! Diagnostic codes of this crate: one that came with what it is about from `ctx-macros`.

use ctx_types::Code;

/// An environment of macros that was read from a file has something that is left out.
pub const BAD_ENV: Code = Code::new(350, "invalid macro environment");
