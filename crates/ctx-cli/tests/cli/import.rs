//! `ctx import`, `ctx export` and `ctx migrate`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Folder;

/// A folder with files.
fn folder(files: &[(&str, Value)]) -> Folder {
    let folder = Folder::with(&[]);
    for (name, value) in files {
        folder.write(name, value.to_string().as_bytes());
    }
    folder
}

/// Runs `ctx` in a folder; returns its exit code, output and errors.
fn ctx_in(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = assert_cmd::cargo::cargo_bin_cmd!("ctx")
        .current_dir(folder)
        .args(arguments.split(' '))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Checks that a report counts the values of its rows, of each file and in all.
#[track_caller]
fn assert_counts(report: &Value) {
    let mut all = [0_u64; 4];
    for file in report["files"].as_array().unwrap() {
        let rows = file["fields"].as_array().unwrap();
        let count = |status: &str| -> u64 {
            rows.iter().filter(|row| row["status"] == status).filter_map(|row| row["count"].as_u64()).sum()
        };
        let counts = ["mapped", "approximated", "kept", "unsupported"].map(count);
        assert_eq!(file["counts"], counts_of(counts));
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let keys: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys[keys.len() - 3..], ["counts", "diagnostics", "fields"]);
    }
    assert_eq!(report["counts"], counts_of(all));
}

fn counts_of([mapped, approximated, kept, unsupported]: [u64; 4]) -> Value {
    json!({ "mapped": mapped, "approximated": approximated, "kept": kept, "unsupported": unsupported })
}

fn card() -> Value {
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada", "description": "Counts for {{user}}.", "mes_example": "<START>\n{{char}}: One.",
        "character_book": { "entries": [{ "keys": ["moon"], "content": "Hollow.", "enabled": true, "insertion_order": 1 }] },
    } })
}

fn preset() -> Value {
    let order = ["main", "charDescription", "worldInfoAfter", "dialogueExamples", "chatHistory"];
    let order: Vec<Value> = order.iter().map(|id| json!({ "identifier": id, "enabled": true })).collect();
    json!({
        "prompts": [{ "identifier": "main", "content": "M" }],
        "prompt_order": [{ "character_id": 100_001, "order": order }],
        "new_example_chat_prompt": "[Ex]",
    })
}

#[test]
fn what_is_imported_is_checked_and_assembled() {
    let folder = folder(&[("card.json", card()), ("preset.json", preset())]);
    let chat = "{\"user_name\":\"Kim\",\"character_name\":\"Ada\"}\n{\"name\":\"Kim\",\"is_user\":true,\"mes\":\"The moon?\"}";
    fs::write(folder.path().join("chat.jsonl"), chat).unwrap();
    let (code, table, errors) =
        ctx_in(folder.path(), "import card.json preset.json --out out --report-file report.json");
    assert_eq!(code, 0, "{table}{errors}");
    assert!(table.contains("card_v2") && table.contains("preset_cc"), "{table}");
    let report: Value =
        serde_json::from_slice(&fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["files"][0]["fields"][0]["pointer"], "/spec");
    assert_counts(&report);
    let (code, _, errors) = ctx_in(folder.path(), "check out");
    assert_eq!((code, errors.as_str()), (0, ""), "the book beside the agent is at hand");
    let expected = ["M", "Counts for Kim.", "Hollow.", "[Ex]", "One.", "[Start a new Chat]", "The moon?"];
    assert_eq!(texts(folder.path(), "out/agent.yaml", "chat.jsonl"), expected);
}

