//! Streaming responses: pings, backpressure, and interruptions by the client or the provider.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Server, Step, sse, word};
use crate::test_gateway::{TestGateway, read};

const PATHS: [(&str, Dialect); 4] = [
    ("/v1/chat/completions", Dialect::OpenaiChat),
    ("/v1/responses", Dialect::OpenaiResponses),
    ("/v1/messages", Dialect::Anthropic),
    ("/v1beta/models/ada:streamGenerateContent?alt=sse", Dialect::Gemini),
];

/// Returns a streaming request in an API dialect.
pub(crate) fn stream_request(dialect: Dialect, conversation: &str) -> Value {
    let user = json!([{ "role": "user", "content": "Hello" }]);
    let metadata = json!({ "conversation": conversation });
    match dialect {
        Dialect::Gemini => {
            json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hello" }] }], "metadata": metadata })
        }
        Dialect::OpenaiResponses => {
            json!({ "model": "ada", "stream": true, "input": "Hello", "metadata": metadata })
        }
        _ => {
            json!({ "model": "ada", "stream": true, "max_tokens": 9, "messages": user, "metadata": metadata })
        }
    }
}

/// Returns the message of an error in any API dialect.
pub(crate) fn error_of(value: &Value) -> Option<&str> {
    let error = value.get("error").or_else(|| value.pointer("/response/error"))?;
    error.get("message")?.as_str()
}

#[test]
fn returns_early_errors_in_format_of_api() {
    for (path, dialect) in PATHS {
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::error(400, "odd", "not like this")]);
        let response = gateway.post(path, &stream_request(dialect, "c"));
        assert_eq!(response.status, 400, "{response:?}");
        let value = response.json();
        assert!(error_of(&value).unwrap().contains("not like this"), "{response:?}");
        match dialect {
            Dialect::Anthropic => assert_eq!(value["type"], "error"),
            Dialect::Gemini => assert_eq!(value["error"]["status"], "INVALID_ARGUMENT"),
            _ => assert_eq!(value["error"]["type"], "invalid_request_error"),
        }
    }
}

#[test]
fn fails_within_a_stream_that_the_provider_accepted() {
    for (path, dialect) in PATHS {
        let error = json!({ "error": { "message": "not like this", "type": "error", "code": "odd" } });
        let answer = || Answer::events(std::slice::from_ref(&error));
        // The request is tried twice.
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![answer(), answer()]);
        let response = gateway.post(path, &stream_request(dialect, "c"));
        assert_eq!(response.status, 200, "{response:?}");
        let events = response.events();
        assert_eq!(events.len(), 1, "{response:?}");
        assert!(error_of(&events[0]).unwrap().contains("not like this"), "{response:?}");
    }
}

#[test]
fn sends_pings_before_the_first_chunk() {
    let pings = [": ping\n\n", ": ping\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n", "\n"];
    for ((path, dialect), ping) in PATHS.into_iter().zip(pings) {
        let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
        let provider = Server::script([Answer::stream(vec![Step::Stall])]);
        let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
            options.time.ping = Duration::from_millis(10);
        });
        let mut stream = gateway.send("POST", path, &[], stream_request(dialect, "c").to_string().as_bytes());
        let chunk = format!("\r\n{:X}\r\n{ping}", ping.len());
        let (mut received, mut bytes) = (String::new(), [0; 1024]);
        while received.matches(&chunk).count() < 2 {
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "{received}");
            received.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
        assert!(received.starts_with("HTTP/1.1 200 "), "{received}");
    }
}

#[test]
fn stores_partial_reply_after_interruption() {
    for (path, dialect) in PATHS {
        let steps = vec![Step::Bytes(sse(&[word("One "), word("two")], false)), Step::Close];
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::stream(steps)]);
        let response = gateway.post(path, &stream_request(dialect, "c"));
        assert_eq!(response.status, 200, "{response:?}");
        let events = response.events();
        assert!(response.body.contains("One ") && events.last().and_then(error_of).is_some(), "{response:?}");
        let stored = gateway.get("/conversations/c").json();
        assert!(stored["messages"][1]["content"].as_str().unwrap().starts_with("One two"), "{stored}");
    }
}

