//! Reads fields of a client's body. A field with a wrong type is an error with its place.

use ctx_preset_import::{RequestApi, take_request_messages};
use ctx_types::internal::excerpt;
use ctx_types::session::Node;
use ctx_types::{Phrase, Role, Severity, phrase};
use serde_json::{Map, Value};

use crate::api_error::ApiError;

/// Maximum number of messages of a request.
const MAX_MESSAGES: usize = 100_000;

/// Maximum number of tools of a request.
const MAX_TOOLS: usize = 1_000;

/// Returns the error of an invalid field.
pub(super) fn invalid_field(place: &str, expected: &Phrase) -> ApiError {
    ApiError::malformed(phrase!("`{place}` must be {expected}", place = excerpt(place), expected)).at(place)
}

/// Reads a required text.
pub(super) fn required_text(value: Option<&Value>, place: &str) -> Result<String, ApiError> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(invalid_field(place, &phrase!("a string"))),
    }
}

/// Reads an optional text.
pub(super) fn optional_text(value: Option<&Value>, place: &str) -> Result<Option<String>, ApiError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid_field(place, &phrase!("a string"))),
    }
}

/// Reads an optional flag; `false` by default.
pub(super) fn optional_flag(value: Option<&Value>, place: &str) -> Result<bool, ApiError> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(is_set)) => Ok(*is_set),
        Some(_) => Err(invalid_field(place, &phrase!("true or false"))),
    }
}

/// Reads a list of objects with a maximum length.
pub(super) fn read_objects(
    value: Value,
    place: &str,
    most: usize,
) -> Result<Vec<Map<String, Value>>, ApiError> {
    let Value::Array(list) = value else { return Err(invalid_field(place, &phrase!("a list"))) };
    check_objects(&list, place, most)?;
    let object = |item| if let Value::Object(object) = item { Some(object) } else { None };
    Ok(list.into_iter().filter_map(object).collect())
}

fn check_objects(list: &[Value], place: &str, most: usize) -> Result<(), ApiError> {
    if list.len() > most {
        return Err(ApiError::too_large(phrase!(
            "`{place}` has more than {most} items",
            place = excerpt(place),
            most
        )));
    }
    match list.iter().position(|item| !item.is_object()) {
        Some(index) => Err(invalid_field(&format!("{place}[{index}]"), &phrase!("an object"))),
        None => Ok(()),
    }
}

/// Reads the system prompt and the messages of a body. At least one message is required.
pub(super) fn read_messages(body: &mut Map<String, Value>, api: RequestApi) -> Result<Vec<Node>, ApiError> {
    let key = api.messages_key();
    match body.get(key) {
        Some(Value::String(_)) if api == RequestApi::Responses => {}
        Some(Value::Array(items)) => check_objects(items, key, MAX_MESSAGES)?,
        _ => return Err(invalid_field(key, &phrase!("a list"))),
    }
    if body[key].as_array().is_some_and(Vec::is_empty) {
        return Err(invalid_field(key, &phrase!("a list with at least one message")));
    }
    for (index, message) in body[key].as_array().into_iter().flatten().enumerate() {
        check_message(message, &format!("{key}[{index}]"), api)?;
    }
    let read = take_request_messages(body, api);
    if let Some(found) = read.diagnostics.iter().find(|found| found.severity != Severity::Info) {
        let place = found.location.pointer.as_deref().unwrap_or_default();
        let place = place.trim_start_matches('/').replace('/', ".");
        let text = phrase!("`{place}`: {message}", place = excerpt(&place), message = &found.message);
        return Err(ApiError::malformed(text).at(&place));
    }
    for key in ["system", "instructions", "systemInstruction", "system_instruction"] {
        if api != RequestApi::ChatCompletions && body.get(key).is_some_and(|value| !value.is_null()) {
            return Err(invalid_field(key, &phrase!("a system prompt")));
        }
        body.shift_remove(key);
    }
    let is_lost = |node: &Node| node.role == Some(Role::Tool) && node.tool_call_id.is_none();
    if read.nodes.iter().any(is_lost) {
        return Err(invalid_field(key, &phrase!("a list whose tool results have the id of a call")));
    }
    Ok(read.nodes)
}

/// Rejects a message that could not be read completely.
fn check_message(message: &Value, place: &str, api: RequestApi) -> Result<(), ApiError> {
    let role = optional_text(message.get("role"), &format!("{place}.role"))?;
    let role = role.as_deref();
    let content = message.get("content").unwrap_or(&Value::Null);
    let has_content = content.is_string() || content.is_array();
    match api {
        RequestApi::Gemini if !matches!(role, None | Some("user" | "model" | "function" | "system")) => {
            Err(invalid_field(&format!("{place}.role"), &phrase!("`user` or `model`")))
        }
        RequestApi::Gemini => match message["parts"].as_array() {
            None => Err(invalid_field(&format!("{place}.parts"), &phrase!("a list"))),
            Some(parts) => check_calls(parts, &format!("{place}.parts")),
        },
        RequestApi::Anthropic if !matches!(role, Some("user" | "assistant" | "system")) => {
            Err(invalid_field(&format!("{place}.role"), &phrase!("`user` or `assistant`")))
        }
        RequestApi::Anthropic if !has_content => {
            Err(invalid_field(&format!("{place}.content"), &phrase!("a string or a list")))
        }
        RequestApi::Anthropic => {
            let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            if calls.any(|call| !call["id"].is_string() || !call["input"].is_object()) {
                return Err(invalid_field(
                    &format!("{place}.content"),
                    &phrase!("a list whose calls have an id and an input"),
                ));
            }
            Ok(())
        }
        RequestApi::ChatCompletions if !has_content && matches!(role, Some("user" | "tool")) => {
            Err(invalid_field(&format!("{place}.content"), &phrase!("a string or a list")))
        }
        _ => Ok(()),
    }
}

/// Rejects calls of Gemini whose arguments are not an object.
fn check_calls(parts: &[Value], place: &str) -> Result<(), ApiError> {
    let is_wrong = |part: &Value| {
        let call = part.get("functionCall").or_else(|| part.get("function_call"));
        call.and_then(|call| call.get("args")).is_some_and(|args| !args.is_null() && !args.is_object())
    };
    match parts.iter().position(is_wrong) {
        Some(index) => {
            Err(invalid_field(&format!("{place}[{index}].functionCall.args"), &phrase!("an object")))
        }
        None => Ok(()),
    }
}

/// Reads tool definitions. A missing list is empty.
pub(super) fn read_tools(value: Option<Value>) -> Result<Vec<Value>, ApiError> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => Ok(read_objects(list, "tools", MAX_TOOLS)?.into_iter().map(Value::Object).collect()),
    }
}

/// Parses the arguments of a call for API dialects that send JSON. Invalid arguments become a text in `unreadable`.
pub(super) fn parse_arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Value::Object(map),
        _ => serde_json::json!({ "unreadable": text }),
    }
}

/// Takes the name of a conversation out of `metadata`. The rest is for the provider.
pub(super) fn take_conversation_name(body: &mut Map<String, Value>) -> Result<Option<String>, ApiError> {
    let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) else { return Ok(None) };
    let Some(named) = metadata.shift_remove("conversation") else { return Ok(None) };
    if metadata.is_empty() {
        body.shift_remove("metadata");
    }
    optional_text(Some(&named), "metadata.conversation")
}
