//! Agents from every form, and old spellings in them. Fixtures of `readers`, `migrate` and `bad_input` show the rest.

use ctx_preset_import::{Imported, codes, read_agent};
use ctx_types::{Agent, Code, Persist, codes as types};
use serde_json::{Value, json};

pub(crate) fn read(input: &Value) -> Imported<Agent> {
    read_agent(input.to_string().as_bytes(), "").unwrap()
}

/// Checks the agent that a document becomes, and its diagnostics.
#[track_caller]
fn check(input: Value, expected: Value, findings: &[(Code, &str)]) {
    let agent = read(&input);
    assert_eq!(agent.value.write(), expected);
    let found = agent.diagnostics.iter().filter(|found| found.code != types::UNUSED_KEY);
    let found: Vec<_> = found.map(|d| (d.code, d.location.pointer.as_deref().unwrap_or("-"))).collect();
    assert_eq!(found, findings, "{:#?}", agent.diagnostics);
}

/// Checks that reading an agent changes nothing.
#[track_caller]
fn keeps(agent: Value, findings: &[(Code, &str)]) {
    check(agent.clone(), agent, findings);
}

/// Checks the migrated form of an agent, and that migration changes nothing the second time.
#[track_caller]
fn migrates(agent: Value, expected: Value, findings: &[(Code, &str)]) {
    check(agent, expected.clone(), findings);
    keeps(expected, &[]);
}

#[test]
fn reads_empty_lists_and_groups() {
    check(json!([]), json!({ "presetMessages": [] }), &[]);
    check(
        json!({ "version": 2, "groups": [7], "messages": [] }),
        json!({ "version": 2, "presetGroups": [7], "presetMessages": [] }),
        &[(types::WRONG_TYPE, "/groups/0")],
    );
}

#[test]
fn names_unread_agents_of_an_export() {
    let agents = json!([{}, { "id": "o" }, { "name": "Oz" }, 3]);
    let agents = read(&json!({ "type": "AIO_Agent_Export", "agents": agents }));
    let message = "only the first of 4 agents is read; `o`, `Oz`, `without a name` not";
    assert_eq!(agents.diagnostics[0].message, message);
}

