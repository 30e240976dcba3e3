//! The page of a folder: its link, its port, and what it says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A command that runs until it is dropped.
struct Running {
    child: Child,
    link: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn start(folder: &std::path::Path, arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    command.arg("studio").arg(folder).arg("--no-open").args(arguments).env("CTX_HOME", folder.join(".home"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut link).unwrap();
    Running { child, link: link.trim().to_owned() }
}

fn port(link: &str) -> u16 {
    let address = link.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, code) = address.split_once("/#code=").unwrap();
    assert_eq!(code.len(), 22, "{link}");
    port.parse().unwrap()
}

#[test]
fn a_link_opens_the_page_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path(), &["--port", "0"]);
    let port = port(&running.link);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("trusted-types 'none'"), "{answer}");
}

#[test]
fn a_port_that_is_taken_is_told_or_the_next_one_is_used() {
    let folder = tempfile::tempdir().unwrap();
    // Whoever has it, it is taken.
    let _taken = TcpListener::bind("127.0.0.1:4179").ok();
    let mut running = start(folder.path(), &[]);
    let port = port(&running.link);
    assert!(port > 4179 && port < 4200, "{port}");
    let mut told = String::new();
    BufReader::new(running.child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("port 4179 is taken") && told.contains(&port.to_string()), "{told}");
    let port = port.to_string();
    let other = Command::new(env!("CARGO_BIN_EXE_ctx"))
        .args(["studio", "--no-open", "--port", &port])
        .current_dir(folder.path())
        .env("CTX_HOME", folder.path().join(".home"))
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&other.stderr).contains(&format!("cannot listen on port {port}")));
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Command::new(env!("CARGO_BIN_EXE_ctx"))
        .args(["studio", "missing", "--no-open", "--port", "0"])
        .current_dir(folder.path())
        .env("CTX_HOME", folder.path().join(".home"))
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot open the folder `missing`"));
}

/// Asks the page, as a browser would.
fn ask(port: u16, (method, path): (&str, &str), headers: &[(&str, &str)], body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len().to_string();
    let host = format!("127.0.0.1:{port}");
    let own = [("host", host.as_str()), ("content-type", "application/json"), ("content-length", &length)];
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in own.iter().chain(headers) {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all((head + "\r\n" + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_server_that_is_killed_loses_no_edit_and_breaks_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name: Ada   # who\npresetMessages: []\n";
    let file = folder.path().join("agent.yaml");
    std::fs::write(&file, text).unwrap();
    let mut expected = text.to_owned();
    for round in 0..5 {
        let running = start(folder.path(), &["--port", "0"]);
        let port = port(&running.link);
        let code = running.link.split_once("#code=").unwrap().1;
        let login = ask(port, ("POST", "/api/login"), &[], &json!({ "code": code }));
        let token = format!("Bearer {}", login["token"].as_str().unwrap());
        let bearer = [("authorization", token.as_str())];
        let project = ask(port, ("GET", "/api/project"), &bearer, &Value::Null);
        let id = project["files"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/files/{id}");
        let view = ask(port, ("GET", &path), &bearer, &Value::Null);
        assert_eq!(view["text"].as_str().unwrap(), expected);
        let (base, name) = (&view["revision"], format!("Ada {round}"));
        let set = json!([{ "op": "set", "pointer": "/name", "value": name }]);
        let edit = json!({ "base": base, "id": format!("e{round}"), "edits": set });
        let edited = ask(port, ("POST", &format!("{path}/edits")), &bearer, &edit);
        expected = edited["text"].as_str().unwrap().to_owned();
        assert!(expected.contains("# who"), "{expected}");
        // The edit is written down within 200 ms, on a machine that does nothing else.
        std::thread::sleep(Duration::from_millis(700));
        drop(running);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}
