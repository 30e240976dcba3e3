//! Two gateways on one store. Each has a separate handle, like 2 processes. Always runs with an `SQLite` file, and
//! with `PostgreSQL` if `CTX_TEST_POSTGRES` names a database.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use ctx_gateway::{KeyFile, KeyLimits};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Server, Step, end, sse, word};
use crate::test_gateway::TestGateway;

/// Runs a test on every available store.
fn on_every_store(test: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    test(&folder.path().join("conversations.db"));
    #[cfg(feature = "postgres")]
    test_on_postgres(test);
}

/// Runs a test on the database in `CTX_TEST_POSTGRES`. Without this variable, reports that the test did not run.
#[cfg(feature = "postgres")]
#[expect(clippy::print_stderr, reason = "who reads the tests' output has to know what was not tested")]
fn test_on_postgres(test: impl Fn(&Path)) {
    match std::env::var("CTX_TEST_POSTGRES").ok().filter(|named| named.starts_with("postgres")) {
        Some(named) => test(Path::new(&named)),
        None => eprintln!("NOT TESTED on PostgreSQL: `CTX_TEST_POSTGRES` names no database by an address"),
    }
}

/// Starts a gateway on a store. Its provider returns these responses.
fn gateway(store: &Path, answers: Vec<Answer>) -> TestGateway {
    open_on_store(store, Server::script(answers))
}

fn open_on_store(store: &Path, provider: Server) -> TestGateway {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.store = Some(store.to_owned());
    })
}

fn text_response(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

fn text_body(conversation: &str, text: &str, streams: bool) -> Vec<u8> {
    let user = json!([{ "role": "user", "content": text }]);
    let metadata = json!({ "conversation": conversation });
    json!({ "model": "ada", "messages": user, "stream": streams, "metadata": metadata })
        .to_string()
        .into_bytes()
}

fn texts(gateway: &TestGateway, conversation: &str) -> Vec<String> {
    let stored = gateway.get(&format!("/conversations/{conversation}")).json();
    let messages = stored["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn name(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

#[test]
fn runs_next_turn_in_any_process() {
    on_every_store(|store| {
        let (one, two) = (
            gateway(store, vec![text_response("Hi."), text_response("Noon.")]),
            gateway(store, vec![text_response("Fine.")]),
        );
        let name = name("next");
        for (gateway, text) in [(&one, "Hello"), (&two, "How are you?"), (&one, "What time is it?")] {
            let response = gateway.ask("POST", "/v1/chat/completions", &[], &text_body(&name, text, false));
            assert_eq!(response.status, 200, "{response:?}");
        }
        let all = ["Hello", "Hi.", "How are you?", "Fine.", "What time is it?", "Noon."];
        assert_eq!(texts(&one, &name), all);
        assert_eq!(texts(&two, &name), all);
    });
}

#[test]
fn waits_for_turn_of_another_process() {
    on_every_store(|store| {
        let stalled = Answer::stream(vec![Step::Bytes(sse(&[word("One ")], false)), Step::Stall]);
        let (one, two) = (gateway(store, vec![stalled]), gateway(store, vec![text_response("Two.")]));
        let name = name("waits");
        let mut lines =
            BufReader::new(one.send("POST", "/v1/chat/completions", &[], &text_body(&name, "First", true)));
        let mut line = String::new();
        while !line.contains("One ") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0);
        }
        let waiting = two.send("POST", "/v1/chat/completions", &[], &text_body(&name, "Second", false));
        // The first turn ends when its client disconnects. Only then does the second turn start.
        drop(lines);
        assert_eq!(crate::test_gateway::read(waiting).status, 200);
        assert_eq!(texts(&two, &name), ["First", "One ", "Second", "Two."]);
    });
}

#[test]
fn stores_concurrent_turns_of_two_processes_once() {
    on_every_store(|store| {
        let answers = |mark: &str| (0..8).map(|number| text_response(&format!("{mark}{number}"))).collect();
        let gateways = [gateway(store, answers("a")), gateway(store, answers("b"))];
        let name = &name("once");
        let waiting: Vec<_> = (0..16)
            .map(|number| {
                let body = text_body(name, &format!("{}{number}", ["x", "y"][number % 2]), false);
                gateways[number % 2].send("POST", "/v1/chat/completions", &[], &body)
            })
            .collect();
        for stream in waiting {
            let response = crate::test_gateway::read(stream);
            assert_eq!(response.status, 200, "{response:?}");
        }
        let said = texts(&gateways[0], name);
        assert_eq!(said.len(), 32, "{said:?}");
        assert_eq!(said.iter().collect::<BTreeSet<_>>().len(), 32, "{said:?}");
        let is_turn = |turn: &[String]| turn[0].starts_with(['x', 'y']) && turn[1].starts_with(['a', 'b']);
        assert!(said.chunks(2).all(is_turn), "{said:?}");
    });
}

#[test]
fn stores_streamed_reply_before_end_event() {
    on_every_store(|store| {
        let streamed = Answer::events(&[word("Hi."), end("stop")]);
        let (one, two) = (gateway(store, vec![streamed]), gateway(store, vec![]));
        let name = name("stored");
        let response = one.ask("POST", "/v1/chat/completions", &[], &text_body(&name, "Hello", true));
        assert!(response.body.ends_with("data: [DONE]\n\n"), "{response:?}");
        assert_eq!(texts(&two, &name), ["Hello", "Hi."]);
        let last: Vec<Value> = response.events();
        assert_eq!(last.last().unwrap()["choices"][0]["finish_reason"], "stop");
    });
}

#[test]
fn enforces_conversation_limit_across_processes() {
    on_every_store(|store| {
        let mut keys = KeyFile::default();
        let limits = KeyLimits { conversations: Some(3), ..KeyLimits::default() };
        let key = keys.add(&name("limit"), None, limits).unwrap();
        let gateway = || {
            let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
            keys.write(&folder.path().join(KeyFile::NAME)).unwrap();
            let provider = Server::start(|_| text_response("Hi."));
            TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
                options.store = Some(store.to_owned());
            })
        };
        let (gateways, key) = ([gateway(), gateway()], format!("Bearer {}", key.reveal()));
        let headers = [("authorization", key.as_str())];
        let waiting: Vec<_> = (0..16)
            .map(|number| {
                let body = text_body(&format!("c{number}"), "Hello", false);
                gateways[number % 2].send("POST", "/v1/chat/completions", &headers, &body)
            })
            .collect();
        let mut statuses: Vec<u16> =
            waiting.into_iter().map(|stream| crate::test_gateway::read(stream).status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [&[200; 3][..], &[403; 13]].concat());
    });
}

