//! Items of `OpenAI`'s responses.

use serde_json::{Map, Value, json};

use super::{ReadParts, call, content, put_rest};

/// Returns whether an item is output of the model: reasoning, a call or a message of the assistant.
pub(super) fn is_output(item: &Map<String, Value>) -> bool {
    match kind(item) {
        Some("reasoning") => !item.contains_key("role"),
        Some("function_call") => !item.contains_key("role") && item.contains_key("name"),
        Some("message") => item.get("role").is_some_and(|role| role == "assistant"),
        _ => false,
    }
}

/// Returns whether an item is input for the model: the result of a call or another message.
pub(super) fn is_input(item: &Map<String, Value>) -> bool {
    match kind(item) {
        Some("function_call_output") => !item.contains_key("role"),
        Some("message") => item.contains_key("role"),
        _ => false,
    }
}

/// Turns input into a message.
pub(super) fn input(mut item: Map<String, Value>) -> Value {
    if kind(&item) == Some("function_call_output") {
        let output = item.get("output").cloned().unwrap_or_default();
        let mut result = json!({
            "role": "tool", "tool_call_id": item.get("call_id"), "content": parts_of(output),
        });
        put_rest(
            &mut result,
            "openai-responses",
            &Value::Object(item),
            &["type", "call_id", "output", "id", "status"],
        );
        return result;
    }
    item.shift_remove("type");
    item.shift_remove("status");
    let said = item.shift_remove("content").unwrap_or_default();
    item.insert("content".to_owned(), parts_of(said));
    Value::Object(item)
}

/// Output items that follow each other: one message of the assistant.
pub(super) struct Reply {
    /// The index of the first item.
    index: usize,
    read: ReadParts,
}

impl Reply {
    pub(super) fn new(index: usize) -> Self {
        Self { index, read: ReadParts::default() }
    }

    /// Adds an item.
    pub(super) fn add(&mut self, mut item: Map<String, Value>) {
        match kind(&item) {
            Some("reasoning") => {
                for key in ["content", "summary"] {
                    let parts = item.get(key).and_then(Value::as_array).into_iter().flatten();
                    let texts = parts.filter_map(|part| part.get("text")?.as_str());
                    self.read.reasoning.extend(texts);
                }
                item.shift_remove("status");
                self.read.add_thought(Value::Object(item));
            }
            Some("function_call") => {
                let field = |key: &str| item.get(key).unwrap_or(&Value::Null);
                let id = if item.contains_key("call_id") { field("call_id") } else { field("id") };
                let mut call = call(id, field("name"), None);
                if let Some(arguments) = item.get("arguments").filter(|arguments| arguments.is_string()) {
                    call["function"]["arguments"] = arguments.clone();
                }
                put_rest(
                    &mut call,
                    "openai-responses",
                    &Value::Object(item),
                    &["type", "id", "call_id", "name", "arguments", "status"],
                );
                self.read.add_call(call);
            }
            _ => {
                match parts_of(item.shift_remove("content").unwrap_or_default()) {
                    Value::String(text) => self.read.add_part(json!({ "type": "text", "text": text })),
                    Value::Array(parts) => parts.into_iter().for_each(|part| self.read.add_part(part)),
                    _ => {}
                }
                // The id and the phase go back with the message.
                if item.get("id").is_some_and(Value::is_string) {
                    item.retain(|key, _| matches!(key.as_str(), "type" | "id" | "phase"));
                    self.read.artifacts.push(Value::Object(item));
                }
            }
        }
    }

    pub(super) fn into_message(self) -> (usize, Value) {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        let messages = self.read.into_messages(message);
        (self.index, messages.into_iter().next_back().unwrap_or_default())
    }
}

fn kind(item: &Map<String, Value>) -> Option<&str> {
    item.get("type").and_then(Value::as_str)
}

/// Returns a content with texts as chat completions have them.
fn parts_of(said: Value) -> Value {
    let Value::Array(parts) = said else { return said };
    let parts = parts.into_iter().map(|mut part| {
        if matches!(part["type"].as_str(), Some("input_text" | "output_text")) {
            part["type"] = json!("text");
            if let Some(part) = part.as_object_mut() {
                // Written anew with each reply.
                part.retain(|key, value| key != "annotations" && key != "logprobs" || is_filled(value));
            }
        }
        part
    });
    content(parts.collect())
}

fn is_filled(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty())
}
