use serde_json::json;

use crate::settings::case::check;

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
fn accepts_ids_in_every_spelling() {
    for id in ["alpha", "primary:alpha", "post:alpha", "  alpha ", " primary: alpha"] {
        let set = json!({ "processors": [{ "id": id, "enabled": false }] });
        check(json!([["agent", set]]), &["alpha: enabled=false (agent)"], &[]);
    }
}
