//! What clients of every dialect ask, what the provider gets, and what they are answered: `fixtures/gateway`.

use std::path::Path;

use ctx_wire::Dialect;
use serde_json::Value;

use crate::house::House;
use crate::server::{Answer, Step, sse};

/// Plays a case, and compares all of what went to and fro.
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
    let house = House::new(provider, vec![reply]);
    let got = house.post(case["path"].as_str().unwrap(), &case["body"]);
    let sent = house.request();
    let lost = got.header("x-ctx-lost").unwrap_or("nothing").to_owned();
    let body = serde_json::from_str::<Value>(&got.body).map_or(got.body, |body| format!("{body:#}\n"));
    let shown = format!(
        "to the provider: {}\n{:#}\n\nto the client: {}\nlost: {lost}\n{}",
        sent.path,
        sent.json(),
        got.status,
        steady(&body)
    );
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder.canonicalize().unwrap());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("expected", shown));
}

/// Puts words in the place of ids and times.
fn steady(body: &str) -> String {
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
}

#[test]
fn headers_of_the_provider_pass_through() {
    let whole = serde_json::json!({ "type": "message", "content": [{ "type": "text", "text": "Hi." }],
        "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let house = House::new(Dialect::Anthropic, vec![Answer::json(200, &whole)]);
    let body = serde_json::json!({ "model": "ada", "max_tokens": 9, "messages": [{ "role": "user", "content": "Hi" }] });
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
    house.ask("POST", "/v1/messages?beta=true&key=x", &headers, body.to_string().as_bytes());
    let sent = house.request();
    assert_eq!(sent.path, "/v1/messages?beta=true");
    // The key of the operator decides the organization.
    for (name, value) in &headers[..5] {
        assert_eq!(sent.header(name), Some(*value));
    }
    assert_eq!((sent.header("openai-organization"), sent.header("cookie")), (None, None));
    assert_ne!(sent.header("x-api-key"), Some("secret-of-client"));
}

#[test]
fn messages_that_would_be_lost_are_refused() {
    let house = House::new(Dialect::Gemini, vec![]);
    let result = serde_json::json!({ "functionResponse": { "name": "look", "response": {} } });
    for (content, expected) in [
        (serde_json::json!({ "role": "assistant", "parts": [{ "text": "Hi" }] }), "contents[0].role"),
        (serde_json::json!({ "role": "user", "parts": { "text": "Hi" } }), "contents[0].parts"),
        (serde_json::json!({ "role": "user", "parts": [result] }), "contents"),
    ] {
        let body = serde_json::json!({ "contents": [content] });
        let got = house.post("/v1beta/models/ada:generateContent", &body);
        assert_eq!(got.status, 400, "{got:?}");
        assert!(got.body.contains(&format!("`{expected}`")), "{got:?}");
    }
}
