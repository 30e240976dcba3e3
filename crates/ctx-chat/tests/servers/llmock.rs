//! Cases with `llmock`, which is told what to break before each, and asked for its verdict afterwards.

use std::time::Duration;

use ctx_chat::{Chat, Endpoint, TimeLimits, preview_turn};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::foreign::Foreign;
use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::{Case, cases, check_bodies, long};

pub(crate) const CASES: &[Case] = cases![
    a_tool_is_called_and_its_result_answered,
    parallel_calls_come_in_pieces,
    a_wait_that_is_asked_for_is_kept,
    a_broken_server_is_asked_again,
    a_connection_that_breaks_is_tried_again,
    a_stream_that_ends_early_is_tried_again,
    a_chunk_that_is_no_json_is_tried_again,
    a_stall_is_given_up_and_tried_again,
    a_stream_that_ends_among_words_is_told_and_gone_on_from,
    a_stall_among_words_keeps_them,
    arguments_that_are_cut_off_are_told_to_the_model,
    a_tool_that_does_not_exist_is_told_to_the_model,
    a_window_that_overflows_is_compressed_and_retried_once,
    what_a_dry_run_shows_is_what_arrives,
];

/// A room at the server, which breaks the next answers like this; its earlier judgement is forgotten.
fn room<'a>(server: &'a Foreign, dialect: Dialect, behaviors: &Value) -> Room<&'a Foreign> {
    with_endpoint(server, dialect, behaviors, |_| ())
}

fn with_endpoint<'a>(
    server: &'a Foreign,
    dialect: Dialect,
    behaviors: &Value,
    change: impl FnOnce(&mut Endpoint),
) -> Room<&'a Foreign> {
    server.post("/_llmock/reset", &json!({}));
    if behaviors.as_array().is_some_and(|list| !list.is_empty()) {
        server.post("/_llmock/scenario", &json!({ "behaviors": behaviors }));
    }
    let path = if dialect == Dialect::Anthropic { "/anthropic/v1" } else { "/v1" };
    let mut endpoint = crate::endpoint(dialect, server.url(path));
    // What begins before the server is done with the attempt before it, the judge takes for another call.
    endpoint.retry.first_wait = Duration::from_millis(400);
    change(&mut endpoint);
    let agent = json!({ "presetMessages": [{ "role": "system", "content": "Be kind." }, { "type": "chat_history" }] });
    Room::at(server, endpoint, &agent)
}

impl Room<&Foreign> {
    /// Returns the bodies that arrived, after checking that there are so many and that all are sound.
    #[track_caller]
    fn asked(&self, times: usize, dialect: Dialect) -> Vec<Value> {
        let requests = self.server.get("/_llmock/requests");
        let bodies: Vec<Value> =
            requests["requests"].as_array().unwrap().iter().map(|request| request["body"].clone()).collect();
        assert_eq!(bodies.len(), times, "{requests:#}");
        check_bodies(&bodies, dialect);
        bodies
    }

    /// Compares what the server holds against the client: nothing, or the codes of its findings.
    #[track_caller]
    fn check_verdict(&self, expected: &[&str]) {
        let verdict = self.server.get("/_llmock/verdict");
        let codes: Vec<&str> = verdict["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["code"].as_str().unwrap())
            .collect();
        assert_eq!(codes, expected, "{verdict:#}");
        assert_eq!(verdict["passed"], expected.is_empty());
    }
}

fn a_tool_is_called_and_its_result_answered(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, &json!([]));
    let end = room.turn("Please echo this", |chat| with_bench(chat, &Bench));
    assert_eq!((ending(&end).as_str(), end.rounds), ("answered", 2));
    let stored = room.stored();
    assert!(stored[1].starts_with("assistant: ") && stored[1].ends_with(" echo]"), "{stored:?}");
    assert!(stored[2].starts_with("tool(") && stored[2].ends_with("): {}"), "{stored:?}");
    room.asked(2, dialect);
    room.check_verdict(&[]);
}

