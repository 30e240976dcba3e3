//! What comes back: whole replies, streams, and errors.

use ctx_types::{Role, Source};
use ctx_wire::{
    Delta, Dialect, Failure, FailureKind, Finish, Reply, ReplyLimits, ReplyStream, ReplyUsage, StreamError,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A reply on a line: words, calls, why it ended, tokens.
fn outline(reply: &Reply) -> String {
    let calls =
        reply.tool_calls.iter().map(|call| format!("{}={}({})", call.id, call.name, call.arguments.as_str()));
    let usage = reply.usage.map_or_else(String::new, |usage| format!(" {}+{}", usage.input, usage.output));
    let calls = calls.collect::<Vec<_>>().join(" ");
    format!("[{}] {calls} {:?}{usage}", reply.text.as_str(), reply.finish)
}

/// Feeds the events of a stream and compares the answer, or why there is none.
#[track_caller]
fn check_stream(dialect: Dialect, events: &[Value], expected: &str) {
    let mut stream = ReplyStream::new(dialect, ReplyLimits::default());
    let fed = events.iter().try_for_each(|event| stream.push(&event.to_string()).map(|_| ()));
    let result = fed.and_then(|()| stream.finish());
    assert_eq!(result.map_or_else(|error| error.to_string(), |reply| outline(&reply)), expected);
}

#[track_caller]
fn check_body(dialect: Dialect, body: &Value, expected: &str) {
    let result = dialect.decode(body);
    assert_eq!(result.map_or_else(|failure| failure.to_string(), |reply| outline(&reply)), expected);
}

#[track_caller]
fn check_failure(status: u16, body: &str, expected: FailureKind) {
    assert_eq!(Failure::read(status, body).kind, expected);
}

fn chunk(delta: &Value) -> Value {
    json!({ "id": "r1", "choices": [{ "index": 0, "delta": delta }] })
}

fn end(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

#[test]
fn words_are_joined_in_order() {
    check_stream(
        Dialect::OpenaiChat,
        &[
            chunk(&json!({ "role": "assistant", "content": "" })),
            chunk(&json!({ "content": "Hi " })),
            chunk(&json!({ "content": "there" })),
            end("stop"),
        ],
        "[Hi there]  Stop",
    );
}

/// Feeds pieces of a text as they are written in JSON, and compares the words and the findings.
#[track_caller]
fn check_written(pieces: &[&str], expected: &str, findings: &[&str]) {
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
    for piece in pieces {
        stream.push(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{piece}"}}}}]}}"#)).unwrap();
    }
    stream.push(&end("stop").to_string()).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!(reply.text, expected);
    assert_eq!(reply.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(), findings);
}

#[test]
fn a_character_that_is_cut_in_two_is_whole_again() {
    check_written(&["Hi \\ud83d", "\\ude00 there"], "Hi 😀 there", &[]);
    check_written(&["\\ud83d", "", "\\ude00\\ud83d", "\\ude01"], "😀😁", &[]);
    check_written(&["\\\"\\ud83d", "\\ude00\\\\\\ud83d\\ude00\\n"], "\"😀\\😀\n", &[]);
}

#[test]
fn half_a_character_alone_is_told() {
    let one = "warning[CTX0540]: the reply contains 1 unpaired surrogate, which cannot be stored";
    check_written(&["a\\ud83d"], "a", &[one]);
    check_written(&["a\\ud83db", "c"], "a\u{fffd}bc", &[one]);
    check_written(&["a", "\\ude00"], "a\u{fffd}", &[one]);
    let two = "warning[CTX0540]: the reply contains 2 unpaired surrogates, which cannot be stored";
    check_written(&["a\\ud83d", "b\\ud83d", "c"], "abc", &[two]);
}

#[test]
fn arguments_may_be_cut_within_a_character() {
    let piece = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"f","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
    stream.push(&piece(r#"{\"x\":\"\ud83d"#)).unwrap();
    stream.push(&piece(r#"\ude00\"}"#)).unwrap();
    stream.push(&end("tool_calls").to_string()).unwrap();
    assert_eq!(stream.finish().unwrap().tool_calls[0].arguments.as_str(), r#"{"x":"😀"}"#);
}

#[test]
fn parallel_calls_are_told_apart_by_their_index() {
    let piece = |index: u64, call: Value| {
        let mut call = call;
        call["index"] = json!(index);
        chunk(&json!({ "tool_calls": [call] }))
    };
    check_stream(
        Dialect::OpenaiChat,
        &[
            piece(0, json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } })),
            piece(1, json!({ "id": "b", "function": { "name": "g", "arguments": "" } })),
            piece(0, json!({ "function": { "arguments": ":1}" } })),
            end("tool_calls"),
            json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } }),
        ],
        r#"[] a=f({"x":1}) b=g({}) ToolCalls 7+3"#,
    );
}

/// Feeds pieces of calls, each with its number, and compares what is told of them with the calls of the answer.
#[track_caller]
fn check_told(calls: &[Value], told: &[&str], answer: &str) {
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
    let mut deltas = Vec::new();
    for call in calls {
        deltas.extend(stream.push(&chunk(&json!({ "tool_calls": [call] })).to_string()).unwrap());
    }
    stream.push(&end("tool_calls").to_string()).unwrap();
    let write = |delta| match delta {
        Delta::Call { index, id, name } => format!("{index} {id}={name}"),
        Delta::Arguments { index, text } => format!("{index} {text}"),
        other => format!("{other:?}"),
    };
    assert_eq!(deltas.into_iter().map(write).collect::<Vec<_>>(), told);
    let calls = stream.finish().unwrap().tool_calls;
    let calls = calls.iter().map(|call| format!("{}={}({})", call.id, call.name, call.arguments.as_str()));
    assert_eq!(calls.collect::<Vec<_>>().join(" "), answer);
}

#[test]
fn a_call_is_told_with_the_id_that_it_has_in_the_answer() {
    let begin = |index: u64, id: &str, name: &str| json!({ "index": index, "id": id, "function": { "name": name, "arguments": "" } });
    let more = |index: u64, text: &str| json!({ "index": index, "function": { "arguments": text } });
    check_told(
        &[begin(0, "a", "f"), begin(1, "b", "g"), more(1, "{\"y\":"), more(0, "{}"), more(1, "2}")],
        &["0 a=f", "1 b=g", "1 {\"y\":", "0 {}", "1 2}"],
        "a=f({}) b=g({\"y\":2})",
    );
    // Without an id, with one that is taken, and with one that another call got.
    check_told(
        &[begin(0, "", "f"), begin(1, "a", "f"), begin(2, "a", "g"), begin(3, "call_0", "h")],
        &["0 call_0=f", "1 a=f", "2 call_2=g", "3 call_3=h"],
        "call_0=f({}) a=f({}) call_2=g({}) call_3=h({})",
    );
    // What comes before the name is told with it; an id that comes behind it comes too late.
    check_told(
        &[more(0, "{\"x\""), begin(0, "a", ""), more(0, ":"), begin(0, "", "f"), more(0, "1}")],
        &["0 a=f", "0 {\"x\":", "0 1}"],
        "a=f({\"x\":1})",
    );
    check_told(&[begin(0, "", "f"), begin(0, "late", "")], &["0 call_0=f"], "call_0=f({})");
    check_told(&[more(0, "{}")], &[], "call_0=({})");
}

#[test]
fn whole_calls_that_come_one_after_the_other_stay_apart() {
    let piece = |call: Value| chunk(&json!({ "tool_calls": [call] }));
    // Without a number, and all with the same one.
    check_stream(
        Dialect::OpenaiChat,
        &[
            piece(json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } })),
            piece(json!({ "function": { "arguments": "1}" } })),
            piece(json!({ "id": "b", "function": { "name": "g", "arguments": "{}" } })),
            piece(json!({ "function": { "name": "g", "arguments": "{}" } })),
            end("stop"),
        ],
        r#"[] a=f({"x":1}) b=g({}) call_2=g({}) ToolCalls"#,
    );
    check_stream(
        Dialect::OpenaiChat,
        &[
            piece(json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{}" } })),
            piece(json!({ "index": 0, "id": "b", "function": { "name": "f", "arguments": "" } })),
            piece(json!({ "index": 0, "function": { "arguments": "{\"y\":2}" } })),
            end("tool_calls"),
        ],
        r#"[] a=f({}) b=f({"y":2}) ToolCalls"#,
    );
}

