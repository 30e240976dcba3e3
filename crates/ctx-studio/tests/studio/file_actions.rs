//! Files that the page creates, copies, renames, deletes and exports.

use serde_json::{Value, json};

use crate::client::{AGENT, Answer, Running, folder, project, start, start_with};

/// A worldbook without a name.
const LORE: &str =
    r#"{"entries": {"0": {"uid": 0, "key": ["a"], "keysecondary": [], "comment": "a", "content": "x"}}}"#;

fn create(server: &Running, kind: &str, name: &str) -> Answer {
    server.ask("POST", "/api/files", &json!({ "kind": kind, "name": name }))
}

fn act(server: &Running, id: &str, verb: &str, body: &Value) -> Answer {
    server.ask("POST", &format!("/api/files/{id}/{verb}"), body)
}

fn listed(server: &Running) -> Vec<String> {
    let project = server.get("/api/project").good();
    let files = project["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn creates_files_without_diagnostics() {
    let place = folder();
    let server = start(&place);
    for (kind, path) in [
        ("agent", "罗宾 \"R\".yaml"),
        ("agent", "Robin.yaml"),
        ("preset", "Short.yaml"),
        ("profile", "Alex.yaml"),
        ("worldbook", "worldbooks/Garden.json"),
        ("conversation", "First.json"),
    ] {
        let name = path.trim_start_matches("worldbooks/");
        let answer = create(&server, kind, name);
        if name.contains('"') {
            assert_eq!(answer.refused(400), "CTX1000");
            continue;
        }
        let made = answer.good();
        assert_eq!(made["path"], path);
        let view = server.view(made["id"].as_str().unwrap());
        assert_eq!(
            (&view["kind"], &view["findings"], &view["isDirty"]),
            (&json!(kind), &json!([]), &json!(false))
        );
        assert_eq!(create(&server, kind, name).refused(409), "CTX1009");
    }
    let chinese = [("accept-language", "zh")];
    for (kind, name) in [("agent", "罗宾"), ("preset", "短"), ("profile", "小明"), ("worldbook", "花园")]
    {
        let body = json!({ "kind": kind, "name": name });
        let made = server.ask_with("POST", "/api/files", &body, &chinese).good();
        assert_eq!(server.view(made["id"].as_str().unwrap())["findings"], json!([]), "{name}");
    }
    for kind in ["config", "settings", "other"] {
        assert_eq!(create(&server, kind, "x").refused(400), "CTX1000");
    }
}

#[test]
fn rejects_paths_and_reserved_names() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let before = listed(&server);
    let (long, wide) = ("x".repeat(101), "字".repeat(90));
    for name in [
        "",
        ".",
        "..",
        "../x",
        "..\\x",
        "a/b",
        "/etc/x",
        "C:x",
        "x::$DATA",
        ".x",
        "a\u{0}",
        "a\u{202e}b",
        "CON",
        "nul.a",
        "com1",
        "case",
        "*",
        long.as_str(),
        wide.as_str(),
    ] {
        assert_eq!(create(&server, "agent", name).refused(400), "CTX1000", "{name:?}");
        for verb in ["rename", "duplicate"] {
            let answer = act(&server, &id, verb, &json!({ "name": name }));
            assert_eq!(answer.refused(400), "CTX1000", "{verb} {name:?}");
        }
    }
    assert_eq!(listed(&server), before);
    assert!(!place.path().join("x.yaml").exists());
}

#[test]
fn copies_unsaved_edits() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    let made = act(&server, &id, "duplicate", &json!({ "name": "eve.yaml" })).good();
    assert_eq!(made["path"], "eve.yaml");
    let text = std::fs::read_to_string(project(&place).join("eve.yaml")).unwrap();
    assert_eq!(text, AGENT.replace("name: Robin", "name: Eve"));
    assert_eq!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap(), AGENT);
    assert_eq!(act(&server, &id, "duplicate", &json!({ "name": "eve" })).refused(409), "CTX1009");
}

