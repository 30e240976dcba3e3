//! Files of other applications, read and written.

#![allow(
    clippy::field_reassign_with_default,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a broken expectation is a failed test"
)]
#![recursion_limit = "256"]

mod agent;
mod containers;
mod conversation;
mod corpus;
mod document;
mod export;
mod honest;
mod import;
mod profile;
mod regex_scripts;
mod templates;
mod worldbook;

/// Counts the scalars, empty lists, and empty objects of a value.
fn count_values(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(map) if !map.is_empty() => map.values().map(count_values).sum(),
        serde_json::Value::Array(items) if !items.is_empty() => items.iter().map(count_values).sum(),
        _ => 1,
    }
}
