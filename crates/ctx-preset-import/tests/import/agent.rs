//! Agents from every form, losslessly, and brought up to date.

mod any;
mod migration;

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{Format, ImportError, Imported, Limits, codes, read_agent};
use ctx_types::{Agent, Code, Persist};
use serde_json::{Value, json};

fn read(input: &str) -> Imported<Agent> {
    read_agent(input.as_bytes(), "", &Limits::default(), &AnchorRegistry::system()).unwrap()
}

/// Checks the form that a document is told to have, the agent that it becomes, and the findings.
#[track_caller]
fn check(input: impl ToString, format: Format, expected: Value, findings: &[(Code, &str)]) {
    let agent = read(&input.to_string());
    assert_eq!(agent.format, format);
    assert_eq!(agent.value.write(), expected);
    let found = agent.diagnostics.iter().filter(|found| found.code != ctx_types::codes::UNUSED_KEY);
    let found: Vec<_> = found.map(|d| (d.code, d.location.pointer.as_deref().unwrap_or("-"))).collect();
    assert_eq!(found, findings, "{:#?}", agent.diagnostics);
}

/// Checks that an agent in the unified form comes back as it was.
#[track_caller]
fn keeps(agent: Value, findings: &[(Code, &str)]) {
    check(&agent, Format::Agent, agent.clone(), findings);
}

#[track_caller]
fn refuse(input: impl ToString, found: &str, help: Option<&str>) {
    let input = input.to_string();
    let error = read_agent(input.as_bytes(), "", &Limits::default(), &AnchorRegistry::system()).unwrap_err();
    let expected = "expected an agent (an object with `presetMessages` or `messages`, a list of messages, \
                    or an `AIO_Agent_Export`), found ";
    assert_eq!(
        (error.to_string(), error.help().map(|help| help.to_string()).as_deref()),
        (format!("{expected}{found}"), help)
    );
}

const WRONG_TYPE: Code = ctx_types::codes::WRONG_TYPE;

#[test]
fn the_unified_form_comes_back_as_it_was() {
    keeps(
        json!({
            "version": 2, "x": { "y": [null, 1.5] }, "name": "Nyx", "presetMessages": [
                { "id": "a", "role": "system", "content": "Speak in riddles.", "extra": [1] },
                { "type": "chat_history", "content": "", "metadata": null },
            ],
            "parameters": { "temperature": 0.7 }, "greetings": null, "tags": ["owl"],
        }),
        &[],
    );
}

#[test]
fn wrong_types_are_kept_and_reported() {
    keeps(
        json!({
            "name": 5, "id": [], "displayName": {}, "description": false, "character": "x",
            "presetMessages": [null, "text", 7, [], {
                "id": 1, "role": "narrator", "content": 3, "type": [], "isEnabled": "yes", "groupId": {},
                "injectionStrategy": [], "insertionPoint": "1", "anchorPoint": 0, "anchorTarget": false,
                "order": "first", "modelMatch": 1, "presetAttachments": {}, "attachments": [5],
            }],
            "presetGroups": {}, "greetings": "hi", "worldbookIds": [1, "b"], "modelId": 1,
        }),
        &[
            (WRONG_TYPE, "/id"),
            (WRONG_TYPE, "/name"),
            (WRONG_TYPE, "/displayName"),
            (WRONG_TYPE, "/description"),
            (WRONG_TYPE, "/character"),
            (WRONG_TYPE, "/presetMessages/0"),
            (WRONG_TYPE, "/presetMessages/1"),
            (WRONG_TYPE, "/presetMessages/2"),
            (WRONG_TYPE, "/presetMessages/3"),
            (WRONG_TYPE, "/presetMessages/4/id"),
            (WRONG_TYPE, "/presetMessages/4/role"),
            (WRONG_TYPE, "/presetMessages/4/content"),
            (WRONG_TYPE, "/presetMessages/4/type"),
            (WRONG_TYPE, "/presetMessages/4/isEnabled"),
            (WRONG_TYPE, "/presetMessages/4/groupId"),
            (WRONG_TYPE, "/presetMessages/4/injectionStrategy"),
            (WRONG_TYPE, "/presetMessages/4/insertionPoint"),
            (WRONG_TYPE, "/presetMessages/4/anchorPoint"),
            (WRONG_TYPE, "/presetMessages/4/anchorTarget"),
            (WRONG_TYPE, "/presetMessages/4/order"),
            (WRONG_TYPE, "/presetMessages/4/modelMatch"),
            (WRONG_TYPE, "/presetMessages/4/presetAttachments"),
            (WRONG_TYPE, "/presetMessages/4/attachments/0"),
            (WRONG_TYPE, "/presetGroups"),
            (WRONG_TYPE, "/greetings"),
            (WRONG_TYPE, "/worldbookIds/0"),
            (WRONG_TYPE, "/modelId"),
        ],
    );
}

