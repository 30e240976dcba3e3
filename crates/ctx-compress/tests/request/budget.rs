//! Invariant 4: never more than the budget, or the outcome says what is in the way.

use ctx_compress::codes;
use ctx_compress::request::{
    CompressionPipeline, Fate, Material, Meter, Overflow, Part, PassOutcome, RequestConfig, Selection,
    Strategy,
};
use ctx_types::{Diagnostic, Message, phrase};
use proptest::prelude::*;

use crate::generate::requests;
use crate::relief::request;
use crate::{Pass, Setting, cases, settings};

fn check(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    let budget = pass.pipeline.config().token_budget;
    let tokens = pass.tokens(&pass.done.messages);
    match &pass.done.report.outcome {
        PassOutcome::Infeasible(overflow) => {
            assert!(overflow.needed > budget && overflow.budget == budget, "{overflow}");
            check_overflow(&pass, messages, overflow);
            assert_eq!(pass.done.messages, pass.given, "nothing is done by halves");
        }
        outcome => assert!(tokens <= budget, "{tokens} of {budget}: {outcome}"),
    }
    let is_overrun = |found: &Diagnostic| found.code == codes::STRATEGY_OVERRUN;
    assert!(!pass.done.report.diagnostics.iter().any(is_overrun), "strategies of our own keep to their room");
}

/// Compares what an overflow says with the groups, and with passes that have just what it needs, and less.
fn check_overflow(pass: &Pass, messages: &[Message], overflow: &Overflow) {
    let plan = pass.pipeline.plan(messages, pass.protection);
    let fixed = || plan.steps.iter().filter(|step| step.part != Part::History);
    for cost in &overflow.parts {
        let steps = || fixed().filter(|step| step.part == cost.part);
        assert_eq!(cost.messages, steps().map(|step| step.range.len()).sum::<usize>());
        let whole: u64 = steps().map(|step| step.tokens_before).sum();
        assert!(cost.tokens <= whole && (cost.part == Part::Current || cost.tokens == whole), "{overflow}");
    }
    assert!(fixed().all(|step| overflow.parts.iter().any(|cost| cost.part == step.part)));
    assert_eq!(overflow.parts.iter().map(|part| part.tokens).sum::<u64>(), overflow.needed);
    assert!(overflow.parts.is_sorted_by(|a, b| a.tokens >= b.tokens));
    assert_eq!(overflow.largest.len(), fixed().count().min(3));
    assert!(overflow.largest.is_sorted_by(|a, b| a.tokens >= b.tokens));
    let is_feasible = |budget: u64| {
        let config = RequestConfig { token_budget: budget, ..pass.pipeline.config().clone() };
        let pipeline = CompressionPipeline::new(config).with_meter(pass.pipeline.meter().clone());
        !matches!(pipeline.plan(messages, pass.protection).outcome, PassOutcome::Infeasible(_))
    };
    assert!(is_feasible(overflow.needed) && !is_feasible(overflow.needed - 1), "{overflow}");
}

/// Keeps everything, whatever room there is.
#[derive(Debug)]
struct KeepAll;

impl Strategy for KeepAll {
    fn name(&self) -> &'static str {
        "keep-all"
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let fates = material.groups.iter().map(|_| Fate::Keep(phrase!("why not")));
        Selection { fates: fates.collect(), notes: Vec::new() }
    }
}

/// Gives so many tokens less than there are to a strategy that keeps all; names what is left, and whether that is told.
#[track_caller]
fn check_overrun(ids: &str, less: u64, expected: &str, is_told: bool) {
    let messages = request(ids);
    let budget = Meter::estimate().messages(&messages) - less;
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget)).with_strategy(Box::new(KeepAll));
    let done = pipeline.compress_if_needed(&messages);
    let left = done.messages.iter().map(|message| message.source.id.as_deref().unwrap());
    assert_eq!(left.collect::<Vec<_>>().join(" "), expected);
    let codes: Vec<u16> = done.report.diagnostics.iter().map(|found| found.code.number()).collect();
    assert_eq!(codes, if is_told { vec![807] } else { Vec::new() });
}

#[test]
fn a_strategy_that_keeps_too_much_is_held_to_its_room() {
    check_overrun("h1 a2", 0, "h1 a2", false);
    check_overrun("h1 a2", 1, "a2", true);
    // There is room for it, but only because what must stay was shortened.
    check_overrun("h1 a2", 100, "a2", true);
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 4.
    #[test]
    fn the_result_is_within_the_budget_or_names_what_is_in_the_way(messages in requests(), setting in settings()) {
        check(&messages, setting);
    }
}
