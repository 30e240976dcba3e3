//! Files of other applications as an agent.

use ctx_preset_import::{FieldStatus, Import, Importer, SourceFile, codes};
use serde_json::{Value, json};

use super::{found, import_all, import_one, rows, written_agent};

/// Shows each entry of an agent: id, text, and placement.
#[track_caller]
fn entries(made: Import) -> Vec<String> {
    let agent = written_agent(made);
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let entry = |entry: &Value| {
        let off = if entry["isEnabled"] == json!(false) { " (off)" } else { "" };
        let at = match &entry["injectionStrategy"] {
            Value::Null => String::new(),
            at => format!(" @{} {} {}", at["depth"], at["order"], at["lane"]),
        };
        format!("{}:{}{at}{off}", text(entry, "id"), text(entry, "content"))
    };
    agent["presetMessages"].as_array().unwrap().iter().map(entry).collect()
}

/// Checks that an agent has these entries, among others.
#[track_caller]
fn check_entries(files: &[(&str, Value)], expected: &[&str]) {
    let entries = entries(import_all(files));
    for entry in expected {
        assert!(entries.iter().any(|own| own == entry), "{entry} is not in {entries:#?}");
    }
}

fn card(data: Value) -> Value {
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data })
}

fn order(identifiers: &[&str]) -> Value {
    let steps: Vec<Value> =
        identifiers.iter().map(|identifier| json!({ "identifier": identifier, "enabled": true })).collect();
    json!([{ "character_id": 100_000, "order": [] }, { "character_id": 100_001, "order": steps }])
}

#[test]
fn places_prompts_at_depths_that_sillytavern_finds() {
    let prompt = |identifier: &str, depth: Value, order: Value| {
        json!({ "identifier": identifier, "role": "user", "content": "x", "injection_position": 1,
            "injection_depth": depth, "injection_order": order })
    };
    let made = import_one(&json!({
        "prompts": [
            prompt("a", json!(2), json!(99.5)), prompt("b", json!(null), json!(50)),
            prompt("c", json!("3"), json!(50)), prompt("d", json!(2.5), json!(50)), prompt("e", json!(0), json!(50)),
        ],
        "prompt_order": order(&["a", "b", "c", "d", "e"]),
    }));
    let unsent = made.diagnostics().filter(|found| found.code == codes::PROMPT_NOT_SENT);
    let unsent: Vec<String> = unsent.map(|found| found.message.to_string()).collect();
    assert_eq!(unsent, ["SillyTavern does not send 3 prompts, such as `b`, `c`, `d`"]);
    let agent = written_agent(made);
    let placed = agent["presetMessages"].as_array().unwrap().iter().filter_map(|entry| {
        let strategy = entry.get("injectionStrategy").filter(|strategy| strategy["type"] == "depth")?;
        Some((entry["id"].clone(), strategy["depth"].clone(), strategy["order"].clone()))
    });
    let expected = [(json!("a"), json!(2), json!(99)), (json!("e"), json!(0), json!(50))];
    assert_eq!(placed.collect::<Vec<_>>(), expected);
}

#[test]
fn keeps_comma_lists_of_too_many_tags_in_their_card() {
    let fields = |count: usize| {
        let tags = vec!["t"; count].join(",");
        json!({ "name": "Ada", "description": "D", "first_mes": "Hi", "tags": tags })
    };
    for (card, pointer, read) in [
        (card(fields(1_000)), "/data/tags", 1_000),
        (card(fields(1_001)), "/data/tags", 0),
        (fields(1_001), "/tags", 0),
    ] {
        let made = import_one(&card);
        let row = made.report.files[0].fields.iter().find(|row| row.pointer == pointer).unwrap();
        let places: Vec<_> = made.diagnostics().map(|found| found.location.pointer.as_deref()).collect();
        let found = (row.status, row.to.as_deref(), places);
        if read > 0 {
            assert_eq!(found, (FieldStatus::Mapped, Some("/tags"), vec![]));
        } else {
            let kept = format!("/imported/card{pointer}");
            assert_eq!(found, (FieldStatus::Kept, Some(&*kept), vec![Some(pointer)]));
        }
        let agent = written_agent(made);
        assert_eq!(agent["tags"].as_array().map(Vec::len).unwrap_or_default(), read);
        assert_eq!(agent["imported"]["card"], card);
    }
}

