//! Invariant 11: the last resort keeps the last rounds, each whole.

use ctx_compress::request::{Action, LastRounds, Part};
use ctx_types::{Message, Place, Role};
use proptest::prelude::*;

use crate::generate::conversations;
use crate::{Setting, cases, settings};

fn check(messages: &[Message], setting: Setting, rounds: usize) {
    let pipeline = setting.pipeline(messages).with_strategy(Box::new(LastRounds { rounds }));
    let plan = pipeline.plan(messages, setting.protection);
    let history = || plan.steps.iter().filter(|step| step.part == Part::History);
    if !plan.changes() || !history().any(|step| step.action == Action::Drop) {
        return;
    }
    let mut kept = history().skip_while(|step| step.action == Action::Drop).peekable();
    let Some(first) = kept.peek() else { return };
    let first = &plan.messages()[first.range.start];
    assert_eq!((first.role, first.place), (Role::User, Place::History), "it begins with a question");
    assert!(kept.all(|step| step.action != Action::Drop), "nothing is missing behind it");
    let is_user = |message: &&Message| message.role == Role::User && message.place == Place::History;
    let fixed: usize = plan
        .steps
        .iter()
        .filter(|step| step.part != Part::History)
        .map(|step| plan.messages()[step.range.clone()].iter().filter(is_user).count())
        .sum();
    let users = plan.apply().iter().filter(is_user).count();
    assert!(users <= rounds.max(fixed), "{users} rounds");
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 11, with K = 4 and others.
    #[test]
    fn only_whole_rounds_stay_and_no_more_than_wanted(messages in conversations(), setting in settings(), rounds in 0_usize..7) {
        check(&messages, setting, rounds);
        check(&messages, setting, LastRounds::default().rounds);
    }
}
