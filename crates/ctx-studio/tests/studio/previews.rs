//! Previews are the truth: the same rows, figures and bodies that `ctx assemble` makes.

use std::collections::BTreeMap;
use std::path::Path;

use ctx_engine::{Context, Dialect, Engine};
use ctx_language::Language;
use ctx_preset_import::Document;
use ctx_project::{Config, ConfigOptions, Sources, Turn, TurnOptions};
use serde_json::{Value, json};

use crate::client::{Running, folder, project, start, start_with};

/// The moment of all turns here.
const AT: &str = "2026-05-03T09:00:00Z";

fn options(agent: &Path, chat: &Path) -> TurnOptions {
    TurnOptions {
        agent: Some(agent.to_owned()),
        session: Some(chat.to_owned()),
        input: Some("And now?".to_owned()),
        at: Some(AT.to_owned()),
        seed: 7,
        ..TurnOptions::default()
    }
}

/// Opens a turn as `ctx assemble` does in a folder.
fn turn(folder: &Path, options: &TurnOptions) -> Result<Turn, String> {
    let mut sources = Sources::default();
    let config = Config::read_for(folder, &ConfigOptions::default(), &mut sources)
        .map_err(|error| error.to_string())?;
    let turn = Turn::open_on(Engine::new(), options, config, |_| {}, &mut sources);
    turn.map(|(turn, _)| turn).map_err(|error| error.to_string())
}

fn asked(server: &Running, agent: &str, chat: &str) -> Value {
    json!({
        "window": "w1", "agent": server.id(agent), "conversation": server.id(chat), "worldbooks": [],
        "turn": { "input": "And now?", "at": AT, "seed": 7 }, "enable": [], "disable": [],
    })
}

