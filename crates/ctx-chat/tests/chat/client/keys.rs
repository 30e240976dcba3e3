//! Keys are sent, and shown nowhere.

use std::io::Write as _;

use ctx_chat::{ApiKey, Client, Endpoint};
use ctx_wire::Dialect;

use crate::client::logs;
use crate::client::{ask, once};
use crate::server::{Answer, Server, Step, sse, word};

/// The key that must appear nowhere but in the header of requests.
const CANARY: &str = "sk-TESTCANARY0123456789";

fn with_key(server: &Server) -> Endpoint {
    let mut endpoint = once(server);
    endpoint.key = Some(ApiKey::new(CANARY, "the test").unwrap());
    endpoint.headers = vec![("x-team".to_owned(), CANARY.into())];
    endpoint
}

#[test]
fn a_key_goes_where_the_dialect_wants_it() {
    let server = Server::script([Answer::text("Hi"), Answer::text("Hi")]);
    ask(with_key(&server));
    let mut endpoint = with_key(&server);
    endpoint.dialect = Dialect::Anthropic;
    ask(endpoint);
    let [first, second] = &server.requests()[..] else { panic!() };
    assert_eq!(first.header("authorization"), Some("Bearer sk-TESTCANARY0123456789"));
    assert_eq!((second.header("x-api-key"), second.header("authorization")), (Some(CANARY), None));
    assert_eq!(first.header("x-team"), Some(CANARY));
}

#[test]
fn a_provider_that_repeats_the_key_is_not_repeated() {
    let echo = format!("no such key: {CANARY}");
    let error = serde_json::json!({ "error": { "message": echo, "code": CANARY } });
    let answers = [
        Answer::error(401, CANARY, &echo),
        Answer::json(200, &error),
        Answer::events(&[error]),
        Answer::stream(vec![Step::Bytes(format!("data: {CANARY}\n\n").into_bytes())]),
        Answer::stream(vec![Step::Bytes(sse(&[serde_json::json!([CANARY])], false))]),
        Answer::error(503, "x", &echo),
    ];
    for answer in answers {
        let server = Server::start(move |_| answer.clone());
        let mut endpoint = with_key(&server);
        endpoint.retry.retries = 1;
        let asked = ask(endpoint);
        let failure = asked.result.unwrap_err();
        let shown = format!("{failure} {failure:?} {:?} {:?}", failure.cause.failure(), asked.heard);
        assert!(!shown.contains("CANARY"), "{shown}");
    }
}

#[test]
fn a_key_that_is_cut_off_with_its_text_is_not_shown_in_part() {
    // Texts of others are shortened: somewhere in here the end falls into the key.
    for before in (0..600).step_by(5) {
        let echo = format!("{}{CANARY}", "x".repeat(before));
        let answers = [
            Answer::error(400, "x", &echo),
            Answer::stream(vec![Step::Bytes(format!("data: {echo}\n\n").into_bytes())]),
        ];
        for answer in answers {
            let asked = ask(with_key(&Server::script([answer])));
            let failure = asked.result.unwrap_err();
            assert!(!format!("{failure} {failure:?}").contains("sk-TES"), "{before}: {failure}");
        }
    }
}

#[test]
fn nothing_shows_a_key_by_itself() {
    let server = Server::script([]);
    let endpoint = with_key(&server);
    let client = Client::new(endpoint.clone()).unwrap();
    let shown = format!("{endpoint:?} {client:?} {:#?}", endpoint.key);
    assert!(!shown.contains("CANARY") && shown.contains("from the test"), "{shown}");
}

#[test]
fn a_file_with_a_key_may_end_its_line() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{CANARY}").unwrap();
    let key = ApiKey::from_file(file.path()).unwrap();
    assert_eq!(key.redact(format!("<{CANARY}>")), "<[redacted]>");
}

#[track_caller]
fn check_refused(key: &str, expected: &str) {
    let error = ApiKey::new(key, "`K`").unwrap_err().to_string();
    assert_eq!(error, expected);
}

#[test]
fn what_is_no_key_is_refused_without_being_shown() {
    check_refused("  \n", "the API key from `K` is empty");
    check_refused("sk-a b", "the API key from `K` contains spaces or invalid characters");
    let missing = ApiKey::from_env("CTX_TEST_NO_SUCH_KEY").unwrap_err().to_string();
    assert_eq!(missing, "the environment variable `CTX_TEST_NO_SUCH_KEY` is not set");
    assert!(ApiKey::from_file(std::path::Path::new("/no/such/file")).is_err());
}

#[test]
fn no_log_has_a_key_in_it_whatever_is_listened_to() {
    logs::listen();
    let echo = format!("no such key: {CANARY}");
    let server = Server::script([
        Answer::error(503, CANARY, &echo),
        Answer::text("Hi"),
        Answer::error(401, CANARY, &echo),
        Answer::stream(vec![Step::Close]),
        Answer::stream(vec![Step::Bytes(sse(&[word("Hi "), serde_json::json!({ "error": echo })], false))]),
    ]);
    for expected in ["Hi", "LLM_UNAUTHORIZED", "LLM_DISCONNECTED", "LLM_UNAVAILABLE after `Hi `"] {
        let mut endpoint = with_key(&server);
        endpoint.retry.retries = usize::from(expected == "Hi");
        assert_eq!(ask(endpoint).outline(), expected);
    }
    let heard = logs::heard();
    assert!(heard.contains("retrying a request"), "our own logs are heard: {heard}");
    assert!(heard.contains("reqwest") || heard.contains("hyper"), "those of libraries are heard: {heard}");
    assert!(!heard.contains("CANARY"), "{heard}");
}
