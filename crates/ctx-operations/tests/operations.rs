//! Operations as bindings call them: options in, JSON out, errors with a code and a place.

#![allow(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ctx_operations::{
    Agent, AskHost, Conversation, Deadline, Engine, Kept, OPERATIONS, OperationError, PortFuture, Role, Text,
    call, engine_with,
};
use serde_json::{Map, Value, json};

fn messages(count: usize) -> Vec<Value> {
    let message = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("Lamp {number} of the pier was lit at {number}:30.") })
    };
    (0..count).map(message).collect()
}

/// Checks what an operation refuses: the code of the error and where it is.
#[track_caller]
fn check_refused(name: &str, input: Value, code: &str, position: Option<(&str, usize, usize)>) {
    let error: OperationError = call(name, input).unwrap_err();
    let at = error.position.as_ref().map(|at| (at.file.as_str(), at.line, at.column));
    assert_eq!((error.code.as_str(), at), (code, position), "{error}");
}

#[test]
fn every_operation_refuses_what_it_does_not_know() {
    for operation in OPERATIONS {
        let needed = json!({
            "conversation": [], "document": {}, "files": [], "agent": { "presetMessages": [] }, "to": "aio", "text": "", "messages": [],
            "body": { "model": "m", "messages": [] }, "dialect": "openai", "events": [], "budget": 100, "query": "",
            "first": { "messages": [] }, "second": { "messages": [] }, "nonsense": true,
        });
        let error = call(operation.name, needed).unwrap_err();
        assert_eq!(error.code, "usage", "{}: {error}", operation.name);
        assert_eq!(call(operation.name, json!([])).unwrap_err().code, "usage");
    }
}

#[test]
fn an_option_of_another_type_is_an_error_at_its_place() {
    for (name, input, pointer) in [
        ("import", json!({ "files": [], "format": 5 }), "/format"),
        ("export", json!({ "agent": {}, "to": "aio", "worldbooks": {} }), "/worldbooks"),
        ("export", json!({ "agent": {}, "to": 5 }), "/to"),
        ("lint", json!({ "body": {}, "dialect": ["openai"] }), "/dialect"),
        ("macros.list", json!({ "dialect": true }), "/dialect"),
        ("schemas", json!({ "name": 5 }), "/name"),
        ("recall", json!({ "conversation": [], "query": 5 }), "/query"),
    ] {
        let error = call(name, input).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.pointer.as_deref()),
            ("usage", Some(pointer)),
            "{name}: {error}"
        );
    }
    call("lint", json!({ "body": { "model": "m", "messages": [] }, "dialect": null })).unwrap();
}

#[test]
fn recall_finds_what_is_asked_about_within_its_budget() {
    let said = json!([{ "role": "user", "content": "No nuts, please." }, { "role": "assistant", "content": "Noted." }]);
    let found = |budget: u64| {
        let input = json!({ "conversation": said, "query": "Are nuts fine?", "budget": budget });
        call("recall", input).unwrap()
    };
    let all = found(100);
    assert_eq!((&all["lines"][0]["words"], &all["lines"][0]["ago"]), (&json!(["nuts"]), &json!(1)));
    assert!(all["tokens"].as_u64().is_some_and(|tokens| tokens <= 100) && all["findings"] == json!([]));
    let nothing = json!({ "tokens": 0, "text": null, "lines": [], "nothing": "the matches do not fit into 1 token; raise the budget", "findings": [] });
    assert_eq!(found(1), nothing);
}

#[test]
fn errors_of_documents_say_where() {
    let text = "presetMessages:\n  - {role: system\n";
    check_refused("compile", json!({ "agent": text }), "CTX0603", Some(("agent.yaml", 2, 5)));
    let named = json!({ "file": "mine.yaml", "text": text });
    check_refused("compile", json!({ "agent": named }), "CTX0603", Some(("mine.yaml", 2, 5)));
    check_refused("fit", json!({ "conversation": messages(3), "budget": 10 }), "infeasible", None);
    check_refused("encode", json!({ "messages": [], "model": "m", "dialect": "morse" }), "usage", None);
    check_refused("no such", json!({}), "usage", None);
}

