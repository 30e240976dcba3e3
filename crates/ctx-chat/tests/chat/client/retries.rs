//! When a request is sent again, and when not.

use std::time::Duration;

use ctx_chat::{Endpoint, Progress, RetryPolicy};

use crate::client::{ask, check, endpoint};
use crate::server::{Answer, Server, Step, sse, word};

/// Asks a server whose first answer is this, then another; tells how often it was asked.
fn asked_after(first: Answer) -> usize {
    let server = Server::script([first, Answer::text("Hi")]);
    ask(endpoint(&server));
    server.requests().len()
}

#[test]
fn what_may_pass_is_tried_again() {
    for (status, code) in [(429, "rate_limit_exceeded"), (500, "server_error"), (503, "x"), (408, "x")] {
        let asked = check([Answer::error(status, code, "later"), Answer::text("Hi")], "Hi");
        assert_eq!(asked.retries(), 1, "{status}");
    }
}

#[test]
fn what_cannot_pass_is_not_tried_again() {
    let cases = [
        (400, "invalid_request_error"),
        (400, "context_length_exceeded"),
        (401, "invalid_api_key"),
        (404, "model_not_found"),
        (429, "insufficient_quota"),
    ];
    for (status, code) in cases {
        assert_eq!(asked_after(Answer::error(status, code, "no")), 1, "{status} {code}");
    }
}

#[test]
fn a_connection_or_stream_that_breaks_before_a_word_is_tried_again() {
    assert_eq!(asked_after(Answer::stream(vec![Step::Close])), 2);
    assert_eq!(asked_after(Answer::stream(vec![])), 2);
    assert_eq!(asked_after(Answer::stream(vec![Step::Stall])), 2);
}

#[test]
fn nothing_is_sent_again_after_the_first_word() {
    for then in [Step::Close, Step::Stall, Step::Bytes(b"data: {\n\n".to_vec())] {
        assert_eq!(asked_after(Answer::stream(vec![Step::Bytes(sse(&[word("Hi")], false)), then])), 1);
    }
}

#[test]
fn the_wait_is_at_least_what_the_provider_asks_for() {
    let busy = Answer::error(429, "rate_limit_exceeded", "later").with_header("retry-after-ms: 30");
    let asked = check([busy, Answer::text("Hi")], "Hi");
    let Some(Progress::Retry { wait, attempt: 1, .. }) = asked.heard.get(1) else {
        panic!("{:?}", asked.heard)
    };
    assert!(*wait >= Duration::from_millis(30), "{wait:?}");
}

#[test]
fn whoever_asks_for_too_long_a_wait_is_not_waited_for() {
    let busy = Answer::error(429, "rate_limit_exceeded", "later").with_header("retry-after: 3600");
    let asked = check([busy, Answer::text("Hi")], "LLM_RATE_LIMITED");
    let error = asked.result.unwrap_err().to_string();
    assert_eq!(error, "the provider rejected the request: status 429: later; retry after 3600 s");
}

#[test]
fn attempts_come_to_an_end() {
    let server = Server::start(|_| Answer::error(500, "server_error", "broken"));
    let endpoint = endpoint(&server);
    let retry = RetryPolicy { retries: 3, ..endpoint.retry };
    let asked = ask(Endpoint { retry, ..endpoint });
    assert_eq!((asked.outline().as_str(), asked.retries()), ("LLM_UNAVAILABLE", 3));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn every_attempt_sends_the_same_bytes() {
    let server = Server::script([Answer::error(500, "x", "x"), Answer::text("Hi")]);
    ask(endpoint(&server));
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body);
}
