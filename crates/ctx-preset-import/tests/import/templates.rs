//! Templates of text completion, files of RisuAI, and what pictures and archives of several applications hold.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_preset_import::{FieldStatus, Format, Import, Importer, SourceFile, export_card_picture};
use ctx_types::Persist as _;
use serde_json::{Value, json};

fn import_all(files: &[(&str, &[u8])]) -> Import {
    let sources: Vec<SourceFile<'_>> = files.iter().map(|(name, bytes)| SourceFile { name, bytes }).collect();
    Importer::default().import(&sources)
}

fn import_values(values: &[Value]) -> Import {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|text| ("file", text.as_bytes())).collect();
    import_all(&files)
}

/// Returns the entries that are switched on, with their texts.
fn sent(made: &Import) -> Vec<String> {
    let agent = made.agent.as_ref().unwrap().write();
    let entries = agent["presetMessages"].as_array().unwrap().iter();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let is_on = |entry: &&Value| entry["isEnabled"] != json!(false);
    entries.filter(is_on).map(|entry| format!("{}:{}", text(entry, "id"), text(entry, "content"))).collect()
}

/// Returns what became of a field of the first file.
fn status(made: &Import, pointer: &str) -> FieldStatus {
    let fields = &made.report.files[0].fields;
    let covers = |pattern: &str| {
        let mut steps = pointer.split('/');
        pattern.split('/').all(|wanted| steps.next().is_some_and(|step| wanted == "*" || wanted == step))
    };
    fields.iter().rfind(|row| covers(&row.pointer)).unwrap().status
}

fn instruct() -> Value {
    json!({
        "input_sequence": "<user>", "output_sequence": "<bot>", "system_sequence": "<sys>", "stop_sequence": "<end>",
        "input_suffix": "<end>\n", "output_suffix": "", "wrap": true, "name": "Own", "first_output_sequence": "<first>",
        "sequences_as_stop_strings": true,
    })
}

#[test]
fn an_instruct_template_is_a_template_of_turns() {
    let made = import_values(&[instruct()]);
    let template = made.template.as_ref().unwrap();
    assert_eq!(template["user"], json!({ "before": "<user>\n", "after": "<end>\n" }));
    assert_eq!(template["assistant"], json!({ "before": "<bot>\n", "after": "\n" }));
    assert_eq!(template["stop"], json!(["<end>", "<user>", "<bot>", "<sys>"]));
    assert_eq!(status(&made, "/input_sequence"), FieldStatus::Mapped);
    assert_eq!(status(&made, "/first_output_sequence"), FieldStatus::Kept);
}

#[test]
fn a_story_becomes_entries_in_its_order() {
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
    assert_eq!(status(&made, "/story_string"), FieldStatus::Approximated);
    assert_eq!(made.report.files[1].count(FieldStatus::Mapped), 2);
}

#[test]
fn a_master_export_is_its_parts() {
    let made = import_values(&[json!({
        "instruct": instruct(), "sysprompt": { "name": "n", "content": "You know.", "post_history": "" },
        "preset": { "temp": 0.5, "rep_pen": 1.1, "max_length": 8192, "own": 1 }, "reasoning": { "prefix": "<t>", "suffix": "</t>" },
        "srw": { "value": "Sure" },
    })]);
    let agent = made.agent.as_ref().unwrap().write();
    assert_eq!(agent["parameters"]["temperature"], 0.5);
    assert_eq!(agent["parameters"]["contextManagement"]["maxContextTokens"], 8192);
    assert!(sent(&made).contains(&"main:You know.".to_owned()));
    assert_eq!(made.template.as_ref().unwrap()["name"], "Own");
    assert_eq!(status(&made, "/sysprompt/content"), FieldStatus::Mapped);
    assert_eq!(status(&made, "/preset/temp"), FieldStatus::Mapped);
    assert_eq!(status(&made, "/reasoning/prefix"), FieldStatus::Kept);
    assert_eq!(agent["imported"]["master_export"]["srw"]["value"], "Sure");
}

