//! Messages of request bodies that go back to their API.

use ctx_engine::{Dialect, Request};
use ctx_preset_import::{RequestApi, take_request_messages};
use ctx_types::Message;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

const APIS: [(RequestApi, Dialect); 4] = [
    (RequestApi::ChatCompletions, Dialect::OpenaiChat),
    (RequestApi::Responses, Dialect::OpenaiResponses),
    (RequestApi::Anthropic, Dialect::Anthropic),
    (RequestApi::Gemini, Dialect::Gemini),
];

/// Returns messages with each kind of block, and with blocks of unknown types.
fn messages(api: RequestApi) -> Value {
    let block = json!({ "type": "new_block", "a": [1] });
    match api {
        RequestApi::ChatCompletions => json!([
            { "role": "system", "content": "Be kind." },
            { "role": "developer", "content": [{ "type": "text", "text": "Be brief." }] },
            { "role": "user", "name": "ann", "content": [
                { "type": "text", "text": "Hi" },
                { "type": "image_url", "image_url": { "url": "https://example.org/a.png" } }, block] },
            { "role": "assistant", "content": "", "reasoning": "Hm.", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "mcp.look", "arguments": "{}" } },
                { "id": "c2", "type": "custom", "custom": { "name": "run", "input": "ls" } }] },
            { "role": "tool", "tool_call_id": "c1", "name": "mcp.look", "content": [{ "type": "text", "text": "red" }] },
            { "role": "tool", "tool_call_id": "c2", "content": [block] },
            { "role": "assistant", "content": [{ "type": "text", "text": "Red." }], "reasoning_content": "So.",
                "refusal": null, "audio": null, "tool_calls": null },
            { "role": "user", "content": "Go on." }]),
        RequestApi::Responses => json!([
            { "type": "message", "role": "user", "id": "msg_1", "status": "completed", "content": [
                { "type": "input_text", "text": "Hi" },
                { "type": "input_image", "detail": "auto", "image_url": "https://example.org/a.png" }, block] },
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e", "status": "completed" },
            { "type": "message", "role": "assistant", "id": "msg_2", "phase": "commentary", "content": [
                { "type": "output_text", "text": "I look.", "annotations": [], "logprobs": [] }, block] },
            block,
            { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}" },
            { "type": "function_call_output", "id": "fo_1", "call_id": "c1", "output": "red", "status": "completed" },
            { "type": "custom_tool_call_output", "call_id": "earlier", "output": "x" },
            { "type": "item_reference", "id": "msg_3" },
            { "type": "function_call_output", "call_id": "before", "output": [{ "type": "input_text", "text": "y" }] },
            { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "Be brief." }] },
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "So?" }] },
            { "type": "message", "role": "user", "content": "Well?" },
            { "type": "message", "role": "assistant", "content": "Red." },
            { "role": "user", "content": "Sure?" },
            { "role": "assistant", "content": "Yes." },
            { "role": "user", "content": [{ "type": "input_text", "text": "And blue?" }] },
            { "role": "assistant", "content": [{ "type": "output_text", "text": "No.", "annotations": [] }] },
            { "role": "user", "content": "Go on." }]),
        RequestApi::Anthropic => json!([
            { "role": "user", "content": [{ "type": "text", "text": "Hi" }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "Yes?" }] },
            { "role": "user", "content": "Look." },
            { "role": "user", "content": "There." },
            { "role": "assistant", "content": "At what?" },
            { "role": "assistant", "content": [{ "type": "text", "text": "Tell me.", "citations": null }] },
            { "role": "user", "content": [{ "type": "text", "text": "Hi" },
                { "type": "image", "source": { "type": "url", "url": "https://example.org/a.png" } }] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Hm.", "signature": "" },
                { "type": "text", "text": "I look." }, block,
                { "type": "tool_use", "id": "t1", "name": "mcp-look", "input": { "a": 1 } }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t1", "is_error": false,
                    "content": [{ "type": "text", "text": "red" }, block] },
                { "type": "text", "text": "Go on." }] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "t2", "name": "look", "input": {} },
                { "type": "tool_use", "id": "t3", "name": "look", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t2",
                    "content": [{ "type": "text", "text": "red" }] },
                { "type": "tool_result", "tool_use_id": "t3", "content": "blue", "is_error": true }] },
            { "role": "assistant", "content": [
                { "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} }] }]),
        RequestApi::Gemini => json!([
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "user", "parts": [{ "text": "Hi" },
                { "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } }] },
            { "role": "model", "parts": [
                { "text": "Hm.", "thought": true }, { "text": "I look.", "thought": false }, { "newPart": { "a": 1 } },
                { "functionCall": { "id": "c1", "name": "look", "args": { "a": 1 } }, "thoughtSignature": "s" }] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "c1", "name": "look", "response": { "output": "red" } } },
                { "text": "Go on." }] }]),
    }
}

