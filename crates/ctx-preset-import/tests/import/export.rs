//! What was imported comes back, and what was changed since is written over it.

mod prompts;
mod settings;

use ctx_preset_import::{
    Import, Importer, SourceFile, export_agent, export_card, export_card_book, export_card_picture,
    export_preset,
};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

fn import_one(value: &Value) -> Import {
    let text = value.to_string();
    Importer::default().import(&[SourceFile { name: "file.json", bytes: text.as_bytes() }])
}

fn round_card(card: &Value) -> Value {
    let made = import_one(card);
    let agent = made.agent.unwrap();
    // As it is after it was written and read.
    let agent = Agent::read(agent.write(), &mut Reader::new());
    export_card(&agent, made.worldbooks.first().map(|named| &named.book))
}

/// Exports an agent as it is after it was read.
fn preset_of(agent: Value) -> Value {
    export_preset(&Agent::read(agent, &mut Reader::new())).0
}

fn round_preset(preset: &Value) -> Value {
    let agent = import_one(preset).agent.unwrap();
    preset_of(agent.write())
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof!["[a-z {}<>]{0,12}".prop_map(Value::from), Just(json!("")), Just(Value::Null)]
}

fn extension() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!({ "own": [1, { "x": null }] })),
        Just(json!({ "depth_prompt": { "prompt": "p", "depth": "3" } }))
    ]
}

prop_compose! {
    fn card()(
        name in "[a-z]{1,8}", description in text(), system in text(), first in text(), notes in text(),
        greetings in prop_oneof![Just(json!([])), Just(json!(["a", ""])), Just(json!("one"))],
        tags in prop_oneof![Just(json!([])), Just(json!(["a"])), Just(json!("a, b"))],
        extensions in extension(), unknown in text(), mirrored in any::<bool>(),
    ) -> Value {
        let mut card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
            "name": name, "description": description, "system_prompt": system, "first_mes": first,
            "creator_notes": notes, "alternate_greetings": greetings, "tags": tags, "extensions": extensions,
            "unknown": unknown,
        } });
        if mirrored {
            card["name"] = json!(name);
            card["description"] = json!("another");
        }
        card
    }
}

prop_compose! {
    fn preset()(
        prompts in prop::collection::vec((0u8..6, text(), any::<bool>(), 0i64..5), 0..6),
        order in prop::collection::vec((0u8..8, any::<bool>()), 0..8),
        temperature in prop_oneof![Just(json!(1)), Just(json!(0.5)), Just(json!("1")), Just(Value::Null)],
        format in text(), nudge in text(),
    ) -> Value {
        let names = ["main", "jailbreak", "x", "charDescription", "chatHistory", "scenario", "gone", "dialogueExamples"];
        let prompt = |(id, content, is_deep, depth): (u8, Value, bool, i64)| json!({
            "identifier": names[usize::from(id)], "content": content, "injection_position": u8::from(is_deep),
            "injection_depth": depth, "odd": true,
        });
        let step = |(id, enabled): (u8, bool)| json!({ "identifier": names[usize::from(id)], "enabled": enabled });
        json!({
            "prompts": prompts.into_iter().map(prompt).collect::<Vec<_>>(),
            "prompt_order": [{ "character_id": 100_001, "order": order.into_iter().map(step).collect::<Vec<_>>() }],
            "temperature": temperature, "scenario_format": format, "continue_nudge_prompt": nudge, "own": { "a": [] },
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cards_come_back(card in card()) {
        prop_assert_eq!(round_card(&card), card);
    }

    #[test]
    fn presets_come_back(preset in preset()) {
        prop_assert_eq!(round_preset(&preset), preset);
    }
}

#[test]
fn books_of_cards_come_back() {
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": {
        "name": "Lore", "scan_depth": 3, "extensions": {}, "entries": [
            { "id": 4, "keys": ["k"], "content": "c", "enabled": true, "insertion_order": 5, "priority": 2, "extensions": { "position": 4, "x": 1 } },
            { "keys": [], "content": "", "enabled": false, "insertion_order": 1 },
        ],
    } } });
    assert_eq!(round_card(&card), card);
}

