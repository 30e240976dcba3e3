//! Diagnostic codes of this crate: 400 to 449.

use ctx_types::Code;

/// Unknown model.
pub const UNKNOWN_MODEL: Code = Code::new(400, "unknown model");
/// No tokenizer for the encoding; tokens are estimated.
pub const NO_TOKENIZER: Code = Code::new(401, "missing tokenizer");
/// A table is not JSON or not a list.
pub const TABLE_SYNTAX: Code = Code::new(402, "invalid model table");
/// The pattern of a row is missing or invalid; the row is ignored.
pub const ROW_PATTERN: Code = Code::new(403, "invalid pattern in the model table");
/// An invalid field is ignored.
pub const ROW_VALUE: Code = Code::new(404, "invalid value in the model table");
/// A row has an unknown key.
pub const ROW_KEY: Code = Code::new(405, "unknown key in the model table");
/// A table exceeds the size limit.
pub const TABLE_TOO_LARGE: Code = Code::new(406, "model table too large");
/// Unknown context window; no limit applies.
pub const NO_WINDOW: Code = Code::new(410, "unknown context window");
/// The custom limit exceeds the context window.
pub const ABOVE_WINDOW: Code = Code::new(411, "limit above the context window");
