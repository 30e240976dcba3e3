use serde_json::json;

use crate::settings::case::check;

#[test]
fn uses_defaults_without_settings() {
    check(json!([]), &[], &[]);
    check(json!([["agent", {}], ["user", { "processors": [] }], ["model", null]]), &[], &[]);
}

#[test]
fn uses_entry_of_single_layer() {
    let set = json!({ "processors": [
        { "id": "alpha", "enabled": false, "priority": 450, "config": { "mark": "*", "limit": 7, "loud": true, "scope": "all" } },
        { "id": "beta", "enabled": true },
    ] });
    for origin in ["user", "model", "agent", "command-line"] {
        let alpha = format!(
            "alpha: enabled=false ({origin}) priority=450 ({origin}) mark=\"*\" ({origin}) \
             limit=7 ({origin}) loud=true ({origin}) scope=\"all\" ({origin})"
        );
        let beta = format!("beta: enabled=true ({origin})");
        check(json!([[origin, set]]), &[&alpha, &beta], &[]);
    }
}

#[test]
fn prefers_highest_layer_in_any_list_order() {
    let set = |limit: u32| json!({ "processors": [{ "id": "alpha", "config": { "limit": limit } }] });
    let [user, model, agent, line] = [1, 2, 3, 4].map(set);
    check(json!([["user", user], ["model", model]]), &["alpha: limit=2 (model)"], &[]);
    check(json!([["agent", agent], ["model", model], ["user", user]]), &["alpha: limit=3 (agent)"], &[]);
    check(
        json!([["command-line", line], ["agent", agent], ["model", model], ["user", user]]),
        &["alpha: limit=4 (command-line)"],
        &[],
    );
    check(json!([["agent", agent], ["agent", model]]), &["alpha: limit=2 (agent)"], &[]);
}

#[test]
fn uses_default_for_fields_missing_in_highest_layer() {
    let model = json!({ "processors": [{ "id": "alpha", "enabled": false, "priority": 1, "config": { "limit": 9, "loud": true } }] });
    let agent = json!({ "processors": [{ "id": "alpha", "config": { "loud": true } }] });
    check(json!([["model", model], ["agent", agent]]), &["alpha: loud=true (agent)"], &[]);
    let empty = json!({ "processors": [{ "id": "alpha" }] });
    check(json!([["model", model], ["agent", empty]]), &[], &[]);
    let nulls = json!({ "processors": [{ "id": "alpha", "enabled": null, "priority": null, "config": { "loud": null } }] });
    check(json!([["model", model], ["agent", nulls]]), &[], &[]);
}

#[test]
fn combines_layers_for_different_processors() {
    let model = json!({ "processors": [{ "id": "alpha", "enabled": false }] });
    let agent = json!({ "processors": [{ "id": "beta", "enabled": true }] });
    check(
        json!([["model", model], ["agent", agent]]),
        &["alpha: enabled=false (model)", "beta: enabled=true (agent)"],
        &[],
    );
}

#[test]
fn uses_later_duplicate_entry_and_reports_it() {
    check(
        json!([["agent", { "processors": [
            { "id": "alpha", "config": { "limit": 1 } },
            { "id": "primary:alpha", "enabled": false },
        ] }]]),
        &["alpha: enabled=false (agent)"],
        &[
            "warning /parameters/processors/0: processor `alpha` is set twice by agent; the second one is used",
        ],
    );
}

#[test]
fn accepts_ids_in_every_spelling() {
    for id in ["alpha", "primary:alpha", "post:alpha", "  alpha ", " primary: alpha"] {
        let set = json!({ "processors": [{ "id": id, "enabled": false }] });
        check(json!([["agent", set]]), &["alpha: enabled=false (agent)"], &[]);
    }
}

