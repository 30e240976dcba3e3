//! Files: edited, taken back, saved, and changed by others meanwhile.

use serde_json::json;

use crate::client::{AGENT, folder, project, start};

#[test]
fn an_edit_changes_its_bytes_and_undo_brings_back_the_first_ones() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let before = server.view(&id);
    assert_eq!((before["text"].as_str(), &before["isDirty"]), (Some(AGENT), &json!(false)));
    assert_eq!(before["value"]["presetMessages"][0]["id"], "who");
    let edits = json!([
        { "op": "set", "pointer": "/presetMessages/0/content", "value": "Be {{char}}." },
        { "op": "move", "pointer": "/presetMessages/2", "to": "0" },
    ]);
    let after = server.edit(&id, &edits).good();
    let expected = AGENT.replace("You are", "Be");
    let (head, tail) = expected.split_once("  - id: off").unwrap();
    let expected = head.replacen("  # who she is", &format!("  - id: off{tail}  # who she is"), 1);
    assert_eq!(after["text"].as_str().unwrap(), expected);
    assert_eq!((&after["isDirty"], &after["canUndo"]), (&json!(true), &json!(true)));
    // One request is one step.
    let undone = server.ask("POST", &format!("/api/files/{id}/undo"), &json!({})).good();
    assert_eq!(
        (undone["text"].as_str(), &undone["isDirty"], &undone["canUndo"]),
        (Some(AGENT), &json!(false), &json!(false))
    );
    let redone = server.ask("POST", &format!("/api/files/{id}/redo"), &json!({})).good();
    assert_eq!(redone["text"].as_str().unwrap(), expected);
    assert_eq!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap(), AGENT);
    let hash = redone["hash"].as_str().unwrap();
    let saved = server.save(&id, hash, &json!({})).good();
    assert_eq!((&saved["isDirty"], &saved["canUndo"]), (&json!(false), &json!(true)));
    assert_eq!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap(), expected);
    // Saved again, the same bytes are no change of anybody.
    server.save(&id, saved["hash"].as_str().unwrap(), &json!({})).good();
}

#[test]
fn an_edit_that_is_sent_twice_counts_once() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let insert = json!({ "op": "insert", "pointer": "/presetMessages/-", "value": { "id": "new" } });
    let body = json!({ "base": 0, "id": "same", "edits": [insert] });
    let path = format!("/api/files/{id}/edits");
    server.ask("POST", &path, &body).good();
    let first = server.view(&id);
    assert_eq!(server.ask("POST", &path, &body).good(), first);
    assert_eq!(first["revision"], 1);
}

#[test]
fn an_edit_of_a_large_file_is_answered_with_what_has_changed() {
    let place = folder();
    let entry = |n: usize| format!("  - id: e{n}\n    content: {}\n", "sowing 𝄞 ".repeat(200));
    let text = format!("name: Robin\npresetMessages:\n{}", (0..250).map(entry).collect::<String>());
    assert!(text.len() > 400_000);
    std::fs::write(project(&place).join("agent.yaml"), &text).unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let edit = json!({ "op": "set", "pointer": "/presetMessages/200/content", "value": "brief" });
    let body = json!({ "base": 0, "id": "a", "edits": [edit] });
    let answer = server.ask("POST", &format!("/api/files/{id}/edits"), &body);
    assert_eq!(answer.status, 200);
    assert!(answer.body.len() < 16_000, "{} bytes", answer.body.len());
    let after = server.edit(&id, &json!([{ "op": "remove", "pointer": "/presetMessages/3" }])).good();
    assert_eq!(after["value"]["presetMessages"][199]["content"], "brief");
}

#[test]
fn refuses_edits_and_steps_of_older_revisions() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let path = format!("/api/files/{id}/edits");
    let set = |pointer: &str, value: &str| json!([{ "op": "set", "pointer": pointer, "value": value }]);
    server.ask("POST", &path, &json!({ "base": 0, "id": "a", "edits": set("/name", "Eve") })).good();
    let old = [
        json!({ "base": 0, "id": "b", "edits": set("/presetMessages/0/role", "user") }),
        json!({ "base": 0, "id": "c", "edits": set("/name", "Zoe") }),
        json!({ "base": 0, "id": "d", "text": "name: Zoe\n" }),
        json!({ "base": 2, "id": "e", "edits": set("/name", "Zoe") }),
    ];
    for body in old {
        let stale = server.ask("POST", &path, &body);
        let theirs = stale.json()["theirs"].clone();
        assert_eq!((&theirs["value"]["name"], &theirs["revision"]), (&json!("Eve"), &json!(1)));
        assert_eq!(stale.refused(409), "CTX1008");
    }
    let stale = server.ask("POST", &format!("/api/files/{id}/undo"), &json!({ "base": 0 }));
    assert_eq!(stale.refused(409), "CTX1008");
}

