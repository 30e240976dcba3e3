//! Requests that the gateway must reject.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use ctx_gateway::{KeyFile, KeyLimits, TimeLimits};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::bytes::complete_response;
use crate::server::{Answer, Server};
use crate::streams::error_of;
use crate::test_gateway::{PROVIDER_KEY, TestGateway, read};

/// Paths of all API dialects.
const PATHS: [&str; 4] =
    ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/ada:generateContent"];

fn gateway_with_two_keys() -> TestGateway {
    let gateway = TestGateway::with(Dialect::OpenaiChat, vec![], &["alice", "bob"]);
    let folder = gateway.close();
    TestGateway::open(folder, Dialect::OpenaiChat, Server::start(|_| complete_response(Dialect::OpenaiChat)))
}

/// Sends messages with the key of this name.
fn send(
    gateway: &TestGateway,
    name: &str,
    messages: &Value,
    headers: &[(&str, &str)],
) -> crate::test_gateway::TestResponse {
    let key = gateway.key(name);
    let body = json!({ "model": "ada", "messages": messages }).to_string();
    let headers = [&[("authorization", key.as_str())], headers].concat();
    gateway.ask("POST", "/v1/chat/completions", &headers, body.as_bytes())
}

fn get(gateway: &TestGateway, name: &str, path: &str) -> crate::test_gateway::TestResponse {
    gateway.ask("GET", path, &[("authorization", &gateway.key(name))], b"")
}

#[test]
fn hides_conversations_of_other_keys() {
    let gateway = gateway_with_two_keys();
    let hello = json!([{ "role": "user", "content": "Hello" }]);
    let named = [("x-ctx-conversation", "diary")];
    let first = send(&gateway, "alice", &hello, &named);
    assert_eq!(first.status, 200, "{first:?}");
    let turn = first.header("x-ctx-turn").unwrap();
    for path in [
        "/conversations/diary".to_owned(),
        format!("/conversations/diary/turns/{turn}"),
        "/conversations/alice%2Fdiary".to_owned(),
        "/conversations/..%2Falice%2Fdiary".to_owned(),
        format!("/conversations/..%2Falice%2Fdiary/turns/{turn}"),
    ] {
        assert_eq!(get(&gateway, "bob", &path).status, 404, "{path}");
    }
    assert_eq!(get(&gateway, "bob", "/conversations").json()["data"], json!([]));
    for name in ["diary", "../alice/diary", "alice/diary"] {
        let other = send(&gateway, "bob", &hello, &[("x-ctx-conversation", name)]);
        assert_eq!(other.status, 200, "{other:?}");
        let sent = gateway.provider.requests().pop().unwrap().messages();
        assert_eq!(sent.iter().filter(|(_, text)| text == "Hello").count(), 1, "{sent:?}");
    }
    let undo = gateway.ask(
        "POST",
        "/conversations/..%2Falice%2Fdiary/undo",
        &[("authorization", &gateway.key("bob"))],
        b"",
    );
    assert_ne!(undo.status, 500);
    let kept = get(&gateway, "alice", "/conversations/diary").json();
    assert_eq!(kept["messages"].as_array().unwrap().len(), 2, "{kept}");
}

#[test]
fn rejects_wrong_keys_without_showing_them() {
    let gateway = gateway_with_two_keys();
    for path in PATHS {
        for key in ["Bearer sk-wrong-canary", "Bearer ", "Basic c2std3Jvbmc6"] {
            let response = gateway.ask("POST", path, &[("authorization", key)], b"{}");
            assert_eq!(response.status, 401, "{response:?}");
            assert!(
                error_of(&response.json()).is_some() && !response.body.contains("canary"),
                "{response:?}"
            );
        }
    }
    for path in ["/v1/models", "/metrics", "/conversations", "/conversations/c", "/conversations/c/turns/n1"]
    {
        assert_eq!(gateway.get(path).status, 401, "{path}");
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}

#[test]
fn redacts_provider_key_in_errors() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        let words = format!("Incorrect API key provided: {PROVIDER_KEY}.");
        let gateway = TestGateway::open(
            TestGateway::new(Dialect::OpenaiChat, vec![]).close(),
            Dialect::OpenaiChat,
            Server::start(move |_| Answer::error(status, "odd", &words).with_header("retry-after: 600")),
        );
        for path in PATHS {
            let response = gateway.post(path, &crate::streams::stream_request(dialect_of(path), "c"));
            assert!(response.status >= 400 && error_of(&response.json()).is_some(), "{response:?}");
            assert!(!response.head.contains("canary") && !response.body.contains("canary"), "{response:?}");
        }
        assert!(!gateway.get("/conversations/c").body.contains("canary"));
    }
}

