//! What survives the end of a server, and two servers on one folder.

use std::time::Duration;

use serde_json::json;

use crate::client::{AGENT, Running, folder, project, start, start_with};

#[test]
fn edits_that_were_not_saved_come_back() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let edited = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    drop(server);
    assert_eq!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap(), AGENT);
    let server = start(&place);
    let back = server.view(&id);
    assert_eq!(
        (&back["text"], &back["isDirty"], &back["hash"]),
        (&edited["text"], &json!(true), &edited["hash"])
    );
    server.save(&id, back["hash"].as_str().unwrap(), &json!({})).good();
    drop(server);
    let server = start(&place);
    assert_eq!(server.view(&id)["isDirty"], false);
}

#[test]
fn edits_are_written_down_at_once_and_for_their_user_alone() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::thread::sleep(Duration::from_millis(500));
    let kept = std::fs::read_dir(place.path().join("store/.studio")).unwrap().flatten();
    let kept: Vec<_> =
        kept.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).collect();
    assert_eq!(kept.len(), 1);
    assert!(std::fs::read_to_string(kept[0].path()).unwrap().contains("Eve"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(kept[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_was_changed_while_nobody_served_is_not_overwritten() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    drop(server);
    std::fs::write(project(&place).join("agent.yaml"), "name: Theirs\n").unwrap();
    let server = start(&place);
    let back = server.view(&id);
    assert_eq!((&back["value"]["name"], &back["isDirty"]), (&json!("Eve"), &json!(true)));
    let clashes = json!([{ "place": "/name", "mine": "Eve", "theirs": "Theirs" }]);
    assert_eq!(back["outside"]["clashes"], clashes);
    assert_eq!(server.save(&id, back["hash"].as_str().unwrap(), &json!({})).refused(409), "CTX1009");
}

#[test]
fn a_draft_of_a_file_that_is_gone_is_not_lost() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let edited = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::fs::remove_file(project(&place).join("agent.yaml")).unwrap();
    server.get("/api/project").good();
    let hash = edited["hash"].as_str().unwrap();
    assert_eq!(server.view(&id)["isDirty"], true);
    assert_eq!(server.save(&id, hash, &json!({})).refused(409), "CTX1009");
    server.save(&id, hash, &json!({ "overwrite": true })).good();
    assert!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap().contains("Eve"));
}

#[test]
fn two_servers_on_one_folder_do_not_overwrite_each_other() {
    let place = folder();
    let store = place.path().join("store/a.db");
    let first = start_with(&project(&place), &store, |studio| studio);
    let second = start_with(&project(&place), &store, |studio| studio);
    assert_ne!(first.token, second.token);
    let id = first.id("agent.yaml");
    let one = first.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "One" }])).good();
    let two = second.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Two" }])).good();
    first.save(&id, one["hash"].as_str().unwrap(), &json!({})).good();
    assert_eq!(second.save(&id, two["hash"].as_str().unwrap(), &json!({})).refused(409), "CTX1009");
    drop(second);
    drop(first);
    assert!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap().contains("name: One"));
}

/// Serves the folder with the journal that a server would leave if it were killed now.
fn start_after_kill(place: &tempfile::TempDir) -> Running {
    let left = place.path().join("left/.studio");
    std::fs::create_dir_all(&left).unwrap();
    for entry in std::fs::read_dir(place.path().join("store/.studio")).unwrap().flatten() {
        std::fs::copy(entry.path(), left.join(entry.file_name())).unwrap();
    }
    start_with(&project(place), &place.path().join("left/a.db"), |studio| studio)
}

#[test]
fn no_save_is_newer_than_what_is_kept() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let set = |name: &str| json!([{ "op": "set", "pointer": "/name", "value": name }]);
    let one = server.edit(&id, &set("One")).good();
    std::thread::sleep(Duration::from_millis(500));
    let saved = server.save(&id, one["hash"].as_str().unwrap(), &json!({})).good();
    server.edit(&id, &set("Two")).good();
    server.save(&id, saved["hash"].as_str().unwrap(), &json!({})).good();
    let next = start_after_kill(&place);
    let back = next.view(&id);
    assert_eq!((&back["value"]["name"], &back["isDirty"]), (&json!("Two"), &json!(false)));
}

#[test]
fn a_kept_draft_that_its_file_holds_is_none() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let edited = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::thread::sleep(Duration::from_millis(500));
    let text = format!("\u{feff}{}", edited["text"].as_str().unwrap());
    std::fs::write(project(&place).join("agent.yaml"), text).unwrap();
    let next = start_after_kill(&place);
    let back = next.view(&id);
    assert_eq!((&back["value"]["name"], &back["isDirty"]), (&json!("Eve"), &json!(false)));
}

#[test]
fn an_edit_that_is_sent_again_after_a_restart_counts_once() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let path = format!("/api/files/{id}/edits");
    let insert = json!({ "op": "insert", "pointer": "/presetMessages/-", "value": { "id": "new" } });
    server.ask("POST", &path, &json!({ "base": 0, "id": "a", "edits": [insert] })).good();
    let last = json!({ "base": 1, "id": "b", "edits": [insert] });
    server.ask("POST", &path, &last).good();
    let before = server.view(&id);
    drop(server);
    let server = start(&place);
    let again = server.ask("POST", &path, &last).good();
    assert_eq!(again["text"], before["text"]);
}

#[test]
fn drafts_of_a_second_server_come_back_to_the_next() {
    let place = folder();
    let (first, second) = (start(&place), start(&place));
    let (agent, chat) = (first.id("agent.yaml"), first.id("chat.json"));
    first.edit(&agent, &json!([{ "op": "set", "pointer": "/name", "value": "One" }])).good();
    second.edit(&chat, &json!([{ "op": "set", "pointer": "/0/content", "value": "Two" }])).good();
    drop((first, second));
    for _ in 0..2 {
        let next = start(&place);
        assert_eq!(next.view(&agent)["value"]["name"], "One");
        assert_eq!(next.view(&chat)["value"][0]["content"], "Two");
    }
}

#[test]
fn what_is_kept_is_no_file_of_the_folder() {
    let place = folder();
    let server = start_with(&project(&place), &project(&place).join("a.db"), |studio| studio);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::thread::sleep(Duration::from_millis(500));
    let files = server.get("/api/project").good()["files"].clone();
    let paths: Vec<_> = files.as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["agent.yaml", "chat.json", "ctx.toml"]);
}

#[test]
fn a_draft_of_a_file_that_is_gone_can_be_given_up() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let edited = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::fs::remove_file(project(&place).join("agent.yaml")).unwrap();
    let discard = format!("/api/files/{id}/discard");
    assert_eq!(server.ask("POST", &discard, &json!({ "base": 0 })).refused(409), "CTX1008");
    let closed = server.ask("POST", &discard, &json!({ "base": edited["revision"] })).good();
    assert_eq!((&closed["isDirty"], &closed["text"]), (&json!(false), &json!("")));
    let files = server.get("/api/project").good()["files"].clone();
    assert!(files.as_array().unwrap().iter().all(|file| file["id"] != id.as_str()), "{files}");
    assert_eq!(server.get(&format!("/api/files/{id}")).status, 404);
    drop(server);
    assert_eq!(start(&place).get(&format!("/api/files/{id}")).status, 404);
}
