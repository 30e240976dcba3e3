//! Messages of request bodies.

use std::collections::HashSet;

use ctx_types::Diagnostic;
use ctx_types::session::Node;
use serde_json::{Map, Value, json};

use super::{chat_message, provider_messages};
use crate::codes;
use crate::format::Format;

/// The API of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestApi {
    /// Chat completions, of `OpenAI` and others.
    ChatCompletions,
    /// `OpenAI`'s responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// The messages of a request body.
#[derive(Debug)]
pub struct RequestMessages {
    /// The system prompt of the body, if any, and the messages. They have no ids.
    pub nodes: Vec<Node>,
    /// Diagnostics with pointers into the body. After a warning or an error, a message is invalid.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes the system prompt and the messages out of a request body. Everything else stays in it, also values of these
/// keys that are neither.
///
/// Fields and blocks of this API are kept, and sent back to it. Keys of session files, such as `metadata` and
/// `attachments`, are unknown fields of the API here.
///
/// ```
/// use ctx_preset_import::{RequestApi, take_request_messages};
///
/// let mut body = serde_json::json!({ "system": "Be kind.", "max_tokens": 100, "messages": [
///     { "role": "user", "content": [{ "type": "text", "text": "Hi", "cache_control": { "type": "ephemeral" } }] }] });
/// let body = body.as_object_mut().unwrap();
/// let read = take_request_messages(body, RequestApi::Anthropic);
/// assert_eq!(read.nodes.len(), 2);
/// assert_eq!(body.keys().collect::<Vec<_>>(), ["max_tokens"]);
/// ```
pub fn take_request_messages(body: &mut Map<String, Value>, api: RequestApi) -> RequestMessages {
    let key = api.messages_key();
    let place = match api {
        RequestApi::ChatCompletions | RequestApi::Anthropic => "/messages",
        RequestApi::Responses => "/input",
        RequestApi::Gemini => "/contents",
    };
    let mut system = Map::new();
    for key in api.system() {
        system.extend(body.shift_remove(*key).map(|value| ((*key).to_owned(), value)));
    }
    system.insert("model".to_owned(), json!(""));
    let items = match body.shift_remove(key) {
        Some(Value::Array(items)) => items,
        Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
        other => {
            body.extend(other.map(|other| (key.to_owned(), other)));
            Vec::new()
        }
    };
    let items = items.into_iter().map(|item| keep_unknown_fields(item, api)).enumerate();
    let prompt = take_prompt(&mut system, api, place).map(|prompt| (0, prompt));
    let mut items = provider_messages::convert(prompt.into_iter().chain(items).collect(), Some(api));
    for (_, message) in &mut items {
        name_api(message, api);
    }
    match api {
        RequestApi::Responses => mark_answers(&mut items, body),
        RequestApi::Anthropic | RequestApi::Gemini => mark_separate(&mut items, api),
        RequestApi::ChatCompletions => {}
    }
    let (mut nodes, mut diagnostics) =
        chat_message::read(Format::ChatMessages, items, Map::new(), place).into_nodes();
    diagnostics.retain(|found| ![codes::UNKNOWN_PART, codes::UNSENT_FIELDS].contains(&found.code));
    for node in &mut nodes {
        node.id = None;
    }
    system.shift_remove("model");
    // Values that are no system prompt stay.
    body.extend(system);
    RequestMessages { nodes, diagnostics }
}

impl RequestApi {
    /// Returns the key of the messages in a request body.
    pub const fn messages_key(self) -> &'static str {
        match self {
            Self::ChatCompletions | Self::Anthropic => "messages",
            Self::Responses => "input",
            Self::Gemini => "contents",
        }
    }

    /// The keys of the system prompt.
    const fn system(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions => &[],
            Self::Responses => &["instructions"],
            Self::Anthropic => &["system"],
            Self::Gemini => &["systemInstruction", "system_instruction"],
        }
    }

    /// The name of the API dialect, as fields of providers have it.
    const fn dialect(self) -> &'static str {
        match self {
            Self::ChatCompletions => "openai",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Known fields of a message.
    const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions => {
                &["role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal"]
            }
            Self::Responses => &["type", "role", "content"],
            Self::Anthropic => &["role", "content"],
            Self::Gemini => &["role", "parts"],
        }
    }
}

