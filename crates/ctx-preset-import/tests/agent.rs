//! Agents from every form, losslessly, and brought up to date.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests read better so")]

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{Format, ImportError, Imported, Limits, codes, migrate, read_agent};
use ctx_types::{Agent, Code, Persist, Placement, Reader};
use proptest::prelude::*;
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
    let found: Vec<_> =
        agent.diagnostics.iter().map(|d| (d.code, d.location.pointer.as_deref().unwrap_or("-"))).collect();
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
    assert_eq!((error.to_string(), error.help()), (format!("{expected}{found}"), help));
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
            "imported": {
                "version": 1, "type": "AIO_Agent_Export", "agents": [{ "name": "Oz" }, 3], "at": "now",
                "imported": "mine",
            },
        }),
        &[(codes::SEVERAL_AGENTS, "/agents/1"), (WRONG_TYPE, "/agents/0/presetMessages/0")],
    );
    let agents =
        read(&json!({ "type": "x", "agents": [{}, { "id": "o" }, { "name": "Oz" }, 3] }).to_string());
    let message = "the first of 4 agents is read; not read: `o`, `Oz`, `without a name`";
    assert_eq!(agents.diagnostics[0].message, message);
}

#[test]
fn what_is_no_agent_is_refused_by_name() {
    let chat = Some("this is a conversation: give it where a session is expected");
    refuse(json!({ "nodes": {}, "rootNodeId": "r" }), "a session", chat);
    refuse(
        json!([{ "role": "user", "content": "x", "createdAt": "t", "runId": "r" }]),
        "a list of stored messages",
        chat,
    );
    refuse("{\"user_name\":\"a\",\"character_name\":\"b\"}\n{\"mes\":\"x\"}\n", "a SillyTavern chat", chat);
    let profile = Some("this looks like a user profile: give it where a profile is expected");
    refuse(json!({ "name": "Kim", "content": "tea" }), "a user profile", profile);
    refuse(json!({ "spec": "chara_card_v2", "data": {} }), "a character card", None);
    refuse(json!({ "entries": { "0": {} } }), "a worldbook", None);
    refuse(json!({ "foo": 1, "b\na": 2 }), "an object with the keys `foo`, `b\\na`", None);
    refuse(json!({ "agents": [] }), "an export without an agent", None);
    refuse("{}", "an empty object", None);
    refuse("[1, 2]", "a list without messages", None);
    refuse("[{\"a\": 1}]", "a list of unknown objects", None);
    refuse("just a text", "a plain text", None);
    refuse("# a comment", "nothing", None);
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
    let mut off = entry("r");
    off["isEnabled"] = json!(false);
    keeps(
        json!({
            "presetGroups": [{ "id": "r", "selectionMode": "radio" }, { "id": "c", "selectionMode": "checkbox" }],
            "presetMessages": [entry("c"), entry("c"), entry("r"), off, entry("r")],
        }),
        &[(codes::SEVERAL_ALTERNATIVES, "/presetMessages/4")],
    );
}

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

/// Any JSON value, with the keys and texts of agents among others.
fn any_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "presetMessages",
        "messages",
        "groups",
        "agents",
        "type",
        "content",
        "role",
        "injectionStrategy",
        "depth",
        "depthConfig",
        "anchorTarget",
        "insertionPoint",
        "order",
        "greetings",
        "parameters",
        "custom",
        "name",
        "metadata",
        "stPromptName",
        "presetGroups",
        "imported",
        "x",
        "",
    ]);
    let text = prop::sample::select(vec![
        "user_profile",
        "User Profile",
        "First Message",
        "chat_history",
        "depth",
        "anchor",
        "system",
        "3, 10~5",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..9).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..7)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// An agent with many of the things that migration looks at.
fn any_agent() -> impl Strategy<Value = Value> {
    let rules = prop::collection::vec(any_value(), 0..4);
    (prop::collection::vec(any_value(), 0..6), any_value(), any_value(), rules).prop_map(
        |(entries, custom, greetings, rules)| {
            let parameters = json!({ "custom": custom, "contextPostProcessing": { "rules": rules } });
            json!({ "presetMessages": entries, "parameters": parameters, "greetings": greetings })
        },
    )
}

/// Checks that every scalar of a document is in the agent, but for those that migration replaces.
#[track_caller]
fn assert_all_kept(input: &Value, output: &Value) {
    let mut kept = Vec::new();
    scalars(output, &mut kept);
    let mut given = Vec::new();
    scalars(input, &mut given);
    let replaced = ["User Profile", "user_profile", "system"].map(Value::from);
    for scalar in given.into_iter().filter(|scalar| !replaced.contains(scalar)) {
        assert!(kept.contains(&scalar), "{scalar} of {input:#} is not in {output:#}");
    }
}

fn scalars<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::Object(map) => map.values().for_each(|item| scalars(item, found)),
        Value::Null => {}
        scalar => found.push(scalar),
    }
}

proptest! {
    #[test]
    fn any_value_is_read_losslessly_or_refused(value in any_value()) {
        let read = read_agent(value.to_string().as_bytes(), "", &Limits::default(), &AnchorRegistry::system());
        if let Ok(agent) = read {
            assert_all_kept(&value, &agent.value.write());
        }
    }

    #[test]
    fn any_agent_is_read_losslessly(agent in any_agent()) {
        assert_all_kept(&agent, &read(&agent.to_string()).value.write());
    }

    #[test]
    fn migration_is_idempotent_and_moves_no_entry(value in any_agent()) {
        let anchors = AnchorRegistry::system();
        let mut agent = Agent::read(value, &mut Reader::new());
        let placements = |agent: &Agent| {
            let kept = agent.preset_messages.iter();
            kept.map(|entry| Placement::of(entry).0).collect::<Vec<_>>()
        };
        let before = placements(&agent);
        migrate(&mut agent, &anchors);
        if agent.preset_messages.len() == before.len() {
            prop_assert_eq!(placements(&agent), before);
        }
        let once = agent.clone();
        prop_assert!(migrate(&mut agent, &anchors).is_empty());
        prop_assert_eq!(&agent, &once);
        // What was migrated is also what is stored.
        let stored = Agent::read(once.write(), &mut Reader::new());
        prop_assert_eq!(stored.write(), once.write());
    }
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
