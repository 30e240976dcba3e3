use ctx_types::internal::{check_agent_keys, check_profile_keys, check_worldbook_keys};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Diagnostic, Edit, Persist, Reader, UserProfile};
use serde_json::{Map, Value, json};

/// Expects pointers and suggested keys, or messages without a suggestion.
#[track_caller]
fn check(found: &[Diagnostic], expected: &[(&str, &str)]) {
    let told = found.iter().map(|finding| {
        let pointer = finding.location.pointer.as_deref().unwrap();
        let told = finding.help.as_ref().unwrap_or(&finding.message);
        let Some(fix) = &finding.fix else { return (pointer, told.to_string()) };
        let key = match &fix.edit {
            Edit::Key(key) => key,
            edit => unreachable!("{edit:?}"),
        };
        assert_eq!(finding.help.as_ref().unwrap(), &format!("did you mean `{key}`?"));
        (pointer, key.clone())
    });
    let expected: Vec<_> = expected.iter().map(|(pointer, text)| (*pointer, (*text).to_owned())).collect();
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

fn in_agent(file: Value) -> Vec<Diagnostic> {
    check_agent_keys(&Agent::read(file, &mut Reader::new()))
}

fn in_profile(file: Value) -> Vec<Diagnostic> {
    check_profile_keys(&UserProfile::read(file, &mut Reader::new()))
}

fn in_entry(entry: &Value) -> Vec<Diagnostic> {
    check_worldbook_keys(&Worldbook::read(json!({ "entries": { "a/b": entry } }), &mut Reader::new()))
}

#[test]
fn suggests_missing_key_with_similar_name() {
    let file = json!({
        "paramters": {}, "regexconfig": {}, "preset_groups": [],
        "presetMessages": [
            { "rol": "system", "contnt": "x", "content": "y", "anchorTaget": "chat_history", "isEnable": false },
            { "injectionStrategy": { "dept": 1 }, "modelMatch": { "patern": [] }, "Role": "user" },
        ],
    });
    check(
        &in_agent(file),
        &[
            ("/paramters", "parameters"),
            ("/regexconfig", "regexConfig"),
            ("/preset_groups", "presetGroups"),
            ("/presetMessages/0/rol", "role"),
            ("/presetMessages/0/contnt", "remove one of the two: `content` is set too"),
            ("/presetMessages/0/anchorTaget", "anchorTarget"),
            ("/presetMessages/0/isEnable", "isEnabled"),
            ("/presetMessages/1/Role", "role"),
            ("/presetMessages/1/injectionStrategy/dept", "depth"),
        ],
    );
}

#[test]
fn reports_misspelled_key_without_fix_if_both_exist() {
    let file = json!({ "presetMessages": [
        { "isEnable": false, "isEnabled": true },
        // Applications write singular and plural keys, and both names of a switch.
        { "role": "user", "roles": [], "id": "a", "ids": [], "enabled": true, "isEnabled": true },
    ]});
    check(
        &in_agent(file),
        &[
            ("/presetMessages/0/isEnable", "remove one of the two: `isEnabled` is set too"),
            ("/presetMessages/1/ids", "key `ids` has no effect; it is kept"),
        ],
    );
}

#[test]
fn suggests_enabled_key_of_each_object() {
    let file = json!({
        "presetMessages": [{ "enabled": false }, { "enabled": false, "isEnabled": true }, { "enabled": null }],
        "presetGroups": [{ "isEnabled": false }],
        "regexConfig": { "presets": [{ "isEnabled": false, "rules": [{ "isEnabled": false, "regx": "a" }] }] },
    });
    check(
        &in_agent(file),
        &[
            ("/presetMessages/0/enabled", "isEnabled"),
            ("/presetGroups/0/isEnabled", "enabled"),
            ("/regexConfig/presets/0/isEnabled", "enabled"),
            ("/regexConfig/presets/0/rules/0/isEnabled", "enabled"),
            ("/regexConfig/presets/0/rules/0/regx", "regex"),
        ],
    );
}

#[test]
fn suggests_key_for_synonym() {
    let file = json!({ "presetMessages": [
        { "role": "system", "text": "x", "depth": 4, "enable": false },
        { "content": "x", "text": "x", "injectionStrategy": {}, "depth": 4, "isEnabled": true, "enable": true },
    ]});
    check(
        &in_agent(file),
        &[
            ("/presetMessages/0/text", "content"),
            ("/presetMessages/0/depth", "move the value to `injectionStrategy.depth`"),
            ("/presetMessages/0/enable", "isEnabled"),
        ],
    );
}

#[test]
fn points_to_key_with_and_without_fix() {
    let file = json!({ "presetMessages": [{ "rol": "user" }, { "rol": "user", "role": "user" }] });
    assert!(in_agent(file).iter().all(|found| found.location.is_key));
}

#[test]
fn reports_misspelled_key_in_user_profile() {
    check(&in_profile(json!({ "name": "Robin", "contnt": "" })), &[("/contnt", "content")]);
    check(&in_profile(json!({ "name": "Robin", "content": "", "tags": [] })), &[]);
}

#[test]
fn skips_entries_in_character_card_format() {
    check(
        &in_entry(&json!({ "keys": ["a"], "contnt": "" })),
        &[("/entries/a~1b/keys", "key"), ("/entries/a~1b/contnt", "content")],
    );
    check(&in_entry(&json!({ "keys": ["a"], "secondary_keys": [], "case_sensitive": true })), &[]);
}

#[test]
fn ignores_objects_below_unknown_keys() {
    let wrong = json!({ "presetMesages": [], "rol": "x" });
    let file = json!({ "imported": wrong, "extensions": wrong, "presetMessages": [{ "metadata": wrong }] });
    check(&in_agent(file), &[]);
}

fn object(names: &str) -> Value {
    Value::Object(names.split_whitespace().map(|name| (name.to_owned(), json!(1))).collect::<Map<_, _>>())
}

#[test]
fn accepts_keys_of_other_applications() {
    let mut agent = object(
        "version icon defaultGreetingId displayPresetCount llmThinkRules richTextStyleOptions
        richTextStyleBehavior defaultToolCallCollapsed tags category interactionConfig assetGroups
        quickActionSetIds knowledgeBaseConfig knowledgeSettings toolCallConfig extensionConfig visualGuideline
        avatarHistory profileId userProfileId createdAt lastUsedAt updatedAt metadata messages groups
        persona context type imported extensions code",
    );
    agent["presetMessages"] = json!([object(
        "parentId childrenIds lastSelectedChildId status timestamp createdAt updatedAt metadata children
        identifier system_prompt marker injection_position injection_depth injection_order forbid_overrides
        injection_trigger comment title note tags position date tool_calls tool_call_id context rule
        sourceType sourceIndex reasoningContent translation runId partType model"
    )]);
    agent["presetGroups"] = json!([object("order icon collapsed color isExpanded sortOrder version")]);
    agent["greetings"] = json!([object("attachments metadata isDefault order createdAt")]);
    agent["regexConfig"] = json!({
        "version": 1,
        "presets": [{
            "description": "", "author": "", "version": "", "createdAt": "", "updatedAt": "",
            "rules": [object(
                "scriptContent applyInStreaming testInput findRegex replaceString scriptName disabled markdownOnly
                promptOnly placement minDepth maxDepth substituteRegex description"
            )],
        }],
    });
    check(&in_agent(agent), &[]);
    check(
        &in_profile(object(
            "name icon createdAt updatedAt lastUsedAt richTextStyleOptions richTextStyleBehavior
            quickActionSetIds description avatar context position depth role",
        )),
        &[],
    );
    check(
        &in_entry(&object(
            "key id world hash decorators addMemo displayIndex automationId extensions enabled name tags
            insertionOrder priority keywords secondaryKeys coldown title weight category folder",
        )),
        &[],
    );
}
