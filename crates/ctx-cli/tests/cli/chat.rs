//! `ctx chat` against a server that answers by a script.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::server::{Answer, Received, Server, Step, sse};

const AGENT: &str =
    "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n";

/// The key that must appear nowhere but in the header of requests.
const CANARY: &str = "sk-TESTCANARY0123456789";

/// A folder with an agent, and a server.
struct Place {
    folder: Folder,
    server: Server,
}

impl Place {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(Server::script(answers))
    }

    fn with(server: Server) -> Self {
        Self { folder: Folder::with(&[("agent.yaml", AGENT), ("notes/a.txt", "red umbrella\n")]), server }
    }

    /// Runs `ctx chat` with these arguments and lines.
    #[track_caller]
    fn chat(&self, arguments: &str, stdin: &str) -> String {
        let base = self.server.base_url();
        let arguments =
            format!("chat agent.yaml --model gpt-4o --at 2026-01-31T12:00:00Z --base-url {base} {arguments}");
        let output = self.folder.ctx_reading(&arguments, stdin);
        output.replace(&base, "BASE")
    }

    /// The same with a conversation that is kept.
    #[track_caller]
    fn talk(&self, stdin: &str) -> String {
        self.chat("--store s.db --conversation c", stdin)
    }

    fn requests(&self) -> Vec<Received> {
        self.server.requests()
    }
}

/// A server that repeats what the user said last.
fn echo() -> Server {
    Server::start(|request| {
        let last = request.messages().pop().unwrap();
        Answer::text(&format!("You said {}", last.1))
    })
}

/// Returns the output of a terminal to the end of a text. Keeps later output in `seen`.
#[cfg(unix)]
fn read_until(terminal: &mut std::fs::File, seen: &mut String, text: &str) -> String {
    use std::io::Read as _;

    let mut bytes = [0; 1_024];
    while !seen.contains(text) {
        let count = terminal.read(&mut bytes).unwrap();
        *seen += &String::from_utf8_lossy(&bytes[..count]);
    }
    let end = seen.find(text).unwrap() + text.len();
    seen.drain(..end).collect()
}

#[cfg(unix)]
#[test]
fn sends_pasted_lines_as_one_message() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let place = Place::with(echo());
    let earlier = json!([
        { "role": "user", "content": "hi \u{1b}]52;c;eA==\u{7} there" },
        { "role": "assistant", "content": "Hello." },
    ]);
    std::fs::write(place.folder.path().join("c.json"), earlier.to_string()).unwrap();
    place.folder.ctx("session import c.json --id c --store s.db");
    let (mut terminal, program) = crate::stores::terminal();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctx"));
    command.current_dir(place.folder.path()).env_clear().env("TERM", "xterm");
    command.env("CTX_HOME", place.folder.path().join(".home"));
    command.args(["chat", "agent.yaml", "--model", "gpt-4o", "--base-url", &place.server.base_url()]);
    command.args(["--store", "s.db", "--conversation", "c"]);
    command.stdin(program.try_clone().unwrap()).stdout(program).stderr(Stdio::piped());
    let running = command.spawn().unwrap();
    drop(command);
    let mut seen = String::new();
    read_until(&mut terminal, &mut seen, "> ");
    // The history has the earlier message.
    terminal.write_all(b"\x1b[A").unwrap();
    let line = read_until(&mut terminal, &mut seen, "there");
    assert!(line.contains("hi \u{fffd}]52;c;eA==\u{fffd} there"), "{line:?}");
    // Ctrl-U deletes the line.
    terminal.write_all(b"\x15").unwrap();
    terminal.write_all(b"\x1b[200~Error:\n  at line 1\x1b[201~\r").unwrap();
    read_until(&mut terminal, &mut seen, "You said");
    read_until(&mut terminal, &mut seen, "> ");
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let ended = running.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{told}");
    assert!(told.starts_with("agent Ada, model gpt-4o, conversation `c`; type `/help`"), "{told}");
    let base = place.server.base_url();
    let command =
        format!("ctx chat agent.yaml --model gpt-4o --base-url {base} --store s.db --conversation=c");
    assert!(told.contains(&format!("run `{command}`")), "{told}");
    let requests = place.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].messages().pop().unwrap().1, "Error:\n  at line 1");
}

