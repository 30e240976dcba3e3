//! Invariant 4: never more than the budget, or the outcome says what is in the way.

use ctx_compress::request::{
    CompressionPipeline, Fate, Material, Meter, PassOutcome, RequestConfig, Selection, Strategy,
};
use ctx_types::Message;
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
            assert!(!overflow.parts.is_empty());
            let parts: u64 = overflow.parts.iter().map(|part| part.tokens).sum();
            assert!(parts >= overflow.needed, "{overflow}");
            assert_eq!(pass.done.messages, pass.given, "nothing is done by halves");
        }
        outcome => assert!(tokens <= budget, "{tokens} of {budget}: {outcome}"),
    }
}

/// Keeps everything, whatever room there is.
#[derive(Debug)]
struct KeepAll;

impl Strategy for KeepAll {
    fn name(&self) -> &'static str {
        "keep-all"
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let fates = material.groups.iter().map(|_| Fate::Keep("why not".into()));
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
