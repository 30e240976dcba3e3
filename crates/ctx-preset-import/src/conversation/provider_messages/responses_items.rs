//! Items of `OpenAI`'s responses.

use ctx_types::internal::PartOwner;
use serde_json::{Map, Value, json};

use super::{ReadParts, call, content, custom_call, put_rest};

/// Returns whether an item is output of the model: reasoning, a call, a message of the assistant, or an item without a
/// message form. `is_open`: it follows such an item. `is_certain`: the item is one of responses, maybe of a type that
/// is not known.
pub(super) fn is_output(item: &Map<String, Value>, is_open: bool, is_certain: bool) -> bool {
    let is_assistant = item.get("role").is_some_and(|role| role == "assistant");
    match kind(item) {
        Some("message") => is_assistant,
        None => {
            let has_form = is_certain || is_open || has_parts(item, &OUTPUT);
            is_assistant && !item.contains_key("tool_calls") && has_form
        }
        Some(_) if item.contains_key("role") => is_certain,
        Some("reasoning") => true,
        Some("function_call" | "custom_tool_call") => item.contains_key("name"),
        Some(_) => !is_result(item) && (is_certain || is_opaque(item)),
    }
}

/// Returns whether an item is input for the model: the result of a call or another message.
pub(super) fn is_input(item: &Map<String, Value>) -> bool {
    match kind(item) {
        Some("message") => item.contains_key("role"),
        None => item.contains_key("role") && has_parts(item, &INPUT),
        Some(_) => is_result(item),
    }
}

/// Returns whether only OpenAI's responses have an object: an item that is not a message.
pub(crate) fn is_item(item: &Map<String, Value>) -> bool {
    kind(item).is_some() && !item.contains_key("role") && (is_output(item, false, false) || is_result(item))
}

/// Returns whether an item stays as it is.
fn is_opaque(item: &Map<String, Value>) -> bool {
    let kind = json!({ "type": kind(item) });
    !item.contains_key("content") && PartOwner::of(&kind) == PartOwner::Responses
}

fn is_result(item: &Map<String, Value>) -> bool {
    matches!(kind(item), Some("function_call_output" | "custom_tool_call_output"))
        && !item.contains_key("role")
}

/// The types of parts that only OpenAI's responses have.
const INPUT: [&str; 3] = ["input_text", "input_image", "input_file"];
const OUTPUT: [&str; 1] = ["output_text"];

fn has_parts(item: &Map<String, Value>, kinds: &[&str]) -> bool {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("type")?.as_str()).any(|kind| kinds.contains(&kind))
}

/// Turns input into a message. `is_request`: it is sent back to the API, with its id and its state.
pub(super) fn input(mut item: Map<String, Value>, is_request: bool) -> Value {
    if is_result(&item) {
        let output = item.get("output").cloned().unwrap_or_default();
        let mut result = json!({
            "role": "tool", "tool_call_id": item.get("call_id"), "content": parts_of(output, is_request),
        });
        let mut known = vec!["call_id", "output"];
        if !is_request {
            known.extend(["type", "id", "status"]);
        } else if kind(&item) == Some("function_call_output") {
            known.push("type");
        }
        put_rest(&mut result, DIALECT, &Value::Object(item), &known, is_request);
        return result;
    }
    let kind = item.shift_remove("type").filter(|kind| is_request && kind == "message");
    item.shift_remove("status");
    let said = item.shift_remove("content").unwrap_or_default();
    item.insert("content".to_owned(), parts_of(said, is_request));
    let mut message = Value::Object(item);
    if let Some(kind) = kind {
        message["providerFields"]["type"] = kind;
    }
    message
}

const DIALECT: &str = "openai-responses";

/// Output items that follow each other: one message of the assistant.
pub(super) struct Reply {
    /// The index of the first item.
    index: usize,
    /// Whether the items are sent back to the API, with their ids and states.
    is_request: bool,
    read: ReadParts,
}

impl Reply {
    pub(super) fn new(index: usize, is_request: bool) -> Self {
        Self { index, is_request, read: ReadParts::default() }
    }

