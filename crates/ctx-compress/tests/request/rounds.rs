//! Invariant 11: the last resort keeps the last rounds, each whole.

use ctx_compress::request::{
    Action, CompressionPipeline, KeyMessage, LastRounds, Meter, Part, Protection, RequestConfig, Strategy,
    strategy,
};
use ctx_types::{Message, Place, Role};
use proptest::prelude::*;

use crate::generate::{conversations, paired_requests};
use crate::relief::request;
use crate::{Setting, cases, is_turn, settings};

fn check(messages: &[Message], setting: Setting, rounds: usize) {
    let pipeline = setting.pipeline(messages).with_strategy(Box::new(LastRounds { rounds }));
    let plan = pipeline.plan(messages, setting.protection);
    let history = || plan.steps.iter().filter(|step| step.part == Part::History);
    let members = |range: std::ops::Range<usize>| &plan.messages()[range];
    let is_shortened_note = history().any(|step| {
        matches!(step.action, Action::Shorten(_))
            && members(step.range.clone()).iter().any(|message| message.note.is_some())
    });
    assert!(!is_shortened_note, "a note stays as it is, or goes");
    for step in history() {
        let Action::Shorten(now) = &step.action else { continue };
        let changed = now.iter().zip(members(step.range.clone())).filter(|(now, whole)| now != whole);
        let mut roles = changed.map(|(_, whole)| whole.role);
        match step.reason.to_string().as_str() {
            "long tool results" => assert!(roles.all(|role| role == Role::Tool), "texts are whole as yet"),
            reason => assert_eq!(reason, "long texts"),
        }
    }
    if !plan.changes() || !history().any(|step| step.action == Action::Drop) {
        return;
    }
    let mut kept = history().skip_while(|step| step.action == Action::Drop).peekable();
    let Some(first) = kept.peek() else { return };
    let is_user = |message: &&Message| message.role == Role::User && is_turn(message);
    let begins = members(first.range.clone()).iter().find(|message| message.place == Place::History);
    assert!(begins.is_some_and(|message| is_user(&message)), "it begins with a question");
    assert!(kept.all(|step| step.action != Action::Drop), "nothing is missing behind it");
    let fixed: usize = plan
        .steps
        .iter()
        .filter(|step| step.part != Part::History)
        .map(|step| members(step.range.clone()).iter().filter(is_user).count())
        .sum();
    let users = plan.apply().iter().filter(is_user).count();
    assert!(users <= rounds.max(fixed), "{users} rounds");
}

/// Gives exactly the room that a result needs: it is the result again.
fn check_exact(messages: &[Message], setting: Setting, rounds: usize) {
    let compressed = |budget: u64| {
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget)).with_meter(setting.meter());
        let pipeline = pipeline.with_strategy(Box::new(LastRounds { rounds }));
        let plan = pipeline.plan(messages, setting.protection);
        let is_relieved = plan.steps.iter().any(|step| step.reason == "larger than the whole budget");
        (plan.changes() && !is_relieved).then(|| (plan.tokens_after, plan.apply()))
    };
    if let Some((tokens, result)) = compressed(setting.meter().messages(messages) * setting.budget / 100) {
        assert_eq!(compressed(tokens), Some((tokens, result)));
    }
}

/// Gives less and less room until something of history has to go, and names what is kept then; a `~` stands behind what
/// is shorter.
#[track_caller]
fn check_kept(ids: &str, strategy: impl Strategy + Copy + 'static, expected: &str) {
    let messages = request(ids);
    let plan = |budget| {
        let config = RequestConfig::to_fit(budget);
        let pipeline = CompressionPipeline::new(config).with_strategy(Box::new(strategy));
        let plan = pipeline.plan(&messages, Protection::PendingTurn);
        plan.steps.iter().any(|step| step.action == Action::Drop).then(|| plan.apply())
    };
    let kept = (0..Meter::estimate().messages(&messages)).rev().find_map(plan).unwrap();
    let name = |now: &Message| {
        let mark = if messages.contains(now) { "" } else { "~" };
        format!("{}{mark}", now.source.id.as_deref().unwrap())
    };
    assert_eq!(kept.iter().map(name).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn a_summary_that_the_user_speaks_is_no_round() {
    let last = |rounds| LastRounds { rounds };
    check_kept("i0 u1 a2 s3 u4 a5 u6", last(2), "i0 s3 u4~ a5~ u6");
    check_kept("i0 s1 u2 a3 u4 a5 u6", last(2), "i0 s1 u4~ a5~ u6");
    check_kept("i0 u1 a2 u3 a4 u5 s6", last(2), "i0 u3~ a4~ u5 s6");
    check_kept("i0 s1 s2 u3 a4 s5 u6 a7 u8", last(4), "i0 s1 s2 s5 u6~ a7~ u8");
}

#[test]
fn a_note_that_the_user_speaks_is_no_round_and_not_shortened() {
    let last = |rounds| LastRounds { rounds };
    check_kept("i0 u1 a2 u3 n4 a5 u6", last(2), "i0 u3~ n4 a5~ u6");
    check_kept("i0 n1 u2 a3 u4 a5 u6", last(3), "i0 u2~ a3~ u4~ a5~ u6");
}

#[test]
fn a_note_that_the_user_speaks_has_the_priority_of_a_note() {
    check_kept("i0 n1 a2 u3", KeyMessage, "i0 a2 u3");
}

/// Compresses to half of the tokens, and names what the note keeps word for word, as far as there is room.
#[track_caller]
fn check_pinned(ids: &str, expected: &str) {
    let messages = request(ids);
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(Meter::estimate().messages(&messages) / 2));
    for name in ["telegraphic", "sentences"] {
        let pipeline =
            CompressionPipeline::new(pipeline.config().clone()).with_strategy(strategy(name).unwrap());
        let done = pipeline.compress_if_needed(&messages).messages;
        let lines = done.iter().filter_map(|message| message.note.as_deref()).flat_map(|note| &note.lines);
        let pinned = lines.filter(|line| line.is_pinned).map(|line| &*line.id);
        assert_eq!(pinned.collect::<Vec<_>>().join(" "), expected);
    }
}

#[test]
fn what_the_user_said_first_is_no_summary() {
    check_pinned("i0 u1 a2 u3 a4 u5", "u1");
    check_pinned("i0 s1 u2 a3 u4 a5 u6 a7 u8", "u2");
    check_pinned("i0 n1 u2 a3 u4 a5 u6", "u2");
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 11, with K = 4 and others.
    #[test]
    fn only_whole_rounds_stay_and_no_more_than_wanted(messages in conversations(), setting in settings(), rounds in 0_usize..7) {
        check(&messages, setting, rounds);
        check(&messages, setting, LastRounds::default().rounds);
        check_exact(&messages, setting, rounds);
    }

    /// Invariant 11, among summaries, notes and what was placed.
    #[test]
    fn summaries_and_notes_are_no_rounds(messages in paired_requests(), setting in settings(), rounds in 0_usize..7) {
        check(&messages, setting, rounds);
    }
}
