//! What was imported comes back, and what was changed since is written over it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use ctx_preset_import::{
    Import, ImportOptions, SourceFile, export_agent, export_card, export_card_picture, export_preset, import,
};
use ctx_types::{Agent, Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

fn import_one(value: &Value) -> Import {
    let text = value.to_string();
    import(&[SourceFile { name: "file.json", bytes: text.as_bytes() }], &ImportOptions::default())
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
    let made = import(&[SourceFile { name: "a.png", bytes: &once }], &ImportOptions::default());
    assert_eq!(made.report.files[0].container.as_deref(), Some("png:chara"));
    assert_eq!(made.assets[0].bytes, once);
    assert_eq!(export_card_picture(&card, Some(b"GIF89a")), None);
}

/// Returns what a preset leaves to the prompt: the context without the answer.
fn room(preset: &Value) -> Option<i64> {
    Some(preset["openai_max_context"].as_i64()? - preset["openai_max_tokens"].as_i64().unwrap_or(0))
}

#[track_caller]
fn check_room(parameters: &Value, expected: Option<i64>) {
    let agent = json!({ "presetMessages": [{ "type": "chat_history" }], "parameters": parameters });
    let preset = preset_of(agent);
    assert_eq!(room(&preset), expected, "{preset}");
    assert_eq!(room(&round_preset(&preset)), expected);
    let again = import_one(&preset).agent.unwrap().write();
    let limit = &again["parameters"]["contextManagement"];
    let answer = again["parameters"]["maxTokens"].as_i64().unwrap_or(0);
    assert_eq!(limit["maxContextTokens"].as_i64().map(|tokens| tokens - answer), expected);
    assert!(expected.is_none() || limit["includesAnswer"] == true);
}

#[test]
fn a_preset_leaves_as_much_to_the_prompt_as_the_agent() {
    let limit = |tokens: i64| json!({ "enabled": true, "maxContextTokens": tokens });
    check_room(&json!({ "maxTokens": 300, "contextManagement": limit(4000) }), Some(4000));
    check_room(&json!({ "contextManagement": limit(4000) }), Some(4000));
    let mut shared = limit(4000);
    shared["includesAnswer"] = json!(true);
    check_room(&json!({ "maxTokens": 300, "contextManagement": shared }), Some(3700));
    check_room(&json!({ "maxTokens": 300, "contextManagement": limit(0) }), None);
    check_room(
        &json!({ "maxTokens": 300, "contextManagement": { "enabled": false, "maxContextTokens": 4000 } }),
        None,
    );
    let preset = json!({ "openai_max_context": 4096, "openai_max_tokens": 300, "prompts": [] });
    assert_eq!(round_preset(&preset), preset);
    let mut agent = import_one(&preset).agent.unwrap().write();
    agent["parameters"]["contextManagement"]["includesAnswer"] = json!(false);
    assert_eq!(room(&preset_of(agent)), Some(4096));
}

#[test]
fn a_preset_of_many_prompts_is_exported() {
    let count = 20_000;
    let named = |number: i32| format!("p{number}");
    let entries: Vec<Value> =
        (0..count).map(|number| json!({ "id": named(number), "content": "x" })).collect();
    let prompts: Vec<Value> =
        (0..count).map(|number| json!({ "identifier": named(number), "content": "y" })).collect();
    let preset = json!({ "prompts": prompts, "prompt_order": [] });
    let agent = json!({ "presetMessages": entries, "imported": { "preset": preset } });
    let preset = preset_of(agent);
    assert_eq!(preset["prompts"].as_array().unwrap().len(), 20_000);
    assert_eq!(preset["prompts"][19_999]["content"], "x");
}

/// Changes the agent of a preset, and checks which fields of the preset are other ones then; nothing is lost.
#[track_caller]
fn check_change(preset: &Value, change: fn(&mut Value), expected: &[(&str, Value)]) {
    check_loss(preset, change, expected, &[]);
}

/// Changes the agent of a preset, and checks which fields of the preset are other ones then, and what is lost: the
/// pointers.
#[track_caller]
fn check_loss(preset: &Value, change: fn(&mut Value), expected: &[(&str, Value)], lost: &[&str]) {
    let mut agent = import_one(preset).agent.unwrap().write();
    change(&mut agent);
    let (exported, told) = export_preset(&Agent::read(agent, &mut Reader::new()));
    let mut wanted = preset.clone();
    for (pointer, value) in expected {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = wanted.pointer_mut(parent).unwrap();
        match parent.as_object_mut() {
            Some(map) => drop(map.insert(key.to_owned(), value.clone())),
            None => parent[key.parse::<usize>().unwrap()] = value.clone(),
        }
    }
    assert_eq!(exported, wanted);
    let pointers: Vec<_> = told.iter().map(|found| found.location.pointer.as_deref().unwrap()).collect();
    assert_eq!(pointers, lost);
    assert!(told.iter().all(|found| found.code.to_string() == "CTX0628"));
}

fn processor<'v>(agent: &'v mut Value, id: &str) -> &'v mut Value {
    let list = agent["parameters"]["processors"].as_array_mut().unwrap();
    list.iter_mut().find(|processor| processor["id"] == id).unwrap()
}

