use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn on() -> Value {
    json!([["merge-consecutive-roles", { "separator": " + " }]])
}

#[test]
fn neighbours_of_one_role_become_one() {
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
fn what_a_message_is_a_part_of_does_not_matter() {
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
fn every_joined_message_has_a_decision() {
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
fn tool_messages_and_calls_stay_alone() {
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
fn reasoning_stays_alone() {
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
fn different_names_stay_apart() {
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
fn system_and_developer_messages_stay_apart() {
    check(on(), "skeleton system: a\nskeleton developer: b", "system: a\ndeveloper: b");
}

#[test]
fn an_answer_that_is_to_be_continued_stays_last_and_alone() {
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
fn files_and_parts_are_kept_in_order() {
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
fn an_empty_separator_puts_nothing_between() {
    check(
        json!([["merge-consecutive-roles", { "separator": "" }]]),
        "history user: a
         history user: b",
        "user: ab",
    );
}
