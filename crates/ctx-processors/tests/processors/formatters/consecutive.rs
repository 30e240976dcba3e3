use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn on() -> Value {
    json!([["merge-consecutive-roles", { "separator": " + " }]])
}

#[test]
fn joins_neighbors_of_one_role() {
    check(
        on(),
        "history user: a
         history user: b
         history assistant: c
         history assistant: d
         history assistant: e
         history user: f",
        "user: a + b
         assistant: c + d + e
         user: f",
    );
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
fn records_decision_for_each_joined_message() {
    check_decisions(
        on(),
        "history user: a
         history user: b
         history assistant: c",
        &[
            "merged history:0: joined with neighbors of the same role",
            "merged history:1: joined with neighbors of the same role",
        ],
    );
    check_decisions(on(), "history user: a\nhistory assistant: c", &[]);
}

#[test]
fn keeps_tool_messages_and_calls_separate() {
    check(
        on(),
        "history assistant: a
         history assistant calls=x,y: b
         history tool result=x: c
         history tool result=y: d
         history assistant: e
         history assistant calls=z:
         history tool result=z: f
         history tool: g",
        "assistant: a
         assistant calls=x,y: b
         tool: c
         tool: d
         assistant: e
         assistant calls=z:
         tool: f
         tool: g",
    );
}

#[test]
fn keeps_reasoning_separate() {
    check(
        on(),
        "history assistant: a
         history assistant reasoning: b
         history assistant: c
         history assistant: d",
        "assistant: a
         assistant reasoning: b
         assistant: c + d",
    );
}

#[test]
fn keeps_different_names_separate() {
    check(
        on(),
        "history user name=ann: a
         history user name=ann: b
         history user name=bob: c
         history user: d
         history user: e",
        "user name=ann: a + b
         user name=bob: c
         user: d + e",
    );
}

#[test]
fn keeps_system_and_developer_messages_separate() {
    check(on(), "skeleton system: a\nskeleton developer: b", "system: a\ndeveloper: b");
}

#[test]
fn keeps_unfinished_reply_last_and_separate() {
    check(
        on(),
        "history user: a
         history assistant: b
         history assistant prefix: c",
        "user: a
         assistant: b
         assistant: c",
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

#[test]
fn joins_directly_with_empty_separator() {
    check(
        json!([["merge-consecutive-roles", { "separator": "" }]]),
        "history user: a
         history user: b",
        "user: ab",
    );
}
