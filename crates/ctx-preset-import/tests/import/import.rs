//! Files of other applications as an agent.

use std::collections::BTreeMap;

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{
    FieldStatus, FileReport, Format, Import, Importer, Limits, SourceFile, codes, detect, read_agent,
    read_conversation, read_profile, read_worldbook,
};
use ctx_types::Persist as _;
use serde_json::{Value, json};

use super::count_values;

fn import_all(files: &[(&str, Value)]) -> Import {
    let texts: Vec<(&str, String)> = files.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let sources: Vec<SourceFile<'_>> =
        texts.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    Importer::default().import(&sources)
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
fn places_prompts_at_the_depths_that_sillytavern_finds() {
    let prompt = |identifier: &str, depth: Value, order: Value| {
        json!({ "identifier": identifier, "role": "user", "content": "x", "injection_position": 1,
            "injection_depth": depth, "injection_order": order })
    };
    let preset = json!({
        "prompts": [
            prompt("a", json!(2), json!(99.5)), prompt("b", json!(null), json!(50)),
            prompt("c", json!("3"), json!(50)), prompt("d", json!(2.5), json!(50)), prompt("e", json!(0), json!(50)),
        ],
        "prompt_order": order(&["a", "b", "c", "d", "e"]),
    });
    let made = import_all(&[("preset.json", preset.clone())]);
    let unsent = made.report.files[0].diagnostics.iter().filter(|found| found.code == codes::PROMPT_NOT_SENT);
    let unsent: Vec<String> = unsent.map(|found| found.message.to_string()).collect();
    assert_eq!(unsent, ["SillyTavern does not send 3 prompts, such as `b`, `c`, `d`"]);
    let entries = made.agent.unwrap().write();
    let placed = entries["presetMessages"].as_array().unwrap().iter().filter_map(|entry| {
        let strategy = entry.get("injectionStrategy").filter(|strategy| strategy["type"] == "depth")?;
        Some((entry["id"].clone(), strategy["depth"].clone(), strategy["order"].clone()))
    });
    let expected = [(json!("a"), json!(2), json!(99)), (json!("e"), json!(0), json!(50))];
    assert_eq!(placed.collect::<Vec<_>>(), expected);
}

#[test]
fn a_comma_list_of_more_tags_than_may_be_stays_in_its_card() {
    let check = |count: usize, fields: fn(Value) -> Value, pointer: &str, read: usize| {
        let tags = vec!["t"; count].join(",");
        let card = fields(json!({ "name": "Ada", "description": "D", "first_mes": "Hi", "tags": tags }));
        let made = import_all(&[("card.json", card.clone())]);
        let report = &made.report.files[0];
        let row = report.fields.iter().find(|row| row.pointer == pointer).unwrap();
        let told: Vec<_> = report.diagnostics.iter().map(|found| found.location.pointer.as_deref()).collect();
        let kept = format!("/imported/card{pointer}");
        match read {
            0 => {
                assert_eq!((row.status, row.to.as_deref()), (FieldStatus::Kept, Some(&*kept)));
                assert_eq!(told, [Some(pointer)]);
            }
            _ => assert_eq!(
                (row.status, row.to.as_deref(), told),
                (FieldStatus::Mapped, Some("/tags"), vec![])
            ),
        }
        let agent = made.agent.unwrap().write();
        assert_eq!(agent["tags"].as_array().map(Vec::len).unwrap_or_default(), read);
        assert_eq!(agent["imported"]["card"], card);
    };
    let v2 = |data: Value| json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data });
    check(1_000, v2, "/data/tags", 1_000);
    check(1_001, v2, "/data/tags", 0);
    check(1_001, |fields| fields, "/tags", 0);
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
fn an_empty_prompt_has_the_text_of_older_presets() {
    let preset = json!({
        "prompts": [{ "identifier": "main", "content": "" }, { "identifier": "nsfw", "content": "N" }],
        "main_prompt": "OLD", "nsfw_prompt": "OLD",
        "custom_prompt_post_processing": "strict", "openrouter_sort_models": "a",
        "prompt_order": order(&["main", "nsfw"]),
    });
    let made = import_all(&[("p.json", preset)]);
    let notes: Vec<String> = made.report.files[0]
        .fields
        .iter()
        .filter(|row| row.pointer.contains('_') && !row.pointer.contains("order/"))
        .map(|row| {
            format!(
                "{} {} {}: {}",
                row.pointer,
                row.status,
                row.to.as_deref().unwrap_or("-"),
                row.note.unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        notes,
        [
            "/main_prompt mapped /presetMessages: -",
            "/nsfw_prompt kept /imported/preset/nsfw_prompt: the prompt's own text is used",
            "/custom_prompt_post_processing approximated /parameters/processors: the closest formatters",
            "/openrouter_sort_models approximated /parameters/sources: for that application's window; no effect on requests",
        ]
    );
    let agent = made.agent.unwrap().write();
    assert_eq!(agent["presetMessages"][1]["content"], "OLD");
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
    assert_eq!(count(report), count_values(value), "{:#?}", report.fields);
}

/// Returns the number of values in a report.
fn count(report: &FileReport) -> usize {
    report.fields.iter().map(|field| field.count).sum()
}

#[test]
fn files_are_told_by_their_content() {
    check_format(&json!({ "name": "A", "description": "d", "first_mes": "" }), Format::CardV1);
    check_format(&json!({ "spec": "chara_card_v2", "data": { "name": "A" } }), Format::CardV2);
    check_format(&json!({ "spec": "chara_card_v3", "data": { "name": "A", "x": [[], {}] } }), Format::CardV3);
    check_format(&json!({ "char_name": "A", "char_persona": "p" }), Format::Pygmalion);
    check_format(
        &json!({ "name": "A", "description": "d", "personality": "p", "mes_example": "", "talkativeness": "0.5" }),
        Format::CardV1,
    );
    check_format(&json!({ "name": "A", "scenario": "s", "content": "c" }), Format::CardV1);
    check_format(&json!({ "name": "A", "greeting": "Hi" }), Format::Pygmalion);
    check_format(&json!({ "name": "A", "description": "d", "presetMessages": [] }), Format::Agent);
    check_format(&json!({ "name": "A", "description": "d", "modelId": "m" }), Format::Agent);
    check_format(&json!({ "name": "A", "description": "d", "entries": {} }), Format::Worldbook);
    check_format(&json!({ "prompts": [], "prompt_order": [] }), Format::ChatPreset);
    check_format(&json!([{ "findRegex": "a", "trimStrings": [] }]), Format::RegexScripts);
    check_format(&json!({ "entries": { "0": { "key": ["a"], "content": "c" } } }), Format::Worldbook);
    check_format(&json!({ "story_string": "s", "name": "n" }), Format::ContextTemplate);
    check_format(&json!({ "input_sequence": "s" }), Format::InstructTemplate);
    check_format(&json!({ "temp": 1, "top_p": 0.5 }), Format::TextPreset);
    check_format(&json!({ "name": "n", "rep_pen": 1.1, "max_length": 2048 }), Format::TextPreset);
    check_format(&json!({ "name": "n", "content": "c", "post_history": "" }), Format::SystemPrompt);
    check_format(&json!({ "name": "n", "prefix": "p", "suffix": "s" }), Format::ReasoningTemplate);
    check_format(&json!({ "context": { "a": 1 }, "instruct": { "b": 2 } }), Format::MasterExport);
    check_format(&json!({ "personas": { "a": "Kim" }, "persona_descriptions": {} }), Format::Personas);
    check_format(&json!({ "power_user": { "x": 1 } }), Format::Settings);
    check_format(&json!({ "presetMessages": [{ "role": "user" }] }), Format::Agent);
}

#[test]
fn samplers_alone_are_no_preset_unless_two_of_text_completion() {
    for unknown in [
        json!({ "temp": 1 }),
        json!({ "top_p": 1, "top_k": 2, "max_length": 20 }),
        json!({ "temperature": 1, "top_p": 0.5 }),
        json!({ "temp": "cold", "top_p": {} }),
    ] {
        assert_eq!(import_all(&[("file", unknown.clone())]).report.files[0].format, None, "{unknown}");
    }
}

#[test]
fn a_card_without_a_greeting_is_no_profile() {
    let card = json!({ "name": "Ada", "context": "Counts.", "greeting": "" });
    let made = import_all(&[("ada.yaml", card)]);
    assert!(made.profile.is_none());
    let agent = made.agent.unwrap().write();
    assert_eq!((&agent["name"], &agent["character"]["description"]), (&json!("Ada"), &json!("Counts.")));
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
        let found: Vec<usize> = made.report.files.iter().map(count).collect();
        assert_eq!(found, [count_values(&card), count_values(&preset), count_values(&script)], "{wrong}");
    }
    let made = import_all(&[card(json!({ "name": 5 }))]);
    let row = made.report.files[0].fields.iter().find(|row| row.pointer == "/data/name").unwrap();
    assert_eq!((row.status, row.to.as_deref()), (FieldStatus::Kept, Some("/imported/card/data/name")));
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
        .map(|row| format!("{} {:?} {}", row.pointer, row.status, row.to.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        rows,
        [
            "/username Kept /imported/settings/username",
            "/user_avatar Kept /imported/settings/user_avatar",
            "/power_user/personas Kept /imported/settings/power_user/personas",
            "/power_user/default_persona Kept /imported/settings/power_user/default_persona",
            "/power_user/persona_descriptions Kept /imported/settings/power_user/persona_descriptions",
            "/world_info_depth Mapped /parameters/processors/*/config/depth",
        ]
    );
}

/// Returns the rows of a file: pointer, status and place of each.
fn rows(made: &Import, file: usize) -> Vec<String> {
    let row = |row: &ctx_preset_import::FieldReport| {
        format!("{} {} {}", row.pointer, row.status, row.to.as_deref().unwrap_or("-"))
    };
    made.report.files[file].fields.iter().map(row).collect()
}

/// `settings.json` with a preset in use that says something of all kinds.
fn settings_with_preset() -> Value {
    let script = |find: &str| json!([{ "findRegex": find, "placement": [2] }]);
    json!({
        "power_user": { "prefer_character_prompt": false },
        "extension_settings": { "regex": script("g") },
        "oai_settings": {
            "prompts": [{ "identifier": "main", "content": "Main." }], "prompt_order": order(&["main", "chatHistory"]),
            "temp_openai": 0.5, "top_k_openai": 3, "jailbreak_system": true, "extensions": { "regex_scripts": script("p") },
        },
    })
}

#[test]
fn settings_bring_the_preset_in_use() {
    let made = import_all(&[("settings.json", settings_with_preset())]);
    assert_eq!(
        rows(&made, 0),
        [
            "/power_user/prefer_character_prompt approximated /presetMessages",
            "/extension_settings/regex/*/findRegex mapped /regexConfig/presets/0/rules/*/regex",
            "/extension_settings/regex/*/placement/* mapped /regexConfig/presets/0/rules/*/targetRoles",
            "/oai_settings/prompts/*/identifier mapped /presetMessages/*/id",
            "/oai_settings/prompts/*/content mapped /presetMessages/*/content",
            "/oai_settings/prompt_order/*/character_id approximated /presetMessages",
            "/oai_settings/prompt_order/*/order approximated /presetMessages",
            "/oai_settings/prompt_order/*/character_id approximated /presetMessages",
            "/oai_settings/prompt_order/*/order/*/identifier mapped /presetMessages/*/id",
            "/oai_settings/prompt_order/*/order/*/enabled mapped /presetMessages/*/isEnabled",
            "/oai_settings/temp_openai approximated /parameters/temperature",
            "/oai_settings/top_k_openai approximated /parameters/topK",
            "/oai_settings/jailbreak_system kept /imported/settings/oai_settings/jailbreak_system",
            "/oai_settings/extensions/regex_scripts/*/findRegex mapped /regexConfig/presets/1/rules/*/regex",
            "/oai_settings/extensions/regex_scripts/*/placement/* mapped /regexConfig/presets/1/rules/*/targetRoles",
        ]
    );
    let agent = made.agent.unwrap().write();
    assert_eq!(agent["presetMessages"][1]["content"], "Main.");
    assert_eq!(agent["parameters"]["temperature"], 0.5);
    assert_eq!(agent["imported"].as_object().unwrap().len(), 1, "{}", agent["imported"]);
}

#[test]
fn a_preset_stands_over_the_one_in_use() {
    let context = json!({ "story_string": "{{description}}" });
    for preset in [json!({ "prompts": [], "prompt_order": [], "temperature": 1 }), context] {
        for files in [
            [("settings.json", settings_with_preset()), ("p.json", preset.clone())],
            [("p.json", preset), ("settings.json", settings_with_preset())],
        ] {
            let made = import_all(&files);
            let settings = made.report.files.iter().find(|file| file.path == "settings.json").unwrap();
            let in_use = settings.fields.iter().filter(|row| row.pointer.starts_with("/oai_settings"));
            for row in in_use {
                let found = (row.status, row.note);
                assert_eq!(found, (FieldStatus::Kept, Some("set by the imported preset")));
            }
        }
    }
}

/// Returns the findings of all files.
fn found(made: &Import) -> Vec<String> {
    made.diagnostics().map(ToString::to_string).collect()
}

#[test]
fn of_many_findings_it_is_told_how_many_are_not_shown() {
    let preset = |steps: usize| json!({ "prompts": [], "prompt_order": order(&vec!["main"; steps]) });
    let check = |file: Value, shown: usize, last: &str| {
        let found = found(&import_all(&[("f.json", file)]));
        assert_eq!((found.len(), found.last().map(String::as_str)), (shown, Some(last)));
    };
    let twice = "warning[CTX0627]: duplicate prompt `main` in the prompt order; the first position is used (at f.json /prompt_order/1/order/20/identifier)";
    check(preset(21), 20, twice);
    check(preset(22), 21, "info[CTX0101]: 1 more diagnostic in this document is not shown (at f.json)");
    let entries = vec![json!({ "uid": 1, "key": ["moon"], "content": "Hollow." }); 1_003];
    let more = "info[CTX0952]: more than 1000 diagnostics in `worldbook`; the rest is not shown (at f.json)";
    check(json!({ "entries": entries }), 1_001, more);
}

#[test]
fn what_is_wrong_with_a_book_of_an_agent_is_told() {
    let entry = json!({ "uid": 1, "key": ["moon"], "content": 5, "ordr": 2, "depth": "x" });
    let book = json!({ "entries": [entry, { "uid": 1, "key": "sun", "content": "Cold." }] });
    let items = json!([{ "id": "v" }, { "id": "w", "content": book }]);
    let agent =
        json!({ "name": "Kim", "presetMessages": [{ "content": "Hi." }], "bundledWorldbooks": items });
    let export = json!({ "type": "AIO_Agent_Export", "agents": [agent] });
    for (file, at) in [(agent, ""), (export, "/agents/0")] {
        let made = import_all(&[("a.json", file)]);
        let book = format!("{at}/bundledWorldbooks/1/content/entries");
        let expected = [
            format!("error[CTX0100]: expected a string, found the number `5` (at a.json {book}/0/content)"),
            format!("error[CTX0100]: expected a number, found the string `x` (at a.json {book}/0/depth)"),
            format!(
                "warning[CTX0102]: expected a list of strings, found the string `sun`, which is converted (at a.json {book}/1/key)"
            ),
            format!("warning[CTX0103]: unknown key `ordr` (at a.json {book}/0/ordr)"),
            format!("warning[CTX0952]: duplicate uid `1` in this worldbook (at a.json {book}/1/uid)"),
        ];
        assert_eq!(found(&made), expected);
        let rows = rows(&made, 0);
        let rows_of = format!("{}/bundledWorldbooks/*/content/entries/*", at.replace('0', "*"));
        for row in [
            format!("{rows_of}/uid mapped /worldbooks/0/entries/*/uid"),
            format!("{rows_of}/content kept /worldbooks/0/entries/*/content"),
            format!("{rows_of}/depth kept /worldbooks/0/entries/*/depth"),
            format!("{rows_of}/content mapped /worldbooks/0/entries/*/content"),
        ] {
            assert!(rows.contains(&row), "{row} is none of {rows:?}");
        }
    }
}

#[test]
fn what_is_odd_about_a_document_is_told_once() {
    let check = |name: &str, text: &str, code: &str| {
        let made = Importer::default().import(&[SourceFile { name, bytes: text.as_bytes() }]);
        let codes: Vec<String> = made.diagnostics().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, [code], "{text}");
        assert!(made.profile.is_some() || !made.conversations.is_empty());
    };
    let lines = [r#"{"role":"user","content":"Hi"}"#, r#"{"role""#, r#"{"role":"assistant","content":"Ho"}"#];
    check("c.jsonl", &lines.join("\n"), "CTX0617");
    check("c.json", r#"[{"role":"user","role":"user","content":"Hi"}]"#, "CTX0610");
    check("p.json", r#"{"name":"K","name":"L","content":"x","lastUsedAt":"1"}"#, "CTX0610");
}

#[test]
fn what_is_guessed_is_told_with_what_it_was_guessed_by() {
    let check = |name: &str, file: Value, format: Format, expected: &[&str]| {
        let made = import_all(&[(name, file)]);
        assert_eq!(
            (made.report.files[0].format, found(&made)),
            (Some(format), expected.iter().map(ToString::to_string).collect())
        );
    };
    let by = |format: &str, what: &str, name: &str| {
        format!("warning[CTX0629]: the file is read as {format} because of {what} (at {name})")
    };
    let card = by("a character card", "a name and card texts", "c.json");
    check(
        "c.json",
        json!({ "name": "Kim", "description": "Counts.", "personality": "" }),
        Format::CardV1,
        &[&card],
    );
    check(
        "c.json",
        json!({ "name": "Kim", "description": "Counts.", "first_mes": null }),
        Format::CardV1,
        &[],
    );
    check("c.json", json!({ "spec": "chara_card_v2", "data": { "name": "Kim" } }), Format::CardV2, &[]);
    let shown = by("a user profile", "text with a display name or an icon", "a.json");
    check(
        "a.json",
        json!({ "name": "Actor", "content": "You act.", "icon": "x" }),
        Format::Profile,
        &[&shown],
    );
    let own = by("a user profile", "the name of the file", "persona.json");
    check("persona.json", json!({ "name": "Kim", "content": "Counts." }), Format::Profile, &[&own]);
    let preset = by("a chat completion preset", "prompts with identifiers", "p.json");
    check(
        "p.json",
        json!({ "name": "P", "prompts": [{ "identifier": "main", "content": "x" }] }),
        Format::ChatPreset,
        &[&preset],
    );
}

/// Imports one file as what somebody says it is.
fn import_as(format: Option<Format>, name: &str, file: &Value) -> Import {
    let mut options = Importer::default();
    options.format = format;
    options.import(&[SourceFile { name, bytes: file.to_string().as_bytes() }])
}

#[test]
fn what_nothing_tells_is_refused_and_can_be_named_by_hand() {
    let actor = json!({ "name": "Actor", "content": "You are an expert actor." });
    let made = import_as(None, "Actor.json", &actor);
    assert!(made.agent.is_none() && made.profile.is_none());
    let told = &made.report.files[0].diagnostics[0];
    assert_eq!(told.code.to_string(), "CTX0622");
    assert_eq!(
        told.help.as_ref().map(ToString::to_string).as_deref(),
        Some("name the format with `--as`, for example `profile`, `sysprompt`, `card_pygmalion`")
    );
    let agent = import_as(Some(Format::SystemPrompt), "Actor.json", &actor).agent.unwrap().write();
    assert_eq!(agent["presetMessages"][1]["content"], "You are an expert actor.");
    let profile = import_as(Some(Format::Profile), "Actor.json", &actor).profile.unwrap();
    assert_eq!(profile.name.as_deref(), Some("Actor"));
    // Of one file it is said whatever its content tells, of several of those alone whose content tells nothing.
    let persona =
        json!({ "name": "Actor", "content": "You are an expert actor.", "icon": "x", "lastUsedAt": "1" });
    let made = import_as(Some(Format::SystemPrompt), "a.json", &persona);
    assert_eq!((made.report.files[0].format, made.profile), (Some(Format::SystemPrompt), None));
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada" } });
    let texts = [card.to_string(), actor.to_string()];
    let files = texts.each_ref().map(|text| SourceFile { name: "a.json", bytes: text.as_bytes() });
    let mut options = Importer::default();
    options.format = Some(Format::SystemPrompt);
    let formats: Vec<_> = options.import(&files).report.files.iter().map(|file| file.format).collect();
    assert_eq!(formats, [Some(Format::CardV2), Some(Format::SystemPrompt)]);
}

#[test]
fn of_a_prompt_twice_in_the_order_the_first_place_counts() {
    let preset = json!({
        "prompts": [{ "identifier": "main", "content": "Main." }],
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "chatHistory", "enabled": true }, { "identifier": "main", "enabled": true },
            { "identifier": "chatHistory", "enabled": false },
        ] }],
    });
    let made = import_all(&[("p.json", preset)]);
    assert_eq!(
        found(&made),
        [
            "warning[CTX0627]: duplicate prompt `chatHistory` in the prompt order; the first position is used (at p.json /prompt_order/0/order/2/identifier)"
        ]
    );
    let rows = rows(&made, 0);
    let kept: Vec<&String> = rows.iter().filter(|row| row.contains(" kept ")).collect();
    assert_eq!(kept, ["/prompt_order/*/order/* kept /imported/preset/prompt_order/*/order/*",]);
    let agent = made.agent.unwrap();
    let histories = agent.preset_messages.iter().filter(|entry| entry.anchor_id() == Some("chat_history"));
    assert_eq!(histories.count(), 1);
}

