//! Conversations: unnamed and named requests, branches, retries, failures, undo, and reports.

use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::bytes::complete_response;
use crate::server::{Answer, Received, Server};
use crate::test_gateway::{TestGateway, TestResponse};

fn text_response(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

fn gateway(answers: &[&str]) -> TestGateway {
    TestGateway::new(Dialect::OpenaiChat, answers.iter().map(|text| text_response(text)).collect())
}

/// Sends messages, by turns of the user and of the assistant.
#[track_caller]
fn send(gateway: &TestGateway, said: &[&str]) -> TestResponse {
    let response = gateway.ask("POST", "/v1/chat/completions", &[], &body_of(said));
    assert_eq!(response.status, 200, "{response:?}");
    response
}

/// Sends messages, by turns of the user and of the assistant, of a named conversation. Returns the reply.
#[track_caller]
fn send_named(gateway: &TestGateway, headers: &[(&str, &str)], said: &[&str]) -> String {
    let response = gateway.ask("POST", "/v1/chat/completions", &named(headers), &body_of(said));
    assert_eq!((response.status, response.header("x-ctx-conversation")), (200, Some("c")), "{response:?}");
    response.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

fn named<'a>(headers: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("x-ctx-conversation", "c")], headers].concat()
}

/// A request with messages, by turns of the user and of the assistant.
fn body_of(said: &[&str]) -> Vec<u8> {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages: Vec<Value> =
        said.iter().zip(roles).map(|(text, role)| json!({ "role": role, "content": text })).collect();
    json!({ "model": "ada", "messages": messages }).to_string().into_bytes()
}

/// Sends a text to a named conversation.
#[track_caller]
fn send_text(gateway: &TestGateway, text: &str, headers: &[(&str, &str)]) -> TestResponse {
    gateway.ask("POST", "/v1/chat/completions", &named(headers), &body_of(&[text]))
}

/// Returns the texts of a stored conversation.
fn texts(gateway: &TestGateway, conversation: &str) -> Vec<String> {
    let stored = gateway.get(&format!("/conversations/{conversation}")).json();
    let messages = stored["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn sent(gateway: &TestGateway) -> Vec<String> {
    let last = gateway.provider.requests().pop().unwrap();
    last.messages().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn sends_tool_results_of_unnamed_requests() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{ \"at\": 1 }" } });
    let calls = json!({ "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": [call] },
        "finish_reason": "tool_calls" }] });
    let gateway =
        TestGateway::new(Dialect::OpenaiChat, vec![Answer::json(200, &calls), text_response("Red.")]);
    let question = json!({ "role": "user", "content": "Which?" });
    let first = gateway.post("/v1/chat/completions", &json!({ "model": "ada", "messages": [question] }));
    let message = first.json()["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"], json!([call]));
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "red" });
    let all = json!([question, message, result]);
    let second = gateway.post("/v1/chat/completions", &json!({ "model": "ada", "messages": all }));
    assert_eq!(second.json()["choices"][0]["message"]["content"], "Red.");
    let roles: Vec<String> =
        gateway.provider.requests()[1].messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
}

#[test]
fn sends_late_tool_results_of_unnamed_requests() {
    let gateway = gateway(&["Red."]);
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
    let messages = json!([
        { "role": "user", "content": "Which?" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "user", "content": "Hurry." },
        { "role": "tool", "tool_call_id": "c1", "content": "red" },
    ]);
    let response = gateway.post("/v1/chat/completions", &json!({ "model": "ada", "messages": messages }));
    assert_eq!(response.status, 200, "{response:?}");
    let sent = sent(&gateway);
    assert!(sent.contains(&"red".to_owned()), "{sent:?}");
    assert!(!sent.iter().any(|text| text.contains("interrupted")), "{sent:?}");
}

#[test]
fn accepts_only_new_messages_of_named_conversations() {
    let gateway = gateway(&["Hi.", "Fine.", "Yes."]);
    assert_eq!(send_text(&gateway, "Hello", &[]).status, 200);
    let second = send_text(&gateway, "How are you?", &[]);
    assert_eq!(second.header("x-ctx-conversation"), Some("c"));
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
    assert_eq!(sent(&gateway)[1..4], ["Hello", "Hi.", "How are you?"]);
    assert_eq!(send_text(&gateway, "Hello", &[]).status, 200);
    assert_eq!(texts(&gateway, "c")[2..], ["How are you?", "Fine.", "Hello", "Yes."]);
}

