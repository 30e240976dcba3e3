//! Files of other applications as an agent.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use ctx_preset_import::{FieldStatus, Format, Import, ImportOptions, SourceFile, import};
use ctx_types::Persist as _;
use serde_json::{Value, json};

fn import_all(files: &[(&str, Value)]) -> Import {
    let texts: Vec<(&str, String)> = files.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let sources: Vec<SourceFile<'_>> =
        texts.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    import(&sources, &ImportOptions::default())
}

/// Returns the agent's file.
#[track_caller]
fn agent(files: &[(&str, Value)]) -> Value {
    import_all(files).agent.unwrap().write()
}

/// Returns what identifies each entry, with its placement.
#[track_caller]
fn entries(files: &[(&str, Value)]) -> Vec<String> {
    let agent = agent(files);
    let entries = agent["presetMessages"].as_array().unwrap().iter();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    entries
        .map(|entry| {
            let off = if entry["isEnabled"] == json!(false) { " (off)" } else { "" };
            let at = &entry["injectionStrategy"];
            let at = if at.is_null() {
                String::new()
            } else {
                format!(" @{} {} {}", at["depth"], at["order"], at["lane"])
            };
            format!("{}:{}{at}{off}", text(entry, "id"), text(entry, "content"))
        })
        .collect()
}

fn card(data: Value) -> (&'static str, Value) {
    let mut card = json!({ "spec": "chara_card_v2", "spec_version": "2.0" });
    card["data"] = data;
    ("card.json", card)
}

fn order(identifiers: &[&str]) -> Value {
    let steps: Vec<Value> =
        identifiers.iter().map(|identifier| json!({ "identifier": identifier, "enabled": true })).collect();
    json!([{ "character_id": 100_000, "order": [] }, { "character_id": 100_001, "order": steps }])
}

#[test]
fn markers_become_anchors_and_prompts_keep_their_place() {
    let preset = json!({
        "prompts": [
            { "identifier": "main", "content": "Main." },
            { "identifier": "late", "role": "user", "content": "Late.", "injection_position": 1, "injection_depth": 2, "injection_order": 50 },
            { "identifier": "loose", "content": "Loose." },
        ],
        "prompt_order": order(&["late", "main", "charDescription", "chatHistory", "worldInfoBefore", "worldInfoAfter", "charPersonality", "scenario"]),
        "new_chat_prompt": "[New]",
    });
    assert_eq!(
        entries(&[("p.json", preset)]),
        [
            "late:Late. @2 50 -10",
            "before_main:",
            "main:Main.",
            "author_note:",
            "charDescription:{{description}}",
            "new_chat:[New]",
            "chatHistory:",
            "worldInfoBefore:",
            "worldInfoAfter:",
            "charPersonality:{{personality}}",
            "scenario:{{scenario}}",
            "personaDescription:{{persona}}",
            "loose:Loose. (off)",
        ]
    );
}

#[test]
fn a_card_stands_over_prompts_with_the_original_once() {
    let preset = json!({
        "prompts": [{ "identifier": "main", "content": "M" }, { "identifier": "jailbreak", "content": "J", "forbid_overrides": true }],
        "prompt_order": order(&["main", "jailbreak"]),
    });
    let card = card(
        json!({ "name": "Ada", "system_prompt": "<{{Original}}{{original}}>", "post_history_instructions": "no" }),
    );
    let entries = entries(&[card, ("p.json", preset)]);
    assert!(
        entries.contains(&"main:<M>".to_owned()) && entries.contains(&"jailbreak:J".to_owned()),
        "{entries:?}"
    );
}

#[test]
fn texts_of_older_presets_are_those_of_their_prompts() {
    let preset = json!({ "main_prompt": "M", "nsfw_prompt": "N", "jailbreak_prompt": "J" });
    let entries = entries(&[("p.json", preset)]);
    for entry in ["main:M", "nsfw:N", "jailbreak:J"] {
        assert!(entries.contains(&entry.to_owned()), "{entries:?}");
    }
}

