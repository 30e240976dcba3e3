use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!(["merge-injections"])
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