#[test]
fn moves_draft_and_references_with_renamed_file() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    assert_eq!(act(&server, &id, "rename", &json!({ "name": "chat" })).good()["path"], "chat.yaml");
    let new = server.id("chat.yaml");
    let view = server.view(&new);
    assert_eq!((&view["value"]["name"], &view["isDirty"]), (&json!("Eve"), &json!(true)));
    assert_eq!(server.get(&format!("/api/files/{id}")).refused(404), "CTX1007");
    let config = std::fs::read_to_string(project(&place).join("ctx.toml")).unwrap();
    assert_eq!(config, "agent = \"chat.yaml\"\nmodel = \"gpt-4o\"\n");
    assert_eq!(server.get("/api/project").good()["defaults"]["agent"], json!(new));
    let undone = act(&server, &new, "undo", &json!({})).good();
    assert_eq!((&undone["value"]["name"], &undone["isDirty"]), (&json!("Robin"), &json!(false)));
    create(&server, "agent", "other").good();
    assert_eq!(act(&server, &new, "rename", &json!({ "name": "other" })).refused(409), "CTX1009");
    assert_eq!(std::fs::read_to_string(project(&place).join("chat.yaml")).unwrap(), AGENT);
}

#[test]
fn changes_agent_of_renamed_worldbook() {
    let place = folder();
    let agent = format!("{AGENT}worldbookIds: [moss, Lore] # both\n");
    std::fs::write(project(&place).join("agent.yaml"), agent).unwrap();
    let server = start(&place);
    create(&server, "worldbook", "moss").good();
    let id = server.id("worldbooks/moss.json");
    // The name in the file is `moss`, and finds it under each file name.
    act(&server, &id, "rename", &json!({ "name": "fern" })).good();
    let text = || std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap();
    assert!(text().ends_with("worldbookIds: [moss, Lore] # both\n"), "{}", text());
    std::fs::write(project(&place).join("worldbooks/Lore.json"), LORE).unwrap();
    let id = server.id("worldbooks/Lore.json");
    let refused = act(&server, &id, "delete", &json!({}));
    assert!(String::from_utf8_lossy(&refused.body).contains("agent.yaml"));
    assert_eq!(refused.refused(422), "CTX1014");
    act(&server, &id, "rename", &json!({ "name": "tales" })).good();
    assert!(text().ends_with("worldbookIds: [moss, tales] # both\n"), "{}", text());
}

#[test]
fn changes_all_files_that_name_renamed_worldbook() {
    let place = folder();
    let write = |path: &str, text: &str| std::fs::write(project(&place).join(path), text).unwrap();
    std::fs::create_dir_all(project(&place).join("shared")).unwrap();
    std::fs::create_dir_all(project(&place).join("other/worldbooks")).unwrap();
    write("shared/Lore.json", LORE);
    write("ctx.toml", "agent = \"agent.yaml\"\nworldbooks = [\"shared/../shared/Lore.json\"]\n");
    write("agent.yaml", &format!("{AGENT}worldbookIds: [Lore]\n"));
    write("Alex.yaml", "name: Alex\ncontent: I am Alex.\nworldbookIds: [Lore]\n");
    let server = start(&place);
    let id = server.id("shared/Lore.json");
    let refused = act(&server, &id, "delete", &json!({}));
    assert!(String::from_utf8_lossy(&refused.body).contains("`Alex.yaml`, `agent.yaml`, `ctx.toml`"));
    assert_eq!(refused.refused(422), "CTX1014");
    let id = act(&server, &id, "rename", &json!({ "name": "tales" })).good()["id"].clone();
    let has =
        |path: &str, text: &str| std::fs::read_to_string(project(&place).join(path)).unwrap().contains(text);
    assert!(has("ctx.toml", "\"shared/../shared/tales.json\""));
    assert!(has("agent.yaml", "worldbookIds: [tales]") && has("Alex.yaml", "worldbookIds: [tales]"));
    // If two worldbooks share an id, the reference is ambiguous.
    write("other/worldbooks/tales.json", LORE);
    write("ctx.toml", "agent = \"agent.yaml\"\n");
    server.get("/api/project").good();
    act(&server, id.as_str().unwrap(), "rename", &json!({ "name": "myths" })).good();
    assert!(has("agent.yaml", "worldbookIds: [tales]"));
}

