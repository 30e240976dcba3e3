//! Invariant 8: more budget keeps more.
//!
//! Of a choice of the best that fits no such thing holds message by message: what is large and good can take the room
//! of two that are small. It holds of everything that is kept from the newest backwards.

use std::collections::BTreeSet;
use std::rc::Rc;

use ctx_compress::request::{CompressionPipeline, KeyMessage, RequestConfig};
use ctx_types::Message;
use proptest::prelude::*;

use crate::generate::{conversations, paired_requests};
use crate::{Pass, Setting, cases, settings};

/// Returns which messages of the request are in the result as they are; notes of earlier passes are written anew.
fn whole(pass: &Pass) -> BTreeSet<usize> {
    let kept = pass.sources().into_iter().zip(&pass.done.messages).filter(|(_, now)| now.note.is_none());
    kept.filter_map(|(source, now)| source.filter(|source| pass.given[*source] == *now)).collect()
}

/// Compares a budget with a larger one, and asserts that nothing that stayed whole is lost.
fn check(messages: &[Message], setting: Setting, more: u64) {
    let pass = Pass::of(messages, setting);
    let larger = Pass::of(messages, Setting { budget: setting.budget + more, ..setting });
    let is_feasible = |pass: &Pass| pass.done.report.outcome.name() != "infeasible";
    let is_prefix_greedy = setting.strategy != "key-message";
    if is_feasible(&pass) {
        assert!(is_feasible(&larger));
        if is_prefix_greedy && pass.is_compacted() {
            let (kept, of_larger) = (whole(&pass), whole(&larger));
            assert!(kept.is_subset(&of_larger), "{kept:?} is no part of {of_larger:?}");
        }
    }
}

/// Asks for more recent messages: where all of them fit, all of them stay.
fn check_recent(messages: &[Message], budget: u64, recent: usize) {
    let tokens = CompressionPipeline::new(RequestConfig::default()).usage(messages).used_tokens;
    let kept = |min_recent_messages| {
        let config = RequestConfig { min_recent_messages, ..RequestConfig::to_fit(tokens * budget / 100) };
        let pipeline = CompressionPipeline::new(config).with_strategy(Box::new(KeyMessage));
        whole(&Pass::by(Rc::new(pipeline), messages, ctx_compress::request::Protection::PendingTurn))
    };
    let newest = |count: usize| messages.len().saturating_sub(count)..messages.len();
    let (fewer, more) = (kept(recent), kept(recent + 3));
    if newest(recent + 3).all(|index| more.contains(&index)) {
        return;
    }
    let lost: Vec<usize> =
        newest(recent).filter(|index| fewer.contains(index) && !more.contains(index)).collect();
    let gained = newest(recent + 3).any(|index| more.contains(&index) && !fewer.contains(&index));
    assert!(lost.is_empty() || gained, "{lost:?} are lost for nothing");
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 8: what is kept from the newest backwards grows with the budget, and what was feasible stays so.
    #[test]
    fn more_budget_keeps_what_less_kept(messages in paired_requests(), setting in settings(), more in 1_u64..60) {
        check(&messages, setting, more);
    }

    /// Invariant 8: a recent message gives way only to another one that is recent too.
    #[test]
    fn more_recent_messages_cost_only_recent_ones(messages in conversations(), budget in 5_u64..100, recent in 0_usize..9) {
        check_recent(&messages, budget, recent);
    }
}
