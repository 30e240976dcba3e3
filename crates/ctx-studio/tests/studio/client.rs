//! A server on a folder, and a client that sends exactly the bytes that it is told.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ctx_engine::Engine;
use ctx_studio::Studio;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// An agent that has a bit of everything.
pub(crate) const AGENT: &str = "\
# Robin
name: Robin
presetMessages:
  # who she is
  - id: who
    role: system
    content: You are {{char}}.   # brief
  - {id: history, type: chat_history}
  - id: off
    role: system
    content: never
    isEnabled: false
";

pub(crate) const CHAT: &str =
    r#"[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]"#;

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) code: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A folder with an agent, a conversation and defaults, and a place for a store beside it.
pub(crate) fn folder() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let project = project(&place);
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("agent.yaml"), AGENT).unwrap();
    std::fs::write(project.join("chat.json"), CHAT).unwrap();
    std::fs::write(project.join("ctx.toml"), "agent = \"agent.yaml\"\nmodel = \"gpt-4o\"\n").unwrap();
    place
}

pub(crate) fn project(place: &TempDir) -> PathBuf {
    place.path().join("project")
}

/// Serves a folder with a store beside it.
pub(crate) fn start(place: &TempDir) -> Running {
    start_with(&project(place), &place.path().join("store/a.db"), |studio| studio)
}

pub(crate) fn start_with(project: &Path, store: &Path, change: impl FnOnce(Studio) -> Studio) -> Running {
    std::fs::create_dir_all(store.parent().unwrap()).unwrap();
    let studio = change(Studio::new(Engine::new()).unwrap().project(project).store(store));
    let links = studio.links();
    let (told, heard) = std::sync::mpsc::channel();
    let (end, ended) = oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap().port()).unwrap();
            studio.serve_until(listener, async { ended.await.unwrap_or_default() }).await.unwrap();
        });
    });
    let port = heard.recv_timeout(Duration::from_secs(20)).unwrap();
    let link = links.new_link(port).unwrap();
    let code = link.split_once("#code=").unwrap().1.to_owned();
    let mut running =
        Running { port, token: String::new(), code: code.clone(), end: Some(end), thread: Some(thread) };
    let answer = running.ask("POST", "/api/login", &json!({ "code": code }));
    running.token = answer.json()["token"].as_str().unwrap().to_owned();
    running
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end.send(()).unwrap_or_default();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Returns the body of an answer that is no failure.
    #[track_caller]
    pub(crate) fn good(self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Returns the code of a failure.
    #[track_caller]
    pub(crate) fn refused(self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

impl Running {
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Asks as the page does.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.ask_with(method, path, body, &[])
    }

    pub(crate) fn ask_with(&self, method: &str, path: &str, body: &Value, more: &[(&str, &str)]) -> Answer {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (host, token) = (self.host(), format!("Bearer {}", self.token));
        let mut headers =
            vec![("host", host.as_str()), ("authorization", &token), ("content-type", "application/json")];
        headers.extend(more);
        self.send(method, path, &headers, &body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &Value::Null)
    }

    /// Sends these headers and no others but the length.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        stream.write_all((head + "\r\n").as_bytes()).unwrap();
        // A server that refuses the head does not read the rest.
        stream.write_all(body).unwrap_or_default();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap_or_default();
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(answer.len());
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let answer = Answer { status, head, body: answer.get(end + 4..).unwrap_or_default().to_vec() };
        crate::api::check(method, path, &answer);
        answer
    }

    /// Returns the id of a file.
    #[track_caller]
    pub(crate) fn id(&self, path: &str) -> String {
        let project = self.get("/api/project").good();
        let file = project["files"].as_array().unwrap().iter().find(|file| file["path"] == path);
        file.unwrap_or_else(|| panic!("no {path}"))["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn view(&self, id: &str) -> Value {
        self.get(&format!("/api/files/{id}")).good()
    }

    /// Edits a file at the revision that it has, and answers with all of it.
    pub(crate) fn edit(&self, id: &str, edits: &Value) -> Answer {
        let before = self.view(id);
        let edit_id = format!(
            "e{}",
            std::time::Instant::now().elapsed().as_nanos()
                + u128::from(before["revision"].as_u64().unwrap()) * 1_000_000
        );
        let body = json!({ "base": before["revision"], "id": edit_id, "edits": edits });
        let answer = self.ask("POST", &format!("/api/files/{id}/edits"), &body);
        self.followed(id, &before, answer)
    }

    /// Follows an answer that tells only what has changed, as the page does.
    fn followed(&self, id: &str, before: &Value, answer: Answer) -> Answer {
        if answer.status != 200 || answer.json().get("splice").is_none() {
            return answer;
        }
        let (change, after) = (answer.json(), self.view(id));
        let (text, splice) = (before["text"].as_str().unwrap(), &change["splice"]);
        let mut units: Vec<u16> = text.encode_utf16().collect();
        let at = |name: &str| usize::try_from(splice[name].as_u64().unwrap()).unwrap();
        units.splice(at("from")..at("to"), splice["text"].as_str().unwrap().encode_utf16());
        assert_eq!(String::from_utf16(&units).unwrap(), after["text"].as_str().unwrap());
        for key in ["revision", "isDirty", "canUndo", "canRedo"] {
            assert_eq!(change[key], after[key], "{key}");
        }
        Answer { body: after.to_string().into_bytes(), ..answer }
    }

    pub(crate) fn save(&self, id: &str, hash: &str, body: &Value) -> Answer {
        let tag = format!("\"{hash}\"");
        self.ask_with("POST", &format!("/api/files/{id}/save"), body, &[("if-match", &tag)])
    }
}
