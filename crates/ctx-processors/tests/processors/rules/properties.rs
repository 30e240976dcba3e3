use ctx_processors::regex_rules::{RuleLimits, Stage, Subject, Target};
use ctx_types::internal::is_partition;
use ctx_types::{Role, Segment, Source};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rules::case::{rules, run};

fn rule() -> impl Strategy<Value = Value> {
    let regex = proptest::sample::select(
        &["a", "/b/", "[ab]+", "/(a)(b)?/g", "/$/", "", "(?=a)", r"/(\w)\1/g", "/{{user}}/", "x*", "中", "("]
            [..],
    );
    let replacement =
        proptest::sample::select(&["", "b", "$1", "$&$&", "{{user}}", "{{incvar::n}}$1", "a中"][..]);
    let roles = proptest::collection::vec(proptest::sample::select(&ROLES[..]), 0..3);
    (regex, replacement, roles, 0..4_i64, 0..4_i64, any::<bool>()).prop_map(
        |(regex, replacement, roles, min, max, escaped)| {
            json!({
                "regex": regex, "replacement": replacement, "targetRoles": roles,
                "depthRange": { "min": min, "max": max },
                "substitutionMode": if escaped { "ESCAPED" } else { "NONE" },
            })
        },
    )
}

const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

fn subject() -> impl Strategy<Value = Subject> {
    let role = proptest::sample::select(&ROLES[..]).prop_map(|role| Role::parse(role).unwrap());
    let stage = proptest::sample::select(&[Stage::Render, Stage::Request, Stage::Store][..]);
    (role, stage, 0..5_usize).prop_map(|(role, stage, depth)| Subject {
        stage,
        target: Target::Message(role),
        depth: Some(depth),
    })
}

fn texts() -> impl Strategy<Value = Vec<(String, Subject)>> {
    proptest::collection::vec(("[abx中M ]{0,8}|Mei", subject()), 0..6)
}

fn borrowed(texts: &[(String, Subject)]) -> Vec<(&str, Subject)> {
    texts.iter().map(|(text, subject)| (text.as_str(), *subject)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn changes_no_text_outside_roles_and_depths(
        config in proptest::collection::vec(rule(), 0..5),
        texts in texts(),
    ) {
        let (set, _) = rules(json!(config));
        let (after, _) = run(&set, RuleLimits::default(), &borrowed(&texts));
        for ((text, subject), after) in texts.iter().zip(&after) {
            let Target::Message(role) = subject.target else { continue };
            let is_meant = |rule: &Value| {
                let roles: Vec<&str> = rule["targetRoles"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                let depth = i64::try_from(subject.depth.unwrap()).unwrap();
                let (min, max) = (&rule["depthRange"]["min"], &rule["depthRange"]["max"]);
                roles.contains(&role.as_str())
                    && min.as_i64().unwrap() <= depth
                    && depth <= max.as_i64().unwrap()
                    && subject.stage != Stage::Store
            };
            if !config.iter().any(is_meant) {
                prop_assert_eq!(after.text.as_str(), text);
                prop_assert!(!after.is_changed());
            }
            for changed in after.changed_by() {
                prop_assert!(set.rules()[changed].applies_to(*subject));
            }
        }
    }

    #[test]
    fn gives_same_result_on_second_run(
        config in proptest::collection::vec(rule(), 0..5),
        texts in texts(),
        text_steps in prop_oneof![Just(2_000_000_u64), 0..100_u64],
        steps in prop_oneof![Just(25_000_000_u64), 0..400_u64],
    ) {
        let limits = RuleLimits { text_steps, steps, ..RuleLimits::default() };
        let (set, _) = rules(json!(config));
        let (cold, _) = rules(json!(config));
        let texts = borrowed(&texts);
        run(&set, RuleLimits { text_steps, ..RuleLimits::default() }, &texts);
        let (warm, warm_findings) = run(&set, limits, &texts);
        let (cold, cold_findings) = run(&cold, limits, &texts);
        let texts_of = |after: &[ctx_processors::regex_rules::RewrittenText]| {
            after.iter().map(|after| (after.text.clone(), after.changed_by().collect::<Vec<_>>())).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts_of(&warm), texts_of(&cold));
        prop_assert_eq!(warm_findings, cold_findings);
    }

    #[test]
    fn covers_each_text_with_segments(config in proptest::collection::vec(rule(), 0..5), texts in texts()) {
        let (set, _) = rules(json!(config));
        let (after, _) = run(&set, RuleLimits::default(), &borrowed(&texts));
        for ((text, _), after) in texts.iter().zip(&after) {
            let before: Vec<Segment> = (!text.is_empty())
                .then(|| Segment::full(text.len(), Source::history("n", Role::User)))
                .into_iter()
                .collect();
            prop_assert!(is_partition(&after.segments(&set, &before), after.text.len()));
        }
    }
}
