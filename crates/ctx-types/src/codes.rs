//! Diagnostic codes of this crate: 100 to 199.

use crate::diagnostic::Code;

/// A known key has a value of an invalid type.
pub const WRONG_TYPE: Code = Code::new(100, "wrong type");
/// A document has more diagnostics than the limit.
pub const MORE_FINDINGS: Code = Code::new(101, "more diagnostics");
/// A value was converted from another type.
pub const LOOSE_TYPE: Code = Code::new(102, "value converted to another type");
/// An unknown key resembles a known key.
pub const MISSPELT_KEY: Code = Code::new(103, "misspelled key");
/// A preset entry has an unknown key unlike all known keys.
pub const UNUSED_KEY: Code = Code::new(104, "unused key");
/// A placement is ambiguous or incomplete.
pub const PLACEMENT_SPELLING: Code = Code::new(110, "ambiguous placement");
/// A depth is negative or invalid.
pub const DEPTH_SYNTAX: Code = Code::new(111, "invalid depth");
/// The active leaf of a session does not exist.
pub const DANGLING_LEAF: Code = Code::new(120, "missing active leaf");
/// A parent or child does not exist or does not link back.
pub const BROKEN_LINK: Code = Code::new(121, "broken link between messages");
/// The parents of a node form a cycle.
pub const CYCLIC_PARENTS: Code = Code::new(122, "cycle of parents");
/// A node's id differs from its key, or is not unique.
pub const NODE_ID: Code = Code::new(123, "conflicting message id");
/// A session has no usable root.
pub const NO_ROOT: Code = Code::new(124, "missing root");
/// The operation log is unreadable, at least in part.
pub const OPERATION_LOG: Code = Code::new(125, "unreadable operation log");
