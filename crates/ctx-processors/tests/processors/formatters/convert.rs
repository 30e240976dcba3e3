use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!([["convert-system-to-user", { "separator": " + " }]])
}

#[test]
fn keeps_calls_reasoning_and_unfinished_reply() {
    check(
        json!([["convert-system-to-user", { "separator": " + ", "scope": "everyone" }]]),
        "skeleton system: a
         history assistant calls=x:
         history tool result=x: b
         history assistant: c
         history assistant reasoning: d
         history user: e
         history assistant prefix: f",
        "user: a
         assistant calls=x:
         tool: b
         user: c
         assistant reasoning: d
         user: e
         assistant: f",
    );
}

#[test]
fn keeps_names_and_reasoning_separate() {
    check(
        on(),
        "skeleton system: a
         history user name=ann: b
         history system reasoning: c
         history user: d",
        "user: a
         user name=ann: b
         user reasoning: c
         user: d",
    );
}

#[test]
fn adds_nothing_to_tool_group() {
    check(
        on(),
        "history assistant calls=x:
         history tool result=x: a
         history system: b
         history user: c",
        "assistant calls=x:
         tool: a
         user: b + c",
    );
}

#[test]
fn keeps_first_system_message_if_configured() {
    let scope = |scope: &str| json!([["convert-system-to-user", { "separator": " + ", "scope": scope }]]);
    let messages = "skeleton system: a
         history assistant: b
         gap system: c
         history user: d";
    check(scope("after_first"), messages, "system: a\nassistant: b\nuser: c + d");
    check(scope("everyone"), messages, "user: a + b + c + d");
    check(scope("after_first"), "history assistant: a\nskeleton system: b", "assistant: a\nuser: b");
}
