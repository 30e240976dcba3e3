//! Conversations: the path, the tree, steps, summaries.

use ctx_chat::{Conversation, ConversationStore as _, SqliteStore};
use ctx_types::Role;
use ctx_types::session::{Node, Session};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Running, folder, project, start, start_with};

/// Serves a folder with a session of so many messages, and returns its id.
fn session(count: usize) -> (TempDir, Running, String) {
    let place = folder();
    let list: Vec<Value> = (1..=count)
        .map(|n| {
            let role = if n % 2 == 0 { "assistant" } else { "user" };
            json!({ "role": role, "content": format!("Ada Bell arrives in room {n} on 3 May, as é{n} says, for a day in the garden.") })
        })
        .collect();
    std::fs::write(project(&place).join("long.json"), json!(list).to_string()).unwrap();
    let server = start(&place);
    let list = server.id("long.json");
    let made = server.ask("POST", &format!("/api/conversations/{list}/session"), &json!({})).good();
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(id, server.id("long.session.json"));
    (place, server, id)
}

fn view(server: &Running, id: &str, query: &str) -> Value {
    server.get(&format!("/api/conversations/{id}?{query}")).good()
}

/// Takes a step from what the file is now; the answer shows what it leaves.
fn step(server: &Running, id: &str, step: &Value) -> Value {
    let base = view(server, id, "")["hash"].clone();
    let asked = json!({ "base": base, "step": step });
    let taken = server.ask("POST", &format!("/api/conversations/{id}/steps"), &asked).good();
    assert_eq!(taken["view"], view(server, id, ""));
    taken
}

/// Copies a conversation to the store, and returns the id of the copy.
fn copied(server: &Running, id: &str) -> String {
    let made = server.ask("POST", "/api/conversations", &json!({ "name": "Kept", "from": id })).good();
    made["id"].as_str().unwrap().to_owned()
}