#[test]
fn turns_markers_into_anchors_and_keeps_places_of_prompts() {
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
        entries(import_one(&preset)),
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
fn replaces_original_in_prompts_of_cards_once() {
    let preset = json!({
        "prompts": [{ "identifier": "main", "content": "M" }, { "identifier": "jailbreak", "content": "J", "forbid_overrides": true }],
        "prompt_order": order(&["main", "jailbreak"]),
    });
    let card = card(
        json!({ "name": "Ada", "system_prompt": "<{{Original}}{{original}}>", "post_history_instructions": "no" }),
    );
    check_entries(&[("card.json", card), ("p.json", preset)], &["main:<M>", "jailbreak:J"]);
}

#[test]
fn reads_texts_of_older_presets() {
    let preset = json!({ "main_prompt": "M", "nsfw_prompt": "N", "jailbreak_prompt": "J" });
    check_entries(&[("p.json", preset)], &["main:M", "nsfw:N", "jailbreak:J"]);
    let made = import_one(&json!({
        "prompts": [{ "identifier": "main", "content": "" }, { "identifier": "nsfw", "content": "N" }],
        "main_prompt": "OLD", "nsfw_prompt": "OLD",
        "custom_prompt_post_processing": "strict", "openrouter_sort_models": "a",
        "prompt_order": order(&["main", "nsfw"]),
    }));
    let rows = rows(&made, 0).into_iter().zip(&made.report.files[0].fields);
    let rows = rows.filter(|(_, field)| field.pointer.contains('_') && !field.pointer.contains("order/"));
    assert_eq!(
        rows.map(|(row, field)| format!("{row}: {}", field.note.unwrap_or("-"))).collect::<Vec<_>>(),
        [
            "/main_prompt mapped /presetMessages: -",
            "/nsfw_prompt kept /imported/preset/nsfw_prompt: the prompt's own text is used",
            "/custom_prompt_post_processing approximated /parameters/processors: the closest formatters",
            "/openrouter_sort_models approximated /parameters/sources: for that application's window; no effect on requests",
        ]
    );
    assert_eq!(written_agent(made)["presetMessages"][1]["content"], "OLD");
}

#[test]
fn reads_character_greetings_rules_and_book_of_a_card() {
    let made = import_one(&card(json!({
        "name": "Ada", "description": "D", "mes_example": "<START>", "first_mes": "Hi", "alternate_greetings": ["Ho", " "],
        "tags": "a, b", "extensions": {
            "depth_prompt": { "prompt": "N", "depth": "3", "role": "user" },
            "regex_scripts": [{ "findRegex": "/a/g", "replaceString": "b", "placement": [2] }],
        },
        "character_book": { "name": "Lore", "entries": [{ "id": 7, "keys": ["k"], "content": "c", "enabled": true }] },
    })));
    assert_eq!(&*made.worldbooks[0].book.entries.iter().next().unwrap().1.key[0], "k");
    let agent = written_agent(made);
    assert_eq!(agent["character"]["description"], "D");
    assert_eq!(agent["tags"], json!(["a", "b"]));
    assert_eq!(agent["greetings"].as_array().unwrap().len(), 2);
    assert_eq!(agent["regexConfig"]["presets"][0]["rules"][0]["regex"], "/a/g");
    assert_eq!(agent["worldbookIds"], json!(["Lore"]));
    let note = agent["presetMessages"].as_array().unwrap().iter().find(|entry| entry["id"] == "depth_prompt");
    assert_eq!(note.unwrap()["injectionStrategy"], json!({ "type": "depth", "depth": 3, "lane": -8 }));
}

#[test]
fn reads_cards_without_a_greeting_as_agents() {
    let made = import_all(&[("ada.yaml", json!({ "name": "Ada", "context": "Counts.", "greeting": "" }))]);
    assert!(made.profile.is_none());
    let agent = written_agent(made);
    assert_eq!((&agent["name"], &agent["character"]["description"]), (&json!("Ada"), &json!("Counts.")));
}

#[test]
fn reports_a_second_card() {
    let made =
        import_all(&[("a.json", card(json!({ "name": "Ada" }))), ("b.json", card(json!({ "name": "Bob" })))]);
    assert_eq!(made.report.files[1].diagnostics[0].code.to_string(), "CTX0623");
    assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
}

#[test]
fn reads_name_text_and_place_of_a_persona() {
    let personas = json!({
        "personas": { "k.png": "Kim" }, "default_persona": "k.png",
        "persona_descriptions": { "k.png": { "description": "Tea.", "position": 4, "depth": 1, "role": 1 } },
    });
    let files = [("card.json", card(json!({ "name": "Ada" }))), ("personas.json", personas)];
    let profile = import_all(&files).profile.unwrap();
    assert_eq!((profile.name.as_deref(), profile.content.as_deref()), (Some("Kim"), Some("Tea.")));
    check_entries(
        &files,
        &["persona_at_depth:{{persona}} @1 null -7", "personaDescription:{{persona}} (off)"],
    );
}

#[test]
fn points_to_wrong_values_of_scripts() {
    let scripts = json!([{ "findRegex": 7, "placement": [1] }]);
    for (file, place) in [
        (scripts.clone(), "/0/findRegex"),
        (json!({ "findRegex": 7, "placement": [1] }), "/findRegex"),
        (
            card(json!({ "name": "Ada", "extensions": { "regex_scripts": scripts } })),
            "/data/extensions/regex_scripts/0/findRegex",
        ),
        (card(json!({ "name": "Ada", "regex_scripts": scripts })), "/data/regex_scripts/0/findRegex"),
        (json!({ "name": "Ada", "first_mes": "", "regex_scripts": scripts }), "/regex_scripts/0/findRegex"),
        (
            json!({ "prompts": [], "prompt_order": [], "extensions": { "regex_scripts": scripts } }),
            "/extensions/regex_scripts/0/findRegex",
        ),
        (
            json!({ "power_user": {}, "extension_settings": { "regex": scripts } }),
            "/extension_settings/regex/0/findRegex",
        ),
    ] {
        let made = import_one(&file);
        let [found] = made.report.files[0].diagnostics.as_slice() else { panic!("{:?}", found(&made)) };
        let place_of = (found.location.document.as_deref(), found.location.pointer.as_deref());
        assert_eq!(found.code.to_string(), "CTX0660");
        assert_eq!(place_of, (Some("file.json"), Some(place)));
    }
}

#[test]
fn arranges_thousands_of_prompts_in_their_order() {
    let id = |index: usize| format!("p{index}");
    let prompts: Vec<Value> =
        (0..8_000).map(|index| json!({ "identifier": id(index), "content": "x" })).collect();
    let steps: Vec<Value> =
        (0..8_000).rev().map(|index| json!({ "identifier": id(index), "enabled": true })).collect();
    let preset = json!({ "prompts": prompts, "prompt_order": [{ "character_id": 100_001, "order": steps }] });
    let agent = import_one(&preset).agent.unwrap();
    assert_eq!(agent.preset_messages[0].id.as_deref(), Some("p7999"));
    let parts = vec![json!({ "type": "plain", "text": "x" }); 15_000];
    let made = import_one(&json!({ "promptTemplate": parts }));
    assert!(made.agent.unwrap().preset_messages.len() > 15_000);
}

#[test]
fn limits_shown_diagnostics() {
    let preset = |steps: usize| json!({ "prompts": [], "prompt_order": order(&vec!["main"; steps]) });
    let entries = vec![json!({ "uid": 1, "key": ["moon"], "content": "Hollow." }); 1_003];
    for (file, shown, last) in [
        (
            preset(21),
            20,
            "warning[CTX0627]: duplicate prompt `main` in the prompt order; the first position is used (at file.json /prompt_order/1/order/20/identifier)",
        ),
        (preset(22), 21, "info[CTX0101]: 1 more diagnostic in this document is not shown (at file.json)"),
        (
            json!({ "entries": entries }),
            1_001,
            "info[CTX0952]: more than 1000 diagnostics in `worldbook`; the rest is not shown (at file.json)",
        ),
    ] {
        let found = found(&import_one(&file));
        assert_eq!((found.len(), found.last().map(String::as_str)), (shown, Some(last)));
    }
}

#[test]
fn reports_wrong_values_in_books_of_an_agent() {
    let entry = json!({ "uid": 1, "key": ["moon"], "content": 5, "ordr": 2, "depth": "x" });
    let book = json!({ "entries": [entry, { "uid": 1, "key": "sun", "content": "Cold." }] });
    let items = json!([{ "id": "v" }, { "id": "w", "content": book }]);
    let agent =
        json!({ "name": "Kim", "presetMessages": [{ "content": "Hi." }], "bundledWorldbooks": items });
    let export = json!({ "type": "AIO_Agent_Export", "agents": [agent] });
    for (file, at) in [(agent, ""), (export, "/agents/0")] {
        let made = import_one(&file);
        let book = format!("{at}/bundledWorldbooks/1/content/entries");
        let expected = [
            format!(
                "error[CTX0100]: expected a string, found the number `5` (at file.json {book}/0/content)"
            ),
            format!("error[CTX0100]: expected a number, found the string `x` (at file.json {book}/0/depth)"),
            format!(
                "warning[CTX0102]: expected a list of strings, found the string `sun`, which is converted (at file.json {book}/1/key)"
            ),
            format!("warning[CTX0103]: unknown key `ordr` (at file.json {book}/0/ordr)"),
            format!("warning[CTX0952]: duplicate uid `1` in this worldbook (at file.json {book}/1/uid)"),
        ];
        assert_eq!(found(&made), expected);
        let rows = rows(&made, 0);
        let rows_of = format!("{}/bundledWorldbooks/*/content/entries/*", at.replace('0', "*"));
        for row in ["uid mapped", "content kept", "depth kept", "content mapped"] {
            let field = row.split(' ').next().unwrap();
            let row = format!("{rows_of}/{row} /worldbooks/0/entries/*/{field}");
            assert!(rows.contains(&row), "{row} is none of {rows:?}");
        }
    }
}

#[test]
fn reports_odd_documents_once() {
    let lines = [r#"{"role":"user","content":"Hi"}"#, r#"{"role""#, r#"{"role":"assistant","content":"Ho"}"#];
    for (name, text, code) in [
        ("c.jsonl", lines.join("\n").as_str(), "CTX0617"),
        ("c.json", r#"[{"role":"user","role":"user","content":"Hi"}]"#, "CTX0610"),
        ("p.json", r#"{"name":"K","name":"L","content":"x","lastUsedAt":"1"}"#, "CTX0610"),
    ] {
        let made = Importer::default().import(&[SourceFile { name, bytes: text.as_bytes() }]);
        let codes: Vec<String> = made.diagnostics().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, [code], "{text}");
        assert!(made.profile.is_some() || !made.conversations.is_empty());
    }
}

#[test]
fn uses_first_place_of_a_prompt_listed_twice() {
    let made = import_one(&json!({
        "prompts": [{ "identifier": "main", "content": "Main." }],
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "chatHistory", "enabled": true }, { "identifier": "main", "enabled": true },
            { "identifier": "chatHistory", "enabled": false },
        ] }],
    }));
    assert_eq!(
        found(&made),
        [
            "warning[CTX0627]: duplicate prompt `chatHistory` in the prompt order; the first position is used (at file.json /prompt_order/0/order/2/identifier)"
        ]
    );
    let rows = rows(&made, 0);
    let kept: Vec<&String> = rows.iter().filter(|row| row.contains(" kept ")).collect();
    assert_eq!(kept, ["/prompt_order/*/order/* kept /imported/preset/prompt_order/*/order/*"]);
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
    // Without the wanted order, the usual one applies.
    for (order, expected, is_missing) in [
        (None, vec!["Main."], false),
        (Some("7"), vec!["Short.", "Main."], false),
        (Some("8"), vec!["Main."], true),
    ] {
        let mut importer = Importer::default();
        importer.prompt_order = order.map(str::to_owned);
        let made = importer.import(&[SourceFile { name: "p.json", bytes: preset.as_bytes() }]);
        assert_eq!(found(&made).iter().any(|found| found.contains("[CTX0641]")), is_missing);
        let entries = made.agent.unwrap().preset_messages;
        let sent = entries.iter().filter(|entry| entry.is_enabled());
        let texts = sent.filter_map(|entry| entry.content.as_ref()).map(|text| text.text().into_owned());
        // Markers that the order lacks come after it.
        assert_eq!(texts.filter(|text| !text.starts_with("{{")).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn points_to_repeated_uids_of_books() {
    let uid = json!({ "uid": 1, "key": ["moon"], "content": "Hollow." });
    let id = json!({ "id": 1, "keys": ["moon"], "content": "Hollow." });
    let unnamed = json!({ "key": ["sun"], "content": "Cold." });
    let book = json!({ "entries": [id, id, id] });
    for (file, places) in [
        (json!({ "entries": { "0": uid, "1": unnamed } }), vec!["/entries/1"]),
        (book.clone(), vec!["/entries/1/id", "/entries/2/id"]),
        (
            card(json!({ "name": "Ada", "character_book": book })),
            vec!["/data/character_book/entries/1/id", "/data/character_book/entries/2/id"],
        ),
    ] {
        let made = import_one(&file);
        let found =
            made.diagnostics().map(|found| (found.code.to_string(), found.location.pointer.as_deref()));
        let expected = places.into_iter().map(|place| ("CTX0952".to_owned(), Some(place)));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
