use serde_json::{Value, json};

use crate::formatters::case::check;

fn on() -> Value {
    json!([["ensure-alternating-roles", { "userPlaceholder": "go on", "assistantPlaceholder": "ok" }]])
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
