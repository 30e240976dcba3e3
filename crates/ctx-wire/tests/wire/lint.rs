//! What the request linter finds in bodies that others wrote.

use ctx_wire::{Dialect, lint};
use serde_json::{Value, json};

/// Checks a body in the dialect that it is recognized as.
#[track_caller]
fn check(body: &Value, dialect: Dialect, expected: &[&str]) {
    assert_eq!(lint::detect(body), Some(dialect));
    let found: Vec<String> = lint::check(body, dialect).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

/// A chat completion with these messages.
#[track_caller]
fn check_chat(messages: &Value, expected: &[&str]) {
    check(&json!({ "model": "m", "messages": messages }), Dialect::OpenaiChat, expected);
}

/// A message of Anthropic's with these messages.
#[track_caller]
fn check_anthropic(messages: &Value, expected: &[&str]) {
    let body = json!({ "model": "m", "max_tokens": 1, "system": "s", "messages": messages });
    check(&body, Dialect::Anthropic, expected);
}

#[test]
fn a_sound_body_has_no_findings() {
    let call = json!({ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    check_chat(
        &json!([
            { "role": "system", "content": "s" },
            { "role": "user", "content": [{ "type": "text", "text": "u" }] },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "a", "content": "" },
            { "role": "assistant", "content": "done" },
        ]),
        &[],
    );
}

#[test]
fn pairs_are_checked() {
    check_chat(
        &json!([{ "role": "user", "content": "u" }, { "role": "tool", "tool_call_id": "a", "content": "42" }]),
        &["error[CTX0521]: no earlier call has id `a` (at /messages/1/tool_call_id)"],
    );
}

#[test]
fn empty_messages_are_found() {
    check_chat(
        &json!([{ "role": "user", "content": " " }, { "role": "assistant", "content": null }]),
        &[
            "error[CTX0532]: the message of role `user` is empty (at /messages/0/content)",
            "warning[CTX0532]: the message of role `assistant` is empty (at /messages/1/content)",
        ],
    );
}

#[test]
fn shapes_that_are_wrong_are_found() {
    check_chat(
        &json!([{ "role": "bot", "content": "u" }, "text", { "role": "user", "content": 7 }]),
        &[
            "error[CTX0530]: unknown role `bot` (at /messages/0/role)",
            "error[CTX0530]: the message has no role (at /messages/1)",
            "error[CTX0530]: `content` must be a string or a list of parts (at /messages/2/content)",
        ],
    );
}

#[test]
fn arguments_are_json_texts() {
    let call = |arguments: Value| json!({ "id": "a", "function": { "name": "f", "arguments": arguments } });
    let messages = |arguments: Value| {
        json!([
            { "role": "user", "content": "u" },
            { "role": "assistant", "tool_calls": [call(arguments)] },
            { "role": "tool", "tool_call_id": "a", "content": "1" },
        ])
    };
    check_chat(
        &messages(json!({})),
        &["error[CTX0530]: the call's arguments must be a string (at /messages/1/tool_calls/0/function)"],
    );
    check_chat(
        &messages(json!("{")),
        &[
            "warning[CTX0518]: the call's arguments are not JSON (at /messages/1/tool_calls/0/function/arguments)",
        ],
    );
}

#[test]
fn tools_have_names_of_their_own() {
    let tool = |name: &str| json!({ "type": "function", "function": { "name": name } });
    let tools = [tool("a b"), tool("f"), tool("f"), json!({})];
    check(
        &json!({ "model": "m", "messages": [{ "role": "user", "content": "u" }], "tools": tools }),
        Dialect::OpenaiChat,
        &[
            "error[CTX0534]: tool name `a b` must have 1 to 64 ASCII letters, digits, `_`, or `-` (at /tools/0)",
            "error[CTX0534]: duplicate tool name `f` (at /tools/2)",
            "error[CTX0534]: the tool has no name (at /tools/3)",
        ],
    );
}

#[test]
fn the_user_begins_at_anthropic() {
    check_anthropic(
        &json!([{ "role": "assistant", "content": "Hi " }]),
        &[
            "error[CTX0531]: the first message must be a user message, not an assistant message (at /messages/0/role)",
            "error[CTX0531]: the prefill ends with whitespace (at /messages/0/content)",
        ],
    );
}

#[test]
fn anthropic_wants_results_first_in_the_next_message() {
    let call = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "f", "input": {} }] });
    let answer = json!({ "type": "tool_result", "tool_use_id": "a", "content": "1" });
    let words = json!({ "type": "text", "text": "and" });
    let start = json!({ "role": "user", "content": "u" });
    check_anthropic(&json!([start, call, { "role": "user", "content": [answer, words] }]), &[]);
    check_anthropic(
        &json!([start, call, { "role": "user", "content": [words, answer] }]),
        &["error[CTX0525]: the result of call `a` must come before other content (at /messages/2/content/1)"],
    );
    check_anthropic(
        &json!([start, call, { "role": "user", "content": "and" }, { "role": "user", "content": [answer] }]),
        &[
            "error[CTX0522]: call `a` has no result in the next message (at /messages/1/content/0/id)",
            "error[CTX0521]: the previous message has no call with id `a` (at /messages/3/content/0)",
        ],
    );
    check_anthropic(
        &json!([start, call]),
        &["error[CTX0522]: call `a` has no result (at /messages/1/content/0/id)"],
    );
}