#[test]
fn a_bare_list_is_a_preset() {
    let list = json!([{ "role": "system", "content": "A" }, { "type": "chat_history" }, { "role": 5 }]);
    let expected = json!({ "presetMessages": list });
    check(&list, Format::PresetList, expected, &[(WRONG_TYPE, "/2/role")]);
    check("[]", Format::PresetList, json!({ "presetMessages": [] }), &[]);
}

#[test]
fn messages_are_preset_entries() {
    check(
        "messages:\n  - role: system\n    content: |\n      Hi {{user}}\n    type: user_profile\n  - 5\nz: 1\n",
        Format::PresetFile,
        json!({
            "presetMessages": [{ "role": "system", "content": "Hi {{user}}\n", "type": "user_profile" }, 5],
            "z": 1,
        }),
        &[(WRONG_TYPE, "/messages/1")],
    );
}

#[test]
fn groups_of_a_preset_file_are_preset_groups() {
    check(
        json!({
            "version": 2,
            "groups": [{ "id": "g", "enabled": false, "c": 1 }, 7],
            "messages": [{ "role": "user", "content": "x", "groupId": "g" }],
        }),
        Format::PresetFile,
        json!({
            "version": 2,
            "presetGroups": [{ "id": "g", "enabled": false, "c": 1 }, 7],
            "presetMessages": [{ "role": "user", "content": "x", "groupId": "g" }],
        }),
        &[(WRONG_TYPE, "/groups/1")],
    );
}

#[test]
fn the_first_agent_of_an_export_is_read_and_the_rest_kept() {
    let agent = json!({ "name": "Nyx", "presetMessages": [7], "imported": "mine" });
    check(
        json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [agent, { "name": "Oz" }, 3], "at": "now" }),
        Format::AgentExport,
        json!({
            "name": "Nyx", "presetMessages": [7],
            "imported": { "envelope": { "agents": [{ "name": "Oz" }, 3], "at": "now" }, "imported": "mine" },
        }),
        &[(codes::SEVERAL_AGENTS, "/agents/1"), (WRONG_TYPE, "/agents/0/presetMessages/0")],
    );
    let agents = read(
        &json!({ "type": "AIO_Agent_Export", "agents": [{}, { "id": "o" }, { "name": "Oz" }, 3] })
            .to_string(),
    );
    let message = "only the first of 4 agents is read; `o`, `Oz`, `without a name` not";
    assert_eq!(agents.diagnostics[0].message, message);
}

#[test]
fn what_is_no_agent_is_refused_by_name() {
    let chat = Some("use this file as a conversation, not as an agent");
    refuse(json!({ "nodes": {}, "rootNodeId": "r" }), "a session", chat);
    refuse(
        json!([{ "role": "user", "content": "x", "createdAt": "t", "runId": "r" }]),
        "a list of stored messages",
        chat,
    );
    refuse("{\"user_name\":\"a\",\"character_name\":\"b\"}\n{\"mes\":\"x\"}\n", "a SillyTavern chat", chat);
    let profile = Some("use this file as a user profile, not as an agent");
    refuse(json!({ "name": "Kim", "content": "tea" }), "a user profile", profile);
    let import = Some("convert it to an agent with `ctx import`");
    refuse(json!({ "spec": "chara_card_v2", "data": {} }), "a character card", import);
    refuse(json!({ "name": "N", "first_mes": "hi" }), "a character card", import);
    refuse(json!({ "entries": { "0": {} } }), "an object with the keys `entries`", None);
    refuse(json!({ "name": "N", "entries": [] }), "a worldbook", None);
    refuse(json!({ "name": "N", "content": "c", "post_history": "" }), "a system prompt", import);
    refuse(json!({ "name": "N", "story_string": "" }), "a context template", import);
    refuse(json!({ "name": "N", "input_sequence": "" }), "an instruct template", import);
    refuse(json!({ "foo": 1, "b\na": 2 }), "an object with the keys `foo`, `b\\na`", None);
    refuse(json!({ "agents": [] }), "an export without an agent", None);
    refuse("{}", "an empty object", None);
    refuse("[1, 2]", "a list without messages", None);
    refuse("[{\"a\": 1}]", "a list of unknown objects", None);
    refuse("just a text", "a plain text", None);
    refuse("# a comment", "null", None);
    refuse("5", "a single value", None);
}

