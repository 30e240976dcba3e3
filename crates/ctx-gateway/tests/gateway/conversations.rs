//! Conversations: those that are found again, those that are named, branches, undo, and why a turn was sent as it was.

use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::bytes::whole;
use crate::house::{Got, House};
use crate::server::{Answer, Received, Server};

fn says(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

fn house(answers: &[&str]) -> House {
    House::new(Dialect::OpenaiChat, answers.iter().map(|text| says(text)).collect())
}

/// Sends messages, by turns of the user and of the assistant.
#[track_caller]
fn send(house: &House, said: &[&str]) -> Got {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages: Vec<Value> =
        said.iter().zip(roles).map(|(text, role)| json!({ "role": role, "content": text })).collect();
    let got = house.post("/v1/chat/completions", &json!({ "model": "ada", "messages": messages }));
    assert_eq!(got.status, 200, "{got:?}");
    got
}

/// Says something in a conversation that is named.
#[track_caller]
fn say(house: &House, text: &str, headers: &[(&str, &str)]) -> Got {
    let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": text }] });
    let headers = [&[("x-ctx-conversation", "c")], headers].concat();
    house.ask("POST", "/v1/chat/completions", &headers, body.to_string().as_bytes())
}

/// The texts of a stored conversation.
fn texts(house: &House, conversation: &str) -> Vec<String> {
    let stored = house.get(&format!("/conversations/{conversation}")).json();
    let messages = stored["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn sent(house: &House) -> Vec<String> {
    let last = house.provider.requests().pop().unwrap();
    last.messages().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_request_that_sends_everything_goes_on_with_the_conversation_that_it_continues() {
    let house = house(&["Hi.", "Fine.", "Bye."]);
    let first = send(&house, &["Hello"]);
    let second = send(&house, &["Hello", "Hi.", "How are you?"]);
    let third = send(&house, &["Hello", "Hi.", "How are you?", "Fine.", "Goodbye"]);
    let name = first.header("x-ctx-conversation").unwrap().to_owned();
    assert_eq!(second.header("x-ctx-conversation"), Some(&*name));
    assert_eq!(third.header("x-ctx-conversation"), Some(&*name));
    assert_eq!(texts(&house, &name), ["Hello", "Hi.", "How are you?", "Fine.", "Goodbye", "Bye."]);
    assert_eq!(house.get("/conversations").json()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn asking_again_or_otherwise_begins_a_branch() {
    let house = house(&["Hi.", "Fine.", "Well.", "Noon."]);
    let first = send(&house, &["Hello"]);
    let name = first.header("x-ctx-conversation").unwrap().to_owned();
    let said = [
        &["Hello", "Hi.", "How are you?"][..],
        &["Hello", "Hi.", "How are you?"],
        &["Hello", "Hi.", "What time is it?"],
    ];
    for (said, answer) in said.into_iter().zip(["Fine.", "Well.", "Noon."]) {
        let got = send(&house, said);
        assert_eq!(got.header("x-ctx-conversation"), Some(&*name));
        assert_eq!(texts(&house, &name), [said, &[answer]].concat());
    }
}

#[test]
fn conversations_that_begin_with_the_same_words_stay_apart() {
    let house = house(&["Hi.", "Hey."]);
    let (one, other) = (send(&house, &["Hello"]), send(&house, &["Hello"]));
    assert_ne!(one.header("x-ctx-conversation"), other.header("x-ctx-conversation"));
}

#[test]
fn words_that_nobody_said_are_another_conversation() {
    let house = house(&["Hi.", "Fine."]);
    let first = send(&house, &["Hello"]);
    let other = send(&house, &["Hello", "Something else.", "How are you?"]);
    assert_ne!(first.header("x-ctx-conversation"), other.header("x-ctx-conversation"));
    assert_eq!(sent(&house)[1..4], ["Hello", "Something else.", "How are you?"]);
}

#[test]
fn results_of_tools_go_on_with_the_turn_that_called_them() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{ \"at\": 1 }" } });
    let calls = json!({ "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": [call] },
        "finish_reason": "tool_calls" }] });
    let house = House::new(Dialect::OpenaiChat, vec![Answer::json(200, &calls), says("Red.")]);
    let question = json!({ "role": "user", "content": "Which?" });
    let first = house.post("/v1/chat/completions", &json!({ "model": "ada", "messages": [question] }));
    let message = first.json()["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"], json!([call]));
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "red" });
    let all = json!([question, message, result]);
    let second = house.post("/v1/chat/completions", &json!({ "model": "ada", "messages": all }));
    assert_eq!(second.json()["choices"][0]["message"]["content"], "Red.");
    assert_eq!(second.header("x-ctx-conversation"), first.header("x-ctx-conversation"));
    let roles: Vec<String> =
        house.provider.requests()[1].messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
}