#[test]
fn calls_without_ids_get_ids_of_their_own() {
    let call = json!({ "function": { "name": "f", "arguments": "{}" } });
    check_body(
        Dialect::OpenaiChat,
        &json!({ "choices": [{ "message": { "content": null, "tool_calls": [call, { "id": "call_0", "function": { "name": "g", "arguments": {"a": 1} } }] }, "finish_reason": "stop" }] }),
        r#"[] call_1=f({}) call_0=g({"a":1}) ToolCalls"#,
    );
}

#[test]
fn a_stream_that_never_says_why_it_ended_is_truncated() {
    check_stream(
        Dialect::OpenaiChat,
        &[chunk(&json!({ "content": "Hi" }))],
        "the stream ended before the reply was complete",
    );
}

#[test]
fn an_error_in_a_stream_ends_it() {
    check_stream(
        Dialect::OpenaiChat,
        &[
            chunk(&json!({ "content": "Hi" })),
            json!({ "error": { "message": "overloaded", "type": "server_error" } }),
        ],
        "the provider reported an error: overloaded",
    );
}

#[test]
fn a_malformed_piece_is_an_error_and_what_came_before_is_kept() {
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
    assert_eq!(
        stream.push(&chunk(&json!({ "content": "Hi" })).to_string()),
        Ok(vec![Delta::Text("Hi".into())])
    );
    assert_eq!(stream.push("{\"choices\":"), Err(StreamError::Malformed { excerpt: "{\"choices\":".into() }));
    assert_eq!(stream.partial().text, "Hi");
    assert_eq!(stream.partial().finish, Finish::Other("interrupted".into()));
}