#[test]
fn one_answer_is_printed_and_nothing_is_kept() {
    let place = Place::new([Answer::text("Hi there")]);
    assert_snapshot!(place.chat("--once Hello", ""), @r"
    exit code 0
    === output
    Hi there
    ");
    assert_eq!(place.folder.names(), ["agent.yaml", "notes"]);
}

#[test]
fn what_is_previewed_is_what_is_sent_byte_for_byte() {
    let place = Place::new([Answer::text("Hi"), Answer::text("Ho")]);
    for arguments in ["--once Hello", "--once 你好 --store s.db --conversation c"] {
        let preview = place.chat(&format!("{arguments} --dry-run"), "");
        let body = preview.strip_prefix("exit code 0\n=== output\n").unwrap().to_owned();
        place.chat(arguments, "");
        let sent = String::from_utf8(place.requests().last().unwrap().body.clone()).unwrap();
        assert_eq!(body, sent);
    }
    assert_eq!(place.requests().len(), 2);
}

#[test]
fn a_conversation_goes_on_where_it_was_left() {
    let place = Place::with(echo());
    place.chat("--once One --store s.db --conversation c", "");
    place.chat("--once Two --store s.db --resume", "");
    let texts: Vec<String> = place.requests()[1].messages().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["You are Ada.", "One", "You said One", "Two"]);
    assert_eq!(
        place.chat("--once Two --store empty.db --resume", ""),
        "exit code 3\n=== errors\nerror: no conversations yet; start one without `--resume`\n"
    );
}

