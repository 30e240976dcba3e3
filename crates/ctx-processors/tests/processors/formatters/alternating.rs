use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!([["ensure-alternating-roles", { "userPlaceholder": "go on", "assistantPlaceholder": "ok" }]])
}

#[test]
fn a_placeholder_of_the_other_stands_between_two_of_one_speaker() {
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
fn system_messages_between_do_not_count() {
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
fn tool_groups_stay_whole() {
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
fn nothing_stands_beside_reasoning() {
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
fn an_answer_that_is_to_be_continued_stays_last() {
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
fn the_placeholders_are_in_the_language_of_the_agent_unless_set() {
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
fn an_assistant_may_speak_first_unless_the_user_shall() {
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
fn names_and_files_do_not_matter() {
    check(
        on(),
        "history user name=ann file=a.png: a
         history user name=bob: b",
        "user name=ann file=a.png: a
         assistant: ok
         user name=bob: b",
    );
}
