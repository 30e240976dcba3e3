//! Templates of text completion, and presets, modules, bundles and backups of other applications.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_preset_import::{FieldStatus, Format, Import};
use ctx_types::Persist as _;
use serde_json::{Value, json};

use super::packed::{archive, import_bytes, picture, text_data, text_picture};
use super::{covers, found, import_all, import_files, import_one};

fn import_values(values: &[Value]) -> Import {
    import_all(&values.iter().map(|value| ("file", value.clone())).collect::<Vec<_>>())
}

/// Shows the enabled entries: id and text.
fn sent(made: &Import) -> Vec<String> {
    let agent = made.agent.as_ref().unwrap().write();
    let entries = agent["presetMessages"].as_array().unwrap().iter();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let is_on = |entry: &&Value| entry["isEnabled"] != json!(false);
    entries.filter(is_on).map(|entry| format!("{}:{}", text(entry, "id"), text(entry, "content"))).collect()
}

/// Checks the statuses of fields of the first file.
#[track_caller]
fn check_statuses(made: &Import, expected: &[(&str, FieldStatus)]) {
    for (pointer, status) in expected {
        let row = made.report.files[0].fields.iter().rfind(|row| covers(&row.pointer, pointer));
        assert_eq!(row.map(|row| row.status), Some(*status), "{pointer}");
    }
}

fn instruct() -> Value {
    json!({
        "input_sequence": "<user>", "output_sequence": "<bot>", "system_sequence": "<sys>", "stop_sequence": "<end>",
        "input_suffix": "<end>\n", "output_suffix": "", "wrap": true, "name": "Own", "first_output_sequence": "<first>",
        "sequences_as_stop_strings": true,
    })
}

#[test]
fn reads_instruct_templates() {
    let made = import_one(&instruct());
    let template = made.template.as_ref().unwrap();
    assert_eq!(template["user"], json!({ "before": "<user>\n", "after": "<end>\n" }));
    assert_eq!(template["assistant"], json!({ "before": "<bot>\n", "after": "\n" }));
    assert_eq!(template["stop"], json!(["<end>", "<user>", "<bot>", "<sys>"]));
    let expected = [("/input_sequence", FieldStatus::Mapped), ("/first_output_sequence", FieldStatus::Kept)];
    check_statuses(&made, &expected);
}

#[test]
fn turns_stories_into_entries() {
    let context = json!({
        "story_string": "Begin.\n{{#if system}}{{system}}\n{{/if}}{{#if persona}}{{persona}}\n{{/if}}{{#if description}}About: {{description}}\n{{/if}}{{#if scenario}}At {{scenario}}\n{{/if}}",
        "chat_start": "***", "example_separator": "---", "name": "Own",
    });
    let prompt = json!({ "name": "Expert", "content": "You know.", "post_history": "Be brief." });
    let made = import_values(&[context, prompt]);
    assert_eq!(
        sent(&made),
        [
            "story_0:Begin.",
            "before_main:",
            "main:You know.",
            "author_note:",
            "personaDescription:{{persona}}",
            "story_3:{{#if description}}About: {{description}}{{/if}}",
            "scenario:{{#if scenario}}At {{scenario}}{{/if}}",
            "dialogueExamples:",
            "new_chat:***",
            "chatHistory:",
            "jailbreak:Be brief.",
        ]
    );
    check_statuses(&made, &[("/story_string", FieldStatus::Approximated)]);
    assert_eq!(made.report.files[1].counts.mapped, 2);
}

#[test]
fn reads_parts_of_master_exports() {
    let made = import_one(&json!({
        "instruct": instruct(), "sysprompt": { "name": "n", "content": "You know.", "post_history": "" },
        "preset": { "temp": 0.5, "rep_pen": 1.1, "max_length": 8192, "own": 1 }, "reasoning": { "prefix": "<t>", "suffix": "</t>" },
        "srw": { "value": "Sure" },
    }));
    let agent = made.agent.as_ref().unwrap().write();
    assert_eq!(agent["parameters"]["temperature"], 0.5);
    assert_eq!(agent["parameters"]["contextManagement"]["maxContextTokens"], 8192);
    assert!(sent(&made).contains(&"main:You know.".to_owned()));
    assert_eq!(made.template.as_ref().unwrap()["name"], "Own");
    let expected = [
        ("/sysprompt/content", FieldStatus::Mapped),
        ("/preset/temp", FieldStatus::Mapped),
        ("/reasoning/prefix", FieldStatus::Kept),
    ];
    check_statuses(&made, &expected);
    assert_eq!(agent["imported"]["master_export"]["srw"]["value"], "Sure");
}

