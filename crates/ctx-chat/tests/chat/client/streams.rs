//! Answers: in pieces, whole, and broken in every way.

use serde_json::json;

use ctx_chat::{Endpoint, TimeLimits};
use ctx_pipeline::Cancel;
use ctx_wire::{Delta, Dialect};

use crate::client::{Asked, ask, ask_with, check, once};
use crate::server::{Answer, Server, Step, end, sse, word};

#[test]
fn an_answer_is_heard_as_it_comes() {
    let asked = check([Answer::text("Hi there friend")], "Hi there friend");
    assert_eq!(asked.pieces(), ["Hi ", "there ", "friend"]);
}

#[test]
fn an_answer_that_is_no_stream_is_read_whole() {
    let body = json!({ "choices": [{ "message": { "content": "Hi" }, "finish_reason": "stop" }] });
    check([Answer::json(200, &body)], "Hi");
}

#[test]
fn calls_keep_their_arguments_over_pieces() {
    let asked = check([Answer::calls(&[("a", "look", r#"{"x":1}"#), ("b", "look", "{}")])], "");
    let calls = &asked.result.as_ref().unwrap().tool_calls;
    let calls: Vec<_> = calls.iter().map(|call| (&*call.id, call.arguments.as_str())).collect();
    assert_eq!(calls, [("a", r#"{"x":1}"#), ("b", "{}")]);
    assert!(asked.heard.len() > 4, "{:?}", asked.heard);
}

#[test]
fn anthropic_streams_are_read_by_their_own_rules() {
    let events = [
        json!({ "type": "message_start", "message": { "id": "m", "usage": { "input_tokens": 3 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Hi" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let server = Server::script([Answer::stream(vec![Step::Bytes(sse(&events, false))])]);
    let mut endpoint = once(&server);
    endpoint.dialect = Dialect::Anthropic;
    let asked = ask(endpoint);
    assert_eq!(asked.outline(), "Hi");
    let request = &server.requests()[0];
    assert_eq!(
        (request.path.as_str(), request.header("anthropic-version")),
        ("/v1/messages", Some("2023-06-01"))
    );
}

/// What a client makes of bytes of a stream, then nothing more.
fn cut(bytes: &[u8], then: Option<Step>) -> Asked {
    let steps = std::iter::once(Step::Bytes(bytes.to_vec())).chain(then);
    let server = Server::script([Answer::stream(steps.collect())]);
    ask(once(&server))
}

#[test]
fn a_stream_that_ends_anywhere_gives_a_prefix_and_an_error() {
    let whole = sse(&[word("你好 "), word("two"), end("stop")], true);
    // Every 7th byte, so that the test stays quick; the reader of events is tested at every byte.
    for at in (1..whole.len()).step_by(7) {
        for then in [None, Some(Step::Close)] {
            let asked = cut(&whole[..at], then);
            match &asked.result {
                Ok(reply) => assert_eq!(reply.text.as_str(), "你好 two", "at {at}"),
                Err(failure) => {
                    let partial = failure.partial.as_ref().map_or("", |reply| reply.text.as_str());
                    assert!("你好 two".starts_with(partial), "at {at}: {partial}");
                    let code = failure.cause.code();
                    assert!(["LLM_TRUNCATED", "LLM_DISCONNECTED"].contains(&code), "at {at}: {code}");
                }
            }
        }
    }
}

#[test]
fn a_stream_without_its_last_mark_is_whole_if_the_answer_is() {
    check([Answer::stream(vec![Step::Bytes(sse(&[word("Hi"), end("stop")], false))])], "Hi");
}

#[test]
fn a_stall_ends_with_what_came() {
    let asked = cut(&sse(&[word("Hi ")], false), Some(Step::Stall));
    assert_eq!(asked.outline(), "LLM_TIMEOUT after `Hi `");
}

#[test]
fn a_stall_after_a_whole_answer_loses_nothing() {
    assert_eq!(cut(&sse(&[word("Hi"), end("stop")], false), Some(Step::Stall)).outline(), "Hi");
}

#[test]
fn whoever_never_pauses_is_not_listened_to_for_ever() {
    let comments = || Some(Step::Repeat(b": still here\n\n".repeat(100)));
    assert_eq!(cut(b": hello\n\n", comments()).outline(), "LLM_TIMEOUT");
    // The answer is whole: what comes behind it is not waited for.
    assert_eq!(cut(&sse(&[word("Hi"), end("stop")], false), comments()).outline(), "Hi");
}

#[test]
fn what_is_no_json_or_no_text_ends_the_stream() {
    for odd in [b"data: {\"choices\n\n".as_slice(), b"data: \"\xff\"\n\n", b"data: [1]\n\n"] {
        let bytes = [&sse(&[word("Hi ")], false), odd, &sse(&[word("no"), end("stop")], true)].concat();
        assert_eq!(cut(&bytes, None).outline(), "LLM_MALFORMED after `Hi `");
    }
}

#[test]
fn an_error_within_a_stream_ends_it() {
    let error = json!({ "error": { "message": "overloaded", "type": "overloaded_error" } });
    let asked = cut(&sse(&[word("Hi "), error], true), None);
    assert_eq!(asked.outline(), "LLM_UNAVAILABLE after `Hi `");
}

#[test]
fn a_giant_piece_is_taken_up_to_the_limit_and_refused_above() {
    let pieces = [4 << 20, 40 << 20].map(|bytes| "x".repeat(bytes));
    let server = Server::script(pieces.each_ref().map(|text| Answer::text(text)));
    // So much takes its time where nothing is optimized.
    let patient = || Endpoint { time: TimeLimits::default(), ..once(&server) };
    assert_eq!(ask(patient()).outline(), pieces[0]);
    assert_eq!(ask(patient()).outline(), "LLM_TOO_LARGE");
}

#[test]
fn a_giant_answer_is_refused() {
    let server = Server::script([Answer::text(&"x".repeat(100))]);
    let mut endpoint = once(&server);
    endpoint.reply.bytes = 99;
    assert!(ask(endpoint).outline().starts_with("LLM_TOO_LARGE after `xx"));
}

#[test]
fn an_answer_that_is_no_stream_has_the_same_limits() {
    let calls: Vec<_> = (0..129).map(|_| json!({ "function": { "name": "f" } })).collect();
    for message in [json!({ "content": "x".repeat(100) }), json!({ "content": "", "tool_calls": calls })] {
        let body = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
        let server = Server::script([Answer::json(200, &body)]);
        let mut endpoint = once(&server);
        endpoint.reply.bytes = if body.to_string().len() < 1_000 { 99 } else { 1 << 20 };
        assert_eq!(ask(endpoint).outline(), "LLM_TOO_LARGE");
    }
}

#[test]
fn whoever_cancels_gets_what_came() {
    let server = Server::script([Answer::stream(vec![Step::Bytes(sse(&[word("Hi ")], false)), Step::Stall])]);
    let cancel = Cancel::default();
    let asked = ask_with(once(&server), &cancel, |progress, cancel| {
        if matches!(progress, ctx_chat::Progress::Delta(Delta::Text(_))) {
            cancel.cancel();
        }
    });
    assert_eq!(asked.outline(), "LLM_CANCELLED after `Hi `");
}

#[test]
fn whoever_cancelled_before_sends_nothing() {
    let server = Server::script([]);
    let cancel = Cancel::default();
    cancel.cancel();
    assert_eq!(ask_with(once(&server), &cancel, |_, _| ()).outline(), "LLM_CANCELLED");
    assert!(server.requests().is_empty());
}
