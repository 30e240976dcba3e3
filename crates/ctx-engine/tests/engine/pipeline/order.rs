use serde_json::json;

use crate::pipeline::case::{Case, plugin, texts, written};

#[test]
fn treats_early_plugin_messages_as_conversation() {
    let mut case = Case::talk(1, 1_000);
    case.agent["presetMessages"] = json!([
        { "type": "chat_history" },
        { "role": "user", "content": "before it", "insertionPoint": 0 },
    ]);
    let case = case.with(plugin("mine", 150, |cx| cx.draft.messages_mut().insert(0, written("Noted."))));
    assert_eq!(texts(&case.context())[..2], ["before it", "Noted."]);
}
