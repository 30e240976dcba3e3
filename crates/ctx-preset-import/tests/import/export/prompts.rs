//! Entries of agents as prompts of presets.

use ctx_preset_import::export_preset;
use serde_json::{Value, json};

use super::{preset_of, round_preset};
use crate::{agent_of, import_all, import_one, written_agent};

/// Checks the order of an exported preset, as `identifier` or `-identifier` of one that is off, and what is lost: the
/// pointers. Importing the preset and exporting that changes nothing.
#[track_caller]
fn check_preset(agent: &Value, order: &[&str], lost: &[&str]) -> Value {
    let agent = agent_of(agent.clone());
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
    ], "presetGroups": [{ "id": "g", "enabled": false }], "parameters": { "temperature": 0.5 } });
    let order = [
        &["worldInfoBefore", "a", "worldInfoAfter", "-personaDescription", "entry_1", "above", "later"][..],
        &["dialogueExamples", "chatHistory", "last", "first", "third", "deep", "-off", "for", "odd"],
        &["scenario_text", "a_14", "-charDescription", "-charPersonality", "-scenario"],
    ]
    .concat();
    let lost = ["/presetMessages/5", "/presetMessages/6", "/presetMessages/9", "/presetMessages/11"];
    let preset = check_preset(&agent, &order, &lost);
    assert_eq!(preset["temperature"], 0.5);
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
        let told = export_preset(&agent_of(agent)).1;
        assert_eq!(told.len(), expected);
        told.last().unwrap().message.clone()
    };
    assert!(!check(1_000, 1_000).to_string().contains("not shown"));
    assert_eq!(check(1_002, 1_001), "2 more diagnostics in this agent are not shown");
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
    let agent = written_agent(import_all(&[("personas.json", personas), ("preset.json", preset)]));
    let list = agent["presetMessages"].as_array().unwrap();
    let at = list.iter().position(|entry| entry["id"] == "persona_at_depth").unwrap();
    let check = |change: fn(&mut Value), is_lost: bool| {
        let mut agent = agent.clone();
        change(&mut agent["presetMessages"][at]);
        // The list is changed in any case.
        agent["presetMessages"][0]["isEnabled"] = json!(false);
        let (preset, told) = export_preset(&agent_of(agent));
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
        let mut agent = written_agent(import_one(&preset));
        let list = agent["presetMessages"].as_array_mut().unwrap();
        let at = list.iter().position(|entry| entry["id"] == "new_chat").unwrap();
        change(list, at);
        let (exported, told) = export_preset(&agent_of(agent));
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
    let mut agent = written_agent(import_one(&unsaid));
    agent["presetMessages"].as_array_mut().unwrap().retain(|entry| entry["id"] != "new_chat");
    assert_eq!(preset_of(agent)["new_chat_prompt"], "");
}

#[test]
fn a_prompt_of_a_preset_may_have_the_id_of_a_note() {
    let prompts = ["depth_prompt", "persona_at_depth", "author_note", "before_main", "new_chat", "main"];
    let steps = prompts.map(|id| json!({ "identifier": id, "enabled": true }));
    let preset = json!({
        "prompts": prompts.map(|id| json!({ "identifier": id, "role": "user", "content": id, "system_prompt": *id == *"main" })),
        "prompt_order": [{ "character_id": 100_001, "order": steps }],
    });
    assert_eq!(round_preset(&preset), preset);
    for number in 0..prompts.len() {
        let mut agent = written_agent(import_one(&preset));
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
    let mut agent = written_agent(import_one(&preset));
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
fn exports_unsent_prompts_unchanged() {
    let order = ["main", "heading", "blank", "chatHistory"];
    let order: Vec<Value> =
        order.iter().map(|id| json!({ "identifier": id, "enabled": *id != "blank" })).collect();
    let preset = json!({
        "prompts": [
            { "identifier": "main", "role": "system", "content": "Write." },
            { "identifier": "heading", "name": "H", "role": "system", "content": "== Style ==", "marker": true },
            { "identifier": "blank", "name": "B", "role": "system", "content": "", "marker": true },
        ],
        "prompt_order": [{ "character_id": 100_001, "order": order }],
    });
    assert_eq!(round_preset(&preset), preset);
}

#[test]
fn entries_that_stand_for_a_prompt_again_are_not_prompts() {
    let depth = json!({ "role": "system", "injection_position": 1, "injection_depth": 1 });
    let prompt = |identifier: &str, content: &str, fields: &Value| {
        let mut prompt = json!({ "identifier": identifier, "name": identifier, "content": content });
        prompt.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        prompt
    };
    let continued = json!({ "role": "user", "injection_trigger": ["continue"] });
    let marker = json!({ "marker": true, "role": "system" });
    let mut description = prompt("charDescription", "", &marker);
    description["injection_trigger"] = json!(["continue"]);
    let prompts = [
        prompt("main", "Main.", &continued),
        prompt("x", "x", &depth),
        prompt("personaDescription", "Own.", &marker),
        description,
        prompt("chatHistory", "", &marker),
    ];
    let step = |identifier: &&str| json!({ "identifier": identifier, "enabled": true });
    let order = ["main", "x", "personaDescription", "charDescription", "chatHistory", "x"];
    let order: Vec<Value> = order.iter().map(step).collect();
    let preset = json!({ "prompts": prompts, "prompt_order": [{ "character_id": 100_001, "order": order }] });
    let mut agent = written_agent(import_one(&preset));
    assert_eq!(export_preset(&agent_of(agent.clone())), (preset, Vec::new()));
    let entries = agent["presetMessages"].as_array_mut().unwrap();
    let persona = entries.iter_mut().find(|entry| entry["id"] == "personaDescription").unwrap();
    persona["content"] = json!("{{#if persona}}{{persona}}{{else}}New.{{/if}}");
    entries.push(json!({ "id": "new", "role": "system", "content": "New." }));
    let unordered = ["worldInfoBefore", "worldInfoAfter", "charPersonality", "scenario", "new"];
    let order =
        [&["main", "x", "personaDescription", "charDescription", "chatHistory"], &unordered[..]].concat();
    let exported = check_preset(&agent, &order, &[]);
    assert_eq!(self::prompt(&exported, "personaDescription")["content"], "New.");
    assert_eq!(exported["prompts"].as_array().unwrap().len(), 6);
}