/// Takes the system prompt of a body as a message.
fn take_prompt(fields: &mut Map<String, Value>, api: RequestApi, place: &str) -> Option<Value> {
    let has_parts = |key: &&str| fields.get(*key).is_some_and(|system| system["parts"].is_array());
    if api == RequestApi::Gemini
        && let Some(key) = api.system().iter().copied().find(has_parts)
    {
        let mut system = fields.shift_remove(key)?;
        let role = system.as_object_mut()?.insert("role".to_owned(), json!("system"));
        let mut prompt = keep_unknown_fields(system, api);
        if let Some(role) = role {
            prompt["providerFields"][api.dialect()]["role"] = role;
        }
        return Some(prompt);
    }
    let mut prompt = provider_messages::system(fields, place)?;
    if api == RequestApi::Responses {
        prompt["providerFields"] = json!({ "place": "instructions" });
    }
    Some(prompt)
}

/// Names the API of a content whose form or parts only this API has: they are sent back to it as they came.
fn name_api(message: &mut Value, api: RequestApi) {
    let is_needed = match (&message["content"], api) {
        (Value::Array(_), _) => true,
        (Value::String(text), RequestApi::ChatCompletions) => {
            text.is_empty() && message["tool_calls"].is_array()
        }
        // A system prompt of Gemini is a list of parts.
        (Value::String(_), RequestApi::Gemini) => message["role"] == "system",
        _ => false,
    };
    if is_needed {
        put_note(message, "api", api.dialect());
    }
}

/// Marks results of calls that are not in the request. The provider stores the calls if the request continues an
/// earlier response or refers to its items.
fn mark_answers(messages: &mut [(usize, Value)], body: &Map<String, Value>) {
    let is_reference = |part: &Value| part["type"] == "item_reference";
    let has_reference =
        |message: &Value| message["content"].as_array().is_some_and(|parts| parts.iter().any(is_reference));
    let is_continued = body.get("previous_response_id").is_some_and(Value::is_string);
    if !is_continued && !messages.iter().any(|(_, message)| has_reference(message)) {
        return;
    }
    let calls = messages.iter().filter_map(|(_, message)| message["tool_calls"].as_array()).flatten();
    let calls: HashSet<String> = calls.filter_map(|call| call["id"].as_str().map(str::to_owned)).collect();
    for (_, message) in messages {
        if message["tool_call_id"].as_str().is_some_and(|id| !calls.contains(id)) {
            put_note(message, "answers", "storedCall");
        }
    }
}

/// Marks messages that the client sent apart from the message before them, although both are of one role.
fn mark_separate(messages: &mut [(usize, Value)], api: RequestApi) {
    let mut before: Option<(usize, bool)> = None;
    for (index, message) in messages {
        if message["role"] == "system" {
            before = None;
            continue;
        }
        let is_reply = message["role"] == "assistant";
        // Gemini rejects results in several contents, and calls after another content of the model.
        let is_accepted = api == RequestApi::Anthropic || message["role"] == "user";
        if is_accepted && before.is_some_and(|(last, of_reply)| last != *index && of_reply == is_reply) {
            put_note(message, "message", "separate");
        }
        before = Some((*index, is_reply));
    }
}

/// Adds a word about a message to its provider fields. It is not a field of an API.
fn put_note(message: &mut Value, key: &str, word: &str) {
    let Some(message) = message.as_object_mut() else { return };
    let fields = message.entry("providerFields").or_insert_with(|| json!({}));
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(key.to_owned(), json!(word));
    }
}

/// Moves unknown fields of a message to the provider fields of the API.
fn keep_unknown_fields(item: Value, api: RequestApi) -> Value {
    let Value::Object(message) = item else { return item };
    let is_message = message.contains_key("role") && message.get("type").is_none_or(|kind| kind == "message");
    // Other items of responses are unchanged.
    if api == RequestApi::Responses && !is_message {
        return Value::Object(message);
    }
    if api == RequestApi::ChatCompletions {
        return keep_chat_fields(message);
    }
    let mut message = Value::Object(message);
    provider_messages::keep_rest(&mut message, api.dialect(), api.fields());
    message
}

