//! Diagnostic codes of this crate: 950 to 999.

use ctx_types::Code;

/// An invalid regular expression is matched as plain text.
pub const BAD_PATTERN: Code = Code::new(950, "invalid regular expression in a key");
/// Too many entries or keys; the rest is ignored.
pub const TOO_MANY_ENTRIES: Code = Code::new(951, "too many worldbook entries");
/// Entries of one book share a uid.
pub const DUPLICATE_UID: Code = Code::new(952, "duplicate uid");
/// A decorator has an unknown name or an invalid value.
pub const BAD_DECORATOR: Code = Code::new(954, "invalid decorator");
/// Unknown dialect of a book.
pub const UNKNOWN_DIALECT: Code = Code::new(955, "unknown worldbook dialect");
/// Unknown scan setting, or invalid value.
pub const BAD_SETTING: Code = Code::new(956, "invalid worldbook setting");
/// Invalid value of the right type.
pub const BAD_VALUE: Code = Code::new(957, "invalid value in a worldbook");

/// The search for a key stopped.
pub const KEY_GAVE_UP: Code = Code::new(960, "worldbook key stopped");
/// All keys together reached the step limit.
pub const KEYS_SPENT: Code = Code::new(961, "worldbook keys exceed the step limit");
/// A scan reached the pass limit.
pub const TOO_MANY_PASSES: Code = Code::new(962, "too many scan passes");
/// Only a part of the text was searched.
pub const TEXT_LIMIT: Code = Code::new(963, "scanned text too long");
/// Stored timed effects cannot be read.
pub const BAD_STATE: Code = Code::new(964, "invalid state of timed effects");

/// An entry can never activate.
pub const DEAD_ENTRY: Code = Code::new(970, "entry that cannot activate");
/// An entry waits for an unreachable recursion level.
pub const UNREACHABLE: Code = Code::new(971, "unreachable recursion");
/// A key matches nearly every text.
pub const KEY_MATCHES_ALL: Code = Code::new(972, "key that matches almost any text");
/// An entry exceeds the budget.
pub const LARGER_THAN_BUDGET: Code = Code::new(973, "entry larger than the budget");
/// An entry is empty.
pub const EMPTY_ENTRY: Code = Code::new(974, "empty entry");
/// An outlet has no name.
pub const NO_PLACE: Code = Code::new(975, "entry without an outlet name");