#[test]
fn changes_no_reference_under_unsaved_edits() {
    let place = folder();
    std::fs::create_dir(project(&place).join("worldbooks")).unwrap();
    std::fs::write(project(&place).join("worldbooks/Lore.json"), LORE).unwrap();
    let server = start(&place);
    let (agent, book) = (server.id("agent.yaml"), server.id("worldbooks/Lore.json"));
    let names = json!([{ "op": "set", "pointer": "/worldbookIds", "value": ["Lore"] }]);
    server.edit(&agent, &names).good();
    for (verb, body) in [("rename", json!({ "name": "tales" })), ("delete", json!({}))] {
        let refused = act(&server, &book, verb, &body);
        assert!(String::from_utf8_lossy(&refused.body).contains("agent.yaml"), "{verb}");
        assert_eq!(refused.refused(422), "CTX1014", "{verb}");
    }
    assert_eq!(std::fs::read_to_string(project(&place).join("agent.yaml")).unwrap(), AGENT);
    server.ask("POST", &format!("/api/files/{agent}/discard"), &json!({})).good();
    act(&server, &book, "rename", &json!({ "name": "tales" })).good();
}

#[test]
fn keeps_used_file() {
    let place = folder();
    std::fs::write(project(&place).join("case.yaml"), "session: ./chat.json\n").unwrap();
    let server = start(&place);
    for (path, user) in [("agent.yaml", "`ctx.toml`"), ("chat.json", "`case.yaml`")] {
        let refused = act(&server, &server.id(path), "delete", &json!({}));
        assert_eq!(refused.json()["message"], format!("`{path}` is used by {user}"));
        assert_eq!(refused.refused(422), "CTX1014");
        assert!(project(&place).join(path).exists());
    }
    create(&server, "profile", "Alex").good();
    let id = server.id("Alex.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    act(&server, &id, "delete", &json!({})).good();
    assert!(!project(&place).join("Alex.yaml").exists());
    assert!(!listed(&server).contains(&"Alex.yaml".to_owned()));
    assert_eq!(act(&server, &id, "delete", &json!({})).refused(404), "CTX1007");
}

#[test]
fn changes_neither_configuration_nor_read_only_folder() {
    let place = folder();
    let server = start(&place);
    let id = server.id("ctx.toml");
    for (verb, body) in
        [("rename", json!({ "name": "x" })), ("duplicate", json!({ "name": "x" })), ("delete", json!({}))]
    {
        assert_eq!(act(&server, &id, verb, &body).refused(403), "CTX1006", "{verb}");
    }
    drop(server);
    let server =
        start_with(&project(&place), &place.path().join("store/a.db"), ctx_studio::Studio::read_only);
    let (id, before) = (server.id("chat.json"), listed(&server));
    assert_eq!(create(&server, "agent", "x").refused(403), "CTX1005");
    for (verb, body) in
        [("rename", json!({ "name": "x" })), ("duplicate", json!({ "name": "x" })), ("delete", json!({}))]
    {
        assert_eq!(act(&server, &id, verb, &body).refused(403), "CTX1005", "{verb}");
    }
    assert_eq!(listed(&server), before);
}

#[test]
fn exports_unsaved_edits() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    let export = |id: &str, format: &str| server.get(&format!("/api/files/{id}/export?format={format}"));
    for (format, key) in [("st-preset", "prompts"), ("st-card", "data"), ("aio", "agents")] {
        let file = export(&id, format).good();
        assert_eq!(file["name"], "Eve.json", "{format}");
        let value: Value = serde_json::from_str(file["text"].as_str().unwrap()).unwrap();
        assert!(value.get(key).is_some(), "{format} {value}");
    }
    for (kind, name, format, key) in [
        ("worldbook", "worldbooks/Garden.json", "st-lorebook", "entries"),
        ("profile", "Alex.yaml", "json", "name"),
    ] {
        create(&server, kind, name.trim_start_matches("worldbooks/")).good();
        let file = export(&server.id(name), format).good();
        let value: Value = serde_json::from_str(file["text"].as_str().unwrap()).unwrap();
        assert!(value.get(key).is_some(), "{format} {value}");
    }
    for format in ["", "st-lorebook", "json", "..%2fx"] {
        assert_eq!(export(&id, format).refused(422), "CTX1014", "{format}");
    }
}