#[test]
fn more_than_four_cache_marks_are_refused() {
    let block = json!({ "type": "text", "text": "t", "cache_control": { "type": "ephemeral" } });
    let blocks = vec![block; 5];
    check_anthropic(
        &json!([{ "role": "user", "content": blocks }]),
        &["error[CTX0533]: the request has 5 cache marks; the limit is 4"],
    );
}

#[test]
fn what_is_no_request_is_not_taken_for_one() {
    for body in
        [json!([]), json!({ "messages": [] }), json!({ "model": "m" }), json!({ "model": 1, "messages": [] })]
    {
        assert_eq!(lint::detect(&body), None);
    }
}

#[test]
fn pairs_of_large_bodies_are_read_once() {
    const COUNT: usize = 100_000;
    let blocks = |block: &dyn Fn(usize) -> Value| (0..COUNT).map(block).collect::<Vec<Value>>();
    check_anthropic(
        &json!([
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": blocks(&|n| json!({ "type": "tool_use", "id": format!("a{n}") })) },
            { "role": "user", "content": blocks(&|n| json!({ "type": "tool_result", "tool_use_id": format!("a{n}") })) },
        ]),
        &[],
    );
    // Results with ids in another order than the calls, then results with names only.
    let call = |n: usize| match n % 2 {
        0 => json!({ "functionCall": { "id": format!("a{n}"), "name": "f" } }),
        _ => json!({ "functionCall": { "name": "g" } }),
    };
    let result = |n: usize| match n % 2 {
        1 => json!({ "functionResponse": { "id": format!("a{}", COUNT - 1 - n), "name": "f" } }),
        _ => json!({ "functionResponse": { "name": "g" } }),
    };
    let contents = json!([
        { "role": "user", "parts": [{ "text": "u" }] },
        { "role": "model", "parts": blocks(&call) },
        { "role": "user", "parts": blocks(&result) },
    ]);
    check(&json!({ "contents": contents }), Dialect::Gemini, &[]);
}

#[test]
fn results_answer_the_first_open_call() {
    let call = |id: &str, name: &str| json!({ "functionCall": { "id": id, "name": name } });
    let result = |id: &str, name: &str| json!({ "functionResponse": { "id": id, "name": name } });
    let contents = json!([
        { "role": "user", "parts": [{ "text": "u" }] },
        { "role": "model", "parts": [call("a", "f"), call("b", "f"), call("", "g")] },
        { "role": "user", "parts": [result("b", "f"), result("", "f"), result("c", "f"), result("", "f")] },
    ]);
    check(
        &json!({ "contents": contents }),
        Dialect::Gemini,
        &[
            "error[CTX0521]: the previous content has no open call of `f` (at /contents/2/parts/2/functionResponse)",
            "error[CTX0521]: the previous content has no open call of `f` (at /contents/2/parts/3/functionResponse)",
            "error[CTX0522]: the next content has no result for the call of `g` (at /contents/1)",
        ],
    );
}
