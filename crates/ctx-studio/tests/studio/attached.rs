//! Files that are sent with messages.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Answer, Running, folder, project, start, start_with};

fn upload(server: &Running, id: &str, name: &str, bytes: &[u8]) -> Answer {
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers =
        [("host", host.as_str()), ("authorization", &token), ("content-type", "application/octet-stream")];
    server.send("POST", &format!("/api/conversations/{id}/attachments?name={name}"), &headers, bytes)
}

/// As [`upload`], by a window of this name.
fn upload_from(server: &Running, (id, window): (&str, &str), name: &str) -> Value {
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers = [
        ("host", host.as_str()),
        ("authorization", &token),
        ("content-type", "application/octet-stream"),
        ("x-ctx-window", window),
    ];
    let path = format!("/api/conversations/{id}/attachments?name={name}");
    server.send("POST", &path, &headers, name.as_bytes()).good()["path"].clone()
}

fn discard(server: &Running, id: &str, path: &Value) {
    let path = json!({ "path": path });
    server.ask("POST", &format!("/api/conversations/{id}/attachments/discard"), &path).good();
}

/// What a turn would send that has these files.
fn would_send(server: &Running, id: &str, files: &[Value]) -> Answer {
    let base = server.get(&format!("/api/conversations/{id}")).good()["hash"].clone();
    let turn = json!({ "base": base, "agent": server.id("agent.yaml"), "turn": { "input": "Look." },
        "attachments": files, "dryRun": true });
    server.ask("POST", &format!("/api/conversations/{id}/turns"), &turn)
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).map(Iterator::count).unwrap_or_default()
}

#[test]
fn a_file_is_kept_beside_its_conversation_and_sent_from_there() {
    let place = folder();
    std::fs::create_dir(project(&place).join("talks")).unwrap();
    std::fs::rename(project(&place).join("chat.json"), project(&place).join("talks/chat.json")).unwrap();
    let server = start(&place);
    let list = server.id("talks/chat.json");
    let made = server.ask("POST", &format!("/api/conversations/{list}/session"), &json!({})).good();
    let id = made["id"].as_str().unwrap();
    let kept = project(&place).join("talks/attachments");
    let file = upload(&server, id, "a%20note.txt", b"The bed is wet.").good();
    assert_eq!((&file["name"], &file["bytes"]), (&json!("a note.txt"), &json!(15)));
    assert_eq!(upload(&server, id, "a%20note.txt", b"The bed is wet.").good(), file, "once");
    assert_eq!(count(&kept), 1);
    let body = would_send(&server, id, std::slice::from_ref(&file)).good()["body"].clone();
    assert!(body.as_str().unwrap().contains("The bed is wet."), "{body}");
    for path in ["attachments/none.txt", "../../agent.yaml", "../../../secret.txt", "/etc/hostname"] {
        let other = json!({ "name": "other", "path": path, "bytes": 1 });
        let answer = would_send(&server, id, &[other]);
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status == 422 || !said.contains("presetMessages"), "{path}: {said}");
    }
    let many = vec![file.clone(); 17];
    would_send(&server, id, &many).refused(413);
    // Only what was attached here and is in no message yet is deleted.
    discard(&server, id, &json!("chat.json"));
    discard(&server, id, &json!("../agent.yaml"));
    assert!(project(&place).join("talks/chat.json").exists() && project(&place).join("agent.yaml").exists());
    discard(&server, id, &file["path"]);
    assert_eq!(count(&kept), 0);
    would_send(&server, id, &[file]).refused(422);
}

#[test]
fn a_copy_in_the_store_has_the_files_of_its_original() {
    let place = folder();
    let kept = project(&place).join("talks/attachments");
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::write(kept.join("note.txt"), "The bed is wet.").unwrap();
    let node = json!({ "role": "user", "content": "Look.", "parentId": "r", "childrenIds": [], "attachments": [
        { "id": "1", "name": "note.txt", "path": "attachments/note.txt", "own": 7 },
        { "id": "2", "name": "none.txt", "path": "attachments/none.txt" } ] });
    let session = json!({ "id": "s", "rootNodeId": "r", "activeLeafId": "m", "nodes": {
        "r": { "role": "system", "content": "", "parentId": null, "childrenIds": ["m"] }, "m": node } });
    std::fs::write(project(&place).join("talks/s.json"), session.to_string()).unwrap();
    let server = start(&place);
    let from = server.id("talks/s.json");
    let made = server.ask("POST", "/api/conversations", &json!({ "from": from })).good();
    let id = made["id"].as_str().unwrap();
    for id in [&from, id] {
        let base = server.get(&format!("/api/conversations/{id}")).good()["hash"].clone();
        let turn = json!({ "base": base, "agent": server.id("agent.yaml"), "turn": { "input": "Well?" }, "dryRun": true });
        let body =
            server.ask("POST", &format!("/api/conversations/{id}/turns"), &turn).good()["body"].clone();
        assert!(body.as_str().unwrap().contains("The bed is wet."), "{body}");
    }
    let shown = server.get(&format!("/api/conversations/{id}")).good();
    assert_eq!(shown["undo"], json!([]), "no step of anybody");
}

