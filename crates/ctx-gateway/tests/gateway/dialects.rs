//! Requests and responses of each API dialect, with the requests to the provider: `fixtures/gateway`.

use std::path::Path;

use ctx_project::OnLoss;
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Server, Step, sse};
use crate::test_gateway::TestGateway;

/// Runs a case, and compares the provider request and the client response.
#[track_caller]
fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gateway").join(name);
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let provider = Dialect::parse(case["provider"].as_str().unwrap()).unwrap();
    let reply = match &case["reply"] {
        Value::Array(events) => {
            Answer::stream(vec![Step::Bytes(sse(events, provider == Dialect::OpenaiChat))])
        }
        whole => Answer::json(200, whole),
    };
    let agents = TestGateway::new(provider, vec![]).close();
    let gateway = TestGateway::open_with(agents, provider, Server::script([reply]), |options| {
        options.on_loss = (case["on_loss"] == "drop").then_some(OnLoss::Drop);
    });
    let response = gateway.post(case["path"].as_str().unwrap(), &case["body"]);
    let sent = gateway.request();
    let lost = response.header("x-ctx-lost").unwrap_or("nothing").to_owned();
    let body =
        serde_json::from_str::<Value>(&response.body).map_or(response.body, |body| format!("{body:#}\n"));
    let shown = format!(
        "to the provider: {}\n{:#}\n\nto the client: {}\nlost: {lost}\n{}",
        sent.path,
        sent.json(),
        response.status,
        replace_ids_and_times(&body)
    );
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder.canonicalize().unwrap());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("expected", shown));
}

/// Replaces ids and times by constant words.
fn replace_ids_and_times(body: &str) -> String {
    let mut shown = String::new();
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let id = rest.as_bytes().iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
        let time = rest.strip_prefix("\"created").and_then(|rest| rest.split_once(':'));
        if id == 32 {
            shown.push_str("ID");
            rest = &rest[id..];
        } else if let Some((key, after)) = time.filter(|(key, _)| key.len() <= "_at\"".len()) {
            shown.extend(["\"created", key, ": TIME"]);
            rest = after.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        } else {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    shown
}

macro_rules! cases {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )* };
}

cases! {
    a_paused_turn_passes_through
    calls_of_gemini_get_ids
    chunks_of_chat_completions_pass_through
    events_of_the_providers_own_dialect_pass_through
    items_of_responses_pass_through
    a_chat_completion_of_anthropic_has_calls
    a_stream_of_chat_completions_has_calls_in_pieces
    an_answer_cut_off_by_its_limit_says_so
    a_message_of_chat_completions_has_calls
    a_stream_of_messages_has_blocks
    a_response_of_gemini_has_calls
    a_stream_of_responses_numbers_its_events
    a_generated_content_of_responses_has_calls
    a_stream_of_generated_content_ends_with_its_calls
    fields_of_the_providers_own_dialect_pass_through
    reads_refusals_of_a_history
    gemini_fields_pass_through
    messages_of_chat_completions_keep_their_form
    responses_refer_to_stored_items
    fields_without_a_counterpart_are_dropped_and_listed
}