#[test]
fn a_card_brings_character_greetings_rules_and_a_book() {
    let made = import_all(&[card(json!({
        "name": "Ada", "description": "D", "mes_example": "<START>", "first_mes": "Hi", "alternate_greetings": ["Ho", " "],
        "tags": "a, b", "extensions": {
            "depth_prompt": { "prompt": "N", "depth": "3", "role": "user" },
            "regex_scripts": [{ "findRegex": "/a/g", "replaceString": "b", "placement": [2] }],
        },
        "character_book": { "name": "Lore", "entries": [{ "id": 7, "keys": ["k"], "content": "c", "enabled": true }] },
    }))]);
    let agent = made.agent.unwrap().write();
    assert_eq!(agent["character"]["description"], "D");
    assert_eq!(agent["tags"], json!(["a", "b"]));
    assert_eq!(agent["greetings"].as_array().unwrap().len(), 2);
    assert_eq!(agent["regexConfig"]["presets"][0]["rules"][0]["regex"], "/a/g");
    assert_eq!(agent["worldbookIds"], json!(["Lore"]));
    assert_eq!(&*made.worldbooks[0].book.entries.iter().next().unwrap().1.key[0], "k");
    let note = agent["presetMessages"].as_array().unwrap().iter().find(|entry| entry["id"] == "depth_prompt");
    assert_eq!(note.unwrap()["injectionStrategy"], json!({ "type": "depth", "depth": 3, "lane": -8 }));
}

/// Checks what an object is told to be, and that each of its leaves has a row.
#[track_caller]
fn check_format(value: &Value, expected: Format) {
    let made = import_all(&[("file", value.clone())]);
    let report = &made.report.files[0];
    assert_eq!(report.format, Some(expected));
    assert_eq!(report.fields.len(), leaves(value), "{:#?}", report.fields);
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) if !map.is_empty() => map.values().map(leaves).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn files_are_told_by_their_content() {
    check_format(&json!({ "name": "A", "description": "d", "first_mes": "" }), Format::CardV1);
    check_format(&json!({ "spec": "chara_card_v2", "data": { "name": "A" } }), Format::CardV2);
    check_format(&json!({ "spec": "chara_card_v3", "data": { "name": "A", "x": [[], {}] } }), Format::CardV3);
    check_format(&json!({ "char_name": "A", "char_persona": "p" }), Format::Pygmalion);
    check_format(&json!({ "prompts": [], "prompt_order": [] }), Format::ChatPreset);
    check_format(&json!([{ "findRegex": "a", "trimStrings": [] }]), Format::RegexScripts);
    check_format(&json!({ "entries": { "0": { "key": ["a"], "content": "c" } } }), Format::Worldbook);
    check_format(&json!({ "story_string": "s", "name": "n" }), Format::ContextTemplate);
    check_format(&json!({ "input_sequence": "s" }), Format::InstructTemplate);
    check_format(&json!({ "name": "n", "content": "c", "post_history": "" }), Format::SystemPrompt);
    check_format(&json!({ "name": "n", "prefix": "p", "suffix": "s" }), Format::ReasoningTemplate);
    check_format(&json!({ "context": { "a": 1 }, "instruct": { "b": 2 } }), Format::MasterExport);
    check_format(&json!({ "personas": { "a": "Kim" }, "persona_descriptions": {} }), Format::Personas);
    check_format(&json!({ "power_user": { "x": 1 } }), Format::Settings);
    check_format(&json!({ "presetMessages": [{ "role": "user" }] }), Format::Agent);
}

#[test]
fn a_field_of_the_wrong_type_is_kept_and_nothing_panics() {
    for wrong in
        [json!(1), json!(null), json!("x"), json!([]), json!({}), json!([[1]]), json!({ "a": { "b": 1 } })]
    {
        let card = json!({ "spec": "chara_card_v2", "data": {
            "name": wrong, "description": wrong, "tags": wrong, "alternate_greetings": wrong, "extensions": wrong,
            "character_book": wrong, "assets": wrong, "first_mes": wrong,
        } });
        let preset = json!({ "prompts": wrong, "prompt_order": wrong, "openai_max_context": wrong, "extensions": wrong });
        let script = json!({ "findRegex": wrong, "placement": wrong, "trimStrings": wrong });
        let made = import_all(&[("c", card.clone()), ("p", preset.clone()), ("s", script.clone())]);
        let found: Vec<usize> = made.report.files.iter().map(|file| file.fields.len()).collect();
        assert_eq!(found, [leaves(&card), leaves(&preset), leaves(&script)], "{wrong}");
    }
    let made = import_all(&[card(json!({ "name": 5 }))]);
    let row = made.report.files[0].fields.iter().find(|row| row.pointer == "/data/name").unwrap();
    assert_eq!((row.status, row.to), (FieldStatus::Kept, Some("/imported/card/data/name")));
}

#[test]
fn a_second_of_a_kind_is_reported() {
    let made = import_all(&[card(json!({ "name": "Ada" })), card(json!({ "name": "Bob" }))]);
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
    assert_eq!(made.report.files[1].diagnostics[0].code.to_string(), "CTX0623");
}

