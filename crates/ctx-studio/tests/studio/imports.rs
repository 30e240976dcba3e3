//! Files of other applications, and the sample.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use crate::client::{Answer, Running, folder, project, start, start_with};

const CARD: &[u8] = br#"{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada", "description": "Kind.",
    "personality": "", "scenario": "", "first_mes": "Hi", "mes_example": "", "creator_notes": "",
    "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
    "character_version": "", "extensions": {}}}"#;

fn upload(server: &Running, query: &str, bytes: &[u8]) -> Answer {
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers =
        [("host", host.as_str()), ("authorization", &token), ("content-type", "application/octet-stream")];
    server.send("POST", &format!("/api/import?{query}"), &headers, bytes)
}

/// Returns all files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

#[test]
fn nothing_is_written_before_write_and_then_all_of_it() {
    let place = folder();
    let server = start(&place);
    let before = files(&project(&place));
    let report = upload(&server, "name=ada%20%26co.json&batch=b1", CARD).good();
    assert_eq!(report["files"][0]["name"], "ada &co.json");
    assert_eq!((&report["folder"], &report["writes"][0]["path"]), (&json!("ada"), &json!("agent.yaml")));
    assert_eq!(files(&project(&place)), before);
    let body = json!({ "batch": "b1", "folder": "cards/ada" });
    let written = server.ask("POST", "/api/import/write", &body).good();
    let agent = written["agent"].as_str().unwrap();
    assert_eq!(server.view(agent)["value"]["name"], "Ada");
    let listed: Vec<String> =
        written["written"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
    let mut after = files(&project(&place));
    after.retain(|path, _| !before.contains_key(path));
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(after.keys().cloned().collect::<Vec<_>>(), sorted);
    assert_eq!(server.ask("POST", "/api/import/write", &body).refused(404), "CTX1007");
    upload(&server, "name=ada.json&batch=b2", CARD).good();
    let again = json!({ "batch": "b2", "folder": "cards/ada" });
    assert_eq!(server.ask("POST", "/api/import/write", &again).refused(409), "CTX1009");
    let outside = json!({ "batch": "b2", "folder": "../out" });
    assert_eq!(server.ask("POST", "/api/import/write", &outside).refused(400), "CTX1000");
    server.ask("POST", "/api/import/discard", &json!({ "batch": "b2" })).good();
    assert_eq!(server.ask("POST", "/api/import/write", &again).refused(404), "CTX1007");
}

#[test]
fn previews_an_import_before_it_is_written() {
    const CARD: &[u8] = br#"{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada",
        "description": "Ada is kind.", "first_mes": "Hi", "character_book": {"name": "Clocks", "extensions": {},
        "entries": [{"keys": ["clock"], "content": "Clocks tick.", "extensions": {}, "enabled": true,
        "insertion_order": 1, "position": "before_char"}]}}}"#;
    let place = folder();
    let server = start(&place);
    let before = files(&project(&place));
    let report = upload(&server, "name=ada.json&batch=b1", CARD).good();
    let kinds: Vec<&str> = report["files"][0]["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|content| content["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["character", "greetings", "entries"]);
    let turn = json!({ "input": "What about the clock?", "at": "2026-05-03T09:00:00Z" });
    let asked =
        json!({ "window": "w", "import": "b1", "conversation": server.id("chat.json"), "turn": turn });
    let preview = server.ask("POST", "/api/preview", &asked).good();
    let rows = preview["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row.get("pointer").is_none() && row["source"] != "history"), "{rows:?}");
    let id = preview["id"].as_str().unwrap();
    let texts = server.get(&format!("/api/previews/{id}/rows?from=0&to=99")).good().to_string();
    assert!(texts.contains("Ada is kind.") && texts.contains("Clocks tick."), "{texts}");
    assert_eq!(files(&project(&place)), before);
    let check = json!({ "batch": "b1", "folder": "a|b" });
    let target = server.ask("POST", "/api/import/check", &check).good();
    assert!(target["problem"].is_string() && target["writes"] == json!([]), "{target}");
    server.ask("POST", "/api/import/discard", &json!({ "batch": "b1" })).good();
    assert_eq!(server.ask("POST", "/api/preview", &asked).refused(404), "CTX1007");
}

#[test]
fn odd_uploads_are_refused_or_reported() {
    let place = folder();
    let server = start(&place);
    for query in ["", "name=a.json", "batch=b", "name=&batch=b", "name=a%00b&batch=b"] {
        assert_eq!(upload(&server, query, CARD).refused(400), "CTX1000", "{query}");
    }
    for bytes in [&b""[..], b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"{", b"\xFF\xFF\xFF"] {
        let report = upload(&server, "name=a.bin&batch=b", bytes).good();
        assert_eq!(report["writes"], json!([]), "{report}");
        let body = json!({ "batch": "b", "folder": "x" });
        assert_eq!(server.ask("POST", "/api/import/write", &body).refused(422), "CTX1014");
    }
}

#[test]
fn an_empty_folder_gets_the_sample() {
    let place = folder();
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let server = start_with(&empty, &place.path().join("store/a.db"), |studio| studio);
    assert_eq!(server.get("/api/project").good()["files"], json!([]));
    let started = server.ask("POST", "/api/start", &json!({})).good();
    assert_eq!(server.view(started["agent"].as_str().unwrap())["path"], "agent.yaml");
    assert_eq!(server.ask("POST", "/api/start", &json!({})).refused(409), "CTX1009");
    let defaults = server.get("/api/project").good()["defaults"].clone();
    assert_eq!(defaults["agent"], started["agent"]);
}
