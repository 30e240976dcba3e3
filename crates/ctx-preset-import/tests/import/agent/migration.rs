//! Old spellings, brought up to date.

use ctx_preset_import::{Format, codes};
use ctx_types::Code;
use serde_json::{Value, json};

use super::{WRONG_TYPE, check, keeps, read};

/// Checks what migration makes of an agent, and that it changes nothing the second time.
#[track_caller]
fn migrates(agent: Value, expected: Value, findings: &[(Code, &str)]) {
    check(&agent, Format::Agent, expected.clone(), findings);
    check(&expected, Format::Agent, expected.clone(), &[]);
}

#[test]
fn legacy_texts_become_the_default_template() {
    let template = "### {{user}}的档案\n\n{{persona}}";
    for legacy in ["用户档案", " user_profile\n", "User Profile"] {
        migrates(
            json!({ "presetMessages": [{ "type": "user_profile", "content": legacy, "z": 1 }] }),
            json!({ "presetMessages": [{ "type": "user_profile", "content": template, "z": 1 }] }),
            &[(codes::MIGRATED_TEMPLATE, "/presetMessages/0/content")],
        );
    }
}

#[test]
fn other_texts_and_other_anchors_stay() {
    keeps(
        json!({ "presetMessages": [
            { "type": "user_profile", "content": "" },
            { "type": "user_profile", "content": " \n" },
            { "type": "user_profile", "content": null },
            { "type": "user_profile" },
            { "type": "user_profile", "content": "User Profile: {{persona}}" },
            { "type": "chat_history", "content": "User Profile" },
            { "type": "message", "content": "User Profile" },
            { "content": "User Profile" },
            { "type": "unknown", "content": "User Profile" },
        ] }),
        &[],
    );
}

#[test]
fn a_strategy_gets_the_type_that_its_fields_say() {
    let given = [
        (json!({ "depth": 3 }), "depth"),
        (json!({ "depth": 3, "depthConfig": "1, 4~2" }), "advanced_depth"),
        (json!({ "depth": 0, "depthConfig": "" }), "depth"),
        (json!({ "anchorTarget": "user_profile", "order": 5 }), "anchor"),
        (json!({ "anchorPosition": "before" }), "anchor"),
        (json!({ "order": 5 }), "default"),
        (json!({}), "default"),
    ];
    for (strategy, kind) in given {
        let mut expected = strategy.clone();
        expected["type"] = json!(kind);
        migrates(
            json!({ "presetMessages": [{ "content": "x", "injectionStrategy": strategy }] }),
            json!({ "presetMessages": [{ "content": "x", "injectionStrategy": expected }] }),
            &[(codes::MIGRATED_STRATEGY, "/presetMessages/0/injectionStrategy")],
        );
    }
}

#[test]
fn flat_fields_keep_their_say_over_a_strategy_without_a_type() {
    keeps(
        json!({ "presetMessages": [
            { "content": "x", "insertionPoint": -2, "injectionStrategy": { "order": 5 } },
            { "content": "x", "injectionStrategy": { "depth": 1, "type": "depth" } },
            { "content": "x", "injectionStrategy": null },
        ] }),
        &[],
    );
    keeps(
        json!({ "presetMessages": [{ "content": "x", "injectionStrategy": { "depth": 1, "type": 5 } }] }),
        &[(WRONG_TYPE, "/presetMessages/0/injectionStrategy/type")],
    );
}

#[test]
fn custom_parameters_get_their_present_form() {
    let custom = |custom: Value| json!({ "name": "x", "parameters": { "temperature": 1, "custom": custom } });
    let found = [(codes::MIGRATED_PARAMETERS, "/parameters/custom")];
    migrates(custom(json!({ "a": 1 })), custom(json!({ "enabled": true, "params": { "a": 1 } })), &found);
    migrates(custom(json!({})), custom(json!({ "enabled": false, "params": {} })), &found);
    keeps(custom(json!({ "enabled": true })), &[]);
    keeps(custom(json!({ "params": { "a": 1 } })), &[]);
    keeps(custom(json!(null)), &[]);
    keeps(custom(json!("x")), &[]);
}

