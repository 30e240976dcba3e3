//! Messages of request bodies.

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
    let items = items.into_iter().map(|item| keep_unknown_fields(item, api)).enumerate().collect();
    let prompt = provider_messages::system(&mut system, place).map(|system| (0, system));
    let items = prompt.into_iter().chain(provider_messages::convert(items, Some(api))).collect();
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
            Self::ChatCompletions => &[
                "role",
                "content",
                "name",
                "tool_calls",
                "tool_call_id",
                "function_call",
                "reasoning_content",
                "reasoning",
                "refusal",
            ],
            Self::Responses => &["type", "role", "content", "status", "id", "phase"],
            Self::Anthropic => &["role", "content"],
            Self::Gemini => &["role", "parts"],
        }
    }
}

/// Moves unknown fields of a message to the provider fields of the API.
fn keep_unknown_fields(item: Value, api: RequestApi) -> Value {
    let Value::Object(mut message) = item else { return item };
    // Other items of responses are unchanged.
    if api == RequestApi::Responses && !message.contains_key("role") {
        return Value::Object(message);
    }
    let mut metadata = Map::new();
    if api == RequestApi::ChatCompletions {
        let details = message.shift_remove("reasoning_details").filter(Value::is_array);
        let details = details.map(|details| json!({ "type": "reasoning_details", "details": details }));
        let extra = message.shift_remove("extra_content").filter(Value::is_object);
        let extra = extra.map(|extra| json!({ "extra_content": extra }));
        let state: Vec<Value> = details.into_iter().chain(extra).collect();
        if !state.is_empty() {
            metadata.insert("reasoningArtifacts".to_owned(), state.into());
        }
        let parts = message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
        for part in parts.filter(|part| part.get("type").and_then(Value::as_str) == Some("text")) {
            let known = ["type", "text", "prompt_cache_breakpoint"];
            provider_messages::keep_rest(part, api.dialect(), &known);
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
        for call in calls {
            let known = ["id", "type", "index", "function", "custom", "extra_content"];
            provider_messages::keep_rest(call, api.dialect(), &known);
        }
    }
    let mut message = Value::Object(message);
    provider_messages::keep_rest(&mut message, api.dialect(), api.fields());
    if !metadata.is_empty() {
        message["metadata"] = Value::Object(metadata);
    }
    message
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