#[test]
fn without_a_folder_nothing_is_written_but_the_report() {
    let folder =
        folder(&[("card.json", card()), ("package.json", json!({ "name": "x", "version": "1.0.0" }))]);
    let (code, table, note) = ctx_in(folder.path(), "import card.json");
    assert_eq!((code, folder.names()), (0, vec!["card.json".to_owned(), "package.json".to_owned()]));
    assert!(table.contains("card_v2"), "{table}");
    assert_eq!(note, "nothing written; add `--out DIR` to write 3 files\n");
    let (_, _, note) = ctx_in(folder.path(), "import card.json --lang zh");
    assert_eq!(note, "未写入；加上 `--out DIR` 可写入 3 个文件\n");
    let (code, _, errors) = ctx_in(folder.path(), "import package.json");
    assert_eq!(code, 3);
    assert!(errors.contains("name the format with `--as`"), "{errors}");
    let (code, _, errors) = ctx_in(folder.path(), "import card.json --report-file new/report.json");
    assert_eq!((code, errors.contains("new/report.json")), (3, true), "{errors}");
    let (code, answer, _) = ctx_in(folder.path(), "import card.json --report-file report.json --json");
    assert_eq!((code, folder.names().contains(&"report.json".to_owned())), (0, true));
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["written"], json!(["report.json"]));
}

#[test]
fn export_gives_back_what_was_imported() {
    let folder = folder(&[("card.json", card()), ("preset.json", preset())]);
    assert_eq!(ctx_in(folder.path(), "import card.json preset.json --out out").0, 0);
    let (_, exported, _) = ctx_in(folder.path(), "export out/agent.yaml --to st-preset");
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap(), preset());
    let (code, _, errors) = ctx_in(folder.path(), "export out/agent.yaml --to st-card --out again.png");
    assert_eq!(code, 0, "{errors}");
    let (code, answer, errors) = ctx_in(folder.path(), "import again.png --out again --json");
    assert_eq!(code, 0, "{errors}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["files"][0]["container"], "png:chara");
    assert!(folder.path().join("again/worldbooks/Ada.json").is_file());
}

/// Returns the texts of the messages that an agent gives for a conversation.
fn texts(folder: &Path, agent: &str, chat: &str) -> Vec<String> {
    let (code, body, errors) = ctx_in(folder, &format!("assemble {agent} --session {chat} --format openai"));
    assert_eq!(code, 0, "{errors}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Returns the worldbooks in a folder, by their names.
fn books(folder: &Path) -> Vec<(String, Value)> {
    let mut books: Vec<_> = fs::read_dir(folder.join("worldbooks")).unwrap().flatten().collect();
    books.sort_by_key(fs::DirEntry::path);
    let book = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap())
    };
    books.into_iter().map(book).collect()
}

/// Imports files, exports the agent for AIO Hub, and imports that where nothing else is: all is the same.
#[track_caller]
fn check_aio(files: &[(&str, Value)], expected: &[&str]) {
    let folder = folder(files);
    let chat = json!([{ "role": "user", "content": "The moon, and the sea?" }]);
    fs::write(folder.path().join("chat.json"), chat.to_string()).unwrap();
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    assert_eq!(ctx_in(folder.path(), &format!("import {} --out one", names.join(" "))).0, 0);
    assert_eq!(texts(folder.path(), "one/agent.yaml", "chat.json"), expected);
    let (code, _, errors) = ctx_in(folder.path(), "export one/agent.yaml --to aio --out one.agent.json");
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(ctx_in(folder.path(), "import one.agent.json --out two").0, 0);
    assert_eq!(books(&folder.path().join("two")), books(&folder.path().join("one")));
    assert_eq!(texts(folder.path(), "two/agent.yaml", "chat.json"), expected);
    ctx_in(folder.path(), "export two/agent.yaml --to aio --out two.agent.json");
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(text("two.agent.json"), text("one.agent.json"));
    ctx_in(folder.path(), "export one/agent.yaml --to st-card --out one.json");
    ctx_in(folder.path(), "export two/agent.yaml --to st-card --out two.json");
    assert_eq!(text("two.json"), text("one.json"));
}

