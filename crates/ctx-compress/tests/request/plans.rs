//! Plans: what they say of each group, when a pass is worth it, and what a strategy is given.

use ctx_compress::codes;
use ctx_compress::request::{
    CompressionPipeline, Fate, Material, Part, PassOutcome, Protection, RequestConfig, Selection, Strategy,
    UsageWatch, strategy,
};
use ctx_types::{Content, Message, Phrase, Place, Role, Source, phrase};
use proptest::prelude::*;
use serde_json::json;

use crate::generate::requests;
use crate::relief::request;
use crate::{Setting, cases, settings};

/// Decides as it is told: `keep` or `drop` for each group, with the reasons.
#[derive(Debug)]
struct Script(Vec<(&'static str, &'static str)>);

impl Strategy for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn choose(&self, _: &Material<'_>) -> Selection {
        let fate = |(action, reason): &(&str, &'static str)| match *action {
            "keep" => Fate::Keep(Phrase::verbatim(*reason)),
            _ => Fate::Drop(Phrase::verbatim(*reason)),
        };
        Selection { fates: self.0.iter().map(fate).collect(), notes: Vec::new() }
    }
}

/// Messages of 20 tokens each.
fn twenties(ids: &str) -> Vec<Message> {
    let role = |id: &str| if id.starts_with('u') { Role::User } else { Role::Assistant };
    let message = |id: &str| Message::new(role(id), "w".repeat(40), Source::history(id, role(id)));
    ids.split_whitespace().map(message).collect()
}

fn scripted(config: RequestConfig, script: &[(&'static str, &'static str)]) -> CompressionPipeline<'static> {
    CompressionPipeline::new(config).with_strategy(Box::new(Script(script.to_vec())))
}

#[test]
fn a_plan_is_written_as_json() {
    let pipeline = scripted(RequestConfig::to_fit(59), &[("drop", "x"), ("keep", "y")]);
    let given = twenties("a1 a2 u3");
    let step = |action: &str, id: &str, reason: &str, after: u64| json!({ "action": action, "id": id, "messages": 1, "reason": reason, "tokensBefore": 20, "tokensAfter": after });
    assert_eq!(
        pipeline.plan(&given, Protection::PendingTurn).to_json(),
        json!({
            "outcome": { "kind": "compacted" }, "strategy": "script", "budget": 59, "target": 59,
            "tokensBefore": 60, "tokensAfter": 40, "diagnostics": [],
            "steps": [step("drop", "a1", "x", 0), step("keep", "a2", "y", 20), step("keep", "u3", "current turn", 20)],
        })
    );
}

/// Drops one of five messages of 20 tokens, where so much of them must be saved.
#[track_caller]
fn check_worth(budget: u64, min_saving: f64, expected: &str) {
    let (trigger_threshold, target_usage) = (0.9, 0.9);
    let config = RequestConfig {
        token_budget: budget,
        trigger_threshold,
        target_usage,
        min_saving,
        ..RequestConfig::default()
    };
    let pipeline = scripted(config, &[("drop", "x"), ("keep", "x"), ("keep", "x"), ("keep", "x")]);
    let report = pipeline.compress_if_needed(&twenties("a1 a2 a3 a4 u5")).report;
    assert_eq!(report.outcome.to_string(), expected);
    assert_eq!(report.strategy_used, "script");
}

#[test]
fn a_rewrite_must_save_enough_unless_it_must_be() {
    check_worth(105, 0.2, "compacted");
    check_worth(105, 0.21, "no progress: saves only 20 tokens; the minimum is 21");
    check_worth(100, 0.9, "no progress: saves only 20 tokens; the minimum is 90");
    check_worth(99, 0.9, "compacted");
}

#[test]
fn where_all_is_protected_there_is_no_progress() {
    let config = RequestConfig {
        token_budget: 60,
        trigger_threshold: 0.5,
        target_usage: 0.5,
        min_saving: 0.0,
        ..RequestConfig::default()
    };
    let given = twenties("u1 u2");
    let pipeline = CompressionPipeline::new(config);
    let done = pipeline.compress_if_needed(&given);
    assert_eq!(done.report.outcome.to_string(), "no progress: only protected messages are left");
    assert_eq!((done.report.outcome.name(), done.messages), ("noProgress", given.clone()));
    assert!(pipeline.should_compress(&given) && !pipeline.should_compress(&given[..1]));
}

