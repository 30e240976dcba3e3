//! `ctx tap`: the command that it runs, and the log.

use std::io::{BufRead as _, BufReader, Read as _};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Folder;
use crate::server::{Answer, Server};

const AGENT: &str = "name: Ada\npresetMessages:\n- {type: chat_history}\n";

const CHAT: &str =
    "ctx chat agent.yaml --once Hello --key-file key --model m --base-url \"$OPENAI_BASE_URL\"";

/// Runs a script with `ctx`; returns its output.
#[track_caller]
fn shell(folder: &Folder, script: &str) -> String {
    folder.shell(script, "en").unwrap()
}

#[test]
fn records_requests_of_command() {
    let server = Server::script([Answer::text("Hi there.")]);
    let folder = Folder::with(&[("agent.yaml", AGENT), ("key", "sk-canary-0123456789")]);
    let upstream = server.base_url();
    let printed = shell(&folder, &format!("ctx tap --record log --upstream {upstream} -- sh -c '{CHAT}'"));
    assert!(printed.contains("Hi there."), "{printed}");
    let name = std::fs::read_dir(folder.path().join("log")).unwrap().next().unwrap().unwrap().file_name();
    let file = format!("log/{}", name.to_str().unwrap());
    let reported = format!("requests recorded: 1; compare them with `ctx diff {file}`\n");
    assert!(printed.ends_with(&reported), "{printed}");
    let log = std::fs::read_to_string(folder.path().join(file)).unwrap();
    assert!(!log.contains("canary"), "{log}");
    let line: Value = serde_json::from_str(&log).unwrap();
    assert_eq!((&line["api"], &line["status"]), (&"openai".into(), &200.into()));
    let sent = server.requests();
    assert_eq!((sent.len(), &sent[0].json()), (1, &line["request"]));
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-canary-0123456789"));
}

#[test]
fn sets_base_urls_and_returns_exit_code() {
    let folder = Folder::with(&[("codex", "#!/bin/sh\necho \"$@\"\n"), ("opencode", "#!/bin/sh\nenv\n")]);
    let printed = shell(&folder, "ctx tap -- sh -c 'env; exit 7'; echo code $?");
    let value = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("{name} is not in {text}")).to_owned()
    };
    let base = value(&printed, "ANTHROPIC_BASE_URL");
    assert!(base.starts_with("http://127.0.0.1:"), "{base}");
    for (name, path) in [
        ("OPENAI_BASE_URL", "/v1"),
        ("OPENAI_API_BASE", "/v1"),
        ("ANTHROPIC_API_BASE", ""),
        ("GOOGLE_GEMINI_BASE_URL", ""),
        ("GEMINI_API_BASE", "/v1beta"),
    ] {
        assert_eq!(value(&printed, name), format!("{base}{path}"));
    }
    assert_eq!(value(&printed, "NO_PROXY"), "127.0.0.1,localhost");
    assert!(printed.contains("code 7\n") && printed.ends_with("no requests recorded\n"), "{printed}");
    assert!(!folder.names().contains(&"requests".to_owned()));
    let codex = shell(&folder, "chmod +x codex opencode; ctx tap -- ./codex exec Hello");
    assert!(codex.starts_with("-c openai_base_url=\"http://127.0.0.1:"), "{codex}");
    assert!(codex.lines().next().unwrap().ends_with("/v1\" exec Hello"), "{codex}");
    let opencode = shell(&folder, "NO_PROXY=x ctx tap -- ./opencode");
    assert!(value(&opencode, "ANTHROPIC_BASE_URL").ends_with("/v1"));
    assert_eq!(value(&opencode, "NO_PROXY"), "x,127.0.0.1,localhost");
}

#[test]
fn forwards_requests_to_base_url_of_environment() {
    let server = Server::script([Answer::text("Hi there.")]);
    let folder = Folder::with(&[("agent.yaml", AGENT), ("key", "sk")]);
    let upstream = server.base_url();
    let printed = shell(&folder, &format!("OPENAI_BASE_URL={upstream} ctx tap -- sh -c '{CHAT}'"));
    assert!(printed.contains("Hi there.") && printed.contains("requests recorded: 1"), "{printed}");
    assert!(folder.path().join(".home/requests").is_dir());
}

#[test]
fn passes_signals_and_waits_without_command() {
    // The command reads a pipe that nothing writes to.
    let folder = Folder::with(&[("wait", "mkfifo pipe\necho =\nexec cat <>pipe\n")]);
    for (arguments, code) in [("tap -- sh wait", 143), ("tap", 0)] {
        let mut child = folder.spawn(arguments);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains('='), "{line}");
        let id = Pid::from_child(&child);
        kill_process(id, Signal::TERM).unwrap();
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{told}");
    }
}

#[test]
fn refuses_bad_arguments() {
    let folder = Folder::with(&[("file", "")]);
    for (arguments, code, reason) in [
        ("tap --upstream ftp://host -- true", 2, "`--upstream` is not a base URL"),
        ("tap --listen nowhere", 2, "nowhere"),
        ("tap --listen 203.0.113.1:1 -- true", 3, "cannot listen on `203.0.113.1:1`"),
        ("tap --record file/x -- true", 3, "cannot write a log in `file/x`"),
        ("tap -- ./missing", 3, "cannot run `./missing`"),
    ] {
        let told = folder.ctx(arguments);
        assert!(told.starts_with(&format!("exit code {code}\n")) && told.contains(reason), "{told}");
    }
    let told = shell(&folder, "GEMINI_API_BASE=https://me:secret@host ctx tap -- true");
    assert!(told.contains("`GEMINI_API_BASE` is not a base URL") && !told.contains("secret"), "{told}");
}
