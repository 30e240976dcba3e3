use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn on() -> Value {
    json!(["merge-injections"])
}

#[test]
fn joins_neighbors_of_one_slot_order_and_role() {
    check(
        on(),
        "gap system: a
         gap system: b
         gap system order=5: c
         gap system order=5: d
         gap user order=5: e
         history user: f
         gap user: g
         history user: h",
        "system: a/b
         system: c/d
         user: e
         user: f
         user: g
         user: h",
    );
}

#[test]
fn joins_only_injections_in_history() {
    check(
        on(),
        "skeleton system: a
         skeleton system: b
         anchored system: c
         anchored system: d
         around system: e
         around system: f
         gap system: g
         history system: h",
        "system: a
         system: b
         system: c
         system: d
         system: e
         system: f
         system: g
         system: h",
    );
}

#[test]
fn keeps_multiple_depths_and_single_depth_separate() {
    check(
        on(),
        "points system: a
         points system: b
         gap system: c",
        "system: a/b
         system: c",
    );
}

#[test]
fn keeps_names_files_and_parts() {
    check(
        json!([["merge-injections", { "separator": " + " }]]),
        "gap user name=ann file=a.png: a
         gap user name=ann parts: b|<image>
         gap user: c",
        "user name=ann file=a.png: a + b|<image>
         user: c",
    );
}

#[test]
fn records_decisions_for_joined_messages() {
    check_decisions(
        on(),
        "gap system: a
         gap system: b",
        &[
            "merged preset:0: joined with neighboring injections",
            "merged preset:1: joined with neighboring injections",
        ],
    );
}
