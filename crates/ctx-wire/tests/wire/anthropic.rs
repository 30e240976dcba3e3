//! Messages as Anthropic's API takes them.

use std::sync::Arc;

use ctx_types::{Content, ContentPart, Message, Reasoning, Role, Source, ToolCall};
use ctx_wire::{Request, anthropic};
use serde_json::{Map, Value, json};

/// Encodes messages with a limit of 9 tokens and compares `system`, `messages` and the findings.
#[track_caller]
fn check(messages: &[Message], expected: &Value, findings: &[&str]) {
    let parameters = json!({ "max_tokens": 9 });
    let request = Request { model: "m", tools: &[], parameters: parameters.as_object().unwrap() };
    let encoded = anthropic::encode(messages, &request);
    let mut body = encoded.to_value().as_object().unwrap().clone();
    assert_eq!(body.shift_remove("model"), Some(json!("m")));
    assert_eq!(body.shift_remove("max_tokens"), Some(json!(9)));
    assert_eq!(format!("{:#}", Value::Object(body)), format!("{expected:#}"));
    let found: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

fn message(role: Role, text: &str) -> Message {
    Message::new(role, text, Source::history("n", role))
}

fn calling(text: &str, id: &str, arguments: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "add".into(), arguments: arguments.into() };
    message(Role::Assistant, text).with(|message| message.tool_calls = vec![call])
}

fn result(id: &str, text: &str) -> Message {
    message(Role::Tool, text).with(|message| message.tool_call_id = Some(id.into()))
}

#[test]
fn the_leading_system_messages_stand_apart() {
    check(
        &[message(Role::System, "rules"), message(Role::User, "hi")],
        &json!({ "system": "rules", "messages": [{ "role": "user", "content": "hi" }] }),
        &[],
    );
    check(
        &[message(Role::System, "a"), message(Role::Developer, "b"), message(Role::User, "hi")],
        &json!({
            "system": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }],
            "messages": [{ "role": "user", "content": "hi" }],
        }),
        &[],
    );
}

#[test]
fn a_later_system_message_is_wrapped_and_reported() {
    check(
        &[message(Role::User, "hi"), message(Role::System, "now in French")],
        &json!({ "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "hi" },
            { "type": "text", "text": "<system>\nnow in French\n</system>" },
        ] }] }),
        &[
            "info[CTX0516]: a system message in the conversation is sent as a user message in `<system>` tags (at /messages/1)",
        ],
    );
}

#[test]
fn results_stand_first_in_the_message_after_their_calls() {
    check(
        &[
            message(Role::User, "add"),
            calling("Adding.", "c1", r#"{"a":1}"#),
            result("c1", "2"),
            message(Role::User, "thanks"),
        ],
        &json!({ "messages": [
            { "role": "user", "content": "add" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Adding." },
                { "type": "tool_use", "id": "c1", "name": "add", "input": { "a": 1 } },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "content": "2" },
                { "type": "text", "text": "thanks" },
            ] },
        ] }),
        &[],
    );
}

#[test]
fn arguments_that_are_no_object_are_wrapped() {
    check(
        &[message(Role::User, "add"), calling("", "c1", "{oops"), result("c1", "")],
        &json!({ "messages": [
            { "role": "user", "content": "add" },
            { "role": "assistant", "content": [
                { "type": "tool_use", "id": "c1", "name": "add", "input": { "arguments": "{oops" } },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "" }] },
        ] }),
        &[
            "warning[CTX0518]: arguments of call `c1` are not a JSON object; they are wrapped in one (at /messages/1)",
        ],
    );
}

#[test]
fn the_user_begins_and_a_started_answer_ends_in_a_letter() {
    check(
        &[message(Role::Assistant, "Hello. "), message(Role::Assistant, "And \n")],
        &json!({ "messages": [
            { "role": "user", "content": "(The conversation begins.)" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Hello. " },
                { "type": "text", "text": "And" },
            ] },
        ] }),
        &[
            "info[CTX0516]: the API rejects a leading assistant message; a user message is inserted before it (at /messages/0)",
        ],
    );
}

#[test]
fn signed_reasoning_is_replayed_unchanged_and_before_the_words() {
    let signed = json!({ "type": "thinking", "thinking": "hm", "signature": "abc" });
    let artifacts = vec![Arc::new(signed.clone()), Arc::new(json!({ "type": "reasoning" }))];
    let answer = message(Role::Assistant, "yes").with(|message| {
        message.reasoning = Some(Reasoning { text: Some("hm".into()), artifacts, model: None });
    });
    check(
        &[message(Role::User, "?"), answer, message(Role::User, "!")],
        &json!({ "messages": [
            { "role": "user", "content": "?" },
            { "role": "assistant", "content": [signed, { "type": "text", "text": "yes" }] },
            { "role": "user", "content": "!" },
        ] }),
        &["info[CTX0512]: reasoning state of another provider is not sent (at /messages/1)"],
    );
}

#[test]
fn images_of_chat_completions_become_image_blocks() {
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let parts = vec![ContentPart::Text("look".into()), ContentPart::Other(Arc::new(image))];
    check(
        &[message(Role::User, "").with(|message| message.content = Content::Parts(parts))],
        &json!({ "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "look" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } },
        ] }] }),
        &[],
    );
}

#[test]
fn a_blank_message_is_not_sent() {
    check(
        &[message(Role::User, "hi"), message(Role::Assistant, " "), message(Role::User, "there")],
        &json!({ "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "hi" },
            { "type": "text", "text": "there" },
        ] }] }),
        &["info[CTX0517]: message 1 is not sent: it has no text (at /messages/1)"],
    );
}

#[test]
fn tools_and_parameters_are_written_as_this_dialect_has_them() {
    let tools =
        [json!({ "type": "function", "function": { "name": "add", "parameters": { "type": "object" } } })];
    let parameters = json!({ "stop": "x", "temperature": 1, "seed": 7 });
    let request = Request { model: "m", tools: &tools, parameters: parameters.as_object().unwrap() };
    let messages = [message(Role::User, "hi")];
    let encoded = anthropic::encode(&messages, &request);
    assert_eq!(
        encoded.to_string(),
        concat!(
            r#"{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"hi"}],"#,
            r#""tools":[{"name":"add","input_schema":{"type":"object"}}],"stop_sequences":["x"],"temperature":1}"#
        )
    );
    let found: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "info[CTX0504]: `max_tokens` is required and not set; 4096 is sent (at /max_tokens)",
            "info[CTX0507]: parameter `temperature` is sent, but only older models accept it (at /temperature)",
            "warning[CTX0503]: parameter `seed` is not sent: this API dialect does not support it",
        ]
    );
}

#[test]
fn without_messages_the_body_is_reported() {
    let request = Request { model: "", tools: &[], parameters: &Map::new() };
    let found = anthropic::encode(&[], &request).diagnostics;
    assert!(found.iter().any(|finding| finding.to_string().contains("the request has no messages")));
}
