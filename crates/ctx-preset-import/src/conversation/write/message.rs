//! Nodes as the messages that chat completions take and seed 004 stores: the way back of `chat_message.rs`.

use ctx_types::Persist as _;
use ctx_types::session::Node;
use serde_json::{Map, Value, json};

use crate::kept::IMPORTED;

/// The keys by which a session links its nodes.
pub(super) const LINKS: [&str; 3] = ["parentId", "childrenIds", "lastSelectedChildId"];

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

/// Moves reasoning out of the metadata to where providers have it.
fn reasoning(message: &mut Map<String, Value>) {
    details(message);
    if message.contains_key("reasoning_content") {
        return;
    }
    let Some(Value::Object(metadata)) = message.get_mut("metadata") else { return };
    if !metadata.get("reasoningContent").is_some_and(Value::is_string) {
        return;
    }
    let text = metadata.shift_remove("reasoningContent").unwrap_or_default();
    let is_empty = metadata.is_empty();
    if is_empty {
        message.shift_remove("metadata");
    }
    message.insert("reasoning_content".to_owned(), text);
}

/// Moves `reasoning_details` out of the metadata, if there is no other state.
fn details(message: &mut Map<String, Value>) {
    const DETAILS: &str = "reasoning_details";
    let Some(Value::Object(metadata)) = message.get("metadata") else { return };
    let Some([artifact]) = metadata.get("reasoningArtifacts").and_then(Value::as_array).map(Vec::as_slice)
    else {
        return;
    };
    let is_details = artifact.get("type").and_then(Value::as_str) == Some(DETAILS);
    let Some(details) = artifact.get("details").filter(|_| is_details).cloned() else { return };
    if message.contains_key(DETAILS) {
        return;
    }
    if let Some(Value::Object(metadata)) = message.get_mut("metadata") {
        metadata.shift_remove("reasoningArtifacts");
        if metadata.is_empty() {
            message.shift_remove("metadata");
        }
    }
    message.insert(DETAILS.to_owned(), details);
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