#[test]
fn the_text_of_an_entry_is_the_one_that_it_says() {
    let entry_of = |entry: Value| {
        let book = Worldbook::read(json!({ "entries": { "0": entry } }), &mut Reader::new());
        export_card_book(&book)["entries"][0].clone()
    };
    let with = |content: Value, original: Value| {
        let original = json!({ "keys": ["k"], "content": original });
        json!({ "key": ["k"], "content": content, "selective": false, "position": 1, "imported": original })
    };
    let card = |content: Value| json!({ "keys": ["k"], "content": content });
    assert_eq!(entry_of(with(json!("c"), Value::Null)), card(json!("c")));
    assert_eq!(entry_of(with(json!("c"), json!("c"))), card(json!("c")), "as files were written before");
    assert_eq!(entry_of(with(json!("new"), json!("old"))), card(json!("new")));
    assert_eq!(entry_of(with(Value::Null, Value::Null)), card(Value::Null));
    assert_eq!(entry_of(with(json!(5), json!(5))), card(json!(5)));
    let mut without = with(json!("c"), Value::Null);
    without.as_object_mut().unwrap().remove("content");
    assert_eq!(entry_of(without).get("content"), None, "a text that was taken away");
}

#[test]
fn an_entry_in_both_forms_comes_back() {
    let entry = json!({
        "id": 3, "key": ["mine"], "keys": ["moon"], "secondary_keys": ["s"], "content": "It is hollow.", "enabled": false,
        "constant": true, "insertion_order": 7, "position": "before_char", "extensions": { "position": 4, "depth": 2 },
    });
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": { "entries": [entry] } } });
    assert_eq!(round_card(&card), card);
}

#[test]
fn changes_are_written_over_what_was_there() {
    let card = json!({ "name": "Ada", "spec": "chara_card_v2", "data": { "name": "Ada", "description": "D", "own": 1 } });
    let mut agent = import_one(&card).agent.unwrap().write();
    agent["name"] = json!("Eve");
    agent["greetings"] = json!([{ "content": "Hi" }, { "content": "Ho" }]);
    let exported = export_card(&Agent::read(agent, &mut Reader::new()), None);
    assert_eq!(
        exported,
        json!({ "name": "Eve", "spec": "chara_card_v2", "data": {
        "name": "Eve", "description": "D", "own": 1, "first_mes": "Hi", "alternate_greetings": ["Ho"],
    } })
    );
}

#[test]
fn an_agent_of_our_own_is_a_preset_that_imports_the_same() {
    let agent = json!({ "presetMessages": [
        { "id": "main", "role": "system", "content": "M" },
        { "type": "user_profile", "content": "{{persona}}" },
        { "id": "deep", "role": "user", "content": "D", "injectionStrategy": { "type": "depth", "depth": 2 } },
        { "type": "chat_history" },
        { "id": "off", "role": "system", "content": "O", "isEnabled": false },
    ], "parameters": { "temperature": 0.5 } });
    let preset = preset_of(agent);
    assert_eq!(preset["temperature"], 0.5);
    let again = import_one(&preset).agent.unwrap();
    let ids: Vec<_> =
        again.preset_messages.iter().map(|entry| entry.id.as_deref().unwrap_or_default()).collect();
    let listed =
        [
            &[
                "worldInfoBefore",
                "before_main",
                "main",
                "author_note",
                "worldInfoAfter",
                "personaDescription",
            ][..],
            &["deep", "dialogueExamples", "new_chat", "chatHistory", "off"],
            &["charDescription", "charPersonality", "scenario"],
        ]
        .concat();
    assert_eq!(ids, listed);
    let off = again.preset_messages.iter().filter(|entry| !entry.is_enabled());
    assert_eq!(off.count(), 4);
    assert_eq!(export_preset(&again).0, preset);
}

/// Exports what an export becomes, as it is after it was written and read.
fn round_aio(export: &Value) -> Value {
    let made = import_one(export);
    let agent = Agent::read(made.agent.unwrap().write(), &mut Reader::new());
    let books: Vec<_> = made.worldbooks.iter().map(|named| (&*named.name, &named.book)).collect();
    export_agent(&agent, &books)
}