fn ids(view: &Value) -> Vec<&str> {
    view["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

#[test]
fn a_long_path_is_told_by_parts() {
    let (_place, server, id) = session(450);
    let last = view(&server, &id, "");
    assert_eq!((&last["total"], &last["from"], ids(&last).len()), (&json!(450), &json!(250), 200));
    let first = view(&server, &id, "from=0");
    assert_eq!((&first["rows"][0]["place"], &first["rows"][0]["state"]), (&json!(1), &json!("sent")));
    let wanted = ids(&first)[180].to_owned();
    let around = view(&server, &id, &format!("from=300&at={wanted}"));
    assert!(ids(&around).contains(&wanted.as_str()), "a message that is asked for is among them");
    assert!(around.get("fixed").is_none(), "{around}");
    let toggle = |query: &str, enabled: bool| {
        let step = json!({ "kind": "toggle", "id": wanted, "enabled": enabled });
        let asked = json!({ "base": view(&server, &id, "")["hash"], "step": step });
        let taken = server.ask("POST", &format!("/api/conversations/{id}/steps?{query}"), &asked).good();
        (taken["view"].clone(), view(&server, &id, &format!("at={wanted}")))
    };
    let (shown, around) = toggle("from=240", false);
    assert_eq!(shown, around, "what a step is about is shown");
    assert_eq!(toggle("from=170", true).0["from"], 170);
    let list = view(&server, &server.id("long.json"), "");
    assert!(list["fixed"].is_string() && list["isList"] == true, "a list is read-only");
}

#[test]
fn each_step_is_noted_and_taken_back() {
    let (place, server, id) = session(4);
    let before = std::fs::read(project(&place).join("long.session.json")).unwrap();
    let stored = copied(&server, &id);
    check_steps(&server, &stored);
    assert_eq!(std::fs::read(project(&place).join("long.session.json")).unwrap(), before);
    check_steps(&server, &id);
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["nodes"].clone();
    let after = std::fs::read(project(&place).join("long.session.json")).unwrap();
    assert_eq!(value(&after), value(&before));
}

/// Takes steps on four messages, and all of them back.
fn check_steps(server: &Running, id: &str) {
    let before = view(server, id, "");
    let [first, second, ..] = ids(&before)[..] else { panic!("{before}") };
    step(server, id, &json!({ "kind": "toggle", "id": first, "enabled": false }));
    step(server, id, &json!({ "kind": "edit", "id": second, "text": "Other words." }));
    let made = step(server, id, &json!({ "kind": "branch", "id": second, "text": "A branch." }));
    step(server, id, &json!({ "kind": "append", "role": "user", "text": "And then?" }));
    let now = view(server, id, "");
    let texts: Vec<&str> =
        now["rows"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(texts[1..], ["A branch.", "And then?"]);
    assert_eq!(now["rows"][0]["state"], "off");
    assert_eq!(now["rows"][1]["branch"], json!({ "at": 2, "of": 2, "before": second }));
    let expected = json!([
        "add a message",
        format!("branch from {second}"),
        format!("edit {second}"),
        format!("disable {first}")
    ]);
    assert_eq!(now["undo"], expected);
    let tree = server.get(&format!("/api/conversations/{id}/tree")).good();
    let runs: Vec<Value> = tree["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| json!([run["above"], run["messages"], run["isActive"]]))
        .collect();
    assert_eq!(json!(runs), json!([[null, 1, true], [0, 3, false], [0, 2, true]]));
    step(server, id, &json!({ "kind": "activate", "id": second }));
    assert_eq!(view(server, id, "")["total"], 4);
    step(server, id, &json!({ "kind": "remove", "id": made["id"] }));
    for _ in 0..6 {
        step(server, id, &json!({ "kind": "undo" }));
    }
    let after = view(server, id, "");
    assert_eq!((&after["rows"], &after["undo"]), (&before["rows"], &json!([])));
}

#[test]
fn what_was_seen_before_another_step_is_refused_and_changes_nothing() {
    let (place, server, id) = session(3);
    let base = view(&server, &id, "")["hash"].clone();
    step(&server, &id, &json!({ "kind": "append", "role": "user", "text": "x" }));
    let file = project(&place).join("long.session.json");
    let before = std::fs::read(&file).unwrap();
    let late = json!({ "base": base, "step": { "kind": "undo" } });
    let path = format!("/api/conversations/{id}/steps");
    assert_eq!(server.ask("POST", &path, &late).refused(409), "CTX1009");
    let now = view(&server, &id, "")["hash"].clone();
    for (step, status) in [
        (json!({ "kind": "edit", "id": "nobody", "text": "x" }), 404),
        (json!({ "kind": "append", "role": "nobody", "text": "x" }), 400),
        (json!({ "kind": "redo" }), 422),
        (json!({ "kind": "regenerate", "id": "nobody" }), 422),
    ] {
        server.ask("POST", &path, &json!({ "base": now, "step": step })).refused(status);
    }
    server.ask("POST", &format!("/api/conversations/{}/steps", server.id("agent.yaml")), &late).refused(404);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_read_only_run_takes_no_step() {
    let place = folder();
    let list = r#"[{"role": "user", "content": "Hello"}]"#;
    std::fs::write(project(&place).join("long.json"), list).unwrap();
    let server = start_with(&project(&place), &place.path().join("s.db"), ctx_studio::Studio::read_only);
    let id = server.id("long.json");
    server.ask("POST", &format!("/api/conversations/{id}/session"), &json!({})).refused(403);
    let asked = json!({ "base": "", "step": { "kind": "undo" } });
    server.ask("POST", &format!("/api/conversations/{id}/steps"), &asked).refused(403);
}

#[test]
fn messages_are_compressed_and_the_summary_says_what_it_kept() {
    let (_place, server, id) = session(30);
    let stored = copied(&server, &id);
    check_summary(&server, &id);
    check_summary(&server, &stored);
}

/// Compresses ten of thirty messages, and changes the summary.
fn check_summary(server: &Running, id: &str) {
    let all = view(server, id, "");
    let (base, ids) = (all["hash"].clone(), ids(&all));
    let range = json!({ "kind": "between", "from": ids[0], "to": ids[9] });
    let asked = json!({ "base": base, "range": range });
    let plan = server.ask("POST", &format!("/api/conversations/{id}/plan"), &asked).good();
    assert_eq!((plan["isNeeded"] == true, plan["ids"].as_array().unwrap().len()), (true, 10));
    let done = server.ask("POST", &format!("/api/conversations/{id}/compress"), &asked).good();
    let summary = done["id"].as_str().unwrap();
    let folded = view(server, id, "");
    assert_eq!((&folded["total"], &folded["rows"][0]["summary"]["messages"]), (&json!(21), &json!(10)));
    let open = view(server, id, &format!("open={summary}"));
    assert_eq!((&open["total"], &open["rows"][0]["hiddenBy"]), (&json!(31), &json!(summary)));
    let told = server.get(&format!("/api/conversations/{id}/summaries/{summary}")).good();
    assert!(!told["kinds"].as_array().unwrap().is_empty(), "{told}");
    for fact in told["lost"].as_array().unwrap().iter().filter(|fact| fact["span"].is_object()) {
        let row = open["rows"].as_array().unwrap().iter().find(|row| row["id"] == fact["id"]).unwrap();
        let at = |key: &str| usize::try_from(fact["span"][key].as_u64().unwrap()).unwrap();
        assert_eq!(row["text"].as_str().unwrap()[at("start")..at("end")], *fact["text"].as_str().unwrap());
    }
    step(server, id, &json!({ "kind": "toggle", "id": summary, "enabled": false }));
    assert_eq!(view(server, id, "")["total"], 31);
    step(server, id, &json!({ "kind": "regenerate", "id": summary }));
    step(server, id, &json!({ "kind": "edit", "id": summary, "text": "Short." }));
    step(server, id, &json!({ "kind": "remove", "id": summary }));
    assert_eq!(view(server, id, "")["undo"].as_array().unwrap().len(), 5);
}

#[test]
fn a_turn_is_asked_about_stopped_and_begun_only_where_it_may_be() {
    let (_place, server, id) = session(2);
    let none = server.get(&format!("/api/conversations/{id}/turn")).good();
    assert_eq!((&none["turn"], &none["isRunning"]), (&json!(0), &json!(false)));
    server.ask("POST", &format!("/api/conversations/{id}/turn/stop"), &json!({})).good();
    let verdict = json!({ "id": "c1", "allow": true });
    server.ask("POST", &format!("/api/conversations/{id}/turn/call"), &verdict).refused(404);
    let late = json!({ "base": "other", "turn": { "input": "Hello" } });
    assert_eq!(server.ask("POST", &format!("/api/conversations/{id}/turns"), &late).refused(409), "CTX1009");
}

#[test]
fn a_conversation_of_the_store_is_begun_shown_previewed_and_changed_by_others_too() {
    let (place, server, file) = session(3);
    let asked = json!({ "name": "x".repeat(201) });
    server.ask("POST", "/api/conversations", &asked).refused(400);
    server.ask("POST", "/api/conversations", &json!({ "from": "nobody" })).refused(404);
    let made = server.ask("POST", "/api/conversations", &json!({})).good();
    let id = made["id"].as_str().unwrap();
    step(&server, id, &json!({ "kind": "append", "role": "user", "text": "Is it raining in the garden?" }));
    let preview = |id: &str| {
        let asked =
            json!({ "window": "w", "agent": server.id("agent.yaml"), "conversation": id, "turn": {} });
        let shown = server.ask("POST", "/api/preview", &asked).good();
        let body = server.get(&format!("/api/previews/{}/body", shown["id"].as_str().unwrap())).good();
        body["text"].as_str().unwrap().to_owned()
    };
    assert!(preview(id).contains("Is it raining in the garden?"));
    assert_eq!(preview(&copied(&server, &file)), preview(&file), "a copy is sent as what it is a copy of");

    // Another program takes a step.
    let base = view(&server, id, "")["hash"].clone();
    let store = SqliteStore::open(&place.path().join("store/a.db")).unwrap();
    pollster::block_on(async {
        let entry = store.list().await.unwrap().into_iter().find(|entry| entry.revision == 1).unwrap();
        let mut other = Conversation::load(&store, &entry.id).await.unwrap();
        other.append(&store, Node::new(Role::Assistant, "A little."), None).await.unwrap();
    });
    let late = json!({ "base": base, "step": { "kind": "undo" } });
    assert_eq!(server.ask("POST", &format!("/api/conversations/{id}/steps"), &late).refused(409), "CTX1009");
    let now = view(&server, id, "");
    assert_eq!((&now["total"], &now["rows"][1]["text"]), (&json!(2), &json!("A little.")));
    step(&server, id, &json!({ "kind": "undo" }));
    assert_eq!(view(&server, id, "")["redo"].as_array().unwrap().len(), 1);

    // A turn is undone with the user's message.
    pollster::block_on(async {
        let entry = store.list().await.unwrap().into_iter().find(|entry| entry.revision == 3).unwrap();
        let mut other = Conversation::load(&store, &entry.id).await.unwrap();
        for (role, text) in [(Role::User, "And now?"), (Role::Assistant, "No.")] {
            other.append(&store, Node::new(role, text), None).await.unwrap();
        }
    });
    assert_eq!(view(&server, id, "")["total"], 3);
    step(&server, id, &json!({ "kind": "undo" }));
    assert_eq!(view(&server, id, "")["total"], 1);
    step(&server, id, &json!({ "kind": "redo" }));
    assert_eq!(view(&server, id, "")["total"], 3);
    server.get(&format!("/api/files/{id}")).refused(404);
}

#[test]
fn a_conversation_that_is_open_stays_in_a_long_list() {
    let (place, server, _) = session(1);
    let made = server.ask("POST", "/api/conversations", &json!({ "name": "Open" })).good();
    let id = made["id"].as_str().unwrap();
    step(&server, id, &json!({ "kind": "append", "role": "user", "text": "Is it raining?" }));
    let store = SqliteStore::open(&place.path().join("store/a.db")).unwrap();
    for number in 0..1_000 {
        let other = Session::new("other");
        pollster::block_on(Conversation::import(&store, &format!("c{number}"), other, Some(i64::MAX)))
            .unwrap();
    }
    let listed = |server: &Running, query: &str| {
        let project = server.get(&format!("/api/project{query}")).good();
        assert_eq!(project["isCut"], true);
        let files = project["files"].as_array().unwrap().iter().filter(|file| file["isStored"] == true);
        files.map(|file| file["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(listed(&server, "").iter().any(|listed| listed == id), "it stays");
    step(&server, id, &json!({ "kind": "append", "role": "user", "text": "And now?" }));
    assert_eq!(view(&server, id, "")["total"], 2);
    drop(server);

    // A server that began anew learns of it from the window.
    let server = start(&place);
    assert!(!listed(&server, "").iter().any(|listed| listed == id), "the others are newer");
    server.get(&format!("/api/conversations/{id}")).refused(404);
    assert_eq!(listed(&server, "?conversation=nobody").len(), 1_000);
    assert_eq!(listed(&server, &format!("?conversation={id}")).len(), 1_001);
    for other in listed(&server, "").iter().take(99) {
        view(&server, other, "");
    }
    server.ask("POST", "/api/conversations", &json!({})).good();
    assert!(listed(&server, "").iter().any(|listed| listed == id), "it stays");
    assert_eq!(view(&server, id, "")["total"], 2);
}

#[test]
fn a_model_is_asked_for_a_summary_only_where_there_is_something_to_summarize() {
    let (place, server, id) = session(30);
    let file = project(&place).join("long.session.json");
    let before = std::fs::read(&file).unwrap();
    let path = format!("/api/conversations/{id}/summaries");
    let base = view(&server, &id, "")["hash"].clone();
    let asked = |base: &Value, summary: Value| json!({ "with": { "base": base }, "summary": summary });
    let all = json!({ "kind": "range", "range": { "kind": "all" } });
    assert_eq!(server.ask("POST", &path, &asked(&json!("other"), all)).refused(409), "CTX1009");
    for summary in [
        json!({ "kind": "again", "id": "nobody" }),
        json!({ "kind": "range", "range": { "kind": "rollUp" } }),
        json!({ "kind": "range", "range": { "kind": "auto" } }),
        json!({ "kind": "range", "range": { "kind": "between", "from": "nobody", "to": "3" } }),
    ] {
        server.ask("POST", &path, &asked(&base, summary)).refused(422);
    }
    assert_eq!(server.get(&format!("/api/conversations/{id}/turn")).good()["isRunning"], false);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// Returns the stored conversations of the listing: title and id.
fn stored(server: &Running) -> Vec<(String, String)> {
    let project = server.get("/api/project").good();
    let files = project["files"].as_array().unwrap().iter().filter(|file| file["isStored"] == true);
    let text = |file: &Value, key: &str| file[key].as_str().unwrap().to_owned();
    files.map(|file| (text(file, "path"), text(file, "id"))).collect()
}

#[test]
fn starts_conversation_with_greetings_as_branches() {
    let place = folder();
    let agent = "greetings:\n  - {name: At the gate, content: 'Hello, I am {{char}}.'}\n  - {content: ' '}\n  \
        - {content: The rain has stopped.}\n";
    let path = project(&place).join("agent.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{agent}")).unwrap();
    let server = start(&place);
    let greets = json!({ "agent": server.id("agent.yaml"), "profile": "" });
    let listed = server.ask("POST", "/api/greetings", &greets).good();
    let expected = json!([
        { "title": "At the gate", "head": "Hello, I am Robin." },
        { "title": "The rain has stopped.", "head": "The rain has stopped." },
    ]);
    assert_eq!(listed["greetings"], expected);
    for (greeting, text) in
        [(0, "Hello, I am Robin."), (1, "The rain has stopped."), (9, "The rain has stopped.")]
    {
        let asked = json!({ "greets": greets, "greeting": greeting });
        let made = server.ask("POST", "/api/conversations", &asked).good();
        let shown = view(&server, made["id"].as_str().unwrap(), "");
        assert_eq!((&shown["total"], &shown["rows"][0]["text"]), (&json!(1), &json!(text)));
        assert_eq!(shown["rows"][0]["branch"]["of"], 2);
        assert_eq!(shown["undo"], json!([]));
    }
    let nobody = json!({ "agent": "nobody" });
    server.ask("POST", "/api/greetings", &nobody).refused(404);
    server.ask("POST", "/api/conversations", &json!({ "greets": nobody })).refused(404);
    assert_eq!(stored(&server).len(), 3);
}

#[test]
fn renames_searches_and_deletes_stored_conversations() {
    let (place, server, file) = session(3);
    let id = copied(&server, &file);
    let path = |verb: &str| format!("/api/conversations/{id}/{verb}");
    server.ask("POST", &path("rename"), &json!({ "name": " The garden " })).good();
    assert_eq!(stored(&server), [("The garden".to_owned(), id.clone())]);
    server.ask("POST", &path("rename"), &json!({ "name": "x".repeat(201) })).refused(400);
    server.ask("POST", &format!("/api/conversations/{file}/rename"), &json!({ "name": "x" })).refused(404);

    step(&server, &id, &json!({ "kind": "append", "role": "user", "text": "Is it RAINING?" }));
    let search = |text: &str| server.get(&format!("/api/search?text={text}")).good();
    let found = search("raining");
    assert_eq!((&found["hits"][0]["conversation"], &found["isCut"]), (&json!(id), &json!(false)));
    assert_eq!((&found["hits"][0]["excerpt"], &found["hits"][1]), (&json!("Is it RAINING?"), &Value::Null));
    assert_eq!(
        search("room%202")["hits"].as_array().unwrap().len(),
        3,
        "of the store, the session and its list"
    );
    assert_eq!(search("")["hits"], json!([]));

    server.ask("POST", &format!("/api/conversations/{file}/delete"), &json!({})).refused(404);
    server.ask("POST", &path("delete"), &json!({})).good();
    assert!(stored(&server).is_empty());
    server.get(&format!("/api/conversations/{id}")).refused(404);
    server.ask("POST", &path("delete"), &json!({})).refused(404);
    assert!(project(&place).join("long.session.json").exists());
}

#[test]
fn answers_earlier_message_on_new_branch() {
    let (_place, server, file) = session(4);
    for id in [copied(&server, &file), file] {
        let before = view(&server, &id, "");
        let third = ids(&before)[2];
        let turn = |message: &str| {
            let asked = json!({ "base": before["hash"], "agent": server.id("agent.yaml"), "answerTo": message, "dryRun": true });
            server.ask("POST", &format!("/api/conversations/{id}/turns"), &asked)
        };
        let body = turn(third).good()["body"].as_str().unwrap().to_owned();
        assert!(body.contains("room 3 on") && !body.contains("room 4 on"), "{body}");
        assert_eq!(view(&server, &id, ""), before, "a look changes nothing");
        turn("nobody").refused(404);
    }
}

#[test]
fn keeps_attachments_of_edited_message_on_new_branch() {
    let place = folder();
    let node = json!({ "role": "user", "content": "Look.", "parentId": "r", "childrenIds": [],
        "attachments": [{ "id": "1", "name": "note.txt", "path": "attachments/note.txt" }] });
    let session = json!({ "id": "s", "rootNodeId": "r", "activeLeafId": "m", "nodes": {
        "r": { "role": "system", "content": "", "parentId": null, "childrenIds": ["m"] }, "m": node } });
    std::fs::write(project(&place).join("s.json"), session.to_string()).unwrap();
    let server = start(&place);
    let id = server.id("s.json");
    step(&server, &id, &json!({ "kind": "branch", "id": "m", "text": "Look here." }));
    let shown = view(&server, &id, "");
    assert_eq!(
        (&shown["rows"][0]["text"], &shown["rows"][0]["attachments"]),
        (&json!("Look here."), &json!(["note.txt"]))
    );
}
