//! AIO Hub's files: the words by which they are known, what reads them and what writes them.

mod export;
mod fields;

use serde_json::Value;

pub use export::export_agent;
pub(crate) use fields::{SHOWN, attachment, list, noun, placed, take_agent, take_profile};

/// What says that a file is an export.
pub(crate) const EXPORT_TYPE: &str = "AIO_Agent_Export";

/// The version of that form.
pub(crate) const EXPORT_VERSION: u64 = 1;

/// The field of an agent in an export that holds its worldbooks.
pub(crate) const BUNDLED: &str = "bundledWorldbooks";

/// Returns whether every export says this around its agents.
pub(crate) fn is_of_export(key: &str, value: &Value) -> bool {
    match key {
        "type" => value == EXPORT_TYPE,
        "version" => value.as_u64() == Some(EXPORT_VERSION),
        _ => false,
    }
}
