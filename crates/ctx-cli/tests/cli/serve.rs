//! `ctx serve`: its way in and out, what it logs, and the keys of clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::Folder;
use crate::server::{Answer, Server, Step, sse, word};
use crate::studio::{self, Page};

const AGENT: &str = "name: Ada\npresetMessages:\n- {role: system, content: \"You are Ada. It is {{date}}.\"}\n\
     - {type: chat_history}\n";

/// A gateway that runs until it is told to end.
struct Running {
    child: Child,
    address: String,
    /// The lines of the agents.
    agents: String,
    /// The line that says who may send requests.
    access: String,
}

impl Running {
    /// Starts it and waits until it listens.
    #[track_caller]
    fn start(folder: &Folder, arguments: &str) -> Self {
        let mut child = folder.spawn(&format!("serve --port 0 {arguments}"));
        let (mut line, mut agents, mut access) = (String::new(), String::new(), String::new());
        let mut printed = BufReader::new(child.stdout.as_mut().unwrap());
        printed.read_line(&mut line).unwrap();
        while !access.contains("client key") {
            agents += &std::mem::take(&mut access);
            if printed.read_line(&mut access).unwrap() == 0 {
                break;
            }
        }
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1"));
        let Some(address) = address.map(str::to_owned) else {
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            panic!("{line}{told}");
        };
        Self { child, address, agents, access }
    }

