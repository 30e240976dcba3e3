use std::sync::LazyLock;

use ctx_engine::{
    Compile, CompiledAgent, Context, Dialect, Engine, Options, Request, SystemPlacement, read_conversation,
};
use ctx_tokens::ModelTable;
use ctx_types::{Agent, Message, Role, Source, TurnInput};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

static AGENT: LazyLock<CompiledAgent> =
    LazyLock::new(|| Engine::new().compile(&Agent::default(), &Compile::default()));

fn assemble(messages: &Value) -> Context {
    let session = read_conversation(messages.to_string().as_bytes(), "").unwrap().value;
    AGENT.assemble_blocking(&session, &TurnInput::default()).unwrap()
}

fn send(messages: &Value, model: &str, dialect: Dialect) -> Value {
    let context = assemble(messages);
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

    let context = assemble(&messages);
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Completion] {
        let encoded = dialect.encode(&context.messages, &Request::new("m"));
        let lost = encoded.diagnostics.iter().filter(|found| found.code.to_string() == "CTX0528");
        assert_eq!(lost.count(), 3, "{dialect}: {:#?}", encoded.diagnostics);
        assert!(!encoded.to_string().contains("cache_control"), "{dialect}");
    }
}

/// Returns how often a code is reported for a request.
fn count(messages: &Value, model: &str, dialect: Dialect, code: &str) -> usize {
    let context = assemble(messages);
    let encoded = dialect.encode(&context.messages, &Request::new(model));
    encoded.diagnostics.iter().filter(|found| found.code.to_string() == code).count()
}

#[test]
fn sends_encrypted_content_back_to_qwen() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
    let messages = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": "a", "reasoning_content": "", "encrypted_content": "EC", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": "seen" },
    ]);
    let context = assemble(&messages);
    for (model, expected) in [("qwen4-max", json!("EC")), ("gpt-4o", Value::Null)] {
        let rules = ModelTable::builtin().lookup(model).0.request;
        let options = Options { rules, ..Options::default() };
        let encoded = Dialect::OpenaiChat.encode_with(&context.messages, &Request::new(model), &options);
        assert_eq!(encoded.to_value()["messages"][1]["encrypted_content"], expected);
        let is_lost = encoded.diagnostics.iter().any(|found| found.code.to_string() == "CTX0512");
        assert_eq!(is_lost, expected.is_null());
    }
    assert_eq!(count(&messages, "claude-opus-5", Dialect::Anthropic, "CTX0528"), 1);
}

#[test]
fn sends_replies_with_audio_alone() {
    let messages = json!([
        { "role": "user", "content": "q" },
        { "role": "assistant", "audio": { "id": "audio_1" } },
        { "role": "user", "content": "z" },
    ]);
    assert_eq!(send(&messages, "gpt-4o-audio-preview", Dialect::OpenaiChat)["messages"], messages);
    assert_eq!(count(&messages, "gpt-4o-audio-preview", Dialect::OpenaiChat, "CTX0532"), 0);
    assert_eq!(count(&messages, "claude-opus-5", Dialect::Anthropic, "CTX0528"), 1);
}

#[test]
fn puts_cache_mark_on_last_block() {
    let mark = json!({ "type": "ephemeral" });
    let messages = json!([
        { "role": "user", "content": "hi", "cache_control": mark },
        { "role": "assistant", "content": "so", "cache_control": mark, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } },
        ] },
        { "role": "tool", "tool_call_id": "c1", "content": "seen", "is_error": true, "cache_control": mark },
    ]);
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "hi", "cache_control": mark }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "so" },
            { "type": "tool_use", "id": "c1", "name": "look", "input": {}, "cache_control": mark },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c1", "content": "seen", "is_error": true, "cache_control": mark },
        ] },
    ]);
    assert_eq!(send(&messages, "claude-opus-4-5", Dialect::Anthropic)["messages"], expected);
    assert_eq!(count(&messages, "gpt-4o", Dialect::OpenaiChat, "CTX0528"), 3);
}

#[test]
fn keeps_marks_of_later_system_messages() {
    let messages = json!([
        { "role": "user", "content": "hi" },
        { "role": "system", "clear_at": "next_user_message", "content": [
            { "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } },
            { "type": "text", "text": "y" },
        ] },
        { "role": "system", "clear_at": "never", "content": "z" },
    ]);
    let context = assemble(&messages);
    let options = Options { system: SystemPlacement::InPlace, ..Options::default() };
    let encoded = Dialect::Anthropic.encode_with(&context.messages, &Request::new("claude-opus-5"), &options);
    let body = encoded.to_value();
    assert_eq!(body["messages"].as_array().unwrap()[1..], messages.as_array().unwrap()[1..]);
    assert!(encoded.diagnostics.iter().all(|found| found.code.to_string() != "CTX0528"));
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Anthropic] {
        assert_eq!(count(&messages, "m", dialect, "CTX0528"), 2, "{dialect}");
    }
}

