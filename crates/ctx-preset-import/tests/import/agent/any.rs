//! Any value at all is read without loss, or refused.

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{Limits, migrate, read_agent};
use ctx_types::{Agent, Persist, Placement, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;

/// Any JSON value, with the keys and texts of agents among others.
fn any_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "presetMessages",
        "messages",
        "groups",
        "agents",
        "type",
        "content",
        "role",
        "injectionStrategy",
        "depth",
        "depthConfig",
        "anchorTarget",
        "insertionPoint",
        "order",
        "greetings",
        "parameters",
        "custom",
        "name",
        "metadata",
        "stPromptName",
        "presetGroups",
        "imported",
        "x",
        "",
    ]);
    let text = prop::sample::select(vec![
        "user_profile",
        "User Profile",
        "First Message",
        "chat_history",
        "depth",
        "anchor",
        "system",
        "3, 10~5",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..9).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..7)
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

/// Checks that every scalar of a document is in the agent, but for those that migration replaces.
#[track_caller]
fn assert_all_kept(input: &Value, output: &Value) {
    let mut kept = Vec::new();
    scalars(output, &mut kept);
    let mut given = Vec::new();
    scalars(input, &mut given);
    let replaced = ["User Profile", "user_profile", "system"].map(Value::from);
    for scalar in given.into_iter().filter(|scalar| !replaced.contains(scalar)) {
        assert!(kept.contains(&scalar), "{scalar} of {input:#} is not in {output:#}");
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

proptest! {
    #[test]
    fn any_value_is_read_losslessly_or_refused(value in any_value()) {
        let read = read_agent(value.to_string().as_bytes(), "", &Limits::default(), &AnchorRegistry::system());
        if let Ok(agent) = read {
            assert_all_kept(&value, &agent.value.write());
        }
    }

    #[test]
    fn any_agent_is_read_losslessly(agent in any_agent()) {
        assert_all_kept(&agent, &read(&agent.to_string()).value.write());
    }

    #[test]
    fn migration_is_idempotent_and_moves_no_entry(value in any_agent()) {
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
        // What was migrated is also what is stored.
        let stored = Agent::read(once.write(), &mut Reader::new());
        prop_assert_eq!(stored.write(), once.write());
    }
}