#[test]
fn formatter_rules_become_settings_of_processors() {
    let parameters = |parameters: Value| json!({ "parameters": parameters });
    let found = [(codes::MIGRATED_RULES, "/parameters/contextPostProcessing/rules")];
    migrates(
        parameters(json!({ "contextPostProcessing": { "x": 1, "rules": [
            { "type": "post:merge-system-to-head", "enabled": false },
            { "enabled": true, "type": "merge-consecutive-roles", "separator": "\n" },
            "convert-system-to-user", { "enabled": true }, 5,
        ] } })),
        parameters(json!({
            "contextPostProcessing": { "x": 1, "rules": [{ "enabled": true }, 5] },
            "processors": [
                { "id": "post:merge-system-to-head", "enabled": false },
                { "id": "merge-consecutive-roles", "enabled": true, "config": { "separator": "\n" } },
                { "id": "convert-system-to-user", "enabled": true },
            ],
        })),
        &found,
    );
    let rule = json!({ "type": "post:a", "enabled": true });
    let set = json!({ "id": "a", "enabled": false });
    keeps(parameters(json!({ "contextPostProcessing": { "rules": [rule] }, "processors": [set] })), &[]);
    keeps(parameters(json!({ "contextPostProcessing": { "rules": [rule] }, "processors": "x" })), &[]);
    keeps(parameters(json!({ "contextPostProcessing": { "rules": {} } })), &[]);
    keeps(parameters(json!({ "contextPostProcessing": 5 })), &[]);
}

#[test]
fn old_greetings_move_out_of_the_preset() {
    migrates(
        json!({
            "displayPresetCount": 2,
            "presetMessages": [
                { "role": "system", "content": "A" },
                { "id": "g1", "name": "First Message", "role": "assistant", "content": "Hi", "x": 1 },
                { "role": "user", "content": "Yo", "metadata": { "stPromptName": "Alternate Greeting 2" } },
                { "name": "First Message", "type": "chat_history" },
                { "name": "Alternate Greeting", "role": "system", "content": "Oi" },
            ],
        }),
        json!({
            "displayPresetCount": 0,
            "presetMessages": [
                { "role": "system", "content": "A" },
                { "name": "First Message", "type": "chat_history" },
            ],
            "greetings": [
                { "id": "g1", "name": "First Message", "role": "assistant", "content": "Hi", "x": 1 },
                { "role": "user", "content": "Yo", "metadata": { "stPromptName": "Alternate Greeting 2" } },
                { "name": "Alternate Greeting", "role": "assistant", "content": "Oi" },
            ],
        }),
        &[(codes::MIGRATED_GREETINGS, "/presetMessages/1")],
    );
}

#[test]
fn an_agent_with_greetings_keeps_its_preset() {
    let entry = json!({ "name": "First Message", "content": "Hi" });
    keeps(json!({ "presetMessages": [entry], "greetings": [{ "content": "Yo" }] }), &[]);
    keeps(json!({ "presetMessages": [entry], "greetings": "Yo" }), &[(WRONG_TYPE, "/greetings")]);
}

#[test]
fn findings_of_migration_point_into_the_document() {
    let found = |input: Value| read(&input.to_string()).diagnostics[0].location.pointer.clone().unwrap();
    let entry = json!({ "type": "user_profile", "content": "User Profile" });
    assert_eq!(found(json!([entry])), "/0/content");
    assert_eq!(found(json!({ "messages": [entry] })), "/messages/0/content");
    let export = json!({ "type": "AIO_Agent_Export", "agents": [{ "presetMessages": [entry] }] });
    assert_eq!(found(export), "/agents/0/presetMessages/0/content");
}