#[test]
fn sends_no_added_ids_to_gemini() {
    let contents = json!([
        { "role": "user", "parts": [{ "text": "hi" }] },
        { "role": "model", "parts": [
            { "functionCall": { "name": "look", "args": {} } },
            { "functionCall": { "id": "own", "name": "look", "args": {} } },
        ] },
        { "role": "user", "parts": [
            { "functionResponse": { "name": "look", "response": { "output": "one" } } },
            { "functionResponse": { "id": "own", "name": "look", "response": { "output": "two" } } },
        ] },
    ]);
    assert_eq!(send(&contents, "gemini-2.5-pro", Dialect::Gemini)["contents"], contents);
    let sent = send(&contents, "gpt-4o", Dialect::OpenaiChat);
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], sent["messages"][2]["tool_call_id"]);
    assert_eq!(count(&contents, "gpt-4o", Dialect::OpenaiChat, "CTX0528"), 0);
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

/// Sends messages to a model of their own API, and compares the list that comes out.
#[track_caller]
fn check_same(messages: &Value, model: &str, dialect: Dialect, key: &str, expected: &Value) {
    let body = send(messages, model, dialect);
    assert_eq!(format!("{:#}", body[key]), format!("{expected:#}"));
}

fn output(id: &str, content: &Value) -> Value {
    json!({ "type": "message", "id": id, "role": "assistant", "status": "completed", "content": content })
}

#[test]
fn returns_items_of_responses_unchanged() {
    let text = |text: &str| json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let cited = json!([{
        "type": "output_text", "text": "so", "annotations": [{ "type": "url_citation", "url": "u" }],
        "logprobs": [{ "token": "a" }],
    }]);
    let user = |text: &str| json!({ "type": "message", "role": "user", "content": text });
    let reasoning =
        |id: &str| json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": "a" });
    for items in [
        json!([user("hi"), reasoning("rs_1"), { "type": "web_search_call", "id": "ws_1" }, output("msg_1", &cited)]),
        json!([
            user("hi"), reasoning("rs_1"), output("msg_1", &text("a")), { "type": "mcp_call", "id": "mcp_1" },
            output("msg_2", &text("b")), { "type": "code_interpreter_call", "id": "ci_1" }, user("so"),
        ]),
        json!([
            user("hi"), { "type": "local_shell_call", "id": "ls_1", "call_id": "c1" },
            { "type": "local_shell_call_output", "id": "c1", "output": "x" },
            { "type": "computer_call", "call_id": "c2" }, { "type": "computer_call_output", "call_id": "c2", "output": {} },
        ]),
        json!([
            user("hi"), { "type": "custom_tool_call", "call_id": "c1", "name": "grep", "input": "a b" },
            { "type": "custom_tool_call_output", "call_id": "c1", "output": "found" },
            { "type": "function_call", "call_id": "c2", "name": "look", "arguments": "{}", "namespace": "n" },
            { "type": "function_call_output", "call_id": "c2", "output": "seen", "caller": "x" },
        ]),
        json!([{ "type": "item_reference", "id": "msg_1" }, user("hi")]),
    ] {
        check_same(&items, "gpt-5", Dialect::OpenaiResponses, "input", &items);
        let body = json!({ "model": "gpt-5", "input": items });
        check_same(&body, "gpt-5", Dialect::OpenaiResponses, "input", &items);
    }
}

#[test]
fn keeps_ids_with_their_messages() {
    let text = |text: &str| json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let items = json!([
        { "type": "message", "role": "user", "content": "hi" },
        { "type": "message", "role": "assistant", "content": text("a") },
        { "type": "web_search_call", "id": "ws_1" },
        output("msg_9", &text("b")),
    ]);
    let mut expected = items.clone();
    expected[1] = output("msg_1", &text("a"));
    check_same(&items, "gpt-5", Dialect::OpenaiResponses, "input", &expected);
}