#[test]
fn what_stands_around_an_agent_of_aio_hub_comes_back() {
    let export = |agent: Value, around: &Value| {
        let agents = json!([agent, { "name": "Eve", "presetMessages": [] }, 5]);
        let mut export = json!({ "version": 1, "type": "AIO_Agent_Export", "agents": agents });
        export.as_object_mut().unwrap().extend(around.as_object().unwrap().clone());
        export
    };
    let book =
        json!({ "name": "Sky", "entries": { "0": { "uid": 0, "key": ["moon"], "content": "Hollow." } } });
    let agents = [
        json!({ "name": "Ada", "presetMessages": [] }),
        json!({ "name": "Ada", "presetMessages": [], "imported": 5 }),
        json!({ "name": "Ada", "presetMessages": [], "imported": { "card": { "name": "A" } }, "own": [] }),
        json!({ "name": "Ada", "presetMessages": [], "imported": { "envelope": { "a": 1 }, "imported": {} } }),
        json!({ "presetMessages": [], "worldbookIds": ["w"], "bundledWorldbooks": [
            { "id": "w", "name": "S", "content": book, "own": 1 }, { "id": "x", "content": 5 }, 7,
        ] }),
    ];
    for agent in agents {
        for around in [json!({}), json!({ "own": { "x": null } }), json!({ "version": 3, "type": "x" })] {
            let export = export(agent.clone(), &around);
            assert_eq!(round_aio(&export), export);
        }
    }
}

#[test]
fn a_card_is_found_after_a_round_by_aio_hub() {
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "own": 1, "extensions": {} } });
    let agent = import_one(&card).agent.unwrap();
    let mut export = export_agent(&agent, &[]);
    export["own"] = json!(1);
    export["agents"].as_array_mut().unwrap().push(json!({ "name": "Eve" }));
    let agent = import_one(&round_aio(&export)).agent.unwrap();
    assert_eq!(agent.kept.get("imported").unwrap()["card"], card);
    assert_eq!(export_card(&agent, None), card);
}

#[test]
fn a_picture_keeps_its_chunks_and_both_documents() {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
    let once = export_card_picture(&card, None).unwrap();
    let twice = export_card_picture(&card, Some(&once)).unwrap();
    assert_eq!(once, twice);
    let files = [SourceFile { name: "a.png", bytes: &once }];
    let made = Importer::default().import(&files);
    assert_eq!(made.report.files[0].container.as_deref(), Some("png:chara"));
    assert_eq!(made.assets[0].bytes(&files), once);
    assert_eq!(export_card_picture(&card, Some(b"GIF89a")), None);
}

#[test]
fn the_note_of_a_card_stands_where_its_entry_stands() {
    let card = |note: Value| json!({ "spec": "chara_card_v2", "data": { "name": "A", "extensions": { "depth_prompt": note } } });
    let check = |note: Value, change: fn(&mut Value, usize), expected: Value| {
        let mut agent = import_one(&card(note)).agent.unwrap().write();
        let entries = agent["presetMessages"].as_array().unwrap();
        let entry = entries.iter().position(|entry| entry["id"] == "depth_prompt").unwrap();
        change(&mut agent, entry);
        assert_eq!(export_card(&Agent::read(agent, &mut Reader::new()), None), card(expected));
    };
    let moved = |agent: &mut Value, entry: usize| {
        agent["presetMessages"][entry]["injectionStrategy"]["depth"] = json!(9);
        agent["presetMessages"][entry]["role"] = json!("user");
    };
    let said = |agent: &mut Value, _: usize| {
        agent["character"]["depthPrompt"] = json!({ "prompt": "q", "depth": 9, "role": "user" });
    };
    let note = |prompt: &str| json!({ "prompt": prompt, "depth": "3", "x": 1 });
    check(note("p"), |_, _| {}, note("p"));
    check(note("p"), moved, json!({ "prompt": "p", "depth": 9, "role": "user", "x": 1 }));
    check(note("p"), said, json!({ "prompt": "q", "depth": "3" }));
    // A message of the same id is not the note.
    let another = |agent: &mut Value, _: usize| {
        let entry = json!({ "id": "depth_prompt", "content": "x", "injectionStrategy": { "type": "depth", "depth": 7 } });
        agent["presetMessages"].as_array_mut().unwrap().insert(0, entry);
    };
    check(note("p"), another, note("p"));
}

#[test]
fn a_book_without_entries_stays_in_its_card() {
    for book in [json!({ "a": 1, "name": "n" }), json!({ "entries": 5, "name": "n" }), json!({})] {
        let card = json!({ "spec": "chara_card_v2", "data": { "name": "A", "character_book": book } });
        let made = import_one(&card);
        assert!(made.worldbooks.is_empty());
        let rows = made.report.files[0].fields.iter();
        let rows = rows.filter(|row| row.pointer.starts_with("/data/character_book/"));
        assert!(
            rows.clone().all(|row| row.to.as_deref() == Some(&*format!("/imported/card{}", row.pointer)))
        );
        assert_eq!(export_card(&made.agent.unwrap(), None), card);
    }
}