#[test]
fn prefers_chat_presets_to_templates() {
    let context = json!({ "story_string": "S", "chat_start": "***" });
    let made = import_values(&[context, json!({ "prompts": [], "prompt_order": [], "temperature": 1 })]);
    check_statuses(&made, &[("/story_string", FieldStatus::Kept)]);
    assert!(!sent(&made).contains(&"new_chat:***".to_owned()));
}

#[test]
fn replaces_original_of_a_card_with_the_system_prompt() {
    let card = |text: &str, below: &str| {
        json!({ "spec": "chara_card_v2", "data": {
            "name": "Ada", "system_prompt": text, "post_history_instructions": below,
        } })
    };
    let prompt = json!({ "name": "n", "content": "You know.", "post_history": "Now." });
    let made = import_values(&[prompt.clone(), card("<{{original}}>", "No.")]);
    let entries = sent(&made);
    assert!(entries.contains(&"main:<You know.>".to_owned()), "{entries:?}");
    assert!(entries.contains(&"jailbreak:No.".to_owned()), "{entries:?}");
    check_statuses(&made, &[("/content", FieldStatus::Mapped), ("/post_history", FieldStatus::Kept)]);
    // A prompt of a preset is the original.
    let preset = json!({ "prompts": [{ "identifier": "main", "content": "M" }], "prompt_order": [] });
    let entries = sent(&import_values(&[prompt, preset, card("<{{original}}>", "")]));
    assert!(entries.contains(&"main:<M>".to_owned()), "{entries:?}");
    assert!(entries.contains(&"jailbreak:Now.".to_owned()), "{entries:?}");
}

#[test]
fn reads_presets_of_risuai() {
    let made = import_one(&json!({
        "name": "Own", "temperature": 80, "maxContext": 4000, "top_p": -1000, "proxyKey": "k",
        "promptTemplate": [
            { "type": "plain", "type2": "main", "text": "Main.", "role": "system" },
            { "type": "persona", "innerFormat": "User: {{slot}}" },
            { "type": "description" }, { "type": "lorebook" }, { "type": "memory" },
            { "type": "chat", "rangeStart": 0, "rangeEnd": "end" },
            { "type": "plain", "type2": "globalNote", "text": "Note.", "role": "bot" },
        ],
    }));
    assert_eq!(
        sent(&made),
        [
            "before_main:",
            "main:Main.",
            "author_note:",
            "risu_1:User: {{persona}}",
            "charDescription:{{description}}",
            "worldInfoAfter:",
            "new_chat:",
            "chatHistory:",
            "jailbreak:Note.",
        ]
    );
    let parameters = &made.agent.as_ref().unwrap().write()["parameters"];
    assert_eq!((&parameters["temperature"], &parameters["topP"]), (&json!(0.8), &Value::Null));
    check_statuses(&made, &[("/promptTemplate/4/type", FieldStatus::Kept), ("/proxyKey", FieldStatus::Kept)]);
    let odd =
        json!({ "promptTemplate": [], "temperature": -1000, "top_p": "hot", "top_k": null, "min_p": "0.5" });
    let made = import_one(&odd);
    let rows = made.report.files[0].fields.iter().filter(|row| row.pointer != "/promptTemplate");
    let nothing = Some("no valid value in that application");
    assert_eq!(
        rows.map(|row| (row.pointer.as_str(), row.status, row.note)).collect::<Vec<_>>(),
        [
            ("/temperature", FieldStatus::Kept, Some("negative values have no meaning")),
            ("/top_p", FieldStatus::Kept, nothing),
            ("/top_k", FieldStatus::Kept, nothing),
            ("/min_p", FieldStatus::Approximated, Some("the closest part of a chat completion preset")),
        ]
    );
}

