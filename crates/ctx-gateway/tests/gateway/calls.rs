//! Streaming tool calls: each client gets chunks with the stored ids and arguments.

use std::io::{BufRead as _, BufReader};

use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Step, delta, end, sse, word};
use crate::streams::{error_of, stream_request};
use crate::test_gateway::TestGateway;

const CLIENTS: [(&str, Dialect); 3] = [
    ("/v1/chat/completions", Dialect::OpenaiChat),
    ("/v1/messages", Dialect::Anthropic),
    ("/v1/responses", Dialect::OpenaiResponses),
];

/// A chunk of a call in the format of chat completions.
fn call_chunk(index: u64, call: (&str, &str), arguments: &str) -> Value {
    let function = json!({ "name": call.1, "arguments": arguments });
    delta(&json!({ "tool_calls": [{ "index": index, "id": call.0, "function": function }] }))
}

fn arguments_chunk(index: u64, arguments: &str) -> Value {
    call_chunk(index, ("", ""), arguments)
}

/// Returns the events of calls and texts. `[` with an id and a name starts a call, and `]` ends it.
fn outline(events: &[Value]) -> String {
    let text = |event: &Value, pointer: &str| event.pointer(pointer)?.as_str().map(str::to_owned);
    let said = |event: &Value| -> Option<String> {
        let kind = event["type"].as_str().unwrap_or_default();
        let place = event.get("index").or(event.get("output_index")).cloned().unwrap_or_default();
        Some(match kind {
            "content_block_start" if event["content_block"]["type"] == "tool_use" => {
                let block = &event["content_block"];
                format!("{place}[{}={}", block["id"].as_str()?, block["name"].as_str()?)
            }
            "content_block_delta" => match text(event, "/delta/partial_json") {
                Some(arguments) => format!("{place} {arguments}"),
                None => text(event, "/delta/text")?,
            },
            "content_block_stop" => format!("{place}]"),
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                let item = &event["item"];
                format!("{place}[{}={}", item["call_id"].as_str()?, item["name"].as_str()?)
            }
            "response.function_call_arguments.delta" => format!("{place} {}", event["delta"].as_str()?),
            "response.output_text.delta" => event["delta"].as_str()?.to_owned(),
            "response.output_item.done" if event["item"]["type"] == "function_call" => {
                format!("{place}]{}", event["item"]["arguments"].as_str()?)
            }
            "" => match event.pointer("/choices/0/delta/tool_calls/0") {
                Some(call) => {
                    let (id, name) = (call["id"].as_str(), call["function"]["name"].as_str());
                    let head = id
                        .zip(name.filter(|name| !name.is_empty()))
                        .map_or(String::new(), |(id, name)| format!("[{id}={name}"));
                    format!("{}{head} {}", call["index"], call["function"]["arguments"].as_str()?)
                }
                None => text(event, "/choices/0/delta/content").filter(|text| !text.is_empty())?,
            },
            _ => return None,
        })
    };
    events.iter().filter_map(said).collect::<Vec<_>>().join(" | ")
}

/// Returns the calls of the last stored message.
fn stored(gateway: &TestGateway) -> String {
    let shown = gateway.get("/conversations/c").json();
    let calls = shown["messages"].as_array().unwrap().last().unwrap()["tool_calls"].as_array().cloned();
    let text = |call: &Value, key: &str| call[key].as_str().unwrap().to_owned();
    let call =
        |call: &Value| format!("{}={}({})", text(call, "id"), text(call, "name"), text(call, "arguments"));
    calls.unwrap_or_default().iter().map(call).collect::<Vec<_>>().join(" ")
}

/// Streams these chunks to clients of Chat Completions, Messages and Responses. Compares their events and the stored
/// calls.
#[track_caller]
fn check(chunks: &[Value], expected: [&str; 3], expected_store: &str) {
    for ((path, dialect), expected) in CLIENTS.into_iter().zip(expected) {
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::events(chunks)]);
        let response = gateway.post(path, &stream_request(dialect, "c"));
        assert_eq!(outline(&response.events()), expected, "{dialect}");
        assert_eq!(stored(&gateway), expected_store, "{dialect}");
    }
}

