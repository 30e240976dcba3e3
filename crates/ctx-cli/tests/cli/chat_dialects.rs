//! `ctx chat` in every dialect that the client speaks, with answers in pieces and whole.

use serde_json::{Value, json};

use crate::Folder;
use crate::server::{Answer, Received, Server, Step, sse};

const AGENT: &str =
    "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n";

/// Asks once in a dialect; returns what was printed, and the requests.
#[track_caller]
fn ask(dialect: &str, more: &str, answers: Vec<Answer>) -> (String, Vec<Received>) {
    let folder =
        Folder::with(&[("agent.yaml", AGENT), ("notes/a.txt", "red\n"), ("key", "sk-test-0123456789")]);
    let server = Server::script(answers);
    let base = server.base_url();
    let output = folder.ctx(&format!(
        "chat agent.yaml --model some-model --dialect {dialect} --base-url {base} --key-file key --once Hello {more}"
    ));
    (output, server.requests())
}

/// Checks that a dialect says `Hi there`, in pieces and whole, and where it was asked and with which key.
#[track_caller]
fn check(
    dialect: &str,
    (streamed, path): (&[Value], &str),
    (whole, whole_path): (&Value, &str),
    key: (&str, &str),
) {
    let stream = Answer::stream(vec![Step::Bytes(sse(
        streamed,
        dialect.starts_with("openai") || dialect == "completion",
    ))]);
    let both = [("", stream, path), ("--no-stream", Answer::json(200, whole), whole_path)];
    for (more, answer, path) in both {
        let (output, requests) = ask(dialect, more, vec![answer]);
        assert!(output.starts_with("exit code 0\n=== output\nHi there\n"), "{dialect} {more}: {output}");
        assert_eq!(
            (requests[0].path.as_str(), requests[0].header(key.0)),
            (path, Some(key.1)),
            "{dialect} {more}"
        );
        assert!(!requests[0].body.is_empty());
    }
}

const KEY: &str = "sk-test-0123456789";

#[test]
fn chat_completions_answer_in_pieces_and_whole() {
    let word = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let whole = json!({ "choices": [{ "message": { "role": "assistant", "content": "Hi there" }, "finish_reason": "stop" }] });
    let path = "/v1/chat/completions";
    let key = format!("Bearer {KEY}");
    check("openai", (&[word("Hi "), word("there"), end], path), (&whole, path), ("authorization", &key));
}

/// A stream of Anthropic's messages: blocks with their pieces, and why it ends.
fn anthropic(blocks: &[(Value, &[Value])], reason: &str) -> Vec<Value> {
    let mut events = vec![
        json!({ "type": "message_start", "message": { "id": "m", "model": "some-model", "role": "assistant",
        "content": [], "usage": { "input_tokens": 5, "output_tokens": 1 } } }),
    ];
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let deltas = deltas
            .iter()
            .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.extend(deltas);
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 3 } }));
    events.push(json!({ "type": "message_stop" }));
    events
}

#[test]
fn anthropics_messages_answer_in_pieces_and_whole() {
    let text = |text: &str| json!({ "type": "text_delta", "text": text });
    let blocks = [(json!({ "type": "text", "text": "" }), &[text("Hi "), text("there")][..])];
    let whole = json!({ "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": "Hi there" }], "usage": { "input_tokens": 5, "output_tokens": 3 } });
    let streamed = anthropic(&blocks, "end_turn");
    check("anthropic", (&streamed, "/v1/messages"), (&whole, "/v1/messages"), ("x-api-key", KEY));
}

#[test]
fn responses_answer_in_pieces_and_whole() {
    let delta =
        |text: &str| json!({ "type": "response.output_text.delta", "output_index": 0, "delta": text });
    let message = json!({ "type": "message", "id": "msg", "role": "assistant",
        "content": [{ "type": "output_text", "text": "Hi there" }] });
    let streamed = [
        json!({ "type": "response.created", "response": { "id": "r", "status": "in_progress", "error": null } }),
        delta("Hi "),
        delta("there"),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": message }),
        json!({ "type": "response.completed", "response": { "id": "r", "status": "completed" } }),
    ];
    let whole = json!({ "id": "r", "status": "completed", "output": [message] });
    let key = format!("Bearer {KEY}");
    check(
        "openai-responses",
        (&streamed, "/v1/responses"),
        (&whole, "/v1/responses"),
        ("authorization", &key),
    );
}

#[test]
fn gemini_answers_in_pieces_and_whole() {
    let chunk = |text: &str, reason: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "finishReason": reason }] });
    let streamed = [chunk("Hi ", Value::Null), chunk("there", json!("STOP"))];
    let whole = chunk("Hi there", json!("STOP"));
    let path = "/v1/models/some-model:streamGenerateContent?alt=sse";
    check(
        "gemini",
        (&streamed, path),
        (&whole, "/v1/models/some-model:generateContent"),
        ("x-goog-api-key", KEY),
    );
}

#[test]
fn text_completions_answer_in_pieces_and_whole() {
    let chunk = |text: &str, reason: Value| json!({ "choices": [{ "index": 0, "text": text, "finish_reason": reason }] });
    let streamed = [chunk("Hi ", Value::Null), chunk("there", json!("stop"))];
    let whole = chunk("Hi there", json!("stop"));
    let key = format!("Bearer {KEY}");
    check("completion", (&streamed, "/v1/completions"), (&whole, "/v1/completions"), ("authorization", &key));
}

#[test]
fn tools_work_in_anthropics_messages_in_pieces_and_whole() {
    let call = json!({ "type": "tool_use", "id": "t1", "name": "read_file", "input": {} });
    let piece = |json: &str| json!({ "type": "input_json_delta", "partial_json": json });
    let pieces = [piece("{\"pa"), piece("th\":\"a.txt\"}")];
    let text = json!({ "type": "text_delta", "text": "Red." });
    let streamed = [
        anthropic(&[(call.clone(), &pieces[..])], "tool_use"),
        anthropic(&[(json!({ "type": "text", "text": "" }), &[text][..])], "end_turn"),
    ];
    let streamed = streamed.map(|events| Answer::stream(vec![Step::Bytes(sse(&events, false))]));
    let message = |content: Value, reason: &str| {
        Answer::json(
            200,
            &json!({ "type": "message", "role": "assistant", "content": [content], "stop_reason": reason }),
        )
    };
    let mut whole_call = call;
    whole_call["input"] = json!({ "path": "a.txt" });
    let whole =
        [message(whole_call, "tool_use"), message(json!({ "type": "text", "text": "Red." }), "end_turn")];
    for (more, answers) in [("", streamed.to_vec()), ("--no-stream", whole.to_vec())] {
        let (output, requests) = ask("anthropic", &format!("--tools-dir notes {more}"), answers);
        assert!(output.starts_with("exit code 0\n=== output\nRed.\n"), "{output}");
        let second = requests[1].json();
        let messages = second["messages"].as_array().unwrap();
        assert_eq!(messages[1]["content"][0]["input"], json!({ "path": "a.txt" }));
        let result = &messages[2]["content"][0];
        assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &json!("t1")));
        assert!(result["content"].to_string().contains("red"), "{result}");
    }
}
