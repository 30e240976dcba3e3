//! The page of a folder: its link, its port, and what it says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

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
