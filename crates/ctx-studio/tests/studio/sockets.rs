//! The socket of a window.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Running, folder, project, start};

/// Opens a socket; returns the status, and the stream behind the head.
fn open(server: &Running, path: &str, headers: &[(&str, &str)]) -> (u16, TcpStream) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        server.host()
    );
    for (name, value) in headers {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    stream.write_all((head + "\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        answer.push(byte[0]);
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0), stream)
}

/// Reads one short text.
fn notice(stream: &mut TcpStream) -> Value {
    let mut head = [0; 2];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[0], 0x81, "a whole text");
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            usize::from(u16::from_be_bytes(length))
        }
        length => usize::from(length),
    };
    let mut text = vec![0; length];
    stream.read_exact(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn only_the_page_itself_opens_a_socket() {
    let place = folder();
    let server = start(&place);
    let own = format!("http://{}", server.host());
    let protocols = format!("ctx, {}", server.token);
    let check = |headers: &[(&str, &str)], expected: u16| {
        assert_eq!(open(&server, "/api/events", headers).0, expected, "{headers:?}");
    };
    check(&[("origin", &own), ("sec-websocket-protocol", &protocols)], 101);
    check(&[("sec-websocket-protocol", &protocols)], 403);
    check(&[("origin", "null"), ("sec-websocket-protocol", &protocols)], 403);
    check(&[("origin", "http://evil.example"), ("sec-websocket-protocol", &protocols)], 403);
    check(&[("origin", &own)], 401);
    for wrong in ["ctx", "ctx, x", server.token.as_str()] {
        check(&[("origin", &own), ("sec-websocket-protocol", wrong)], 401);
    }
    let bearer = format!("Bearer {}", server.token);
    check(&[("origin", &own), ("authorization", &bearer)], 401);
}

#[test]
fn windows_hear_what_others_do_and_what_they_missed() {
    let place = folder();
    let server = start(&place);
    let own = format!("http://{}", server.host());
    let protocols = format!("ctx, {}", server.token);
    let headers = [("origin", own.as_str()), ("sec-websocket-protocol", protocols.as_str())];
    let id = server.id("agent.yaml");
    let at_first = server.get("/api/project").good();
    let since = |run: &str, seq: u64| format!("/api/events?run={run}&since={seq}");
    let known = since(at_first["run"].as_str().unwrap(), at_first["seq"].as_u64().unwrap());
    let (status, mut socket) = open(&server, &known, &headers);
    assert_eq!(status, 101);
    let edit =
        json!({ "base": 0, "id": "e1", "edits": [{ "op": "set", "pointer": "/name", "value": "Eve" }] });
    server.ask_with("POST", &format!("/api/files/{id}/edits"), &edit, &[("x-ctx-window", "w1")]).good();
    let told = notice(&mut socket);
    assert_eq!(
        (&told["type"], &told["id"], &told["revision"], &told["by"]),
        (&json!("draft"), &json!(id), &json!(1), &json!("w1"))
    );
    // A program changes another file, and makes a new one: heard of by itself.
    std::fs::write(project(&place).join("chat.json"), r#"[{"role": "user", "content": "Other"}]"#).unwrap();
    let told = notice(&mut socket);
    assert_eq!((&told["type"], &told["id"]), (&json!("file"), &json!(server.id("chat.json"))));
    assert!(told.get("by").is_none());
    // Whoever was away hears it then.
    let (run, seq) = (told["run"].as_str().unwrap(), told["seq"].as_u64().unwrap());
    let (_, mut late) = open(&server, &since(run, seq - 1), &headers);
    assert_eq!(notice(&mut late), told);
    for unknown in [since("older", 3), "/api/events".to_owned()] {
        let (_, mut other) = open(&server, &unknown, &headers);
        assert_eq!(notice(&mut other)["type"], "resync");
    }
}

#[test]
fn a_window_too_many_is_told() {
    let place = folder();
    let server = start(&place);
    let own = format!("http://{}", server.host());
    let protocols = format!("ctx, {}", server.token);
    let headers = [("origin", own.as_str()), ("sec-websocket-protocol", protocols.as_str())];
    let open = || open(&server, "/api/events", &headers);
    let windows: Vec<_> = (0..32).map(|_| open()).collect();
    assert!(windows.iter().all(|(status, _)| *status == 101));
    assert_eq!(open().0, 503);
    // Twelve windows and more leave room for requests.
    server.get("/api/project").good();
}
