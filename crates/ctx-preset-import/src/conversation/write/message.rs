//! Nodes as the messages that chat completions take and seed 004 stores: the way back of `chat_message.rs`.

use ctx_types::Persist as _;
use ctx_types::session::Node;
use serde_json::{Map, Value, json};

use crate::kept::IMPORTED;

/// The keys by which a session links its nodes.
const LINKS: [&str; 3] = ["parentId", "childrenIds", "lastSelectedChildId"];

/// Writes a node as a message; what reading another form displaced takes its place again.
pub(super) fn write(node: &Node) -> Value {
    let Value::Object(mut message) = node.write() else { return node.write() };
    for link in LINKS {
        message.shift_remove(link);
    }
    rename(&mut message, "timestamp", "createdAt");
    rename(&mut message, "toolCallId", "tool_call_id");
    if let Some(Value::Array(calls)) = message.get("toolCalls") {
        let calls: Vec<Value> = calls.iter().map(call).collect();
        if !message.contains_key("tool_calls") {
            put_in_place(&mut message, "toolCalls", "tool_calls", Value::Array(calls));
        }
    }
    reasoning(&mut message);
    restore(&mut message);
    Value::Object(message)
}

/// Gives a value the name that chat messages have for it, unless the message has that one too.
fn rename(message: &mut Map<String, Value>, from: &str, to: &str) {
    if message.contains_key(to) || !message.get(from).is_some_and(Value::is_string) {
        return;
    }
    let value = message.get(from).cloned().unwrap_or_default();
    put_in_place(message, from, to, value);
}

/// Puts another key where one stands.
fn put_in_place(message: &mut Map<String, Value>, from: &str, to: &str, value: Value) {
    let place = message.keys().position(|key| key == from).unwrap_or(message.len());
    message.shift_remove(from);
    message.shift_insert(place.min(message.len()), to.to_owned(), value);
}

/// Writes a stored call as `{id, type, function: {name, arguments}}`, with whatever else it has.
fn call(stored: &Value) -> Value {
    let Value::Object(stored) = stored else { return stored.clone() };
    let mut call = stored.clone();
    let mut function = match call.shift_remove("function") {
        Some(Value::Object(function)) => function,
        _ => Map::new(),
    };
    for key in ["name", "arguments"] {
        if let Some(value) = call.shift_remove(key) {
            function.insert(key.to_owned(), value);
        }
    }
    restore(&mut call);
    call.entry("type").or_insert_with(|| json!("function"));
    call.insert("function".to_owned(), Value::Object(function));
    Value::Object(call)
}

/// Moves reasoning out of the metadata to where providers have it. `reasoning_details` are moved if they are the only
/// state.
fn reasoning(message: &mut Map<String, Value>) {
    const DETAILS: &str = "reasoning_details";
    let metadata = |key: &str| message.get("metadata").and_then(|metadata| metadata.get(key));
    let artifacts = metadata("reasoningArtifacts").and_then(Value::as_array).map(Vec::as_slice);
    let details = match artifacts {
        Some([artifact]) if artifact.get("type").and_then(Value::as_str) == Some(DETAILS) => {
            artifact.get("details").cloned()
        }
        _ => None,
    };
    let has_text = metadata("reasoningContent").is_some_and(Value::is_string);
    if let Some(details) = details.filter(|_| !message.contains_key(DETAILS)) {
        take_metadata(message, "reasoningArtifacts");
        message.insert(DETAILS.to_owned(), details);
    }
    if has_text
        && !message.contains_key("reasoning_content")
        && let Some(text) = take_metadata(message, "reasoningContent")
    {
        message.insert("reasoning_content".to_owned(), text);
    }
}

/// Takes a field out of the metadata, and removes these when they are empty.
fn take_metadata(message: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let metadata = message.get_mut("metadata")?.as_object_mut()?;
    let value = metadata.shift_remove(key);
    if metadata.is_empty() {
        message.shift_remove("metadata");
    }
    value
}

/// Puts back what reading displaced; calls that could not be read follow those that could.
fn restore(message: &mut Map<String, Value>) {
    let Some(Value::Object(displaced)) = message.get(IMPORTED).filter(|kept| kept.is_object()).cloned()
    else {
        return;
    };
    message.shift_remove(IMPORTED);
    for (key, value) in displaced {
        match (message.get_mut(&key), value) {
            (Some(Value::Array(calls)), Value::Array(unread)) if key == "tool_calls" => calls.extend(unread),
            (_, value) => {
                message.insert(key, value);
            }
        }
    }
}