/// Reads messages from a request body, and writes them for the same API.
fn send_back(messages: &Value, api: RequestApi, dialect: Dialect) -> Value {
    let mut body = Map::from_iter([(api.messages_key().to_owned(), messages.clone())]);
    let read = take_request_messages(&mut body, api);
    let messages: Vec<Message> = read.nodes.iter().map(|node| node.to_message(&"n".into())).collect();
    dialect.encode(&messages, &Request::new("m")).to_value()[api.messages_key()].take()
}

#[test]
fn sends_messages_back_as_they_came() {
    for (api, dialect) in APIS {
        let messages = messages(api);
        assert_eq!(send_back(&messages, api, dialect), messages, "{dialect}");
    }
}

#[test]
fn sends_system_prompts_back_as_they_came() {
    let user = json!("Hi");
    for (api, dialect, key, prompt) in [
        (RequestApi::Responses, Dialect::OpenaiResponses, "instructions", json!("Be kind.")),
        (RequestApi::Anthropic, Dialect::Anthropic, "system", json!("Be kind.")),
        (
            RequestApi::Anthropic,
            Dialect::Anthropic,
            "system",
            json!([{ "type": "text", "text": "Be kind." }]),
        ),
        (
            RequestApi::Anthropic,
            Dialect::Anthropic,
            "system",
            json!([
            { "type": "text", "text": "Be kind.", "x": 1 }, { "type": "new_block" }]),
        ),
        (
            RequestApi::Gemini,
            Dialect::Gemini,
            "systemInstruction",
            json!({ "role": "user", "x": 1, "parts": [
            { "text": "Be kind.", "y": 2 }, { "newPart": {} }] }),
        ),
    ] {
        let messages = match api {
            RequestApi::Gemini => json!([{ "role": "user", "parts": [{ "text": user }] }]),
            _ => json!([{ "type": "message", "role": "user", "content": user }]),
        };
        let mut body = Map::from_iter([(api.messages_key().to_owned(), messages)]);
        body.insert(key.to_owned(), prompt.clone());
        let read = take_request_messages(&mut body, api);
        let messages: Vec<Message> = read.nodes.iter().map(|node| node.to_message(&"n".into())).collect();
        assert_eq!(dialect.encode(&messages, &Request::new("m")).to_value()[key], prompt, "{dialect}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z]{1,4}", inner), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

/// Adds the pointers of all objects.
fn add_objects(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(pointer.to_owned());
            for (key, value) in fields {
                add_objects(value, &format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                add_objects(item, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn keeps_unknown_fields(
        api in 0..APIS.len(),
        place: Index,
        key in "x_[a-z]{1,8}",
        value in any_value(),
    ) {
        let (api, dialect) = APIS[api];
        let mut messages = messages(api);
        let mut objects = Vec::new();
        add_objects(&messages, "", &mut objects);
        let pointer = place.get(&objects);
        messages.pointer_mut(pointer).unwrap()[&key] = value;
        prop_assert_eq!(send_back(&messages, api, dialect), messages, "{}{}", dialect, pointer);
    }
}
