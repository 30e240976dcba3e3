//! Servers that others wrote, started on loopback: `cargo xtask servers` installs them into `target/servers`.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// The key that the servers are reached with, and that must appear nowhere else.
pub(crate) const KEY: &str = "sk-TESTCANARY-foreign-0123456789";

/// How long a server may take to start; a machine that builds something else meanwhile is slow.
const START: Duration = Duration::from_secs(60);

/// How a server says where it is.
const ADDRESS: &str = "http://127.0.0.1:";

/// Returns whether both servers are installed; else what is missing.
pub(crate) fn installed() -> Result<(), String> {
    for part in [aimock_program(), folder().join("python/installed.txt")] {
        if !part.exists() {
            return Err(format!("`{}` is not there", part.display()));
        }
    }
    Ok(())
}

/// Reports on standard error, where tests cannot be told to be silent, that tests are skipped.
pub(crate) fn tell_skipped(why: &str) {
    let line = "!".repeat(78);
    let text = format!(
        "{line}\n!! tests with servers of others are SKIPPED: {why};\n!! `cargo xtask servers` installs them\n{line}\n"
    );
    // Nobody is there to hear of it if even this cannot be written.
    drop(std::io::stderr().write_all(text.as_bytes()));
}

/// Starts `aimock`, which answers by a script, with these fixtures; it takes requests with [`KEY`] only.
pub(crate) fn start_aimock(fixtures: &Path) -> Foreign {
    let mut command = Command::new("node");
    command.arg(aimock_program()).args(["--port", "0", "--strict", "--fixtures"]).arg(fixtures);
    Foreign::start(command.env("AIMOCK_API_KEYS", KEY))
}

/// Starts `llmock`, which breaks its answers when it is told to, with a window of 2,000 tokens.
pub(crate) fn start_llmock() -> Foreign {
    let mut command = Command::new("python3");
    command.args(["-m", "llmock.cli", "serve", "--host", "127.0.0.1", "--port", "0"]);
    command.args(["--tool-mode", "auto", "--response-style", "echo", "--context-window", "2000"]);
    // Without pauses it has written all, and sees nobody hang up, before a client has read a chunk that is broken.
    command.args(["--stream-chunk-delay-ms", "20"]);
    Foreign::start(command.env("PYTHONPATH", folder().join("python")))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/servers")
}

fn aimock_program() -> PathBuf {
    folder().join("node_modules/@copilotkit/aimock/dist/cli.js")
}

/// A server in a process of its own, which ends with this value.
pub(crate) struct Foreign {
    child: Child,
    /// For example `127.0.0.1:4010`.
    address: String,
}

impl Foreign {
    /// Starts a program and waits until it says where it listens.
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        drain(child.stdout.take().unwrap(), sender.clone());
        drain(child.stderr.take().unwrap(), sender);
        let address = listening(&lines);
        Self { child, address }
    }

    /// The address under which it answers, with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Asks for something beside the models.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.exchange(&format!("GET {path}"), "")
    }

    /// Sends something beside requests to models.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.exchange(&format!("POST {path}"), &body.to_string())
    }

    fn exchange(&self, verb: &str, body: &str) -> Value {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!("{verb} HTTP/1.0\r\nx-api-key: {KEY}\r\ncontent-length: {length}\r\n\r\n");
        connection.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 20"), "{verb}: {answer}");
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // One that has ended already is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads what a program says to its end, so that it never waits for a reader.
fn drain(output: impl Read + Send + 'static, lines: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Once the address is known, nobody listens any more.
            drop(lines.send(line));
        }
    });
}

fn listening(lines: &Receiver<String>) -> String {
    let mut said = Vec::new();
    loop {
        let Ok(line) = lines.recv_timeout(START) else {
            panic!("the server did not start:\n{}", said.join("\n"))
        };
        let port = line.split_once(ADDRESS).map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit));
        let port: String = port.into_iter().flatten().collect();
        // A port that is not known yet is written as 0.
        if !port.is_empty() && port != "0" {
            return format!("127.0.0.1:{port}");
        }
        said.push(line);
    }
}