/// Compares all that a preview shows with a context.
#[track_caller]
fn assert_same(server: &Running, preview: &Value, context: &Context, name: &str) {
    let rows = preview["rows"].as_array().unwrap_or_else(|| panic!("{name}: {preview}"));
    let sent: Vec<&Value> = rows.iter().filter(|row| row["n"].is_u64()).collect();
    assert_eq!(sent.len(), context.messages.len(), "{name}");
    let mut total = 0;
    for ((row, message), tokens) in sent.iter().zip(&context.messages).zip(context.tokens()) {
        total += u64::from(tokens);
        assert_eq!(row["role"], message.role.as_str(), "{name}");
        assert_eq!((&row["tokens"], &row["bytes"]), (&json!(tokens), &json!(message.text().len())), "{name}");
    }
    assert_eq!(preview["usage"]["tokens"], json!(total), "{name}");
    let parts = preview["usage"]["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum::<u64>(), total, "{name}");
    let id = preview["id"].as_str().unwrap();
    for chunk in rows.chunks(100) {
        let from = chunk[0]["row"].as_u64().unwrap();
        let path = format!("/api/previews/{id}/rows?from={from}&to={}", from + chunk.len() as u64);
        for text in server.get(&path).good()["rows"].as_array().unwrap() {
            let row = &rows[usize::try_from(text["row"].as_u64().unwrap()).unwrap()];
            let Some(n) = row["n"].as_u64() else { continue };
            let pieces =
                text["pieces"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap());
            assert_eq!(
                pieces.collect::<String>(),
                context.messages[usize::try_from(n).unwrap()].text(),
                "{name}"
            );
        }
    }
}

#[test]
fn a_preview_is_what_assemble_makes() {
    let place = folder();
    let server = start(&place);
    let folder = project(&place).canonicalize().unwrap();
    let preview = server.ask("POST", "/api/preview", &asked(&server, "agent.yaml", "chat.json")).good();
    let options = options(&folder.join("agent.yaml"), &folder.join("chat.json"));
    let mut turn = turn(&folder, &options).unwrap();
    let context = turn.assemble(false).unwrap();
    assert_same(&server, &preview, &context, "plain");
    assert_eq!(preview["usage"]["limit"], json!(context.report.usage.as_ref().unwrap().available));
    assert_eq!(preview["entryTokens"].as_object().unwrap().keys().collect::<Vec<_>>(), ["/presetMessages/0"]);
    let dropped = preview["rows"].as_array().unwrap().iter().find(|row| row["dropped"].is_string()).unwrap();
    assert_eq!((&dropped["name"], &dropped["pointer"]), (&json!("off"), &json!("/presetMessages/2")));
    let id = preview["id"].as_str().unwrap();
    for dialect in Dialect::ALL {
        turn.input.dialect = Some(dialect.name().into());
        let context = turn.assemble(false).unwrap();
        let (bytes, _) = turn.body_bytes(&context, None);
        let body = server.get(&format!("/api/previews/{id}/body?dialect={}", dialect.name())).good();
        assert_eq!(body["text"].as_str().unwrap().as_bytes(), bytes, "{}", dialect.name());
    }
    let life = server.get(&format!("/api/previews/{id}/life?row=0")).good();
    assert!(life["events"].as_array().is_some_and(|events| !events.is_empty()), "{life}");
    let row = &dropped["row"];
    let life = server.get(&format!("/api/previews/{id}/life?row={row}")).good();
    assert!(life["why"].as_array().is_some_and(|why| !why.is_empty()), "{life}");
}

#[test]
fn shows_prefix_of_append_only_preview() {
    let place = folder();
    let server = start(&place);
    let mut asked = asked(&server, "agent.yaml", "chat.json");
    assert_eq!(server.ask("POST", "/api/preview", &asked).good().get("prefix"), None);
    asked["turn"]["prefix"] = json!("append-only");
    let preview = server.ask("POST", "/api/preview", &asked).good();
    assert_eq!(preview["prefix"], json!({ "messages": 0, "tokens": 0 }), "no request was sent yet");
    asked["turn"]["prefix"] = json!("other");
    server.ask("POST", "/api/preview", &asked).refused(400);
}

/// The texts of files by their names.
type Texts = BTreeMap<String, String>;

/// Returns the names of the cases of a folder, each with its agent and its conversation.
fn texts_of_cases(folder: &Path) -> Vec<(String, Texts)> {
    let is_input = |name: &str| name.starts_with("agent.") || name.starts_with("session.");
    let mut shared = Texts::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if is_input(&name) {
            shared.extend(std::fs::read_to_string(&path).ok().map(|text| (name, text)));
        }
    }
    let case = std::fs::read(folder.join("case.yaml")).unwrap();
    let case = Document::read(&case, "case.yaml").unwrap().value;
    let Some(entries) = case.get("cases") else {
        return vec![(folder.file_name().unwrap().to_string_lossy().into_owned(), shared)];
    };
    let entries = entries.as_object().unwrap().iter().map(|(name, entry)| {
        let mut files = shared.clone();
        for (key, text) in entry.as_object().unwrap().iter().filter(|(key, _)| is_input(key)) {
            files.retain(|file, _| file.split('.').next() != key.split('.').next());
            files.extend(text.as_str().map(|text| (key.clone(), text.to_owned())));
        }
        (name.clone(), files)
    });
    entries.collect()
}

#[test]
fn previews_of_the_fixtures_are_what_assemble_makes() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("project");
    let mut cases: Vec<(String, String)> = Vec::new();
    for area in ["anchors", "dialects", "formatters", "limits", "history", "settings", "worldbook", "regex"] {
        let folders = std::fs::read_dir(fixtures.join(area)).unwrap().map(|entry| entry.unwrap().path());
        let sorted: BTreeMap<String, Texts> = folders.flat_map(|folder| texts_of_cases(&folder)).collect();
        for (name, files) in sorted.into_iter().step_by(4) {
            let file = |stem: &str| {
                ["yaml", "json"]
                    .into_iter()
                    .map(|end| format!("{stem}.{end}"))
                    .find(|file| files.contains_key(file))
            };
            let (Some(agent), Some(session)) = (file("agent"), file("session")) else { continue };
            let below = Path::new(area).join(name);
            std::fs::create_dir_all(folder.join(&below)).unwrap();
            let copied = [agent, session].map(|file| {
                std::fs::write(folder.join(&below).join(&file), &files[&file]).unwrap();
                below.join(file).to_string_lossy().into_owned()
            });
            let [agent, session] = copied;
            cases.push((agent, session));
        }
    }
    assert!(cases.len() >= 40, "{}", cases.len());
    let server = start_with(&folder, &place.path().join("store/a.db"), |studio| studio);
    let folder = folder.canonicalize().unwrap();
    let mut compared = 0;
    for (agent, session) in cases {
        let answer = server.ask("POST", "/api/preview", &asked(&server, &agent, &session));
        let options = options(&folder.join(&agent), &folder.join(&session));
        match turn(&folder, &options).map(|turn| turn.assemble(false)) {
            Err(_) => assert_eq!(answer.status, 422, "{agent}"),
            Ok(Err(_)) => {
                let is_told = answer.status == 422 || answer.json()["infeasible"]["message"].is_string();
                assert!(is_told, "{agent}");
            }
            Ok(Ok(context)) => {
                assert_same(&server, &answer.good(), &context, &agent);
                compared += 1;
            }
        }
    }
    assert!(compared >= 40, "{compared}");
}

