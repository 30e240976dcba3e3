use ctx_processors::regex_rules::RuleLimits;
use serde_json::{Value, json};

use crate::rules::case::{ANSWER, rules, run};

/// Compares the diagnostics of compiling one rule, and of running it on `aaa`.
#[track_caller]
fn check(rule: Value, compiling: &[&str], running: &[&str]) {
    let (set, found) = rules(json!([rule, { "regex": "a", "replacement": "b" }]));
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), compiling);
    let (after, found) = run(&set, RuleLimits::default(), &[("aaa", ANSWER)]);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), running);
    assert_eq!(after[0].text, "bbb", "the other rule runs");
}

#[test]
fn reports_invalid_flags_at_their_paths() {
    check(
        json!({ "regex": "/a/gx", "dialect": "sillytavern" }),
        &[
            "warning[CTX0770]: invalid regex pattern `/a/gx`: unknown flag `x` (at /regexConfig/presets/0/rules/0/regex)",
        ],
        &[],
    );
    check(
        json!({ "regex": "a", "flags": "gx" }),
        &[
            "warning[CTX0770]: invalid regex pattern `a`: unknown flag `x` (at /regexConfig/presets/0/rules/0/flags)",
        ],
        &[],
    );
}

#[test]
fn reports_and_ignores_unknown_values() {
    check(
        json!({ "regex": "z", "dialect": "perl", "substitutionMode": "raw", "targetRoles": ["bot"], "targetTexts": ["x"] }),
        &[
            "warning[CTX0772]: unknown dialect `perl` (at /regexConfig/presets/0/rules/0/dialect)",
            "warning[CTX0772]: unknown mode `raw` (at /regexConfig/presets/0/rules/0/substitutionMode)",
            "warning[CTX0772]: unknown target `bot` (at /regexConfig/presets/0/rules/0/targetRoles)",
            "warning[CTX0772]: unknown target `x` (at /regexConfig/presets/0/rules/0/targetTexts)",
        ],
        &[],
    );
}

#[test]
fn reports_values_of_wrong_types() {
    check(
        json!({ "regex": "z", "depthRange": { "min": "one" }, "applyTo": 7, "trimStrings": [1] }),
        &[
            "error[CTX0100]: expected an object, found the number `7` (at /presets/0/rules/0/applyTo)",
            "error[CTX0100]: expected a whole number, found the string `one` (at /presets/0/rules/0/depthRange/min)",
            "error[CTX0100]: expected a string, found the number `1` (at /presets/0/rules/0/trimStrings/0)",
        ],
        &[],
    );
}

#[test]
fn reports_unknown_macros_at_their_paths() {
    let (_, found) = rules(json!([{ "regex": "a", "replacement": "{{usr}}" }]));
    assert_eq!(found[0].location.pointer.as_deref(), Some("/regexConfig/presets/0/rules/0/replacement"));
    assert_eq!(found[0].help.as_ref().map(ToString::to_string).as_deref(), Some("did you mean `user`?"));
}

#[test]
fn reports_pattern_invalid_after_macro_expansion() {
    check(
        json!({ "regex": "/({{char}}/", "substitutionMode": "RAW" }),
        &[],
        &[
            "warning[CTX0770]: invalid regex pattern `/(A.B/`: invalid pattern at byte 0: unterminated group (at /regexConfig/presets/0/rules/0/regex)",
        ],
    );
}

#[test]
fn limits_rules_to_one_thousand() {
    let many: Vec<Value> = (0..1_002).map(|number| json!({ "regex": format!("x{number}") })).collect();
    let (set, found) = rules(Value::Array(many));
    assert_eq!(set.rules().len(), 1_000);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "warning[CTX0775]: 2 regex rules are ignored: the limit is 1000");
}
