//! What stands in place of operations on files in a build without them.

use serde_json::{Map, Value};

use crate::error::OperationError;

/// Says that the build has no such operation.
#[expect(clippy::needless_pass_by_value, reason = "every operation takes its options")]
pub(crate) fn absent(_: Map<String, Value>) -> Result<Value, OperationError> {
    Err(OperationError::absent("has no operations on files", "files"))
}

pub(crate) use absent as check;
pub(crate) use absent as export;
pub(crate) use absent as import;
pub(crate) use absent as migrate;
pub(crate) use absent as schemas;