#[test]
fn drafts_are_shown_and_the_saved_file_if_asked() {
    let place = folder();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let mut asked = asked(&server, "agent.yaml", "chat.json");
    let first = server.ask("POST", "/api/preview", &asked).good();
    let edit = json!([{ "op": "set", "pointer": "/presetMessages/0/content", "value": "Draft of {{char}}" }]);
    server.edit(&id, &edit).good();
    let (drafts, same) = {
        asked["have"] = first["id"].clone();
        let drafts = server.ask("POST", "/api/preview", &asked).good();
        asked["have"] = drafts["id"].clone();
        (drafts, server.ask("POST", "/api/preview", &asked).good())
    };
    let splices = drafts["rows"]["splices"].as_array().unwrap();
    assert_eq!((splices.len(), &splices[0]["insert"][0]["head"]), (1, &json!("Draft of Robin")));
    assert_eq!((&same["rows"]["splices"], &same["rows"]["total"]), (&json!([]), &drafts["rows"]["total"]));
    asked["saved"] = json!(true);
    asked["have"] = Value::Null;
    let saved = server.ask("POST", "/api/preview", &asked).good();
    assert_eq!(saved["rows"], first["rows"]);
    // Both side by side.
    let compare = json!({ "a": saved["id"], "b": same["id"] });
    let compared = server.ask("POST", "/api/compare", &compare).good();
    assert_eq!(compared["difference"]["owners"], json!(["who", "who"]));
    let changed: Vec<&Value> =
        compared["rows"].as_array().unwrap().iter().filter(|row| row["kind"] != "same").collect();
    assert_eq!(changed.len(), 1);
    assert!(changed[0]["words"].as_array().is_some_and(|words| words.len() > 1));
    let itself = server.ask("POST", "/api/compare", &json!({ "a": saved["id"], "b": first["id"] })).good();
    assert!(itself.get("difference").is_none());
}

#[test]
fn names_sources_instead_of_their_ids() {
    let place = folder();
    let server = start(&place);
    let asked = asked(&server, "agent.yaml", "chat.json");
    let preview = server.ask("POST", "/api/preview", &asked).good();
    let rows = preview["rows"].as_array().unwrap();
    let named = |source: &str| -> Vec<&str> {
        let rows = rows.iter().filter(|row| row["source"] == source);
        rows.map(|row| row["name"].as_str().unwrap()).collect()
    };
    assert_eq!(named("history"), ["Chat message 1", "Chat message 2"]);
    assert_eq!(named("preset"), ["who", "off"]);
    assert_eq!(
        (&rows[0]["code"], &rows[0]["entries"]),
        (&json!("preset:who"), &json!(["/presetMessages/0"]))
    );
    let disabled: Vec<&Value> = rows.iter().filter(|row| row["isDisabled"] == true).collect();
    assert_eq!((disabled.len(), &disabled[0]["name"]), (1, &json!("off")));
    for decision in preview["decisions"].as_array().unwrap() {
        assert!(decision["name"].as_str().is_some_and(|name| !name.is_empty()), "{decision}");
    }
    let chinese = [("accept-language", "zh")];
    let preview = server.ask_with("POST", "/api/preview", &asked, &chinese).good();
    let has = |name: &str| preview["rows"].as_array().unwrap().iter().any(|row| row["name"] == name);
    assert!(has("对话消息 2"));
}