#[test]
fn a_persona_says_who_chats_and_where_that_stands() {
    let personas = json!({
        "personas": { "k.png": "Kim" }, "default_persona": "k.png",
        "persona_descriptions": { "k.png": { "description": "Tea.", "position": 4, "depth": 1, "role": 1 } },
    });
    let files = [card(json!({ "name": "Ada" })), ("personas.json", personas)];
    let profile = import_all(&files).profile.unwrap();
    assert_eq!((profile.name.as_deref(), profile.content.as_deref()), (Some("Kim"), Some("Tea.")));
    let entries = entries(&files);
    assert!(entries.contains(&"persona_at_depth:{{persona}} @1 null -7".to_owned()), "{entries:?}");
    assert!(entries.contains(&"personaDescription:{{persona}} (off)".to_owned()), "{entries:?}");
}

#[test]
fn what_is_wrong_in_scripts_is_told_with_its_place() {
    let check = |value: Value, place: &str| {
        let made = import_all(&[("file", value)]);
        let found = &made.report.files[0].diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code.to_string(), "CTX0660");
        assert_eq!(found[0].location.pointer.as_deref(), Some(place));
        assert_eq!(found[0].location.document.as_deref(), Some("file"));
    };
    let scripts = json!([{ "findRegex": 7, "placement": [1] }]);
    check(scripts.clone(), "/0/findRegex");
    check(json!({ "findRegex": 7, "placement": [1] }), "/findRegex");
    let inside = json!({ "name": "Ada", "extensions": { "regex_scripts": scripts } });
    check(json!({ "spec": "chara_card_v2", "data": inside }), "/data/extensions/regex_scripts/0/findRegex");
    let beside = json!({ "name": "Ada", "regex_scripts": scripts });
    check(json!({ "spec": "chara_card_v2", "data": beside }), "/data/regex_scripts/0/findRegex");
    let flat = json!({ "name": "Ada", "first_mes": "", "regex_scripts": scripts });
    check(flat, "/regex_scripts/0/findRegex");
    let preset = json!({ "prompts": [], "prompt_order": [], "extensions": { "regex_scripts": scripts } });
    check(preset, "/extensions/regex_scripts/0/findRegex");
    let settings = json!({ "power_user": {}, "extension_settings": { "regex": scripts } });
    check(settings, "/extension_settings/regex/0/findRegex");
}

#[test]
fn prompts_by_the_thousand_are_arranged_in_their_order() {
    let id = |index: usize| format!("p{index}");
    let prompts: Vec<Value> =
        (0..8_000).map(|index| json!({ "identifier": id(index), "content": "x" })).collect();
    let steps: Vec<Value> =
        (0..8_000).rev().map(|index| json!({ "identifier": id(index), "enabled": true })).collect();
    let preset = json!({ "prompts": prompts, "prompt_order": [{ "character_id": 100_001, "order": steps }] });
    let agent = import_all(&[("preset", preset)]).agent.unwrap();
    assert_eq!(agent.preset_messages[0].id.as_deref(), Some("p7999"));
    let parts = vec![json!({ "type": "plain", "text": "x" }); 15_000];
    let made = import_all(&[("risu", json!({ "promptTemplate": parts }))]);
    assert!(made.agent.unwrap().preset_messages.len() > 15_000);
}

#[test]
fn a_persona_of_settings_beside_another_one_is_kept() {
    let persona = || {
        json!({
            "personas": { "a.png": "Kim" }, "default_persona": "a.png",
            "persona_descriptions": { "a.png": { "description": "Kind.", "position": 0 } },
        })
    };
    let settings =
        json!({ "username": "Mei", "user_avatar": "a.png", "power_user": persona(), "world_info_depth": 3 });
    let made = import_all(&[("personas.json", persona()), ("settings.json", settings)]);
    let rows: Vec<String> = made.report.files[1]
        .fields
        .iter()
        .map(|row| format!("{} {:?} {}", row.pointer, row.status, row.to.unwrap_or_default()))
        .collect();
    assert_eq!(
        rows,
        [
            "/username Kept /imported/settings/username",
            "/user_avatar Kept /imported/settings/user_avatar",
            "/power_user/personas/a.png Kept /imported/settings/power_user/personas/a.png",
            "/power_user/default_persona Kept /imported/settings/power_user/default_persona",
            "/power_user/persona_descriptions/a.png/description Kept /imported/settings/power_user/persona_descriptions/a.png/description",
            "/power_user/persona_descriptions/a.png/position Kept /imported/settings/power_user/persona_descriptions/a.png/position",
            "/world_info_depth Mapped /parameters/processors/worldbook-processor/config/depth",
        ]
    );
}
