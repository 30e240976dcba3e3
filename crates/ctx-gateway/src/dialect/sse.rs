//! Server-sent events.

use serde_json::Value;

/// Writes an event without a name.
pub(super) fn data(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// Writes an event with a name.
pub(super) fn named(name: &str, value: &Value) -> Vec<u8> {
    format!("event: {name}\ndata: {value}\n\n").into_bytes()
}

/// Writes an event without a name from the provider's JSON.
pub(super) fn text(json: &str) -> Vec<u8> {
    let lines = json.lines().map(|line| format!("data: {line}\n"));
    (lines.collect::<String>() + "\n").into_bytes()
}

/// Writes an event with a name from the provider's JSON.
pub(super) fn named_text(name: &str, json: &str) -> Vec<u8> {
    [format!("event: {name}\n").into_bytes(), text(json)].concat()
}
