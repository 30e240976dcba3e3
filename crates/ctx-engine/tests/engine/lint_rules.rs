//! Bodies that providers reject or accept, one rule each, checked by the rules of the named model.

use ctx_tokens::ModelTable;
use ctx_types::Severity;
use ctx_wire::{Dialect, lint};
use serde_json::{Value, json};

/// Returns the errors of a body, one per line.
fn errors(dialect: Dialect, body: &Value) -> String {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let rules = ModelTable::builtin().lookup(model).0.request;
    let found = lint::check_for(body, dialect, rules).into_iter();
    let errors = found.filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.message.to_string()).collect::<Vec<_>>().join("\n")
}

fn with(mut body: Value, changes: &Value) -> Value {
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    body
}

/// A valid body of a model, with changes.
fn claude(model: &str, changes: &Value) -> Value {
    let tool = json!({ "name": "f", "input_schema": { "type": "object" } });
    let messages = json!([{ "role": "user", "content": "hi" }]);
    with(json!({ "model": model, "max_tokens": 4_000, "messages": messages, "tools": [tool] }), changes)
}

fn chat(model: &str, changes: &Value) -> Value {
    with(json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }] }), changes)
}

fn responses(items: &[Value]) -> Value {
    let user = json!({ "role": "user", "content": "hi" });
    let items = [&[user], items].concat();
    json!({ "model": "gpt-5", "input": items })
}

fn gemini(model: &str, changes: &Value) -> Value {
    with(json!({ "model": model, "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }] }), changes)
}

fn user(content: &Value) -> Value {
    json!({ "role": "user", "content": content })
}

fn assistant(content: &Value) -> Value {
    json!({ "role": "assistant", "content": content })
}

fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "f", "input": {} })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "x" })
}

fn thinking() -> Value {
    json!({ "type": "thinking", "thinking": "t", "signature": "s" })
}

#[test]
fn finds_errors_in_anthropic_bodies() {
    let hi = json!([user(&json!("hi"))]);
    let of = |changes: Value| errors(Dialect::Anthropic, &claude("claude-sonnet-4-5", &changes));
    let said = |content: Value| of(json!({ "messages": [hi[0], content, hi[0]] }));
    for (found, expected) in [
        (of(json!({ "system": [{ "type": "text", "text": "" }] })), "a text block is empty"),
        (said(user(&json!([call("a")]))), "role `user` cannot have part `tool_use`"),
        (
            said(assistant(&json!([{ "type": "image", "source": {} }]))),
            "role `assistant` cannot have part `image`",
        ),
        (
            said(user(&json!([{ "type": "image_url", "image_url": { "url": "u" } }]))),
            "role `user` cannot have part `image_url`",
        ),
        (of(json!({ "tools": [{ "name": "f" }] })), "the tool needs `input_schema` of type `object`"),
        (of(json!({ "tools": [], "tool_choice": { "type": "any" } })), "`tool_choice` needs `tools`"),
        (
            of(json!({ "tool_choice": { "type": "tool", "name": "g" } })),
            "`tool_choice` names `g`, which is not among the tools",
        ),
        (of(json!({ "thinking": { "type": "on" } })), "unknown kind of thinking `on`"),
        (of(json!({ "thinking": { "budget_tokens": 2_000 } })), "`thinking` has no `type`"),
        (
            of(json!({ "messages": [hi[0], assistant(&json!([thinking()]))] })),
            "the last message ends with thinking",
        ),
        (
            of(json!({ "anthropic_version": "2026-10-21", "top_k": 5 })),
            "API version 2026-10-21 has no parameter `top_k`",
        ),
        (
            of(
                json!({ "system": [{ "type": "text", "text": "s", "cache_control": { "type": "ephemeral", "ttl": "2h" } }] }),
            ),
            "the lifetime of a cache mark must be `5m` or `1h`",
        ),
    ] {
        assert!(found.ends_with(expected), "{found}");
    }
    let marked = json!({ "type": "text", "text": "s", "cache_control": { "type": "ephemeral" } });
    let body = json!({ "system": vec![marked; 4], "cache_control": { "type": "ephemeral" } });
    assert_eq!(of(body), "the request has 5 cache marks; the limit is 4");
    let id = "a".repeat(65);
    let pair = json!({ "messages": [hi[0], assistant(&json!([call(&id)])), user(&json!([result(&id)]))] });
    assert!(of(pair).contains("has 65 bytes; the limit is 64"));
    let text = json!({ "type": "tool_use", "id": "a", "name": "f", "input": "{}" });
    let pair = json!({ "messages": [hi[0], assistant(&json!([text])), user(&json!([result("a")]))] });
    assert_eq!(of(pair), "the input of a call must be an object");
}

