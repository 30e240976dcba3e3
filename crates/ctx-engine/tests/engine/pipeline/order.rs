use ctx_engine::Engine;
use serde_json::json;

use crate::pipeline::case::{Case, plugin, stages, texts, written};

fn no_op(id: &'static str, priority: i64) -> crate::pipeline::case::Plugin {
    plugin(id, priority, |_| {})
}

#[test]
fn orders_plugins_among_builtin_processors() {
    let case = Case::talk(1, 1_000).with(no_op("late", 900)).with(no_op("early", 150));
    let expected = [
        "session-loader",
        "early",
        "regex-processor",
        "transcription-processor",
        "worldbook-processor",
        "injection-assembler",
        "variable-processor",
        "token-limiter",
        "merge-system-to-head",
        "merge-consecutive-roles",
        "late",
        "asset-resolver",
    ];
    assert_eq!(stages(&case.context()), expected);
}

#[test]
fn breaks_ties_by_registration_order() {
    let case = Case::talk(1, 1_000).with(no_op("b", 900)).with(no_op("a", 900)).with(no_op("c", 400));
    let context = case.context();
    let found = stages(&context);
    assert_eq!(found[found.len() - 3..], ["b", "a", "asset-resolver"]);
    assert_eq!(found[6..8], ["token-limiter", "c"]);
}

#[test]
fn applies_settings_to_plugins() {
    let mut case = Case::talk(1, 1_000).with(no_op("a", 900)).with(no_op("b", 900));
    case.agent["parameters"] = json!({ "processors": [
        { "id": "a", "priority": 910 }, { "id": "merge-system-to-head", "enabled": false },
    ] });
    assert_eq!(stages(&case.context())[7..], ["merge-consecutive-roles", "b", "a", "asset-resolver"]);
}

#[test]
fn rejects_registered_id_in_any_spelling() {
    let mut engine = Engine::new();
    let mut register =
        |id| engine.register(std::sync::Arc::new(no_op(id, 1))).map_err(|error| error.to_string());
    assert_eq!(register("mine"), Ok(()));
    assert_eq!(register("primary:mine"), Err("processor `mine` is registered already".to_owned()));
    assert_eq!(register("token-limiter"), Err("processor `token-limiter` is registered already".to_owned()));
    assert_eq!(
        register("message-formatter"),
        Err("`message-formatter` cannot be the id of a processor".to_owned())
    );
}

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
