use serde_json::{Value, json};

use crate::case::check;

const ACTIVE: &str = "0: constant (pass 1)";

#[track_caller]
fn filtered(filter: Value, expected: &str) {
    let case = json!({
        "entries": [{ "constant": true, "characterFilter": filter }], "names": ["ada", "Ada L."], "tags": ["poet"],
        "chat": [],
    });
    check(case, &[expected]);
}

#[test]
fn filters_characters_by_name() {
    filtered(json!({ "names": ["Bob", "ada"] }), ACTIVE);
    filtered(json!({ "names": ["Ada L."] }), ACTIVE);
    filtered(json!({ "names": ["Bob"] }), "0: no, only for other characters");
    filtered(json!({ "names": ["ada"], "isExclude": true }), "0: no, only for other characters");
    filtered(json!({ "names": ["Bob"], "isExclude": true }), ACTIVE);
    filtered(json!({ "names": [], "isExclude": true }), ACTIVE);
    filtered(json!(null), ACTIVE);
}

#[test]
fn filters_characters_by_tag() {
    filtered(json!({ "tags": ["poet"] }), ACTIVE);
    filtered(json!({ "tags": ["cook"] }), "0: no, only for characters with other tags");
    filtered(json!({ "tags": ["poet"], "isExclude": true }), "0: no, only for characters with other tags");
    filtered(json!({ "tags": ["cook"], "names": ["ada"] }), "0: no, only for characters with other tags");
}

#[test]
fn ignores_tag_filter_without_known_tags() {
    let case = json!({ "entries": [{ "constant": true, "characterFilter": { "tags": ["x"] } }], "chat": [] });
    check(case, &[ACTIVE]);
}

#[test]
fn reports_first_reason() {
    let entry = json!({
        "disable": true, "triggers": ["quiet"], "characterFilter": { "names": ["x"] }, "delay": 9, "constant": true,
    });
    let mut case = json!({ "entries": [entry], "chat": [] });
    for (key, expected) in [
        ("disable", "0: no, disabled"),
        ("triggers", "0: no, only for `quiet`"),
        ("characterFilter", "0: no, only for other characters"),
        ("delay", "0: no, delayed until the conversation has 9 messages"),
        ("constant", ACTIVE),
    ] {
        check(case.clone(), &[expected]);
        case["entries"][0].as_object_mut().unwrap().remove(key);
    }
}
