//! The page of a folder: its link, its port, and what it says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A command that runs until it is dropped.
pub(crate) struct Running {
    child: Child,
    link: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub(crate) fn start(folder: &std::path::Path, arguments: &[&str]) -> Running {
    start_by(Command::new(env!("CARGO_BIN_EXE_ctx")), folder, arguments)
}

fn start_by(mut command: Command, folder: &std::path::Path, arguments: &[&str]) -> Running {
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
    assert!(told.contains("port 4179 is in use") && told.contains(&port.to_string()), "{told}");
    let port = port.to_string();
    let other = Command::new(env!("CARGO_BIN_EXE_ctx"))
        .args(["studio", "--no-open", "--port", &port])
        .current_dir(folder.path())
        .env("CTX_HOME", folder.path().join(".home"))
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&other.stderr)
            .contains(&format!("port {port} is in use; choose another with `--port`"))
    );
}

/// The page of a folder's first file, as a browser asks it.
pub(crate) struct Page {
    port: u16,
    token: String,
    file: String,
}

impl Page {
    pub(crate) fn open(running: &Running) -> Self {
        let code = running.link.split_once("#code=").unwrap().1;
        let mut page = Self { port: port(&running.link), token: String::new(), file: String::new() };
        let login = page.good(("POST", "/api/login"), &[], &json!({ "code": code }));
        page.token = format!("Bearer {}", login["token"].as_str().unwrap());
        let project = page.good(("GET", "/api/project"), &[], &Value::Null);
        page.file = format!("/api/files/{}", project["files"][0]["id"].as_str().unwrap());
        page
    }

    fn view(&self) -> Value {
        self.good(("GET", &self.file), &[], &Value::Null)
    }

    fn rename(&self, id: &str, name: &str) {
        let set = json!([{ "op": "set", "pointer": "/name", "value": name }]);
        let body = json!({ "base": self.view()["revision"], "id": id, "edits": set });
        self.good(("POST", &format!("{}/edits", self.file)), &[], &body);
    }

    fn save(&self) -> (u16, Value) {
        let tag = format!("\"{}\"", self.view()["hash"].as_str().unwrap());
        self.ask(("POST", &format!("{}/save", self.file)), &[("if-match", &tag)], &json!({}))
    }

    pub(crate) fn good(&self, what: (&str, &str), headers: &[(&str, &str)], body: &Value) -> Value {
        let (status, answer) = self.ask(what, headers, body);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    fn ask(&self, (method, path): (&str, &str), headers: &[(&str, &str)], body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (length, host) = (body.len().to_string(), format!("127.0.0.1:{}", self.port));
        let own = [
            ("host", host.as_str()),
            ("authorization", &self.token),
            ("content-type", "application/json"),
            ("content-length", &length),
        ];
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in own.iter().chain(headers) {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all((head + "\r\n" + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap())
    }
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
        let page = Page::open(&running);
        assert_eq!(page.view()["text"].as_str().unwrap(), expected);
        page.rename(&format!("e{round}"), &format!("Ada {round}"));
        expected = page.view()["text"].as_str().unwrap().to_owned();
        assert!(expected.contains("# who"), "{expected}");
        // The edit is written down within 200 ms, on a machine that does nothing else.
        std::thread::sleep(Duration::from_millis(700));
        drop(running);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("name: Ada\npresetMessages: []\n# {}\n", "a".repeat(8_000));
    let file = folder.path().join("agent.yaml");
    std::fs::write(&file, &text).unwrap();
    // A process that may write no file of more than a block fails as one whose disk has no room for it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ctx")]);
    let running = start_by(shell, folder.path(), &["--port", "0"]);
    let page = Page::open(&running);
    page.rename("a", "Eve");
    let (status, failure) = page.save();
    assert_eq!(status, 422, "{failure}");
    assert!(failure["message"].as_str().unwrap().contains("agent.yaml"), "{failure}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let project = page.good(("GET", "/api/project"), &[], &Value::Null);
    assert_eq!(project["findings"][0]["code"], "CTX1017", "{project}");
    let view = page.view();
    assert_eq!((&view["isDirty"], &view["value"]["name"]), (&json!(true), &json!("Eve")));
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "agent.yaml" || name == ".home"), "{names:?}");
}