#[test]
fn a_chat_preset_counts_before_a_template() {
    let context = json!({ "story_string": "S", "chat_start": "***" });
    let made = import_values(&[context, json!({ "prompts": [], "prompt_order": [], "temperature": 1 })]);
    assert_eq!(status(&made, "/story_string"), FieldStatus::Kept);
    assert!(!sent(&made).contains(&"new_chat:***".to_owned()));
}

#[test]
fn a_preset_of_risu_is_the_nearest_prompts_and_samplers() {
    let made = import_values(&[json!({
        "name": "Own", "temperature": 80, "maxContext": 4000, "top_p": -1000, "proxyKey": "k",
        "promptTemplate": [
            { "type": "plain", "type2": "main", "text": "Main.", "role": "system" },
            { "type": "persona", "innerFormat": "User: {{slot}}" },
            { "type": "description" }, { "type": "lorebook" }, { "type": "memory" },
            { "type": "chat", "rangeStart": 0, "rangeEnd": "end" },
            { "type": "plain", "type2": "globalNote", "text": "Note.", "role": "bot" },
        ],
    })]);
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
    let agent = made.agent.as_ref().unwrap().write();
    assert_eq!(
        (&agent["parameters"]["temperature"], &agent["parameters"]["topP"]),
        (&json!(0.8), &Value::Null)
    );
    assert_eq!(status(&made, "/promptTemplate/4/type"), FieldStatus::Kept);
    assert_eq!(status(&made, "/proxyKey"), FieldStatus::Kept);
}

#[test]
fn a_sampler_of_risu_that_says_nothing_tells_why() {
    let made = import_values(&[
        json!({ "promptTemplate": [], "temperature": -1000, "top_p": "hot", "top_k": null, "min_p": "0.5" }),
    ]);
    let rows = made.report.files[0].fields.iter().filter(|row| row.pointer != "/promptTemplate");
    let told: Vec<_> = rows.map(|row| (row.pointer.as_str(), row.status, row.note)).collect();
    let nothing = Some("no valid value in that application");
    assert_eq!(
        told,
        [
            ("/temperature", FieldStatus::Kept, Some("negative values have no meaning")),
            ("/top_p", FieldStatus::Kept, nothing),
            ("/top_k", FieldStatus::Kept, nothing),
            ("/min_p", FieldStatus::Approximated, Some("the closest part of a chat completion preset")),
        ]
    );
}

#[test]
fn a_module_of_risu_is_a_worldbook_and_rules() {
    let made = import_values(&[json!({
        "type": "risuModule", "name": "Moon", "lorebook": [{ "key": "moon, sky", "content": "Hollow.", "insertorder": 5 }],
        "regex": [{ "comment": "stars", "in": "\\*", "out": "", "type": "editoutput", "flag": "g", "ableFlag": true }],
        "trigger": [{ "code": "x" }],
    })]);
    let (_, entry) = made.worldbooks[0].book.entries.iter().next().unwrap();
    assert_eq!(entry.key.iter().map(|key| &**key).collect::<Vec<_>>(), ["moon", "sky"]);
    let rules = made.agent.as_ref().unwrap().regex_config.as_ref().unwrap();
    assert_eq!(rules.presets[0].rules[0].regex.as_deref(), Some("/\\*/g"));
    assert_eq!(status(&made, "/trigger/0/code"), FieldStatus::Kept);
}

#[test]
fn findings_about_a_module_of_risu_stand_where_the_file_has_them() {
    let module = json!({ "name": "Moon", "lorebook": [{ "key": "sky", "insertorder": "x" }] });
    for (file, expected) in [
        (json!({ "type": "risuModule", "module": module }), "/module/lorebook/0/insertorder"),
        (
            json!({ "type": "risuModule", "name": "Moon", "lorebook": module["lorebook"] }),
            "/lorebook/0/insertorder",
        ),
    ] {
        let made = import_values(&[file]);
        let pointers: Vec<_> =
            made.diagnostics().filter_map(|found| found.location.pointer.as_deref()).collect();
        assert_eq!(pointers, [expected]);
    }
}

