//! What a request body holds beside its messages.

use ctx_types::{Message, Role, Source};
use ctx_wire::{Request, codes, openai_chat};
use serde_json::{Value, json};

/// Encodes one message with a request and compares the whole body, byte for byte, and the findings.
#[track_caller]
fn check(model: &str, tools: &[Value], parameters: &Value, expected: &str, findings: &[&str]) {
    let messages = [Message::new(Role::User, "hi", Source::history("n", Role::User))];
    let parameters = parameters.as_object().unwrap();
    let encoded = openai_chat::encode(&messages, &Request { model, tools, parameters });
    assert_eq!(encoded.to_string(), expected);
    assert_eq!(encoded.to_bytes(), expected.as_bytes());
    let found: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

#[test]
fn without_tools_no_list_is_written() {
    check("m", &[], &json!({}), r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#, &[]);
}

#[test]
fn tools_follow_the_messages_as_they_are() {
    check(
        "m",
        &[json!({ "z": 1, "a": null }), json!("odd")],
        &json!({ "temperature": 0.5 }),
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"z":1,"a":null},"odd"],"temperature":0.5}"#,
        &[
            "error[CTX0534]: the tool has no name (at /tools/0)",
            "error[CTX0534]: the tool has no name (at /tools/1)",
        ],
    );
}

#[test]
fn parameters_keep_their_order_and_values() {
    check(
        "m",
        &[],
        &json!({ "top_p": 1, "stop": ["a"], "logit_bias": { "2": 1, "1": 2 }, "seed": null }),
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"top_p":1,"stop":["a"],"logit_bias":{"2":1,"1":2},"seed":null}"#,
        &[],
    );
}

#[test]
fn a_parameter_never_overwrites_the_request() {
    check(
        "m",
        &[],
        &json!({ "model": "x", "messages": [], "tools": [], "n": 1 }),
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"n":1}"#,
        &[
            "warning[CTX0502]: parameter `model` is not sent: ctx sets it",
            "warning[CTX0502]: parameter `messages` is not sent: ctx sets it",
            "warning[CTX0502]: parameter `tools` is not sent: ctx sets it",
        ],
    );
}

#[test]
fn a_missing_model_is_reported() {
    check(
        "",
        &[],
        &json!({}),
        r#"{"model":"","messages":[{"role":"user","content":"hi"}]}"#,
        &["warning[CTX0501]: the request has no model (at /model)"],
    );
}

#[test]
fn of_too_many_findings_the_most_severe_are_shown() {
    let mut messages = Vec::new();
    for _ in 0..1_500 {
        let mut message = Message::new(Role::User, "hi", Source::history("n", Role::User));
        message.name = Some("not valid".into());
        messages.push(message);
    }
    messages.push(Message::new(Role::Tool, "orphan", Source::history("t", Role::Tool)));
    let request = Request { model: "m", tools: &[], parameters: &serde_json::Map::new() };
    let encoded = openai_chat::encode(&messages, &request);
    assert_eq!(encoded.diagnostics.len(), 1_001);
    assert_eq!(encoded.diagnostics.first().unwrap().code, codes::NO_CALL_ID);
    assert_eq!(
        encoded.diagnostics.last().unwrap().to_string(),
        "info[CTX0101]: 501 more diagnostics in this request are not shown"
    );
}
