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
fn by_default_system_messages_come_first_and_neighbours_are_joined() {
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
fn leading_instructions_of_the_conversation_are_joined_with_a_head_below_them() {
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
fn all_of_them_leave_user_and_assistant_in_turn() {
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
fn converted_instructions_join_the_question_below_them() {
    check(
        json!([["merge-consecutive-roles", {}], ["convert-system-to-user", { "separator": " ; " }]]),
        "skeleton system: A
         history user: hello
         gap system: note",
        "user: A ; hello ; note",
    );
}