#[test]
fn reads_modules_of_risuai() {
    let made = import_one(&json!({
        "type": "risuModule", "name": "Moon", "lorebook": [{ "key": "moon, sky", "content": "Hollow.", "insertorder": 5 }],
        "regex": [{ "comment": "stars", "in": "\\*", "out": "", "type": "editoutput", "flag": "g", "ableFlag": true }],
        "trigger": [{ "code": "x" }],
    }));
    let (_, entry) = made.worldbooks[0].book.entries.iter().next().unwrap();
    assert_eq!(entry.key.iter().map(|key| &**key).collect::<Vec<_>>(), ["moon", "sky"]);
    let rules = made.agent.as_ref().unwrap().regex_config.as_ref().unwrap();
    assert_eq!(rules.presets[0].rules[0].regex.as_deref(), Some("/\\*/g"));
    check_statuses(&made, &[("/trigger/0/code", FieldStatus::Kept)]);
    let book = json!([{ "key": "sky", "insertorder": "x" }]);
    for (file, expected) in [
        (json!({ "type": "risuModule", "module": { "name": "M", "lorebook": book } }), "/module/lorebook/0"),
        (json!({ "type": "risuModule", "name": "M", "lorebook": book }), "/lorebook/0"),
    ] {
        let made = import_one(&file);
        let pointers = made.diagnostics().filter_map(|found| found.location.pointer.clone());
        assert_eq!(pointers.collect::<Vec<_>>(), [format!("{expected}/insertorder")]);
    }
}

#[test]
fn reports_unsupported_decorators_of_risuai() {
    let contents = ["@@priority 5\n@@depth 2\nx", "@@position pt_x\nx", "@@unknown_thing\nx"];
    let lorebook = contents.map(|content| json!({ "key": "moon", "content": content }));
    for (file, list) in [
        (json!({ "type": "risu", "data": lorebook }), "/data"),
        (json!({ "type": "risuModule", "name": "Moon", "lorebook": lorebook }), "/lorebook"),
    ] {
        let at = |index: usize| format!("(at file.json {list}/{index}/content)");
        let unknown = "unknown decorator `unknown_thing`; it is ignored and not sent";
        let unsupported = "is not supported and not sent";
        assert_eq!(
            found(&import_one(&file)),
            [
                format!("warning[CTX0954]: {unknown} {}", at(2)),
                format!("info[CTX0954]: decorator `priority 5` {unsupported} {}", at(0)),
                format!("info[CTX0954]: decorator `position pt_x` {unsupported} {}", at(1)),
            ]
        );
    }
}

#[test]
fn reads_lorebooks_of_novelai_from_pictures() {
    let book = json!({ "lorebookVersion": 5, "entries": [{ "keys": ["moon"], "text": "Hollow." }] });
    let made = import_bytes(&text_picture(&[("naidata", book.to_string().as_bytes())]));
    assert_eq!(made.report.files[0].format, Some(Format::OtherLorebook), "{:?}", made.report);
    assert_eq!(made.worldbooks[0].book.entries.len(), 1);
}

