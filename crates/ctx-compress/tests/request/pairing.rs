//! Invariant 1: calls and results pair.

use std::collections::BTreeSet;

use ctx_compress::codes;
use ctx_compress::request::repair;
use ctx_types::{Message, Role, groups};
use proptest::prelude::*;

use crate::generate::{paired_requests, requests};
use crate::{Pass, Setting, cases, settings};

/// Tells, in another way than the product does, whether each call is answered once before anything but a result comes.
pub(crate) fn is_paired(messages: &[Message]) -> bool {
    let mut rest = messages;
    while let Some((first, after)) = rest.split_first() {
        if first.role == Role::Tool || (first.role != Role::Assistant && !first.tool_calls.is_empty()) {
            return false;
        }
        let results = after.iter().take_while(|message| message.role == Role::Tool).count();
        let mut asked: Vec<&str> = first.tool_calls.iter().map(|call| &*call.id).collect();
        let mut answered: Vec<&str> = after[..results]
            .iter()
            .map(|result| result.tool_call_id.as_deref().unwrap_or_default())
            .collect();
        asked.sort_unstable();
        answered.sort_unstable();
        if asked != answered || asked.windows(2).any(|pair| pair[0] == pair[1]) {
            return false;
        }
        rest = &after[results..];
    }
    true
}

fn check(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    assert!(is_paired(&pass.done.messages), "{:#?}", pass.done.messages);
    let kept: BTreeSet<usize> = pass.sources().into_iter().flatten().collect();
    for group in groups(&pass.given) {
        let count = group.clone().filter(|index| kept.contains(index)).count();
        assert!(count == 0 || count == group.len(), "the group {group:?} is whole or absent");
    }
}

/// Repairs, and asserts that everything that differs is said.
fn check_repair(messages: &[Message]) {
    let Some(repaired) = repair(messages) else {
        assert!(is_paired(messages));
        return;
    };
    assert!(!is_paired(messages) && is_paired(&repaired.messages));
    let found = |code| repaired.diagnostics.iter().filter(|found| found.code == code).count();
    let added = repaired
        .messages
        .iter()
        .filter(|message| !messages.iter().any(|given| given.source == message.source))
        .count();
    assert_eq!(repaired.messages.len(), messages.len() - repaired.left_out.len() + added);
    assert!(added <= found(codes::UNANSWERED_CALL));
    assert_eq!(repaired.left_out.len(), found(codes::ORPHAN_RESULT) + found(codes::DUPLICATE_RESULT));
    assert!(repaired.left_out.iter().all(|index| messages[*index].role == Role::Tool), "only results go");
    assert!(repair(&repaired.messages).is_none(), "once is enough");
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 1, valid in: valid out.
    #[test]
    fn pairs_stay_pairs_and_groups_stay_whole(messages in paired_requests(), setting in settings()) {
        prop_assert!(is_paired(&messages));
        check(&messages, setting);
    }

    /// Invariant 1, invalid in: nothing broken is passed on.
    #[test]
    fn broken_pairs_are_never_passed_on(messages in requests(), setting in settings()) {
        check(&messages, setting);
    }

    /// Invariant 1: what is put right is reported.
    #[test]
    fn every_repair_is_reported(messages in requests()) {
        check_repair(&messages);
    }
}
