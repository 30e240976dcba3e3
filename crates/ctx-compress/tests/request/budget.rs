//! Invariant 4: never more than the budget, or the outcome says what is in the way.

use ctx_compress::request::PassOutcome;
use ctx_types::Message;
use proptest::prelude::*;

use crate::generate::requests;
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

proptest! {
    #![proptest_config(cases())]

    /// Invariant 4.
    #[test]
    fn the_result_is_within_the_budget_or_names_what_is_in_the_way(messages in requests(), setting in settings()) {
        check(&messages, setting);
    }
}
