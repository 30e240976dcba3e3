use ctx_macros::{Env, Limits, State, Template};
use ctx_processors::regex_rules::{RuleLimits, RuleRun, RuleSet};
use ctx_types::{Source, Text};
use serde_json::json;

use crate::rules::case::{ANSWER, rules, run};

/// A rule with exponential time on `aaaa…`, and a cheap one.
fn evil() -> RuleSet {
    let (set, found) = rules(json!([
        { "name": "evil", "regex": r"/(a+)+\1!|e/g", "replacement": "x" },
        { "name": "good", "regex": "/b/g", "replacement": "c" },
    ]));
    assert_eq!(found, []);
    set
}

/// Runs twice: the second result is cached.
#[track_caller]
fn check(set: &RuleSet, limits: RuleLimits, texts: &[&str], expected: &[&str], findings: &[&str]) {
    let texts: Vec<_> = texts.iter().map(|text| (*text, ANSWER)).collect();
    for _ in 0..2 {
        let (after, found) = run(set, limits, &texts);
        let after: Vec<&str> = after.iter().map(|after| after.text.as_str()).collect();
        assert_eq!(after, expected);
        assert_eq!(found.len(), findings.len(), "{found:?}");
        for (found, expected) in found.iter().zip(findings) {
            assert!(found.to_string().starts_with(expected), "{found}");
        }
    }
}

#[test]
fn reports_stopped_rule_once_and_skips_it() {
    let long = "a".repeat(10_000) + "b";
    let kept = "a".repeat(10_000) + "c";
    let limits = RuleLimits { text_steps: 10_000, ..RuleLimits::default() };
    check(
        &evil(),
        limits,
        &["e b", &long, "e b", &long],
        &["x c", &kept, "e c", &kept],
        &["warning[CTX0773]: the regex rule `evil` stopped: search takes too many steps"],
    );
}

#[test]
fn starts_next_run_with_remaining_steps() {
    let (set, _) = rules(json!([{ "regex": "/b/g", "replacement": "c" }]));
    let (env, mut state) = (Env::default(), State::new(Limits::default()));
    let mut expand = |template: &Template, source: &Source| template.expand(&env, &mut state, source);
    let mut run = RuleRun::new(&set, RuleLimits::default(), &mut expand).with_steps(10);
    let long = "a b ".repeat(1_000);
    assert_eq!(run.apply(&Text::from(long.as_str()), ANSWER).text.as_str(), long);
    let found: Vec<String> = run.finish().iter().map(|found| found.code.to_string()).collect();
    assert_eq!(found, ["CTX0774"]);
}

#[test]
fn keeps_remaining_texts_after_last_step() {
    let limits = RuleLimits { text_steps: 1_000, steps: 1_100, ..RuleLimits::default() };
    let (set, _) = rules(json!([{ "regex": "/b/g", "replacement": "c" }]));
    let long = "b ".repeat(100);
    let changed = "c ".repeat(100);
    let few = RuleLimits { steps: 5_000, ..limits };
    check(&set, few, &["b", &long, "b"], &["c", &changed, "c"], &[]);
    check(
        &set,
        limits,
        &["b", &long, "b", &long, "b"],
        &["c", &changed, "c", &long, "b"],
        &[
            "warning[CTX0774]: the regex rules exceed 1100 steps in total, at the rule `/regexConfig/presets/0/rules/0`",
        ],
    );
    let spent = "warning[CTX0774]: the regex rules exceed 0 steps in total, at the rule `/regexConfig/presets/0/rules/0`";
    check(&set, RuleLimits { steps: 0, ..limits }, &["", "b"], &["", "b"], &[spent]);
}

#[test]
fn limits_growth_of_text() {
    let (set, _) = rules(json!([
        { "name": "grow", "regex": "/b/g", "replacement": "$&$&" },
        { "name": "more", "regex": "/b/g", "replacement": "c" },
    ]));
    let limits = RuleLimits { text_bytes: 8, ..RuleLimits::default() };
    check(
        &set,
        limits,
        &["bbbb", "bbbbb", "bb"],
        &["cccccccc", "ccccc", "cc"],
        &["warning[CTX0773]: the regex rule `grow` stopped: replaced text exceeds the limit of 8 bytes"],
    );
}