#[test]
fn takes_a_text_of_8_mib_whatever_its_letters() {
    let place = folder();
    std::fs::write(project(&place).join("text.json"), "\"\"").unwrap();
    let server = start(&place);
    let id = server.id("text.json");
    let path = format!("/api/files/{id}/edits");
    let texts = ["\\\"", "字"].map(|letter| format!("\"{}\"", letter.repeat(((8 << 20) - 2) / letter.len())));
    for (base, text) in texts.iter().enumerate() {
        let body = json!({ "base": base, "id": base.to_string(), "text": text });
        assert_eq!(server.ask("POST", &path, &body).good()["text"].as_str().map(str::len), Some(text.len()));
    }
    let body = json!({ "base": 2, "id": "c", "text": "x".repeat((8 << 20) + 1) });
    assert_eq!(server.ask("POST", &path, &body).refused(413), "CTX1010");
}

#[test]
fn what_another_program_saved_is_not_overwritten() {
    let place = folder();
    let server = start(&place);
    let file = project(&place).join("agent.yaml");
    let id = server.id("agent.yaml");
    let rename =
        |name: &str| server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": name }])).good();
    let mine = rename("Mine");
    let theirs = std::fs::read_to_string(&file).unwrap().replacen("name: Robin", "name: Theirs", 1);
    std::fs::write(&file, &theirs).unwrap();
    server.get("/api/project").good();
    let still = server.view(&id);
    for key in ["revision", "hash", "text"] {
        assert_eq!(still[key], mine[key], "{key}");
    }
    let clashes = json!([{ "place": "/name", "mine": "Mine", "theirs": "Theirs" }]);
    assert_eq!(still["outside"]["clashes"], clashes);
    // While nothing is chosen, the draft can be edited, and cannot be saved.
    assert_eq!(rename("Mine!")["outside"]["clashes"][0]["mine"], "Mine!");
    for overwrite in [false, true] {
        let refused = server.save(&id, mine["hash"].as_str().unwrap(), &json!({ "overwrite": overwrite }));
        assert_eq!(refused.json()["theirs"]["outside"]["clashes"][0]["theirs"], "Theirs");
        assert_eq!(refused.refused(409), "CTX1009");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), theirs);
    let hash = still["outside"]["hash"].as_str().unwrap();
    let path = format!("/api/files/{id}/resolve");
    let old = json!({ "base": 0, "hash": hash, "theirs": [] });
    assert_eq!(server.ask("POST", &path, &old).refused(409), "CTX1008");
    let asked = json!({ "base": server.view(&id)["revision"], "hash": hash, "theirs": [] });
    let chosen = server.ask("POST", &path, &asked).good();
    assert_eq!((&chosen["hash"], chosen.get("outside")), (&json!(hash), None));
    server.save(&id, hash, &json!({})).good();
    let expected = theirs.replacen("name: Theirs", "name: 'Mine!'", 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    // Or the draft is given up.
    rename("Again");
    std::fs::write(&file, "name: Theirs\n").unwrap();
    let taken = server.ask("POST", &format!("/api/files/{id}/discard"), &json!({})).good();
    assert_eq!((&taken["text"], &taken["isDirty"]), (&json!("name: Theirs\n"), &json!(false)));
}

#[test]
fn a_save_that_meets_another_entry_of_another_program_is_sent_again() {
    let place = folder();
    let server = start(&place);
    let file = project(&place).join("agent.yaml");
    let id = server.id("agent.yaml");
    let mine = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Mine" }])).good();
    std::fs::write(&file, AGENT.replace("never", "always")).unwrap();
    let refused = server.save(&id, mine["hash"].as_str().unwrap(), &json!({}));
    let theirs = refused.json()["theirs"].clone();
    assert_eq!((refused.refused(409).as_str(), theirs.get("outside")), ("CTX1009", None));
    server.save(&id, theirs["hash"].as_str().unwrap(), &json!({})).good();
    let both = AGENT.replace("never", "always").replace("Robin\np", "Mine\np");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), both);
}