#[test]
fn streams_calls_chunk_by_chunk() {
    check(
        &[
            word("Hm. "),
            call_chunk(0, ("a", "f"), ""),
            arguments_chunk(0, "{\"x\""),
            arguments_chunk(0, ":1}"),
            end("tool_calls"),
        ],
        [
            "Hm.  | 0[a=f  | 0 {\"x\" | 0 :1}",
            "Hm.  | 0] | 1[a=f | 1  | 1 {\"x\" | 1 :1} | 1]",
            "Hm.  | 1[a=f | 1  | 1 {\"x\" | 1 :1} | 1]{\"x\":1}",
        ],
        "a=f({\"x\":1})",
    );
}

#[test]
fn delays_later_calls_in_sequential_apis() {
    check(
        &[
            call_chunk(0, ("a", "f"), "{\"x\":"),
            call_chunk(1, ("b", "g"), "{\"y\":"),
            word("Hm."),
            arguments_chunk(0, "{}}"),
            arguments_chunk(1, "2}"),
            end("tool_calls"),
        ],
        [
            "0[a=f {\"x\": | 1[b=g {\"y\": | Hm. | 0 {}} | 1 2}",
            "0[a=f | 0  | 0 {\"x\": | 0 {}} | 0] | 1[b=g | 1 {\"y\": | 1 2} | 1] | Hm. | 2]",
            "0[a=f | 0  | 0 {\"x\": | 0 {}} | 0]{\"x\":{}} | 1[b=g | 1 {\"y\": | 1 2} | 1]{\"y\":2} | Hm.",
        ],
        "a=f({\"x\":{}}) b=g({\"y\":2})",
    );
}

#[test]
fn ends_call_without_arguments_before_next_call() {
    check(
        &[
            call_chunk(0, ("a", "f"), ""),
            call_chunk(1, ("b", "f"), ""),
            call_chunk(2, ("c", "g"), "{\"y\":"),
            arguments_chunk(2, "2}"),
            end("tool_calls"),
        ],
        [
            "0[a=f  | 1[b=f  | 2[c=g {\"y\": | 2 2}",
            "0[a=f | 0  | 0 {} | 0] | 1[b=f | 1  | 1 {} | 1] | 2[c=g | 2 {\"y\": | 2 2} | 2]",
            "0[a=f | 0  | 0 {} | 0]{} | 1[b=f | 1  | 1 {} | 1]{} | 2[c=g | 2 {\"y\": | 2 2} | 2]{\"y\":2}",
        ],
        "a=f({}) b=f({}) c=g({\"y\":2})",
    );
}

#[test]
fn starts_next_call_after_complete_object() {
    check(
        &[
            call_chunk(0, ("a", "f"), "[{}"),
            call_chunk(1, ("b", "g"), "{\"y\":\"\\\"}"),
            arguments_chunk(0, "]"),
            arguments_chunk(1, "\"}"),
            end("stop"),
        ],
        [
            "0[a=f [{} | 1[b=g {\"y\":\"\\\"} | 0 ] | 1 \"}",
            "0[a=f | 0  | 0 [{} | 0 ] | 0] | 1[b=g | 1 {\"y\":\"\\\"}\"} | 1]",
            "0[a=f | 0  | 0 [{} | 0 ] | 0][{}] | 1[b=g | 1 {\"y\":\"\\\"}\"} | 1]{\"y\":\"\\\"}\"}",
        ],
        "a=f([{}]) b=g({\"y\":\"\\\"}\"})",
    );
}

#[test]
fn replaces_missing_and_repeated_ids_in_streams() {
    check(
        &[
            call_chunk(0, ("", "f"), "{}"),
            call_chunk(1, ("a", "f"), "{}"),
            call_chunk(2, ("a", "g"), "{}"),
            end("stop"),
        ],
        [
            "0[call_0=f {} | 1[a=f {} | 2[call_2=g {}",
            "0[call_0=f | 0  | 0 {} | 0] | 1[a=f | 1  | 1 {} | 1] | 2[call_2=g | 2  | 2 {} | 2]",
            "0[call_0=f | 0  | 0 {} | 0]{} | 1[a=f | 1  | 1 {} | 1]{} | 2[call_2=g | 2  | 2 {} | 2]{}",
        ],
        "call_0=f({}) a=f({}) call_2=g({})",
    );
}

