//! `SillyTavern`'s regex scripts, as regex rules.

use ctx_preset_import::read_regex_scripts;
use ctx_types::Persist as _;
use serde_json::{Value, json};

/// Checks the rule that a script becomes, without what is kept of it, and the findings.
#[track_caller]
fn check(script: Value, expected: Value, findings: &[&str]) {
    let (preset, found) = read_regex_scripts(script.clone());
    let mut rule = preset.rules[0].write();
    let map = rule.as_object_mut().unwrap();
    assert_eq!(map.remove("imported"), Some(script));
    assert_eq!(map.remove("dialect"), Some(json!("sillytavern")));
    assert_eq!(rule, expected);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), findings);
}

fn stages(render: bool, request: bool, store: bool) -> Value {
    json!({ "render": render, "request": request, "store": store })
}

#[test]
fn every_field_has_its_place() {
    check(
        json!({
            "id": "x", "scriptName": "s", "findRegex": "/a/g", "replaceString": "b", "trimStrings": ["c"],
            "placement": [1, 2, 5, 6], "disabled": true, "markdownOnly": true, "promptOnly": true,
            "runOnEdit": true, "substituteRegex": 2, "minDepth": 1, "maxDepth": 4,
        }),
        json!({
            "id": "x", "name": "s", "regex": "/a/g", "replacement": "b", "trimStrings": ["c"],
            "targetRoles": ["user", "assistant"], "targetTexts": ["worldbook", "reasoning"], "enabled": false,
            "applyTo": stages(true, true, false), "runOnEdit": true, "substitutionMode": "ESCAPED",
            "depthRange": { "min": 1, "max": 4 },
        }),
        &[],
    );
}

#[test]
fn flags_say_for_what_texts_are_made() {
    for (markdown, prompt, store) in [(false, false, true), (true, false, false), (false, true, false)] {
        check(
            json!({ "markdownOnly": markdown, "promptOnly": prompt, "placement": [2] }),
            json!({ "applyTo": stages(markdown, prompt, store), "targetRoles": ["assistant"] }),
            &[],
        );
    }
}

#[test]
fn an_old_script_for_the_display_changes_everything() {
    let all = json!({ "targetRoles": ["user", "assistant"], "targetTexts": ["worldbook", "reasoning"],
        "applyTo": stages(true, true, false) });
    check(json!({ "placement": [0] }), all, &[]);
    check(
        json!({ "placement": [0, 1] }),
        json!({ "targetRoles": ["user"], "applyTo": stages(true, true, false) }),
        &[],
    );
}

#[test]
fn without_a_placement_nothing_is_changed() {
    let nothing = json!({ "targetRoles": [], "applyTo": stages(false, false, true) });
    check(json!({}), nothing.clone(), &[]);
    check(
        json!({ "placement": [3] }),
        nothing.clone(),
        &[
            "info[CTX0661]: slash commands are not supported, so the script cannot change them (at /placement)",
        ],
    );
    check(
        json!({ "placement": [7, "x"] }),
        nothing,
        &["warning[CTX0660]: unknown number in `placement` (at /placement)"],
    );
}

#[test]
fn depths_that_mean_nothing_are_left_out() {
    let rule = |depths: Value| {
        let mut rule = json!({ "targetRoles": [], "applyTo": stages(false, false, true) });
        rule.as_object_mut().unwrap().extend(depths.as_object().unwrap().clone());
        rule
    };
    let none = json!({});
    check(json!({ "minDepth": null, "maxDepth": null }), rule(none.clone()), &[]);
    check(json!({ "minDepth": -2, "maxDepth": -1 }), rule(none), &[]);
    check(json!({ "minDepth": -1 }), rule(json!({ "depthRange": { "min": -1 } })), &[]);
    check(json!({ "maxDepth": "3" }), rule(json!({ "depthRange": { "max": 3 } })), &[]);
}

#[test]
fn values_of_wrong_types_are_reported_and_left_out() {
    check(
        json!({ "findRegex": 7, "trimStrings": "x", "disabled": "yes", "substituteRegex": 9, "minDepth": 1.5 }),
        json!({ "targetRoles": [], "applyTo": stages(false, false, true) }),
        &[
            "warning[CTX0660]: `disabled` of the regex script must be true or false (at /disabled)",
            "warning[CTX0660]: `findRegex` of the regex script must be a string (at /findRegex)",
            "warning[CTX0660]: `trimStrings` of the regex script must be a list of strings (at /trimStrings)",
            "warning[CTX0660]: `substituteRegex` must be 0, 1, or 2 (at /substituteRegex)",
            "warning[CTX0660]: `minDepth` of the regex script must be a whole number (at /minDepth)",
        ],
    );
}

#[test]
fn a_list_becomes_a_preset() {
    let (preset, found) = read_regex_scripts(json!([{ "scriptName": "a" }, 7, { "scriptName": "b" }]));
    let names: Vec<_> = preset.rules.iter().map(|rule| rule.name.as_deref()).collect();
    assert_eq!(names, [Some("a"), None, Some("b")]);
    assert_eq!(found[0].to_string(), "error[CTX0660]: the regex script must be an object (at /1)");
    assert_eq!(preset.rules[1].write(), json!(7));
}