#[test]
fn uses_prompt_order_of_given_character() {
    let preset = json!({
        "prompts": [
            { "identifier": "main", "content": "Main.", "system_prompt": true },
            { "identifier": "style", "content": "Short.", "system_prompt": false },
        ],
        "prompt_order": [
            { "character_id": 100_001, "order": [{ "identifier": "main", "enabled": true }] },
            { "character_id": 7, "order": [
                { "identifier": "style", "enabled": true }, { "identifier": "main", "enabled": true },
            ] },
        ],
    })
    .to_string();
    let texts = |order: Option<&str>| {
        let mut options = Importer::default();
        options.prompt_order = order.map(str::to_owned);
        let made = options.import(&[SourceFile { name: "p.json", bytes: preset.as_bytes() }]);
        let is_missing = found(&made).iter().any(|found| found.contains("[CTX0641]"));
        let entries = made.agent.unwrap().preset_messages;
        let sent = entries.iter().filter(|entry| entry.is_enabled());
        let texts = sent.filter_map(|entry| entry.content.as_ref()).map(|text| text.text().into_owned());
        // Markers that the order lacks come after it.
        (texts.filter(|text| !text.starts_with("{{")).collect::<Vec<String>>(), is_missing)
    };
    assert_eq!(texts(None), (vec!["Main.".to_owned()], false));
    assert_eq!(texts(Some("7")), (vec!["Short.".to_owned(), "Main.".to_owned()], false));
    // Without the wanted order, the usual one applies.
    assert_eq!(texts(Some("8")), (vec!["Main.".to_owned()], true));
}