#[test]
fn an_answer_larger_than_the_limit_is_an_error() {
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits { bytes: 4, calls: 1 });
    let error = stream.push(&chunk(&json!({ "content": "12345" })).to_string()).unwrap_err();
    assert_eq!(error.to_string(), "the reply is larger than 4 bytes");
    // The name of a tool counts as words do.
    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits { bytes: 4, calls: 1 });
    let call = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "long" } }] });
    let error = stream.push(&chunk(&call).to_string()).unwrap_err();
    assert_eq!(error.to_string(), "the reply is larger than 4 bytes");
}

#[test]
fn calls_written_as_text_have_the_same_limit() {
    let mut stream = ReplyStream::new(Dialect::Completion, ReplyLimits { bytes: 1_000, calls: 1 });
    let call = r#"<tool_call>{"name":"f"}</tool_call>"#;
    stream
        .push(&json!({ "choices": [{ "text": call.repeat(2), "finish_reason": "stop" }] }).to_string())
        .unwrap();
    assert_eq!(stream.finish().unwrap_err().to_string(), "the reply is larger than 1 tool calls");
}

#[test]
fn a_body_with_more_calls_than_anybody_means_is_not_read() {
    let many = vec![json!({ "type": "tool_use" }); 4_097];
    let message = json!({ "content": "", "tool_calls": many });
    let expected = "the body has more than 4096 tool calls";
    check_body(Dialect::OpenaiChat, &json!({ "choices": [{ "message": message }] }), expected);
    check_body(Dialect::Anthropic, &json!({ "content": many }), expected);
    let items = vec![json!({ "type": "function_call", "name": "f" }); 4_097];
    check_body(Dialect::OpenaiResponses, &json!({ "output": items }), expected);
    let parts = vec![json!({ "functionCall": { "name": "f" } }); 4_097];
    check_body(Dialect::Gemini, &json!({ "candidates": [{ "content": { "parts": parts } }] }), expected);
    let text = r#"<tool_call>{"name":"f"}</tool_call>"#.repeat(4_097);
    check_body(Dialect::Completion, &json!({ "choices": [{ "text": text }] }), expected);
}

#[test]
fn absurd_counts_do_not_run_over() {
    let absurd = ReplyUsage { input: u64::MAX, cached: Some(u64::MAX), output: u64::MAX };
    assert_eq!(ReplyUsage::default().and(absurd).and(absurd), absurd);
    let counted = ReplyUsage { input: 3, cached: Some(1), output: 2 };
    assert_eq!(
        counted.and(ReplyUsage { cached: None, ..counted }),
        ReplyUsage { input: 6, cached: Some(1), output: 4 }
    );
}