#[test]
fn changed_settings_of_a_preset_are_written() {
    let preset = json!({
        "prompts": [], "squash_system_messages": true, "continue_prefill": false, "stream_openai": true,
        "chat_completion_source": "claude", "claude_model": "old", "claude_use_sysprompt": true,
        "assistant_impersonation": "I", "custom_prompt_post_processing": "strict",
        "extensions": { "own": 1, "regex_scripts": [
            { "scriptName": "s", "findRegex": "q", "replaceString": "w", "placement": [2], "promptOnly": true },
        ] },
    });
    check_change(&preset, |_| {}, &[]);
    let squash = |agent: &mut Value| processor(agent, "squash-system")["enabled"] = json!(false);
    check_change(&preset, squash, &[("/squash_system_messages", json!(false))]);
    let prefill =
        |agent: &mut Value| processor(agent, "session-loader")["config"]["continuation"] = json!("prefix");
    check_change(&preset, prefill, &[("/continue_prefill", json!(true))]);
    let last =
        |agent: &mut Value| processor(agent, "session-loader")["config"]["continuation"] = json!("last");
    check_change(&preset, last, &[("/continue_prefill", json!(true))]);
    let stream = |agent: &mut Value| agent["parameters"]["stream"] = json!(false);
    check_change(&preset, stream, &[("/stream_openai", json!(false))]);
    let impersonate = |agent: &mut Value| {
        processor(agent, "generation-prompt")["config"]["impersonatePrefill"] = json!("J");
    };
    check_change(&preset, impersonate, &[("/assistant_impersonation", json!("J"))]);
    let model = |agent: &mut Value| agent["modelId"] = json!("new");
    check_change(&preset, model, &[("/claude_model", json!("new"))]);
    let source = |agent: &mut Value| agent["parameters"]["sources"]["claude"]["use_sysprompt"] = json!(false);
    check_change(&preset, source, &[("/claude_use_sysprompt", json!(false))]);
    let preset = json!({ "prompts": [], "prompt_order": [], "openai_max_tokens": 5, "temp_openai": 1, "temperature": 2 });
    let mut agent = import_one(&preset).agent.unwrap().write();
    agent["parameters"].as_object_mut().unwrap().shift_remove("temperature");
    let exported = preset_of(agent);
    assert_eq!(exported, json!({ "prompts": [], "prompt_order": [], "openai_max_tokens": 5 }));
}