#[test]
fn a_named_conversation_is_sent_only_what_is_new() {
    let house = house(&["Hi.", "Fine."]);
    assert_eq!(say(&house, "Hello", &[]).status, 200);
    let second = say(&house, "How are you?", &[]);
    assert_eq!(second.header("x-ctx-conversation"), Some("c"));
    assert_eq!(texts(&house, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
    assert_eq!(sent(&house)[1..4], ["Hello", "Hi.", "How are you?"]);
}

#[test]
fn every_dialect_can_name_a_conversation_in_its_body() {
    let house = house(&["1", "2", "3", "4"]);
    let metadata = json!({ "conversation": "c" });
    let user = json!([{ "role": "user", "content": "Hello" }]);
    let bodies = [
        ("/v1/chat/completions", json!({ "model": "ada", "messages": user, "metadata": metadata })),
        ("/v1/messages", json!({ "model": "ada", "max_tokens": 9, "messages": user, "metadata": metadata })),
        ("/v1/responses", json!({ "model": "ada", "input": "Hello", "conversation": "c" })),
        (
            "/v1beta/models/ada:generateContent",
            json!({ "contents": [{ "parts": [{ "text": "Hello" }] }], "metadata": metadata }),
        ),
    ];
    for (path, body) in bodies {
        let got = house.post(path, &body);
        assert_eq!((got.status, got.header("x-ctx-conversation")), (200, Some("c")), "{got:?}");
    }
    assert_eq!(texts(&house, "c"), ["Hello", "1", "Hello", "2", "Hello", "3", "Hello", "4"]);
}

#[test]
fn a_turn_can_go_on_behind_an_earlier_message() {
    let house = house(&["Hi.", "Fine.", "Noon."]);
    let first = say(&house, "Hello", &[]);
    say(&house, "How are you?", &[]);
    let answer = first.header("x-ctx-answer").unwrap();
    assert_eq!(say(&house, "What time is it?", &[("x-ctx-after", answer)]).status, 200);
    assert_eq!(texts(&house, "c"), ["Hello", "Hi.", "What time is it?", "Noon."]);
    assert_eq!(say(&house, "What?", &[("x-ctx-after", "n999")]).status, 400);
}

#[test]
fn who_has_not_seen_the_latest_revision_is_refused() {
    let house = house(&["Hi.", "Fine."]);
    let first = say(&house, "Hello", &[]);
    let revision = first.header("x-ctx-revision").unwrap();
    assert_eq!(say(&house, "How are you?", &[("x-ctx-revision", revision)]).status, 200);
    let stale = say(&house, "And you?", &[("x-ctx-revision", revision)]);
    assert_eq!((stale.status, &stale.json()["error"]["code"]), (409, &json!("conflict")), "{stale:?}");
    assert_eq!(texts(&house, "c").len(), 4);
}

#[test]
fn a_place_without_a_conversation_is_refused() {
    let house = house(&[]);
    let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] }).to_string();
    for header in ["x-ctx-after", "x-ctx-revision"] {
        let got = house.ask("POST", "/v1/chat/completions", &[(header, "1")], body.as_bytes());
        assert_eq!(got.status, 400, "{got:?}");
    }
}

#[test]
fn steps_are_undone_and_done_again() {
    let house = house(&["Hi."]);
    say(&house, "Hello", &[]);
    let undone = house.ask("POST", "/conversations/c/undo", &[], b"");
    assert_eq!(undone.status, 200, "{undone:?}");
    assert_eq!(texts(&house, "c"), ["Hello"]);
    assert_eq!(house.ask("POST", "/conversations/c/redo", &[], b"").status, 200);
    assert_eq!(texts(&house, "c"), ["Hello", "Hi."]);
    let stale = house.ask("POST", "/conversations/c/undo", &[("x-ctx-revision", "1")], b"");
    assert_eq!(stale.status, 409);
}

#[test]
fn a_turn_can_be_explained() {
    let house = house(&["Hi."]);
    let got = say(&house, "Hello", &[("x-ctx-explain", "1")]);
    let told = got.json()["ctx"].clone();
    let stages = told["report"]["stages"].as_array().unwrap().len();
    assert!(stages > 3, "{told}");
    let turn = got.header("x-ctx-turn").unwrap();
    let again = house.get(&format!("/conversations/c/turns/{turn}")).json();
    assert_eq!(again["report"], told["report"]);
    assert_eq!(house.get("/conversations/c/turns/n999").status, 404);
}

