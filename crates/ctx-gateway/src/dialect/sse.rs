//! Server-sent events.

use serde_json::Value;

/// An event without a name.
pub(super) fn data(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// An event with a name.
pub(super) fn named(name: &str, value: &Value) -> Vec<u8> {
    format!("event: {name}\ndata: {value}\n\n").into_bytes()
}
