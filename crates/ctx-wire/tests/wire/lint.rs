//! What the request linter finds in bodies that others wrote.

use ctx_types::{OutputLimit, ReasoningState, RequestRules, SamplerRule, ThinkingRule, TopKRule};
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

/// Rules of Claude 4.5.
const CLAUDE: RequestRules = RequestRules {
    output_limit: OutputLimit::Either,
    samplers: SamplerRule::TemperatureOrTopP,
    top_k: TopKRule::Positive,
    stop: ctx_types::StopRule::Sent,
    thinking: ThinkingRule::Budget,
    reasoning_state: ReasoningState::Thinking,
    call_ids: ctx_types::CallIdRule::Any,
};

/// Checks a body by the rules of a model; `changes` are set in a sound body of Anthropic whose model thinks.
#[track_caller]
fn check_claude(rules: RequestRules, changes: &Value, expected: &[&str]) {
    let mut body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 4_000,
        "thinking": { "type": "enabled", "budget_tokens": 1_024 },
        "messages": [{ "role": "user", "content": "u" }],
    });
    for (key, value) in changes.as_object().unwrap() {
        body[key] = value.clone();
    }
    assert_eq!(lint::detect(&body), Some(Dialect::Anthropic));
    let found = lint::check_for(&body, Dialect::Anthropic, rules);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn checks_settings_of_thinking() {
    check_claude(CLAUDE, &json!({}), &[]);
    let place = "(at /thinking/budget_tokens)";
    check_claude(
        CLAUDE,
        &json!({ "max_tokens": 1_024 }),
        &[&format!(
            "error[CTX0535]: the thinking budget of 1024 tokens must be below `max_tokens`, 1024 {place}"
        )],
    );
    check_claude(
        CLAUDE,
        &json!({ "thinking": { "type": "enabled", "budget_tokens": 1_000 } }),
        &[&format!("error[CTX0535]: the thinking budget must be at least 1024 tokens {place}")],
    );
    let adaptive = RequestRules { thinking: ThinkingRule::Always, samplers: SamplerRule::None, ..CLAUDE };
    check_claude(
        adaptive,
        &json!({}),
        &["error[CTX0535]: the model has no thinking budget; use `adaptive` (at /thinking/type)"],
    );
    check_claude(
        adaptive,
        &json!({ "thinking": { "type": "disabled" }, "tool_choice": { "type": "any" } }),
        &[
            "error[CTX0535]: the thinking of the model cannot be disabled (at /thinking/type)",
            "error[CTX0535]: a tool call cannot be forced while the model thinks (at /tool_choice)",
        ],
    );
    check_claude(
        CLAUDE,
        &json!({ "thinking": { "type": "adaptive" } }),
        &[
            "error[CTX0535]: the model has no adaptive thinking; use `enabled` with a budget (at /thinking/type)",
        ],
    );
}

#[test]
fn checks_samplers_and_prefill_of_claude() {
    check_claude(
        CLAUDE,
        &json!({ "temperature": 0.5 }),
        &[
            "error[CTX0536]: the model does not accept parameter `temperature` while it reasons (at /temperature)",
        ],
    );
    check_claude(
        RequestRules::default(),
        &json!({ "temperature": 0.5, "top_p": 0.99 }),
        &[
            "error[CTX0535]: the model does not accept parameter `temperature` while it reasons (at /temperature)",
        ],
    );
    check_claude(
        CLAUDE,
        &json!({ "thinking": { "type": "disabled" }, "temperature": 0.5, "top_p": 0.9 }),
        &["error[CTX0536]: the model does not accept parameter `top_p` with `temperature` (at /top_p)"],
    );
    let prefill = json!([{ "role": "user", "content": "u" }, { "role": "assistant", "content": "Sure" }]);
    check_claude(
        CLAUDE,
        &json!({ "messages": prefill }),
        &["error[CTX0535]: the reply cannot be started (prefill) while the model thinks (at /messages/1)"],
    );
    check_claude(
        RequestRules { thinking: ThinkingRule::Adaptive, ..CLAUDE },
        &json!({ "thinking": { "type": "disabled" }, "messages": prefill }),
        &["error[CTX0535]: the model does not support prefill (at /messages/1)"],
    );
}

