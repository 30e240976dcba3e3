//! User profiles: objects, and plain texts. Fixtures of `readers` show the rest.

use ctx_preset_import::{Format, ImportError, codes, read_profile};
use ctx_types::{Code, Persist};
use serde_json::{Value, json};

/// Checks the format and the content of a profile, and the codes of its diagnostics.
#[track_caller]
fn check(name: &str, input: &str, format: Format, expected: &Value, findings: &[Code]) {
    let profile = read_profile(input.as_bytes(), name).unwrap();
    assert_eq!((profile.format, &profile.value.write()), (format, expected));
    let found: Vec<_> = profile.diagnostics.iter().map(|finding| finding.code).collect();
    assert_eq!(found, findings, "{:#?}", profile.diagnostics);
}

#[test]
fn reads_objects_with_known_keys_without_a_warning() {
    let known = json!({ "$schema": "profile.schema.json", "name": "Kim", "content": "tea" });
    check("p.json", &known.to_string(), Format::Profile, &known, &[]);
    let odd = json!({ "name": 5, "content": [], "displayName": null });
    check("p.json", &odd.to_string(), Format::Profile, &odd, &[ctx_types::codes::WRONG_TYPE; 2]);
}

#[test]
fn reads_texts_as_content() {
    for (name, input, is_reported) in [
        ("p.md", "name: Kim\nlikes: tea", false),
        ("p.txt", "[OOC: be kind] {Kim}", false),
        ("p", "Hair: red\nEyes: green", true),
        ("p", "Kim: likes: tea", true),
        ("p", "- likes tea\n- reads", true),
        ("p", "42", true),
    ] {
        let findings = if is_reported { vec![codes::PLAIN_PROFILE] } else { Vec::new() };
        check(name, input, Format::PlainText, &json!({ "content": input }), &findings);
    }
}

#[test]
fn refuses_other_files() {
    let refuse = |name: &str, input: &str| read_profile(input.as_bytes(), name).unwrap_err();
    for input in ["{\"foo\": 1}", "[1]", "{\"presetMessages\": []}", "[{\"role\": \"user\"}]"] {
        assert!(matches!(refuse("", input), ImportError::UnknownShape { .. }), "{input}");
    }
    assert_eq!(refuse("", "\n"), ImportError::Empty);
    assert!(matches!(refuse("", "{\"name\": "), ImportError::Json { .. }));
    for name in ["p.yaml", "p.YML"] {
        let error = refuse(name, "name: Kim\ncontent: {{user}} likes tea.");
        assert!(matches!(error, ImportError::Yaml { .. }), "{error:?}");
    }
}
