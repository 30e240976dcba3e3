use ctx_processors::regex_rules::{RuleLimits, Stage, Subject, Target};
use ctx_types::Role;
use serde_json::{Value, json};

use crate::rules::case::{ANSWER, rules, run};

#[track_caller]
fn check(fields: Value, subject: Subject, expected: bool) {
    let mut rule = json!({ "regex": "a", "replacement": "b" });
    rule.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (set, _) = rules(json!([rule]));
    let (after, _) = run(&set, RuleLimits::default(), &[("a", subject)]);
    assert_eq!(after[0].is_changed(), expected);
    assert_eq!(set.applies_to(subject), expected);
}

fn by(role: Role) -> Subject {
    Subject { target: Target::Message(role), ..ANSWER }
}

fn at(depth: usize) -> Subject {
    Subject { depth: Some(depth), ..ANSWER }
}

#[test]
fn matches_only_listed_roles() {
    for role in [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool] {
        check(json!({ "targetRoles": ["user"] }), by(role), role == Role::User);
        check(json!({ "targetRoles": ["system"] }), by(role), role.is_instruction());
        check(
            json!({ "targetRoles": ["tool", "assistant"] }),
            by(role),
            matches!(role, Role::Tool | Role::Assistant),
        );
        check(json!({ "targetRoles": [] }), by(role), false);
        check(json!({}), by(role), role != Role::Tool);
    }
}

#[test]
fn matches_only_listed_texts() {
    let book = Subject { target: Target::Worldbook, ..ANSWER };
    let reasoning = Subject { target: Target::Reasoning, ..ANSWER };
    check(json!({}), book, false);
    check(json!({ "targetTexts": ["worldbook"] }), book, true);
    check(json!({ "targetTexts": ["worldbook"] }), reasoning, false);
    check(json!({ "targetTexts": ["reasoning"], "targetRoles": [] }), reasoning, true);
    check(json!({ "targetTexts": ["reasoning"], "targetRoles": [] }), ANSWER, false);
}

#[test]
fn matches_depths_within_range() {
    let range = |min: Value, max: Value| json!({ "depthRange": { "min": min, "max": max } });
    check(range(json!(1), json!(2)), at(0), false);
    check(range(json!(1), json!(2)), at(1), true);
    check(range(json!(1), json!(2)), at(2), true);
    check(range(json!(1), json!(2)), at(3), false);
    check(range(json!(1), Value::Null), at(9_999), true);
    check(range(Value::Null, json!(0)), at(0), true);
    check(range(Value::Null, json!(0)), at(1), false);
    check(range(json!(2), json!(1)), at(1), false);
    check(range(json!(1), json!(2)), Subject { depth: None, ..ANSWER }, true);
}

#[test]
fn matches_stages_in_apply_to() {
    let at = |stage| Subject { stage, ..ANSWER };
    for (stage, name) in [(Stage::Render, "render"), (Stage::Request, "request"), (Stage::Store, "store")] {
        for (other, key) in [(Stage::Render, "render"), (Stage::Request, "request"), (Stage::Store, "store")]
        {
            check(json!({ "applyTo": { (key): true } }), at(stage), stage == other);
            check(json!({ "applyTo": { (key): false } }), at(stage), false);
        }
        check(json!({}), at(stage), name != "store");
        check(json!({ "applyTo": {} }), at(stage), false);
    }
    check(json!({ "applyTo": { "store": true } }), at(Stage::Edit), false);
    check(json!({ "applyTo": { "store": true }, "runOnEdit": true }), at(Stage::Edit), true);
    check(json!({ "applyTo": { "render": true }, "runOnEdit": true }), at(Stage::Edit), false);
}
