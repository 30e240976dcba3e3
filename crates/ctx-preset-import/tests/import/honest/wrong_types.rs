//! One file of each kind, each field of which has each wrong type in turn.

use ctx_preset_import::export_agent;
use serde_json::{Value, json};

use super::{
    CARDS, Export, Import, check, import_one, leaves, rows, to_book, to_card, to_preset, to_scripts,
};

/// What a field is replaced by.
fn wrong() -> [Value; 9] {
    [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!("text"),
        json!([]),
        json!([[1]]),
        json!({}),
        json!({ "a": { "b": [] } }),
    ]
}

/// Calls a check with the document as it is, and with each of its leaves replaced by each wrong value.
fn each(document: &Value, check: impl Fn(&Value)) {
    check(document);
    let mut pointers = Vec::new();
    leaves(document, "", &mut pointers);
    for pointer in pointers {
        for wrong in wrong() {
            let mut changed = document.clone();
            *changed.pointer_mut(&pointer).unwrap() = wrong;
            check(&changed);
        }
    }
}

/// Checks that whatever is wrong, all rows are there, and what they call mapped or kept comes back.
fn check_export(document: &Value, formats: &[&str], export: Export) {
    each(document, |document| check(document, formats, export));
}

/// Checks that whatever is wrong, each leaf has one row.
#[track_caller]
fn check_rows(document: &Value) {
    each(document, |document| {
        let made = import_one(document);
        let mut expected = Vec::new();
        leaves(document, "", &mut expected);
        let told: Vec<&str> = rows(&made).iter().map(|row| row.pointer).collect();
        assert_eq!(told, expected, "{document}");
    });
}

fn script() -> Value {
    json!({
        "id": "s", "scriptName": "Stars", "findRegex": "/\\*/g", "replaceString": "", "trimStrings": ["a"],
        "placement": [1, 2, 5], "disabled": false, "markdownOnly": false, "promptOnly": true, "runOnEdit": true,
        "substituteRegex": 1, "minDepth": 0, "maxDepth": 4, "own": 1,
    })
}

fn card_book() -> Value {
    json!({
        "name": "Lore", "description": "d", "scan_depth": 3, "token_budget": 100, "recursive_scanning": true,
        "extensions": { "own": 1 },
        "entries": [{
            "id": 1, "keys": ["moon"], "secondary_keys": ["sun"], "comment": "Moon", "name": "M", "content": "Hollow.",
            "constant": false, "selective": true, "insertion_order": 5, "enabled": true, "position": "after_char",
            "case_sensitive": false, "use_regex": false, "priority": 2,
            "extensions": {
                "position": 4, "depth": 2, "role": 1, "probability": 50, "useProbability": true, "selectiveLogic": 1,
                "group": "g", "group_override": false, "group_weight": 5, "scan_depth": 2, "match_whole_words": true,
                "delay_until_recursion": 1, "exclude_recursion": false, "sticky": 1, "cooldown": 2, "delay": 3,
                "match_scenario": true, "triggers": ["normal"], "automation_id": "x", "display_index": 0,
            },
        }],
    })
}

#[test]
fn a_card_has_any_field_of_any_type() {
    let data = json!({
        "name": "Ada", "description": "D", "personality": "P", "scenario": "S", "first_mes": "Hi",
        "mes_example": "<START>\n{{char}}: One.", "creator_notes": "N", "system_prompt": "{{original}} Y",
        "post_history_instructions": "J", "alternate_greetings": ["Ho"], "tags": ["a"], "creator": "K",
        "character_version": "1", "nickname": "A", "group_only_greetings": ["G"], "creation_date": 5,
        "assets": [{ "type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png" }], "source": ["x"],
        "creator_notes_multilingual": { "de": "n" }, "character_book": card_book(),
        "extensions": {
            "talkativeness": 0.5, "fav": true, "world": "Sky", "own": { "a": 1 },
            "depth_prompt": { "prompt": "p", "depth": 4, "role": "system" }, "regex_scripts": [script()],
        },
    });
    let card =
        json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data, "name": "Ada", "fav": true });
    check_export(&card, &CARDS, to_card);
    let flat = json!({ "name": "Ada", "description": "D", "personality": "P", "first_mes": "Hi", "talkativeness": "0.5" });
    check_export(&flat, &CARDS, to_card);
    check_export(&json!({ "char_name": "Ada", "char_persona": "D", "char_greeting": "Hi" }), &CARDS, to_card);
}