#[test]
fn a_file_that_nobody_edits_is_read_anew() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.view(&id);
    std::fs::write(project(&place).join("agent.yaml"), "name: Outside\npresetMessages: []\n").unwrap();
    server.get("/api/project").good();
    assert_eq!(server.view(&id)["value"]["name"], "Outside");
    std::fs::write(project(&place).join("new.yaml"), "name: New\npresetMessages: []\n").unwrap();
    server.id("new.yaml");
}

#[test]
fn what_another_program_wrote_can_be_taken_back() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let mine = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Mine" }])).good();
    server.save(&id, mine["hash"].as_str().unwrap(), &json!({})).good();
    std::fs::write(project(&place).join("agent.yaml"), "name: Outside\npresetMessages: []\n").unwrap();
    server.get("/api/project").good();
    let theirs = server.view(&id);
    assert_eq!((&theirs["value"]["name"], &theirs["isDirty"]), (&json!("Outside"), &json!(false)));
    let name = |step: &str| {
        server.ask("POST", &format!("/api/files/{id}/{step}"), &json!({})).good()["value"]["name"].clone()
    };
    assert_eq!([name("undo"), name("undo"), name("redo")], [json!("Mine"), json!("Robin"), json!("Mine")]);
}

#[test]
fn a_draft_is_carried_over_what_another_program_wrote_elsewhere() {
    let place = folder();
    let server = start(&place);
    let file = project(&place).join("agent.yaml");
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Mine" }])).good();
    std::fs::write(&file, AGENT.replace("never", "always")).unwrap();
    server.get("/api/project").good();
    let both = AGENT.replace("never", "always").replace("Robin\np", "Mine\np");
    let view = server.view(&id);
    assert_eq!((view["text"].as_str().unwrap(), &view["isDirty"]), (both.as_str(), &json!(true)));
    server.save(&id, view["hash"].as_str().unwrap(), &json!({})).good();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), both);
}

#[test]
fn a_draft_follows_the_file_once_the_edit_that_stood_against_it_is_taken_back() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Mine" }])).good();
    std::fs::write(project(&place).join("agent.yaml"), "name: Theirs\n").unwrap();
    server.get("/api/project").good();
    assert_eq!(server.view(&id)["value"]["name"], "Mine");
    let after = server.ask("POST", &format!("/api/files/{id}/undo"), &json!({})).good();
    assert_eq!((&after["text"], &after["isDirty"]), (&json!("name: Theirs\n"), &json!(false)));
    let name = |step: &str| {
        server.ask("POST", &format!("/api/files/{id}/{step}"), &json!({})).good()["value"]["name"].clone()
    };
    assert_eq!([name("undo"), name("redo")], [json!("Robin"), json!("Theirs")]);
}

#[test]
fn a_file_that_was_deleted_is_written_only_by_who_knows_that() {
    let place = folder();
    let inner = project(&place).join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("agent.yaml"), AGENT).unwrap();
    let server = start(&place);
    let id = server.id("inner/agent.yaml");
    let mine = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Mine" }])).good();
    std::fs::remove_dir_all(&inner).unwrap();
    let refused = server.save(&id, mine["hash"].as_str().unwrap(), &json!({}));
    let theirs = refused.json()["theirs"].clone();
    assert_eq!((&theirs["isGone"], &theirs["text"]), (&json!(true), &mine["text"]));
    assert_eq!(refused.refused(409), "CTX1009");
    assert!(!inner.exists());
    server.save(&id, "", &json!({ "overwrite": true })).good();
    let written = std::fs::read_to_string(inner.join("agent.yaml")).unwrap();
    assert_eq!(written, mine["text"].as_str().unwrap());
}

#[test]
fn a_text_that_cannot_be_read_is_shown_with_its_place() {
    let place = folder();
    std::fs::write(project(&place).join("agent.yaml"), "name: Ada\nlist: [é, b\nmore: 1\n").unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let view = server.view(&id);
    assert!(view.get("value").is_none(), "{view}");
    let finding = &view["findings"][0];
    assert_eq!(finding["severity"], "error");
    assert!(finding["line"].as_u64().is_some_and(|line| line >= 2), "{finding}");
    assert!(finding["span"]["from"].is_u64(), "{finding}");
    let edit = json!([{ "op": "set", "pointer": "/name", "value": "Eve" }]);
    assert_eq!(server.edit(&id, &edit).refused(422), "CTX1013");
    let body = json!({ "base": 0, "id": "t", "text": "name: Ada\nlist: [é, b]\nmore: 1\n" });
    let document = server.ask("POST", &format!("/api/files/{id}/edits"), &body).good();
    assert_eq!(document["value"]["list"][0], "é");
    let undone = server.ask("POST", &format!("/api/files/{id}/undo"), &json!({})).good();
    assert!(undone.get("value").is_none());
}