#[test]
fn passes_headers_to_provider() {
    let whole = json!({ "type": "message", "content": [{ "type": "text", "text": "Hi." }],
        "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let gateway = TestGateway::new(Dialect::Anthropic, vec![Answer::json(200, &whole)]);
    let body = json!({ "model": "ada", "max_tokens": 9, "messages": [{ "role": "user", "content": "Hi" }] });
    let headers = [
        ("anthropic-version", "2026-10-21"),
        ("anthropic-beta", "interleaved-thinking-2025-05-14,context-1m-2025-08-07"),
        ("traceparent", "00-1-2-01"),
        ("user-agent", "claude-cli/2.1"),
        ("x-stainless-lang", "js"),
        ("openai-organization", "org"),
        ("x-api-key", "secret-of-client"),
        ("cookie", "a=b"),
    ];
    gateway.ask("POST", "/v1/messages?beta=true&key=x", &headers, body.to_string().as_bytes());
    let sent = gateway.request();
    assert_eq!(sent.path, "/v1/messages?beta=true");
    // The key of the operator decides the organization.
    for (name, value) in &headers[..5] {
        assert_eq!(sent.header(name), Some(*value));
    }
    assert_eq!((sent.header("openai-organization"), sent.header("cookie")), (None, None));
    assert_ne!(sent.header("x-api-key"), Some("secret-of-client"));
}

#[test]
fn rejects_messages_that_would_be_lost() {
    let gateway = TestGateway::new(Dialect::Gemini, vec![]);
    let result = json!({ "functionResponse": { "name": "look", "response": {} } });
    for (content, expected) in [
        (json!({ "role": "assistant", "parts": [{ "text": "Hi" }] }), "contents[0].role"),
        (json!({ "role": "user", "parts": { "text": "Hi" } }), "contents[0].parts"),
        (json!({ "role": "user", "parts": [result] }), "contents"),
    ] {
        let body = json!({ "contents": [content] });
        let response = gateway.post("/v1beta/models/ada:generateContent", &body);
        assert_eq!(response.status, 400, "{response:?}");
        assert!(response.body.contains(&format!("`{expected}`")), "{response:?}");
    }
}

/// Returns the body that the provider would get.
#[track_caller]
fn preview(gateway: &TestGateway, path: &str, body: &Value) -> Value {
    let response = gateway.ask("POST", path, &[("x-ctx-dry-run", "1")], body.to_string().as_bytes());
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

#[test]
fn passes_parameters_and_tools_through() {
    let schema = json!({ "type": "object", "default": { "type": "STRING" } });
    let responses = json!({ "model": "ada", "input": [{ "role": "user", "content": "Hi" }], "instructions": "Be kind.",
        "tools": [{ "type": "custom", "name": "run", "format": { "type": "text" } }, { "type": "web_search", "x": 1 }],
        "tool_choice": { "type": "web_search" }, "store": false, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k", "previous_response_id": "resp_1", "background": false, "stream": false, "metadata": { "a": "b" },
        "stream_options": { "include_obfuscation": false }, "temperature": 2, "x": { "y": 1 } });
    let chat = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hi" }], "n": 1, "top_k": 0,
        "tools": [{ "type": "function", "function": { "name": "mcp.look", "x": 1 }, "y": 2 }],
        "tool_choice": { "type": "allowed_tools", "allowed_tools": { "mode": "auto", "tools": [] } },
        "store": false, "stream": false, "metadata": { "a": "b" }, "reasoning_effort": "low", "temperature": 2, "x": { "y": 1 } });
    let anthropic = json!({ "model": "ada", "max_tokens": 9, "messages": [{ "role": "user", "content": "Hi" }],
        "tools": [{ "name": "look", "input_schema": schema, "x": 1 }, { "type": "new_tool", "name": "z" }],
        "tool_choice": { "type": "auto", "x": 1 }, "temperature": 2, "seed": 1, "stream": false, "x": { "y": 1 } });
    let function = json!({ "name": "mcp.look", "parameters_json_schema": schema, "behavior": "BLOCKING" });
    let gemini = json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }],
        "tools": [{ "function_declarations": [function], "x": 1 }, { "googleSearch": {} }],
        "generationConfig": { "max_output_tokens": 5, "thinking_config": { "include_thoughts": true } },
        "store": true, "x": { "y": 1 } });
    for (dialect, path, body) in [
        (Dialect::OpenaiChat, "/v1/chat/completions", chat),
        (Dialect::OpenaiResponses, "/v1/responses", responses),
        (Dialect::Anthropic, "/v1/messages", anthropic),
        (Dialect::Gemini, "/v1beta/models/ada:generateContent", gemini),
    ] {
        let gateway = TestGateway::new(dialect, vec![]);
        let sent = preview(&gateway, path, &body);
        for (key, value) in body.as_object().unwrap() {
            if !["model", "messages", "input", "contents"].contains(&key.as_str()) {
                assert_eq!(&sent[key], value, "{path} {key}");
            }
        }
    }
}

#[test]
fn passes_references_of_responses_through() {
    let gateway = TestGateway::new(Dialect::OpenaiResponses, vec![]);
    let items = json!([{ "type": "message", "role": "user", "content": "Hi" },
        { "type": "item_reference", "id": "fc_1" },
        { "type": "function_call_output", "call_id": "c1", "output": "red" }]);
    let sent = preview(&gateway, "/v1/responses", &json!({ "model": "ada", "input": items }));
    let items = items.as_array().unwrap();
    assert!(items.iter().all(|item| sent["input"].as_array().unwrap().contains(item)), "{sent:#}");
    let body = json!({ "model": "ada", "input": [items[2]], "previous_response_id": "resp_1" });
    let sent = preview(&gateway, "/v1/responses", &body);
    assert!(sent["input"].as_array().unwrap().contains(&items[2]), "{sent:#}");
}

#[test]
fn rejects_fields_without_counterpart() {
    let gateway = TestGateway::new(Dialect::Anthropic, vec![]);
    let part = json!({ "type": "new_part", "a": 1 });
    for (key, value, expected) in [
        ("seed", json!(1), "`seed` has no counterpart"),
        ("response_format", json!({ "type": "json_object" }), "the value of `response_format`"),
        ("tools", json!([{ "type": "web_search" }]), "`tools[0]` is a tool that only another provider runs"),
        ("messages", json!([{ "role": "user", "content": [part] }]), "part `new_part`"),
        ("messages", json!([{ "role": "user", "content": "Hi", "x": 1 }]), "`x`"),
        ("messages", json!([{ "role": "user", "content": "Hi", "name": "ann" }]), "name"),
    ] {
        let mut body = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hi" }] });
        body[key] = value;
        let response = gateway.post("/v1/chat/completions", &body);
        assert_eq!(response.status, 400, "{response:?}");
        assert!(
            response.body.contains(expected) && response.body.contains("on-loss"),
            "{expected} {response:?}"
        );
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}