#[test]
fn numbers_messages_of_a_trace_from_one() {
    let place = folder();
    let server = start(&place);
    let preview = server.ask("POST", "/api/preview", &asked(&server, "agent.yaml", "chat.json")).good();
    let id = preview["id"].as_str().unwrap();
    let life = server.get(&format!("/api/previews/{id}/life?row=0")).good();
    let texts: Vec<&str> =
        life["events"].as_array().unwrap().iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("message 1")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("message 0")), "{texts:?}");
}

#[test]
fn compares_messages_by_their_sources() {
    let place = folder();
    let agent = "\
name: Robin
presetMessages:
  - {id: a, role: system, content: Alpha}
  - {id: b, role: user, content: Beta}
  - {id: c, role: assistant, content: Gamma}
  - {id: d, role: assistant, content: Delta, isEnabled: false}
";
    std::fs::write(project(&place).join("agent.yaml"), agent).unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let asked = json!({ "window": "w", "agent": id, "conversation": "", "turn": { "at": AT } });
    let first = server.ask("POST", "/api/preview", &asked).good();
    let edits = json!([
        { "op": "set", "pointer": "/presetMessages/0/isEnabled", "value": false },
        { "op": "set", "pointer": "/presetMessages/3/isEnabled", "value": true },
        { "op": "move", "pointer": "/presetMessages/2", "to": "/presetMessages/1" },
    ]);
    server.edit(&id, &edits).good();
    let second = server.ask("POST", "/api/preview", &asked).good();
    let ids = json!({ "a": first["id"], "b": second["id"] });
    let compared = server.ask("POST", "/api/compare", &ids).good();
    let rows = compared["rows"].as_array().unwrap();
    let side = |preview: &Value, row: &Value, key: &str| {
        let at = usize::try_from(row[key].as_u64()?).unwrap();
        Some(preview["rows"][at]["name"].as_str().unwrap().to_owned())
    };
    let mut kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["added", "moved", "removed", "same"]);
    for row in rows {
        let names = (side(&first, row, "a"), side(&second, row, "b"));
        match row["kind"].as_str().unwrap() {
            "added" => assert_eq!(names, (None, Some("d".to_owned()))),
            "removed" => {
                assert_eq!(names, (Some("a".to_owned()), None));
                assert!(row["dropped"].as_str().unwrap().contains("disabled"), "{row}");
            }
            _ => assert_eq!(names.0, names.1),
        }
    }
}

#[test]
fn a_draft_of_a_worldbook_and_of_the_defaults_counts_too() {
    let place = folder();
    let project = project(&place);
    std::fs::create_dir(project.join("worldbooks")).unwrap();
    let book = r#"{"name": "garden", "entries": {"0": {"uid": 0, "key": [], "content": "Basil is green.", "constant": true}}}"#;
    std::fs::write(project.join("worldbooks/garden.json"), book).unwrap();
    let agent = format!("{}worldbookIds: [garden]\n", crate::client::AGENT);
    std::fs::write(project.join("agent.yaml"), agent).unwrap();
    let server = start(&place);
    let asked = asked(&server, "agent.yaml", "chat.json");
    let heads = |preview: &Value| {
        let id = preview["id"].as_str().unwrap();
        server.get(&format!("/api/previews/{id}/rows?from=0&to=99")).good().to_string()
    };
    assert!(heads(&server.ask("POST", "/api/preview", &asked).good()).contains("Basil is green."));
    let id = server.id("worldbooks/garden.json");
    let edit = json!([{ "op": "set", "pointer": "/entries/0/content", "value": "Basil is purple." }]);
    server.edit(&id, &edit).good();
    assert!(heads(&server.ask("POST", "/api/preview", &asked).good()).contains("Basil is purple."));
    let id = server.id("ctx.toml");
    let body = json!({ "base": 0, "id": "t", "text": "agent = \"agent.yaml\"\ncontext-tokens = 2000\n" });
    server.ask("POST", &format!("/api/files/{id}/edits"), &body).good();
    let limit = server.ask("POST", "/api/preview", &asked).good()["usage"]["limit"].as_u64().unwrap();
    assert!(limit <= 2_000, "{limit}");
}

