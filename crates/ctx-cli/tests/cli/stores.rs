//! Stores that are full, locked, newer, or used by two processes at once; windows that are learned; typed macros.

use std::io::{BufRead as _, BufReader, Read as _};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::assemble::json as output;
use crate::server::{Answer, Server};

const AGENT: &str =
    "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n";

/// A folder with an agent, and a server that says what it was told last.
fn place() -> (Folder, Server) {
    let server = Server::start(|request| {
        let last = request.messages().pop().unwrap().1;
        let beginning: String = last.chars().take(20).collect();
        Answer::text(&format!("You said {beginning}"))
    });
    (Folder::with(&[("agent.yaml", AGENT)]), server)
}

/// The arguments of a turn in the conversation `c` of `s.db`.
fn says(server: &Server, text: &str) -> String {
    let base = server.base_url();
    format!(
        "chat agent.yaml --model test-model --base-url {base} --store s.db --conversation c --once {text}"
    )
}

/// The messages of the conversation `c`, on all branches.
fn nodes(folder: &Folder) -> Vec<(String, String)> {
    let session = output(&folder.ctx("session export c --store s.db"));
    let nodes = session["nodes"].as_object().unwrap().values().cloned().collect::<Vec<_>>();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    nodes.iter().skip(1).map(|node| (text(&node["role"]), text(&node["content"]))).collect()
}

/// Opens both ends of a terminal. On a terminal, replies are streamed.
#[cfg(unix)]
pub(crate) fn terminal() -> (std::fs::File, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
    (master.into(), slave.into())
}

/// Sends a signal during a reply. Checks that the partial reply is stored.
#[cfg(unix)]
#[track_caller]
fn check_signal(signal: rustix::process::Signal, arguments: &str, code: i32) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let folder = Folder::with(&[("agent.yaml", AGENT)]);
    let server = Server::script([Answer::stream(vec![
        crate::server::Step::Bytes(crate::server::sse(&[crate::server::word("One ")], false)),
        crate::server::Step::Stall,
    ])]);
    let (mut shown, output) = terminal();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctx"));
    command.current_dir(folder.path()).env_clear().env("CTX_HOME", folder.path().join(".home"));
    let arguments = says(&server, arguments);
    command.args(arguments.trim_end_matches("--once ").split_whitespace());
    let mut running = command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let mut input = running.stdin.take().unwrap();
    input.write_all(b"Hello\n").unwrap();
    let mut word = [0; 4];
    shown.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"One ");
    rustix::process::kill_process(rustix::process::Pid::from_child(&running), signal).unwrap();
    if signal == rustix::process::Signal::INT {
        // The chat continues until its input ends.
        drop(input);
    }
    let ended = running.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(code), "{told}");
    let said = nodes(&folder);
    assert_eq!(said.last().unwrap(), &("assistant".to_owned(), "One ".to_owned()), "{told}");
}

#[cfg(unix)]
#[test]
fn keeps_a_partial_reply_when_a_signal_ends_the_chat() {
    use rustix::process::Signal;

    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        check_signal(signal, "Hello", 130);
        check_signal(signal, "", if signal == Signal::INT { 0 } else { 130 });
    }
}

#[test]
fn continues_conversation_that_several_processes_begin() {
    let (folder, server) = place();
    let start = |number: i32| folder.spawn(&says(&server, &format!("Text{number}")));
    let running: Vec<_> = (0..4).map(start).collect();
    for one in running {
        let output = one.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // The active branch contains all messages.
    let messages = output(&folder.ctx("session export c --to messages --store s.db"));
    let said: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said.len(), 8, "{said:?}");
    assert!(said.chunks(2).all(|turn| turn[1] == format!("You said {}", turn[0])), "{said:?}");
}

