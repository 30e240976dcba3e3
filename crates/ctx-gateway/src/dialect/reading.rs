//! Reading fields of a client's body: what is of the wrong type is refused, with its place.

use ctx_preset_import::{RequestApi, take_request_messages};
use ctx_types::internal::excerpt;
use ctx_types::session::Node;
use ctx_types::{Phrase, Role, Severity, phrase};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// How many messages a request may have.
const MAX_MESSAGES: usize = 100_000;

/// How many tools a request may define.
const MAX_TOOLS: usize = 1_000;

/// Refuses a value at a place.
pub(super) fn wrong(place: &str, expected: &Phrase) -> Refusal {
    Refusal::malformed(phrase!("`{place}` must be {expected}", place = excerpt(place), expected)).at(place)
}

/// A text that must be there.
pub(super) fn text(value: Option<&Value>, place: &str) -> Result<String, Refusal> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(wrong(place, &phrase!("a string"))),
    }
}

/// A text that may be absent.
pub(super) fn maybe_text(value: Option<&Value>, place: &str) -> Result<Option<String>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(place, &phrase!("a string"))),
    }
}

/// A truth value that may be absent.
pub(super) fn flag(value: Option<&Value>, place: &str) -> Result<bool, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(is_set)) => Ok(*is_set),
        Some(_) => Err(wrong(place, &phrase!("true or false"))),
    }
}

/// A list of objects with at most so many items.
pub(super) fn objects(value: Value, place: &str, most: usize) -> Result<Vec<Map<String, Value>>, Refusal> {
    let Value::Array(list) = value else { return Err(wrong(place, &phrase!("a list"))) };
    check_objects(&list, place, most)?;
    let object = |item| if let Value::Object(object) = item { Some(object) } else { None };
    Ok(list.into_iter().filter_map(object).collect())
}

fn check_objects(list: &[Value], place: &str, most: usize) -> Result<(), Refusal> {
    if list.len() > most {
        return Err(Refusal::too_large(phrase!(
            "`{place}` has more than {most} items",
            place = excerpt(place),
            most
        )));
    }
    match list.iter().position(|item| !item.is_object()) {
        Some(index) => Err(wrong(&format!("{place}[{index}]"), &phrase!("an object"))),
        None => Ok(()),
    }
}

/// Reads the system prompt and the messages of a body. At least one message is required.
pub(super) fn messages(body: &mut Map<String, Value>, api: RequestApi) -> Result<Vec<Node>, Refusal> {
    let key = api.messages_key();
    match body.get(key) {
        Some(Value::String(_)) if api == RequestApi::Responses => {}
        Some(Value::Array(items)) => check_objects(items, key, MAX_MESSAGES)?,
        _ => return Err(wrong(key, &phrase!("a list"))),
    }
    if body[key].as_array().is_some_and(Vec::is_empty) {
        return Err(wrong(key, &phrase!("a list with at least one message")));
    }
    for (index, message) in body[key].as_array().into_iter().flatten().enumerate() {
        check_message(message, &format!("{key}[{index}]"), api)?;
    }
    let read = take_request_messages(body, api);
    if let Some(found) = read.diagnostics.iter().find(|found| found.severity != Severity::Info) {
        let place = found.location.pointer.as_deref().unwrap_or_default();
        let place = place.trim_start_matches('/').replace('/', ".");
        let text = phrase!("`{place}`: {message}", place = excerpt(&place), message = &found.message);
        return Err(Refusal::malformed(text).at(&place));
    }
    for key in ["system", "instructions", "systemInstruction", "system_instruction"] {
        if api != RequestApi::ChatCompletions && body.get(key).is_some_and(|value| !value.is_null()) {
            return Err(wrong(key, &phrase!("a system prompt")));
        }
        body.shift_remove(key);
    }
    let is_lost = |node: &Node| node.role == Some(Role::Tool) && node.tool_call_id.is_none();
    if read.nodes.iter().any(is_lost) {
        return Err(wrong(key, &phrase!("a list whose tool results have the id of a call")));
    }
    Ok(read.nodes)
}

/// Rejects a message that could not be read completely.
fn check_message(message: &Value, place: &str, api: RequestApi) -> Result<(), Refusal> {
    let role = maybe_text(message.get("role"), &format!("{place}.role"))?;
    let role = role.as_deref();
    let content = message.get("content").unwrap_or(&Value::Null);
    let has_content = content.is_string() || content.is_array();
    match api {
        RequestApi::Gemini if !matches!(role, None | Some("user" | "model" | "function" | "system")) => {
            Err(wrong(&format!("{place}.role"), &phrase!("`user` or `model`")))
        }
        RequestApi::Gemini => match message["parts"].as_array() {
            None => Err(wrong(&format!("{place}.parts"), &phrase!("a list"))),
            Some(parts) => check_calls(parts, &format!("{place}.parts")),
        },
        RequestApi::Anthropic if !matches!(role, Some("user" | "assistant" | "system")) => {
            Err(wrong(&format!("{place}.role"), &phrase!("`user` or `assistant`")))
        }
        RequestApi::Anthropic if !has_content => {
            Err(wrong(&format!("{place}.content"), &phrase!("a string or a list")))
        }
        RequestApi::Anthropic => {
            let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            if calls.any(|call| !call["id"].is_string() || !call["input"].is_object()) {
                return Err(wrong(
                    &format!("{place}.content"),
                    &phrase!("a list whose calls have an id and an input"),
                ));
            }
            Ok(())
        }
        RequestApi::ChatCompletions if !has_content && matches!(role, Some("user" | "tool")) => {
            Err(wrong(&format!("{place}.content"), &phrase!("a string or a list")))
        }
        _ => Ok(()),
    }
}

/// Rejects calls of Gemini whose arguments are not an object.
fn check_calls(parts: &[Value], place: &str) -> Result<(), Refusal> {
    let is_wrong = |part: &Value| {
        let call = part.get("functionCall").or_else(|| part.get("function_call"));
        call.and_then(|call| call.get("args")).is_some_and(|args| !args.is_null() && !args.is_object())
    };
    match parts.iter().position(is_wrong) {
        Some(index) => Err(wrong(&format!("{place}[{index}].functionCall.args"), &phrase!("an object"))),
        None => Ok(()),
    }
}

/// Tool definitions; none where there is no list.
pub(super) fn tools(value: Option<Value>) -> Result<Vec<Value>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => Ok(objects(list, "tools", MAX_TOOLS)?.into_iter().map(Value::Object).collect()),
    }
}

/// The arguments of a call as JSON, for dialects that send no text; what is none stands under `unreadable`.
pub(super) fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Value::Object(map),
        _ => serde_json::json!({ "unreadable": text }),
    }
}

/// Takes the name of a conversation out of `metadata`. The rest is for the provider.
pub(super) fn conversation(body: &mut Map<String, Value>) -> Result<Option<String>, Refusal> {
    let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) else { return Ok(None) };
    let Some(named) = metadata.shift_remove("conversation") else { return Ok(None) };
    if metadata.is_empty() {
        body.shift_remove("metadata");
    }
    maybe_text(Some(&named), "metadata.conversation")
}