#[test]
fn a_conversation_that_grew_is_one_that_was_given_at_once() {
    let all = messages(9);
    let bytes = |messages: &[Value]| serde_json::to_vec(messages).unwrap();
    let whole = Conversation::read(&bytes(&all), "session.json").unwrap();
    let mut grown = Conversation::read(&bytes(&all[..2]), "session.json").unwrap();
    assert_eq!(grown.extend(json!(all[2..3])).unwrap(), 3);
    assert_eq!(grown.extend(json!(all[3..])).unwrap(), 9);
    assert_eq!(grown.to_json(), whole.to_json());
    let options = json!({ "budget": 60 }).as_object().unwrap().clone();
    let [first, second] =
        [&whole, &grown].map(|conversation| conversation.fit(options.clone(), None).unwrap());
    assert_eq!(first.kept, second.kept);
    assert_eq!(first.kept.last(), Some(&Kept::Whole(8)));
    assert!(first.kept.len() < 9 && first.tokens <= 60);
}

#[test]
fn texts_are_added_as_messages_are() {
    let all = messages(7);
    let texts = |messages: &[Value]| -> Vec<(Role, Text)> {
        let text = |message: &Value, key: &str| message[key].as_str().unwrap().to_owned();
        let both = |message| (Role::parse(&text(message, "role")).unwrap(), text(message, "content").into());
        messages.iter().map(both).collect()
    };
    let mut given = Conversation::default();
    let mut texted = Conversation::default();
    for part in [&all[..3], &all[3..4], &all[4..]] {
        let count = given.extend(json!(part)).unwrap();
        assert_eq!(texted.extend_texts(texts(part)).unwrap(), count);
    }
    // The order of keys too.
    assert_eq!(texted.to_json().to_string(), given.to_json().to_string());
    let options = json!({ "budget": 60 }).as_object().unwrap().clone();
    let [first, second] =
        [&given, &texted].map(|conversation| conversation.fit(options.clone(), None).unwrap());
    assert_eq!((first.kept, first.tokens), (second.kept, second.tokens));
    let result = vec![(Role::Tool, "4".into())];
    assert_eq!(texted.extend_texts(result).unwrap_err().code, "usage");
}

#[test]
fn what_is_written_in_place_of_messages_has_no_number() {
    let input = json!({ "conversation": messages(41), "budget": 400, "compress": true });
    let fitted = call("fit", input).unwrap();
    let numbers = fitted["numbers"].as_array().unwrap();
    assert!(numbers.iter().any(Value::is_null) && numbers.last() == Some(&json!(40)), "{numbers:?}");
    assert!(fitted["tokens"].as_u64().unwrap() <= 400);
}

#[test]
fn a_migrated_document_of_yaml_keeps_its_comments() {
    let text = "# Ada\npresetMessages:\n- {type: user_profile, content: User Profile} # who\n";
    let migrated = call("migrate", json!({ "document": { "file": "a.yaml", "text": text } })).unwrap();
    let yaml = migrated["yaml"].as_str().unwrap();
    let (before, behind) = text.split_once("User Profile").unwrap();
    assert!(yaml.starts_with(before) && yaml.ends_with(behind), "{yaml}");
}

#[test]
fn a_model_says_whose_encoding_it_has() {
    let known = call("model", json!({ "model": "gpt-4o" })).unwrap();
    assert_eq!((&known["encoding"], &known["contextWindow"]), (&json!("o200k_base"), &json!(128_000)));
    assert_eq!(known["findings"], json!([]));
    let unknown = call("model", json!({ "model": "nobody-knows" })).unwrap();
    assert_eq!((&unknown["isExact"], &unknown["contextWindow"]), (&json!(false), &Value::Null));
    assert_eq!(unknown["findings"][0]["code"], json!("CTX0400"));
}

/// An agent with parts of the host: two macros, and three processors.
fn agent_with_parts() -> Agent {
    let parts = json!({
        "anchors": [{ "id": "weather", "hasTemplate": true }],
        "macros": [{ "name": "shout", "min": 1, "max": 1 }, { "name": "fails" }],
        "processors": [
            { "id": "signs", "priority": 210 }, { "id": "breaks", "priority": 220 }, { "id": "rests", "priority": 230 },
        ],
    });
    let ask: Arc<AskHost> = Arc::new(|question: Value| match question.get("macro").and_then(Value::as_str) {
        Some("shout") => Ok(json!(question["arguments"][0].as_str().unwrap_or_default().to_uppercase())),
        Some(_) => Err("no idea".to_owned()),
        None if question["processor"] == "signs" => {
            let own = json!({ "number": 0, "content": format!("{}!", question["messages"][0]["content"].as_str().unwrap()) });
            Ok(json!([own, { "role": "user", "content": "Robin" }]))
        }
        None if question["processor"] == "breaks" => Ok(json!([{ "role": "nobody" }])),
        None => Ok(Value::Null),
    });
    let preset = "presetMessages:\n- {role: system, content: '{{shout::lamp}} {{fails}}'}\n- {id: weather, type: weather, role: system, content: Sky}\n- {type: chat_history}\n";
    let options = json!({ "agent": preset, "disable": ["merge-system-to-head", "merge-consecutive-roles"] });
    let Value::Object(options) = options else { unreachable!() };
    Agent::compile(engine_with(parts, &ask).unwrap(), options).unwrap()
}