#[test]
fn applies_group_entry_to_members() {
    for id in ["message-formatters", "message-formatter", "post:message-formatter"] {
        let set = json!({ "processors": [{ "id": id, "enabled": false, "config": { "separator": "+" } }] });
        check(
            json!([["agent", set]]),
            &[
                "merge-system-to-head: enabled=false (agent) separator=\"+\" (agent)",
                "merge-consecutive-roles: enabled=false (agent) separator=\"+\" (agent)",
                "convert-system-to-user: enabled=false (agent) separator=\"+\" (agent)",
                "ensure-alternating-roles: enabled=false (agent)",
            ],
            &[],
        );
    }
}

#[test]
fn keeps_member_states_when_group_is_enabled() {
    let set = json!({ "processors": [{ "id": "message-formatters", "enabled": true }] });
    check(json!([["agent", set]]), &[], &[]);
}

#[test]
fn prefers_member_over_group_within_layer() {
    let own = json!({ "id": "merge-system-to-head", "enabled": true });
    let group = json!({ "id": "message-formatters", "priority": 650 });
    let others = [
        "merge-consecutive-roles: priority=650 (agent)",
        "convert-system-to-user: priority=650 (agent)",
        "ensure-alternating-roles: priority=650 (agent)",
    ];
    let expected = [&["merge-system-to-head: enabled=true (agent)"][..], &others].concat();
    check(json!([["agent", { "processors": [own, group] }]]), &expected, &[]);
    check(json!([["agent", { "processors": [group, own] }]]), &expected, &[]);
    let expected = [&["merge-system-to-head: priority=650 (agent)"][..], &others].concat();
    check(json!([["model", { "processors": [own] }], ["agent", { "processors": [group] }]]), &expected, &[]);
}

#[test]
fn keeps_and_reports_undeclared_settings() {
    check(
        json!([["agent", { "processors": [{ "id": "beta", "config": { "own/~key": [1] } }] }]]),
        &["beta: own/~key=[1] (agent)"],
        &["warning /parameters/processors/0/config/own~1~0key: processor `beta` has no setting `own/~key`"],
    );
}

#[track_caller]
fn check_deciding(layers: serde_json::Value, expected: &[&str]) {
    let settings = crate::settings::case::resolve(&layers);
    let alpha = settings.iter().find(|setting| &*setting.id == "alpha").unwrap();
    let found: Vec<&str> =
        alpha.decided_by.iter().chain(&alpha.overrules).map(|origin| origin.as_str()).collect();
    assert_eq!(found, expected);
}

#[test]
fn lists_origins_by_precedence() {
    let named = json!({ "processors": [{ "id": "post:alpha" }] });
    let other = json!({ "processors": [{ "id": "beta" }] });
    check_deciding(json!([["agent", other]]), &[]);
    check_deciding(json!([["agent", named], ["user", other]]), &["agent"]);
    check_deciding(
        json!([["agent", named], ["command-line", named], ["user", named], ["model", other]]),
        &["command-line", "agent", "user"],
    );
    let twice = json!({ "processors": [{ "id": "alpha" }, { "id": "alpha" }] });
    check_deciding(json!([["agent", twice]]), &["agent"]);
}

#[test]
fn reports_toggle_that_replaces_whole_entry() {
    let agent =
        json!({ "processors": [{ "id": "alpha", "priority": 5, "config": { "limit": 7, "loud": true } }] });
    let user = json!({ "processors": [{ "id": "alpha", "config": { "mark": "*" } }] });
    let switch = |enabled: bool| json!({ "processors": [{ "id": "alpha", "enabled": enabled }] });
    let told = "info /parameters/processors/0: enabling `alpha` (the command line) replaces its whole entry (agent), including `priority`, `limit`, `loud`";
    let on = &["alpha: enabled=true (command-line)"];
    check(json!([["agent", agent], ["user", user], ["command-line", switch(true)]]), on, &[told]);
    let off = &["alpha: enabled=false (command-line)"];
    check(json!([["agent", agent], ["command-line", switch(false)]]), off, &[]);
    check(json!([["agent", switch(false)], ["user", user], ["command-line", switch(true)]]), on, &[]);
}