#[test]
fn unreadable_documents_are_errors() {
    let read =
        |bytes: &[u8]| read_agent(bytes, "", &Limits::default(), &AnchorRegistry::system()).unwrap_err();
    assert_eq!(read(b""), ImportError::Empty);
    assert_eq!(read(b"a\0"), ImportError::NotText { offset: 1 });
    assert!(matches!(read("[".repeat(200_000).as_bytes()), ImportError::TooDeep { .. }));
}

#[test]
fn findings_name_the_document() {
    let agent =
        read_agent(b"[{\"role\": 5}]", "a.json", &Limits::default(), &AnchorRegistry::system()).unwrap();
    assert_eq!(agent.diagnostics[0].location.document.as_deref(), Some("a.json"));
}

#[test]
fn alternatives_that_are_on_together_are_reported() {
    let entry = |group: &str| json!({ "role": "user", "groupId": group });
    let off_group = json!({ "id": "o", "selectionMode": "radio", "enabled": false });
    let mut off = entry("r");
    off["isEnabled"] = json!(false);
    keeps(
        json!({
            "presetGroups": [{ "id": "r", "selectionMode": "radio" }, { "id": "c", "selectionMode": "checkbox" }, off_group],
            "presetMessages": [entry("c"), entry("c"), entry("r"), off, entry("r"), entry("o"), entry("o")],
        }),
        &[(codes::SEVERAL_ALTERNATIVES, "/presetMessages/4")],
    );
}

#[test]
fn real_presets_are_read_without_errors() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/import/aio_hub_preset");
    let Ok(files) = std::fs::read_dir(corpus) else { return };
    for file in files {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let agent = read_agent(&bytes, "", &Limits::default(), &AnchorRegistry::system()).unwrap();
        assert_eq!(agent.format, Format::Agent, "{}", path.display());
        let odd = agent.diagnostics.iter().filter(|found| found.severity != ctx_types::Severity::Info);
        assert_eq!(odd.count(), 0, "{}: {:#?}", path.display(), agent.diagnostics);
        assert!(!agent.value.preset_messages.is_empty(), "{}", path.display());
    }
}

#[test]
fn warns_about_conversation_read_as_agent() {
    let guesses = |file: Value| {
        let found = read(&file.to_string()).diagnostics;
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

#[test]
fn warns_about_parameters_of_wrong_type() {
    let found = |parameters: Value| {
        let agent = read(&json!({ "presetMessages": [], "parameters": parameters }).to_string());
        let found = agent.diagnostics.iter();
        found
            .map(|found| (found.location.pointer.clone().unwrap(), found.message.to_string()))
            .collect::<Vec<_>>()
    };
    let wrong = json!({ "temperature": "hot", "maxTokens": [1], "stop": 5, "seed": null, "other": "x" });
    let told = |name: &str, expected: &str| {
        (format!("/parameters/{name}"), format!("parameter `{name}` must be {expected}"))
    };
    assert_eq!(
        found(wrong),
        [told("temperature", "a number"), told("maxTokens", "a number"), told("stop", "a string or a list")]
    );
    assert_eq!(found(json!({ "temperature": 0.7, "top_p": 1, "stop": ["a"] })), []);
}

#[test]
fn reports_misspelled_parameters() {
    let found = |parameters: Value| {
        let agent = read(&json!({ "presetMessages": [], "parameters": parameters }).to_string());
        let found = agent.diagnostics.iter().filter(|found| found.code == ctx_types::codes::MISSPELT_KEY);
        found.map(|found| format!("{}, {}", found.message, found.help.as_ref().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(
        found(json!({ "temperatur": 0.7, "top_q": 1, "weather": 1 })),
        ["unknown parameter `temperatur`, did you mean `temperature`?"]
    );
    assert_eq!(found(json!({ "temperature": 0.7, "temperatur": 0.7, "presence_penalty": 1 })), [""; 0]);
}