#[test]
fn a_finding_with_a_certain_edit_is_fixed() {
    let place = folder();
    let text = AGENT.replace("role: system\n    content: You", "rolle: system\n    content: You");
    std::fs::write(project(&place).join("agent.yaml"), &text).unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let view = server.view(&id);
    let finding = view["findings"].as_array().unwrap().iter().find(|finding| finding["fixable"] == true);
    let index = finding.unwrap_or_else(|| panic!("{}", view["findings"]))["index"].clone();
    let path = format!("/api/files/{id}/fix");
    assert_eq!(server.ask("POST", &path, &json!({ "base": 7, "index": index })).refused(409), "CTX1008");
    let fixed = server.ask("POST", &path, &json!({ "base": 0, "index": index })).good();
    assert_eq!(fixed["text"].as_str().unwrap(), AGENT);
    assert_eq!(server.ask("POST", &path, &json!({ "base": 1, "index": 99 })).refused(404), "CTX1007");
}

#[test]
fn odd_edits_are_refused_and_nothing_breaks() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let path = format!("/api/files/{id}/edits");
    let odd = [
        json!({ "base": 0, "id": "", "edits": [] }),
        json!({ "base": 0, "id": "a" }),
        json!({ "base": 0, "id": "a", "edits": [], "text": "" }),
        json!({ "base": -1, "id": "a", "edits": [] }),
        json!({ "base": 0, "id": "a", "edits": [{ "op": "burn", "pointer": "" }] }),
        json!({ "base": 0, "id": "a", "edits": [{ "op": "move", "pointer": "/presetMessages/0", "to": "/other/1" }] }),
        json!([]),
    ];
    for body in odd {
        assert_eq!(server.ask("POST", &path, &body).refused(400), "CTX1000", "{body}");
    }
    let impossible = [
        json!([{ "op": "remove", "pointer": "/nothing" }]),
        json!([{ "op": "remove", "pointer": "" }]),
        json!([{ "op": "insert", "pointer": "/presetMessages/99", "value": 1 }]),
        json!([{ "op": "move", "pointer": "/presetMessages/0", "to": "99" }]),
        json!([{ "op": "rename", "pointer": "/name", "name": "presetMessages" }]),
        json!([{ "op": "set", "pointer": "/name", "value": "x" }, { "op": "remove", "pointer": "/nothing" }]),
    ];
    for edits in impossible {
        let answer = server.edit(&id, &edits);
        assert_eq!(answer.status, 422, "{edits} {}", String::from_utf8_lossy(&answer.body));
    }
    for pointer in ["/presetMessages/00", "/~2", "name"] {
        let edits = json!([{ "op": "set", "pointer": pointer, "value": 1 }]);
        assert_eq!(server.edit(&id, &edits).refused(422), "CTX1013", "{pointer}");
    }
    let many = vec![json!({ "op": "set", "pointer": "/name", "value": "x" }); 1_001];
    let answer = server.edit(&id, &json!(many));
    assert!(answer.json()["message"].as_str().unwrap().contains("1000"), "{}", answer.json());
    assert_eq!(answer.refused(413), "CTX1010");
    for body in [json!([1]), json!({ "force": true }), json!("x")] {
        assert_eq!(server.ask("POST", "/api/start", &body).refused(400), "CTX1000", "{body}");
    }
    assert_eq!(server.view(&id)["text"].as_str().unwrap(), AGENT);
    let answer = server.ask("POST", &path, &json!({ "base": 99, "id": "a", "edits": [] }));
    assert_eq!(answer.refused(409), "CTX1008");
    let answer = server.ask("POST", &format!("/api/files/{id}/save"), &json!({}));
    assert_eq!(answer.refused(400), "CTX1000");
}

#[test]
fn an_edit_that_changes_nothing_is_no_revision() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let same = json!([{ "op": "set", "pointer": "/name", "value": "Robin" }]);
    let view = server.edit(&id, &same).good();
    assert_eq!((&view["revision"], &view["canUndo"]), (&json!(0), &json!(false)));
}