#[test]
fn an_answer_that_is_continued_in_its_place_is_no_prefill() {
    let preset = json!({ "prompts": [], "prompt_order": [], "continue_prefill": true });
    check_change(&preset, |_| {}, &[]);
    let in_place =
        |agent: &mut Value| processor(agent, "session-loader")["config"]["continuation"] = json!("in_place");
    check_change(&preset, in_place, &[("/continue_prefill", json!(false))]);
    let own = |way: &str| {
        let loader = json!({ "id": "primary:session-loader", "config": { "continuation": way } });
        preset_of(json!({ "presetMessages": [], "parameters": { "processors": [loader] } }))
    };
    for (way, is_prefilled) in [("last", json!(true)), ("prefix", json!(true)), ("in_place", Value::Null)] {
        assert_eq!(own(way)["continue_prefill"], is_prefilled, "{way}");
    }
}

#[test]
fn formatters_become_the_post_processing_that_has_them() {
    let preset =
        |kind: &str| json!({ "prompts": [], "prompt_order": [], "custom_prompt_post_processing": kind });
    let kind = |kind: &str| [("/custom_prompt_post_processing", json!(kind))];
    let kinds =
        ["", "merge", "merge_tools", "claude", "semi", "semi_tools", "strict", "strict_tools", "single", "x"];
    for kind in kinds {
        check_change(&preset(kind), |_| {}, &[]);
        let anew = |agent: &mut Value| {
            let list = agent["parameters"]["processors"].as_array_mut().unwrap();
            list.retain(|setting| setting["id"] != "worldbook-processor");
        };
        check_change(&preset(kind), anew, &[]);
    }
    let unalternating =
        |agent: &mut Value| processor(agent, "ensure-alternating-roles")["enabled"] = json!(false);
    check_change(&preset("strict"), unalternating, &kind("semi"));
    check_change(&preset("strict_tools"), unalternating, &kind("semi_tools"));
    let unconverted =
        |agent: &mut Value| processor(agent, "convert-system-to-user")["enabled"] = json!(false);
    check_change(&preset("semi"), unconverted, &kind("merge"));
    let of_everyone = |agent: &mut Value| {
        processor(agent, "convert-system-to-user")["config"]["scope"] = json!("everyone");
    };
    check_change(&preset("semi"), of_everyone, &kind("single"));
    let unjoined = |agent: &mut Value| processor(agent, "merge-consecutive-roles")["enabled"] = json!(false);
    check_change(&preset("claude"), unjoined, &kind(""));
    // The later of two counts, and what is not set is as it is built in.
    let again = |agent: &mut Value| {
        let setting = json!({ "id": "post:convert-system-to-user", "enabled": false });
        agent["parameters"]["processors"].as_array_mut().unwrap().push(setting);
    };
    check_change(&preset("semi_tools"), again, &kind("merge_tools"));
    let unsaid = |agent: &mut Value| {
        let list = agent["parameters"]["processors"].as_array_mut().unwrap();
        list.retain(|setting| setting["id"] != "merge-consecutive-roles");
    };
    check_change(&preset(""), unsaid, &kind("merge"));
    check_change(&preset("claude"), unsaid, &[]);
    // What no kind has stays, and is told.
    let place = |number: usize| format!("/parameters/processors/{number}");
    check_loss(&preset("strict"), unconverted, &[], &[&place(13)]);
    let of_all =
        |agent: &mut Value| processor(agent, "convert-system-to-user")["config"]["scope"] = json!("all");
    check_loss(&preset("semi"), of_all, &[], &[&place(12)]);
    // Names stand where they stood.
    let [merge] = kind("merge");
    check_change(&preset("single"), again, &[merge, ("/names_behavior", json!(2))]);
    let mut named = preset("strict");
    named["names_behavior"] = json!(1);
    let mut expected = vec![("/names_behavior", json!(2))];
    let free = |agent: &mut Value| {
        processor(agent, "convert-system-to-user")["enabled"] = json!(false);
        processor(agent, "ensure-alternating-roles")["enabled"] = json!(false);
        processor(agent, "merge-consecutive-roles")["enabled"] = json!(false);
    };
    expected.extend(kind(""));
    check_change(&named, free, &expected);
}