#[test]
fn reads_short_items_of_responses() {
    let items = json!([
        { "role": "developer", "content": [{ "type": "input_text", "text": "rules" }] },
        { "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "a" },
        { "role": "assistant", "content": "yes" },
        { "role": "user", "content": "so" },
    ]);
    let text = json!([{ "type": "output_text", "text": "yes", "annotations": [] }]);
    let expected = json!([
        { "type": "message", "role": "developer", "content": "rules" },
        { "type": "message", "role": "user", "content": "hi" },
        items[2],
        output("msg_2", &text),
        { "type": "message", "role": "user", "content": "so" },
    ]);
    check_same(&items, "gpt-5", Dialect::OpenaiResponses, "input", &expected);
    let expected = json!([
        { "role": "user", "content": "hi" }, { "role": "assistant", "content": "yes" }, { "role": "user", "content": "so" },
    ]);
    check_same(&items, "claude-opus-4-5", Dialect::Anthropic, "messages", &expected);
    let body = json!({ "model": "gpt-5", "instructions": "rules", "input": items });
    let system = json!([{ "type": "text", "text": "rules" }, { "type": "text", "text": "rules" }]);
    check_same(&body, "claude-opus-4-5", Dialect::Anthropic, "system", &system);
}

#[test]
fn sends_custom_tool_calls_in_every_dialect() {
    let call = json!({ "id": "c1", "type": "custom", "custom": { "name": "grep", "input": "a b" } });
    let chat = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": "found" },
    ]);
    check_same(&chat, "gpt-5", Dialect::OpenaiChat, "messages", &chat);
    let items = json!([
        { "type": "message", "role": "user", "content": "hi" },
        { "type": "custom_tool_call", "call_id": "c1", "name": "grep", "input": "a b" },
        { "type": "custom_tool_call_output", "call_id": "c1", "output": "found" },
    ]);
    check_same(&chat, "gpt-5", Dialect::OpenaiResponses, "input", &items);
    check_same(&items, "gpt-5", Dialect::OpenaiChat, "messages", &chat);
    let body = send(&items, "claude-opus-4-5", Dialect::Anthropic);
    let call = json!([{ "type": "tool_use", "id": "c1", "name": "grep", "input": { "input": "a b" } }]);
    assert_eq!(body["messages"][1]["content"], call);
}

#[test]
fn sends_custom_tools_in_every_dialect() {
    let rule = json!({ "definition": "start: \"a\"", "syntax": "lark" });
    let nested = json!({ "type": "grammar", "grammar": rule });
    let flat = json!({ "type": "grammar", "definition": rule["definition"], "syntax": "lark" });
    let chat =
        json!({ "type": "custom", "custom": { "name": "grep", "description": "d", "format": nested } });
    let responses = json!({ "type": "custom", "name": "grep", "description": "d", "format": flat });
    let text =
        json!({ "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"] });
    let anthropic = json!({ "name": "grep", "description": "d", "input_schema": text });
    let user = [Message::new(Role::User, "hi", Source::history("n", Role::User))];
    for tool in [&chat, &responses] {
        for (dialect, expected) in [
            (Dialect::OpenaiChat, &chat),
            (Dialect::OpenaiResponses, &responses),
            (Dialect::Anthropic, &anthropic),
        ] {
            let tools = [tool.clone()];
            let request = Request { tools: &tools, ..Request::new("m") };
            assert_eq!(&dialect.encode(&user, &request).to_value()["tools"][0], expected, "{dialect}");
        }
    }
}

#[test]
fn keeps_fields_of_gemini_functions() {
    let responses = [
        json!({ "output": "x" }),
        json!({ "result": "x" }),
        json!({ "output": 5 }),
        json!({ "output": "{}" }),
        json!({ "error": "x" }),
        json!({ "error": { "code": 1 } }),
        json!({ "error": "{}" }),
        json!({ "a": 1, "b": 2 }),
    ];
    for response in responses {
        let contents = json!([
            { "role": "user", "parts": [{ "text": "hi" }] },
            { "role": "model", "parts": [{ "functionCall": { "id": "c", "name": "f", "args": {}, "willContinue": true } }] },
            { "role": "user", "parts": [{ "functionResponse": {
                "id": "c", "name": "f", "response": response, "willContinue": false, "scheduling": "SILENT",
            } }] },
        ]);
        check_same(&contents, "gemini-2.5-pro", Dialect::Gemini, "contents", &contents);
    }
}