#[test]
fn parts_of_a_host_do_what_built_in_ones_do() {
    let conversation = Conversation::of_given(&json!([{ "role": "user", "content": "Hello" }])).unwrap();
    let made = agent_with_parts().assemble(&conversation, Map::new(), None).unwrap();
    let messages = made["messages"].as_array().unwrap().iter();
    let messages: Vec<_> = messages
        .map(|one| (one["content"].as_str().unwrap(), one["source"]["kind"].as_str().unwrap()))
        .collect();
    let expected =
        [("LAMP {{fails}}", "preset"), ("Sky", "preset"), ("Hello!", "history"), ("Robin", "plugin")];
    assert_eq!(messages, expected);
    let told: Vec<String> = made["report"]["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["message"].to_string())
        .collect();
    for word in ["no idea", "a new message needs a `role`"] {
        assert!(told.iter().any(|message| message.contains(word)), "{told:?}");
    }
    for wrong in [
        json!({ "anchor": [] }),
        json!({ "macros": [{ "name": "char" }] }),
        json!({ "processors": [{ "id": "recall" }] }),
    ] {
        let ask: Arc<AskHost> = Arc::new(|_| Ok(Value::Null));
        assert_eq!(engine_with(wrong, &ask).unwrap_err().code, "usage");
    }
}

/// Time that is over when it was asked for so often.
struct Over(AtomicUsize);

impl Deadline for Over {
    fn is_over(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn within(&self, _: Duration) -> Box<dyn Deadline> {
        Box::new(Self(AtomicUsize::new(self.0.load(Ordering::Relaxed))))
    }
}

#[test]
fn a_turn_ends_when_its_time_is_over_whichever_processor_runs() {
    let conversation = Conversation::of_given(&json!(messages(20))).unwrap();
    let fit = |looks| {
        let options = json!({ "budget": 200 }).as_object().unwrap().clone();
        conversation.fit(options, Some(&Over(AtomicUsize::new(looks))))
    };
    for looks in 0..8 {
        assert_eq!(fit(looks).unwrap_err().code, "cancelled", "{looks}");
    }
    assert!(fit(usize::MAX).is_ok());
}

#[test]
fn what_is_added_to_a_file_with_branches_has_the_numbers_behind_all_of_them() {
    let node = |id: &str, parent: Option<&str>, children: &[&str]| json!({ "id": id, "parentId": parent, "childrenIds": children, "role": "user", "content": id });
    let nodes = json!({
        "root": node("root", None, &["a"]), "a": node("a", Some("root"), &["b", "c"]),
        "b": node("b", Some("a"), &[]), "c": node("c", Some("a"), &[]),
    });
    let session = json!({ "id": "s", "nodes": nodes, "rootNodeId": "root", "activeLeafId": "c" }).to_string();
    let mut conversation = ctx_operations::Conversation::read(session.as_bytes(), "s.session.json").unwrap();
    assert_eq!(conversation.len(), 3);
    assert_eq!(conversation.extend(json!([{ "role": "user", "content": "new" }])).unwrap(), 4);
    assert_eq!(["a", "c", "n4"].map(|id| conversation.number(id)), [Some(0), Some(1), Some(3)]);
}

#[test]
fn applied_effects_keep_inserted_text_in_place() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "type": "chat_history" }, { "role": "user", "content": "Be brief.", "insertionPoint": -1 }] });
    let Value::Object(options) = json!({ "agent": agent }) else { unreachable!() };
    let agent = Agent::compile(Engine::new(), options).unwrap();
    let mut conversation = Conversation::default();
    let mut contents = |text: &str| -> Vec<Value> {
        conversation.extend(json!([{ "role": "user", "content": text }])).unwrap();
        let made = agent.assemble(&conversation, Map::new(), None).unwrap();
        conversation.apply(made["effects"].clone()).unwrap();
        conversation.extend(json!([{ "role": "assistant", "content": "Yes." }])).unwrap();
        made["messages"].as_array().unwrap().iter().map(|message| message["content"].clone()).collect()
    };
    let (first, second) = (contents("Hello"), contents("Is it late?"));
    assert_eq!(second[..first.len()], first);
    let error = conversation.apply(json!([{ "op": "remove", "id": "n1" }, { "op": "remove", "id": "none" }]));
    assert_eq!((error.unwrap_err().code.as_str(), conversation.len()), ("usage", 4));
}