#[test]
fn formatters_of_our_own_become_a_post_processing() {
    let check = |processors: Value, expected: Value, lost: usize| {
        let agent = json!({ "presetMessages": [], "parameters": { "processors": processors } });
        let (preset, told) = export_preset(&Agent::read(agent, &mut Reader::new()));
        assert_eq!((&preset["custom_prompt_post_processing"], told.len()), (&expected, lost));
    };
    let convert = |scope: &str| json!({ "id": "convert-system-to-user", "enabled": true, "config": { "scope": scope } });
    check(json!([]), Value::Null, 0);
    check(json!([{ "id": "token-limiter" }]), Value::Null, 0);
    check(json!([convert("everyone")]), json!("single"), 0);
    check(json!([convert("after_first")]), json!("semi"), 0);
    check(json!([{ "id": "convert-system-to-user" }]), json!("merge"), 0);
    check(json!([convert("all")]), Value::Null, 1);
}

#[test]
fn changed_scripts_of_a_preset_are_written() {
    let script = |text: &str| json!({ "scriptName": "s", "findRegex": "q", "replaceString": text, "placement": [2], "promptOnly": true, "x": 1 });
    let preset = json!({ "prompts": [], "prompt_order": [], "extensions": { "own": 1, "regex_scripts": [script("w")] } });
    let mut agent = import_one(&preset).agent.unwrap().write();
    agent["regexConfig"]["presets"][0]["rules"][0]["replacement"] = json!("new");
    let exported = preset_of(agent);
    let scripts = &exported["extensions"]["regex_scripts"];
    assert_eq!((&scripts[0]["replaceString"], &scripts[0]["x"]), (&json!("new"), &json!(1)));
    assert_eq!((&exported["extensions"]["own"], scripts.as_array().unwrap().len()), (&json!(1), 1));
    // Those of a card do not become the preset's.
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "A", "extensions": { "regex_scripts": [script("w")] } } });
    assert_eq!(export_preset(&import_one(&card).agent.unwrap()).0.get("extensions"), None);
}

/// Checks the order of an exported preset, as `identifier` or `-identifier` of one that is off, and what is lost: the
/// pointers. Importing the preset and exporting that changes nothing.
#[track_caller]
fn check_preset(agent: &Value, order: &[&str], lost: &[&str]) -> Value {
    let agent = Agent::read(agent.clone(), &mut Reader::new());
    let (preset, told) = export_preset(&agent);
    let steps = preset["prompt_order"][0]["order"].as_array().unwrap();
    let step = |step: &Value| {
        let sign = if step["enabled"] == true { "" } else { "-" };
        format!("{sign}{}", step["identifier"].as_str().unwrap())
    };
    assert_eq!(steps.iter().map(step).collect::<Vec<_>>(), order);
    assert!(told.iter().all(|found| found.code.to_string() == "CTX0628"));
    let pointers: Vec<_> = told.iter().map(|found| found.location.pointer.clone().unwrap()).collect();
    assert_eq!(pointers, lost);
    let again = import_one(&preset).agent.unwrap();
    assert_eq!(export_preset(&again), (preset.clone(), Vec::new()));
    preset
}

fn prompt<'v>(preset: &'v Value, identifier: &str) -> &'v Value {
    let mut prompts = preset["prompts"].as_array().unwrap().iter();
    prompts.find(|prompt| prompt["identifier"] == identifier).unwrap()
}

const OFF: [&str; 3] = ["-charDescription", "-charPersonality", "-scenario"];

