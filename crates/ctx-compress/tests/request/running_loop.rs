//! Invariant 10: what a running loop has added stays as it is, as far as it fits.

use ctx_compress::request::{
    Compression, CompressionPipeline, Meter, Part, PassOutcome, Protection, RequestConfig,
};
use ctx_types::Message;
use proptest::prelude::*;

use crate::generate::{paired_requests, requests};
use crate::pairing::is_paired;
use crate::relief::message;
use crate::{Setting, cases, paired, settings};

/// Compresses what precedes a loop; the loop itself fits the budget.
fn check(messages: &[Message], setting: Setting, start: usize) {
    let pipeline = setting.pipeline(messages);
    let done = pipeline.compress_historical_messages(messages, start);
    let given = paired(messages);
    let plan = pipeline.plan(messages, Protection::CurrentLoop(start));
    let is_shortened = plan.steps.iter().any(|step| step.reason == "larger than the whole budget");
    let (given_loop, new_loop) = (given.len().min(start), done.new_loop_start);
    let is_replaced = plan.steps.iter().any(|step| step.part == Part::History && step.range.end > given_loop);
    if given == messages {
        assert!(new_loop <= given_loop, "{new_loop} is not behind {given_loop}");
        if !is_shortened && !is_replaced {
            assert_eq!(done.messages[new_loop..], given[given_loop..]);
        }
        if !is_replaced {
            assert_eq!(done.messages.len() - new_loop, given.len() - given_loop, "none of the loop goes");
        }
    }
    assert!(new_loop <= done.messages.len());
}

/// Writes instructions, a question and tool rounds whose results have so many words.
fn long_turn(rounds: usize, words: usize) -> Vec<Message> {
    let rounds =
        (2..rounds + 2).flat_map(|id| [message(&format!("c{id}"), 0), message(&format!("r{id}"), words)]);
    [message("i0", 4), message("u1", 6)].into_iter().chain(rounds).collect()
}

/// Compresses a turn to a budget. Asserts that the question and the newest 2 rounds are whole if they fit.
#[track_caller]
fn compress_turn(messages: &[Message], budget: u64, protection: Protection) -> Compression {
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget));
    let done = pipeline.compress(messages, protection);
    assert!(is_paired(&done.messages), "{:#?}", done.messages);
    let (head, tail) = (&messages[..2], &messages[messages.len().saturating_sub(4).max(2)..]);
    let meter = Meter::estimate();
    if meter.messages(head) + meter.messages(tail) <= budget {
        assert!(meter.messages(&done.messages) <= budget);
        assert_eq!(&done.messages[..2], head);
        assert!(done.messages.ends_with(tail), "the newest rounds stay");
    }
    done
}

#[test]
fn replaces_old_rounds_with_digest() {
    let messages = long_turn(20, 12);
    for protection in [Protection::PendingTurn, Protection::CurrentLoop(1), Protection::CurrentLoop(2)] {
        let done = compress_turn(&messages, 500, protection);
        let digest = &done.messages[2];
        assert_eq!((done.messages.len(), digest.note.is_some()), (7, true));
        assert!(digest.text().contains("r2word0"), "{}", digest.text());
        assert_eq!(done.report.dropped_message_ids.len(), 36);
        let is_after_start =
            matches!(protection, Protection::CurrentLoop(start) if start == done.new_loop_start);
        assert!(is_after_start || protection == Protection::PendingTurn);
        // The digest is compressed again with the rounds that follow.
        let more = (30..34).flat_map(|id| [message(&format!("c{id}"), 0), message(&format!("r{id}"), 40)]);
        let longer: Vec<Message> = done.messages.into_iter().chain(more).collect();
        let again = compress_turn(&longer, 500, protection);
        assert_eq!(again.messages.iter().filter(|message| message.note.is_some()).count(), 1);
        assert!(again.messages[2].text().contains("r2word0"), "{}", again.messages[2].text());
    }
}

#[test]
fn shortens_results_of_old_rounds_first() {
    let messages = long_turn(6, 300);
    let done = compress_turn(&messages, 2_600, Protection::PendingTurn);
    let is_preview = |message: &Message| message.text().starts_with("[result of look: ok");
    let previews: Vec<usize> =
        (0..done.messages.len()).filter(|index| is_preview(&done.messages[*index])).collect();
    assert_eq!((done.report.outcome, done.messages.len()), (PassOutcome::Compacted, messages.len()));
    assert_eq!(previews, [3, 5, 7, 9]);
}

proptest! {
    #![proptest_config(cases())]

    /// Invariants 1 and 10, with any number of rounds and any budget.
    #[test]
    fn keeps_pairs_and_newest_rounds(rounds in 0_usize..24, words in 0_usize..80, budget in 0_u64..3_000, start in 0_usize..9) {
        let messages = long_turn(rounds, words);
        for protection in [Protection::PendingTurn, Protection::CurrentLoop(start.min(messages.len().saturating_sub(4)).max(1))] {
            compress_turn(&messages, budget, protection);
        }
    }

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
