//! What a user changes: only what differs is stored, and a reset restores everything.

use ctx_pipeline::{Pipeline, ProcessorRegistry, StoredSettings};
use ctx_types::Agent;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::settings::case::registry;

/// Changes settings, and compares what is then to be stored; stored and read again it stays the same.
#[track_caller]
fn check(change: impl FnOnce(&mut StoredSettings, &ProcessorRegistry), expected: Value) {
    let mut stored = StoredSettings::default();
    change(&mut stored, &registry());
    let written = serde_json::to_value(&stored).unwrap();
    assert_eq!(written, expected);
    assert_eq!(serde_json::to_value(stored.settings()).unwrap(), written);
    let (read, found) = StoredSettings::read(&written, "");
    assert_eq!(found, []);
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[test]
fn what_differs_is_stored() {
    check(
        |stored, registry| {
            stored.set_enabled(registry, "primary:alpha", false);
            stored.set(registry, "alpha", "limit", &json!(7));
            stored.set_priority(registry, "beta", 250);
        },
        json!([
            { "id": "alpha", "enabled": false, "config": { "limit": 7 } },
            { "id": "beta", "priority": 250 },
        ]),
    );
}

#[test]
fn what_is_as_built_in_is_not_stored() {
    check(
        |stored, registry| {
            stored.set_enabled(registry, "alpha", true);
            stored.set_enabled(registry, "beta", true);
            stored.set_enabled(registry, "beta", false);
            stored.set(registry, "alpha", "limit", &json!(7));
            stored.set(registry, "alpha", "limit", &json!(5));
            stored.set_priority(registry, "alpha", 100);
            stored.reorder(registry, &["alpha", "beta", "token-limiter"]);
        },
        json!([]),
    );
}

#[test]
fn settings_of_a_processor_that_is_not_registered_stay() {
    check(
        |stored, registry| {
            stored.set_enabled(registry, "guest", true);
            stored.set(registry, "guest", "x", &json!(null));
        },
        json!([{ "id": "guest", "enabled": true, "config": { "x": null } }]),
    );
}

#[test]
fn a_group_is_changed_member_by_member() {
    check(
        |stored, registry| {
            stored.set_enabled(registry, "message-formatters", false);
            stored.set(registry, "message-formatters", "separator", &json!("+"));
            stored.reset_one("merge-system-to-head");
        },
        json!([
            { "id": "merge-consecutive-roles", "enabled": false, "config": { "separator": "+" } },
            { "id": "convert-system-to-user", "config": { "separator": "+" } },
        ]),
    );
}

#[test]
fn a_group_that_is_stored_is_split_when_a_member_changes() {
    let group = json!([{ "id": "message-formatter", "enabled": false, "config": { "separator": "+" } }]);
    check(
        |stored, registry| {
            *stored = StoredSettings::read(&group, "").0;
            stored.set_enabled(registry, "merge-system-to-head", true);
        },
        json!([
            { "id": "merge-system-to-head", "config": { "separator": "+" } },
            { "id": "merge-consecutive-roles", "enabled": false, "config": { "separator": "+" } },
            { "id": "convert-system-to-user", "config": { "separator": "+" } },
        ]),
    );
}

#[test]
fn reordering_changes_as_few_priorities_as_possible() {
    check(
        |stored, registry| stored.reorder(registry, &["beta", "alpha", "token-limiter"]),
        json!([{ "id": "beta", "priority": 99 }]),
    );
    check(
        |stored, registry| {
            stored.reorder(
                registry,
                &["alpha", "nothing", "token-limiter", "merge-system-to-head", "beta", "alpha"],
            );
        },
        json!([{ "id": "beta", "priority": 501 }]),
    );
}

#[test]
fn reordering_back_stores_nothing() {
    check(
        |stored, registry| {
            stored.reorder(registry, &["beta", "alpha"]);
            stored.set_priority(registry, "beta", 200);
        },
        json!([]),
    );
}

#[test]
fn a_reset_restores_everything() {
    let change = |stored: &mut StoredSettings, registry: &ProcessorRegistry| {
        stored.set_enabled(registry, "alpha", false);
        stored.set(registry, "token-limiter", "retainedCharacters", &json!(7));
        stored.reorder(registry, &["token-limiter", "beta", "alpha"]);
    };
    check(
        |stored, registry| {
            change(stored, registry);
            stored.reset();
        },
        json!([]),
    );
    check(
        |stored, registry| {
            change(stored, registry);
            for id in ["alpha", "primary:beta", "token-limiter"] {
                stored.reset_one(id);
            }
        },
        json!([]),
    );
}

proptest! {
    #[test]
    fn processors_run_in_the_order_they_are_given(
        ids in Just(registry().descriptors().map(|known| known.id.to_string()).collect::<Vec<_>>()).prop_shuffle(),
        count in 0..8_usize,
    ) {
        let registry = registry();
        let mut stored = StoredSettings::default();
        let given: Vec<&str> = ids.iter().map(String::as_str).take(count).collect();
        for id in &ids {
            stored.set_enabled(&registry, id, true);
        }
        stored.reorder(&registry, &given);
        let pipeline = Pipeline::compile(&registry, &Agent::default(), &[stored.layer()]);
        prop_assert_eq!(pipeline.order().filter(|id| given.contains(id)).collect::<Vec<_>>(), given);
        prop_assert_eq!(pipeline.order().count(), ids.len());
    }
}
