//! What the request linter finds in bodies that others wrote.

use ctx_types::internal::{OutputLimit, ReasoningState, RequestRules, SamplerRule, ThinkingRule, TopKRule};
use ctx_wire::{Dialect, lint};
use insta::assert_snapshot;
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
            "warning[CTX0532]: the message of role `user` is empty (at /messages/0/content)",
            "warning[CTX0532]: the message of role `assistant` is empty (at /messages/1/content)",
        ],
    );
    check_anthropic(
        &json!([{ "role": "user", "content": "" }]),
        &["error[CTX0532]: the message is empty (at /messages/0/content)"],
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
    let messages = json!([{ "role": "system", "content": "s" }, { "role": "user", "content": "u" }]);
    let body = json!({ "model": "m", "max_tokens": 1, "system": "s", "messages": messages });
    let found = lint::check(&body, Dialect::Anthropic);
    let found = found.iter().find(|found| found.message.to_string().contains("starts with a system message"));
    let help = found.and_then(|found| found.help.as_ref()).map(ToString::to_string);
    assert_eq!(help.as_deref(), Some("move its text to the field `system`"));
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
        &["error[CTX0525]: the result of call `a` must come before other content (at /messages/3/content/0)"],
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
            { "role": "assistant", "content": blocks(&|n| json!({ "type": "tool_use", "id": format!("a{n}"), "input": {} })) },
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
    stop: ctx_types::internal::StopRule::Sent,
    thinking: ThinkingRule::Budget,
    reasoning_state: ReasoningState::Thinking,
    call_ids: ctx_types::internal::CallIdRule::Any,
    max_output: None,
    late_system: None,
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
        &json!({
            "thinking": { "type": "disabled" }, "tool_choice": { "type": "any" },
            "tools": [{ "name": "f", "input_schema": { "type": "object" } }],
        }),
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
fn accepts_later_replies_without_thinking() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} });
    let result = |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "r" }] });
    let thinking = json!({ "type": "thinking", "thinking": "t", "signature": "s" });
    let text = json!({ "type": "text", "text": "x" });
    let messages = json!({ "messages": [
        { "role": "user", "content": "u" },
        { "role": "assistant", "content": [thinking, call("a")] },
        result("a"),
        { "role": "assistant", "content": [text, call("b")] },
        result("b"),
    ] });
    check_claude(CLAUDE, &messages, &[]);
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
            "error[CTX0536]: the model does not accept parameter `top_k` (at /top_k)",
            "error[CTX0536]: the model does not accept parameter `max_tokens` (at /max_tokens)",
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
            "warning[CTX0514]: role `tool` cannot have part `image_url` (at /messages/2/content/0)",
            "error[CTX0533]: call id `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc…` has 65 bytes; the limit is 64 (at /messages/1/tool_calls/0/id)",
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

/// Returns the diagnostics of a body by the rules of a model, one a line.
pub(super) fn findings(body: &Value, dialect: Dialect, rules: RequestRules) -> String {
    let found = lint::check_for(body, dialect, rules);
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Checks a message of Anthropic's with other fields.
fn claude(model: &str, changes: &Value) -> String {
    let mut body =
        json!({ "model": model, "max_tokens": 4_000, "messages": [{ "role": "user", "content": "u" }] });
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    findings(&body, Dialect::Anthropic, RequestRules::default())
}

/// Checks a chat completion with other fields.
fn chat(model: &str, changes: &Value) -> String {
    let mut body = json!({ "model": model, "messages": [{ "role": "user", "content": "u" }] });
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    findings(&body, Dialect::OpenaiChat, RequestRules::default())
}

/// Checks a request of Gemini with this thinking.
fn gemini_thinking(model: &str, thinking: &Value) -> String {
    let body = json!({
        "model": model, "contents": [{ "role": "user", "parts": [{ "text": "u" }] }],
        "generationConfig": { "thinkingConfig": thinking },
    });
    findings(&body, Dialect::Gemini, RequestRules::default())
}

#[test]
fn checks_thinking_settings_of_single_models() {
    let off =
        |effort: &str| json!({ "thinking": { "type": "disabled" }, "output_config": { "effort": effort } });
    assert_snapshot!(claude("claude-opus-5", &off("max")), @"error[CTX0535]: thinking can be disabled only up to effort `high` (at /thinking/type)");
    assert_eq!(claude("claude-opus-5", &off("high")), "");
    assert_eq!(claude("claude-opus-4-8", &off("max")), "");
    let between = json!({ "thinking": { "type": "between_tools" } });
    assert_snapshot!(claude("claude-opus-5", &between), @"error[CTX0535]: the model does not accept thinking `between_tools` (at /thinking/type)");
    assert_eq!(claude("claude-sonnet-5-5", &between), "");
}

/// A PNG file of so many pixels, as far as its header goes.
fn image(width: u32, height: u32) -> Value {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(
        width.to_be_bytes().into_iter().chain(height.to_be_bytes()).chain([8, 6, 0, 0, 0, 0, 0, 0, 0]),
    );
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } })
}