#[test]
fn continues_after_earlier_message() {
    let gateway = gateway(&["Hi.", "Fine.", "Noon."]);
    let first = send_text(&gateway, "Hello", &[]);
    send_text(&gateway, "How are you?", &[]);
    let answer = first.header("x-ctx-answer").unwrap();
    assert_eq!(send_text(&gateway, "What time is it?", &[("x-ctx-after", answer)]).status, 200);
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "What time is it?", "Noon."]);
    assert_eq!(send_text(&gateway, "What?", &[("x-ctx-after", "n999")]).status, 400);
}

#[test]
fn rejects_outdated_revision() {
    let gateway = gateway(&["Hi.", "Fine."]);
    let first = send_text(&gateway, "Hello", &[]);
    let revision = first.header("x-ctx-revision").unwrap();
    assert_eq!(send_text(&gateway, "How are you?", &[("x-ctx-revision", revision)]).status, 200);
    let stale = send_text(&gateway, "And you?", &[("x-ctx-revision", revision)]);
    assert_eq!((stale.status, &stale.json()["error"]["code"]), (409, &json!("conflict")), "{stale:?}");
    assert_eq!(texts(&gateway, "c").len(), 4);
}

#[test]
fn rejects_position_without_conversation() {
    let gateway = gateway(&[]);
    let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] }).to_string();
    for header in ["x-ctx-after", "x-ctx-revision"] {
        let response = gateway.ask("POST", "/v1/chat/completions", &[(header, "1")], body.as_bytes());
        assert_eq!(response.status, 400, "{response:?}");
    }
}

#[test]
fn returns_report_of_turn() {
    let gateway = gateway(&["Hi."]);
    let response = send_text(&gateway, "Hello", &[("x-ctx-explain", "1")]);
    let report = response.json()["ctx"].clone();
    let stages = report["report"]["stages"].as_array().unwrap().len();
    assert!(stages > 3, "{report}");
    let turn = response.header("x-ctx-turn").unwrap();
    let again = gateway.get(&format!("/conversations/c/turns/{turn}")).json();
    assert_eq!(again["report"], report["report"]);
    assert_eq!(gateway.get("/conversations/c/turns/n999").status, 404);
}

