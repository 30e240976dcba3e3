//! Any value at all is read without loss, or refused.

use ctx_preset_import::{Limits, read_conversation};
use ctx_types::Persist;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;

/// Checks that every scalar of a document is somewhere in what it became, in a text of its own or within one.
#[track_caller]
pub(crate) fn assert_all_kept(input: &Value, output: &Value) {
    let mut kept = Vec::new();
    scalars(output, &mut kept);
    let mut given = Vec::new();
    scalars(input, &mut given);
    for scalar in given {
        let within = |text: &&Value| text.as_str().is_some_and(|text| text.contains(&scalar.to_string()));
        assert!(
            kept.contains(&scalar) || kept.iter().any(within),
            "{scalar} of {input:#} is not in {output:#}"
        );
    }
}

fn scalars<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::Object(map) => map.values().for_each(|item| scalars(item, found)),
        Value::Null => {}
        scalar => found.push(scalar),
    }
}

/// Any JSON value, with the keys and texts of conversations among others.
fn any_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "messages",
        "nodes",
        "rootNodeId",
        "activeLeafId",
        "index",
        "detail",
        "id",
        "name",
        "role",
        "content",
        "parentId",
        "childrenIds",
        "tool_calls",
        "function_call",
        "function",
        "arguments",
        "tool_call_id",
        "toolCalls",
        "toolCallId",
        "createdAt",
        "timestamp",
        "metadata",
        "reasoning_content",
        "mes",
        "is_user",
        "is_system",
        "extra",
        "reasoning",
        "type",
        "chat_metadata",
        "user_name",
        "character_name",
        "send_date",
        "imported",
        "x",
    ]);
    let text = prop::sample::select(vec!["user", "assistant", "tool", "function", "narrator", "a", "b", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_i64..9).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 80, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..9)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn check_any(value: &Value) {
    if let Ok(session) = read_conversation(value.to_string().as_bytes(), "", &Limits::default()) {
        let written = session.value.write();
        assert_all_kept(value, &written);
        let again = read(&written);
        assert_eq!(again.value.write(), written);
    }
}

proptest! {
    #[test]
    fn any_value_is_read_losslessly_or_refused(value in any_value()) {
        check_any(&value);
    }

    #[test]
    fn any_messages_are_read_losslessly(messages in prop::collection::vec(any_value(), 0..6), around in any_value()) {
        check_any(&Value::from(messages.clone()));
        check_any(&json!({ "messages": messages, "around": around }));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(read_conversation(&bytes, "x.jsonl", &Limits::default()));
    }
}
