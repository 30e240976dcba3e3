use serde_json::json;

use crate::formatters::case::check;

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