#[test]
fn uids_of_a_book_that_stand_twice_are_told() {
    let check = |file: Value, places: &[&str]| {
        let made = import_all(&[("book", file)]);
        let found: Vec<String> = made
            .diagnostics()
            .map(|found| format!("{} {}", found.code, found.location.pointer.as_deref().unwrap_or_default()))
            .collect();
        let expected: Vec<String> = places.iter().map(|place| format!("CTX0952 {place}")).collect();
        assert_eq!(found, expected);
    };
    let entry = json!({ "uid": 1, "key": ["moon"], "content": "Hollow." });
    check(json!({ "entries": { "0": entry, "1": entry } }), &["/entries/1/uid"]);
    check(json!({ "entries": { "0": entry, "1": { "key": ["sun"], "content": "Cold." } } }), &["/entries/1"]);
    let entry = json!({ "id": 1, "keys": ["moon"], "content": "Hollow." });
    let book = json!({ "entries": [entry, entry, entry] });
    check(book.clone(), &["/entries/1/id", "/entries/2/id"]);
    let place = |index: usize| format!("/data/character_book/entries/{index}/id");
    check(card(json!({ "name": "Ada", "character_book": book })).1, &[&place(1), &place(2)]);
}

#[test]
fn no_file_of_others_is_taken_for_ours() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/files_of_others_are_refused");
    let texts = std::fs::read(format!("{folder}/files.yaml")).unwrap();
    let mut texts: BTreeMap<String, String> = serde_yaml::from_slice(&texts).unwrap();
    texts.retain(|name, _| name.rsplit_once('.').is_some_and(|(_, ending)| ending == "json"));
    for (name, text) in &texts {
        let found = detect(text.as_bytes(), name, &Limits::default());
        assert!(found.is_err(), "{name}: {found:?}");
    }
    assert!(texts.len() > 50, "{}", texts.len());
}