#[test]
fn stores_each_of_many_concurrent_turns_once() {
    const TURNS: usize = 40;
    on_every_store(|store| {
        let gateways = [(); 2]
            .map(|()| open_on_store(store, Server::start(|request| text_response(&answer_to(request)))));
        let names: Vec<String> = (0..4).map(|number| name(&format!("many-{number}"))).collect();
        let waiting: Vec<_> = (0..TURNS)
            .map(|number| {
                let body = text_body(&names[number % names.len()], &number.to_string(), false);
                gateways[number / names.len() % 2].send("POST", "/v1/chat/completions", &[], &body)
            })
            .collect();
        for stream in waiting {
            let response = crate::test_gateway::read(stream);
            assert_eq!(response.status, 200, "{response:?}");
        }
        for (index, name) in names.iter().enumerate() {
            let said = texts(&gateways[index % 2], name);
            let is_turn = |turn: &[String]| turn[1] == format!("answer to {}", turn[0]);
            assert!(said.chunks(2).all(is_turn), "{said:?}");
            let mut numbers: Vec<usize> = said.iter().step_by(2).map(|text| text.parse().unwrap()).collect();
            numbers.sort_unstable();
            let expected: Vec<usize> = (index..TURNS).step_by(names.len()).collect();
            assert_eq!(numbers, expected, "{said:?}");
        }
    });
}

/// Returns the reply of the scripted provider to a request.
fn answer_to(request: &crate::server::Received) -> String {
    let body = request.json();
    let said = body["messages"].as_array().unwrap().iter().rev().find(|message| message["role"] == "user");
    format!("answer to {}", said.unwrap()["content"].as_str().unwrap())
}

#[cfg(unix)]
#[test]
fn rejects_turns_after_store_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("conversations.db");
    let gateway = open_on_store(&store, Server::start(|request| text_response(&answer_to(request))));
    let ask = || gateway.ask("POST", "/v1/chat/completions", &[], &text_body("c", "Hello", false));
    assert_eq!(ask().status, 200);
    std::fs::remove_file(&store).unwrap();
    let refused = ask();
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("was deleted or replaced"), "{refused:?}");
    assert!(!store.exists());
}