#[test]
fn checks_thinking_of_the_running_turn() {
    let call = json!({ "type": "tool_use", "id": "t1", "name": "f", "input": {} });
    let thinking = json!({ "type": "thinking", "thinking": "t", "signature": "s" });
    let text = json!({ "type": "text", "text": "x" });
    let turn = |blocks: &[&Value]| {
        json!({ "messages": [
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": blocks },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "r" }] },
        ] })
    };
    check_claude(CLAUDE, &turn(&[&thinking, &text, &call]), &[]);
    check_claude(
        CLAUDE,
        &turn(&[&text, &thinking, &call]),
        &["error[CTX0535]: a reply with tool calls must start with its thinking (at /messages/1/content/0)"],
    );
    check_claude(
        CLAUDE,
        &turn(&[&call]),
        &[
            "error[CTX0535]: a reply with tool calls has no thinking, which the running turn requires (at /messages/1/content/0)",
        ],
    );
    let mut finished = turn(&[&call]);
    let messages = finished["messages"].as_array_mut().unwrap();
    messages.extend([
        json!({ "role": "assistant", "content": "done" }),
        json!({ "role": "user", "content": "u" }),
    ]);
    check_claude(CLAUDE, &finished, &[]);
    let mark = json!({ "type": "ephemeral" });
    let marked = json!({ "type": "thinking", "thinking": "t", "cache_control": mark });
    check_claude(
        CLAUDE,
        &turn(&[&marked, &call]),
        &[
            "error[CTX0535]: a thinking block has no signature (at /messages/1/content/0)",
            "error[CTX0535]: a thinking block cannot have a cache mark (at /messages/1/content/0)",
        ],
    );
}

#[test]
fn checks_order_of_cache_marks_and_repeated_ids() {
    let text = |ttl: &str| json!([{ "type": "text", "text": "x", "cache_control": { "type": "ephemeral", "ttl": ttl } }]);
    check_claude(
        CLAUDE,
        &json!({ "system": text("5m"), "messages": [{ "role": "user", "content": text("1h") }] }),
        &["error[CTX0533]: a long-lived cache mark follows a short-lived one (at /messages/0/content/0)"],
    );
    let call = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "f", "input": {} }] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "r" }] });
    check_anthropic(
        &json!([{ "role": "user", "content": "u" }, call, result, call, result]),
        &["error[CTX0523]: duplicate call id `t1`, also in an earlier message (at /messages/3/content/0/id)"],
    );
}

#[test]
fn checks_reasoning_models_of_openai() {
    let rules = RequestRules {
        output_limit: OutputLimit::MaxCompletionTokens,
        samplers: SamplerRule::None,
        top_k: TopKRule::Rejected,
        reasoning_state: ReasoningState::Items,
        ..RequestRules::default()
    };
    let body = json!({ "model": "gpt-5", "max_tokens": 9, "top_k": 1, "messages": [{ "role": "user", "content": "u" }] });
    let found = lint::check_for(&body, Dialect::OpenaiChat, rules);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "error[CTX0536]: the model does not accept parameter `max_tokens` (at /max_tokens)",
            "error[CTX0536]: the model does not accept parameter `top_k` (at /top_k)",
        ]
    );
}

#[test]
fn finds_media_and_long_ids_in_tool_messages() {
    let id = "c".repeat(65);
    let call = json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
    check_chat(
        &json!([
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": id, "content": [image] },
        ]),
        &[
            "error[CTX0533]: call id `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc…` has 65 bytes; the limit is 64 (at /messages/1/tool_calls/0/id)",
            "warning[CTX0514]: role `tool` cannot have part `image_url` (at /messages/2/content/0)",
        ],
    );
}

#[test]
fn finds_reasoning_items_without_followers() {
    let reasoning = json!({ "type": "reasoning", "id": "r", "summary": [] });
    let user = json!({ "role": "user", "content": "u" });
    let reply = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "x" }] });
    let body = |items: &[&Value]| json!({ "model": "m", "input": items });
    check(&body(&[&user, &reasoning, &reply]), Dialect::OpenaiResponses, &[]);
    let expected = "error[CTX0535]: a reasoning item has no reply or tool call after it (at /input/1)";
    check(&body(&[&user, &reasoning, &user]), Dialect::OpenaiResponses, &[expected]);
    check(&body(&[&user, &reasoning]), Dialect::OpenaiResponses, &[expected]);
}