#[test]
fn a_preset_has_any_field_of_any_type() {
    let preset = json!({
        "temperature": 1, "top_p": 0.9, "openai_max_tokens": 300, "openai_max_context": 4096, "stream_openai": true,
        "prompts": [
            { "identifier": "main", "name": "Main", "role": "system", "content": "M", "system_prompt": true },
            {
                "identifier": "own", "role": "user", "content": "O", "injection_position": 1, "injection_depth": 2,
                "injection_order": 50, "injection_trigger": ["normal"], "forbid_overrides": true, "enabled": true,
            },
            { "identifier": "scenario", "marker": true, "injection_position": 1, "injection_depth": 1 },
        ],
        "prompt_order": [
            { "character_id": 100_000, "order": [{ "identifier": "main", "enabled": true }] },
            { "character_id": 100_001, "order": [
                { "identifier": "main", "enabled": true }, { "identifier": "own", "enabled": false },
                { "identifier": "scenario", "enabled": true }, { "identifier": "chatHistory", "enabled": true },
            ] },
        ],
        "new_chat_prompt": "[New]", "new_example_chat_prompt": "[Ex]", "continue_nudge_prompt": "[C]",
        "impersonation_prompt": "[I]", "wi_format": "{0}", "scenario_format": "[{{scenario}}]",
        "personality_format": "", "names_behavior": 2, "squash_system_messages": true, "continue_prefill": false,
        "assistant_prefill": "A", "chat_completion_source": "claude", "claude_model": "c", "send_if_empty": "",
        "custom_prompt_post_processing": "strict", "extensions": { "regex_scripts": [script()], "own": 1 },
    });
    check_export(&preset, &["preset_cc"], to_preset);
}

#[test]
fn a_book_has_any_field_of_any_type() {
    let world = json!({ "name": "Sky", "entries": {
        "0": {
            "uid": 0, "key": ["moon"], "keysecondary": ["sun"], "comment": "Moon", "content": "Hollow.",
            "constant": false, "selective": true, "selectiveLogic": 2, "order": 5, "position": 4, "depth": 2, "role": 0,
            "disable": false, "probability": 50, "useProbability": true, "delayUntilRecursion": 1, "group": "g",
            "groupWeight": 5, "scanDepth": 2, "caseSensitive": true, "sticky": 1, "triggers": ["normal"],
            "characterFilter": { "isExclude": true, "names": ["a"], "tags": ["t"] }, "addMemo": true,
        },
        "1": { "uid": 1, "key": [], "content": "c" },
    } });
    check_export(&world, &["lorebook"], to_book);
    check_export(&card_book(), &["card_book"], to_book);
    check_rows(&json!({ "spec": "lorebook_v3", "data": card_book() }));
    check_export(
        &json!({ "lorebookVersion": 5, "entries": [{ "keys": ["a"], "text": "t", "enabled": true, "contextConfig": { "budgetPriority": 4 } }] }),
        &["other_lorebook"],
        to_book,
    );
    check_rows(
        &json!({ "type": "risu", "ver": 1, "data": [{ "key": "a, b", "content": "c", "insertorder": 4, "alwaysActive": true }] }),
    );
    check_rows(
        &json!({ "kind": "memory", "name": "n", "entries": [{ "keywords": ["a"], "entry": "e", "weight": 3, "enabled": true }] }),
    );
}

#[test]
fn a_script_has_any_field_of_any_type() {
    check_export(&json!([script()]), &["regex"], to_scripts);
    check_export(&script(), &["regex"], to_scripts);
}

fn to_agent(made: &Import) -> Value {
    export_agent(made.agent.as_ref().unwrap(), &[])["agents"][0].clone()
}