#[test]
fn checks_sizes_of_images() {
    let images = |count: usize, width: u32| {
        let images: Vec<Value> = (0..count).map(|_| image(width, 10)).collect();
        claude("claude-opus-5", &json!({ "messages": [{ "role": "user", "content": images }] }))
    };
    assert_snapshot!(images(1, 8_001), @"error[CTX0533]: the image has 8001 × 10 pixels; the limit of a side is 8000 (at /messages/0/content/0)");
    assert_eq!(images(20, 8_000), "");
    assert_eq!(images(21, 2_001).lines().count(), 21);
    assert_eq!(images(21, 2_000), "");
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": [image(9_000, 10)] });
    let call = json!({ "type": "tool_use", "id": "t", "name": "f", "input": {} });
    let messages = json!([{ "role": "user", "content": "u" }, { "role": "assistant", "content": [call] }, { "role": "user", "content": [result] }]);
    assert_snapshot!(claude("claude-opus-5", &json!({ "messages": messages })), @"error[CTX0533]: the image has 9000 × 10 pixels; the limit of a side is 8000 (at /messages/2/content/0/content/0)");
}

#[test]
fn checks_version_and_betas_in_the_body() {
    let document =
        json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "d" } });
    let messages = json!([{ "role": "user", "content": "u" }, { "role": "assistant", "content": [document] }, { "role": "user", "content": "u" }]);
    let body = |version: &str| json!({ "anthropic_version": version, "messages": messages });
    assert_snapshot!(claude("claude-opus-5", &body("2026-10-21")), @"error[CTX0514]: role `assistant` cannot have part `document` (at /messages/1/content/0)");
    assert_eq!(claude("claude-opus-5", &body("vertex-2023-10-16")), "");
    let beta = json!({ "anthropic_version": "bedrock-2023-05-31", "mcp_servers": [] });
    assert_snapshot!(claude("claude-opus-5", &beta), @"error[CTX0536]: parameter `mcp_servers` needs a beta in `anthropic_beta` (at /mcp_servers)");
    let named = json!({ "anthropic_version": "bedrock-2023-05-31", "mcp_servers": [], "anthropic_beta": ["mcp-client-2025-11-20"] });
    assert_eq!(claude("claude-opus-5", &named), "");
    assert_eq!(claude("claude-opus-5", &json!({ "mcp_servers": [] })), "", "a header may name the beta");
}

#[test]
fn checks_output_limits_by_the_model() {
    let rules = RequestRules { max_output: Some(8_192), ..RequestRules::default() };
    let user = json!([{ "role": "user", "content": "u" }]);
    let anthropic = |limit: u64| {
        let body = json!({ "model": "claude-3-5-haiku-latest", "max_tokens": limit, "messages": user });
        findings(&body, Dialect::Anthropic, rules)
    };
    assert_snapshot!(anthropic(8_193), @"error[CTX0533]: an output limit of 8193 tokens is above the maximum of the model, 8192 (at /max_tokens)");
    assert_eq!(anthropic(8_192), "");
    let chat = json!({ "model": "gpt-4o", "max_completion_tokens": 9_000, "messages": user });
    assert_snapshot!(findings(&chat, Dialect::OpenaiChat, rules), @"error[CTX0533]: an output limit of 9000 tokens is above the maximum of the model, 8192 (at /max_completion_tokens)");
    let responses = json!({ "model": "gpt-4o", "max_output_tokens": 9_000, "input": user });
    assert_snapshot!(findings(&responses, Dialect::OpenaiResponses, rules), @"error[CTX0533]: an output limit of 9000 tokens is above the maximum of the model, 8192 (at /max_output_tokens)");
    let contents = json!([{ "role": "user", "parts": [{ "text": "u" }] }]);
    let gemini = json!({ "contents": contents, "generationConfig": { "maxOutputTokens": 9_000 } });
    assert_snapshot!(findings(&gemini, Dialect::Gemini, rules), @"error[CTX0533]: an output limit of 9000 tokens is above the maximum of the model, 8192 (at /generationConfig/maxOutputTokens)");
}

