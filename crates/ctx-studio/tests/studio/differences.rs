//! What a preview tells by an earlier one: whoever follows it has what is told to somebody who asks anew.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::client::{Running, folder, project, start};

const ENTRIES: usize = 6;

/// What somebody does between two previews.
#[derive(Clone, Debug)]
enum Step {
    Type(usize, String),
    Switch(usize, bool),
    Move(usize, usize),
    Duplicate(usize),
    Remove(usize),
    Budget(u32),
    Undo,
    Break,
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..ENTRIES;
    prop_oneof![
        4 => (at.clone(), "[a-c{}é\n ]{0,12}").prop_map(|(at, text)| Step::Type(at, text)),
        2 => (at.clone(), any::<bool>()).prop_map(|(at, is_on)| Step::Switch(at, is_on)),
        2 => (at.clone(), at.clone()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => at.clone().prop_map(Step::Duplicate),
        1 => at.prop_map(Step::Remove),
        2 => (20_u32..400).prop_map(Step::Budget),
        1 => Just(Step::Undo),
        1 => Just(Step::Break),
    ]
}

fn write(folder: &std::path::Path) {
    let entry = |at: usize| {
        let role = if at.is_multiple_of(2) { "system" } else { "user" };
        json!({ "id": format!("e{at}"), "role": role, "content": format!("Rule {at} of {{{{user}}}}.") })
    };
    let mut entries: Vec<Value> = (0..ENTRIES).map(entry).collect();
    entries[2]["content"] = json!("An odd {{macro}}.");
    entries[3]["injectionStrategy"] = json!({ "type": "depth", "depth": 2 });
    entries.insert(3, json!({ "id": "history", "type": "chat_history" }));
    let lines: Vec<String> = entries.iter().map(|entry| format!("  - {entry}\n")).collect();
    let agent = format!("name: Robin\npresetMessages:\n{}", lines.concat());
    std::fs::write(folder.join("agent.yaml"), agent).unwrap();
    let said = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("Message {at} about basil.") })
    };
    let chat: Vec<Value> = (0..12).map(said).collect();
    std::fs::write(folder.join("chat.json"), Value::from(chat).to_string()).unwrap();
}

/// Makes the whole of an answer, as the page does.
fn joined(before: &Value, mut answer: Value) -> Value {
    let Some(since) = answer.as_object_mut().unwrap().remove("since") else { return answer };
    assert_eq!(since, before["id"]);
    for name in ["rows", "decisions", "stages", "findings"] {
        let mut list = before[name].as_array().unwrap().clone();
        for splice in answer[name]["splices"].as_array().unwrap() {
            let at = |key: &str| usize::try_from(splice[key].as_u64().unwrap()).unwrap();
            list.splice(at("at")..at("at") + at("remove"), splice["insert"].as_array().unwrap().clone());
        }
        assert_eq!(json!(list.len()), answer[name]["total"], "{name}");
        answer[name] = list.into();
    }
    let mut sent = 0;
    for (place, row) in answer["rows"].as_array_mut().unwrap().iter_mut().enumerate() {
        row["row"] = place.into();
        if row.get("dropped").is_none() {
            row["n"] = sent.into();
            sent += 1;
        }
    }
    let mut tokens: Map<String, Value> = before["entryTokens"].as_object().unwrap().clone();
    for (pointer, now) in answer["entryTokens"].as_object().unwrap() {
        match now {
            Value::Null => drop(tokens.remove(pointer)),
            now => drop(tokens.insert(pointer.clone(), now.clone())),
        }
    }
    // The order of the pointers says nothing.
    tokens.sort_keys();
    answer["entryTokens"] = tokens.into();
    answer
}

/// Does something; an edit that the server refuses is none.
fn act(server: &Running, id: &str, asked: &mut Value, step: &Step) {
    let at = |at: &usize| format!("/presetMessages/{at}");
    let edit = match step {
        Step::Budget(tokens) => {
            asked["turn"]["contextTokens"] = json!(tokens);
            return;
        }
        Step::Undo => {
            server.ask("POST", &format!("/api/files/{id}/undo"), &json!({}));
            return;
        }
        Step::Break => json!({ "op": "set", "pointer": "/presetMessages/0/role", "value": 7 }),
        Step::Type(entry, text) => {
            json!({ "op": "set", "pointer": format!("{}/content", at(entry)), "value": text })
        }
        Step::Switch(entry, is_on) => {
            json!({ "op": "set", "pointer": format!("{}/isEnabled", at(entry)), "value": is_on })
        }
        Step::Move(from, to) => json!({ "op": "move", "pointer": at(from), "to": at(to) }),
        Step::Duplicate(entry) => {
            let value = server.view(id)["value"].pointer(&at(entry)).cloned().unwrap_or_default();
            json!({ "op": "insert", "pointer": at(entry), "value": value })
        }
        Step::Remove(entry) => json!({ "op": "remove", "pointer": at(entry) }),
    };
    server.edit(id, &json!([edit]));
}

#[test]
fn differences_one_after_the_other_make_the_whole_answer() {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() });
    let run = runner.run(&proptest::collection::vec(step(), 1..12), |steps| {
        let place = folder();
        write(&project(&place));
        let server = start(&place);
        let id = server.id("agent.yaml");
        let mut asked = json!({
            "window": "w", "agent": id, "conversation": server.id("chat.json"), "worldbooks": [],
            "turn": { "input": "And now?", "at": "2026-05-03T09:00:00Z", "seed": 7 },
        });
        let mut page = server.ask("POST", "/api/preview", &asked).good();
        prop_assert!(page.get("since").is_none());
        for step in &steps {
            act(&server, &id, &mut asked, step);
            let whole = server.ask("POST", "/api/preview", &asked);
            asked["have"] = page["id"].clone();
            let answer = server.ask("POST", "/api/preview", &asked);
            asked["have"] = Value::Null;
            prop_assert_eq!(answer.status, whole.status);
            if whole.status != 200 {
                continue;
            }
            page = joined(&page, answer.good());
            let mut whole = whole.good();
            whole["id"] = page["id"].clone();
            prop_assert_eq!(&page, &whole, "after {:?}", step);
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