#[test]
fn a_failed_turn_can_be_sent_again() {
    let house =
        House::new(Dialect::OpenaiChat, vec![says("Hi."), Answer::error(400, "odd", "no"), says("Fine.")]);
    let name = send(&house, &["Hello"]).header("x-ctx-conversation").unwrap().to_owned();
    let said = ["user", "assistant", "user"].into_iter().zip(["Hello", "Hi.", "How are you?"]);
    let said: Vec<Value> = said.map(|(role, text)| json!({ "role": role, "content": text })).collect();
    let body = json!({ "model": "ada", "messages": said });
    let failed = house.post("/v1/chat/completions", &body);
    assert_eq!(failed.status, 400, "{failed:?}");
    let got = house.post("/v1/chat/completions", &body);
    assert_eq!(got.json()["choices"][0]["message"]["content"], "Fine.");
    assert_eq!(texts(&house, &name), ["Hello", "Hi.", "How are you?", "Fine."]);
}

#[test]
fn a_conversation_outlives_the_gateway() {
    let house = house(&["Hi."]);
    say(&house, "Hello", &[]);
    let folder = house.close();
    let again = House::open(folder, Dialect::OpenaiChat, crate::server::Server::script([says("Fine.")]));
    say(&again, "How are you?", &[]);
    assert_eq!(texts(&again, "c"), ["Hello", "Hi.", "How are you?", "Fine."]);
}

#[test]
fn a_request_that_sends_everything_goes_on_after_the_gateway_was_started_anew() {
    let mut house = house(&["Hi.", "Fine.", "Bye."]);
    let name = send(&house, &["Hello"]).header("x-ctx-conversation").unwrap().to_owned();
    let said = ["Hello", "Hi.", "How are you?", "Fine.", "Goodbye"];
    for (said, answer) in [(&said[..3], "Fine."), (&said, "Bye."), (&said[..3], "Well.")] {
        let answers = crate::server::Server::script([says(answer)]);
        house = House::open(house.close(), Dialect::OpenaiChat, answers);
        assert_eq!(send(&house, said).header("x-ctx-conversation"), Some(&*name));
        assert_eq!(texts(&house, &name), [said, &[answer]].concat());
    }
}

#[test]
fn names_of_any_script_are_percent_encoded_in_headers() {
    let folder = House::new(Dialect::OpenaiChat, vec![]).close();
    let house = House::open(folder, Dialect::OpenaiChat, Server::start(|_| whole(Dialect::OpenaiChat)));
    let user = json!([{ "role": "user", "content": "Hello" }]);
    for (name, encoded) in [("对话", "%E5%AF%B9%E8%AF%9D"), ("50% off", "50%25 off")] {
        let body = json!({ "model": "ada", "messages": user, "metadata": { "conversation": name } });
        let first = house.post("/v1/chat/completions", &body);
        assert_eq!((first.status, first.header("x-ctx-conversation")), (200, Some(encoded)), "{first:?}");
        let body = json!({ "model": "ada", "messages": user }).to_string();
        let named = [("x-ctx-conversation", encoded)];
        let second = house.ask("POST", "/v1/chat/completions", &named, body.as_bytes());
        assert_eq!((second.status, second.header("x-ctx-conversation")), (200, Some(encoded)), "{second:?}");
        let sent = house.provider.requests().pop().unwrap().messages();
        assert_eq!(sent.iter().filter(|(_, text)| text == "Hello").count(), 2, "{sent:?}");
    }
}

fn append_only_house() -> House {
    let house = house(&["Hi.", "Fine.", "Bye."]);
    let agent = "name: Ada\nprefix: append-only\npresetMessages:\n- {role: system, content: You are Ada.}\n\
         - {type: chat_history}\n- {role: system, content: \"Answer to {{lastUserMessage}}.\", depth: 2}\n";
    std::fs::write(house.folder.path().join("ada.yaml"), agent).unwrap();
    house
}

#[test]
fn puts_changing_texts_at_the_end_of_unnamed_requests() {
    let house = append_only_house();
    send(&house, &["Hello"]);
    assert_eq!(sent(&house), ["You are Ada.", "Hello", "Answer to Hello."]);
    send(&house, &["Hello", "Hi.", "How are you?"]);
    assert_eq!(sent(&house), ["You are Ada.", "Hello", "Hi.", "How are you?", "Answer to How are you?."]);
}

#[test]
fn repeats_requests_of_named_conversations() {
    let house = append_only_house();
    for text in ["Hello", "How are you?", "Goodbye"] {
        say(&house, text, &[]);
    }
    let requests = house.provider.requests();
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(Received::messages);
        assert_eq!(before[..], after[..before.len()]);
    }
    assert!(sent(&house).contains(&"Answer to Hello.".to_owned()), "{:?}", sent(&house));
}
