//! Exports of imported files are the same, except for later changes.

mod prompts;
mod settings;

use ctx_preset_import::{
    Import, SourceFile, export_agent, export_card, export_card_book, export_card_picture, export_preset,
};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{agent_of, import_one, written_agent};

fn card_of(made: Import) -> Value {
    let agent = agent_of(made.agent.unwrap().write());
    export_card(&agent, made.worldbooks.first().map(|named| &named.book))
}

fn round_card(card: &Value) -> Value {
    card_of(import_one(card))
}

fn preset_of(agent: Value) -> Value {
    export_preset(&agent_of(agent)).0
}

fn round_preset(preset: &Value) -> Value {
    preset_of(written_agent(import_one(preset)))
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
    fn exports_cards_unchanged(card in card()) {
        prop_assert_eq!(round_card(&card), card);
    }

    #[test]
    fn exports_presets_unchanged(preset in preset()) {
        prop_assert_eq!(round_preset(&preset), preset);
    }
}

#[test]
fn exports_books_of_cards_unchanged() {
    let book = json!({ "name": "Lore", "scan_depth": 3, "extensions": {}, "entries": [
        { "id": 4, "keys": ["k"], "content": "c", "enabled": true, "insertion_order": 5, "priority": 2, "extensions": { "position": 4, "x": 1 } },
        { "keys": [], "content": "", "enabled": false, "insertion_order": 1 },
    ] });
    // An entry of both forms.
    let entry = json!({
        "id": 3, "key": ["mine"], "keys": ["moon"], "secondary_keys": ["s"], "content": "It is hollow.", "enabled": false,
        "constant": true, "insertion_order": 7, "position": "before_char", "extensions": { "position": 4, "depth": 2 },
    });
    for book in [book, json!({ "entries": [entry] })] {
        let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": book } });
        assert_eq!(round_card(&card), card);
    }
    // A book without entries stays in its card.
    for book in [json!({ "a": 1, "name": "n" }), json!({ "entries": 5, "name": "n" }), json!({})] {
        let card = json!({ "spec": "chara_card_v2", "data": { "name": "A", "character_book": book } });
        let made = import_one(&card);
        assert!(made.worldbooks.is_empty());
        for row in made.report.files[0].fields.iter().filter(|row| row.pointer.contains("/character_book/")) {
            assert_eq!(row.to, Some(format!("/imported/card{}", row.pointer)));
        }
        assert_eq!(card_of(made), card);
    }
}

#[test]
fn exports_current_text_of_an_entry() {
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
fn writes_changes_over_original_card() {
    let card = json!({ "name": "Ada", "spec": "chara_card_v2", "data": { "name": "Ada", "description": "D", "own": 1 } });
    let mut agent = written_agent(import_one(&card));
    agent["name"] = json!("Eve");
    agent["greetings"] = json!([{ "content": "Hi" }, { "content": "Ho" }]);
    let exported = export_card(&agent_of(agent), None);
    assert_eq!(
        exported,
        json!({ "name": "Eve", "spec": "chara_card_v2", "data": {
        "name": "Eve", "description": "D", "own": 1, "first_mes": "Hi", "alternate_greetings": ["Ho"],
    } })
    );
}

/// Exports what an export becomes, as it is after it was written and read.
fn round_aio(export: &Value) -> Value {
    let made = import_one(export);
    let books: Vec<_> = made.worldbooks.iter().map(|named| (&*named.name, &named.book)).collect();
    export_agent(&agent_of(made.agent.unwrap().write()), &books)
}

#[test]
fn exports_surroundings_of_aio_hub_agents_unchanged() {
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
fn exports_card_of_an_agent_from_aio_hub() {
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
fn writes_both_documents_to_a_picture_once() {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
    let once = export_card_picture(&card, None).unwrap();
    let twice = export_card_picture(&card, Some(&once)).unwrap();
    assert_eq!(once, twice);
    let files = [SourceFile { name: "a.png", bytes: &once }];
    let made = super::import_files(&[("a.png", &once)]);
    assert_eq!(made.report.files[0].container.as_deref(), Some("png:chara"));
    assert_eq!(made.assets[0].bytes(&files), once);
    assert_eq!(export_card_picture(&card, Some(b"GIF89a")), None);
}

#[test]
fn exports_note_of_a_card_from_its_entry() {
    let card = |note: Value| json!({ "spec": "chara_card_v2", "data": { "name": "A", "extensions": { "depth_prompt": note } } });
    let check = |note: Value, change: fn(&mut Value, usize), expected: Value| {
        let mut agent = written_agent(import_one(&card(note)));
        let entries = agent["presetMessages"].as_array().unwrap();
        let entry = entries.iter().position(|entry| entry["id"] == "depth_prompt").unwrap();
        change(&mut agent, entry);
        assert_eq!(export_card(&agent_of(agent), None), card(expected));
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
