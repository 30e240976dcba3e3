//! What a client says when there is no answer.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use ctx_chat::{Client, Endpoint};
use ctx_wire::Dialect;

use crate::client::{ask, check, once};
use crate::server::{Answer, Server, Step};

#[track_caller]
fn check_url(base: &str, expected: Result<&str, &str>) {
    let url = Endpoint::new(Dialect::OpenaiChat, base).url().map_err(|error| error.to_string());
    assert_eq!(url.as_deref().map_err(String::as_str), expected, "{base}");
}

#[test]
fn an_address_without_a_path_gets_the_usual_one() {
    check_url("http://localhost:1", Ok("http://localhost:1/v1/chat/completions"));
    check_url("https://example.org/api/", Ok("https://example.org/api/chat/completions"));
    check_url("https://example.org/v1?key=x#y", Ok("https://example.org/v1/chat/completions?key=x"));
}

#[test]
fn each_dialect_has_an_address_of_its_own() {
    let url = |dialect, model: Option<&str>| {
        let mut endpoint = Endpoint::new(dialect, "http://localhost:1/v1");
        endpoint.model = model.map(str::to_owned);
        endpoint.url().map_err(|error| error.to_string())
    };
    let at = |rest: &str| Ok(format!("http://localhost:1/v1/{rest}"));
    assert_eq!(url(Dialect::OpenaiResponses, None), at("responses"));
    assert_eq!(url(Dialect::Anthropic, None), at("messages"));
    assert_eq!(url(Dialect::Completion, None), at("completions"));
    let gemini = "models/gemini-3:streamGenerateContent?alt=sse";
    assert_eq!(url(Dialect::Gemini, Some("models/gemini-3")), at(gemini));
    for model in ["../../admin", "..\\..\\admin", "a/%2e%2e/../../x"] {
        assert_eq!(
            url(Dialect::Gemini, Some(model)).unwrap_err(),
            "the model name contains `..`, which is not allowed in a URL path"
        );
    }
    let strange = "models/tuned/a%3Fb%23c:streamGenerateContent?alt=sse";
    assert_eq!(url(Dialect::Gemini, Some("tuned/a?b#c")), at(strange));
    assert_eq!(
        url(Dialect::Gemini, None).unwrap_err(),
        "this API dialect requires a model in its URL; set a model"
    );
}

#[test]
fn what_is_no_address_is_refused() {
    check_url(
        "localhost",
        Err("the base URL `localhost` is not valid; use a URL such as `http://localhost:8080/v1`"),
    );
    check_url("file:///etc/passwd", Err("the base URL must start with `http://` or `https://`"));
    let password = "the base URL contains a password; use an API key or a header instead";
    check_url("https://me:secret@example.org", Err(password));
}

#[test]
fn headers_that_cannot_be_sent_are_refused_by_name() {
    let mut endpoint = Endpoint::new(Dialect::OpenaiChat, "http://localhost:1");
    endpoint.headers = vec![("x-a".to_owned(), "no\nline".into())];
    let error = Client::new(endpoint).unwrap_err();
    assert_eq!(error.to_string(), "the value of the header `x-a` is not valid");
}

#[test]
fn reports_refused_connection_without_retry() {
    // The port was free a moment ago, and nobody listens there now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = Endpoint::new(Dialect::OpenaiChat, format!("http://127.0.0.1:{port}"));
    let asked = ask(endpoint);
    assert_eq!(
        asked.result.unwrap_err().cause.to_string(),
        format!("connection refused by `127.0.0.1:{port}`")
    );
}

/// Answers one connection with these bytes, and checks that no other connection is opened.
#[track_caller]
fn check_single_attempt(scheme: &str, answer: &'static str, expected: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut start = [0; 16];
        connection.read_exact(&mut start).unwrap();
        connection.write_all(answer.as_bytes()).unwrap();
        listener.set_nonblocking(true).unwrap();
        (listener, connection)
    });
    let asked = ask(Endpoint::new(Dialect::OpenaiChat, format!("{scheme}://127.0.0.1:{port}")));
    assert_eq!(asked.result.unwrap_err().cause.to_string(), expected);
    let (listener, _connection) = server.join().unwrap();
    assert!(listener.accept().is_err());
}

#[test]
fn reports_web_page_without_retry() {
    check_single_attempt(
        "http",
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>",
        "cannot read the response of the provider: the response is a web page; check the base URL",
    );
}

#[test]
fn reports_redirection_without_retry() {
    check_single_attempt(
        "http",
        "HTTP/1.1 302 Found\r\nlocation: https://other.example/v1/chat/completions\r\ncontent-length: 0\r\n\r\n",
        "the server redirects the request; set the base URL to `https://other.example`",
    );
}

#[test]
fn reports_server_without_tls_without_retry() {
    check_single_attempt(
        "https",
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
        "the server at `127.0.0.1` does not use TLS; use `http://` in the base URL",
    );
}

#[test]
fn an_overflow_is_known_as_one() {
    let long = Answer::error(400, "context_length_exceeded", "maximum context length is 2000 tokens");
    let asked = check([long], "LLM_CONTEXT_OVERFLOW");
    assert!(asked.result.unwrap_err().cause.is_overflow());
}

#[test]
fn a_page_in_place_of_an_answer_is_no_answer() {
    let page = || Answer::stream(vec![Step::Bytes(b"<html>\ndata\n</html>".to_vec())]);
    let server = Server::start(move |_| page());
    assert_eq!(ask(once(&server)).outline(), "LLM_TRUNCATED");
    check([Answer::error(418, "x", "<html>")], "LLM_REFUSED");
}
