//! Invariant 10: what a running loop has added stays as it is.

use ctx_compress::request::Protection;
use ctx_types::Message;
use proptest::prelude::*;

use crate::generate::{paired_requests, requests};
use crate::{Setting, cases, paired, settings};

/// Compresses what precedes a loop; the loop itself fits the budget.
fn check(messages: &[Message], setting: Setting, start: usize) {
    let pipeline = setting.pipeline(messages);
    let done = pipeline.compress_historical_messages(messages, start);
    let given = paired(messages);
    let plan = pipeline.plan(messages, Protection::CurrentLoop(start));
    let is_shortened = plan.steps.iter().any(|step| step.reason == "larger than the whole budget");
    let (given_loop, new_loop) = (given.len().min(start), done.new_loop_start);
    if given == messages {
        assert!(new_loop <= given_loop, "{new_loop} is not behind {given_loop}");
        if !is_shortened {
            assert_eq!(done.messages[new_loop..], given[given_loop..]);
        }
        assert_eq!(done.messages.len() - new_loop, given.len() - given_loop, "none of the loop goes");
    }
    assert!(new_loop <= done.messages.len());
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 10, from any start, also 0, the end, and beyond it.
    #[test]
    fn a_loop_stays_as_it_is(messages in paired_requests(), setting in settings(), start in 0_usize..60) {
        for start in [start, 0, messages.len()] {
            check(&messages, setting, start);
        }
    }

    /// Invariant 10, with calls that do not pair: the start stays within the result.
    #[test]
    fn a_start_among_broken_pairs_stays_within_the_result(messages in requests(), setting in settings(), start in 0_usize..60) {
        check(&messages, setting, start);
    }
}