#[test]
fn entries_stand_in_a_preset_where_they_stand_in_the_agent() {
    let agent = json!({ "presetMessages": [
        { "id": "a", "role": "system", "content": "A" },
        { "type": "user_profile", "content": "About {{user}}: {{persona}}" },
        { "id": "h", "type": "chat_history" },
        { "id": "last", "role": "system", "content": "L", "insertionPoint": -1 },
        { "id": "first", "role": "system", "content": "F", "insertionPoint": 0 },
        { "id": "third", "role": "system", "content": "T", "insertionPoint": 3 },
        { "id": "deep", "role": "user", "content": "D", "injectionStrategy": { "depthConfig": "3,10~5", "order": 7 } },
        { "id": "later", "content": "2", "anchorTarget": "chat_history", "anchorPoint": "before", "order": 101 },
        { "id": "above", "content": "1", "anchorTarget": "chat_history", "anchorPoint": "before" },
        { "id": "lore", "type": "placeholder" },
        { "id": "off", "content": "O", "groupId": "g", "modelMatch": { "enabled": true, "patterns": ["x"] } },
        { "id": "for", "content": "M", "modelMatch": { "enabled": true, "patterns": ["x"] } },
        { "id": "odd", "type": "weather", "content": "W" },
        { "id": "scenario", "content": "S" },
        { "id": "a", "content": "second" },
    ], "presetGroups": [{ "id": "g", "enabled": false }] });
    let order = [
        &["worldInfoBefore", "a", "worldInfoAfter", "-personaDescription", "entry_1", "above", "later"][..],
        &["dialogueExamples", "chatHistory", "last", "first", "third", "deep", "-off", "for", "odd"],
        &["scenario_text", "a_14", "-charDescription", "-charPersonality", "-scenario"],
    ]
    .concat();
    let lost = ["/presetMessages/5", "/presetMessages/6", "/presetMessages/9", "/presetMessages/11"];
    let preset = check_preset(&agent, &order, &lost);
    assert_eq!(prompt(&preset, "entry_1")["content"], "About {{user}}: {{persona}}");
    for (identifier, depth, order) in [("last", 1, 100), ("first", 10_000, 100), ("deep", 3, 7)] {
        let prompt = prompt(&preset, identifier);
        let place = ["injection_position", "injection_depth", "injection_order"].map(|key| &prompt[key]);
        assert_eq!(place, [&json!(1), &json!(depth), &json!(order)]);
    }
    assert_eq!(preset["new_chat_prompt"], "");
}

#[test]
fn each_prompt_has_an_identifier_of_its_own() {
    let markers = ["dialogueExamples", "chatHistory"];
    let check = |ids: &[(&str, &str)], expected: &[&str]| {
        let list: Vec<Value> = ids.iter().map(|(id, text)| json!({ "id": id, "content": text })).collect();
        let order =
            [&["worldInfoBefore"], expected, &["worldInfoAfter"], &markers, &OFF, &["-personaDescription"]];
        let preset = check_preset(&json!({ "presetMessages": list }), &order.concat(), &[]);
        let prompts =
            expected.iter().map(|identifier| prompt(&preset, identifier)["content"].as_str().unwrap());
        assert_eq!(prompts.collect::<Vec<_>>(), ids.iter().map(|(_, text)| *text).collect::<Vec<_>>());
    };
    check(&[("x", "1"), ("x_2", "2"), ("x", "3")], &["x", "x_2", "x_3"]);
    check(&[("x", "1"), ("x", "2"), ("x_1", "3"), ("x_2", "4")], &["x", "x_3", "x_1", "x_2"]);
    check(&[("", "1"), ("entry_0", "2")], &["entry_0_0", "entry_0"]);
    // What is sent twice is sent twice.
    check(&[("x", "1"), ("x", "1"), ("x", "1")], &["x", "x_1", "x_2"]);
}

#[test]
fn many_prompts_of_one_identifier_are_told_apart_in_time() {
    let count = 20_000;
    let taken = (count..2 * count).map(|number| format!("x_{number}"));
    let same = (0..count).map(|_| "x".to_owned());
    let list: Vec<Value> = taken.chain(same).map(|id| json!({ "id": id, "content": "y" })).collect();
    let preset = preset_of(json!({ "presetMessages": list }));
    assert_eq!(preset["prompts"].as_array().unwrap().len(), 2 * count);
}

