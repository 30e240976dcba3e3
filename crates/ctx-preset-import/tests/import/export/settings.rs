//! Settings, formatters and scripts of agents in presets.

use ctx_preset_import::export_preset;
use serde_json::{Value, json};

use super::{preset_of, round_preset};
use crate::{agent_of, import_one, written_agent};

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
    let again = written_agent(import_one(&preset));
    let limit = &again["parameters"]["contextManagement"];
    let answer = again["parameters"]["maxTokens"].as_i64().unwrap_or(0);
    assert_eq!(limit["maxContextTokens"].as_i64().map(|tokens| tokens - answer), expected);
    assert!(expected.is_none() || limit["includesAnswer"] == true);
}

#[test]
fn keeps_tokens_left_for_the_prompt() {
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
    let mut agent = written_agent(import_one(&preset));
    agent["parameters"]["contextManagement"]["includesAnswer"] = json!(false);
    assert_eq!(room(&preset_of(agent)), Some(4096));
}

#[test]
fn exports_changes_of_many_prompts() {
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

type Change = fn(&mut Value);

/// Changes the agent of a preset, and checks the changed fields of the exported preset.
#[track_caller]
fn check_change(preset: &Value, change: Change, expected: &[(&str, Value)]) {
    check_loss(preset, change, expected, &[]);
}

/// As [`check_change`], with the pointers of diagnostics about lost settings.
#[track_caller]
fn check_loss(preset: &Value, change: Change, expected: &[(&str, Value)], lost: &[&str]) {
    let mut agent = written_agent(import_one(preset));
    change(&mut agent);
    let (exported, told) = export_preset(&agent_of(agent));
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

fn continue_with(agent: &mut Value, way: &str) {
    processor(agent, "session-loader")["config"]["continuation"] = json!(way);
}

#[test]
fn exports_changed_settings() {
    let preset = json!({
        "prompts": [], "squash_system_messages": true, "continue_prefill": false, "stream_openai": true,
        "chat_completion_source": "claude", "claude_model": "old", "claude_use_sysprompt": true,
        "assistant_impersonation": "I", "custom_prompt_post_processing": "strict",
        "extensions": { "own": 1, "regex_scripts": [
            { "scriptName": "s", "findRegex": "q", "replaceString": "w", "placement": [2], "promptOnly": true },
        ] },
    });
    check_change(&preset, |_| {}, &[]);
    let squash: Change = |agent| processor(agent, "squash-system")["enabled"] = json!(false);
    for (change, field, value) in [
        (squash, "/squash_system_messages", json!(false)),
        (|agent| continue_with(agent, "prefix"), "/continue_prefill", json!(true)),
        (|agent| continue_with(agent, "last"), "/continue_prefill", json!(true)),
        (|agent| agent["parameters"]["stream"] = json!(false), "/stream_openai", json!(false)),
        (
            |agent| processor(agent, "generation-prompt")["config"]["impersonatePrefill"] = json!("J"),
            "/assistant_impersonation",
            json!("J"),
        ),
        (|agent| agent["modelId"] = json!("new"), "/claude_model", json!("new")),
        (
            |agent| agent["parameters"]["sources"]["claude"]["use_sysprompt"] = json!(false),
            "/claude_use_sysprompt",
            json!(false),
        ),
    ] {
        check_change(&preset, change, &[(field, value)]);
    }
    let preset = json!({ "prompts": [], "prompt_order": [], "openai_max_tokens": 5, "temp_openai": 1, "temperature": 2 });
    let mut agent = written_agent(import_one(&preset));
    agent["parameters"].as_object_mut().unwrap().shift_remove("temperature");
    let exported = preset_of(agent);
    assert_eq!(exported, json!({ "prompts": [], "prompt_order": [], "openai_max_tokens": 5 }));
}

#[test]
fn exports_continuation_in_place_without_prefill() {
    let preset = json!({ "prompts": [], "prompt_order": [], "continue_prefill": true });
    check_change(&preset, |_| {}, &[]);
    check_change(&preset, |agent| continue_with(agent, "in_place"), &[("/continue_prefill", json!(false))]);
    for (way, is_prefilled) in [("last", json!(true)), ("prefix", json!(true)), ("in_place", Value::Null)] {
        let loader = json!({ "id": "primary:session-loader", "config": { "continuation": way } });
        let own = preset_of(json!({ "presetMessages": [], "parameters": { "processors": [loader] } }));
        assert_eq!(own["continue_prefill"], is_prefilled, "{way}");
    }
}

fn disable(agent: &mut Value, id: &str) {
    processor(agent, id)["enabled"] = json!(false);
}

fn convert_messages_of(agent: &mut Value, scope: &str) {
    processor(agent, "convert-system-to-user")["config"]["scope"] = json!(scope);
}

fn remove_processor(agent: &mut Value, id: &str) {
    agent["parameters"]["processors"].as_array_mut().unwrap().retain(|setting| setting["id"] != id);
}

#[test]
fn exports_formatters_as_post_processing() {
    let preset =
        |kind: &str| json!({ "prompts": [], "prompt_order": [], "custom_prompt_post_processing": kind });
    let kind = |kind: &str| [("/custom_prompt_post_processing", json!(kind))];
    let kinds =
        ["", "merge", "merge_tools", "claude", "semi", "semi_tools", "strict", "strict_tools", "single", "x"];
    for kind in kinds {
        check_change(&preset(kind), |_| {}, &[]);
        check_change(&preset(kind), |agent| remove_processor(agent, "worldbook-processor"), &[]);
    }
    let unalternating: Change = |agent| disable(agent, "ensure-alternating-roles");
    let unconverted: Change = |agent| disable(agent, "convert-system-to-user");
    let unset: Change = |agent| remove_processor(agent, "merge-consecutive-roles");
    // The later of two settings has priority.
    let again: Change = |agent| {
        let setting = json!({ "id": "post:convert-system-to-user", "enabled": false });
        agent["parameters"]["processors"].as_array_mut().unwrap().push(setting);
    };
    for (before, change, after) in [
        ("strict", unalternating, "semi"),
        ("strict_tools", unalternating, "semi_tools"),
        ("semi", unconverted, "merge"),
        ("semi", |agent| convert_messages_of(agent, "everyone"), "single"),
        ("claude", |agent| disable(agent, "merge-consecutive-roles"), ""),
        ("semi_tools", again, "merge_tools"),
        ("", unset, "merge"),
    ] {
        check_change(&preset(before), change, &kind(after));
    }
    check_change(&preset("claude"), unset, &[]);
    // Without a matching kind, the field stays, and the loss is reported.
    let place = |number: usize| format!("/parameters/processors/{number}");
    check_loss(&preset("strict"), unconverted, &[], &[&place(13)]);
    check_loss(&preset("semi"), |agent| convert_messages_of(agent, "all"), &[], &[&place(12)]);
    // Names keep their place.
    let [merge] = kind("merge");
    check_change(&preset("single"), again, &[merge, ("/names_behavior", json!(2))]);
    let mut named = preset("strict");
    named["names_behavior"] = json!(1);
    let free: Change = |agent| {
        for id in ["convert-system-to-user", "ensure-alternating-roles", "merge-consecutive-roles"] {
            disable(agent, id);
        }
    };
    let [none] = kind("");
    check_change(&named, free, &[("/names_behavior", json!(2)), none]);
}

#[test]
fn exports_own_formatters_as_post_processing() {
    let check = |processors: Value, expected: Value, lost: usize| {
        let agent = json!({ "presetMessages": [], "parameters": { "processors": processors } });
        let (preset, told) = export_preset(&agent_of(agent));
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
fn exports_changed_scripts() {
    let script = |text: &str| json!({ "scriptName": "s", "findRegex": "q", "replaceString": text, "placement": [2], "promptOnly": true, "x": 1 });
    let preset = json!({ "prompts": [], "prompt_order": [], "extensions": { "own": 1, "regex_scripts": [script("w")] } });
    let mut agent = written_agent(import_one(&preset));
    agent["regexConfig"]["presets"][0]["rules"][0]["replacement"] = json!("new");
    let exported = preset_of(agent);
    let scripts = &exported["extensions"]["regex_scripts"];
    assert_eq!((&scripts[0]["replaceString"], &scripts[0]["x"]), (&json!("new"), &json!(1)));
    assert_eq!((&exported["extensions"]["own"], scripts.as_array().unwrap().len()), (&json!(1), 1));
    // Those of a card do not become the preset's.
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "A", "extensions": { "regex_scripts": [script("w")] } } });
    assert_eq!(export_preset(&import_one(&card).agent.unwrap()).0.get("extensions"), None);
}