#[test]
fn stores_partial_reply_after_disconnect() {
    let steps = vec![Step::Bytes(sse(&[word("One "), word("two")], false)), Step::Stall];
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::stream(steps)]);
    let body = stream_request(Dialect::OpenaiChat, "c").to_string();
    let mut lines = BufReader::new(gateway.send("POST", "/v1/chat/completions", &[], body.as_bytes()));
    let mut line = String::new();
    while !line.contains("two") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0);
    }
    drop(lines);
    // The turn has ended when the conversation can be entered again: another request waits for it.
    let undone = gateway.ask("POST", "/conversations/c/undo", &[], b"");
    assert_eq!(undone.status, 200, "{undone:?}");
    gateway.ask("POST", "/conversations/c/redo", &[], b"");
    let stored = gateway.get("/conversations/c").json();
    assert_eq!(stored["messages"][1]["content"], "One two", "{stored}");
}

/// Starts a provider that streams without end. Returns its base URL, and the number of bytes until the client stopped
/// reading.
fn endless_provider() -> (String, mpsc::Receiver<Option<usize>>) {
    const TOO_MUCH: usize = 64 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
        let mut head = [0; 4096];
        assert!(stream.read(&mut head).unwrap() > 0);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            .unwrap();
        let (chunk, mut sent) = (sse(&[word("a")], false), 0);
        while sent < TOO_MUCH && stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
        }
        sender.send(Some(sent).filter(|sent| *sent < TOO_MUCH)).unwrap();
    });
    (format!("http://{address}/v1"), receiver)
}

#[test]
fn slows_provider_for_client_that_does_not_read() {
    let (address, receiver) = endless_provider();
    let gateway = TestGateway::with_base_url(&address);
    let body = stream_request(Dialect::OpenaiChat, "c").to_string();
    let stream = gateway.send("POST", "/v1/chat/completions", &[], body.as_bytes());
    let sent = receiver.recv().unwrap();
    assert!(sent.is_some(), "64 MiB were taken from the provider while nobody read");
    drop(stream);
}

#[test]
fn begins_streams_that_wait_for_another_turn() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let (release, released) = mpsc::channel::<()>();
    let provider = Server::start(move |_| {
        released.recv().unwrap_or_default();
        Answer::json(200, &json!({ "choices": [{ "message": { "role": "assistant", "content": "Hi." } }] }))
    });
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.time.ping = Duration::from_millis(10);
    });
    let mut body = stream_request(Dialect::OpenaiChat, "c");
    body["stream"] = json!(false);
    let running = gateway.send("POST", "/v1/chat/completions", &[], body.to_string().as_bytes());
    while gateway.get("/conversations/c").status == 404 {}
    let body = stream_request(Dialect::OpenaiChat, "c").to_string();
    let mut waiting = gateway.send("POST", "/v1/chat/completions", &[], body.as_bytes());
    let mut head = [0; 15];
    waiting.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    drop((waiting, release));
    assert_eq!(read(running).status, 200);
}

#[test]
fn drains_turns_at_shutdown() {
    let steps = vec![Step::Bytes(sse(&[word("One ")], false)), Step::Stall];
    let mut gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::stream(steps)]);
    let body = stream_request(Dialect::OpenaiChat, "c").to_string();
    let stream = gateway.send("POST", "/v1/chat/completions", &[], body.as_bytes());
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while !line.contains("One ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0);
    }
    gateway.ask_to_close();
    let rest = read(stream);
    assert!(rest.head.contains("stopped") || rest.body.contains("stopped"), "{rest:?}");
    let folder = gateway.close();
    let again = TestGateway::open(folder, Dialect::OpenaiChat, Server::script([]));
    let stored = again.get("/conversations/c").json();
    assert_eq!(stored["messages"][1]["content"], "One ", "{stored}");
}
