//! Diagnostic codes of this crate: 950 to 999.

use ctx_types::Code;

/// A key is written as a regular expression that cannot run; it is looked for as plain text.
pub const BAD_PATTERN: Code = Code::new(950, "invalid regular expression in a key");
/// A book has more entries than are considered.
pub const TOO_MANY_ENTRIES: Code = Code::new(951, "too many worldbook entries");
/// Entries of one book have the same uid.
pub const DUPLICATE_UID: Code = Code::new(952, "duplicate uid");
/// A decorator has no effect: its name is not known, or its value means nothing.
pub const BAD_DECORATOR: Code = Code::new(954, "invalid decorator");
/// A book follows rules that nobody knows.
pub const UNKNOWN_DIALECT: Code = Code::new(955, "unknown worldbook dialect");
/// A setting of the scan has a value that means nothing.
pub const BAD_SETTING: Code = Code::new(956, "invalid worldbook setting");
/// A value of an entry or a book is of the right type and means nothing.
pub const BAD_VALUE: Code = Code::new(957, "invalid value in a worldbook");

/// A search for a key was given up.
pub const KEY_GAVE_UP: Code = Code::new(960, "worldbook key stopped");
/// A key was not searched to the end, since the keys of a scan have spent their steps.
pub const KEYS_SPENT: Code = Code::new(961, "worldbook keys exceed the step limit");
/// A scan was ended after too many passes.
pub const TOO_MANY_PASSES: Code = Code::new(962, "too many scan passes");
/// More text was there than is searched.
pub const TEXT_LIMIT: Code = Code::new(963, "scanned text too long");
/// A stored state of timed effects cannot be read.
pub const BAD_STATE: Code = Code::new(964, "invalid state of timed effects");

/// An entry can never become active.
pub const DEAD_ENTRY: Code = Code::new(970, "entry that cannot activate");
/// An entry waits for a recursion that never comes.
pub const UNREACHABLE: Code = Code::new(971, "unreachable recursion");
/// A key is found in nearly every text.
pub const KEY_MATCHES_ALL: Code = Code::new(972, "key that matches almost any text");
/// The text of an entry is larger than the budget.
pub const LARGER_THAN_BUDGET: Code = Code::new(973, "entry larger than the budget");
/// The text of an entry is empty.
pub const EMPTY_ENTRY: Code = Code::new(974, "empty entry");
/// The text of an entry goes nowhere.
pub const NO_PLACE: Code = Code::new(975, "entry without an outlet name");