#[test]
fn blocks_of_a_streamed_message_are_put_together() {
    let event = |value: Value| value;
    check_stream(
        Dialect::Anthropic,
        &[
            event(
                json!({ "type": "message_start", "message": { "id": "m", "usage": { "input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1 } } }),
            ),
            event(json!({ "type": "ping" })),
            event(
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            ),
            event(
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Adding" } }),
            ),
            event(json!({ "type": "content_block_stop", "index": 0 })),
            event(
                json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "t1", "name": "add", "input": {} } }),
            ),
            event(
                json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"a\":" } }),
            ),
            event(
                json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "1}" } }),
            ),
            event(
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
            ),
            event(json!({ "type": "message_stop" })),
        ],
        r#"[Adding] t1=add({"a":1}) ToolCalls 7+9"#,
    );
}

#[test]
fn thinking_keeps_its_signature_byte_for_byte() {
    let mut stream = ReplyStream::new(Dialect::Anthropic, ReplyLimits::default());
    for event in [
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "let me " } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "see" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "Eq8=" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
    ] {
        stream.push(&event.to_string()).unwrap();
    }
    let message = stream.finish().unwrap().to_message(Source::history("n", Role::Assistant));
    let reasoning = message.reasoning.clone().unwrap();
    assert_eq!(reasoning.text.unwrap(), "let me see");
    assert_eq!(
        *reasoning.artifacts[0],
        json!({ "type": "thinking", "thinking": "let me see", "signature": "Eq8=" })
    );
}

#[test]
fn whole_messages_of_all_dialects_say_the_same() {
    check_body(
        Dialect::OpenaiChat,
        &json!({ "choices": [{ "message": { "role": "assistant", "content": "Hi" }, "finish_reason": "length" }], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } }),
        "[Hi]  Length 1+2",
    );
    check_body(
        Dialect::Anthropic,
        &json!({ "content": [{ "type": "text", "text": "Hi" }], "stop_reason": "max_tokens", "usage": { "input_tokens": 1, "output_tokens": 2 } }),
        "[Hi]  Length 1+2",
    );
    check_body(
        Dialect::OpenaiResponses,
        &json!({
            "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" }, "error": null,
            "output": [{ "type": "message", "id": "msg", "content": [{ "type": "output_text", "text": "Hi" }] }],
            "usage": { "input_tokens": 1, "output_tokens": 2 },
        }),
        "[Hi]  Length 1+2",
    );
    check_body(
        Dialect::Gemini,
        &json!({
            "candidates": [{ "content": { "parts": [{ "text": "Hi" }] }, "finishReason": "MAX_TOKENS" }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 2 },
        }),
        "[Hi]  Length 1+2",
    );
    check_body(
        Dialect::Completion,
        &json!({ "choices": [{ "text": "Hi", "finish_reason": "length" }], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } }),
        "[Hi]  Length 1+2",
    );
}

#[test]
fn items_of_a_streamed_response_are_put_together() {
    let reasoning = json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "z", "status": "completed" });
    let call =
        json!({ "type": "function_call", "id": "fc", "call_id": "c1", "name": "add", "arguments": "" });
    let done = json!({ "type": "function_call", "id": "fc", "call_id": "c1", "name": "add", "arguments": "{\"a\":1}" });
    let events = [
        json!({ "type": "response.created", "response": { "id": "r", "model": "m", "status": "in_progress", "error": null } }),
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm" }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "Add" }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "ing" }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": { "type": "message", "id": "msg_1", "content": [] } }),
        json!({ "type": "response.output_item.added", "output_index": 2, "item": call }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\":" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "1}" }),
        json!({ "type": "response.output_item.done", "output_index": 2, "item": done }),
        json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "usage": { "input_tokens": 7, "output_tokens": 3 } } }),
    ];
    check_stream(Dialect::OpenaiResponses, &events, r#"[Adding] c1=add({"a":1}) ToolCalls 7+3"#);
    let mut stream = ReplyStream::new(Dialect::OpenaiResponses, ReplyLimits::default());
    for event in &events {
        stream.push(&event.to_string()).unwrap();
    }
    let reasoning = stream.finish().unwrap().reasoning.unwrap();
    assert_eq!(reasoning.text.unwrap(), "hm");
    let artifacts: Vec<Value> = reasoning.artifacts.iter().map(|artifact| (**artifact).clone()).collect();
    assert_eq!(
        artifacts,
        [
            json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "z" }),
            json!({ "type": "message", "id": "msg_1" }),
        ]
    );
}

