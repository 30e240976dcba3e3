use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!([["merge-consecutive-roles", { "separator": " + " }]])
}

#[test]
fn joins_messages_of_any_origin() {
    check(
        on(),
        "skeleton system: a
         pinned system: b
         world system: c
         summary system: d
         history user: e
         gap user: f
         plugin user: g
         skeleton user: h",
        "system: a + b + c + d
         user: e + f + g + h",
    );
}

#[test]
fn keeps_order_of_files_and_parts() {
    check(
        on(),
        "history user file=a.png parts: a|<image>
         history user: b
         history user file=c.png parts: <image>|c|<image>
         history user file=d.png:",
        "user file=a.png file=c.png file=d.png: a|<image>| + b + |<image>|c|<image>",
    );
}
