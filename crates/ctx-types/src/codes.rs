//! Diagnostic codes of this crate: 100 to 199.

use crate::diagnostic::Code;

/// A known key holds a value of a type that it cannot have.
pub const WRONG_TYPE: Code = Code::new(100, "wrong type");
/// A document has more findings than are shown.
pub const MORE_FINDINGS: Code = Code::new(101, "more diagnostics");
/// A known key holds a value of another type, which can be read as the one that it should have.
pub const LOOSE_TYPE: Code = Code::new(102, "value converted to another type");
/// A key that nothing reads is nearly one that is read.
pub const MISSPELT_KEY: Code = Code::new(103, "misspelled key");
/// A key of a preset entry that nothing reads and that is near none that is read.
pub const UNUSED_KEY: Code = Code::new(104, "unused key");
/// A placement is spelled in a way that says two things, or nothing.
pub const PLACEMENT_SPELLING: Code = Code::new(110, "ambiguous placement");
/// A depth is negative, not a number, or its syntax is not understood.
pub const DEPTH_SYNTAX: Code = Code::new(111, "invalid depth");
/// The active leaf of a session does not exist.
pub const DANGLING_LEAF: Code = Code::new(120, "missing active leaf");
/// A node names a parent or child that does not exist or does not point back.
pub const BROKEN_LINK: Code = Code::new(121, "broken link between messages");
/// The parents of a node lead back to itself.
pub const CYCLIC_PARENTS: Code = Code::new(122, "cycle of parents");
/// A node's own id differs from the key it stands under, or is used twice.
pub const NODE_ID: Code = Code::new(123, "conflicting message id");
/// A session has no usable root.
pub const NO_ROOT: Code = Code::new(124, "missing root");
/// The log of operations in a session's file cannot be read, or not all of it.
pub const OPERATION_LOG: Code = Code::new(125, "unreadable operation log");
