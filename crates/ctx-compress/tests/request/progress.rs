//! Invariants 5 to 7: nothing without need, no pass without use, and rest after it.

use ctx_compress::request::PassOutcome;
use ctx_types::Message;
use proptest::prelude::*;

use crate::generate::{paired_requests, requests};
use crate::{Pass, Setting, cases, settings, usual_settings};

fn check_no_op(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    let report = &pass.done.report;
    let config = pass.pipeline.config();
    let is_above = pass.tokens(&pass.given) * 100 > config.token_budget * setting.trigger;
    assert_eq!(!is_above, report.outcome == PassOutcome::NotNeeded);
    assert_eq!(is_above, pass.pipeline.should_compress(&pass.given));
    if report.outcome != PassOutcome::Compacted {
        assert!(!report.compressed && report.dropped_message_ids.is_empty());
        assert_eq!(pass.done.messages, pass.given);
        assert_eq!((report.dropped_count, report.note_count), (0, 0));
        assert_eq!(report.prefix.messages, pass.given.len());
        assert_eq!(
            (report.input_tokens, report.output_tokens),
            (pass.tokens(&pass.given), pass.tokens(&pass.given))
        );
    }
}

fn check_report(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    let report = &pass.done.report;
    assert_eq!(report.input_count, pass.given.len());
    assert_eq!(report.output_count, pass.done.messages.len());
    assert_eq!(report.input_count - report.dropped_count + report.note_count, report.output_count);
    assert_eq!(report.dropped_message_ids.len(), report.dropped_count);
    assert_eq!(report.input_tokens, pass.tokens(&pass.given));
    assert_eq!(report.output_tokens, pass.tokens(&pass.done.messages));
    assert_eq!(report.compressed, pass.is_compacted());
    let id = |index: usize| pass.given[index].source.id.clone().unwrap_or_default();
    if report.compressed {
        assert!(report.output_tokens < report.input_tokens);
        // A note that is written anew is gone, also where the new one says the same.
        let kept = pass.sources();
        let is_rewritten = |index: usize| {
            pass.given[index].note.is_some() && report.dropped_message_ids.contains(&id(index))
        };
        let is_gone = |index: &usize| !kept.contains(&Some(*index)) || is_rewritten(*index);
        let gone = (0..pass.given.len()).filter(is_gone);
        let gone: Vec<_> = gone.map(id).collect();
        assert_eq!(gone, report.dropped_message_ids);
        let same = pass
            .given
            .iter()
            .zip(&pass.done.messages)
            .take_while(|(given, now)| given.content == now.content)
            .count();
        assert!(report.prefix.messages <= same);
        assert_eq!(report.prefix.tokens + report.prefix.rewritten_tokens, report.output_tokens);
    }
}

/// After the target is met nothing fires.
fn check_second_pass(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    if pass.is_compacted() && !pass.pipeline.should_compress(&pass.done.messages) {
        let again = pass.again();
        assert_eq!(again.done.report.outcome, PassOutcome::NotNeeded);
        assert_eq!(again.done.messages, pass.done.messages);
    }
}

/// Where what must stay is above the trigger by itself, each pass fires; they soon find nothing more to do.
fn check_rest(messages: &[Message], setting: Setting) {
    let mut pass = Pass::of(messages, setting);
    let mut passes = 1;
    loop {
        let again = pass.again();
        if again.done.messages == pass.done.messages {
            return;
        }
        assert!(again.is_compacted() && again.done.report.output_tokens < pass.done.report.output_tokens);
        passes += 1;
        assert!(passes <= PASSES, "no rest after {PASSES} passes");
        pass = again;
    }
}

/// How many passes change something at the most.
const PASSES: usize = 2;

proptest! {
    #![proptest_config(cases())]

    /// Invariant 5.
    #[test]
    fn at_or_below_the_trigger_nothing_changes(messages in requests(), setting in settings()) {
        check_no_op(&messages, setting);
    }

    /// Invariant 6.
    #[test]
    fn what_is_compressed_is_smaller_and_the_report_agrees(messages in requests(), setting in settings()) {
        check_report(&messages, setting);
    }

    /// Invariant 7, as hosts use it.
    #[test]
    fn a_second_pass_changes_nothing(messages in requests(), setting in usual_settings()) {
        check_second_pass(&messages, setting);
    }

    /// Invariant 7, where each pass fires.
    #[test]
    fn repeated_passes_come_to_rest(messages in paired_requests(), setting in settings()) {
        check_rest(&messages, setting);
    }
}
