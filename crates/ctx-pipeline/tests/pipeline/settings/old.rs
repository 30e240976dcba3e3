use serde_json::{Value, json};

use crate::settings::case::check;

fn rules(rules: Value) -> Value {
    json!([["agent", { "contextPostProcessing": { "rules": rules } }]])
}

fn management(management: Value) -> Value {
    json!([["agent", { "contextManagement": management }]])
}

#[test]
fn a_rule_is_a_setting_with_its_further_keys() {
    check(
        rules(json!([
            { "type": "post:merge-system-to-head", "enabled": false },
            { "type": "merge-consecutive-roles", "enabled": true, "separator": "\n" },
            { "type": "post:ensure-alternating-roles", "enabled": true, "userPlaceholder": "hm" },
        ])),
        &[
            "merge-system-to-head: enabled=false (agent)",
            "merge-consecutive-roles: enabled=true (agent) separator=\"\\n\" (agent)",
            "ensure-alternating-roles: enabled=true (agent) userPlaceholder=\"hm\" (agent)",
        ],
        &[],
    );
}

#[test]
fn a_plain_id_switches_its_processor_on() {
    check(
        rules(json!(["post:convert-system-to-user", "merge-system-to-head"])),
        &["merge-system-to-head: enabled=true (agent)", "convert-system-to-user: enabled=true (agent)"],
        &[],
    );
}

#[test]
fn every_rule_is_whole() {
    let rule = |value: Value| json!({ "contextPostProcessing": { "rules": [value] } });
    let model = rule(json!({ "type": "post:convert-system-to-user", "enabled": true, "separator": "+" }));
    let agent = rule(json!({ "type": "post:convert-system-to-user", "enabled": true }));
    check(
        json!([["model", model], ["agent", agent]]),
        &["convert-system-to-user: enabled=true (agent)"],
        &[],
    );
    let silent = rule(json!({ "type": "post:convert-system-to-user" }));
    check(json!([["model", model], ["agent", silent]]), &[], &[]);
}

#[test]
fn an_older_spelling_that_says_the_same_is_no_finding() {
    let both = |management: Value| {
        let newer = json!([{ "id": "token-limiter", "enabled": true }]);
        json!([["agent", { "contextManagement": management, "processors": newer }]])
    };
    let expected = ["token-limiter: enabled=true (agent)"];
    check(both(json!({ "enabled": true, "maxContextTokens": 9 })), &expected, &[]);
    let ignored = "info /parameters/contextManagement: `processors` already sets `token-limiter`; this old key is ignored";
    check(both(json!({ "enabled": false })), &expected, &[ignored]);
    check(both(json!({ "enabled": true, "retainedCharacters": 9 })), &expected, &[ignored]);
}

#[test]
fn an_empty_separator_is_taken_as_it_stands() {
    check(
        rules(json!([{ "type": "post:merge-system-to-head", "separator": "" }])),
        &["merge-system-to-head: separator=\"\" (agent)"],
        &[],
    );
}

#[test]
fn what_is_wrong_with_rules_is_reported_at_its_place() {
    check(
        rules(json!([
            5,
            { "enabled": true },
            { "type": "post:merge-system-to-head", "enabled": "no", "separator": 5 },
            { "type": "post:merge-system-to-heat" },
            { "type": "merge-consecutive-roles", "x": 1 },
        ])),
        &["merge-consecutive-roles: x=1 (agent)"],
        &[
            "warning /parameters/contextPostProcessing/rules/0: expected a rule with the `type` of a processor, found `5`; the value is ignored",
            "warning /parameters/contextPostProcessing/rules/1: expected a rule with the `type` of a processor, found `{\"enabled\":true}`; the value is ignored",
            "warning /parameters/contextPostProcessing/rules/2/enabled: expected true or false, found `\"no\"`; the value is ignored",
            "warning /parameters/contextPostProcessing/rules/3: unknown processor `post:merge-system-to-heat` (set by agent)",
            "warning /parameters/contextPostProcessing/rules/2/separator: `separator` of processor `merge-system-to-head` is `5` (set by agent); expected a text",
            "warning /parameters/contextPostProcessing/rules/4/x: processor `merge-consecutive-roles` has no setting `x`",
        ],
    );
    check(
        json!([["agent", { "contextPostProcessing": 5 }], ["model", { "contextPostProcessing": { "rules": 6 } }]]),
        &[],
        &[
            "warning /parameters/contextPostProcessing: expected an object, found `5`; the value is ignored",
            "warning /parameters/contextPostProcessing/rules: expected a list, found `6`; the value is ignored",
        ],
    );
    check(
        json!([["agent", { "contextPostProcessing": null }], ["model", { "contextPostProcessing": {} }]]),
        &[],
        &[],
    );
}