#[test]
fn reports_unsupported_decorators_of_risuai() {
    let entry = |content: &str| json!({ "key": "moon", "content": content });
    let lorebook = json!([
        entry("@@priority 5\n@@depth 2\nx"),
        entry("@@position pt_x\nx"),
        entry("@@unknown_thing\nx")
    ]);
    for (file, list) in [
        (json!({ "type": "risu", "data": lorebook }), "/data"),
        (json!({ "type": "risuModule", "name": "Moon", "lorebook": lorebook }), "/lorebook"),
    ] {
        let made = import_values(&[file]);
        let found: Vec<String> = made.diagnostics().map(ToString::to_string).collect();
        let at = |index: usize| format!("(at file {list}/{index}/content)");
        assert_eq!(
            found,
            [
                format!(
                    "warning[CTX0954]: unknown decorator `unknown_thing`; it is ignored and not sent {}",
                    at(2)
                ),
                format!("info[CTX0954]: decorator `priority 5` is not supported and not sent {}", at(0)),
                format!("info[CTX0954]: decorator `position pt_x` is not supported and not sent {}", at(1)),
            ]
        );
    }
}

/// A PNG with chunks between its header and its end.
fn picture(chunks: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in chunks.iter().chain(&[(b"IEND".as_slice(), b"".as_slice())]) {
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend([*kind, data, &[0; 4]].concat());
    }
    bytes
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_lorebook_of_novel_ai_comes_out_of_a_picture() {
    let book = json!({ "lorebookVersion": 5, "entries": [{ "keys": ["moon"], "text": "Hollow." }] });
    let text = [b"naidata\0".as_slice(), STANDARD.encode(book.to_string()).as_bytes()].concat();
    let made = import_all(&[("a.png", &picture(&[(b"tEXt", &text)]))]);
    assert_eq!(made.report.files[0].format, Some(Format::OtherLorebook), "{:?}", made.report);
    assert_eq!(made.worldbooks[0].book.entries.len(), 1);
}

#[test]
fn an_agent_bundle_comes_out_of_a_picture() {
    let export = json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [{ "name": "Ada", "presetMessages": [{ "role": "system", "content": "Hi" }] }] });
    let zipped =
        archive(&[("Ada/Ada.agent.json", export.to_string().as_bytes()), ("Ada/assets/a.png", b"a")]);
    let bundle = json!({ "version": 1, "type": "AIO_Agent_Bundle", "compressed": true, "data": STANDARD.encode(zipped) });
    let mut turned = json!({ "data": bundle["data"], "x": "y".repeat(2_000) });
    turned["type"] = bundle["type"].clone();
    let yaml = ctx_preset_import::write_document(&turned);
    for text in [bundle.to_string(), turned.to_string(), yaml] {
        let encoded = STANDARD.encode(&text);
        let chunk = [b"aiob\0".as_slice(), encoded.as_bytes()].concat();
        for (name, bytes, container) in [
            ("a.png", picture(&[(b"tEXt", &chunk)]), "png:aiob/zip:Ada/Ada.agent.json"),
            ("a.agent.json", text.clone().into_bytes(), "zip:Ada/Ada.agent.json"),
            ("a.yaml", text.clone().into_bytes(), "zip:Ada/Ada.agent.json"),
        ] {
            let made = import_all(&[(name, &bytes)]);
            assert_eq!(made.report.files[0].container.as_deref(), Some(container), "{:?}", made.report);
            assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
            assert!(made.assets.iter().any(|asset| asset.path.ends_with("a.png")), "{:?}", made.assets);
        }
    }
    for value in [bundle, export] {
        let text = [b"aiob\0".as_slice(), STANDARD.encode(value.to_string()).as_bytes()].concat();
        let made = import_all(&[("a.png", &picture(&[(b"tEXt", &text)]))]);
        assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"), "{:?}", made.report);
    }
}

#[test]
fn files_of_a_card_come_out_of_its_picture_moving_or_not() {
    let card = json!({ "spec": "chara_card_v3", "data": { "name": "Ada", "assets": [{ "type": "icon", "uri": "__asset:0", "name": "main", "ext": "png" }] } });
    let text = [b"ccv3\0".as_slice(), STANDARD.encode(card.to_string()).as_bytes()].concat();
    let asset = [b"chara-ext-asset_:0\0".as_slice(), STANDARD.encode("pixels").as_bytes()].concat();
    let chunks = [
        (b"acTL".as_slice(), [0; 8].as_slice()),
        (b"fcTL", &[0; 26]),
        (b"tEXt", &text),
        (b"tEXt", &asset),
        (b"fdAT", &[0; 4]),
    ];
    let made = import_all(&[("a.png", &picture(&chunks))]);
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    assert!(
        made.assets.iter().any(|asset| asset.path == "0" && asset.bytes(&[]) == b"pixels"),
        "{:?}",
        made.assets.len()
    );
}