#[test]
fn accepts_anthropic_bodies() {
    let hi = user(&json!("hi"));
    let budget = json!({ "type": "enabled", "budget_tokens": 2_000 });
    let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
    for (model, changes) in [
        // A paused turn continues.
        ("claude-opus-4-6", json!({ "messages": [hi, assistant(&json!([search]))] })),
        ("claude-sonnet-4-5", json!({ "messages": [hi, assistant(&json!(""))] })),
        ("claude-fable-5", json!({ "tool_choice": { "type": "any" } })),
        (
            "claude-sonnet-4-5",
            json!({
                "thinking": { "type": "enabled", "budget_tokens": 8_000 },
                "anthropic_beta": ["interleaved-thinking-2025-05-14"],
            }),
        ),
        (
            "claude-3-7-sonnet-latest",
            json!({ "max_tokens": 128_000, "anthropic_beta": ["output-128k-2025-02-19"] }),
        ),
        // Messages of one role are joined.
        (
            "claude-sonnet-4-5",
            json!({ "messages": [
                hi, assistant(&json!([call("a"), call("b")])), user(&json!([result("a")])), user(&json!([result("b")])),
            ] }),
        ),
        (
            "claude-sonnet-4-5",
            json!({ "thinking": budget, "messages": [
                hi, assistant(&json!([thinking()])), assistant(&json!([call("a")])), user(&json!([result("a")])),
            ] }),
        ),
    ] {
        assert_eq!(errors(Dialect::Anthropic, &claude(model, &changes)), "", "{changes}");
    }
    let forced = claude("claude-fable-5-1", &json!({ "tool_choice": { "type": "any" } }));
    assert_eq!(errors(Dialect::Anthropic, &forced), "a tool call cannot be forced while the model thinks");
}