#[test]
fn the_limits_of_a_context_set_the_limiter() {
    check(
        management(json!({ "enabled": true, "maxContextTokens": 4000, "retainedCharacters": 50 })),
        &["token-limiter: enabled=true (agent) retainedCharacters=50 (agent)"],
        &[],
    );
    check(management(json!({ "enabled": false })), &["token-limiter: enabled=false (agent)"], &[]);
    check(management(json!({ "maxContextTokens": 4000, "retainedCharacters": null })), &[], &[]);
    check(management(json!(null)), &[], &[]);
}

#[test]
fn limits_of_the_wrong_type_are_reported() {
    check(
        management(json!({ "enabled": 1, "retainedCharacters": "50" })),
        &[],
        &[
            "warning /parameters/contextManagement/enabled: expected true or false, found `1`; the value is ignored",
            "warning /parameters/contextManagement/retainedCharacters: `retainedCharacters` of processor \
             `token-limiter` is `\"50\"` (set by agent); expected a number",
        ],
    );
    check(
        management(json!([])),
        &[],
        &["warning /parameters/contextManagement: expected an object, found `[]`; the value is ignored"],
    );
}

#[test]
fn what_the_newer_spelling_names_wins_and_the_older_is_reported() {
    check(
        json!([["agent", {
            "processors": [{ "id": "token-limiter" }, { "id": "merge-system-to-head", "enabled": false }],
            "contextManagement": { "enabled": false },
            "contextPostProcessing": { "rules": ["post:merge-system-to-head", "post:convert-system-to-user"] },
        }]]),
        &["merge-system-to-head: enabled=false (agent)", "convert-system-to-user: enabled=true (agent)"],
        &[
            "info /parameters/contextPostProcessing/rules/0: `processors` already sets `merge-system-to-head`; this old key is ignored",
            "info /parameters/contextManagement: `processors` already sets `token-limiter`; this old key is ignored",
        ],
    );
    check(
        json!([["agent", {
            "processors": [{ "id": "message-formatters", "enabled": false }],
            "contextPostProcessing": { "rules": ["post:merge-system-to-head"] },
        }]]),
        &[
            "merge-system-to-head: enabled=false (agent)",
            "merge-consecutive-roles: enabled=false (agent)",
            "convert-system-to-user: enabled=false (agent)",
            "ensure-alternating-roles: enabled=false (agent)",
        ],
        &[
            "info /parameters/contextPostProcessing/rules/0: `processors` already sets `merge-system-to-head`; this old key is ignored",
        ],
    );
}

#[test]
fn older_spellings_of_a_higher_layer_win_over_newer_ones_of_a_lower() {
    check(
        json!([
            ["model", { "processors": [{ "id": "merge-system-to-head", "enabled": false }] }],
            ["agent", { "contextPostProcessing": { "rules": [{ "type": "post:merge-system-to-head", "separator": "+" }] } }],
        ]),
        &["merge-system-to-head: separator=\"+\" (agent)"],
        &[],
    );
}
