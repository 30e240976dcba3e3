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