#[test]
fn a_card_archive_may_stand_behind_a_program_or_a_picture() {
    let card = json!({ "spec": "chara_card_v3", "data": { "name": "Ada" } }).to_string();
    let zipped = archive(&[("card.json", card.as_bytes()), ("assets/icon/image/a.png", b"a")]);
    for prefix in [b"MZ program ".as_slice(), b"\xff\xd8\xff\xe0 picture ", b"\x7fELF program ", b""] {
        let made = import_all(&[("a.charx", &[prefix, &zipped].concat())]);
        assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
        assert_eq!(made.assets[0].path, "assets/icon/image/a.png");
    }
}

#[test]
fn a_backup_gives_its_conversations() {
    let metadata = json!({ "format": "aiohub-chat-session-backup", "version": "1.0.0", "sessions": [], "sessionCount": 1 });
    let session = json!({ "id": "s", "name": "S", "rootNodeId": "r", "activeLeafId": "u", "nodes": {
        "r": { "id": "r", "childrenIds": ["u"], "role": "system", "content": "" },
        "u": { "id": "u", "parentId": "r", "childrenIds": [], "role": "user", "content": "Hi" },
    } });
    let halves = json!({ "index": { "id": "t", "name": "T" }, "detail": session.clone() });
    let made = import_all(&[(
        "b.zip",
        &archive(&[
            ("metadata.json", metadata.to_string().as_bytes()),
            ("sessions/s.json", session.to_string().as_bytes()),
            ("sessions/t.json", halves.to_string().as_bytes()),
        ]),
    )]);
    let names: Vec<&str> = made.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["s", "t"], "{:?}", made.report);
    assert_eq!(made.report.files[0].format, Some(Format::SessionBackup));
}

#[test]
fn a_picture_that_was_exported_is_imported() {
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada" } });
    let made = import_all(&[("a.png", &export_card_picture(&card, None).unwrap())]);
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
}

#[test]
fn books_that_an_agent_brings_are_asked_for_by_their_ids() {
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
    for made in [import_values(&[inside]), import_all(&[("a.zip", &packed)])] {
        let ids: Vec<&str> = made.agent.as_ref().unwrap().worldbook_ids.iter().map(|id| &**id).collect();
        assert_eq!(ids, ["w-1"]);
        let books: Vec<&str> = made.worldbooks.iter().map(|book| book.name.as_str()).collect();
        assert_eq!(books, ["w-1"]);
        assert_eq!(made.worldbooks[0].book.entries.len(), 1);
    }
}

#[test]
fn the_original_of_a_card_is_the_system_prompt_that_stands_alone() {
    let card = |text: &str, below: &str| {
        json!({ "spec": "chara_card_v2", "data": {
            "name": "Ada", "system_prompt": text, "post_history_instructions": below,
        } })
    };
    let prompt = || json!({ "name": "n", "content": "You know.", "post_history": "Now." });
    let made = import_values(&[prompt(), card("<{{original}}>", "No.")]);
    let sent_now = sent(&made);
    assert!(sent_now.contains(&"main:<You know.>".to_owned()), "{sent_now:?}");
    assert!(sent_now.contains(&"jailbreak:No.".to_owned()), "{sent_now:?}");
    assert_eq!(status(&made, "/content"), FieldStatus::Mapped);
    assert_eq!(status(&made, "/post_history"), FieldStatus::Kept);
    // A preset that says something there is the original.
    let preset = json!({ "prompts": [{ "identifier": "main", "content": "M" }], "prompt_order": [] });
    let sent_now = sent(&import_values(&[prompt(), preset, card("<{{original}}>", "")]));
    assert!(sent_now.contains(&"main:<M>".to_owned()), "{sent_now:?}");
    assert!(sent_now.contains(&"jailbreak:Now.".to_owned()), "{sent_now:?}");
}
