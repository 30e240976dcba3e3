use std::sync::LazyLock;

use ctx_engine::{Compile, CompiledAgent, Dialect, Engine, Limits, Request, read_conversation};
use ctx_types::{Agent, TurnInput};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

static AGENT: LazyLock<CompiledAgent> =
    LazyLock::new(|| Engine::new().compile(&Agent::default(), &Compile::default()));

fn send(messages: &Value, model: &str, dialect: Dialect) -> Value {
    let session = read_conversation(messages.to_string().as_bytes(), "", &Limits::default()).unwrap().value;
    let context = AGENT.assemble_blocking(&session, &TurnInput::default()).unwrap();
    dialect.encode(&context.messages, &Request::new(model)).to_value()
}

fn anthropic_block(index: usize, kind: char) -> Value {
    let id = format!("{kind}{index}");
    match kind {
        't' => json!({ "type": "thinking", "thinking": id, "signature": format!("sig-{id}") }),
        'r' => json!({ "type": "redacted_thinking", "data": id }),
        'c' => json!({ "type": "tool_use", "id": id, "name": "look", "input": { "at": index } }),
        _ => json!({ "type": "text", "text": id }),
    }
}

fn gemini_part(index: usize, kind: char) -> Value {
    let id = format!("{kind}{index}");
    let mut part = match kind {
        't' => json!({ "text": id, "thought": true }),
        'c' => json!({ "functionCall": { "id": id, "name": "look", "args": { "at": index } } }),
        'm' => json!({ "inlineData": { "mimeType": "image/png", "data": "cG5n" } }),
        'x' => json!({ "executableCode": { "language": "PYTHON", "code": id } }),
        _ => json!({ "text": id }),
    };
    if index.is_multiple_of(2) && kind != 't' {
        part["thoughtSignature"] = format!("sig-{id}").into();
    }
    part
}

proptest! {
    #[test]
    fn sends_anthropic_blocks_back_in_order(kinds in vec(prop::sample::select(vec!['t', 'r', 'c', 'w']), 0..9)) {
        // The provider rejects thinking at the end, and two adjacent texts must stay separate.
        let kinds: Vec<char> = kinds.into_iter().chain(['w']).collect();
        let blocks: Vec<Value> = kinds.iter().enumerate().map(|(index, kind)| anthropic_block(index, *kind)).collect();
        let results: Vec<Value> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| json!({ "type": "tool_result", "tool_use_id": block["id"], "content": "seen" }))
            .chain([json!({ "type": "text", "text": "next" })])
            .collect();
        let messages = json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": blocks },
            { "role": "user", "content": results },
        ]);
        let body = send(&messages, "claude-opus-4-5", Dialect::Anthropic);
        let written = match &body["messages"][1]["content"] {
            Value::String(text) => json!([{ "type": "text", "text": text }]),
            list => list.clone(),
        };
        prop_assert_eq!(written, Value::from(blocks));
    }

    #[test]
    fn sends_gemini_parts_back_in_order(kinds in vec(prop::sample::select(vec!['t', 'c', 'm', 'x', 'w']), 1..9)) {
        let parts: Vec<Value> = kinds.iter().enumerate().map(|(index, kind)| gemini_part(index, *kind)).collect();
        let results: Vec<Value> = parts
            .iter()
            .filter_map(|part| part.get("functionCall"))
            .map(|call| json!({ "functionResponse": { "id": call["id"], "name": "look", "response": { "output": "seen" } } }))
            .chain([json!({ "text": "next" })])
            .collect();
        let messages = json!([
            { "role": "user", "parts": [{ "text": "hi" }] },
            { "role": "model", "parts": parts },
            { "role": "user", "parts": results },
        ]);
        let body = send(&messages, "gemini-2.5-pro", Dialect::Gemini);
        prop_assert_eq!(&body["contents"][1]["parts"], &Value::from(parts));
    }
}

#[test]
fn sends_responses_items_back_in_order() {
    let items = json!([
        { "type": "message", "role": "user", "content": "hi" },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "a" },
        { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" },
        { "type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "b" },
        { "type": "function_call", "call_id": "c2", "name": "look", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "one" },
        { "type": "function_call_output", "call_id": "c2", "output": "two" },
    ]);
    assert_eq!(send(&items, "gpt-5", Dialect::OpenaiResponses)["input"], items);
}

#[test]
fn keeps_fields_of_blocks_for_their_provider() {
    let mark = json!({ "type": "ephemeral" });
    let messages = json!([
        { "role": "user", "content": [{ "type": "text", "text": "hi", "cache_control": mark }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "so", "citations": [{ "type": "char_location", "cited_text": "z" }] },
            { "type": "tool_use", "id": "c1", "name": "look", "input": {}, "caller": { "type": "direct" } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c1", "content": "seen", "cache_control": mark },
        ] },
    ]);
    assert_eq!(send(&messages, "claude-opus-4-5", Dialect::Anthropic)["messages"], messages);

    let session = read_conversation(messages.to_string().as_bytes(), "", &Limits::default()).unwrap().value;
    let context = AGENT.assemble_blocking(&session, &TurnInput::default()).unwrap();
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Completion] {
        let encoded = dialect.encode(&context.messages, &Request::new("m"));
        let lost = encoded.diagnostics.iter().filter(|found| found.code.to_string() == "CTX0528");
        assert_eq!(lost.count(), 3, "{dialect}: {:#?}", encoded.diagnostics);
        assert!(!encoded.to_string().contains("cache_control"), "{dialect}");
    }
}

#[test]
fn sends_the_newest_four_cache_marks() {
    let message = |number: u32| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": [
            { "type": "text", "text": number.to_string(), "cache_control": { "type": "ephemeral" } },
        ] })
    };
    let messages: Value = (0..7).map(message).collect();
    let body = send(&messages, "claude-opus-4-5", Dialect::Anthropic);
    let is_marked = |message: &Value| message.pointer("/content/0/cache_control").is_some();
    let marked: Vec<bool> = body["messages"].as_array().unwrap().iter().map(is_marked).collect();
    assert_eq!(marked, [false, false, false, true, true, true, true]);
}
