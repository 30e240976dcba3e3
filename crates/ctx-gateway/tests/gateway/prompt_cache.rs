//! Cache marks, and the prefix that a request shares with the previous one.

use ctx_types::CachePolicy;
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::bytes::complete_response;
use crate::server::{Answer, Server};
use crate::test_gateway::{TestGateway, TestResponse};

const AGENT: &str = "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n\
     - {role: system, content: \"It is {{date}}.\"}\n- {type: chat_history}\n";

/// Serves an agent.
fn gateway(agent: &str, dialect: Dialect, cache_marks: Option<CachePolicy>) -> TestGateway {
    let folder = TestGateway::new(dialect, vec![]).close();
    std::fs::write(folder.path().join("ada.yaml"), agent).unwrap();
    let provider = Server::start(move |_| complete_response(dialect));
    TestGateway::open_with(folder, dialect, provider, |options| options.cache_marks = cache_marks)
}

/// Returns the cache marks in the provider's request.
fn marks(gateway: &TestGateway, body: &Value) -> Vec<&'static str> {
    assert_eq!(gateway.post("/v1/messages", body).status, 200);
    let sent = gateway.provider.take_requests().remove(0).json();
    let places = ["tools", "system", "messages"];
    places.into_iter().filter(|place| sent[place].to_string().contains("\"ephemeral\"")).collect()
}

#[test]
fn places_cache_marks_unless_the_client_does() {
    let mark = json!({ "type": "ephemeral" });
    let plain = json!({ "model": "ada", "max_tokens": 9, "messages": [{ "role": "user", "content": "Hello" }],
        "tools": [{ "name": "look", "input_schema": { "type": "object" } }] });
    let mut marked = plain.clone();
    marked["tools"][0]["cache_control"] = mark.clone();
    let mut automatic = plain.clone();
    automatic["cache_control"] = mark.clone();
    let anthropic = gateway(AGENT, Dialect::Anthropic, None);
    assert_eq!(marks(&anthropic, &plain), ["system", "messages"]);
    assert_eq!(marks(&anthropic, &marked), ["tools"]);
    assert_eq!(marks(&anthropic, &automatic), [""; 0]);
    let mut block = plain.clone();
    block["messages"][0]["content"] = json!([{ "type": "text", "text": "Hello", "cache_control": mark }]);
    assert_eq!(marks(&anthropic, &block), ["messages"]);
    let mut clock = plain.clone();
    clock["system"] = json!([{ "type": "text", "text": "It is 12:00." }]);
    assert_eq!(anthropic.post("/v1/messages", &clock).status, 200);
    let sent = anthropic.provider.take_requests().remove(0).json();
    assert_eq!(sent["system"].to_string().matches("ephemeral").count(), 2, "{sent}");
    // Another API does not send this mark.
    let chat = json!({ "model": "ada", "messages": plain["messages"], "cache_control": mark });
    assert_eq!(anthropic.post("/v1/chat/completions", &chat).status, 200);
    let sent = anthropic.provider.take_requests().remove(0).json();
    assert!(sent["system"].to_string().contains("ephemeral"), "{sent}");
    assert_eq!(marks(&gateway(AGENT, Dialect::Anthropic, Some(CachePolicy::Off)), &plain), [""; 0]);
    assert_eq!(marks(&gateway(AGENT, Dialect::OpenaiChat, None), &plain), [""; 0]);
}

#[test]
fn keeps_marks_of_tools_and_system_in_named_conversations() {
    let agent =
        "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n";
    let gateway = gateway(agent, Dialect::Anthropic, None);
    let [short, long] = [json!({ "type": "ephemeral" }), json!({ "type": "ephemeral", "ttl": "1h" })];
    for turn in 0..5 {
        let text = json!({ "type": "text", "text": format!("Question {turn}"), "cache_control": short });
        let body = json!({ "model": "ada", "max_tokens": 9,
            "tools": [{ "name": "look", "input_schema": { "type": "object" }, "cache_control": long }],
            "system": [{ "type": "text", "text": "Be kind.", "cache_control": long }],
            "messages": [{ "role": "user", "content": [text] }] });
        let named = [("x-ctx-conversation", "c")];
        let response = gateway.ask("POST", "/v1/messages", &named, body.to_string().as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let sent = gateway.request().json();
        let count = |place: &str| sent[place].to_string().matches("\"ephemeral\"").count();
        assert_eq!(["tools", "system", "messages"].map(count), [1, 1, 1], "{sent}");
    }
}

#[test]
fn puts_changing_text_last_unless_the_agent_moves_it() {
    for (prefix, expected) in [
        ("", ["You are Ada.", "Hello", "It is January 31, 2026."]),
        ("prefix: auto\n", ["You are Ada.", "Hello", "It is January 31, 2026."]),
        ("prefix: moving\n", ["You are Ada.\n\n---\n\nIt is January 31, 2026.", "Hello", ""]),
    ] {
        let gateway = gateway(&format!("{prefix}{AGENT}"), Dialect::OpenaiChat, None);
        let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] });
        assert_eq!(gateway.post("/v1/chat/completions", &body).status, 200);
        let sent: Vec<String> = gateway.request().messages().into_iter().map(|(_, text)| text).collect();
        assert!(sent.iter().eq(expected.iter().filter(|text| !text.is_empty())), "{sent:?}");
    }
}

/// Returns the shared and all tokens of a response.
#[track_caller]
fn shared(response: &TestResponse) -> [u64; 2] {
    assert_eq!(response.status, 200, "{response:?}");
    let (shared, total) = response.header("x-ctx-shared-prefix").unwrap().split_once('/').unwrap();
    [shared, total].map(|tokens| tokens.parse().unwrap())
}