#[test]
fn what_is_asked_for_is_read_by_less_and_weak_evidence_is_told() {
    let told = |found: &[ctx_types::Diagnostic]| {
        found.iter().find(|found| found.code == codes::GUESSED_FORMAT).map(|found| found.message.to_string())
    };
    let limits = Limits::default();
    let profile = |text: &str| {
        read_profile(text.as_bytes(), "a.json", &limits).map(|read| told(&read.diagnostics)).ok()
    };
    let because =
        |format: &str, what: &str| Some(Some(format!("the file is read as {format} because of {what}")));
    assert_eq!(profile(r#"{"name": "Kim", "content": "Counts."}"#), Some(None));
    let text = because("a user profile", "text under `content`");
    assert_eq!(profile(r#"{"name": "Kim", "content": "Counts.", "version": 1}"#), text);
    assert_eq!(profile(r#"{"name": "left-pad", "version": "1.0.0"}"#), None);
    let agent = |text: &str| {
        let read = read_agent(text.as_bytes(), "a.json", &limits, &AnchorRegistry::system());
        read.map(|read| told(&read.diagnostics)).ok()
    };
    assert_eq!(agent(r#"{"name": "Ada", "parameters": {"temperature": 1}}"#), Some(None));
    let parameters = because("an agent", "parameters or a character");
    assert_eq!(agent(r#"{"name": "f", "parameters": {"type": "object"}, "strict": true}"#), parameters);
    assert_eq!(agent(r#"{"name": "left-pad", "version": "1.0.0"}"#), None);
    let chat = |text: &str| {
        read_conversation(text.as_bytes(), "a.json", &limits).map(|read| told(&read.diagnostics)).ok()
    };
    assert_eq!(chat(r#"[{"role": "user", "content": "Hi"}]"#), Some(None));
    let list = because("a list of chat messages", "a list with keys such as `role` and `content`");
    assert_eq!(chat(r#"[{"title": "Owls", "content": "Hoo"}]"#), list);
    let book = |text: &str| {
        read_worldbook(text.as_bytes(), "a.json", &limits).map(|read| told(&read.diagnostics)).ok()
    };
    assert_eq!(book(r#"{"entries": {"0": {"key": ["moon"], "content": "Hollow."}}}"#), Some(None));
    let entries = because("a worldbook", "entries");
    assert_eq!(book(r#"{"feed": "news", "entries": [{"content": "Rain."}]}"#), entries);
}