#[test]
fn an_export_for_aio_hub_has_all_books() {
    check_aio(
        &[("card.json", card()), ("preset.json", preset())],
        &["M", "Counts for User.", "Hollow.", "[Ex]", "One.", "[Start a new Chat]", "The moon, and the sea?"],
    );
    let book = |key: &str, content: &str| json!({ "entries": { "0": { "uid": 0, "key": [key], "content": content } } });
    let agent = json!({ "type": "AIO_Agent_Export", "version": 1, "exportedAt": "today", "agents": [
        { "name": "Ada", "presetMessages": [{ "role": "system", "content": "M" }, { "type": "chat_history" }],
          "worldbookIds": ["w-2", "w-1"], "bundledWorldbooks": [
            { "id": "w-1", "name": "Lore", "content": book("moon", "Hollow.") },
            { "id": "w-2", "name": "Lore", "content": book("sea", "Wet.") },
        ] },
        { "name": "Eve", "presetMessages": [] },
    ] });
    check_aio(
        &[("ada.agent.json", agent)],
        &["M\n\n---\n\nHollow.\n\n---\n\nWet.", "The moon, and the sea?"],
    );
}

#[test]
fn an_export_for_aio_hub_tells_which_books_are_not_there() {
    let folder = folder(&[(
        "agent.json",
        json!({ "presetMessages": [], "worldbookIds": ["w-1", "w-2"], "bundledWorldbooks": [{ "id": "w-1", "content": {} }] }),
    )]);
    let (code, _, errors) = ctx_in(folder.path(), "export agent.json --to aio");
    assert_eq!(code, 0);
    let told: Vec<&str> = errors.lines().filter(|line| line.contains("CTX")).collect();
    assert_eq!(
        told,
        ["warning[CTX0785]: no worldbook `w-2` next to the agent; the export does not include it"],
        "{errors}"
    );
    assert!(errors.contains("agent.json:1:44"), "{errors}");
}

