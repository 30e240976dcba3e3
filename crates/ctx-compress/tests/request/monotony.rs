//! Invariant 8: more budget keeps more.
//!
//! Of a choice of the best that fits no such thing holds message by message: what is large and good can take the room
//! of two that are small. It holds of everything that is kept from the newest backwards.
//!
//! Where what must stay just fits, it stays whole (invariant 3) and leaves no room (invariant 4). With less it is
//! shortened, which may leave much room: but what stayed there would have to go again, so no message may. A note may: it
//! is written anew for each budget.

use std::collections::BTreeSet;
use std::rc::Rc;

use ctx_compress::request::{CompressionPipeline, KeyMessage, Protection, RequestConfig, STRATEGIES};
use ctx_types::{Message, Role, Source};
use proptest::prelude::*;

use crate::generate::{conversations, paired_requests};
use crate::relief::request;
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

/// Compares each budget up to the whole request with the next larger one.
#[track_caller]
fn check_budgets(messages: &[Message], counting: u8) {
    for (strategy, budget) in STRATEGIES.iter().flat_map(|name| (0..130).map(move |budget| (name, budget))) {
        for (trigger, target, tail) in [(0, 0, 0), (80, 50, 20), (100, 100, 60)] {
            let (min_recent, min_saving, protection) = (10, 0, Protection::PendingTurn);
            let setting = Setting {
                strategy,
                budget,
                trigger,
                target,
                min_recent,
                min_saving,
                tail,
                protection,
                counting,
            };
            for more in [1, 2, 5, 20, 60] {
                check(messages, setting, more);
            }
        }
    }
}

#[test]
fn what_shortening_frees_is_for_no_message() {
    check_budgets(&request("h1 a2"), 0);
    check_budgets(&request("h1 a2"), 4);
    check_budgets(&request("i0 h1 h2 u3 c4 r4 c5 r5"), 0);
    check_budgets(&request("i0 u1 h2 h3 u4 a5 h6 u7"), 0);
    check_budgets(&request("i0 h1 u2 s3 h4 c5 R5 h6 u7 c8 r8"), 0);
    check_budgets(&found_by_chance(), 4);
}

/// What was found first: an answer that is short, and one that is long and loses more than it has to.
fn found_by_chance() -> Vec<Message> {
    let texts = [
        "你好，世界。我想在五月三日订十二号房，不要靠近电梯的。".to_owned(),
        "iVBORw0KGgoAAAANSUhEUgAA".repeat(28),
    ];
    let said = |text: String| Message::new(Role::Assistant, text, Source::history("n", Role::Assistant));
    texts.into_iter().map(said).collect()
}

/// Asks for more recent messages: where all of them fit, all of them stay.
fn check_recent(messages: &[Message], budget: u64, recent: usize) {
    let tokens = CompressionPipeline::new(RequestConfig::default()).usage(messages).used_tokens;
    let kept = |min_recent_messages| {
        let config = RequestConfig { min_recent_messages, ..RequestConfig::to_fit(tokens * budget / 100) };
        let pipeline = CompressionPipeline::new(config).with_strategy(Box::new(KeyMessage));
        whole(&Pass::by(Rc::new(pipeline), messages, Protection::PendingTurn))
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