/// Moves unknown fields of a chat completion's message to the provider fields.
fn keep_chat_fields(mut message: Map<String, Value>) -> Value {
    let dialect = RequestApi::ChatCompletions.dialect();
    let mut known = RequestApi::ChatCompletions.fields().to_vec();
    let is_result = message.get("role").is_some_and(|role| role == "tool");
    // The call of the result has the name of the function too.
    if is_result && message.get("tool_call_id").is_some_and(Value::is_string) {
        known.retain(|key| *key != "name");
    }
    let mut reasoning = ["reasoning_content", "reasoning"].into_iter();
    let reasoning = reasoning.find(|key| message.get(*key).is_some_and(Value::is_string));
    known.extend(reasoning);
    // Clients write optional fields without a value as `null`.
    let is_set = |key: &str| message.get(key).is_none_or(|value| !value.is_null());
    known.retain(|key| matches!(*key, "role" | "content") || is_set(key));
    let mut state = Vec::new();
    if message.get("reasoning_details").is_some_and(Value::is_array) {
        let details = message.shift_remove("reasoning_details");
        state.push(json!({ "type": "reasoning_details", "details": details }));
    }
    if message.get("extra_content").is_some_and(Value::is_object) {
        state.push(json!({ "extra_content": message.shift_remove("extra_content") }));
    }
    let parts = message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
    for part in parts.filter(|part| part.get("type").and_then(Value::as_str) == Some("text")) {
        keep_marked(part, &["type", "text", "prompt_cache_breakpoint"]);
    }
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
    for call in calls {
        let mut known_of_call = vec!["id", "type", "function", "custom"];
        let has_state = call.get("extra_content").is_some_and(Value::is_object);
        known_of_call.extend(has_state.then_some("extra_content"));
        let mut inner = Map::new();
        for (key, known_of_function) in [("function", ["name", "arguments"]), ("custom", ["name", "input"])] {
            let function = call.get_mut(key).and_then(Value::as_object_mut);
            let rest = function.map(|function| provider_messages::take_rest(function, &known_of_function));
            let rest = rest.filter(|rest| !rest.is_empty());
            inner.extend(rest.map(|rest| (key.to_owned(), Value::Object(rest))));
        }
        provider_messages::keep_rest(call, dialect, &known_of_call);
        for (key, rest) in inner {
            call["providerFields"][dialect][key] = rest;
        }
    }
    let mut message = Value::Object(message);
    keep_marked(&mut message, &known);
    if let Some(field) = reasoning {
        message["providerFields"]["reasoning"] = json!(field);
    }
    if !state.is_empty() {
        message["metadata"] = json!({ "reasoningArtifacts": state });
    }
    message
}

/// Moves unknown fields to those of chat completions. A cache mark is also one of Anthropic, as `LiteLLM` has it.
fn keep_marked(value: &mut Value, known: &[&str]) {
    let mark = value.get("cache_control").filter(|mark| mark.is_object()).cloned();
    provider_messages::keep_rest(value, RequestApi::ChatCompletions.dialect(), known);
    if let Some(mark) = mark {
        value["cache_control"] = mark;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_no_fields_of_our_files() {
        let fields = json!({ "role": "user", "content": "Hi", "parts": [{ "text": "Hi" }],
            "attachments": [{ "path": "/etc/passwd" }], "isEnabled": false, "parentId": "x", "toolCalls": [{}],
            "metadata": { "isCompressionNode": true, "compressedNodeIds": ["n1"], "sentRequest": {} },
            "providerFields": { "anthropic": {} } });
        for api in
            [RequestApi::ChatCompletions, RequestApi::Responses, RequestApi::Anthropic, RequestApi::Gemini]
        {
            let mut body = Map::from_iter([(api.messages_key().to_owned(), json!([fields]))]);
            let read = take_request_messages(&mut body, api);
            let [node] = read.nodes.as_slice() else { panic!("{read:?}") };
            assert!(node.attachments.is_empty() && node.tool_calls.is_empty() && node.is_enabled());
            assert!(node.metadata.is_none() && node.parent_id.is_none(), "{node:?}");
            assert_eq!(node.to_message(&"n".into()).text(), "Hi");
        }
    }
}