#[test]
fn a_response_that_fails_is_a_failure() {
    let failed = json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "server_error", "message": "sorry" } } });
    check_stream(Dialect::OpenaiResponses, &[failed], "the provider reported an error: sorry");
    let error =
        json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null });
    check_stream(Dialect::OpenaiResponses, &[error], "the provider reported an error: slow down");
    let cut = json!({ "type": "response.incomplete", "response": { "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } } });
    check_stream(Dialect::OpenaiResponses, &[cut], "[]  Length");
}

#[test]
fn chunks_of_gemini_are_put_together_and_calls_get_ids() {
    let chunk = |parts: Value, more: Value| {
        let mut chunk = json!({ "responseId": "r", "modelVersion": "m", "candidates": [{ "content": { "role": "model", "parts": parts } }] });
        for (key, value) in more.as_object().unwrap() {
            chunk["candidates"][0][key] = value.clone();
        }
        chunk
    };
    let mut end = chunk(
        json!([
            { "functionCall": { "name": "add", "args": { "a": 1 } }, "thoughtSignature": "s1" },
            { "functionCall": { "id": "own", "name": "add", "args": {} } },
        ]),
        json!({ "finishReason": "STOP" }),
    );
    end["usageMetadata"] = json!({ "promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1, "cachedContentTokenCount": 4 });
    let events = [
        chunk(json!([{ "text": "hm", "thought": true }]), json!({})),
        chunk(json!([{ "text": "Add" }]), json!({})),
        chunk(json!([{ "text": "ing" }]), json!({})),
        end,
    ];
    check_stream(Dialect::Gemini, &events, r#"[Adding] r-0=add({"a":1}) own=add({}) ToolCalls 7+3"#);
    let mut stream = ReplyStream::new(Dialect::Gemini, ReplyLimits::default());
    for event in &events {
        stream.push(&event.to_string()).unwrap();
    }
    let reply = stream.finish().unwrap();
    let reasoning = reply.reasoning.unwrap();
    assert_eq!((reasoning.text.unwrap().as_str(), reply.usage.unwrap().cached), ("hm", Some(4)));
    assert_eq!(*reasoning.artifacts[0], json!({ "thoughtSignature": "s1", "call": 0 }));
}

#[test]
fn a_blocked_request_is_a_refusal() {
    let blocked =
        json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": { "promptTokenCount": 1 } });
    check_body(Dialect::Gemini, &blocked, "[]  Refused 1+0");
    check_stream(Dialect::Gemini, &[blocked], "[]  Refused 1+0");
}

#[test]
fn text_completions_are_read_and_calls_taken_out_of_the_words() {
    let chunk = |text: &str, reason: Value| json!({ "choices": [{ "index": 0, "text": text, "finish_reason": reason }] });
    check_stream(
        Dialect::Completion,
        &[chunk("Hi ", Value::Null), chunk("there", Value::Null), chunk("", json!("length"))],
        "[Hi there]  Length",
    );
    check_stream(
        Dialect::Completion,
        &[
            chunk("ok\n<tool_call>{\"name\": \"add\", ", Value::Null),
            chunk("\"arguments\": {\"a\": 1}}</tool_call>\n", json!("stop")),
        ],
        r#"[ok] call_0=add({"a":1}) ToolCalls"#,
    );
    // What is no call stays what it is.
    check_body(
        Dialect::Completion,
        &json!({ "choices": [{ "text": "<tool_call>oops</tool_call> <tool_call>", "finish_reason": "stop" }] }),
        "[<tool_call>oops</tool_call> <tool_call>]  Stop",
    );
    // The server of llama.cpp has words of its own.
    check_stream(
        Dialect::Completion,
        &[
            json!({ "content": "Hi", "stop": false }),
            json!({ "content": "", "stop": true, "stop_type": "limit" }),
        ],
        "[Hi]  Length",
    );
}

#[test]
fn a_body_that_is_no_reply_is_an_error() {
    check_body(Dialect::OpenaiResponses, &json!({}), "the response has no output list");
    check_body(Dialect::Gemini, &json!({}), "the response has no candidate");
    check_body(Dialect::Completion, &json!({}), "the response has no choice with text");
    check_body(Dialect::OpenaiChat, &json!({ "choices": [] }), "the response has no choice with a message");
    check_body(Dialect::Anthropic, &json!([]), "the response has no list of content blocks");
    check_body(Dialect::OpenaiChat, &json!({ "error": { "message": "no" } }), "no");
}

#[test]
fn failures_are_told_apart_by_what_helps() {
    check_failure(
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#,
        FailureKind::Overflow,
    );
    check_failure(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
        FailureKind::Overflow,
    );
    check_failure(
        400,
        r#"[{"error":{"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum"}}]"#,
        FailureKind::Overflow,
    );
    check_failure(400, r#"{"error":{"message":"bad role"}}"#, FailureKind::Refused);
    check_failure(
        429,
        r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
        FailureKind::RateLimited,
    );
    check_failure(
        429,
        r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#,
        FailureKind::QuotaExhausted,
    );
    check_failure(529, r#"{"error":{"type":"overloaded_error","message":"busy"}}"#, FailureKind::Unavailable);
    check_failure(401, "", FailureKind::Unauthorized);
    check_failure(404, "not json", FailureKind::NotFound);
    check_failure(302, "", FailureKind::Refused);
}

proptest! {
    /// Whatever a server sends, nothing panics, and an answer is a message that pairs its calls.
    #[test]
    fn any_pieces_are_survived(
        pieces in prop::collection::vec(any_piece(), 0..12),
        dialect in prop::sample::select(Dialect::ALL.to_vec()),
    ) {
        let mut stream = ReplyStream::new(dialect, ReplyLimits::default());
        for piece in pieces {
            drop(stream.push(&piece));
        }
        let reply = stream.partial();
        for (index, call) in reply.tool_calls.iter().enumerate() {
            prop_assert!(!call.id.is_empty());
            prop_assert!(reply.tool_calls[..index].iter().all(|earlier| earlier.id != call.id));
        }
    }
}

fn any_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,40}",
        "[a-z]{0,6}".prop_map(|text| chunk(&json!({ "content": text })).to_string()),
        (0..3_u64, "[ab]?", "[fg]?", "[{}\":1]{0,5}").prop_map(|(index, id, name, arguments)| {
            let call = json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } });
            chunk(&json!({ "tool_calls": [call] })).to_string()
        }),
        (0..3_u64, "[ab]?").prop_map(|(index, id)| {
            json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": id, "name": "f" } })
                .to_string()
        }),
        (0..3_u64, "[ab]?").prop_map(|(index, id)| {
            json!({ "type": "response.output_item.done", "output_index": index, "item": { "type": "function_call", "call_id": id } })
                .to_string()
        }),
        "[ab]?".prop_map(|id| {
            json!({ "candidates": [{ "content": { "parts": [{ "functionCall": { "id": id, "name": "f" } }] } }] }).to_string()
        }),
        Just(end("stop").to_string()),
    ]
}

#[test]
fn keeps_state_of_chat_completions() {
    let extra = json!({ "google": { "thought_signature": "S" } });
    let call = json!({ "id": "c1", "index": 0, "extra_content": extra,
        "function": { "name": "f", "arguments": "{}" } });
    let details = json!([
        { "type": "reasoning.text", "text": "I look.", "signature": "T", "index": 0 },
        { "type": "reasoning.encrypted", "data": "D", "index": 1 },
    ]);
    let expected = [
        json!({ "call": 0, "extra_content": extra }),
        json!({ "type": "reasoning_details", "details": details }),
    ];
    let artifacts = |reply: Reply| -> Vec<Value> {
        let reasoning = reply.reasoning.unwrap();
        reasoning.artifacts.iter().map(|artifact| (**artifact).clone()).collect()
    };

    let message = json!({ "content": null, "tool_calls": [call], "reasoning_details": details });
    let body = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    assert_eq!(artifacts(Dialect::OpenaiChat.decode(&body).unwrap()), expected);

    let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
    let piece = |detail: &Value| chunk(&json!({ "reasoning_details": [detail] }));
    for event in [
        piece(&json!({ "type": "reasoning.text", "text": "I ", "index": 0 })),
        piece(&json!({ "type": "reasoning.text", "text": "look.", "signature": "T", "index": 0 })),
        piece(&json!({ "type": "reasoning.encrypted", "data": "D", "index": 1 })),
        chunk(&json!({ "tool_calls": [call] })),
        end("tool_calls"),
    ] {
        stream.push(&event.to_string()).unwrap();
    }
    assert_eq!(artifacts(stream.finish().unwrap()), expected);
}