fn dialect_of(path: &str) -> Dialect {
    match path {
        "/v1/messages" => Dialect::Anthropic,
        "/v1/responses" => Dialect::OpenaiResponses,
        path if path.starts_with("/v1beta") => Dialect::Gemini,
        _ => Dialect::OpenaiChat,
    }
}

#[test]
fn rejects_bodies_above_key_limit() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let mut keys = KeyFile::default();
    let key = keys.add("small", None, KeyLimits { bytes: Some(1_000), ..KeyLimits::default() }).unwrap();
    keys.write(&folder.path().join(KeyFile::NAME)).unwrap();
    let gateway = TestGateway::open(folder, Dialect::OpenaiChat, Server::script([]));
    let key = format!("Bearer {}", key.reveal());
    for path in PATHS {
        let response = gateway.ask("POST", path, &[("authorization", &key)], &[b' '; 1_001]);
        assert_eq!(response.status, 413, "{response:?}");
        assert!(error_of(&response.json()).is_some(), "{response:?}");
    }
}

#[test]
fn times_out_incomplete_bodies() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let time = TimeLimits {
        body: Duration::from_millis(100),
        head: Duration::from_millis(100),
        ..TimeLimits::default()
    };
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, Server::script([]), |options| {
        options.time = time;
    });
    let mut slow = TcpStream::connect(gateway.address).unwrap();
    write!(slow, "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{{").unwrap();
    let response = read(slow);
    assert_eq!(
        (response.status, &response.json()["error"]["type"]),
        (408, &json!("timeout_error")),
        "{response:?}"
    );
    let mut slower = TcpStream::connect(gateway.address).unwrap();
    write!(slower, "POST /v1/messages HT").unwrap();
    // Whoever does not finish the head gets no answer, and no connection.
    assert_ne!(read(slower).status, 200);
}

#[test]
fn serves_only_local_programs_without_keys() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let ask = |headers: &str| {
        let mut stream = TcpStream::connect(gateway.address).unwrap();
        write!(stream, "GET /v1/models HTTP/1.1\r\nconnection: close\r\n{headers}\r\n").unwrap();
        read(stream).status
    };
    assert_eq!(ask("host: localhost:1\r\n"), 200);
    assert_eq!(ask("host: [::1]:80\r\norigin: http://[::1]:80\r\n"), 200);
    for headers in [
        "host: evil.example\r\n",
        "host: localhost.evil.example\r\n",
        "host: localhost\r\nhost: evil.example\r\n",
        "host: localhost\r\norigin: http://evil.example\r\n",
        "host: localhost\r\norigin: null\r\n",
        "host: localhost:1\r\norigin: http://localhost:3000\r\n",
        "host: localhost:1\r\norigin: https://localhost:1\r\n",
        "host: localhost:1\r\norigin: http://localhost:1\r\norigin: http://localhost:3000\r\n",
        "",
    ] {
        assert!([400, 403].contains(&ask(headers)), "{headers:?}");
    }
}

#[test]
fn allows_only_named_origins() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, Server::script([]), |options| {
        options.origins = vec!["https://app.example".to_owned()];
    });
    let preflight = |origin: &str| {
        let wanted =
            [("access-control-request-method", "POST"), ("access-control-request-headers", "x-api-key")];
        gateway.ask("OPTIONS", PATHS[0], &[&[("origin", origin)], &wanted[..]].concat(), b"")
    };
    let allowed = preflight("https://app.example");
    let names = ["access-control-allow-origin", "access-control-allow-headers"];
    let values = names.map(|name| allowed.header(name));
    assert_eq!((allowed.status, values), (200, [Some("https://app.example"), Some("x-api-key")]));
    assert_eq!(preflight("https://evil.example").header(names[0]), None);
    let get = |origin: &str| gateway.ask("GET", "/v1/models", &[("origin", origin)], b"");
    let response = get("https://app.example");
    assert_eq!(
        (response.status, response.header("access-control-expose-headers")),
        (200, Some("*")),
        "{response:?}"
    );
    assert_eq!(get("https://evil.example").status, 403);
}