#[test]
fn reads_agent_bundles_and_exports_from_pictures() {
    let agent = json!({ "name": "Ada", "presetMessages": [{ "role": "system", "content": "Hi" }] });
    let export = json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [agent] }).to_string();
    let zipped = archive(&[("Ada/Ada.agent.json", export.as_bytes()), ("Ada/assets/a.png", b"a")]);
    let bundle = json!({ "version": 1, "type": "AIO_Agent_Bundle", "compressed": true, "data": STANDARD.encode(zipped) });
    let turned = json!({ "data": bundle["data"], "x": "y".repeat(2_000), "type": bundle["type"] });
    let yaml = ctx_preset_import::write_document(&turned);
    for text in [bundle.to_string(), turned.to_string(), yaml] {
        let picture = text_picture(&[("aiob", text.as_bytes())]);
        for (name, bytes, container) in [
            ("a.png", picture.as_slice(), "png:aiob/zip:Ada/Ada.agent.json"),
            ("a.agent.json", text.as_bytes(), "zip:Ada/Ada.agent.json"),
            ("a.yaml", text.as_bytes(), "zip:Ada/Ada.agent.json"),
        ] {
            let made = import_files(&[(name, bytes)]);
            assert_eq!(made.report.files[0].container.as_deref(), Some(container), "{:?}", made.report);
            assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
            assert!(made.assets.iter().any(|asset| asset.path.ends_with("a.png")), "{:?}", made.assets);
        }
    }
    let made = import_bytes(&text_picture(&[("aiob", export.as_bytes())]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"), "{:?}", made.report);
}

#[test]
fn reads_assets_of_still_and_animated_pictures() {
    let assets = json!([{ "type": "icon", "uri": "__asset:0", "name": "main", "ext": "png" }]);
    let card = json!({ "spec": "chara_card_v3", "data": { "name": "Ada", "assets": assets } });
    let text = text_data("ccv3", card.to_string().as_bytes());
    let asset = text_data("chara-ext-asset_:0", b"pixels");
    let made = import_bytes(&picture(&[
        ("acTL", &[0; 8]),
        ("fcTL", &[0; 26]),
        ("tEXt", &text),
        ("tEXt", &asset),
        ("fdAT", &[0; 4]),
        ("IEND", b""),
    ]));
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    let is_asset = |asset: &ctx_preset_import::Asset| asset.path == "0" && asset.bytes(&[]) == b"pixels";
    assert!(made.assets.iter().any(is_asset), "{:?}", made.assets.len());
}

#[test]
fn reads_conversations_of_backups() {
    let metadata = json!({ "format": "aiohub-chat-session-backup", "version": "1.0.0", "sessions": [], "sessionCount": 1 });
    let session = json!({ "id": "s", "name": "S", "rootNodeId": "r", "activeLeafId": "u", "nodes": {
        "r": { "id": "r", "childrenIds": ["u"], "role": "system", "content": "" },
        "u": { "id": "u", "parentId": "r", "childrenIds": [], "role": "user", "content": "Hi" },
    } });
    let halves = json!({ "index": { "id": "t", "name": "T" }, "detail": session });
    let made = import_bytes(&archive(&[
        ("metadata.json", metadata.to_string().as_bytes()),
        ("sessions/s.json", session.to_string().as_bytes()),
        ("sessions/t.json", halves.to_string().as_bytes()),
    ]));
    let names: Vec<&str> = made.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["s", "t"], "{:?}", made.report);
    assert_eq!(made.report.files[0].format, Some(Format::SessionBackup));
}

#[test]
fn names_books_of_an_agent_by_their_ids() {
    let book = json!({ "entries": { "0": { "uid": 0, "key": ["moon"], "content": "Hollow." } } });
    let agent = |item: Value| {
        json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [{
            "name": "Ada", "presetMessages": [{ "role": "system", "content": "Hi" }], "worldbookIds": ["w-1"],
            "bundledWorldbooks": [item],
        }] })
    };
    let inside = agent(json!({ "id": "w-1", "name": "Moon", "content": book }));
    let beside = agent(json!({ "id": "w-1", "name": "Moon", "fileName": "moonbook.json" }));
    let packed = archive(&[
        ("Ada/Ada.agent.json", beside.to_string().as_bytes()),
        ("Ada/worldbooks/moonbook.json", book.to_string().as_bytes()),
    ]);
    for made in [import_one(&inside), import_bytes(&packed)] {
        let ids: Vec<&str> = made.agent.as_ref().unwrap().worldbook_ids.iter().map(|id| &**id).collect();
        assert_eq!(ids, ["w-1"]);
        let books: Vec<&str> = made.worldbooks.iter().map(|book| book.name.as_str()).collect();
        assert_eq!(books, ["w-1"]);
        assert_eq!(made.worldbooks[0].book.entries.len(), 1);
    }
}
