//! Any value at all is read without loss, or refused.

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{migrate, read_agent, read_conversation};
use ctx_types::{Agent, Persist, Placement, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{agent, conversation};

/// Keys of agents and conversations, and others.
const KEYS: &str = "activeLeafId agents anchorTarget arguments character_name chat_metadata childrenIds content \
    createdAt custom depth depthConfig detail extra function function_call greetings groups id imported index \
    injectionStrategy insertionPoint is_system is_user mes messages metadata name nodes order parameters parentId \
    presetGroups presetMessages reasoning reasoning_content role rootNodeId send_date stPromptName timestamp toolCallId \
    toolCalls tool_call_id tool_calls type user_name x";

/// Texts that have a meaning in some field, and others.
const TEXTS: [&str; 16] = [
    "user_profile",
    "User Profile",
    "First Message",
    "chat_history",
    "depth",
    "anchor",
    "system",
    "3, 10~5",
    "user",
    "assistant",
    "tool",
    "function",
    "narrator",
    "a",
    "b",
    "",
];

/// Any JSON value, with the keys and texts of agents and conversations among others.
fn any_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(KEYS.split_whitespace().chain([""]).collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..9).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(TEXTS.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 80, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..9)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// An agent with many of the things that migration looks at.
fn any_agent() -> impl Strategy<Value = Value> {
    let rules = prop::collection::vec(any_value(), 0..4);
    (prop::collection::vec(any_value(), 0..6), any_value(), any_value(), rules).prop_map(
        |(entries, custom, greetings, rules)| {
            let parameters = json!({ "custom": custom, "contextPostProcessing": { "rules": rules } });
            json!({ "presetMessages": entries, "parameters": parameters, "greetings": greetings })
        },
    )
}

fn scalars<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::Object(map) => map.values().for_each(|item| scalars(item, found)),
        Value::Null => {}
        scalar => found.push(scalar),
    }
}

/// Checks that every scalar of a document is in its result, or is replaced there.
#[track_caller]
fn check_kept(input: &Value, output: &Value, is_replaced: impl Fn(&Value, &[&Value]) -> bool) {
    let (mut given, mut kept) = (Vec::new(), Vec::new());
    scalars(input, &mut given);
    scalars(output, &mut kept);
    for scalar in given {
        let is_kept = kept.contains(&scalar) || is_replaced(scalar, &kept);
        assert!(is_kept, "{scalar} of {input:#} is not in {output:#}");
    }
}

/// Checks that an agent has every scalar of a document, except for those that migration replaces.
#[track_caller]
fn check_agent(input: &Value, output: &Value) {
    let replaced = ["User Profile", "user_profile", "system"].map(Value::from);
    check_kept(input, output, |scalar, _| replaced.contains(scalar));
}

/// Checks that a conversation has every scalar of a document, by itself or within a text, and that reading its written
/// form changes nothing.
fn check_conversation(input: &Value) {
    let Ok(session) = read_conversation(input.to_string().as_bytes(), "") else { return };
    let written = session.value.write();
    check_kept(input, &written, |scalar, kept| {
        let scalar = scalar.to_string();
        kept.iter().any(|text| text.as_str().is_some_and(|text| text.contains(&scalar)))
    });
    // The header of a chat can have any field, and a file with this field is an agent.
    if written.get("presetMessages").is_none() {
        assert_eq!(conversation::read(&written).value.write(), written);
    }
}

proptest! {
    #[test]
    fn reads_any_value_as_agent_losslessly_or_refuses_it(value in any_value()) {
        let read = read_agent(value.to_string().as_bytes(), "");
        if let Ok(agent) = read {
            check_agent(&value, &agent.value.write());
        }
    }

    #[test]
    fn reads_any_agent_losslessly(agent in any_agent()) {
        check_agent(&agent, &agent::read(&agent).value.write());
    }

    #[test]
    fn migrates_once_and_moves_no_entry(value in any_agent()) {
        let anchors = AnchorRegistry::system();
        let mut agent = Agent::read(value, &mut Reader::new());
        let placements = |agent: &Agent| {
            let kept = agent.preset_messages.iter();
            kept.map(|entry| Placement::read(entry).0).collect::<Vec<_>>()
        };
        let before = placements(&agent);
        migrate(&mut agent, &anchors);
        if agent.preset_messages.len() == before.len() {
            prop_assert_eq!(placements(&agent), before);
        }
        let once = agent.clone();
        prop_assert!(migrate(&mut agent, &anchors).is_empty());
        prop_assert_eq!(&agent, &once);
        let stored = Agent::read(once.write(), &mut Reader::new());
        prop_assert_eq!(stored.write(), once.write());
    }

    #[test]
    fn reads_any_value_as_conversation_losslessly_or_refuses_it(value in any_value()) {
        check_conversation(&value);
    }

    #[test]
    fn reads_any_messages_losslessly(messages in prop::collection::vec(any_value(), 0..6), around in any_value()) {
        check_conversation(&Value::from(messages.clone()));
        check_conversation(&json!({ "messages": messages, "around": around }));
    }

    #[test]
    fn never_panics_on_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(read_conversation(&bytes, "x.jsonl"));
    }
}
