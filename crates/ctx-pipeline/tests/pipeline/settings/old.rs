use serde_json::{Value, json};

use crate::settings::case::check;

fn rules(rules: Value) -> Value {
    json!([["agent", { "contextPostProcessing": { "rules": rules } }]])
}

fn management(management: Value) -> Value {
    json!([["agent", { "contextManagement": management }]])
}

#[test]
fn replaces_whole_entry_per_rule() {
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
fn reports_only_conflicting_old_keys() {
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
fn reports_invalid_rules_at_their_paths() {
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
            "warning /parameters/contextPostProcessing/rules/2/separator: `separator` of processor `merge-system-to-head` is `5` (set by agent); expected a string",
            "warning /parameters/contextPostProcessing/rules/4/x: processor `merge-consecutive-roles` has no setting `x`",
        ],
    );
}

#[test]
fn sets_nothing_without_context_limits() {
    check(management(json!({ "maxContextTokens": 4000, "retainedCharacters": null })), &[], &[]);
    check(management(json!(null)), &[], &[]);
}

#[test]
fn reports_context_limits_of_wrong_type() {
    check(
        management(json!({ "enabled": 1, "retainedCharacters": "50" })),
        &[],
        &[
            "warning /parameters/contextManagement/enabled: expected true or false, found `1`; the value is ignored",
            "warning /parameters/contextManagement/retainedCharacters: `retainedCharacters` of processor \
             `token-limiter` is `\"50\"` (set by agent); expected a number",
        ],
    );
}

#[test]
fn prefers_new_keys_and_reports_old_keys() {
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