fn parallel_calls_come_in_pieces(server: &Foreign, dialect: Dialect) {
    let calls = json!([
        { "name": "first", "arguments": { "city": "Paris, the capital of France" } },
        { "name": "second", "arguments": {} },
        { "name": "echo", "arguments": { "text": "a long text that comes in many pieces" } },
    ]);
    let mut room =
        room(server, dialect, &json!([{ "type": "reply", "text": "Let me look.", "tool_calls": calls }]));
    let end = room.turn("Go", |chat| with_bench(chat, &Bench));
    assert_eq!((ending(&end).as_str(), end.rounds), ("answered", 2));
    let results: Vec<String> = room.stored()[2..5]
        .iter()
        .map(|line| line.split_once("): ").map_or("", |(_, text)| text).to_owned())
        .collect();
    assert_eq!(results, ["one", "two", r#"{"text": "a long text that comes in many pieces"}"#]);
    room.asked(2, dialect);
    room.check_verdict(&[]);
}

/// Lets the next answer go wrong before its first word; the second attempt must answer, and the judge be content.
#[track_caller]
fn check_second_time(server: &Foreign, dialect: Dialect, behavior: &Value, time: TimeLimits) {
    let mut room = with_endpoint(server, dialect, &json!([behavior]), |endpoint| endpoint.time = time);
    assert_eq!(ending(&room.turn("Hello", |_| ())), "answered", "{:?}", room.stored());
    assert_eq!(room.stored().len(), 2);
    let bodies = room.asked(2, dialect);
    assert_eq!(bodies[0].to_string(), bodies[1].to_string(), "every attempt sends the same");
    room.check_verdict(&[]);
}

/// How many chunks of a stream come before its first word.
fn before_words(dialect: Dialect) -> usize {
    if dialect == Dialect::Anthropic { 2 } else { 1 }
}

fn fault(kind: &str, after_chunks: usize) -> Value {
    // The longest stall that the judge lets pass as none is a second.
    json!({ "type": "stream_fault", "kind": kind, "after_chunks": after_chunks, "stall_seconds": 0.9 })
}

fn a_wait_that_is_asked_for_is_kept(server: &Foreign, dialect: Dialect) {
    for status in [429, 503] {
        let failure = json!({ "type": "fail", "status": status, "retry_after": 0.2 });
        check_second_time(server, dialect, &failure, TimeLimits::default());
    }
}

fn a_broken_server_is_asked_again(server: &Foreign, dialect: Dialect) {
    let failure = json!({ "type": "fail", "status": 500, "retry_after": 0.05 });
    check_second_time(server, dialect, &failure, TimeLimits::default());
}

fn a_connection_that_breaks_is_tried_again(server: &Foreign, dialect: Dialect) {
    for chunks in 0..=before_words(dialect) {
        check_second_time(server, dialect, &fault("disconnect", chunks), TimeLimits::default());
    }
}

fn a_stream_that_ends_early_is_tried_again(server: &Foreign, dialect: Dialect) {
    for chunks in 0..=before_words(dialect) {
        check_second_time(server, dialect, &fault("truncate", chunks), TimeLimits::default());
    }
}

fn a_chunk_that_is_no_json_is_tried_again(server: &Foreign, dialect: Dialect) {
    check_second_time(server, dialect, &fault("malformed", before_words(dialect)), TimeLimits::default());
}

fn a_stall_is_given_up_and_tried_again(server: &Foreign, dialect: Dialect) {
    let time = TimeLimits { first_token: Duration::from_millis(800), ..TimeLimits::default() };
    check_second_time(server, dialect, &fault("stall", before_words(dialect)), time);
}

fn a_stream_that_ends_among_words_is_told_and_gone_on_from(server: &Foreign, dialect: Dialect) {
    let broken = fault("truncate", before_words(dialect) + 3);
    let mut room =
        room(server, dialect, &json!([{ "type": "reply", "text": "One two three four five." }, broken]));
    assert_eq!(ending(&room.turn("Count", |_| ())), "LLM_TRUNCATED");
    let stored = room.stored();
    assert!(stored[1].starts_with("assistant: One two"), "{stored:?}");
    assert!(stored[1].contains("\n\nLLM_ERROR\n- Code: LLM_TRUNCATED\n"), "{stored:?}");
    assert_eq!(ending(&room.turn("continue", |_| ())), "answered");
    room.asked(2, dialect);
    // The judge wants the same request again, which after the first word nobody may send; that the user is told and
    // goes on himself, it cannot see.
    room.check_verdict(&["truncated_stream_accepted"]);
}

fn a_stall_among_words_keeps_them(server: &Foreign, dialect: Dialect) {
    let stalls = fault("stall", before_words(dialect) + 3);
    let time = TimeLimits { stall: Duration::from_millis(800), ..TimeLimits::default() };
    let text = json!({ "type": "reply", "text": "One two three four five." });
    let mut room = with_endpoint(server, dialect, &json!([text, stalls]), |endpoint| endpoint.time = time);
    assert_eq!(ending(&room.turn("Count", |_| ())), "LLM_TIMEOUT");
    let stored = room.stored();
    assert!(stored[1].starts_with("assistant: One two"), "{stored:?}");
    assert_eq!(ending(&room.turn("continue", |_| ())), "answered");
    room.asked(2, dialect);
    room.check_verdict(&[]);
}

/// Lets the model call a tool wrongly; the result that the model is told begins like this, and the loop goes on.
#[track_caller]
fn check_bad_call(server: &Foreign, dialect: Dialect, kind: &str, expected: &str) {
    let call =
        json!({ "type": "reply", "tool_calls": [{ "name": "echo", "arguments": { "city": "Paris" } }] });
    let mut room = room(server, dialect, &json!([call, { "type": "tool_fault", "kind": kind }]));
    let end = room.turn("Go", |chat| with_bench(chat, &Bench));
    assert_eq!((ending(&end).as_str(), end.rounds), ("answered", 2));
    let result = room.stored()[2].clone();
    assert!(result.split_once("): ").unwrap().1.starts_with(expected), "{result}");
    room.asked(2, dialect);
    room.check_verdict(&[]);
}

fn arguments_that_are_cut_off_are_told_to_the_model(server: &Foreign, dialect: Dialect) {
    check_bad_call(server, dialect, "malformed_arguments", "error: the arguments are not valid JSON");
}

fn a_tool_that_does_not_exist_is_told_to_the_model(server: &Foreign, dialect: Dialect) {
    check_bad_call(server, dialect, "unknown_tool", "error: unknown tool ");
}

fn a_window_that_overflows_is_compressed_and_retried_once(server: &Foreign, dialect: Dialect) {
    let texts = long();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut room = room(server, dialect, &json!([])).said(&texts);
    let before = room.stored();
    assert_eq!(ending(&room.turn("Where is it?", |_| ())), "answered", "{:?}", room.told);
    assert_eq!(room.told.iter().filter(|line| *line == "overflowed").count(), 1, "{:?}", room.told);
    let stored = room.stored();
    assert_eq!(stored[..30], before, "the conversation itself stays as it is");
    assert_eq!(stored.len(), 32);
    let requests = room.server.get("/_llmock/requests");
    let statuses: Vec<Value> =
        requests["requests"].as_array().unwrap().iter().map(|request| request["status"].clone()).collect();
    assert_eq!(json!(statuses), json!([400, 200]));
    room.asked(2, dialect);
    room.check_verdict(&[]);
}

fn what_a_dry_run_shows_is_what_arrives(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, &json!([])).said(&["你好 🎉", "A \"quoted\" \\ \u{1} word"]);
    let body = {
        let mut chat = Chat::new(&room.agent, &room.client);
        with_bench(&mut chat, &Bench);
        let preview = preview_turn(&chat, Some(room.conversation.session()), None, Room::says("Hello"));
        block_on(preview).unwrap().body
    };
    room.turn("Hello", |chat| with_bench(chat, &Bench));
    let sent = room.asked(2, dialect)[0].to_string();
    assert_eq!(sent, String::from_utf8(body).unwrap());
}
