//! Diagnostic codes of this crate: 400 to 449.

use ctx_types::Code;

/// No row of the model table matches the name of the model.
pub const UNKNOWN_MODEL: Code = Code::new(400, "unknown model");
/// The encoding of the model is not compiled in, so its tokens are estimated.
pub const NO_TOKENIZER: Code = Code::new(401, "missing tokenizer");
/// A model table is not JSON, or not a list of rows.
pub const TABLE_SYNTAX: Code = Code::new(402, "invalid model table");
/// A row has no pattern, or one that is no regular expression; the row is ignored.
pub const ROW_PATTERN: Code = Code::new(403, "invalid pattern in the model table");
/// A field of a row has a value that it cannot have; the field is ignored.
pub const ROW_VALUE: Code = Code::new(404, "invalid value in the model table");
/// A row has a key that means nothing.
pub const ROW_KEY: Code = Code::new(405, "unknown key in the model table");
/// A model table is larger than is read.
pub const TABLE_TOO_LARGE: Code = Code::new(406, "model table too large");
/// Neither the model table nor the user says how large the window is, so nothing is limited.
pub const NO_WINDOW: Code = Code::new(410, "unknown context window");
/// The user allows more tokens than the model's window holds.
pub const ABOVE_WINDOW: Code = Code::new(411, "limit above the context window");