#[test]
fn what_is_lost_is_told_up_to_a_number() {
    let check = |count: usize, expected: usize| {
        let entry = json!({ "content": "x", "modelMatch": { "enabled": true, "patterns": ["x"] } });
        let agent = json!({ "presetMessages": vec![entry; count] });
        let told = export_preset(&Agent::read(agent, &mut Reader::new())).1;
        assert_eq!(told.len(), expected);
        told.last().unwrap().message.clone()
    };
    assert!(!check(1_000, 1_000).contains("not shown"));
    assert_eq!(check(1_002, 1_001), "2 more findings in this agent are not shown");
}

#[test]
fn messages_with_the_ids_of_notes_are_prompts() {
    let deep = |id: &str, role: &str, text: &str| json!({ "id": id, "role": role, "content": text, "injectionStrategy": { "type": "depth", "depth": 2 } });
    let markers =
        |all: &[&'static str]| [&["worldInfoBefore"], all, &OFF[..], &["-personaDescription"]].concat();
    let said = json!({ "presetMessages": [
        deep("depth_prompt", "system", "D"), deep("persona_at_depth", "user", "P"),
        { "id": "author_note", "role": "user", "content": "A" }, { "id": "before_main", "role": "user", "content": "B" },
        { "type": "chat_history" },
    ] });
    let order = markers(&[
        "depth_prompt",
        "persona_at_depth",
        "author_note",
        "before_main",
        "worldInfoAfter",
        "dialogueExamples",
        "chatHistory",
    ]);
    let preset = check_preset(&said, &order, &[]);
    assert_eq!(prompt(&preset, "depth_prompt")["content"], "D");
    // The card says its note; where the persona goes is nobody's but the agent's.
    let unchanged = json!({ "presetMessages": [
        deep("depth_prompt", "system", "{{charDepthPrompt}}"), deep("persona_at_depth", "user", "{{persona}}"),
        { "type": "chat_history" },
    ] });
    let order = markers(&["persona_at_depth", "worldInfoAfter", "dialogueExamples", "chatHistory"]);
    check_preset(&unchanged, &order, &[]);
    let mut off = unchanged;
    off["presetMessages"][0]["isEnabled"] = json!(false);
    check_preset(&off, &order, &["/presetMessages/0"]);
}

#[test]
fn a_persona_at_a_depth_stays_where_it_says() {
    let personas = json!({ "personas": { "a.png": "Ada" }, "default_persona": "a.png", "persona_descriptions": {
        "a.png": { "description": "D", "position": 4, "depth": 3, "role": 1 },
    } });
    let preset = json!({ "prompts": [{ "identifier": "main", "content": "M" }] });
    let files = [("personas.json", personas.to_string()), ("preset.json", preset.to_string())];
    let files = files.each_ref().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() });
    let agent = import(&files, &ImportOptions::default()).agent.unwrap().write();
    let list = agent["presetMessages"].as_array().unwrap();
    let at = list.iter().position(|entry| entry["id"] == "persona_at_depth").unwrap();
    let check = |change: fn(&mut Value), is_lost: bool| {
        let mut agent = agent.clone();
        change(&mut agent["presetMessages"][at]);
        // The list is changed in any case.
        agent["presetMessages"][0]["isEnabled"] = json!(false);
        let (preset, told) = export_preset(&Agent::read(agent, &mut Reader::new()));
        let prompts = preset["prompts"].as_array().unwrap().iter();
        assert!(prompts.filter(|prompt| prompt["identifier"] == "persona_at_depth").count() == 0);
        let pointers = told.iter().filter_map(|found| found.location.pointer.clone());
        let expected = is_lost.then(|| format!("/presetMessages/{at}"));
        assert_eq!(pointers.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    };
    check(|_| {}, false);
    check(|entry| entry["injectionStrategy"]["depth"] = json!(5), true);
    check(|entry| entry["role"] = json!("system"), true);
    check(|entry| entry["isEnabled"] = json!(false), true);
}