#[test]
fn checks_metadata() {
    let pairs: serde_json::Map<String, Value> = (0..17).map(|at| (format!("k{at}"), json!("v"))).collect();
    assert_snapshot!(chat("m", &json!({ "metadata": pairs })), @"error[CTX0533]: `metadata` has 17 pairs; the limit is 16 (at /metadata)");
    assert_snapshot!(chat("m", &json!({ "metadata": { "long": "v".repeat(513), "k".repeat(65): "v" } })), @"
    error[CTX0533]: `metadata` accepts keys of 64 and values of 512 characters at most (at /metadata/long)
    error[CTX0533]: `metadata` accepts keys of 64 and values of 512 characters at most (at /metadata/kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk)
    ");
    assert_eq!(chat("m", &json!({ "metadata": { "k".repeat(64): "v".repeat(512) } })), "");
}

#[test]
fn checks_reasoning_effort() {
    let tool = json!({ "type": "function", "function": { "name": "f" } });
    let with_tools = |effort: &str| json!({ "reasoning_effort": effort, "tools": [tool] });
    assert_snapshot!(chat("gpt-5.6", &with_tools("low")), @"error[CTX0536]: the model does not accept parameter `reasoning_effort` with `tools` (at /reasoning_effort)");
    assert_eq!(chat("gpt-5.6", &with_tools("none")), "");
    assert_eq!(chat("gpt-5.5", &with_tools("low")), "");
    assert_snapshot!(chat("gpt-5", &json!({ "reasoning_effort": "xhigh" })), @"error[CTX0536]: the model has no reasoning effort `xhigh`; it has minimal, low, medium, high (at /reasoning_effort)");
    assert_eq!(chat("gpt-5", &json!({ "reasoning_effort": "minimal" })), "");
    assert_eq!(chat("other", &json!({ "reasoning_effort": "xhigh" })), "");
    let body = json!({ "model": "o3", "input": "u", "reasoning": { "effort": "none" } });
    assert_snapshot!(findings(&body, Dialect::OpenaiResponses, RequestRules::default()), @"error[CTX0536]: the model has no reasoning effort `none`; it has low, medium, high (at /reasoning/effort)");
}

#[test]
fn checks_strict_schemas() {
    let open = json!({ "type": "object", "properties": { "a": { "type": "object", "properties": {} }, "b": {} }, "required": ["a"], "additionalProperties": false });
    let tool = |strict: bool| json!({ "tools": [{ "type": "function", "function": { "name": "f", "strict": strict, "parameters": open } }] });
    assert_snapshot!(chat("m", &tool(true)), @"
    error[CTX0534]: property `b` of a strict schema must be required (at /tools/0/function/parameters)
    error[CTX0534]: an object of a strict schema needs `additionalProperties: false` (at /tools/0/function/parameters/properties/a)
    ");
    assert_eq!(chat("m", &tool(false)), "");
    let format = json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "n", "strict": true, "schema": open } } });
    assert_eq!(chat("m", &format).lines().count(), 2);
    let body = json!({ "model": "m", "input": "u", "tools": [{ "type": "function", "name": "f", "strict": true, "parameters": open }] });
    assert_snapshot!(findings(&body, Dialect::OpenaiResponses, RequestRules::default()), @"
    error[CTX0534]: property `b` of a strict schema must be required (at /tools/0/parameters)
    error[CTX0534]: an object of a strict schema needs `additionalProperties: false` (at /tools/0/parameters/properties/a)
    ");
}