#[test]
fn keeps_conversation_after_restart() {
    let gateway = gateway(&["Hi."]);
    send_text(&gateway, "Hello", &[]);
    let folder = gateway.close();
    let again = TestGateway::open(
        folder,
        Dialect::OpenaiChat,
        crate::server::Server::script([text_response("Fine.")]),
    );
    send_text(&again, "How are you?", &[]);
    assert_eq!(texts(&again, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
}

#[test]
fn percent_encodes_names_in_headers() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let gateway = TestGateway::open(
        folder,
        Dialect::OpenaiChat,
        Server::start(|_| complete_response(Dialect::OpenaiChat)),
    );
    let user = json!([{ "role": "user", "content": "Hello" }]);
    for (name, encoded) in [("对话", "%E5%AF%B9%E8%AF%9D"), ("50% off", "50%25 off")] {
        let body = json!({ "model": "ada", "messages": user, "metadata": { "conversation": name } });
        let first = gateway.post("/v1/chat/completions", &body);
        assert_eq!((first.status, first.header("x-ctx-conversation")), (200, Some(encoded)), "{first:?}");
        let named = [("x-ctx-conversation", encoded)];
        let second = gateway.ask("POST", "/v1/chat/completions", &named, &body_of(&["Hello again"]));
        assert_eq!((second.status, second.header("x-ctx-conversation")), (200, Some(encoded)), "{second:?}");
        let sent = gateway.provider.requests().pop().unwrap().messages();
        assert_eq!(sent.iter().filter(|(_, text)| text.starts_with("Hello")).count(), 2, "{sent:?}");
    }
}

/// Returns the texts after the system message of the last provider request.
fn history(gateway: &TestGateway) -> Vec<String> {
    sent(gateway).split_off(1)
}

#[test]
fn stores_no_unnamed_requests() {
    let gateway = gateway(&["Hi.", "Fine.", "Bye."]);
    let trimmed = ["Hi.", "How are you?", "Fine.", "Goodbye"];
    let clock = |time: &str| json!({ "role": "system", "content": format!("It is {time}.") });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let reply = |text: &str| json!({ "role": "assistant", "content": text });
    let bodies = [
        json!([clock("12:00"), user("Hello")]),
        json!([clock("12:01"), user("Hello"), reply("Hi."), user("How are you?")]),
        json!([clock("12:02"), reply("Hi."), user("How are you?"), reply("Fine."), user("Goodbye")]),
    ];
    for messages in &bodies {
        let response = gateway.post("/v1/chat/completions", &json!({ "model": "ada", "messages": messages }));
        let headers = ["x-ctx-conversation", "x-ctx-answer", "x-ctx-revision"];
        assert_eq!(
            (response.status, headers.map(|name| response.header(name))),
            (200, [None; 3]),
            "{response:?}"
        );
        let report = gateway.get(&format!("/turns/{}", response.header("x-ctx-turn").unwrap())).json();
        assert!(report["report"]["stages"].as_array().is_some_and(|stages| !stages.is_empty()), "{report}");
    }
    assert_eq!(history(&gateway), trimmed);
    assert!(sent(&gateway)[0].ends_with("It is 12:02."), "{:?}", sent(&gateway));
    assert_eq!(gateway.get("/conversations").json()["data"], json!([]));
}

#[test]
fn aligns_full_histories() {
    let gateway = gateway(&["Hi.", "Fine.", "Bye."]);
    let said = ["Hello", "Hi.", " How are you?\n", "Fine.", "Goodbye"];
    for (count, reply) in [(1, "Hi."), (3, "Fine."), (5, "Bye.")] {
        assert_eq!(send_named(&gateway, &[], &said[..count]), reply);
    }
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", " How are you?\n", "Fine.", "Goodbye", "Bye."]);
    assert_eq!(history(&gateway), said);
}

#[test]
fn aligns_sliding_windows() {
    let gateway = gateway(&["Hi.", "Fine.", "Bye.", "Yes."]);
    let said = ["Hello", "Hi.", "How are you?", "Fine.", "Goodbye", "Bye.", "Wait"];
    for range in [0..1, 0..3, 2..5, 4..7] {
        send_named(&gateway, &[], &said[range]);
    }
    assert_eq!(texts(&gateway, "c"), [&said[..], &["Yes."]].concat());
    assert_eq!(history(&gateway), said);
}

#[test]
fn branches_where_a_message_was_edited() {
    let gateway = gateway(&["Hi.", "Fine.", "Well.", "Noon.", "Hey.", "So."]);
    let first = ["Hello", "Hi.", "How are you?", "Fine."];
    for (said, reply) in [
        (&first[..1], "Hi."),
        (&first[..3], "Fine."),
        // The same once more is another reply.
        (&first[..3], "Well."),
        (&["Hello", "Hi.", "What time is it?"], "Noon."),
        (&["Good day", "Hi.", "How are you?"], "Hey."),
        // A branch that is not the active one is continued.
        (&["Hello", "Hi.", "How are you?", "Fine.", "So?"], "So."),
    ] {
        assert_eq!(send_named(&gateway, &[], said), reply);
        assert_eq!(texts(&gateway, "c"), [said, &[reply]].concat());
        assert_eq!(history(&gateway), said);
    }
    let nodes = gateway.get("/conversations/c").json()["revision"].as_u64().unwrap();
    assert!(nodes < 25, "{nodes} steps");
}

#[test]
fn takes_system_messages_from_each_request() {
    let gateway = gateway(&["Hi.", "Fine.", "Bye."]);
    let ask = |time: &str, said: &[&str]| {
        let mut body: Value = serde_json::from_slice(&body_of(said)).unwrap();
        let clock = json!({ "role": "system", "content": format!("It is {time}.") });
        body["messages"].as_array_mut().unwrap().insert(0, clock);
        let response = gateway.ask("POST", "/v1/chat/completions", &named(&[]), body.to_string().as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let sent = sent(&gateway);
        let is_clock = |text: &&String| text.contains("It is 12");
        assert_eq!(sent.iter().filter(is_clock).count(), 1, "{sent:?}");
        assert!(sent[0].ends_with(&format!("\n\nIt is {time}.")), "{sent:?}");
    };
    ask("12:00", &["Hello"]);
    ask("12:01", &["Hello", "Hi.", "How are you?"]);
    ask("12:02", &["Goodbye"]);
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Fine.", "Goodbye", "Bye."]);
}

#[test]
fn keeps_branches_of_two_clients_apart() {
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let provider = Server::start(|request| text_response(&request.messages().last().unwrap().1));
    let gateway = TestGateway::open(gateway.close(), Dialect::OpenaiChat, provider);
    send_named(&gateway, &[], &["Hello"]);
    let said = ["One", "Two"].map(|text| ["Hello", "Hello", text]);
    let streams = said.map(|said| gateway.send("POST", "/v1/chat/completions", &named(&[]), &body_of(&said)));
    for (stream, said) in streams.into_iter().zip(&said) {
        let response = crate::test_gateway::read(stream);
        assert_eq!(response.json()["choices"][0]["message"]["content"], said[2], "{response:?}");
    }
    for said in said {
        let all = [&said[..], &[said[2], "More"]].concat();
        send_named(&gateway, &[], &all);
        assert_eq!(texts(&gateway, "c"), [&all[..], &["More"]].concat());
    }
}

#[test]
fn stores_a_retried_message_once() {
    let gateway = gateway(&["Hi.", "Hey.", "Fine.", "Well.", "Bye.", "Yes.", "No."]);
    let key = |key| [("idempotency-key", key)];
    assert_eq!(send_named(&gateway, &key("a"), &["Hello"]), "Hi.");
    assert_eq!(send_named(&gateway, &key("a"), &["Hello"]), "Hey.");
    assert_eq!(send_named(&gateway, &key("b"), &["How are you?"]), "Fine.");
    assert_eq!(send_named(&gateway, &[], &["How are you?"]), "Well.");
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hey.", "How are you?", "Well."]);
    send_named(&gateway, &[], &["Goodbye"]);
    assert_eq!(history(&gateway), ["Hello", "Hey.", "How are you?", "Well.", "Goodbye"]);
    // With different keys, the same message is another one.
    send_named(&gateway, &key("c"), &["Wait"]);
    send_named(&gateway, &key("d"), &["Wait"]);
    assert_eq!(texts(&gateway, "c")[6..], ["Wait", "Yes.", "Wait", "No."]);
}

#[test]
fn never_sends_the_report_of_a_failed_turn() {
    let failure = || Answer::error(400, "odd", "no");
    let answers =
        vec![text_response("Hi."), failure(), text_response("Fine."), failure(), text_response("Bye.")];
    let gateway = TestGateway::new(Dialect::OpenaiChat, answers);
    send_named(&gateway, &[], &["Hello"]);
    assert_eq!(send_text(&gateway, "How are you?", &[]).status, 400);
    let stored = gateway.get("/conversations/c").json();
    assert_eq!(stored["messages"][3]["partType"], "error", "{stored}");
    let turn = stored["messages"][2]["id"].as_str().unwrap();
    let report = gateway.get(&format!("/conversations/c/turns/{turn}")).json();
    assert!(report["report"].is_object() && report["error"].as_str().unwrap().contains("no"), "{report}");
    // A retry answers the same message.
    assert_eq!(send_named(&gateway, &[], &["Hello", "Hi.", "How are you?"]), "Fine.");
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
    assert_eq!(send_text(&gateway, "Wait", &[]).status, 400);
    assert_eq!(send_named(&gateway, &[], &["Goodbye"]), "Bye.");
    let merged = "Wait\n\n---\n\nGoodbye";
    assert_eq!(history(&gateway), ["Hello", "Hi.", "How are you?", "Fine.", merged]);
    assert!(texts(&gateway, "c")[5].contains("LLM_ERROR"), "{:?}", texts(&gateway, "c"));
}

#[test]
fn takes_cache_marks_from_each_request() {
    let reply = json!({ "type": "message", "role": "assistant", "content": [{ "type": "text", "text": "Hi." }],
        "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let gateway =
        TestGateway::new(Dialect::Anthropic, vec![Answer::json(200, &reply), Answer::json(200, &reply)]);
    let mark = json!({ "type": "ephemeral" });
    let marked = |text: &str| json!([{ "type": "text", "text": text, "cache_control": mark }]);
    let plain = |text: &str| json!([{ "type": "text", "text": text }]);
    let first = json!([{ "role": "user", "content": marked("Hello") }]);
    let second = json!([{ "role": "user", "content": plain("Hello") }, { "role": "assistant", "content": "Hi." },
        { "role": "user", "content": marked("How are you?") }]);
    for messages in [first, second] {
        let body = json!({ "model": "ada", "max_tokens": 9, "messages": messages }).to_string();
        let response = gateway.ask("POST", "/v1/messages", &named(&[]), body.as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let sent = gateway.provider.requests().pop().unwrap().json();
        assert_eq!(sent["messages"].to_string().matches("ephemeral").count(), 1, "{sent}");
    }
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Hi."]);
}

#[test]
fn reads_conversation_name_from_body_of_each_api() {
    let gateway = gateway(&["1", "2", "3", "4"]);
    let metadata = json!({ "conversation": "c" });
    let user = |text: &str| json!([{ "role": "user", "content": text }]);
    let bodies = [
        ("/v1/chat/completions", json!({ "model": "ada", "messages": user("a"), "metadata": metadata })),
        (
            "/v1/messages",
            json!({ "model": "ada", "max_tokens": 9, "messages": user("b"), "metadata": metadata }),
        ),
        ("/v1/responses", json!({ "model": "ada", "input": "c", "conversation": "c" })),
        (
            "/v1beta/models/ada:generateContent",
            json!({ "contents": [{ "parts": [{ "text": "d" }] }], "metadata": metadata }),
        ),
    ];
    for (path, body) in bodies {
        let response = gateway.post(path, &body);
        assert_eq!(
            (response.status, response.header("x-ctx-conversation")),
            (200, Some("c")),
            "{response:?}"
        );
    }
    assert_eq!(texts(&gateway, "c"), ["a", "1", "b", "2", "c", "3", "d", "4"]);
}

#[test]
fn continues_a_previous_response() {
    let gateway = gateway(&["Hi.", "Fine.", "Well."]);
    let ask = |body: &Value| gateway.post("/v1/responses", body);
    let first = ask(&json!({ "model": "ada", "input": "Hello", "conversation": "c" })).json();
    let previous = &first["id"];
    let replies = ["Fine.", "Well."].map(|reply| {
        let next = json!({ "model": "ada", "input": "How are you?", "previous_response_id": previous });
        let response = ask(&next);
        assert_eq!(response.header("x-ctx-conversation"), Some("c"));
        assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", reply]);
        response
    });
    // The second is a retry of the first.
    assert_eq!(replies[0].header("x-ctx-turn"), replies[1].header("x-ctx-turn"));
    let unknown = json!({ "model": "ada", "input": "Hello", "previous_response_id": "resp_0" });
    assert_eq!(ask(&unknown).status, 400);
    let response = format!("/v1/responses/{}", previous.as_str().unwrap());
    let report = format!("/conversations/c/turns/{}", replies[1].header("x-ctx-turn").unwrap());
    let statuses = || [&response, &report].map(|path| gateway.get(path).status);
    assert_eq!(statuses(), [200, 200]);
    assert_eq!(gateway.ask("DELETE", "/conversations/c", &[], b"").status, 200);
    assert_eq!(statuses(), [404, 404]);
}

#[test]
fn names_conversations_by_enabled_fields() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let names = "conversation-names = [\"metadata.user_id\", \"prompt_cache_key\"]";
    std::fs::write(folder.path().join("ctx.toml"), names).unwrap();
    let provider = Server::start(|_| complete_response(Dialect::OpenaiChat));
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.config.is_ignored = false;
    });
    let user = json!([{ "role": "user", "content": "Hello" }]);
    let metadata = json!({ "user_id": json!({ "device_id": "d", "session_id": "s1" }).to_string() });
    let body = json!({ "model": "ada", "max_tokens": 9, "messages": user, "metadata": metadata });
    assert_eq!(gateway.post("/v1/messages", &body).header("x-ctx-conversation"), Some("s1"));
    let body = json!({ "model": "ada", "messages": user, "prompt_cache_key": "k" });
    assert_eq!(gateway.post("/v1/chat/completions", &body).header("x-ctx-conversation"), Some("k"));
    assert_eq!(send_text(&gateway, "Hello", &[]).header("x-ctx-conversation"), None);
    // Another request of the same client, such as one for a title, is a branch.
    let title = json!({ "model": "ada", "prompt_cache_key": "k",
        "messages": [{ "role": "user", "content": "Write a title." }] });
    gateway.post("/v1/chat/completions", &title);
    assert_eq!(texts(&gateway, "k")[0], "Write a title.");
}

#[test]
fn counts_tokens_while_a_turn_runs() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let provider = Server::start(move |_| {
        released.recv().unwrap_or_default();
        text_response("Hi.")
    });
    let gateway = TestGateway::open(folder, Dialect::OpenaiChat, provider);
    let running = gateway.send("POST", "/v1/chat/completions", &named(&[]), &body_of(&["Hello"]));
    while gateway.get("/conversations/c").status == 404 {}
    let count = gateway.ask("POST", "/v1/messages/count_tokens", &named(&[]), &body_of(&["Hello"]));
    assert!(count.json()["input_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{count:?}");
    release.send(()).unwrap();
    assert_eq!(crate::test_gateway::read(running).status, 200);
}

#[test]
fn undoes_a_turn_and_deletes_a_conversation() {
    let gateway = gateway(&["Hi.", "Fine."]);
    send_text(&gateway, "Hello", &[]);
    send_text(&gateway, "How are you?", &[]);
    let undone = gateway.ask("POST", "/conversations/c/undo", &[], b"");
    assert_eq!(undone.status, 200, "{undone:?}");
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi."]);
    assert_eq!(gateway.ask("POST", "/conversations/c/redo", &[], b"").status, 200);
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
    let stale = gateway.ask("POST", "/conversations/c/undo", &[("x-ctx-revision", "1")], b"");
    assert_eq!(stale.status, 409);
    assert_eq!(gateway.ask("DELETE", "/conversations/c", &[], b"").json()["deleted"], true);
    assert_eq!(gateway.get("/conversations/c").status, 404);
    assert_eq!(gateway.ask("DELETE", "/conversations/c", &[], b"").status, 404);
}

fn append_only_gateway() -> TestGateway {
    let gateway = gateway(&["Hi.", "Fine.", "Bye."]);
    let agent = "name: Ada\nprefix: append-only\npresetMessages:\n- {role: system, content: You are Ada.}\n\
         - {type: chat_history}\n- {role: system, content: \"Answer to {{lastUserMessage}}.\", depth: 2}\n";
    std::fs::write(gateway.folder.path().join("ada.yaml"), agent).unwrap();
    gateway
}

#[test]
fn puts_changing_texts_last_in_unnamed_requests() {
    let gateway = append_only_gateway();
    send(&gateway, &["Hello"]);
    assert_eq!(sent(&gateway), ["You are Ada.", "Hello", "Answer to Hello."]);
    send(&gateway, &["Hello", "Hi.", "How are you?"]);
    assert_eq!(sent(&gateway), ["You are Ada.", "Hello", "Hi.", "How are you?", "Answer to How are you?."]);
}

#[test]
fn repeats_requests_of_named_conversations() {
    let gateway = append_only_gateway();
    for text in ["Hello", "How are you?", "Goodbye"] {
        send_text(&gateway, text, &[]);
    }
    let requests = gateway.provider.requests();
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(Received::messages);
        assert_eq!(before[..], after[..before.len()]);
    }
    assert!(sent(&gateway).contains(&"Answer to Hello.".to_owned()), "{:?}", sent(&gateway));
}

#[test]
fn accepts_trailing_system_messages_of_named_requests() {
    let gateway = append_only_gateway();
    for said in [&["Hello"][..], &["Hello", "Hi.", "How are you?"]] {
        let mut body: Value = serde_json::from_slice(&body_of(said)).unwrap();
        let note = json!({ "role": "system", "content": "Be quick." });
        body["messages"].as_array_mut().unwrap().push(note);
        let response = gateway.ask("POST", "/v1/chat/completions", &named(&[]), body.to_string().as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let notes = sent(&gateway).iter().filter(|text| text.contains("Be quick.")).count();
        assert_eq!(notes, 1, "{:?}", sent(&gateway));
    }
    assert_eq!(texts(&gateway, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
}
