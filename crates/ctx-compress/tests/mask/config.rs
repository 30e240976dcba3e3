//! Settings on two levels, and the trigger.

use ctx_compress::mask::{
    ConversationKind, Language, MaskConfig, MaskLayer, MaskLevel, MaskTotals, MaskTrigger, TriggerMode,
};
use ctx_types::Role;
use ctx_types::internal::Fingerprint;
use serde_json::{Value, json};

/// Resolves global and agent settings; checks one value, who set it, and the findings.
#[track_caller]
fn check(global: Value, agent: Value, key: &str, expected: (Value, MaskLevel), findings: &[&str]) {
    let layers = [MaskLayer::new(MaskLevel::Agent, agent), MaskLayer::new(MaskLevel::Global, global)];
    let settings = MaskConfig::resolve(&layers);
    let value = settings.values.iter().find(|value| &*value.key == key).unwrap();
    assert_eq!((value.value.clone(), value.level), expected);
    let found: Vec<String> = settings.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

#[test]
fn the_defaults_are_those_of_the_design() {
    let config = MaskConfig::default();
    assert!(config.enabled && config.auto_trigger);
    assert_eq!(config.trigger_mode, TriggerMode::Token);
    assert_eq!((config.token_threshold, config.count_threshold), (80_000, 50));
    assert_eq!((config.protect_recent_count, config.compress_count, config.min_history_count), (10, 20, 15));
    assert_eq!((config.summary_role, config.summary_model.clone()), (Role::System, None));
    assert_eq!((config.summary_max_tokens, config.summary_temperature.to_string().as_str()), (4096, "0.3"));
    assert!(config.summary_prompt.is_empty() && config.continue_summary_prompt.is_empty());
    assert_eq!((config.summary_profile, config.summary_language), (None, None));
}

#[test]
fn the_agent_overrides_field_by_field() {
    let global =
        json!({ "autoTrigger": false, "defaultStrategy": { "countThreshold": 80, "compressCount": 7 } });
    let agent = json!({ "countThreshold": 60 });
    check(global.clone(), agent.clone(), "countThreshold", (json!(60), MaskLevel::Agent), &[]);
    check(global.clone(), agent.clone(), "compressCount", (json!(7), MaskLevel::Global), &[]);
    check(global.clone(), agent.clone(), "autoTrigger", (json!(false), MaskLevel::Global), &[]);
    check(global, agent, "minHistoryCount", (json!(15), MaskLevel::BuiltIn), &[]);
}

#[test]
fn an_explicit_zero_is_a_zero() {
    for key in ["protectRecentCount", "compressCount", "minHistoryCount", "tokenThreshold", "countThreshold"]
    {
        check(
            json!({ "defaultStrategy": { key: 9 } }),
            json!({ key: 0 }),
            key,
            (json!(0), MaskLevel::Agent),
            &[],
        );
    }
    let layers = [MaskLayer::new(MaskLevel::Call, json!({ "protectRecentCount": 0, "minHistoryCount": 0 }))];
    let config = MaskConfig::resolve(&layers).config;
    assert_eq!((config.protect_recent_count, config.min_history_count), (0, 0));
}

#[test]
fn null_is_as_if_absent() {
    check(
        json!({ "enabled": false }),
        json!({ "enabled": null }),
        "enabled",
        (json!(false), MaskLevel::Global),
        &[],
    );
    check(json!(null), json!({}), "enabled", (json!(true), MaskLevel::BuiltIn), &[]);
}

#[test]
fn a_value_of_a_wrong_type_leaves_the_lower_level() {
    check(
        json!({ "defaultStrategy": { "countThreshold": 70 } }),
        json!({ "countThreshold": "60" }),
        "countThreshold",
        (json!(70), MaskLevel::Global),
        &[
            "warning[CTX0825]: compression setting `countThreshold` is `\"60\"`; expected a whole number from 0 to 1000000000000 (at /countThreshold)",
        ],
    );
}

#[test]
fn an_unknown_setting_is_reported_with_the_nearest() {
    check(
        json!({ "defaultStrategy": { "tokenTreshold": 7 } }),
        json!(7),
        "tokenThreshold",
        (json!(80_000), MaskLevel::BuiltIn),
        &[
            "warning[CTX0826]: unknown compression setting `tokenTreshold` (at /defaultStrategy/tokenTreshold)",
            "warning[CTX0825]: the compression settings must be an object (at /)",
        ],
    );
}

#[test]
fn a_model_is_named_in_both_forms() {
    let model = |value: Value| {
        let layers = [MaskLayer::new(MaskLevel::Call, json!({ "summaryModel": value }))];
        MaskConfig::resolve(&layers).config.summary_model.map(|model| model.to_string())
    };
    assert_eq!(model(json!({ "profileId": "p", "modelId": "m:1" })), Some("p:m:1".to_owned()));
    assert_eq!(model(json!("p:m:1")), Some("p:m:1".to_owned()));
    assert_eq!(model(json!(" ")), None);
}

#[test]
fn profile_and_language_can_be_set() {
    let layers =
        [MaskLayer::new(MaskLevel::Call, json!({ "summaryProfile": "roleplay", "summaryLanguage": "zh" }))];
    let config = MaskConfig::resolve(&layers).config;
    assert_eq!(config.summary_profile, Some(ConversationKind::RolePlay));
    assert_eq!(config.summary_language, Some(Language::Chinese));
}

#[test]
fn every_field_takes_its_default() {
    for field in MaskConfig::fields() {
        assert_eq!(field.check(&field.default), Ok(()), "{}", field.key);
        assert!(!field.label.is_empty());
    }
    assert_ne!(Fingerprint::default().number(1), Fingerprint::default().number(2));
}

/// Asks the trigger with some settings, for a number of tokens and messages.
#[track_caller]
fn check_trigger(settings: Value, tokens: u64, messages: usize, expected: &str) {
    let config = MaskConfig::resolve(&[MaskLayer::new(MaskLevel::Call, settings)]).config;
    let trigger = MaskTrigger::check(&config, MaskTotals { tokens, messages });
    let fires = if trigger.fires() { "fires: " } else { "" };
    assert_eq!(format!("{fires}{trigger}"), expected);
}

#[test]
fn thresholds_must_be_passed_not_met() {
    check_trigger(json!({}), 80_000, 99, "no threshold is exceeded");
    check_trigger(json!({}), 80_001, 99, "fires: 80001 tokens exceed the threshold of 80000");
    check_trigger(json!({ "triggerMode": "count" }), 90_000, 50, "no threshold is exceeded");
    check_trigger(json!({ "triggerMode": "count" }), 0, 51, "fires: 51 messages exceed the threshold of 50");
}

#[test]
fn both_means_either() {
    check_trigger(json!({ "triggerMode": "both" }), 0, 51, "fires: 51 messages exceed the threshold of 50");
    check_trigger(
        json!({ "triggerMode": "both" }),
        80_001,
        15,
        "fires: 80001 tokens exceed the threshold of 80000",
    );
    check_trigger(json!({ "triggerMode": "both" }), 80_000, 50, "no threshold is exceeded");
}

#[test]
fn short_conversations_are_left_alone_in_every_mode() {
    let expected = "14 messages; compression starts at 15";
    for mode in ["token", "count", "both"] {
        check_trigger(json!({ "triggerMode": mode, "countThreshold": 0 }), 90_000, 14, expected);
    }
}

#[test]
fn switches_stop_the_trigger() {
    check_trigger(json!({ "enabled": false }), 90_000, 99, "compression is disabled");
    check_trigger(json!({ "autoTrigger": false }), 90_000, 99, "compression is manual");
}

#[test]
fn totals_count_what_is_sent() {
    let session = crate::conversation("s u a ~u a");
    let counter = ctx_tokens::Counter::estimate();
    let totals = MaskTotals::of(&session, &counter);
    assert_eq!(totals.messages, 4);
    assert_eq!(totals, MaskTotals::of(&session, &counter));
    assert!(totals.tokens > 200 && totals.tokens < 300, "{totals:?}");
}