#[test]
fn a_budget_that_cannot_be_met_is_no_failure() {
    let place = folder();
    let server = start(&place);
    let mut asked = asked(&server, "agent.yaml", "chat.json");
    asked["turn"]["contextTokens"] = json!(5);
    let preview = server.ask("POST", "/api/preview", &asked).good();
    assert!(preview["infeasible"]["message"].is_string(), "{preview}");
    let id = preview["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/api/previews/{id}/rows?from=0&to=9")).good()["rows"], json!([]));
    assert_eq!(server.get(&format!("/api/previews/{id}/life?row=0")).status, 422);
}

#[test]
fn odd_requests_are_refused() {
    let place = folder();
    let server = start(&place);
    let asked = asked(&server, "agent.yaml", "chat.json");
    let with = |pointer: &str, value: Value| {
        let mut asked = asked.clone();
        *asked.pointer_mut(pointer).unwrap() = value;
        server.ask("POST", "/api/preview", &asked)
    };
    assert_eq!(with("/agent", json!("nope")).refused(404), "CTX1007");
    assert_eq!(with("/window", json!("")).refused(400), "CTX1000");
    assert_eq!(with("/turn/at", json!("yesterday")).refused(422), "CTX1014");
    assert_eq!(with("/turn/seed", json!(-1)).refused(400), "CTX1000");
    assert_eq!(server.get("/api/previews/nope/rows?from=0&to=1").refused(404), "CTX1007");
    let preview = server.ask("POST", "/api/preview", &asked).good();
    let id = preview["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/api/previews/{id}/rows?from=x")).refused(400), "CTX1000");
    assert_eq!(server.get(&format!("/api/previews/{id}/rows?from=900&to=901")).good()["rows"], json!([]));
    assert_eq!(server.get(&format!("/api/previews/{id}/life?row=99")).refused(404), "CTX1007");
    assert_eq!(server.get(&format!("/api/previews/{id}/life")).refused(400), "CTX1000");
    assert_eq!(server.get(&format!("/api/previews/{id}/body?dialect=morse")).refused(404), "CTX1007");
    // An agent that cannot be read says where.
    let agent = server.id("agent.yaml");
    let body = json!({ "base": 0, "id": "t", "text": "name: [\n" });
    server.ask("POST", &format!("/api/files/{agent}/edits"), &body).good();
    let answer = server.ask("POST", "/api/preview", &asked);
    let finding = answer.json()["findings"][0].clone();
    assert_eq!(finding["file"], "agent.yaml");
    assert!(finding["line"].is_u64(), "{finding}");
    assert_eq!(answer.refused(422), "CTX1014");
}

#[test]
fn the_last_eight_previews_of_a_window_are_kept_and_those_that_are_pinned() {
    let place = folder();
    let server = start(&place);
    let mut asked = asked(&server, "agent.yaml", "chat.json");
    asked["pin"] = json!(true);
    let pinned = server.ask("POST", "/api/preview", &asked).good()["id"].as_str().unwrap().to_owned();
    asked["pin"] = json!(false);
    let ids: Vec<String> = (0..10)
        .map(|_| server.ask("POST", "/api/preview", &asked).good()["id"].as_str().unwrap().to_owned())
        .collect();
    let status = |id: &str| server.get(&format!("/api/previews/{id}/rows?from=0&to=1")).status;
    assert_eq!((status(&pinned), status(&ids[1]), status(&ids[2])), (200, 404, 200));
}

#[test]
fn a_text_is_expanded_as_the_agent_would() {
    let place = folder();
    let server = start(&place);
    let text = "é {{char}} {{nope}}";
    let body = json!({ "text": text, "agent": server.id("agent.yaml"), "turn": { "at": AT } });
    let expanded = server.ask("POST", "/api/expand", &body).good();
    assert_eq!(expanded["text"], "é Robin {{nope}}");
    assert_eq!(
        (&expanded["pieces"][1]["text"], &expanded["pieces"][1]["source"]),
        (&json!("Robin"), &json!("macro"))
    );
    let span = &expanded["findings"][0]["span"];
    let from = text.find("{{nope").unwrap();
    assert_eq!((&span["start"], &span["from"]), (&json!(from), &json!(from - 1)));
    let blank = json!({ "text": " \n ", "agent": server.id("agent.yaml"), "turn": {} });
    assert_eq!(server.ask("POST", "/api/expand", &blank).good()["text"].as_str().unwrap().trim(), "");
}

