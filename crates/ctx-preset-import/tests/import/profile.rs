//! User profiles: objects, and plain texts.

use ctx_preset_import::{Format, ImportError, Limits, codes, detect, read_profile};
use ctx_types::Persist;
use serde_json::{Value, json};

/// Checks the form and the content of a profile, and the codes of its findings.
#[track_caller]
fn check(name: &str, input: &str, format: Format, expected: &Value, findings: &[ctx_types::Code]) {
    let profile = read_profile(input.as_bytes(), name, &Limits::default()).unwrap();
    assert_eq!((profile.format, &profile.value.write()), (format, expected));
    let found: Vec<_> = profile.diagnostics.iter().map(|finding| finding.code).collect();
    assert_eq!(found, findings, "{:#?}", profile.diagnostics);
}

#[track_caller]
fn check_text(name: &str, input: &str, findings: &[ctx_types::Code]) {
    check(name, input, Format::PlainText, &json!({ "content": input }), findings);
}

#[test]
fn objects_come_back_as_they_were() {
    let file =
        json!({ "id": "p", "name": "Kim", "content": "Likes {{char}}.", "enabled": true, "x": [null] });
    // Other files have a text under `content` too; one that has nothing else than a profile has is none of them.
    let guessed = ctx_preset_import::codes::GUESSED_FORMAT;
    check("p.json", &file.to_string(), Format::Profile, &file, &[guessed]);
    check(
        "p.yaml",
        "name: Kim\ncontent: |\n  tea\nx: 1\n",
        Format::Profile,
        &json!({ "name": "Kim", "content": "tea\n", "x": 1 }),
        &[guessed],
    );
    let known = json!({ "$schema": "profile.schema.json", "name": "Kim", "content": "tea" });
    check("p.json", &known.to_string(), Format::Profile, &known, &[]);
    let odd = json!({ "name": 5, "content": [], "displayName": null });
    check("p.json", &odd.to_string(), Format::Profile, &odd, &[ctx_types::codes::WRONG_TYPE; 2]);
}

#[test]
fn texts_are_the_content() {
    check_text("p.txt", "Kim likes tea.\n", &[]);
    check_text("p.md", "name: Kim\nlikes: tea", &[]);
    check_text("p.txt", "[OOC: be kind] {Kim}", &[]);
    check_text("p", "Hair: red\nEyes: green", &[codes::PLAIN_PROFILE]);
    check_text("p", "Kim: likes: tea", &[codes::PLAIN_PROFILE]);
    check_text("p", "- likes tea\n- reads", &[codes::PLAIN_PROFILE]);
    check_text("p", "42", &[codes::PLAIN_PROFILE]);
}

#[test]
fn what_is_no_profile_is_refused() {
    let refuse = |input: &str| read_profile(input.as_bytes(), "", &Limits::default()).unwrap_err();
    for input in ["{\"foo\": 1}", "[1]", "{\"presetMessages\": []}", "[{\"role\": \"user\"}]"] {
        assert!(matches!(refuse(input), ImportError::UnknownShape { .. }), "{input}");
    }
    assert_eq!(refuse("\n"), ImportError::Empty);
    assert!(matches!(refuse("{\"name\": "), ImportError::Json { .. }));
    for name in ["p.yaml", "p.YML"] {
        let error = read_profile(b"name: Kim\ncontent: {{user}} likes tea.", name, &Limits::default());
        assert!(matches!(error, Err(ImportError::Yaml { .. })), "{error:?}");
    }
}

#[test]
fn forms_are_told_apart() {
    let told = |input: &str| detect(input.as_bytes(), "", &Limits::default()).ok();
    assert_eq!(told("{\"presetMessages\": []}"), Some(Format::Agent));
    assert_eq!(told("name: Nyx\ngreetings: []"), Some(Format::Agent));
    assert_eq!(told("{\"type\": \"AIO_Agent_Export\", \"agents\": []}"), Some(Format::AgentExport));
    assert_eq!(told("[{\"type\": \"chat_history\"}]"), Some(Format::PresetList));
    assert_eq!(told("[{\"role\": \"user\", \"insertionPoint\": -1}]"), Some(Format::PresetList));
    assert_eq!(told("version: 2\ngroups: []\nmessages: []"), Some(Format::PresetFile));
    assert_eq!(told("messages:\n- type: user_profile"), Some(Format::PresetFile));
    assert_eq!(told("messages:\n- role: user\n  content: Hi"), Some(Format::ChatMessages));
    assert_eq!(
        told("[{\"role\": \"user\", \"content\": \"Hi\", \"runId\": \"r\"}]"),
        Some(Format::StoredMessages)
    );
    assert_eq!(told("{\"nodes\": {}, \"activeLeafId\": \"a\"}"), Some(Format::Session));
    assert_eq!(told("{\"nodes\": {\"a\": {\"parentId\": null}}}"), None);
    assert_eq!(told("{\"detail\": {\"nodes\": {}, \"rootNodeId\": \"a\"}}"), Some(Format::SessionHalves));
    assert_eq!(told("{\"mes\": \"hi\", \"is_user\": true}"), Some(Format::SillyTavernChat));
    assert_eq!(told("{\"name\": \"Kim\", \"content\": \"\"}"), None);
    assert_eq!(told("just text"), None);
    assert_eq!(told("{\"nodes\": {\"1\": {\"class_type\": \"x\"}}}"), None);
    assert_eq!(told("[1]"), None);
}