#[test]
fn an_agent_has_any_field_of_any_type() {
    let agent = json!({
        "name": "Ada", "description": "D", "tags": ["a"], "modelId": "m", "displayPresetCount": 2, "own": { "a": 1 },
        "presetMessages": [
            { "id": "a", "type": "message", "role": "system", "content": "Hi", "isEnabled": true, "name": "A" },
            {
                "id": "b", "role": "user", "content": "x",
                "insertionPoint": -1, "order": 5,
                "modelMatch": { "enabled": true, "patterns": ["^g"], "exclude": false },
            },
            { "id": "c", "type": "chat_history" },
        ],
        "greetings": [{ "id": "g", "name": "G", "role": "assistant", "content": "Hi" }],
        "parameters": { "temperature": 1, "maxTokens": 5, "custom": { "enabled": true, "params": { "x": 1 } } },
        "regexConfig": { "presets": [{ "name": "r", "rules": [{ "regex": "a", "replacement": "b", "enabled": true, "depthRange": { "min": 1 } }] }] },
        "virtualTimeConfig": { "virtualBaseTime": "2024-01-01T00:00:00Z", "timeScale": 2 },
    });
    check_export(&agent, &["agent"], to_agent);
    // A strategy without a type gets the one that its fields say.
    let strategy =
        json!({ "type": "depth", "depth": 2, "order": 5, "depthConfig": "3, 10~5", "anchorTarget": "a" });
    check_rows(
        &json!({ "presetMessages": [{ "role": "user", "content": "x", "injectionStrategy": strategy }] }),
    );
}

#[test]
fn other_files_have_any_field_of_any_type() {
    let instruct =
        json!({ "input_sequence": "<u>", "output_sequence": "<a>", "wrap": true, "stop_sequence": "s" });
    let context = json!({ "story_string": "{{#if system}}{{system}}{{/if}}", "chat_start": "*", "story_string_position": 1, "story_string_depth": 1 });
    let prompt = json!({ "name": "n", "content": "c", "post_history": "p" });
    let reasoning = json!({ "name": "n", "prefix": "<t>", "suffix": "</t>", "separator": "s" });
    let samplers = json!({ "temp": 1, "rep_pen": 1.1, "top_k": 4, "max_length": 4096 });
    check_rows(
        &json!({ "instruct": instruct, "context": context, "sysprompt": prompt, "reasoning": reasoning, "preset": samplers }),
    );
    [instruct, context, prompt, reasoning, samplers].iter().for_each(check_rows);
    check_rows(&json!({
        "personas": { "k.png": "Kim" }, "default_persona": "k.png",
        "persona_descriptions": { "k.png": { "description": "Tea.", "position": 4, "depth": 1, "role": 1, "lorebook": "b" } },
    }));
    check_rows(&json!({
        "power_user": { "persona_description": "Tea.", "persona_description_position": 0, "prefer_character_prompt": true },
        "world_info_settings": { "world_info": { "globalSelect": ["a"] }, "world_info_depth": 2, "world_info_budget": 25 },
        "extension_settings": { "regex": [script()] },
    }));
    check_rows(&json!({
        "promptTemplate": [{ "type": "plain", "text": "M", "role": "bot", "type2": "main" }, { "type": "persona", "innerFormat": "{{slot}}" }],
        "temperature": 80, "mainPrompt": "m",
    }));
    check_rows(&json!({
        "type": "risuModule", "name": "m", "lorebook": [{ "key": "a", "content": "c" }],
        "regex": [{ "in": "a", "out": "b", "type": "editoutput", "flag": "g", "ableFlag": true }],
    }));
    check_rows(&json!({ "id": "s", "name": "S", "rootNodeId": "r", "activeLeafId": "u", "nodes": {
        "r": { "id": "r", "childrenIds": ["u"], "role": "system", "content": "" },
        "u": { "id": "u", "parentId": "r", "childrenIds": [], "role": "user", "content": "Hi" },
    } }));
    check_rows(
        &json!({ "user_name": "a", "character_name": "b", "chat_metadata": { "note_prompt": "n", "note_depth": 4 } }),
    );
}
