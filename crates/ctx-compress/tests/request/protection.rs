//! Invariant 3: what is protected stays byte for byte, unless it alone is more than the budget.

use std::collections::BTreeSet;

use ctx_compress::request::{PassOutcome, Protection, STRATEGIES, is_summary};
use ctx_types::{Message, Place, Role, groups};
use proptest::prelude::*;

use crate::generate::paired_requests;
use crate::relief::request;
use crate::{Pass, Setting, cases, is_turn, settings};

/// What must stay, found in another way than the product does.
struct Protected {
    /// What never changes: instructions, pins, injections, summaries.
    fixed: BTreeSet<usize>,
    /// What is being answered; where nobody is, the newest group.
    current: BTreeSet<usize>,
    /// What of that a digest may replace where it does not fit: what was said before the newest 2 tool rounds.
    older: BTreeSet<usize>,
}

impl Protected {
    fn of(messages: &[Message], protection: Protection) -> Self {
        let all = || messages.iter().enumerate();
        let is_placed = |message: &Message| !matches!(message.place, Place::History | Place::Pinned);
        let instructs = |message: &Message| {
            message.role.is_instruction() && message.note.is_none() && !is_summary(message)
        };
        let leading = all().take_while(|(_, message)| is_placed(message) || instructs(message)).count();
        let is_point = |message: &Message| message.place == Place::Gap { multiple: true };
        let is_fixed = |index: usize, message: &Message| {
            (index < leading && !is_point(message))
                || message.place == Place::Pinned
                || matches!(message.place, Place::Skeleton | Place::Gap { multiple: false })
                || (is_summary(message) && message.place == Place::History)
        };
        let fixed: BTreeSet<usize> =
            all().filter(|(index, one)| is_fixed(*index, one)).map(|(index, _)| index).collect();
        let is_said = |index: &usize| is_turn(&messages[*index]);
        let is_user = |index: &usize| messages[*index].role == Role::User && is_said(index);
        let last_user = (0..messages.len()).rfind(is_user);
        let mut current: BTreeSet<usize> = last_user.into_iter().collect();
        match (protection, last_user) {
            (Protection::CurrentLoop(start), _) => current.extend(start..messages.len().max(start)),
            (Protection::PendingTurn, Some(last))
                if !(last..messages.len())
                    .any(|index| is_said(&index) && messages[index].is_finished_answer()) =>
            {
                let first = (0..last).rev().take_while(is_user).last().unwrap_or(last);
                current
                    .extend((first..messages.len()).filter(|index| messages[*index].place == Place::History));
            }
            _ => {}
        }
        current.retain(|index| {
            !fixed.contains(index) && messages.get(*index).is_some_and(|one| one.place == Place::History)
        });
        if current.is_empty() {
            let is_free = |index: usize| messages[index].place == Place::History && !fixed.contains(&index);
            let newest = groups(messages).into_iter().rfind(|group| group.clone().all(is_free));
            current.extend(newest.into_iter().flatten());
        }
        let mut older = BTreeSet::new();
        let mut rounds = 0;
        for group in groups(messages).into_iter().rev().take_while(|group| Some(group.start) > last_user) {
            if rounds >= 2 {
                older.extend(group.clone());
            }
            rounds += usize::from(group.clone().any(|index| !messages[index].tool_calls.is_empty()));
        }
        Self { fixed, current, older }
    }

    /// Returns the tokens of all groups with something that is protected, and of what may be placed beside that.
    fn tokens(&self, pass: &Pass) -> u64 {
        let is_point = |index: usize| pass.given[index].place == Place::Gap { multiple: true };
        let is_protected =
            |index: usize| self.fixed.contains(&index) || self.current.contains(&index) || is_point(index);
        let groups = groups(&pass.given).into_iter().filter(|group| group.clone().any(is_protected));
        groups.map(|group| pass.tokens(&pass.given[group])).sum()
    }
}

fn check(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    let protected = Protected::of(messages, setting.protection);
    let fits = protected.tokens(&pass) <= pass.pipeline.config().token_budget;
    let sources = pass.sources();
    let now = |index: usize| {
        let place = sources.iter().position(|source| *source == Some(index));
        place.map(|place| &pass.done.messages[place])
    };
    for index in &protected.fixed {
        assert_eq!(now(*index), Some(&messages[*index]), "{index} stays as it is");
    }
    for index in &protected.current {
        let now = now(*index);
        if now.is_none() && !fits && protected.older.contains(index) {
            continue;
        }
        assert!(now.is_some(), "{index} stays");
        let now = now.unwrap();
        assert!(!fits || *now == messages[*index], "{index} stays as it is");
        let is_emptied = now.text().is_empty() && !messages[*index].text().is_empty();
        assert!(!is_emptied, "something is left of {index}");
    }
    let is_infeasible = matches!(pass.done.report.outcome, PassOutcome::Infeasible(_));
    assert!(!(fits && is_infeasible), "what fits is feasible");
}

/// Checks a request at every budget, by every strategy.
#[track_caller]
fn check_budgets(ids: &str, protection: Protection) {
    let (trigger, target, min_recent, min_saving, tail) = (80, 50, 10, 5, 20);
    for (strategy, budget) in STRATEGIES.iter().flat_map(|name| (0..130).map(move |budget| (name, budget))) {
        let (counting, protection) = (0, protection);
        let setting =
            Setting { strategy, budget, trigger, target, min_recent, min_saving, tail, protection, counting };
        check(&request(ids), setting);
    }
}

#[test]
fn a_loop_of_nothing_but_a_summary_leaves_the_newest_group() {
    check_budgets("i0 c1 r1 c2 r2 s3", Protection::CurrentLoop(5));
    check_budgets("i0 a1 a2 s3 s4", Protection::CurrentLoop(3));
}

#[test]
fn a_loop_that_a_pin_holds_needs_no_other_group() {
    check_budgets("i0 a1 C2 r2", Protection::CurrentLoop(2));
    check_budgets("i0 a1 c2 R2", Protection::CurrentLoop(2));
}

#[test]
fn a_loop_of_nothing_but_a_pin_leaves_the_newest_group() {
    check_budgets("i0 a1 A2", Protection::CurrentLoop(2));
    check_budgets("i0 a1 C2 R2", Protection::CurrentLoop(2));
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 3.
    #[test]
    fn what_is_protected_stays(messages in paired_requests(), setting in settings()) {
        check(&messages, setting);
    }
}