#[test]
fn requires_json_content_type_without_keys() {
    let user = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] }).to_string();
    let ask = |gateway: &TestGateway, content_type: &str| {
        let mut stream = TcpStream::connect(gateway.address).unwrap();
        let head =
            format!("POST {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", PATHS[0], gateway.address);
        write!(stream, "{head}{content_type}content-length: {}\r\n\r\n{user}", user.len()).unwrap();
        read(stream).status
    };
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![complete_response(Dialect::OpenaiChat)]);
    for content_type in [
        "",
        "content-type: text/plain\r\n",
        "content-type: application/x-www-form-urlencoded\r\n",
        "content-type: text/plain; application/json\r\n",
    ] {
        assert_eq!(ask(&gateway, content_type), 415, "{content_type:?}");
    }
    assert_eq!(ask(&gateway, "content-type: Application/JSON; charset=utf-8\r\n"), 200);
}

#[test]
fn rejects_bodies_above_size_and_memory_limits() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let long = gateway.begin(("POST", PATHS[0]), &[], (b"{", (16 << 20) + 1));
    assert_eq!(read(long).status, 413);
    let zeros = "0,".repeat(4 << 20);
    for path in PATHS {
        let response = gateway.ask("POST", path, &[], format!("{{\"a\":[{zeros}0]}}").as_bytes());
        assert_eq!(response.status, 413, "{response:?}");
        assert!(
            error_of(&response.json()).is_some_and(|error| error.contains("too many values")),
            "{response:?}"
        );
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}

#[test]
fn accepts_a_key_from_any_of_its_places() {
    let gateway = gateway_with_two_keys();
    let alice = gateway.key("alice");
    let key = alice.strip_prefix("Bearer ").unwrap();
    for headers in [
        vec![("authorization", format!("bearer {key}"))],
        vec![("authorization", "Bearer sk-placeholder".to_owned()), ("x-api-key", key.to_owned())],
        vec![("authorization", "Bearer sk-placeholder".to_owned()), ("x-goog-api-key", key.to_owned())],
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        assert_eq!(gateway.ask("GET", "/v1/models", &headers, b"").status, 200, "{headers:?}");
    }
    let wrong = [("authorization", "Bearer sk-placeholder"), ("x-api-key", "ctx-wrong")];
    assert_eq!(gateway.ask("GET", "/v1/models", &wrong, b"").status, 401);
}

#[test]
fn rejects_all_requests_with_empty_key_file() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    std::fs::write(folder.path().join(KeyFile::NAME), r#"{"keys":[]}"#).unwrap();
    let gateway = TestGateway::open(folder, Dialect::OpenaiChat, Server::script([]));
    assert_eq!(gateway.get("/v1/models").status, 401);
}

#[test]
fn rejects_revoked_key_without_restart() {
    let gateway = gateway_with_two_keys();
    let path = gateway.folder.path().join(KeyFile::NAME);
    let status = |name: &str| get(&gateway, name, "/v1/models").status;
    assert_eq!(status("alice"), 200);
    let mut keys = KeyFile::read(&path).unwrap();
    keys.revoke("alice").unwrap();
    keys.write(&path).unwrap();
    while status("alice") != 401 {}
    assert_eq!(status("bob"), 200);
    // A gateway with keys never becomes a gateway without keys.
    std::fs::remove_file(&path).unwrap();
    while status("bob") != 401 {}
    assert_eq!(gateway.get("/v1/models").status, 401);
}