#[test]
fn reports_shared_prefix() {
    for headers in [&[][..], &[("x-ctx-conversation", "c")]] {
        let gateway = gateway(AGENT, Dialect::OpenaiChat, None);
        let ask = |texts: &[&str]| {
            let roles = ["user", "assistant"].into_iter().cycle();
            let said = texts.iter().zip(roles).map(|(text, role)| json!({ "role": role, "content": text }));
            let body = json!({ "model": "ada", "messages": said.collect::<Vec<_>>() }).to_string();
            let headers = [headers, &[("x-ctx-explain", "1")]].concat();
            gateway.ask("POST", "/v1/chat/completions", &headers, body.as_bytes())
        };
        let [none, first] = shared(&ask(&["Hello"]));
        assert!(none == 0 && first > 0);
        let response = ask(&["Hello", "Hi there", "How are you?"]);
        let [again, second] = shared(&response);
        assert!(again > 0 && again < second && first < second, "{again} {first} {second}");
        let expected = json!({ "tokens": again, "total": second });
        assert_eq!(response.json()["ctx"]["sharedPrefix"], expected);
        let turn = response.header("x-ctx-turn").unwrap();
        let path = if headers.is_empty() { "" } else { "/conversations/c" };
        assert_eq!(gateway.get(&format!("{path}/turns/{turn}")).json()["sharedPrefix"], expected);
        let metrics = gateway.get("/metrics").body;
        let total = first + second;
        assert!(metrics.contains(&format!("\nctx_prompt_tokens_total {total}\n")), "{metrics}");
        assert!(metrics.contains(&format!("\nctx_shared_prefix_tokens_total {again}\n")), "{metrics}");
    }
}

#[test]
fn names_failed_turns() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let provider = Server::start(|_| Answer::json(400, &json!({ "error": { "message": "no" } })));
    let gateway = TestGateway::open(folder, Dialect::OpenaiChat, provider);
    let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] });
    let failed = gateway.post("/v1/chat/completions", &body);
    assert!(failed.status == 400 && failed.header("x-ctx-shared-prefix").is_some(), "{failed:?}");
    let report = gateway.get(&format!("/turns/{}", failed.header("x-ctx-turn").unwrap())).json();
    assert!(report["error"].is_string(), "{report}");
}

#[test]
fn shares_prefix_after_undo() {
    let gateway = gateway(AGENT, Dialect::OpenaiChat, None);
    let ask = |text: &str| {
        let body = json!({ "model": "ada", "messages": [{ "role": "user", "content": text }] }).to_string();
        shared(&gateway.ask("POST", "/v1/chat/completions", &[("x-ctx-conversation", "c")], body.as_bytes()))
    };
    assert_eq!(ask("Hello")[0], 0);
    assert!(ask("How are you?")[0] > 0);
    assert_eq!(gateway.ask("POST", "/conversations/c/undo", &[], b"").status, 200);
    assert!(ask("Where are you?")[0] > 0);
}

/// An agent with lore, recall and a note.
const LONG: &str = "name: Ada\nworldbookIds: [book]\npresetMessages:\n- {role: system, content: You are Ada.}\n\
     - {type: chat_history}\n\
     - {role: system, content: Answer in one sentence., injectionStrategy: {type: depth, depth: 4}}\n\
     parameters: {processors: [{id: recall, enabled: true}], contextCompression: {autoTrigger: false}}\n";

/// Returns the median share of a request that repeats the previous one, in percent, of a client that sends the last
/// messages.
fn median_share(gateway: &TestGateway, headers: &[(&str, &str)], window: usize) -> u64 {
    const TURNS: usize = 100;
    let mut said = Vec::new();
    let mut shares = Vec::new();
    for turn in 0..TURNS {
        let question = format!(
            "Question {turn}: who lit lamp {} of the pier at {}:30, and which ship passed it in the rain?",
            turn % 17,
            turn % 24
        );
        said.push(json!({ "role": "user", "content": question }));
        let body = json!({ "model": "ada", "messages": said[said.len().saturating_sub(window)..] });
        let response = gateway.ask("POST", "/v1/chat/completions", headers, body.to_string().as_bytes());
        let [shared, total] = shared(&response);
        shares.push(100 * shared / total);
        said.push(response.json()["choices"][0]["message"].clone());
    }
    shares.sort_unstable();
    shares[TURNS / 2]
}

#[test]
fn repeats_most_of_long_conversations() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    std::fs::write(folder.path().join("ada.yaml"), LONG).unwrap();
    std::fs::create_dir(folder.path().join("worldbooks")).unwrap();
    let entry = |lamp: usize| {
        let content = format!("The harbor master built lamp {lamp}.");
        json!({ "uid": lamp, "key": [format!("lamp {lamp} ")], "content": content })
    };
    let book = json!({ "entries": (0..17).map(entry).collect::<Vec<_>>() });
    std::fs::write(folder.path().join("worldbooks/book.json"), book.to_string()).unwrap();
    let mut replies = 0;
    let provider = Server::start(move |_| {
        replies += 1;
        let text =
            format!("Keeper {replies} lit it before dawn, and the schooner of the mail passed the pier.");
        let message = json!({ "role": "assistant", "content": text });
        Answer::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
    });
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.context_tokens = Some(16_000);
    });
    let named = |name| [("x-ctx-conversation", name)];
    let shares = [
        median_share(&gateway, &[], usize::MAX),
        median_share(&gateway, &named("full"), usize::MAX),
        median_share(&gateway, &named("single"), 1),
        median_share(&gateway, &named("window"), 9),
    ];
    assert!(shares.iter().all(|share| *share >= 95), "{shares:?}");
    let sent = gateway.provider.take_requests();
    assert!(sent.iter().all(|request| request.json().to_string().contains("The harbor master built lamp")));
}