#[test]
fn finds_errors_in_chat_completions() {
    let of = |model: &str, changes: Value| errors(Dialect::OpenaiChat, &chat(model, &changes));
    let tool = json!({ "type": "function", "function": { "name": "f", "parameters": { "type": "object" } } });
    let strict = |schema: Value| json!({ "type": "function", "function": { "name": "f", "strict": true, "parameters": schema } });
    let image = json!([{ "type": "image_url", "image_url": { "url": "https://e.com/a.png" } }]);
    for (found, expected) in [
        (
            of("gpt-4o", json!({ "reasoning_effort": "low" })),
            "the model does not accept parameter `reasoning_effort`",
        ),
        (
            of("gpt-4o", json!({ "max_tokens": 5, "max_completion_tokens": 5 })),
            "`max_tokens` cannot be used with `max_completion_tokens`",
        ),
        (of("gpt-4o", json!({ "stream_options": {} })), "`stream_options` needs `stream`"),
        (of("gpt-4o", json!({ "tool_choice": "auto" })), "`tool_choice` needs `tools`"),
        (of("gpt-6.2", json!({ "tools": [tool] })), "the model accepts tools only in the Responses API"),
        (
            of("gpt-4o", json!({ "messages": [user(&json!("hi")), assistant(&image)] })),
            "role `assistant` cannot have part `image_url`",
        ),
        (
            of("gpt-4o", json!({ "tools": [strict(json!({ "type": "object" }))] })),
            "an object of a strict schema needs `additionalProperties: false`",
        ),
        (
            of("gpt-4o", json!({ "tools": [strict(json!({ "oneOf": [] }))] })),
            "a strict schema cannot have `oneOf`; use `anyOf`",
        ),
        (
            of("gpt-4o", json!({ "messages": [{ "role": "user", "name": "A B", "content": "x" }] })),
            "the name of a message cannot have white space, `<`, `>`, `|`, `/` or `\\`",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let messages = json!([
        user(&json!("hi")), { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "call_1", "content": "x" },
    ]);
    let found = of("mistral-large-latest", json!({ "messages": messages }));
    assert!(found.starts_with("call id `call_1` must have 9 ASCII letters and digits"), "{found}");
}

#[test]
fn accepts_chat_completions_of_openai_and_routers() {
    for (model, changes) in [
        ("openai/gpt-5", json!({ "max_tokens": 100, "temperature": 0.5 })),
        ("deepseek/deepseek-v3.2", json!({ "max_tokens": 16_000 })),
        ("gpt-5", json!({ "logprobs": false })),
        ("gpt-4o", json!({ "tools": null })),
        ("gpt-4o", json!({ "messages": [user(&json!(""))] })),
    ] {
        assert_eq!(errors(Dialect::OpenaiChat, &chat(model, &changes)), "", "{model} {changes}");
    }
}

#[test]
fn checks_items_of_responses() {
    let call = |id: &str, arguments: Value| json!({ "type": "function_call", "id": id, "call_id": "c", "name": "f", "arguments": arguments });
    let output = json!({ "type": "function_call_output", "call_id": "c", "output": "x" });
    let of = |items: &[Value]| errors(Dialect::OpenaiResponses, &responses(items));
    assert_eq!(of(&[call("fc_1", json!("{}")), output.clone()]), "");
    assert_eq!(
        of(&[call("c_1", json!("{}")), output.clone()]),
        "the id of a function call must begin with `fc`"
    );
    assert_eq!(of(&[call("fc_1", json!({})), output]), "the call's arguments must be a string");
    let missing = json!({ "type": "function_call_output", "call_id": "c" });
    assert_eq!(of(&[call("fc_1", json!("{}")), missing]), "the result has no `output`");
    let reply = json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": "a" });
    assert_eq!(of(&[reply.clone(), reply]), "duplicate item id `msg_1`");
    let short = json!({ "model": "gpt-5", "input": "hi", "max_output_tokens": 5 });
    assert_eq!(errors(Dialect::OpenaiResponses, &short), "`max_output_tokens` must be 16 or more");
}

#[test]
fn checks_contents_of_gemini() {
    let of = |model: &str, changes: Value| errors(Dialect::Gemini, &gemini(model, &changes));
    let level = |level: &str| json!({ "generationConfig": { "thinkingConfig": { "thinkingLevel": level } } });
    assert_eq!(of("gemini-4-argon", level("minimal")), "the model has no thinking level `minimal`");
    assert_eq!(of("gemini-4-hydrogen", level("xhigh")), "");
    assert_eq!(of("gemini-4-argon", json!({ "generationConfig": { "maxOutputTokens": 200_000 } })), "");
    let declare = |schema: Value| json!({ "tools": [{ "functionDeclarations": [{ "name": "f", "parameters": schema }] }] });
    let snake = json!({ "type": "array", "max_items": 3, "items": { "any_of": [{ "type": "string" }] } });
    assert_eq!(of("gemini-2.5-flash", declare(snake)), "");
    assert_eq!(
        of("gemini-2.5-flash", declare(json!({ "type": "array" }))),
        "an array of Gemini's schemas needs `items`"
    );
    assert_eq!(
        of("gemini-2.5-flash", declare(json!({ "type": ["string", "null"] }))),
        "Gemini's schemas have one type; use `nullable` for null"
    );
    assert_eq!(
        of("gemini-2.5-flash", json!({ "generationConfig": { "responseSchema": { "type": "string" } } })),
        "`responseSchema` needs `responseMimeType`"
    );
    let part = json!({ "functionResponse": { "name": "f", "response": "x" } });
    let found = of("gemini-2.5-flash", json!({ "contents": [{ "role": "user", "parts": [part] }] }));
    assert!(found.contains("`response` must be an object"), "{found}");
}

#[test]
fn recognizes_bodies_of_claude() {
    let messages = json!([user(&json!("hi"))]);
    let tool = json!([user(&json!("hi")), { "role": "tool", "tool_call_id": "a", "content": "x" }]);
    for (body, expected) in [
        (json!({ "model": "claude-opus-5", "max_tokens": 5, "messages": messages }), Dialect::Anthropic),
        (json!({ "anthropic_version": "bedrock-2023-05-31", "messages": messages }), Dialect::Anthropic),
        (
            json!({ "model": "anthropic/claude-opus-5", "max_tokens": 5, "messages": messages }),
            Dialect::OpenaiChat,
        ),
        (
            json!({ "model": "claude-opus-5", "max_tokens": 5, "stop": ["x"], "messages": messages }),
            Dialect::OpenaiChat,
        ),
        (json!({ "model": "claude-opus-5", "thinking": {}, "messages": tool }), Dialect::OpenaiChat),
    ] {
        assert_eq!(lint::detect(&body), Some(expected), "{body}");
    }
}