#[test]
fn sends_stored_ids_of_calls_in_one_chunk() {
    let call = |index: usize| json!({ "index": index, "function": { "name": "f", "arguments": "{}" } });
    let both = delta(&json!({ "content": "Hm.", "tool_calls": [call(0), call(1)] }));
    let last = json!({ "choices": [{ "index": 0, "delta": [], "finish_reason": "tool_calls" }] });
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::events(&[both, last])]);
    let events = gateway.post("/v1/chat/completions", &stream_request(Dialect::OpenaiChat, "c")).events();
    let ids = |index: usize| events[0]["choices"][0]["delta"]["tool_calls"][index]["id"].clone();
    assert_eq!((ids(0), ids(1)), (json!("call_0"), json!("call_1")));
    assert_eq!(events[1]["choices"][0]["delta"], json!([]));
    assert_eq!(stored(&gateway), "call_0=f({}) call_1=f({})");
}

#[test]
fn rejects_stream_options_that_are_not_objects() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let body = json!({ "model": "ada", "stream": true, "stream_options": "x",
        "messages": [{ "role": "user", "content": "Hi" }] });
    assert_eq!(gateway.post("/v1/chat/completions", &body).status, 400);
}

#[test]
fn replaces_id_of_earlier_turn_in_first_chunk() {
    let call = || Answer::calls(&[("call_0", "f", "{\"x\":1}")]);
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![call(), call()]);
    gateway.post("/v1/chat/completions", &stream_request(Dialect::OpenaiChat, "c"));
    let result = json!([{ "role": "tool", "tool_call_id": "call_0", "content": "red" }]);
    let body =
        json!({ "model": "ada", "stream": true, "messages": result, "metadata": { "conversation": "c" } });
    let response = gateway.post("/v1/chat/completions", &body);
    assert_eq!(outline(&response.events()), "0[call_0_2=f {\"x | 0 \":1}");
    assert_eq!(stored(&gateway), "call_0_2=f({\"x\":1})");
}

#[test]
fn ends_blank_and_truncated_arguments_as_stored() {
    check(
        &[call_chunk(0, ("a", "f"), ""), call_chunk(1, ("b", "g"), " "), end("tool_calls")],
        [
            "0[a=f  | 1[b=g  ",
            "0[a=f | 0  | 0 {} | 0] | 1[b=g | 1   | 1 {} | 1]",
            "0[a=f | 0  | 0 {} | 0]{} | 1[b=g | 1   | 1 {} | 1] {}",
        ],
        "a=f({}) b=g({})",
    );
    check(
        &[call_chunk(0, ("a", "f"), "{\"x\":\"}"), end("length")],
        ["0[a=f {\"x\":\"}", "0[a=f | 0  | 0 {\"x\":\"} | 0]", "0[a=f | 0  | 0 {\"x\":\"} | 0]{\"x\":\"}"],
        "a=f({\"x\":\"})",
    );
}

#[test]
fn reports_interrupted_call_without_storing_it() {
    for (path, dialect) in CLIENTS {
        let chunks = [call_chunk(0, ("a", "f"), "{\"x\""), call_chunk(1, ("b", "g"), "{}")];
        let steps = vec![Step::Bytes(sse(&chunks, false)), Step::Close];
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::stream(steps)]);
        let events = gateway.post(path, &stream_request(dialect, "c")).events();
        assert!(outline(&events).contains("[a=f") && !outline(&events).contains(']'), "{events:?}");
        assert!(events.last().and_then(error_of).is_some(), "{events:?}");
        assert_eq!(stored(&gateway), "");
        if let Some(id) = events[0]["response"]["id"].as_str() {
            let failed = gateway.get(&format!("/v1/responses/{id}")).json();
            assert_eq!((&failed["status"], &failed["output"]), (&json!("failed"), &json!([])), "{failed}");
            assert!(failed["error"]["message"].is_string(), "{failed}");
        }
    }
}

#[test]
fn sends_call_chunks_before_provider_ends() {
    for (path, dialect) in CLIENTS {
        let steps = vec![Step::Bytes(sse(&[call_chunk(0, ("a", "f"), "{\"x\"")], false)), Step::Stall];
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::stream(steps)]);
        let body = stream_request(dialect, "c").to_string();
        let mut lines = BufReader::new(gateway.send("POST", path, &[], body.as_bytes()));
        let mut line = String::new();
        while !line.contains(r#"{\"x\""#) {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{dialect}");
        }
    }
}