#[test]
fn the_outcome_can_be_read_by_programs() {
    let place = Place::new([Answer::text("Hi")]);
    let output = place.chat("--once Hello --json", "");
    let value: Value = serde_json::from_str(output.split_once("=== output\n").unwrap().1).unwrap();
    assert_eq!(
        (&value["outcome"], &value["text"], &value["rounds"]),
        (&json!("answered"), &json!("Hi"), &json!(1))
    );
    assert_eq!((&value["error"], &value["conversation"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_failure_of_the_provider_has_an_exit_code() {
    let place = Place::new([Answer::error(400, "invalid_request_error", "no such thing")]);
    assert_snapshot!(place.chat("--once Hello", ""), @r"
    exit code 4
    === errors
    error: the provider rejected the request: status 400: no such thing
    ");
    let place = Place::new([Answer::error(400, "invalid_request_error", "no such thing")]);
    let piped = place.chat("", "Hello\n");
    assert!(piped.starts_with("exit code 4\n"), "{piped}");
    let place = Place::new([]);
    let output = place.chat("--once Hello --context-tokens 10", "");
    assert!(output.starts_with("exit code 5\n=== errors\nerror: no context fits the budget"), "{output}");
    assert!(output.ends_with("; raise `--context-tokens`, or lower `--reserve`\n"), "{output}");
    let place = Place::new([Answer::error(400, "context_length_exceeded", "too long")]);
    let output = place.chat("--once Hello", "");
    assert!(!output.contains("retrying"), "{output}");
    let remedy = "; shorten the message, or use a model with a larger context window\n";
    assert!(output.starts_with("exit code 4") && output.ends_with(remedy), "{output}");
}

#[test]
fn nothing_is_asked_where_nothing_is_said() {
    let place = Place::new([Answer::text("no")]);
    let base = place.server.base_url();
    for words in ["", " \n"] {
        let arguments = format!("chat agent.yaml --base-url {base} --store s.db --conversation c");
        let mut command = place.folder.command(&arguments);
        let output = command.args(["--once", words]).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("the message is empty; enter some text"), "{errors}");
    }
    assert!(place.requests().is_empty());
    assert!(!place.folder.path().join("s.db").exists());
}

#[test]
fn commands_of_a_chat_move_through_its_tree() {
    let place = Place::with(echo());
    let lines = "One\n/branch\n/regenerate\n/switch\n/edit Two\n/undo\n/redo\n/switch 1\n/branch 1\n/branch 9\n/quit\n";
    assert_snapshot!(place.talk(lines), @"
    exit code 0
    === output
    You said One
       1  user      One
       2  assistant You said One
    You said One
       1  assistant You said One
       2* assistant You said One
    You said Two
    === errors
    moved to: assistant You said One
    moved to: assistant You said Two
    moved to: assistant You said One
    moved to: user      One
    no message 9
    ");
    assert_eq!(place.requests().len(), 3);
}

#[test]
fn what_failed_can_be_tried_again_or_gone_on_from() {
    let broken = || Answer::error(400, "x", "broken");
    let place = Place::new([broken(), Answer::text("Fine."), broken(), Answer::text("Better.")]);
    place.talk("One\n/retry\n/retry\n");
    let texts = |index: usize| {
        place.requests()[index].messages().into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(texts(1), ["You are Ada.", "One"]);
    place.talk("Two\n/continue\n");
    assert_eq!(texts(3), ["You are Ada.", "One", "Fine.", "Two\n\n---\n\ncontinue"]);
}

#[test]
fn the_context_of_a_chat_can_be_looked_at() {
    let place = Place::with(echo());
    let output = place.talk("One\n/context\n/tools\n/mode\n/mode agent\n/mode x\n/nothing\n");
    assert!(output.contains("history:n2"), "{output}");
    assert!(output.ends_with("no tools; add some with `--tools-dir`\nthe mode is `chat`\nthe mode is `agent`\nunknown mode `x`; use chat, agent, or run\nunknown command `/nothing`; type `/help` for a list\n"), "{output}");
}

#[test]
fn a_chat_is_compressed_where_that_is_asked_for() {
    let place = Place::with(Server::start(|request| {
        let asks_for_summary =
            request.messages().iter().any(|(_, text)| text.contains("=== conversation ==="));
        Answer::text(if asks_for_summary { "They talked of basil." } else { "Basil likes it warm." })
    }));
    let talk = "Tell me again, and at length, what basil likes.\n".repeat(8);
    let output = place.talk(&format!("/compress\n{talk}/compress\n/context\n"));
    let has = |text: &str| assert!(output.contains(text), "no `{text}` in {output}");
    [
        "the conversation has no messages yet",
        "compressed 6 messages, saved ",
        "They talked of basil.",
        "hidden history:n1 and 5 more",
    ]
    .into_iter()
    .for_each(has);
}

#[test]
fn a_new_conversation_begins_with_the_greeting_that_was_chosen() {
    let place = Place::with(echo());
    let agent = format!(
        "{AGENT}greetings:\n- {{name: Short, content: Hello.}}\n- {{content: 'I am {{{{char}}}}.'}}\n"
    );
    place.folder.write("agent.yaml", agent.as_bytes());
    let output = place.chat("--store s.db --greeting 2", "Hi\n");
    assert!(output.starts_with("exit code 0\n=== output\nI am Ada.\nYou said Hi\n"), "{output}");
    let texts: Vec<String> = place.requests()[0].messages().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["You are Ada.", "I am Ada.", "Hi"]);
    let output = place.chat("--store t.db", "1\nHi\n");
    assert!(output.contains("Hello.\nYou said Hi"), "{output}");
    let output = place.chat("--store u.db --greeting 0", "Hi\n");
    assert!(output.starts_with("exit code 0\n=== output\nYou said Hi"), "{output}");
}

#[test]
fn tools_are_there_only_where_a_folder_is_named() {
    let call = || Answer::calls(&[("a", "read_file", r#"{"path":"a.txt"}"#)]);
    let place = Place::new([call(), Answer::text("Red."), call(), Answer::text("No tools.")]);
    let output = place.chat("--once Which? --tools-dir notes", "");
    assert!(output.starts_with("exit code 0\n=== output\nRed.\n=== errors\n→ read_file"), "{output}");
    let sent = place.requests()[1].json();
    assert_eq!(sent["messages"][3]["content"], "red umbrella\n");
    place.chat("--once Which?", "");
    assert!(place.requests()[2].json().get("tools").is_none());
}

#[test]
fn the_user_can_be_asked_before_each_call() {
    let call = || Answer::calls(&[("a", "read_file", r#"{"path":"a.txt"}"#)]);
    let server = Server::start(move |request| match request.messages().last().unwrap().0.as_str() {
        "user" => call(),
        _ => Answer::text("Done."),
    });
    let place = Place::with(server);
    place.chat("--once Which? --tools-dir notes --ask", "y\n");
    place.chat("--once Which? --tools-dir notes --ask", "not that one\n");
    let results: Vec<String> =
        [1, 3].map(|index: usize| place.requests()[index].messages().pop().unwrap().1).into();
    assert_eq!(results, ["red umbrella\n", "error: the user rejected this call: not that one"]);
}

#[test]
fn an_agent_with_a_persona_is_told_the_mode() {
    let place = Place::with(echo());
    place.folder.write("agent.yaml", b"id: ada\npersona: {role: Keeper}\n");
    let sent = place.chat("--once Hi --tools-dir notes --mode agent --dry-run", "");
    assert!(sent.contains("# Mode: AGENT") && sent.contains("**Role:** Keeper"), "{sent}");
}

#[test]
fn a_file_can_come_with_the_first_message() {
    let place = Place::with(echo());
    place.chat("--store s.db --data notes/a.txt", "What is red?\nAnd now?\n");
    let requests = place.requests();
    let last = requests[0].messages().pop().unwrap().1;
    assert!(last.ends_with("DATA_CONTEXT\n- Label: a.txt\n- Path: notes/a.txt\n\nred umbrella\n"), "{last}");
    assert_eq!(requests[1].messages().pop().unwrap().1, "And now?");
}

#[test]
fn the_endpoint_can_stand_in_a_file() {
    let place = Place::with(echo());
    let toml = format!(
        "store = 's.db'\n[endpoint]\nbase-url = '{}'\nmodel = 'm'\nkey-env = 'CTX_TEST_KEY'\nretries = 0\n[endpoint.headers]\nx-team = '{CANARY}'\n[tools]\nfolder = 'notes'\ndeny = {{ tools = ['list_folder'] }}\n",
        place.server.base_url()
    );
    place.folder.write("ctx.toml", toml.as_bytes());
    place.folder.ctx("trust .");
    let output =
        place.folder.command("chat agent.yaml --once Hi").env("CTX_TEST_KEY", CANARY).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let request = &place.requests()[0];
    assert_eq!(request.header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    assert_eq!((request.header("x-team"), &request.json()["model"]), (Some(CANARY), &json!("m")));
    assert_eq!(request.json()["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn a_key_is_found_nowhere() {
    let echo = |request: &Received| {
        // A provider that repeats the key in its error, then answers.
        match request.messages().last().unwrap().1.as_str() {
            "fail" => Answer::error(401, CANARY, &format!("no such key: {CANARY}")),
            "stream" => Answer::events(&[json!({ "error": { "message": format!("bad {CANARY}") } })]),
            "tool" => Answer::calls(&[("a", "read_file", r#"{"path":"key"}"#)]),
            _ => Answer::text("Hi"),
        }
    };
    let place = Place::with(Server::start(echo));
    place.folder.write("key", CANARY.as_bytes());
    place.folder.write(".home/ctx.toml", b"[endpoint]\nretries = 0\n");
    let run = |arguments: &str| {
        let output = place.folder.ctx(arguments);
        assert!(!output.contains("CANARY"), "{output}");
        output
    };
    let kept = format!(
        "chat agent.yaml --model gpt-4o --base-url {} --key-file key --store s.db --conversation c",
        place.server.base_url()
    );
    for more in ["--once Hello", "--once fail --json", "--once stream", "--once Hello --dry-run"] {
        run(&format!("{kept} {more}"));
    }
    let seen = place.requests().iter().filter(|request| request.header("authorization").is_some()).count();
    assert_eq!(seen, 3, "the key was sent");
    // A tool that reads the very file in which the key lies.
    let output = run(&format!("{kept} --tools-dir . --once tool"));
    assert!(output.contains("read_file done"), "{output}");
    assert!(
        place.requests().iter().all(|request| !String::from_utf8_lossy(&request.body).contains("CANARY"))
    );
    let exported = run("session export c --store s.db --to messages");
    assert!(exported.contains("LLM_UNAUTHORIZED"), "failures are exported: {exported}");
    std::fs::remove_file(place.folder.path().join("key")).unwrap();
    for name in place.folder.names() {
        let path = place.folder.path().join(&name);
        if path.is_file() {
            let bytes = std::fs::read(path).unwrap();
            assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{name}");
        }
    }
}

#[test]
fn a_request_without_a_model_says_how_to_name_one() {
    let folder = Folder::with(&[("a.yaml", "presetMessages: [{ type: chat_history }]\n")]);
    let output = folder.ctx("chat a.yaml --once hi --dry-run --base-url http://127.0.0.1:1/v1");
    let (_, errors) = output.split_once("=== errors\n").unwrap();
    assert_snapshot!(errors, @"
    warning[CTX0501]: the request has no model
    --> request body
     = help: set one with `--model`, or as `model` in `ctx.toml`
    ");
}

#[test]
fn moves_through_its_tree_in_a_later_run() {
    let place = Place::with(echo());
    place.talk("One\n");
    assert_snapshot!(place.talk("/undo\n/undo\n/redo\n/redo\n"), @"
    exit code 0
    === errors
    moved to the start
    nothing to undo
    moved to the start
    moved to: assistant You said One
    nothing to redo
    moved to: assistant You said One
    ");
}

#[test]
fn answers_of_gemini_are_read_in_pieces_and_whole() {
    let chunk = |text: &str, reason: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "finishReason": reason }] });
    let pieces = [chunk("Hi ", Value::Null), chunk("there", json!("STOP"))];
    let streamed = Answer::stream(vec![Step::Bytes(sse(&pieces, false))]);
    let place = Place::new([streamed, Answer::json(200, &chunk("Hi there", json!("STOP")))]);
    place.folder.write("key", CANARY.as_bytes());
    for more in ["", "--no-stream"] {
        let output = place.chat(&format!("--dialect gemini --key-file key --once Hello {more}"), "");
        assert!(output.starts_with("exit code 0\n=== output\nHi there\n"), "{output}");
    }
    let requests = place.requests();
    assert_eq!(requests[0].path, "/v1/models/gpt-4o:streamGenerateContent?alt=sse");
    assert_eq!(requests[1].path, "/v1/models/gpt-4o:generateContent");
    assert!(requests.iter().all(|request| request.header("x-goog-api-key") == Some(CANARY)));
}