#[test]
fn checks_thinking_of_gemini() {
    let budget = |model: &str, budget: i64| gemini_thinking(model, &json!({ "thinkingBudget": budget }));
    assert_snapshot!(budget("gemini-2.5-pro", 0), @"error[CTX0535]: a thinking budget of 0 is not accepted; the model accepts 128 to 32768, and -1 (at /generationConfig/thinkingConfig/thinkingBudget)");
    assert_eq!(budget("gemini-2.5-flash", 0), "");
    assert_eq!(budget("gemini-2.5-pro", -1), "");
    let level = |model: &str, level: &str| gemini_thinking(model, &json!({ "thinkingLevel": level }));
    assert_snapshot!(level("models/gemini-3-pro", "minimal"), @"error[CTX0535]: the model has no thinking level `minimal` (at /generationConfig/thinkingConfig/thinkingLevel)");
    assert_eq!(level("gemini-3-flash", "MINIMAL"), "");
    assert_eq!(level("gemini-2.5-flash", "low").lines().count(), 1);
}

#[test]
fn checks_schemas_of_gemini() {
    let schema = json!({ "type": "OBJECT", "properties": { "const": { "type": "STRING", "const": "x" } }, "additionalProperties": false });
    let body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "u" }] }],
        "tools": [{ "functionDeclarations": [{ "name": "f", "parameters": schema }, { "name": "g", "parametersJsonSchema": schema }] }],
    });
    assert_snapshot!(findings(&body, Dialect::Gemini, RequestRules::default()), @"
    error[CTX0534]: Gemini's schemas do not have the keyword `additionalProperties` (at /tools/0/functionDeclarations/0/parameters/additionalProperties)
    error[CTX0534]: Gemini's schemas do not have the keyword `const` (at /tools/0/functionDeclarations/0/parameters/properties/const/const)
    ");
}

#[test]
fn accepts_dots_and_colons_in_gemini_tools() {
    let body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "u" }] }],
        "tools": [{ "functionDeclarations": [{ "name": "ns.f-1:x" }, { "name": "a b" }] }],
    });
    assert_snapshot!(findings(&body, Dialect::Gemini, RequestRules::default()), @"error[CTX0534]: tool name `a b` must have 1 to 64 ASCII letters, digits, `_`, `-`, `.`, or `:` (at /tools/0/functionDeclarations/1)");
}

#[test]
fn accepts_replies_with_audio_alone() {
    let messages = json!({ "messages": [
        { "role": "user", "content": "u" },
        { "role": "assistant", "audio": { "id": "audio_1" } },
        { "role": "user", "content": "z" },
    ] });
    assert_eq!(chat("m", &messages), "");
}

#[test]
fn accepts_longer_tool_names_at_anthropic() {
    let tool = |length: usize| json!({ "tools": [{ "name": "t".repeat(length), "input_schema": { "type": "object" } }] });
    assert_eq!(claude("claude-opus-5", &tool(128)), "");
    assert_eq!(claude("claude-opus-5", &tool(129)).lines().count(), 1);
}

#[test]
fn accepts_default_samplers() {
    let gpt5 = RequestRules { samplers: SamplerRule::None, ..RequestRules::default() };
    let chat = |name: &str, value: f64| {
        let mut body = json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": "u" }] });
        body[name] = value.into();
        findings(&body, Dialect::OpenaiChat, gpt5)
    };
    assert_eq!(chat("temperature", 1.0), "");
    assert_snapshot!(chat("temperature", 0.9), @"error[CTX0536]: the model does not accept parameter `temperature` (at /temperature)");
    assert_eq!(chat("top_p", 1.0), "");
    assert_eq!(chat("presence_penalty", 0.0), "");
    assert_eq!(chat("presence_penalty", 0.1).lines().count(), 1);
    check_claude(CLAUDE, &json!({ "temperature": 1, "top_p": 0.96 }), &[]);
    let refused = "error[CTX0536]: the model does not accept parameter `top_p` while it reasons (at /top_p)";
    check_claude(CLAUDE, &json!({ "top_p": 0.9 }), &[refused]);
    let newest = RequestRules { samplers: SamplerRule::None, thinking: ThinkingRule::Always, ..CLAUDE };
    let thinking = json!({ "type": "adaptive" });
    check_claude(newest, &json!({ "thinking": thinking, "temperature": 1, "top_p": 1 }), &[]);
}

