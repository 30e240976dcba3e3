use serde_json::{Value, json};

use crate::settings::case::{check, check_help};

fn agent(entry: Value) -> Value {
    json!([["agent", { "processors": [entry] }]])
}

#[track_caller]
fn refuses(key: &str, value: Value, expected: &str, help: &str) {
    let layers = agent(json!({ "id": "alpha", "config": { key: value } }));
    let found = format!(
        "warning /parameters/processors/0/config/{key}: `{key}` of processor `alpha` is `{value}` (set by agent); expected {expected}"
    );
    check(layers.clone(), &[], &[&found]);
    check_help(layers, help);
}

#[test]
fn keeps_default_for_invalid_value() {
    refuses(
        "loud",
        json!("true"),
        "true or false",
        "write `true` without quotes; the default `false` is used until then",
    );
    refuses("loud", json!(1), "true or false", "correct the value; the default `false` is used until then");
    let bounds = "a whole number from 0 to 100";
    refuses("limit", json!("7"), bounds, "write `7` without quotes; the default `5` is used until then");
    refuses(
        "limit",
        json!(101),
        bounds,
        "use `100`, the nearest valid value; the default `5` is used until then",
    );
    refuses(
        "limit",
        json!(-0.5),
        bounds,
        "use `0`, the nearest valid value; the default `5` is used until then",
    );
    refuses(
        "limit",
        json!(1.5),
        bounds,
        "use `2`, the nearest valid value; the default `5` is used until then",
    );
    refuses("limit", json!([]), bounds, "correct the value; the default `5` is used until then");
    refuses(
        "mark",
        json!(7),
        "a string",
        "write `\"7\"`, with quotes; the default `\"-\"` is used until then",
    );
    refuses("mark", json!({}), "a string", "correct the value; the default `\"-\"` is used until then");
    refuses(
        "word",
        json!(" "),
        "non-blank text",
        "correct the value; the default `\"yes\"` is used until then",
    );
    let options = "one of `preset`, `all`";
    refuses("scope", json!("al"), options, "did you mean `all`? The default `\"preset\"` is used until then");
    refuses(
        "scope",
        json!("everything"),
        options,
        "correct the value; the default `\"preset\"` is used until then",
    );
    refuses("scope", json!(true), options, "correct the value; the default `\"preset\"` is used until then");
}

#[test]
fn suggests_removal_of_setting_where_none_exists() {
    check_help(
        agent(json!({ "id": "beta", "config": { "limit": 7 } })),
        "remove the key; this processor has no settings",
    );
}

#[test]
fn reports_unknown_group_setting_once() {
    let set = json!({ "id": "message-formatters", "config": { "separatr": "+" } });
    let found = [
        "warning /parameters/processors/0/config/separatr: no processor in `message-formatters` has a setting `separatr`",
    ];
    check(agent(set.clone()), &[], &found);
    check_help(agent(set), "did you mean `separator`?");
}

#[test]
fn accepts_whole_float_priority() {
    check(agent(json!({ "id": "alpha", "priority": 450.0 })), &["alpha: priority=450 (agent)"], &[]);
    check_help(agent(json!({ "id": "alpha", "priority": "450" })), "write `450` without quotes");
}

#[test]
fn lists_keys_of_entry() {
    check_help(
        agent(json!({ "id": "alpha", "scope": "all" })),
        "use one of `id`, `enabled`, `priority`, `config`; put processor settings in `config`",
    );
}

#[test]
fn truncates_long_value_in_message() {
    let long = "x".repeat(1_000);
    let found = format!(
        "warning /parameters/processors/0/enabled: expected true or false, found `\"{}…`; the value is ignored",
        "x".repeat(63)
    );
    check(agent(json!({ "id": "alpha", "enabled": long })), &[], &[&found]);
}