#[test]
fn keeps_blocks_of_anthropic_results() {
    let mark = json!({ "type": "ephemeral" });
    let messages = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": [
            { "type": "server_tool_use", "id": "s1", "name": "tool_search", "input": {} },
            { "type": "tool_search_tool_result", "tool_use_id": "s1", "content": {} },
            { "type": "tool_use", "id": "c1", "name": "find", "input": {} },
        ] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": [
            { "type": "tool_reference", "tool_name": "look" },
            { "type": "text", "text": "seen", "cache_control": mark, "citations": [{ "cited_text": "z" }] },
        ] }] },
    ]);
    check_same(&messages, "claude-opus-4-5", Dialect::Anthropic, "messages", &messages);
}

/// Parts that only one API has, each in a conversation of that API, with a word by which it would be found.
fn foreign_parts() -> Vec<(Dialect, Value, &'static str)> {
    let anthropic = |role: &str, part: Value| {
        let content = json!([{ "type": "text", "text": "hi" }, part]);
        (
            Dialect::Anthropic,
            json!([{ "role": "user", "content": "hi" }, { "role": role, "content": content }]),
        )
    };
    let gemini = |part: Value| {
        let hi = json!({ "role": "user", "parts": [{ "text": "hi" }] });
        (Dialect::Gemini, json!([hi, { "role": "model", "parts": [{ "text": "so" }, part] }]))
    };
    let responses = |item: Value| {
        (Dialect::OpenaiResponses, json!([{ "type": "message", "role": "user", "content": "hi" }, item]))
    };
    let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] });
    let result = json!({ "type": "search_result", "source": "s", "title": "t", "content": [] });
    let url = json!({ "type": "url", "url": "https://a/b.png" });
    let marked = json!({ "type": "image", "source": url, "cache_control": { "type": "ephemeral" } });
    let document = json!({ "type": "document", "source": { "type": "file", "file_id": "file_9" } });
    let file = json!({ "fileData": { "mimeType": "image/png", "fileUri": "gs://file_9" } });
    let uploaded = json!([{ "role": "user", "parts": [{ "text": "hi" }, file] }]);
    let parts = [
        (anthropic("assistant", search), "server_tool_use"),
        (anthropic("assistant", found), "web_search_tool_result"),
        (anthropic("user", result), "search_result"),
        (anthropic("user", marked), "cache_control"),
        (anthropic("user", document), "file_9"),
        (gemini(json!({ "executableCode": { "language": "PYTHON", "code": "1" } })), "executableCode"),
        (gemini(json!({ "codeExecutionResult": { "outcome": "OUTCOME_OK" } })), "codeExecutionResult"),
        ((Dialect::Gemini, uploaded), "file_9"),
        (responses(json!({ "type": "web_search_call", "id": "ws" })), "web_search_call"),
        (responses(json!({ "type": "item_reference", "id": "i" })), "item_reference"),
    ];
    parts.into_iter().map(|((dialect, messages), word)| (dialect, messages, word)).collect()
}

#[test]
fn sends_own_parts_to_own_dialect_only() {
    for (own, messages, word) in foreign_parts() {
        let context = assemble(&messages);
        for dialect in Dialect::ALL {
            let encoded = dialect.encode(&context.messages, &Request::new("m"));
            let is_sent = encoded.to_string().contains(word);
            assert_eq!(is_sent, dialect == own, "{word} in {dialect}: {encoded}");
            let is_it =
                |text: &str| text.contains(word) || word.starts_with("file") && text.contains("is not sent");
            let is_told = encoded.diagnostics.iter().any(|found| is_it(&found.message.to_string()));
            assert_eq!(is_told, dialect != own, "{word} in {dialect}: {:#?}", encoded.diagnostics);
        }
    }
}

#[test]
fn sends_refusals_in_every_dialect() {
    let messages = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": null, "refusal": "No." },
        { "role": "user", "content": "so" },
    ]);
    let refusal = json!([{ "type": "refusal", "refusal": "No." }]);
    assert_eq!(send(&messages, "gpt-4o", Dialect::OpenaiChat)["messages"][1]["content"], refusal);
    assert_eq!(send(&messages, "gpt-5", Dialect::OpenaiResponses)["input"][1]["content"], refusal);
    assert_eq!(send(&messages, "claude-opus-4-5", Dialect::Anthropic)["messages"][1]["content"], "No.");
    assert_eq!(
        send(&messages, "gemini-2.5-pro", Dialect::Gemini)["contents"][1]["parts"],
        json!([{ "text": "No." }])
    );
}

#[test]
fn sends_reasoning_with_calls_to_own_servers() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let messages = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": null, "reasoning_content": "Look.", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": "x" },
    ]);
    let body = send(&messages, "my-model", Dialect::OpenaiChat);
    assert_eq!(body["messages"][1]["reasoning_content"], "Look.");
}