#[test]
fn a_store_that_is_waited_for_is_named() {
    let (folder, server) = place();
    folder.ctx(&says(&server, "One"));
    let other = rusqlite::Connection::open(folder.path().join("s.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut running = folder.spawn(&says(&server, "Two"));
    let mut errors = BufReader::new(running.stderr.take().unwrap());
    let mut told = String::new();
    let waiting = "waiting for the store `s.db`: another program is writing to it\n";
    while !told.ends_with(waiting) {
        assert_ne!(errors.read_line(&mut told).unwrap(), 0, "{told}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    errors.read_to_string(&mut told).unwrap();
    assert!(running.wait().unwrap().success() && told.matches(waiting).count() == 1, "{told}");
    let told = folder.ctx(&says(&server, "Three"));
    assert!(told.starts_with("exit code 0") && !told.contains("waiting"), "{told}");
}

#[test]
fn a_store_of_a_newer_version_is_not_touched() {
    let (folder, server) = place();
    folder.ctx(&says(&server, "One"));
    let path = folder.path().join("s.db");
    // The version stands in the header of the file.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    assert_snapshot!(folder.ctx(&says(&server, "Two")), @"
    exit code 3
    === errors
    error: cannot open `s.db`: the store has version 99; this program supports up to 6; update the program
    ");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_one_run_learns_of_a_window_the_next_one_knows() {
    let folder = Folder::with(&[("agent.yaml", AGENT)]);
    let line = "The red umbrella stands in room 12 since the 3rd of May, said Lin to Robin. ".repeat(6);
    let messages: Vec<Value> = (0..30)
        .map(|number| json!({ "role": if number % 2 == 0 { "user" } else { "assistant" }, "content": line }))
        .collect();
    folder.write("long.json", Value::from(messages).to_string().as_bytes());
    folder.ctx("session import long.json --id c --store s.db");
    let server = Server::start(|request| {
        if request.body.len() > 9_000 {
            Answer::error(
                400,
                "context_length_exceeded",
                "this model's maximum context length is 2000 tokens",
            )
        } else {
            Answer::text("In room 12.")
        }
    });
    let first = folder.ctx(&says(&server, "Where?"));
    assert!(first.contains("retrying with a smaller request"), "{first}");
    let second = folder.ctx(&says(&server, "Really?"));
    assert!(second.starts_with("exit code 0\n=== output\nIn room 12."), "{second}");
    assert!(!second.contains("retrying with a smaller request"), "{second}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn macros_of_what_is_typed_are_expanded_where_that_is_wanted() {
    let (folder, server) = place();
    let typed = format!("{} --dry-run", says(&server, "I-am-{{user}}"));
    assert!(folder.ctx(&typed).contains("I-am-{{user}}"));
    assert!(folder.ctx(&format!("{typed} --expand-input")).contains("I-am-User"));
    folder.write("agent.yaml", format!("expandInput: true\n{AGENT}").as_bytes());
    assert!(folder.ctx(&typed).contains("I-am-User"));
    let last = || server.requests().last().unwrap().messages().pop().unwrap().1;
    folder.ctx_reading(&says(&server, "x").replace("--once x", ""), "Hi {{char}}\n/edit Ho {{char}}\n");
    assert_eq!(last(), "Ho Ada");
}

#[test]
fn of_runs_that_change_one_file_at_once_each_sees_what_the_others_wrote() {
    let (folder, _) = crate::masks::compressed();
    let running: Vec<_> = (0..8).map(|_| folder.spawn("session undo chat.json")).collect();
    let ended: Vec<_> = running.into_iter().map(|one| one.wait_with_output().unwrap()).collect();
    let done = ended.iter().filter(|output| output.status.success()).count();
    assert_eq!(done, 1, "there is one step to take back");
    for output in ended.iter().filter(|output| !output.status.success()) {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("another program changed") || errors.contains("nothing to undo"), "{errors}");
    }
    let redone = folder.ctx("session redo chat.json");
    assert!(redone.starts_with("exit code 0"), "{redone}");
}