#[test]
fn what_the_engine_has_is_listed() {
    let place = folder();
    let server = start(&place);
    let registry = server.get(&format!("/api/registry?agent={}", server.id("agent.yaml"))).good();
    let has = |list: &str, id: &str| registry[list].as_array().unwrap().iter().any(|own| own["id"] == id);
    assert!(has("anchors", "user_profile") && has("processors", "token-limiter"));
    assert_eq!(registry["dialects"].as_array().unwrap().len(), 5);
    assert_eq!(server.get("/api/registry?agent=nope").refused(404), "CTX1007");
}

#[test]
fn a_code_is_explained_in_the_language_of_the_page() {
    let place = folder();
    let server = start(&place);
    let english = server.get("/api/codes/CTX1007").good();
    let more = [("accept-language", "zh")];
    let chinese = server.ask_with("GET", "/api/codes/CTX1007", &Value::Null, &more).good();
    for key in ["title", "cause", "wayOut"] {
        assert_ne!(english[key], chinese[key], "{key}");
    }
    assert_eq!(english["example"], chinese["example"]);
    assert_eq!(server.get("/api/codes/CTX9999").refused(404), "CTX1007");
}

#[test]
fn the_page_begins_in_the_language_of_the_server() {
    let place = folder();
    let store = place.path().join("store/a.db");
    let server = start_with(&project(&place), &store, |studio| studio.language(Language::Zh));
    let english = [("accept-language", "en")];
    let project = server.ask_with("GET", "/api/project", &Value::Null, &english).good();
    assert_eq!(project["lang"], "zh");
}

#[test]
fn settings_of_processors_have_chinese_texts() {
    let place = folder();
    let server = start(&place);
    let more = [("accept-language", "zh")];
    let registry = server.ask_with("GET", "/api/registry", &Value::Null, &more).good();
    let mut english = Vec::new();
    let mut look = |text: &Value| {
        let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        english.extend(text.as_str().filter(|text| !is_chinese(text)).map(str::to_owned));
    };
    for processor in registry["processors"].as_array().unwrap() {
        look(&processor["name"]);
        for field in processor["fields"].as_array().unwrap() {
            look(&field["label"]);
            look(&field["description"]);
            field["options"].as_array().into_iter().flatten().for_each(|option| look(&option["label"]));
        }
    }
    assert_eq!(english, [""; 0]);
}

#[test]
fn an_empty_id_means_none_and_no_id_what_the_defaults_name() {
    let place = folder();
    let config = "agent = \"agent.yaml\"\nsession = \"chat.json\"\nmodel = \"gpt-4o\"\n";
    std::fs::write(project(&place).join("ctx.toml"), config).unwrap();
    let server = start(&place);
    let heads = |body: Value| -> Vec<String> {
        let preview = server.ask("POST", "/api/preview", &body).good();
        let sent = preview["rows"].as_array().unwrap().iter().filter(|row| row["n"].is_u64());
        sent.map(|row| row["head"].as_str().unwrap().to_owned()).collect()
    };
    let with = |more: Value| {
        let mut body = json!({ "window": "w", "turn": { "at": AT } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        heads(body)
    };
    assert_eq!(with(json!({})), ["You are Robin.", "Hello", "Hi!"]);
    assert_eq!(with(json!({ "conversation": "" })), ["You are Robin."]);
    assert_eq!(with(json!({ "agent": "", "profile": "" })), ["Hello", "Hi!"]);
}

#[test]
fn a_joined_message_is_shown_as_what_most_of_it_is() {
    let place = folder();
    let two = crate::client::AGENT
        .replace("  - {id: history", "  - {id: more, role: system, content: Be brief.}\n  - {id: history");
    std::fs::write(project(&place).join("agent.yaml"), two).unwrap();
    let server = start(&place);
    let preview = server.ask("POST", "/api/preview", &asked(&server, "agent.yaml", "chat.json")).good();
    let first = &preview["rows"][0];
    assert_eq!((&first["source"], &first["name"]), (&json!("preset"), &json!("who + more")));
}