#[test]
fn what_stands_above_the_conversation_is_a_field_where_a_preset_says_it_so() {
    let preset = json!({
        "prompts": [{ "identifier": "main", "content": "M" }], "new_chat_prompt": "N",
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "main", "enabled": true }, { "identifier": "chatHistory", "enabled": true },
        ] }],
    });
    let check = |change: fn(&mut Vec<Value>, usize), field: &str, prompt: Option<&str>| {
        let mut agent = import_one(&preset).agent.unwrap().write();
        let list = agent["presetMessages"].as_array_mut().unwrap();
        let at = list.iter().position(|entry| entry["id"] == "new_chat").unwrap();
        change(list, at);
        let (exported, told) = export_preset(&Agent::read(agent, &mut Reader::new()));
        let prompts = exported["prompts"].as_array().unwrap().iter();
        let mut own = prompts.filter(|prompt| prompt["identifier"] == "new_chat");
        let own = own.next().map(|prompt| prompt["content"].as_str().unwrap());
        assert_eq!((exported["new_chat_prompt"].as_str(), own, told), (Some(field), prompt, Vec::new()));
        let again = import_one(&exported).agent.unwrap();
        assert_eq!(export_preset(&again), (exported, Vec::new()));
    };
    check(|_, _| {}, "N", None);
    check(|list, at| list[at]["content"] = json!("O"), "O", None);
    check(|list, at| list[at]["isEnabled"] = json!(false), "", None);
    check(|list, at| drop(list.remove(at)), "", None);
    check(|list, at| list[at]["role"] = json!("user"), "", Some("N"));
    check(|list, at| list[at]["triggers"] = json!(["continue"]), "", Some("N"));
    check(|list, at| list[at]["injectionStrategy"] = json!({ "type": "depth", "depth": 2 }), "", Some("N"));
    check(|list, at| list.swap(at, at - 1), "", Some("N"));
    check(
        |list, at| {
            let history = list.remove(at + 1);
            list.insert(0, history);
            list[at + 1]["content"] = json!("");
        },
        "",
        None,
    );
    // Without a field there is a text all the same.
    let mut unsaid = preset.clone();
    unsaid.as_object_mut().unwrap().shift_remove("new_chat_prompt");
    let mut agent = import_one(&unsaid).agent.unwrap().write();
    agent["presetMessages"].as_array_mut().unwrap().retain(|entry| entry["id"] != "new_chat");
    assert_eq!(preset_of(agent)["new_chat_prompt"], "");
}

#[test]
fn a_prompt_of_a_preset_may_have_the_id_of_a_note() {
    let prompts = ["depth_prompt", "persona_at_depth", "author_note", "before_main", "new_chat", "main"];
    let steps = prompts.map(|id| json!({ "identifier": id, "enabled": true }));
    let preset = json!({
        "prompts": prompts.map(|id| json!({ "identifier": id, "role": "user", "content": id })),
        "prompt_order": [{ "character_id": 100_001, "order": steps }],
    });
    assert_eq!(round_preset(&preset), preset);
    for number in 0..prompts.len() {
        let mut agent = import_one(&preset).agent.unwrap().write();
        let list = agent["presetMessages"].as_array_mut().unwrap();
        let entry = list.iter_mut().find(|entry| entry["id"] == prompts[number] && entry["role"] == "user");
        entry.unwrap()["content"] = json!("changed");
        let mut expected = preset.clone();
        expected["prompts"][number]["content"] = json!("changed");
        assert_eq!(preset_of(agent)["prompts"], expected["prompts"]);
    }
}