#[test]
fn a_file_of_a_hundred_megabytes_is_listed_and_told() {
    let place = folder();
    let file = std::fs::File::create(project(&place).join("big.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    let server = start(&place);
    let listed = server.get("/api/project").good()["files"].clone();
    let big = listed.as_array().unwrap().iter().find(|file| file["path"] == "big.json").unwrap().clone();
    assert_eq!((&big["bytes"], &big["isReadOnly"]), (&json!(100 << 20), &json!(true)));
    let id = big["id"].as_str().unwrap();
    let answer = server.get(&format!("/api/files/{id}"));
    assert_eq!(answer.json()["message"], "`big.json` is larger than 64 MiB");
    assert_eq!(answer.refused(413), "CTX1010");
    let body = json!({ "window": "w", "conversation": id });
    assert_eq!(server.ask("POST", "/api/preview", &body).status, 422);
    assert_eq!(server.view(&server.id("agent.yaml"))["text"], AGENT);
}

#[test]
fn an_agent_without_messages_and_one_without_a_list_are_previewed() {
    for text in ["name: Robin\npresetMessages: []\n", "name: Robin\npresetMessages:\n"] {
        let place = folder();
        std::fs::write(project(&place).join("agent.yaml"), text).unwrap();
        let server = start(&place);
        let (agent, chat) = (server.id("agent.yaml"), server.id("chat.json"));
        assert_eq!(server.view(&agent)["value"]["name"], "Robin");
        let body = json!({ "window": "w", "agent": agent, "conversation": chat });
        let preview = server.ask("POST", "/api/preview", &body).good();
        assert_eq!(preview["rows"].as_array().unwrap().len(), 2, "{preview}");
    }
}

#[test]
fn a_preset_of_50_000_entries_is_shown() {
    let place = folder();
    let entries = vec![json!({ "content": "a" }); 50_000];
    let short = json!({ "name": "Robin", "presetMessages": entries }).to_string();
    std::fs::write(project(&place).join("short.json"), &short).unwrap();
    let long =
        format!("name: Robin\npresetMessages:\n{}", "  - {role: system, content: a}\n".repeat(300_000));
    std::fs::write(project(&place).join("long.yaml"), &long).unwrap();
    let entry =
        |n: usize| json!({ "id": n.to_string(), "role": "system", "content": "Water the basil. ".repeat(6) });
    let wide = json!({ "name": "Robin", "presetMessages": (0..100_000).map(entry).collect::<Vec<_>>() });
    std::fs::write(project(&place).join("wide.json"), wide.to_string()).unwrap();
    let server = start(&place);
    let view = server.view(&server.id("short.json"));
    assert_eq!(view["value"]["presetMessages"].as_array().map(Vec::len), Some(50_000));
    // What is too large to be edited is shown in part, and says so: the first entries, or where it cannot be read the text.
    let view = server.view(&server.id("wide.json"));
    assert_eq!(
        (&view["isCut"], &view["isReadOnly"], &view["more"]),
        (&json!(true), &json!(true), &json!(98_000))
    );
    assert_eq!(view["value"]["presetMessages"].as_array().map(Vec::len), Some(2_000));
    let view = server.view(&server.id("long.yaml"));
    assert_eq!((&view["isCut"], &view["isReadOnly"]), (&json!(true), &json!(true)));
    assert!(view.get("value").is_none() && view["text"].as_str().unwrap().len() <= 64 << 10);
    assert!(
        view["findings"][0]["message"].as_str().unwrap().contains("the limit for YAML is"),
        "{}",
        view["findings"]
    );
    let body = json!({ "window": "w", "agent": server.id("short.json"), "conversation": "", "turn": { "contextTokens": 1_000_000 } });
    let rows = server.ask("POST", "/api/preview", &body).good()["rows"].clone();
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "all of them are one message");
    let body = json!({ "window": "w", "agent": server.id("long.yaml") });
    assert_eq!(server.ask("POST", "/api/preview", &body).status, 422);
}

#[test]
fn a_file_that_is_write_protected_is_shown_and_not_edited() {
    let place = folder();
    let file = project(&place).join("agent.yaml");
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let view = server.view(&id);
    assert_eq!((&view["text"], &view["isReadOnly"]), (&json!(AGENT), &json!(true)));
    let answer = server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }]));
    assert_eq!(answer.json()["message"], "`agent.yaml` is write-protected");
    assert_eq!(answer.refused(403), "CTX1005");
}
