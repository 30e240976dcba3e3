use serde_json::{Value, json};

use crate::formatters::case::check;

/// The default formatters.
fn default() -> Value {
    json!([["merge-system-to-head", { "separator": " + " }], ["merge-consecutive-roles", { "separator": " & " }]])
}

fn all() -> Value {
    json!([
        ["merge-injections", { "separator": " , " }],
        ["merge-system-to-head", { "separator": " + " }],
        ["merge-consecutive-roles", { "separator": " & " }],
        ["convert-system-to-user", { "separator": " ; " }],
        ["ensure-alternating-roles", { "userPlaceholder": "go on", "assistantPlaceholder": "ok" }],
    ])
}

const CONVERSATION: &str = "skeleton system: A
    skeleton assistant: example
    pinned system: own
    history user name=ann: hello
    history user name=bob file=b.png: hi
    gap system: note
    gap system: more
    history assistant calls=x: look
    history tool result=x: sun
    history assistant: fine
    history user: thanks
    skeleton system: B";

#[test]
fn moves_system_messages_and_joins_neighbors_by_default() {
    check(
        default(),
        CONVERSATION,
        "system: A + B
         assistant: example
         system: own
         user name=ann: hello
         user name=bob file=b.png: hi
         system: note & more
         assistant calls=x: look
         tool: sun
         assistant: fine
         user: thanks",
    );
}

#[test]
fn joins_leading_system_messages_with_front() {
    check(
        default(),
        "pinned system: own
         history user: hello
         skeleton system: A",
        "system: own & A
         user: hello",
    );
}

#[test]
fn alternates_roles_with_all_formatters() {
    check(
        all(),
        CONVERSATION,
        "user: A + B
         assistant: example
         user: own
         assistant: ok
         user name=ann: hello
         assistant: ok
         user name=bob file=b.png: hi
         assistant: ok
         user: note , more
         assistant calls=x: look
         tool: sun
         assistant: fine
         user: thanks",
    );
}

#[test]
fn joins_converted_system_messages_with_question() {
    check(
        json!([["merge-consecutive-roles", {}], ["convert-system-to-user", { "separator": " ; " }]]),
        "skeleton system: A
         history user: hello
         gap system: note",
        "user: A ; hello ; note",
    );
}
