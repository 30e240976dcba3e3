use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!([["ensure-alternating-roles", { "userPlaceholder": "go on", "assistantPlaceholder": "ok" }]])
}

#[test]
fn inserts_placeholder_between_messages_of_one_speaker() {
    check(
        on(),
        "history user: a
         history user: b
         history assistant: c
         history assistant: d
         history assistant: e",
        "user: a
         assistant: ok
         user: b
         assistant: c
         user: go on
         assistant: d
         user: go on
         assistant: e",
    );
}

#[test]
fn ignores_system_messages_in_between() {
    check(
        on(),
        "skeleton system: a
         history user: b
         gap system: c
         gap developer: d
         history user: e
         gap system: f
         history assistant: g",
        "system: a
         user: b
         system: c
         developer: d
         assistant: ok
         user: e
         system: f
         assistant: g",
    );
}

#[test]
fn keeps_tool_groups_together() {
    check(
        on(),
        "history assistant: a
         history assistant calls=x,y: b
         history tool result=x: c
         history tool result=y: d
         history assistant: e
         history assistant calls=z:
         history tool result=z: f
         history user: g",
        "assistant: a
         user: go on
         assistant calls=x,y: b
         tool: c
         tool: d
         assistant: e
         user: go on
         assistant calls=z:
         tool: f
         user: g",
    );
}

#[test]
fn inserts_no_placeholder_next_to_reasoning() {
    check(
        on(),
        "history assistant reasoning: a
         history assistant: b
         history assistant reasoning: c
         history assistant: d
         history assistant: e",
        "assistant reasoning: a
         assistant: b
         assistant reasoning: c
         assistant: d
         user: go on
         assistant: e",
    );
}

#[test]
fn keeps_unfinished_reply_last() {
    check(
        on(),
        "history user: a
         history assistant: b
         history assistant prefix: c",
        "user: a
         assistant: b
         user: go on
         assistant: c",
    );
}

#[test]
fn defaults_to_placeholders_in_agent_language() {
    check(
        json!(["ensure-alternating-roles"]),
        "history user: a
         history user: b
         history assistant: c
         history assistant: d",
        "user: a
         assistant: OK.
         user: b
         assistant: c
         user: Continue.
         assistant: d",
    );
}

#[test]
fn starts_with_user_if_configured() {
    let messages = "skeleton system: a
                    history assistant: b
                    history user: c";
    check(on(), messages, "system: a\nassistant: b\nuser: c");
    check(
        json!([["ensure-alternating-roles", { "userPlaceholder": "hi", "startWithUser": true }]]),
        messages,
        "system: a
         user: hi
         assistant: b
         user: c",
    );
}

#[test]
fn ignores_names_and_files() {
    check(
        on(),
        "history user name=ann file=a.png: a
         history user name=bob: b",
        "user name=ann file=a.png: a
         assistant: ok
         user name=bob: b",
    );
}