#[test]
fn refuses_other_files_by_name() {
    let chat = Some("use this file as a conversation, not as an agent");
    let import = Some("convert it to an agent with `ctx import`");
    let line = "{\"user_name\":\"a\",\"character_name\":\"b\"}\n{\"mes\":\"x\"}\n";
    for (input, found, help) in [
        (line, "a SillyTavern chat", chat),
        (r#"{"name": "N", "first_mes": "hi"}"#, "a character card", import),
        (r#"{"entries": {"0": {}}}"#, "an object with the keys `entries`", None),
        (r#"{"name": "N", "entries": []}"#, "a worldbook", None),
        (r#"{"name": "N", "content": "c", "post_history": ""}"#, "a system prompt", import),
        (r#"{"name": "N", "story_string": ""}"#, "a context template", import),
        (r#"{"name": "N", "input_sequence": ""}"#, "an instruct template", import),
        (r#"{"foo": 1, "b\na": 2}"#, "an object with the keys `foo`, `b\\na`", None),
        ("{}", "an empty object", None),
        (r#"[{"a": 1}]"#, "a list of unknown objects", None),
        ("just a text", "a plain text", None),
    ] {
        let error = read_agent(input.as_bytes(), "").unwrap_err();
        assert!(error.to_string().ends_with(&format!(", found {found}")), "{error}");
        assert_eq!(error.help().map(|help| help.to_string()).as_deref(), help);
    }
}

#[test]
fn allows_several_entries_of_other_groups() {
    let entry = |group: &str| json!({ "role": "user", "groupId": group });
    let off_group = json!({ "id": "o", "selectionMode": "radio", "enabled": false });
    keeps(
        json!({
            "presetGroups": [{ "id": "c", "selectionMode": "checkbox" }, off_group],
            "presetMessages": [entry("c"), entry("c"), entry("o"), entry("o")],
        }),
        &[],
    );
}

#[test]
fn warns_about_conversation_read_as_agent() {
    let guesses = |file: Value| {
        let found = read(&file).diagnostics;
        found.iter().filter(|found| found.code == codes::GUESSED_FORMAT).count()
    };
    let said = json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": "Hello" }]);
    assert_eq!(guesses(said.clone()), 1);
    assert_eq!(guesses(json!({ "model": "m", "messages": said })), 1);
    // These are presets.
    assert_eq!(guesses(json!([{ "role": "system", "content": "Be kind." }])), 0);
    assert_eq!(guesses(json!({ "name": "Ada", "messages": said })), 0);
    assert_eq!(guesses(json!([{ "role": "user", "content": "Hi" }, { "type": "chat_history" }])), 0);
}

/// Checks the diagnostics of parameters: pointer and message.
#[track_caller]
fn check_parameters(parameters: Value, expected: &[&str]) {
    let agent = read(&json!({ "presetMessages": [], "parameters": parameters }));
    let show = |found: &ctx_types::Diagnostic| {
        let help = found.help.as_ref().filter(|_| found.code == types::MISSPELT_KEY);
        let help = help.map(|help| format!(", {help}")).unwrap_or_default();
        format!("{} {}{help}", found.location.pointer.as_deref().unwrap(), found.message)
    };
    assert_eq!(agent.diagnostics.iter().map(show).collect::<Vec<_>>(), expected);
}

#[test]
fn reports_parameters_of_wrong_type_and_misspelled_ones() {
    check_parameters(
        json!({ "temperature": "hot", "maxTokens": [1], "stop": 5, "seed": null, "other": "x" }),
        &[
            "/parameters/temperature parameter `temperature` must be a number",
            "/parameters/maxTokens parameter `maxTokens` must be a number",
            "/parameters/stop parameter `stop` must be a string or a list",
        ],
    );
    check_parameters(json!({ "temperature": 0.7, "top_p": 1, "stop": ["a"] }), &[]);
    check_parameters(
        json!({ "temperatur": 0.7, "top_q": 1, "weather": 1 }),
        &["/parameters/temperatur unknown parameter `temperatur`, did you mean `temperature`?"],
    );
    check_parameters(json!({ "temperature": 0.7, "temperatur": 0.7, "presence_penalty": 1 }), &[]);
}

#[test]
fn keeps_fixed_texts_of_other_anchors() {
    keeps(
        json!({ "presetMessages": [
            { "type": "user_profile", "content": " \n" },
            { "type": "chat_history", "content": "User Profile" },
            { "type": "message", "content": "User Profile" },
            { "type": "unknown", "content": "User Profile" },
        ] }),
        &[],
    );
}

#[test]
fn gives_strategies_the_type_of_their_fields() {
    for (strategy, kind) in [
        (json!({ "depth": 0, "depthConfig": "" }), "depth"),
        (json!({ "anchorPosition": "before" }), "anchor"),
        (json!({}), "default"),
    ] {
        let mut expected = strategy.clone();
        expected["type"] = json!(kind);
        migrates(
            json!({ "presetMessages": [{ "content": "x", "injectionStrategy": strategy }] }),
            json!({ "presetMessages": [{ "content": "x", "injectionStrategy": expected }] }),
            &[(codes::MIGRATED_STRATEGY, "/presetMessages/0/injectionStrategy")],
        );
    }
    keeps(json!({ "presetMessages": [{ "content": "x", "injectionStrategy": null }] }), &[]);
}

#[test]
fn migrates_only_custom_parameters_of_old_form() {
    let custom = |custom: Value| json!({ "name": "x", "parameters": { "temperature": 1, "custom": custom } });
    let found = [(codes::MIGRATED_PARAMETERS, "/parameters/custom")];
    migrates(custom(json!({})), custom(json!({ "enabled": false, "params": {} })), &found);
    for present in [json!({ "enabled": true }), json!(null), json!("x")] {
        keeps(custom(present), &[]);
    }
}

#[test]
fn moves_formatter_rules_to_processors() {
    let parameters = |parameters: Value| json!({ "parameters": parameters });
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
        &[(codes::MIGRATED_RULES, "/parameters/contextPostProcessing/rules")],
    );
    let rule = json!({ "type": "post:a", "enabled": true });
    let set = json!({ "id": "a", "enabled": false });
    for present in [
        json!({ "contextPostProcessing": { "rules": [rule] }, "processors": [set] }),
        json!({ "contextPostProcessing": { "rules": [rule] }, "processors": "x" }),
        json!({ "contextPostProcessing": { "rules": {} } }),
        json!({ "contextPostProcessing": 5 }),
    ] {
        keeps(parameters(present), &[]);
    }
}

#[test]
fn keeps_anchors_and_entries_with_names_of_greetings() {
    keeps(json!({ "presetMessages": [{ "name": "First Message", "type": "chat_history" }] }), &[]);
    let entry = json!({ "name": "First Message", "content": "Hi" });
    keeps(json!({ "presetMessages": [entry], "greetings": "Yo" }), &[(types::WRONG_TYPE, "/greetings")]);
}

#[test]
fn points_migrations_into_the_document() {
    let found = |input: Value| read(&input).diagnostics[0].location.pointer.clone().unwrap();
    let entry = json!({ "type": "user_profile", "content": "User Profile" });
    assert_eq!(found(json!([entry])), "/0/content");
    assert_eq!(found(json!({ "messages": [entry] })), "/messages/0/content");
    let export = json!({ "type": "AIO_Agent_Export", "agents": [{ "presetMessages": [entry] }] });
    assert_eq!(found(export), "/agents/0/presetMessages/0/content");
}