    /// Adds an item.
    pub(super) fn add(&mut self, mut item: Map<String, Value>) {
        match kind(&item) {
            _ if item.contains_key("role") && kind(&item).is_some_and(|kind| kind != "message") => {
                self.read.add_part(Value::Object(item));
            }
            Some("reasoning") => {
                for key in ["content", "summary"] {
                    let parts = item.get(key).and_then(Value::as_array).into_iter().flatten();
                    let texts = parts.filter_map(|part| part.get("text")?.as_str());
                    self.read.reasoning.extend(texts);
                }
                if !self.is_request {
                    item.shift_remove("status");
                }
                self.read.add_thought(Value::Object(item));
            }
            Some(kind @ ("function_call" | "custom_tool_call")) => {
                let is_custom = kind == "custom_tool_call";
                let field = |key: &str| item.get(key).unwrap_or(&Value::Null);
                let has_call_id = item.contains_key("call_id");
                let id = if has_call_id { field("call_id") } else { field("id") };
                let mut call = call(id, field("name"), None);
                if let Some(arguments) = item.get("arguments").filter(|arguments| arguments.is_string()) {
                    call["function"]["arguments"] = arguments.clone();
                }
                let input = field("input").clone();
                let mut known = vec!["type", "call_id", "name", "arguments", "input"];
                known.extend((!self.is_request || !has_call_id).then_some("id"));
                known.extend((!self.is_request).then_some("status"));
                put_rest(&mut call, DIALECT, &Value::Object(item), &known, self.is_request);
                if is_custom && let Some(call) = call.as_object_mut() {
                    custom_call(call, &input);
                }
                self.read.add_call(call);
            }
            Some("message") | None => self.add_message(item),
            Some(_) => self.read.add_part(Value::Object(item)),
        }
    }

    /// Adds the parts of a message, and its other fields.
    fn add_message(&mut self, mut item: Map<String, Value>) {
        let first = self.read.parts.len();
        let said = item.shift_remove("content").unwrap_or_default();
        let form = if said.is_string() { "text" } else { "list" };
        let is_easy = !item.contains_key("type");
        match parts_of(said, self.is_request) {
            Value::String(text) => self.read.add_part(json!({ "type": "text", "text": text })),
            Value::Array(parts) => parts.into_iter().for_each(|part| self.read.add_part(part)),
            _ => {}
        }
        if self.is_request {
            let fields = item
                .shift_remove("providerFields")
                .and_then(|mut fields| fields.get_mut(DIALECT).map(Value::take));
            item = fields.and_then(|fields| fields.as_object().cloned()).unwrap_or_default();
            item.insert("form".to_owned(), json!(form));
            if is_easy {
                item.insert("easy".to_owned(), json!(true));
            }
        } else {
            item.retain(|key, value| {
                matches!(key.as_str(), "id" | "phase") || key == "status" && value != "completed"
            });
        }
        if !item.is_empty() {
            item.insert("type".to_owned(), json!("message"));
            item.insert("part".to_owned(), first.into());
            item.insert("parts".to_owned(), (self.read.parts.len() - first).into());
            self.read.artifacts.push(Value::Object(item));
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

/// Returns a content with texts as chat completions have them; other fields of a text are for this API dialect.
fn parts_of(said: Value, is_request: bool) -> Value {
    let Value::Array(parts) = said else { return said };
    let parts = parts.into_iter().map(|mut part| match part.get("type").and_then(Value::as_str) {
        Some("input_text" | "output_text") => {
            if let Some(part) = part.as_object_mut() {
                // Each reply has an empty list of annotations.
                part.retain(|key, value| {
                    is_request && key != "annotations" || value.as_array().is_none_or(|list| !list.is_empty())
                });
            }
            let mut text = json!({ "type": "text", "text": part.get("text") });
            if let Some(mark) = part.get(BREAKPOINT) {
                text[BREAKPOINT] = mark.clone();
            }
            put_rest(&mut text, DIALECT, &part, &["type", "text", BREAKPOINT], is_request);
            text
        }
        _ => part,
    });
    content(parts.collect(), is_request)
}

/// The cache mark of a part, which chat completions have too.
const BREAKPOINT: &str = "prompt_cache_breakpoint";