#[test]
fn books_and_rules_are_exported_by_themselves() {
    let book =
        json!({ "name": "Sky", "entries": { "0": { "uid": 0, "key": ["moon"], "content": "Hollow." } } });
    let other = json!({ "spec": "lorebook_v3", "data": { "name": "Sea", "entries": [{ "keys": ["salt"], "content": "Wet." }] } });
    let scripts =
        json!([{ "scriptName": "stars", "findRegex": "/x/g", "replaceString": "", "placement": [2] }]);
    let folder =
        folder(&[("sky.json", book.clone()), ("sea.json", other.clone()), ("stars.json", scripts.clone())]);
    assert_eq!(ctx_in(folder.path(), "import sky.json sea.json stars.json --out out").0, 0);
    let exported = |arguments: &str| {
        let (code, text, errors) = ctx_in(folder.path(), &format!("export out/agent.yaml --to {arguments}"));
        assert_eq!(code, 0, "{errors}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(exported("st-lorebook --only Sky"), book);
    assert_eq!(exported("st-lorebook --only Sea"), other);
    assert_eq!(exported("st-regex"), scripts);
    let (code, _, errors) = ctx_in(folder.path(), "export out/agent.yaml --to st-lorebook");
    assert!(code == 2 && errors.contains("`Sea`, `Sky`"), "{code} {errors}");
    assert_eq!(ctx_in(folder.path(), "export out/agent.yaml --to st-regex --only none").0, 2);
}

#[test]
fn an_instruct_template_writes_turns_of_text_completion() {
    let instruct = json!({ "input_sequence": "<user>", "output_sequence": "<bot>", "system_sequence": "<sys>", "wrap": true });
    let folder = folder(&[("card.json", card()), ("preset.json", preset()), ("instruct.json", instruct)]);
    fs::write(folder.path().join("chat.json"), r#"[{"role":"user","content":"Hi"}]"#).unwrap();
    assert_eq!(ctx_in(folder.path(), "import card.json preset.json instruct.json --out out").0, 0);
    let (code, body, errors) = ctx_in(
        folder.path(),
        "assemble out/agent.yaml --session chat.json --format completion --template out/template.yaml",
    );
    assert_eq!(code, 0, "{errors}");
    assert!(body.contains(r"<sys>\nM\n") && body.contains(r"<user>\nHi\n<bot>\n"), "{body}");
}

#[test]
fn what_cannot_be_read_is_told_and_nothing_is_half_written() {
    let folder = folder(&[("card.json", card())]);
    fs::write(folder.path().join("broken.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let (code, _, errors) = ctx_in(folder.path(), "import broken.png --out out");
    assert_eq!(code, 3, "{errors}");
    assert!(errors.contains("CTX0608") && !folder.path().join("out").exists(), "{errors}");
    assert_eq!(ctx_in(folder.path(), "import broken.png card.json --out out").0, 3);
    assert!(folder.path().join("out/agent.yaml").is_file());
    assert_eq!(ctx_in(folder.path(), "import missing.json --out none").0, 3);
}

#[test]
fn migrate_takes_every_kind_of_aio_hub_and_names_what_it_does_not() {
    let entry = json!({ "type": "user_profile", "content": "User Profile" });
    let session = json!({ "id": "s", "rootNodeId": "r", "activeLeafId": "r", "nodes": { "r": { "id": "r", "childrenIds": [] } } });
    let folder = folder(&[
        (
            "export.json",
            json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [{ "presetMessages": [entry] }, { "presetMessages": [entry] }] }),
        ),
        ("v1.json", json!([entry, { "type": "chat_history" }])),
        ("v2.json", json!({ "version": 2, "groups": [], "messages": [entry] })),
        ("halves.json", json!({ "index": { "id": "s", "name": "S" }, "detail": session })),
        ("session.json", session),
        ("card.json", card()),
    ]);
    let files = "export.json v1.json v2.json halves.json session.json card.json";
    let (code, said, errors) = ctx_in(folder.path(), &format!("migrate {files}"));
    assert_eq!(code, 3, "{errors}");
    assert!(said.ends_with("would change 4 of 6 files; cannot migrate 1\n"), "{said}");
    assert!(errors.contains("card.json") && errors.contains("ctx import"), "{errors}");
    let is_listed = |name: &str| said.contains(&format!("would change {name}\n"));
    assert!(["export.json", "v1.json", "v2.json", "halves.json"].into_iter().all(is_listed), "{said}");
}

#[test]
fn lists_fields_by_reason_or_all() {
    let book = json!({ "entries": {
        "0": { "uid": 0, "key": ["moon"], "content": "Hollow.", "automationId": "" },
        "1": { "uid": 1, "key": ["sea"], "content": "Salt.", "automationId": "" },
    } });
    let folder = folder(&[("book.json", book)]);
    let (code, screen, errors) = ctx_in(folder.path(), "import book.json");
    assert_eq!(code, 0, "{errors}");
    insta::assert_snapshot!(screen, @"
    book.json  lorebook

    Created
      prompts on   before_main, main, author_note, worldInfoBefore, personaDescription, charDescription, charPersonality,
                   scenario, worldInfoAfter, dialogueExamples, New chat, chatHistory
      worldbooks   book (2 entries)

    Kept without effect
      /entries/*/automationId ×2: quick replies are not supported; all empty
    ");
    let (_, groups, _) = ctx_in(folder.path(), "import book.json --report");
    insta::assert_snapshot!(groups, @"
    book.json
    kept: quick replies are not supported
      /entries/*/automationId → /worldbooks/0/entries/*/automationId ×2 (all empty)
    ");
    let (_, fields, _) = ctx_in(folder.path(), "import book.json --report-fields");
    insta::assert_snapshot!(fields, @"
    book.json
    mapped /entries/*/uid → /worldbooks/0/entries/*/uid ×2
    mapped /entries/*/key → /worldbooks/0/entries/*/key ×2
    mapped /entries/*/content → /worldbooks/0/entries/*/content ×2
    kept /entries/*/automationId → /worldbooks/0/entries/*/automationId ×2 (all empty) (quick replies are not supported)
    ");
    assert_eq!(ctx_in(folder.path(), "import book.json --report --json").0, 2);
}

/// The names of a list take three lines, however many there are, and nothing in them is obeyed.
#[test]
fn a_long_import_is_still_one_screen() {
    let prompts: Vec<Value> = (0..300)
        .map(|n| json!({ "identifier": format!("p{n}"), "name": format!("Prompt \u{1b}[31m{n}"), "content": "x" }))
        .collect();
    let order: Vec<Value> =
        (0..300).map(|n| json!({ "identifier": format!("p{n}"), "enabled": n % 2 == 0 })).collect();
    let extra: serde_json::Map<String, Value> = (0..300).map(|n| (format!("x{n}"), json!(n))).collect();
    let mut preset =
        json!({ "prompts": prompts, "prompt_order": [{ "character_id": 100_001, "order": order }] });
    preset.as_object_mut().unwrap().extend(extra);
    let folder = folder(&[("preset.json", preset)]);
    let (code, screen, errors) = ctx_in(folder.path(), "import preset.json");
    assert_eq!(code, 0, "{errors}");
    assert!(screen.lines().count() <= 40 && !screen.contains('\u{1b}'), "{screen}");
    assert!(screen.contains("prompts off") && screen.contains(", and 13"), "{screen}");
}

#[test]
fn the_sample_set_stands_where_its_preset_puts_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let sample = root.join("fixtures/import/a_card_a_preset_and_a_book");
    let folder = tempfile::tempdir().unwrap();
    for name in ["preset.json", "book.json", "personas.json", "chat.jsonl"] {
        fs::copy(sample.join(name), folder.path().join(name)).unwrap();
    }
    let card: Value = serde_json::from_slice(&fs::read(sample.join("card.json")).unwrap()).unwrap();
    let picture = ctx_preset_import::export_card_picture(&card, None).unwrap();
    fs::write(folder.path().join("card.png"), picture).unwrap();
    let (code, _, errors) =
        ctx_in(folder.path(), "import card.png preset.json book.json personas.json --out out --strict");
    assert_eq!(code, 0, "{errors}");
    assert_eq!(ctx_in(folder.path(), "check out").0, 0);
    let (code, body, errors) = ctx_in(
        folder.path(),
        "assemble out/agent.yaml --session chat.jsonl --profile out/profile.yaml --format openai",
    );
    assert_eq!(code, 0, "{errors}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let line = |message: &Value| {
        format!("{}: {}\n", message["role"].as_str().unwrap(), message["content"].as_str().unwrap())
    };
    let sent: String = body["messages"].as_array().unwrap().iter().map(line).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&sample);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("expected", sent));
}

/// Many files and reasons share one screen, on both streams together; `--report` has the rest.
#[test]
fn an_import_is_told_on_one_screen() {
    let book = json!({"entries": {"0": {"uid": 0, "key": ["sea"], "content": "Wide."}}, "unknown": 1});
    let names: Vec<String> = (0..30).map(|at| format!("book{at}.json")).collect();
    let books = names.iter().map(|name| (name.as_str(), book.clone()));
    let files: Vec<_> = [("card.json", card()), ("preset.json", preset())].into_iter().chain(books).collect();
    let folder = folder(&files);
    let all = format!("import card.json preset.json {}", names.join(" "));
    for arguments in [all.clone(), format!("{all} --out out")] {
        let (_, output, errors) = ctx_in(folder.path(), &arguments);
        let lines = output.lines().count() + errors.lines().count();
        assert!(lines <= 40, "{lines} lines\n{output}{errors}");
        assert!(output.contains("Created") && output.contains("use `--report` to list all"), "{output}");
    }
}

#[test]
fn what_a_preset_cannot_say_is_found_in_the_agents_file() {
    let file = r#"{
  "type": "AIO_Agent_Export",
  "agents": [
    { "name": "Ada", "presetMessages": [
      { "type": "chat_history" },
      { "content": "Be brief.", "modelMatch": { "enabled": true, "patterns": ["gpt"] } }
    ] }
  ]
}"#;
    let told = crate::ctx("export a.json --to st-preset --out preset.json", &[("a.json", file)]);
    assert!(told.contains("warning[CTX0628]") && told.contains("\n --> a.json:6:7\n"), "{told}");
}