    fn post(&self, path: &str, headers: &str, body: &Value) -> String {
        let mut answer = String::new();
        self.send(path, headers, body).read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a request, and leaves the answer to be read.
    fn send(&self, path: &str, headers: &str, body: &Value) -> TcpStream {
        let (mut stream, body) = (TcpStream::connect(&self.address).unwrap(), body.to_string());
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        let head = format!("{head}content-type: application/json\r\n");
        write!(stream, "{head}{headers}content-length: {length}\r\n\r\n{body}").unwrap();
        stream
    }

    /// Ends it as a system that shuts down does; returns what it logged.
    #[track_caller]
    fn end(mut self) -> String {
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::TERM).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{log}");
        log
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or the test has failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn hello() -> Value {
    json!({ "model": "ada", "messages": [{ "role": "user", "content": "wordsOfTheUser" }] })
}

fn says(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

#[test]
fn the_page_shows_the_conversations_of_a_gateway_that_runs_on_its_store() {
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk-canary")]);
    let server = Server::script([says("Hi."), says("Fine.")]);
    let running = Running::start(
        &folder,
        &format!("--store talks.db --base-url {} --key-file key --model m", server.base_url()),
    );
    let store = folder.path().join("talks.db");
    let studio = studio::start(folder.path(), &["--port", "0", "--store", store.to_str().unwrap()]);
    let page = Page::open(&studio);
    let get = |path: &str| page.good(("GET", path), &[], &Value::Null);
    let (mut conversation, mut revision) = (String::new(), Value::Null);
    for answer in ["Hi.", "Fine."] {
        running.post("/v1/chat/completions", "x-ctx-conversation: diary\r\n", &hello());
        let project = get("/api/project");
        let files = project["files"].as_array().unwrap();
        let diary = files.iter().find(|file| file["path"].as_str().unwrap().ends_with("/diary")).unwrap();
        conversation = format!("/api/conversations/{}", diary["id"].as_str().unwrap());
        let view = get(&conversation);
        let said = view.to_string();
        assert!(said.contains("wordsOfTheUser") && said.contains(answer), "{said}");
        assert_ne!(std::mem::replace(&mut revision, view["hash"].clone()), view["hash"]);
    }
    // A step of the page is one of the conversation: the next turn goes on from there.
    let step = json!({ "base": revision, "step": { "kind": "undo" } });
    page.good(("POST", &format!("{conversation}/steps")), &[], &step);
    running.end();
    assert!(!get(&conversation).to_string().contains("Fine."));
}

#[test]
fn logs_are_json_and_hold_neither_words_nor_keys() {
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk-canary-provider")]);
    let key = folder.ctx("serve key add phone");
    let key = key.lines().find(|line| line.starts_with("ctx-")).unwrap().to_owned();
    let refused = Answer::error(401, "invalid_api_key", "Incorrect API key provided: sk-canary-provider");
    let server = Server::script([says("wordsOfTheModel"), refused]);
    let running = Running::start(
        &folder,
        &format!("--log debug --base-url {} --key-file key --model m", server.base_url()),
    );
    for header in [format!("authorization: Bearer {key}\r\n"), format!("x-api-key: {key}\r\n")] {
        running.post("/v1/chat/completions", &header, &hello());
    }
    running.post("/v1/messages", "authorization: Bearer ctx-canary-wrong\r\n", &json!({}));
    let log = running.end();
    assert!(log.lines().count() >= 3, "{log}");
    for line in log.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    for secret in ["canary", "wordsOfTheUser", "wordsOfTheModel", &key] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}

#[test]
fn another_provider_stands_in_for_one_that_does_not_answer() {
    let down = Server::start(|_| Answer::error(503, "down", "try later"));
    let up = Server::start(|_| says("Hi."));
    let table =
        |server: &Server, key: &str| format!("base-url = \"{}\"\nkey-file = \"{key}\"\n", server.base_url());
    let config =
        format!("model = \"m\"\n[endpoint]\n{}[[fallbacks]]\n{}", table(&down, "one"), table(&up, "two"));
    let folder =
        Folder::with(&[("ada.yaml", AGENT), ("one", "sk-one"), ("two", "sk-two"), ("ctx.toml", &config)]);
    let untrusted = folder.ctx("serve --port 0");
    assert!(untrusted.contains("ctx trust"), "{untrusted}");
    folder.ctx("trust .");
    let running = Running::start(&folder, "");
    let answer = running.post("/v1/chat/completions", "", &hello());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (first, second) = (down.take_requests(), up.take_requests());
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(first[0].body, second[0].body);
    assert_eq!(first[0].header("authorization"), Some("Bearer sk-one"));
    assert_eq!(second[0].header("authorization"), Some("Bearer sk-two"));
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let folder = Folder::with(&[("ada.yaml", AGENT)]);
    let added = folder.ctx("serve key add phone --agents ada,bob --requests-per-minute 5");
    assert!(added.starts_with("exit code 0\n=== output\nctx-"), "{added}");
    assert!(added.contains("warning: `.` has no agent `bob`\n"), "{added}");
    assert_eq!(folder.ctx("serve key list"), "exit code 0\n=== output\nphone\tada,bob\n");
    assert!(folder.ctx("serve key add phone").starts_with("exit code 2"));
    assert_eq!(folder.ctx("serve key revoke phone"), "exit code 0\n=== output\nrevoked `phone`\n");
    assert!(folder.ctx("serve key revoke phone").starts_with("exit code 2"));
}

#[test]
fn prints_key_file_at_start() {
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk")]);
    let arguments = "--log off --base-url http://127.0.0.1:9 --key-file key --model m";
    let start = || Running::start(&folder, arguments).access.trim().to_owned();
    assert_eq!(start(), "no key file: programs on this machine need no client key");
    folder.ctx("serve key add phone");
    let access = start();
    assert!(access.starts_with("clients need a client key; `"), "{access}");
    assert!(access.ends_with("serve-keys.json` has 1"), "{access}");
}

#[test]
fn refuses_to_start_after_key_file_was_deleted() {
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk")]);
    let serve = "serve --port 0 --base-url http://127.0.0.1:9 --key-file key --model m";
    folder.ctx("serve key add phone");
    std::fs::remove_file(folder.path().join("serve-keys.json")).unwrap();
    let refused = folder.ctx(serve);
    assert!(refused.starts_with("exit code 3") && refused.contains("serve-keys.json"), "{refused}");
    assert!(folder.ctx("trust . --remove").starts_with("exit code 0"));
    let arguments = "--base-url http://127.0.0.1:9 --key-file key --model m";
    assert_eq!(
        Running::start(&folder, arguments).access.trim(),
        "no key file: programs on this machine need no client key"
    );
}

#[test]
fn changes_no_key_file_of_others() {
    let foreign = "{\"keys\": [{\"name\": \"mallory\", \"hash\": \"00\"}]}";
    let folder = Folder::with(&[("ada.yaml", AGENT), ("serve-keys.json", foreign)]);
    for change in ["serve key add phone", "serve key revoke mallory"] {
        let refused = folder.ctx(change);
        assert!(refused.starts_with("exit code 2") && refused.contains("`ctx trust"), "{refused}");
        assert_eq!(std::fs::read_to_string(folder.path().join("serve-keys.json")).unwrap(), foreign);
    }
    assert!(folder.ctx("serve key add phone --keys serve-keys.json").starts_with("exit code 0"));
    assert_eq!(folder.ctx("serve key list"), "exit code 0\n=== output\nmallory\t*\nphone\t*\n");
}

#[test]
fn what_cannot_be_served_is_told() {
    let folder = Folder::with(&[("ada.yaml", AGENT), ("empty/notes.md", "none"), ("key", "sk")]);
    let local = "--base-url http://127.0.0.1:9 --key-file key --port 0";
    let open = folder.ctx(&format!("serve . --host 0.0.0.0 {local}"));
    assert!(open.starts_with("exit code 3") && open.contains("`ctx serve key add NAME --dir .`"), "{open}");
    assert!(!open.contains("=== output"), "{open}");
    let empty = folder.ctx("serve empty");
    assert!(empty.starts_with("exit code 3") && empty.contains("no agent in `empty`"), "{empty}");
    folder.write("empty/a.yaml", b"content: {{x}}\n");
    let broken = folder.ctx("serve empty");
    assert!(broken.starts_with("exit code 3") && broken.contains("error[CTX0603]: invalid YAML"), "{broken}");
    assert!(broken.contains("--> a.yaml:1:11"), "{broken}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let taken = folder.ctx(&format!("serve --base-url http://127.0.0.1:9 --key-file key --port {port}"));
    let told = format!("error: port {port} is in use; choose another with `--port`\n");
    assert!(taken.starts_with("exit code 3") && taken.ends_with(&told), "{taken}");
    let missing = folder.ctx(&format!("serve missing {local}"));
    assert!(missing.starts_with("exit code 3") && missing.contains("missing"), "{missing}");
    let keyless = folder.ctx("serve --port 0");
    assert!(keyless.contains("OPENAI_API_KEY"), "{keyless}");
}

#[test]
fn starts_without_a_key_that_no_agent_needs() {
    let provider = Server::start(|_| says("Hi."));
    let config = format!(
        "[[endpoints]]\nagents = [\"ada\"]\nbase-url = \"{}\"\nkey-file = \"key\"\nmodel = \"m\"\n",
        provider.base_url()
    );
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk-one"), ("ctx.toml", &config)]);
    folder.ctx("trust .");
    let answer = Running::start(&folder, "").post("/v1/chat/completions", "", &hello());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Always runs with `SQLite`, and with `PostgreSQL` if `CTX_TEST_POSTGRES` names a database.
#[test]
fn a_process_that_is_killed_lets_its_conversations_go() {
    check_killed(None);
    let named = std::env::var("CTX_TEST_POSTGRES").ok().filter(|named| named.starts_with("postgres"));
    match named {
        Some(database) => check_killed(Some(&database)),
        None => eprintln!("NOT TESTED on PostgreSQL: `CTX_TEST_POSTGRES` names no database by an address"),
    }
}

/// Kills a gateway during a turn. Another gateway on the same database or file runs the next turn.
#[track_caller]
fn check_killed(database: Option<&str>) {
    let stalled = Answer::stream(vec![Step::Bytes(sse(&[word("One ")], false)), Step::Stall]);
    let server = Server::script([stalled, says("Two.")]);
    let folder = Folder::with(&[("ada.yaml", AGENT), ("key", "sk")]);
    let store = database.unwrap_or("s.db");
    let arguments = format!("--store {store} --base-url {} --key-file key --model m", server.base_url());
    let (one, two) = (Running::start(&folder, &arguments), Running::start(&folder, &arguments));
    let name = format!("x-ctx-conversation: killed-{}\r\n", std::process::id());
    let mut first = hello();
    first["stream"] = true.into();
    let mut lines = BufReader::new(one.send("/v1/chat/completions", &name, &first));
    let mut line = String::new();
    while !line.contains("One ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0);
    }
    drop(one);
    if database.is_none() {
        // Expire the lease of the killed process.
        let file = rusqlite::Connection::open(folder.path().join("s.db")).unwrap();
        assert_eq!(file.execute("UPDATE leases SET expires = 0", []).unwrap(), 1);
    }
    let mut second = hello();
    second["messages"][0]["content"] = "wordsOfTheUser again".into();
    let answer = two.post("/v1/chat/completions", &name, &second);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let sent = server.requests().pop().unwrap().messages();
    let words: usize = sent.iter().map(|(_, text)| text.matches("wordsOfTheUser").count()).sum();
    assert_eq!(words, 2, "{sent:?}");
}

#[test]
fn one_cause_has_one_exit_code_in_every_command() {
    let folder = Folder::with(&[("ada.yaml", AGENT)]);
    for (endpoint, code) in [
        ("", 2),
        ("--key-env NO_SUCH_KEY", 2),
        ("--key-file nope", 3),
        ("--base-url x", 2),
        ("--base-url http://127.0.0.1:9 --key-file nope", 3),
    ] {
        for command in ["chat ada.yaml --once Hello --model m", "serve --port 0 --model m"] {
            let told = folder.ctx(&format!("{command} {endpoint}"));
            assert!(told.starts_with(&format!("exit code {code}\n")), "{command} {endpoint}: {told}");
        }
    }
}

#[test]
fn prints_context_window_of_each_agent() {
    let compressing =
        format!("{AGENT}parameters: {{processors: [{{id: request-compressor, enabled: true}}]}}\n");
    let limited = format!(
        "{AGENT}modelId: gpt-4o\nparameters: {{contextManagement: {{enabled: true, maxContextTokens: 4000}}}}\n"
    );
    let files = [("ada.yaml", AGENT), ("bob.yaml", &limited), ("eva.yaml", &compressing), ("key", "sk")];
    let folder = Folder::with(&files);
    let served = |models: Option<Answer>, more: &str| {
        let server = Server::start_with(models, |_| says("Hi."));
        let running =
            Running::start(&folder, &format!("--base-url {} --key-file key {more}", server.base_url()));
        running.agents.clone()
    };
    let listed = json!({ "data": [{ "id": "m", "max_model_len": 32_768 }] });
    assert_eq!(
        served(Some(Answer::json(200, &listed)), "--model m"),
        "ada: m, 32768 tokens (server)\nbob: m, 4000 tokens (agent file)\neva: m, 32768 tokens (server)\n"
    );
    assert_eq!(
        served(None, "--model m"),
        "ada: m, unknown context window; set one with `--context-tokens`\nbob: m, 4000 tokens (agent file)\n"
    );
    assert_eq!(
        served(None, "--model m --context-tokens 8000"),
        "ada: m, 8000 tokens (--context-tokens)\nbob: m, 8000 tokens (--context-tokens)\n\
        eva: m, 8000 tokens (--context-tokens)\n"
    );
}

#[test]
fn refuses_compressing_agent_without_context_window() {
    let agent = format!("{AGENT}parameters: {{processors: [{{id: request-compressor, enabled: true}}]}}\n");
    let folder = Folder::with(&[("ada.yaml", &agent), ("key", "sk")]);
    let refused = folder.ctx("serve --port 0 --base-url http://127.0.0.1:9 --key-file key --model m");
    assert!(refused.starts_with("exit code 3"), "{refused}");
    assert!(refused.contains("use `--context-tokens`, or set `context-tokens` in `ctx.toml`"), "{refused}");
    let config = "[[processors]]\nid = \"request-compressor\"\nconfig = { tokenBudget = 8000 }\n";
    folder.write("ctx.toml", config.as_bytes());
    let running = Running::start(&folder, "--base-url http://127.0.0.1:9 --key-file key --model m");
    assert_eq!(running.agents, "ada: m, unknown context window; set one with `--context-tokens`\n");
}

#[test]
fn serves_aliases_and_agents_of_other_providers() {
    let (one, two) = (Server::start(|_| says("One.")), Server::start(|_| says("Two.")));
    let config = format!(
        "model = \"m\"\n[endpoint]\nbase-url = \"{}\"\nkey-file = \"one\"\n\
        [[endpoints]]\nagents = [\"eva\"]\nbase-url = \"{}\"\nkey-file = \"two\"\nmodel = \"n\"\n\
        [serve.aliases]\ngpt-4o = \"eva\"\n",
        one.base_url(),
        two.base_url()
    );
    let files = [
        ("ada.yaml", AGENT),
        ("eva.yaml", AGENT),
        ("one", "sk-one"),
        ("two", "sk-two"),
        ("ctx.toml", &config),
    ];
    let folder = Folder::with(&files);
    folder.ctx("trust .");
    let running = Running::start(&folder, "");
    for model in ["ada", "eva", "gpt-4o"] {
        let mut body = hello();
        body["model"] = model.into();
        let answer = running.post("/v1/chat/completions", "", &body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let sent = |server: &Server| {
        let requests = server.take_requests().into_iter();
        let key = |request: &crate::server::Received| request.header("authorization").unwrap().to_owned();
        requests.map(|request| (key(&request), request.json()["model"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(sent(&one), [("Bearer sk-one".to_owned(), json!("m"))]);
    assert_eq!(sent(&two), vec![("Bearer sk-two".to_owned(), json!("n")); 2]);
}

#[test]
fn warns_about_agents_that_cannot_be_read() {
    let files = [
        ("ada.yaml", AGENT),
        ("below/eva.yaml", "content: {{x}}\n"),
        ("key", "sk"),
        ("empty.json", ""),
        ("values.yaml", "replicas: {{ .Values.replicas }}\n"),
    ];
    let mut running =
        Running::start(&Folder::with(&files), "--base-url http://127.0.0.1:9 --key-file key --log off");
    running.child.kill().unwrap();
    let mut told = String::new();
    running.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(told.matches("warning: ").count(), 1, "{told}");
    assert!(
        told.contains("warning: `below/eva.yaml` is not served: invalid YAML at line 1 column 11"),
        "{told}"
    );
}