#[test]
fn an_anchor_by_its_id_alone_is_the_marker_of_it() {
    let agent = json!({ "presetMessages": [
        { "id": "a", "role": "system", "content": "A" }, { "type": "placeholder", "id": "world_info_before" },
        { "type": "placeholder", "id": "char_description" }, { "type": "chat_history" },
    ] });
    let order = ["a", "worldInfoAfter", "worldInfoBefore", "dialogueExamples", "chatHistory"];
    check_preset(&agent, &[&order[..], &OFF, &["-personaDescription"]].concat(), &["/presetMessages/2"]);
}

#[test]
fn what_an_agent_leaves_unsaid_is_the_same_in_a_preset() {
    let markers = |all: &[&'static str]| [all, &OFF[..], &["-personaDescription"]].concat();
    // The conversation follows the list, unless the agent says otherwise.
    check_preset(
        &json!({ "presetMessages": [{ "id": "a", "role": "system", "content": "A" }] }),
        &markers(&["worldInfoBefore", "a", "worldInfoAfter", "dialogueExamples", "chatHistory"]),
        &[],
    );
    check_preset(
        &json!({ "presetMessages": [{ "id": "a", "content": "A" }], "historyWhenUnplaced": "omit" }),
        &markers(&["worldInfoBefore", "a", "worldInfoAfter"]),
        &[],
    );
    // Without a template nothing is sent of a character.
    let blank = json!({ "presetMessages": [
        { "type": "char_description" }, { "type": "chat_history", "isEnabled": false },
        { "type": "dialogue_examples", "isEnabled": false },
    ] });
    let order = ["worldInfoBefore", "-charDescription", "worldInfoAfter", "chatHistory", "-dialogueExamples"];
    check_preset(&blank, &[&order[..], &OFF[1..], &["-personaDescription"]].concat(), &[]);
    let formatted = json!({ "presetMessages": [
        { "type": "scenario", "content": "{{#if scenario}}Where: {{scenario}}{{/if}}" }, { "type": "chat_history" },
    ] });
    let order = ["worldInfoBefore", "scenario", "worldInfoAfter", "dialogueExamples", "chatHistory"];
    let preset = check_preset(&formatted, &[&order[..], &OFF[..2], &["-personaDescription"]].concat(), &[]);
    assert_eq!(preset["scenario_format"], "Where: {{scenario}}");
}

#[test]
fn a_changed_template_of_a_preset_becomes_a_prompt() {
    let ids = [
        "main",
        "worldInfoBefore",
        "worldInfoAfter",
        "charDescription",
        "charPersonality",
        "scenario",
        "personaDescription",
        "chatHistory",
    ];
    let steps = ids.map(|id| json!({ "identifier": id, "enabled": true }));
    let preset = json!({
        "prompts": [{ "identifier": "main", "role": "system", "content": "M" }],
        "prompt_order": [{ "character_id": 100_001, "order": steps }],
    });
    let format = |agent: &mut Value| {
        agent["presetMessages"][6]["content"] = json!("{{#if personality}}P: {{personality}}{{/if}}");
    };
    let mut agent = import_one(&preset).agent.unwrap().write();
    assert_eq!(agent["presetMessages"][6]["id"], "charPersonality");
    format(&mut agent);
    let exported = preset_of(agent.clone());
    assert_eq!(exported["personality_format"], "P: {{personality}}");
    assert_eq!(exported["prompt_order"], preset["prompt_order"]);
    agent["presetMessages"][5]["content"] = json!("# {{description}}");
    let exported = preset_of(agent);
    assert_eq!(prompt(&exported, "charDescription_text")["content"], "# {{description}}");
    let steps = &exported["prompt_order"][0]["order"];
    assert_eq!(
        (&steps[3]["enabled"], &steps[4]["identifier"]),
        (&json!(false), &json!("charDescription_text"))
    );
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
        assert!(rows.clone().all(|row| row.to == Some(&*format!("/imported/card{}", row.pointer))));
        assert_eq!(export_card(&made.agent.unwrap(), None), card);
    }
}