#[test]
fn rejects_repeated_lengths_and_names() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let ask = |head: &str| {
        let mut stream = TcpStream::connect(gateway.address).unwrap();
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{head}\r\n"
        )
        .unwrap();
        read(stream)
    };
    let smuggled = "POST /v1/models HTTP/1.1\r\n\r\n";
    for head in [
        format!("content-length: 0\r\ncontent-length: {}\r\n\r\n{smuggled}", smuggled.len()),
        format!("content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"),
        "transfer-encoding: chunked, identity\r\n\r\n0\r\n".to_owned(),
    ] {
        let response = ask(&head);
        assert_eq!(response.status, 400, "{head:?} {response:?}");
        assert_eq!(response.body.matches("HTTP/1.1").count(), 0, "{response:?}");
    }
    let twice =
        gateway.ask("POST", PATHS[0], &[("x-ctx-conversation", "a"), ("x-ctx-conversation", "b")], b"{}");
    assert_eq!(twice.status, 400, "{twice:?}");
}

#[test]
fn prevents_header_injection_by_names() {
    let folder = TestGateway::new(Dialect::Anthropic, vec![]).close();
    let provider = Server::start(|_| complete_response(Dialect::Anthropic));
    let gateway = TestGateway::open_with(folder, Dialect::Anthropic, provider, |options| {
        options.on_loss = Some(ctx_project::OnLoss::Drop);
    });
    let evil = "c\r\nx-evil: 1";
    let user = json!([{ "role": "user", "content": "Hello" }]);
    for (body, status) in [
        (json!({ "model": "ada", "messages": user, "metadata": { "conversation": evil } }), 400),
        (json!({ "model": evil, "messages": user }), 404),
        (json!({ "model": "ada", "messages": user, evil: true }), 200),
    ] {
        let response = gateway.post(PATHS[0], &body);
        assert_eq!((response.status, response.header("x-evil")), (status, None), "{response:?}");
    }
}

#[test]
fn ignores_targets_named_by_clients() {
    let gateway = TestGateway::new(Dialect::Gemini, vec![]);
    let elsewhere = Server::script([]);
    let address = elsewhere.base_url();
    let user = json!([{ "role": "user", "content": "Hello" }]);
    for model in ["ada@../../../x", "ada@models/../../y", &format!("ada@{address}"), "../ada", "ada@"] {
        let response = gateway.post(PATHS[0], &json!({ "model": model, "messages": user }));
        assert!(response.status >= 400, "{model} {response:?}");
    }
    let body = json!({ "model": "ada", "messages": user, "base_url": address, "api_base": address });
    let headers = [
        ("x-base-url", address.as_str()),
        ("x-forwarded-host", "evil.example"),
        ("x-ctx-upstream", &address),
    ];
    gateway.ask("POST", PATHS[0], &headers, body.to_string().as_bytes());
    assert_eq!(elsewhere.requests().len(), 0);
    let paths: Vec<String> = gateway.provider.requests().into_iter().map(|request| request.path).collect();
    assert!(paths.iter().all(|path| path.starts_with("/v1/models/") && !path.contains("..")), "{paths:?}");
}

#[test]
fn repairs_many_calls_without_results() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let call = |number: usize| {
        json!({ "id": format!("c{number}"), "type": "function",
        "function": { "name": "look", "arguments": "{}" } })
    };
    let calls: Vec<Value> = (0..5_000).map(call).collect();
    let messages = json!([{ "role": "user", "content": "Look." }, { "role": "assistant", "tool_calls": calls },
        { "role": "user", "content": "Hello" }]);
    let body = json!({ "model": "ada", "messages": messages }).to_string();
    let response = gateway.ask("POST", PATHS[0], &[("x-ctx-dry-run", "1")], body.as_bytes());
    assert_eq!(response.status, 200, "{}", response.head);
    assert_eq!(response.body.matches("\"tool_call_id\"").count(), 5_000);
}