#[test]
fn checks_system_messages_in_conversations() {
    let messages = json!([
        { "role": "user", "content": "u" }, { "role": "system", "content": "s" },
    ]);
    let with = |late_system| RequestRules { late_system, ..CLAUDE };
    let body = json!({ "messages": messages });
    check_claude(with(Some(true)), &body, &[]);
    let place = "(at /messages/1/role)";
    check_claude(
        with(Some(false)),
        &body,
        &[&format!("error[CTX0531]: the model does not accept system messages in the conversation {place}")],
    );
}

#[test]
fn checks_cache_marks_in_results() {
    let call = json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} });
    let text = json!({ "type": "text", "text": "", "cache_control": { "type": "ephemeral" } });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": [text] });
    check_anthropic(
        &json!([
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": [call] },
            { "role": "user", "content": [result] },
        ]),
        &[
            "error[CTX0532]: an empty text block cannot have a cache mark (at /messages/2/content/0/content/0)",
        ],
    );
}

#[test]
fn checks_place_of_gemini_calls_in_both_spellings() {
    let question = json!({ "role": "user", "parts": [{ "text": "u" }] });
    let answer = json!({ "role": "model", "parts": [{ "text": "m" }] });
    let call = json!({ "role": "model", "parts": [{ "function_call": { "name": "f", "args": {} } }] });
    let result =
        json!({ "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": {} } }] });
    let body = json!({ "contents": [question, call, result, answer, call, result] });
    assert_snapshot!(findings(&body, Dialect::Gemini, RequestRules::default()), @"error[CTX0531]: a function call must follow a user turn or a function response (at /contents/4)");
    let body = json!({ "contents": [call, result] });
    assert_snapshot!(findings(&body, Dialect::Gemini, RequestRules::default()), @"error[CTX0531]: a function call must follow a user turn or a function response (at /contents/0)");
}

#[test]
fn recognizes_tools_of_anthropic() {
    for tool in [
        json!({ "type": "web_search_20250305", "name": "web_search" }),
        json!({ "type": "mcp_toolset", "mcp_server_name": "s" }),
    ] {
        let body = json!({ "model": "m", "max_tokens": 1, "tools": [tool], "messages": [{ "role": "user", "content": "u" }] });
        check(&body, Dialect::Anthropic, &[]);
    }
    let block = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
    let messages = json!([{ "role": "user", "content": "u" }, { "role": "assistant", "content": [block] }, { "role": "user", "content": "v" }]);
    check(&json!({ "model": "m", "max_tokens": 1, "messages": messages }), Dialect::Anthropic, &[]);
}

#[test]
fn accepts_custom_tools_and_functions_of_chats() {
    let custom = json!({ "name": "grep", "format": { "type": "text" } });
    let call = json!({ "id": "a", "type": "custom", "custom": { "name": "grep", "input": "x" } });
    let body = json!({
        "model": "m",
        "tools": [{ "type": "custom", "custom": custom }],
        "messages": [
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": null, "function_call": { "name": "f", "arguments": "{}" } },
            { "role": "function", "name": "f", "content": "1" },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "a", "content": "2" },
        ],
    });
    check(&body, Dialect::OpenaiChat, &[]);
}

#[test]
fn accepts_results_of_calls_that_the_provider_has() {
    let result = json!({ "type": "function_call_output", "call_id": "a", "output": "1" });
    for body in [
        json!({ "model": "m", "conversation": "conv_1", "input": [result] }),
        json!({ "model": "m", "previous_response_id": "resp_1", "input": [result] }),
        json!({ "model": "m", "input": [{ "type": "item_reference", "id": "fc_1" }, result] }),
        json!({ "model": "m", "conversation": "conv_1", "input": [] }),
    ] {
        check(&body, Dialect::OpenaiResponses, &[]);
    }
    let custom = json!({ "type": "custom_tool_call_output", "call_id": "a", "output": "1" });
    check(
        &json!({ "model": "m", "input": [custom] }),
        Dialect::OpenaiResponses,
        &["error[CTX0521]: no earlier call has id `a` (at /input/0/call_id)"],
    );
}