#[test]
fn attached_files_are_no_files_of_the_project() {
    let place = folder();
    let server = start(&place);
    let id = server.id("chat.json");
    let before = server.get("/api/project").good()["files"].clone();
    for name in ["other.json", "more.yaml"] {
        upload(&server, &id, name, b"{\"presetMessages\": []}").good();
    }
    assert_eq!(count(&project(&place).join("attachments")), 2);
    assert_eq!(server.get("/api/project").good()["files"], before);
}

#[test]
fn files_of_the_folder_of_assets_are_no_files_of_the_project() {
    let place = folder();
    let path = |name: &str| project(&place).join(name);
    let config = std::fs::read_to_string(path("ctx.toml")).unwrap();
    for name in ["docs/sent", "docs-of-others"] {
        std::fs::create_dir_all(path(name)).unwrap();
        std::fs::write(path(name).join("a.json"), "[]").unwrap();
    }
    let server = start(&place);
    let all = ["agent.yaml", "chat.json", "ctx.toml", "docs-of-others/a.json", "docs/sent/a.json"];
    let check = |assets: &str, more: &str, expected: &[&str]| {
        std::fs::write(path("ctx.toml"), format!("assets = {assets:?}\n{config}{more}")).unwrap();
        let project = server.get("/api/project").good();
        let files = project["files"].as_array().unwrap().iter();
        let paths: Vec<&str> = files.map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths, expected, "{assets}");
    };
    check("docs", "", &all[..4]);
    check("./docs/sent/", "", &all[..4]);
    check("..", "", &all);
    check(".", "", &all);
    check("docs", "session = \"docs/sent/a.json\"\n", &all);
}

#[test]
fn a_file_stays_while_a_window_means_to_send_it_and_the_oldest_makes_room() {
    let place = folder();
    let server = start(&place);
    let id = server.id("chat.json");
    let kept = project(&place).join("attachments");
    let path = upload_from(&server, (&id, "a"), "both.txt");
    assert_eq!(upload_from(&server, (&id, "b"), "both.txt"), path);
    let give_up = |window: &str| {
        let at = format!("/api/conversations/{id}/attachments/discard");
        server.ask_with("POST", &at, &json!({ "path": path }), &[("x-ctx-window", window)]).good();
    };
    give_up("a");
    assert_eq!(count(&kept), 1);
    give_up("b");
    assert_eq!(count(&kept), 0);
    let first = upload_from(&server, (&id, "a"), "0.txt");
    for n in 1..=256 {
        upload_from(&server, (&id, "a"), &format!("{n}.txt"));
    }
    assert_eq!(count(&kept), 256);
    assert!(!project(&place).join(first.as_str().unwrap()).exists());
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let place = folder();
    let server = start(&place);
    let id = server.id("chat.json");
    upload(&server, &id, "", b"x").refused(400);
    upload(&server, &id, "empty.txt", b"").refused(422);
    upload(&server, &server.id("agent.yaml"), "a.txt", b"x").refused(404);
    assert_eq!(upload(&server, &id, "large.bin", &vec![1; (20 << 20) + 1]).refused(413), "CTX1010");
    drop(server);
    let read_only = start_with(&project(&place), &place.path().join("s.db"), ctx_studio::Studio::read_only);
    upload(&read_only, &id, "a.txt", b"x").refused(403);
    drop(read_only);
    assert!(!project(&place).join("attachments").exists());
}

#[test]
fn the_folder_that_the_defaults_name_is_used_unless_it_is_withheld() {
    // Defaults of a folder may not lead out of it: they are left out.
    for (named, expected) in [("files", (1, 0)), ("../outside", (0, 1))] {
        let place = folder();
        let assets = project(&place).join(named);
        std::fs::create_dir_all(&assets).unwrap();
        let defaults = format!("agent = \"agent.yaml\"\nmodel = \"gpt-4o\"\nassets = \"{named}\"\n");
        std::fs::write(project(&place).join("ctx.toml"), defaults).unwrap();
        let server = start(&place);
        let id = server.id("chat.json");
        let file = upload(&server, &id, "a.txt", b"Basil.").good();
        assert_eq!((count(&assets), count(&project(&place).join("attachments"))), expected, "{file}");
    }
}