/// Returns a valid body.
fn valid(path: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    match path {
        "/v1/chat/completions" => json!({ "model": "ada", "messages": [
            { "role": "system", "content": "Be exact." },
            { "role": "user", "content": [{ "type": "text", "text": "Rain?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } }] },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "c1", "content": "red" }],
            "tools": [{ "type": "function", "function": { "name": "look", "parameters": schema } }],
            "tool_choice": "auto", "stream": false, "temperature": 1, "metadata": { "conversation": "c" } }),
        "/v1/responses" => json!({ "model": "ada", "instructions": "Be exact.", "input": [
            { "role": "user", "content": [{ "type": "input_text", "text": "Rain?" }] },
            { "type": "reasoning", "id": "r", "summary": [] },
            { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "red" }],
            "tools": [{ "type": "function", "name": "look", "parameters": schema }], "text": { "format": { "type": "text" } },
            "reasoning": { "effort": "low" }, "tool_choice": "auto", "conversation": { "id": "c" } }),
        "/v1/messages" => {
            json!({ "model": "ada", "max_tokens": 9, "system": [{ "type": "text", "text": "Be exact." }],
            "messages": [
                { "role": "user", "content": "Rain?" },
                { "role": "assistant", "content": [{ "type": "thinking", "thinking": "Hm.", "signature": "s" },
                    { "type": "tool_use", "id": "c1", "name": "look", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "is_error": false,
                    "content": [{ "type": "text", "text": "red" }] }] }],
            "tools": [{ "name": "look", "input_schema": schema }], "tool_choice": { "type": "auto" } })
        }
        _ => json!({ "systemInstruction": { "parts": [{ "text": "Be exact." }] }, "contents": [
            { "role": "user", "parts": [{ "text": "Rain?" }, { "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "look", "args": {} } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "look", "response": { "output": "red" } } }] }],
            "tools": [{ "functionDeclarations": [{ "name": "look", "parameters": { "type": "OBJECT" } }] }],
            "toolConfig": { "functionCallingConfig": { "mode": "AUTO" } }, "generationConfig": { "topK": 4 } }),
    }
}

/// Deterministic pseudorandom numbers.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

/// Collects the pointers of all values.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in inner {
        pointers(value, &format!("{at}/{key}"), found);
    }
}

/// Returns a malformed body: replaces 1 or 2 values, or removes or changes bytes.
fn malformed_body(valid: &Value, random: &mut RandomNumbers) -> Vec<u8> {
    let mut value = valid.clone();
    for _ in 0..=random.below(2) {
        let mut places = Vec::new();
        pointers(&value, "", &mut places);
        let deep = (0..60).fold(json!("deep"), |inner, _| json!([inner]));
        let odd = [
            Value::Null,
            json!(true),
            json!(-1),
            json!(1e300),
            json!(""),
            json!("\u{0}\u{fffd}😀"),
            json!([]),
            json!({}),
            json!([null]),
            json!({ "type": "odd" }),
            json!("x".repeat(5_000)),
            deep,
        ];
        let place = places.swap_remove(random.below(places.len()));
        if let Some(spot) = value.pointer_mut(&place) {
            *spot = odd[random.below(odd.len())].clone();
        }
    }
    let mut bytes = value.to_string().into_bytes();
    match random.below(6) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            let at = random.below(bytes.len());
            bytes[at] = u8::try_from(random.below(256)).unwrap();
        }
        _ => {}
    }
    bytes
}

/// `cargo xtask malformed` tries 10,000 bodies for each dialect.
#[test]
fn reports_malformed_bodies_in_format_of_api() {
    let count = std::env::var("CTX_MALFORMED").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    let gateway = TestGateway::new(Dialect::Anthropic, vec![]);
    for path in PATHS {
        let (valid, mut random, mut refused) = (valid(path), RandomNumbers(7), 0);
        let dry = [("x-ctx-dry-run", "1")];
        let good = gateway.ask("POST", path, &dry, valid.to_string().as_bytes());
        assert_eq!(good.status, 200, "{good:?}");
        for _ in 0..count {
            let body = malformed_body(&valid, &mut random);
            let response = gateway.ask("POST", path, &dry, &body);
            let shown = String::from_utf8_lossy(&body);
            if response.status == 200 {
                continue;
            }
            refused += 1;
            assert!((400..500).contains(&response.status), "{path} {shown} {response:?}");
            let value = response.json();
            assert!(
                error_of(&value).is_some_and(|message| message.len() > 10),
                "{path} {shown} {response:?}"
            );
            match dialect_of(path) {
                Dialect::Anthropic => assert!(value["error"]["type"].is_string() && value["type"] == "error"),
                Dialect::Gemini => assert!(value["error"]["status"].is_string()),
                _ => assert!(value["error"]["code"].is_string()),
            }
        }
        assert!(refused > count / 4, "{path}: {refused} of {count} were refused");
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}
