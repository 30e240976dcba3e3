use ctx_pipeline::{Pipeline, ProcessorRegistry, SettingOrigin, SettingsLayer};
use ctx_types::Agent;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::settings::case::{add, registry};

#[track_caller]
fn check(priorities: &[i64], expected: &[&str]) {
    let pipeline = Pipeline::compile(&numbered(priorities), &Agent::default(), &[]);
    assert_eq!(pipeline.order().collect::<Vec<_>>(), expected);
}

fn numbered(priorities: &[i64]) -> ProcessorRegistry {
    let mut registry = ProcessorRegistry::default();
    for (index, priority) in priorities.iter().enumerate() {
        add(&mut registry, &index.to_string(), *priority, true, Vec::new());
    }
    registry
}

#[test]
fn runs_smaller_priorities_first() {
    check(&[300, 100, 200], &["1", "2", "0"]);
    check(&[0, -1, i64::MAX, i64::MIN], &["3", "1", "0", "2"]);
}

#[test]
fn breaks_ties_by_registration_order() {
    check(&[100, 100, 50, 100], &["2", "0", "1", "3"]);
}

#[test]
fn runs_only_enabled_processors() {
    let pipeline = Pipeline::compile(&registry(), &Agent::default(), &[]);
    let order: Vec<&str> = pipeline.order().collect();
    assert_eq!(order, ["alpha", "token-limiter", "merge-system-to-head", "merge-consecutive-roles"]);
    assert_eq!(pipeline.settings().len(), 7);
}

#[test]
fn applies_settings_to_order_and_selection() {
    let parameters = json!({ "processors": [
        { "id": "beta", "enabled": true, "priority": 600 },
        { "id": "alpha", "enabled": false },
        { "id": "token-limiter", "priority": 1000 },
    ] });
    let (layer, _) = SettingsLayer::from_parameters(SettingOrigin::Agent, &parameters, "");
    let pipeline = Pipeline::compile(&registry(), &Agent::default(), &[layer]);
    let order: Vec<&str> = pipeline.order().collect();
    // `beta` was registered before the other processor with priority 600.
    assert_eq!(order, ["merge-system-to-head", "beta", "merge-consecutive-roles", "token-limiter"]);
}

proptest! {
    #[test]
    fn orders_each_enabled_processor_once(
        processors in vec((-3..3_i64, any::<bool>(), proptest::option::of(any::<bool>())), 0..12),
    ) {
        let mut registry = ProcessorRegistry::default();
        let mut expected = Vec::new();
        let mut settings = Vec::new();
        for (index, (priority, is_on, set)) in processors.iter().enumerate() {
            add(&mut registry, &index.to_string(), *priority, *is_on, Vec::new());
            settings.extend(set.map(|enabled| json!({ "id": index.to_string(), "enabled": enabled })));
            if set.unwrap_or(*is_on) {
                expected.push((*priority, index));
            }
        }
        expected.sort_unstable();
        let expected: Vec<String> = expected.into_iter().map(|(_, index)| index.to_string()).collect();
        let (layer, _) = SettingsLayer::read(SettingOrigin::User, &settings.into(), "");
        let pipeline = Pipeline::compile(&registry, &Agent::default(), &[layer]);
        prop_assert_eq!(pipeline.order().collect::<Vec<_>>(), expected);
    }
}