#[test]
fn a_strategy_that_forgets_groups_is_replaced() {
    let given = twenties("a1 a2 u3");
    let pipeline = scripted(RequestConfig::to_fit(59), &[("drop", "x")]);
    let report = pipeline.compress_if_needed(&given).report;
    assert_eq!(
        report.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(),
        [codes::STRATEGY_OVERRUN]
    );
    assert_eq!(report.dropped_count, 2, "only the round that is answered stays");
    let pipeline = pipeline.with_strategy(strategy("key-message").unwrap());
    let report = pipeline.compress_if_needed(&given).report;
    assert_eq!(
        (report.strategy_used.as_str(), report.diagnostics.len(), report.dropped_count),
        ("key-message", 0, 1)
    );
}

#[test]
fn a_note_that_somebody_changed_is_named() {
    let given = request("i0 u1 n2 u3");
    let changed = given[2].clone().with(|message| message.content = Content::Text("one\nline more".into()));
    let messages = [given[0].clone(), given[1].clone(), changed, given[3].clone()];
    let report = CompressionPipeline::new(RequestConfig::default()).compress_if_needed(&messages).report;
    let [found] = &report.diagnostics[..] else { panic!("{:?}", report.diagnostics) };
    assert_eq!((found.code, found.location.pointer.as_deref()), (codes::CHANGED_NOTE, Some("/2")));
    assert!(found.message.to_string().contains("`n2`"), "{}", found.message);
}

/// Looks at what it is given, and keeps nothing.
#[derive(Debug)]
struct Probe;

impl Strategy for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let (budget, target) = (material.config.token_budget, material.config.target());
        let history: u64 = material.groups.iter().map(|group| material.tokens(group)).sum();
        let fixed = material.meter.messages(material.messages) - history;
        if fixed <= budget {
            assert!(material.room >= target.saturating_sub(fixed) && fixed + material.room <= budget);
            assert_eq!(material.room_for_messages, material.room);
            assert_eq!(material.target, target.max(fixed + material.room));
        } else {
            assert_eq!(material.room_for_messages, 0, "what shortening frees is for no message");
            assert!(material.room <= budget && material.target >= target.max(material.room));
        }
        Selection { fates: vec![Fate::Drop(phrase!("probe")); material.groups.len()], notes: Vec::new() }
    }
}

/// Checks what each step says of its group.
fn check_steps(messages: &[Message], setting: Setting) {
    let pipeline = setting.pipeline(messages).with_strategy(Box::new(Probe));
    let plan = pipeline.plan(messages, setting.protection);
    let is_point = |message: &&Message| message.place == Place::Gap { multiple: true };
    let mut end = 0;
    for step in &plan.steps {
        let members = &plan.messages()[step.range.clone()];
        assert_eq!((step.range.start, step.range.is_empty()), (end, false));
        assert_eq!(step.tokens_before, setting.meter().messages(members));
        let own = members.iter().find(|message| !is_point(message));
        if let (Part::History, Some(own)) = (step.part, own) {
            assert_eq!(step.id, own.source.id);
        }
        if !plan.changes() && !matches!(plan.outcome, PassOutcome::NoProgress { .. }) {
            assert_eq!((step.action.as_str(), &step.reason), ("keep", &step.part.phrase()));
        }
        end = step.range.end;
    }
    assert_eq!(end, plan.messages().len());
    assert_eq!(plan.strategy == "none", plan.outcome == PassOutcome::NotNeeded);
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn steps_say_what_their_groups_are(messages in requests(), setting in settings()) {
        check_steps(&messages, setting);
    }

    #[test]
    fn usage_is_what_messages_cost(messages in requests(), setting in settings()) {
        let (pipeline, used) = (setting.pipeline(&messages), setting.meter().messages(&messages));
        let usage = pipeline.usage(&messages);
        prop_assert_eq!((usage.used_tokens, usage.total_budget), (used, pipeline.config().token_budget));
        prop_assert_eq!(usage.remaining, i64::try_from(usage.total_budget).unwrap() - i64::try_from(used).unwrap());
        prop_assert_eq!(UsageWatch::default().tokens(&messages, pipeline.meter()), used);
    }
}
