//! The last resort: in which order what is being answered is shortened, where it alone is more than the budget.

use std::sync::Arc;

use ctx_compress::request::{CompressionPipeline, Meter, Part, PassOutcome, Protection, RequestConfig};
use ctx_types::{Message, Note, Place, Role, Source, SourceKind, ToolCall, Trust};
use proptest::prelude::*;

use crate::generate::paired_requests;
use crate::{Pass, Setting, cases, is_turn, settings};

/// Writes a message of many words; `u` is the user, `a` the assistant, `c` a call of it, `r` the result of that, `s` a
/// summary that the user speaks, `n` a note. A capital letter pins it.
pub(crate) fn message(id: &str, words: usize) -> Message {
    let letter = id.chars().next().unwrap();
    let kind = letter.to_ascii_lowercase();
    let role = match kind {
        'i' => Role::System,
        'u' | 's' | 'n' => Role::User,
        'r' => Role::Tool,
        _ => Role::Assistant,
    };
    let text: Vec<String> = (0..words).map(|word| format!("{id}word{word}")).collect();
    let message = Message::new(role, text.join(" "), Source::history(id, role)).with(|message| match kind {
        'c' => {
            let id = id.to_ascii_lowercase().into();
            let call = ToolCall { id, name: "look".into(), arguments: r#"{"at": "lake"}"#.into() };
            message.tool_calls = vec![call];
        }
        'r' => message.tool_call_id = Some(id.to_ascii_lowercase().replace('r', "c").into()),
        's' => message.source = Source::new(SourceKind::Summary, Trust::Model).with_id(id),
        'n' => message.note = Some(Arc::new(Note::default())),
        _ => {}
    });
    message.with(|message| message.place = if letter.is_uppercase() { Place::Pinned } else { Place::History })
}

pub(crate) fn request(ids: &str) -> Vec<Message> {
    let words = |id: &str| if id.starts_with('i') || id.starts_with('h') { 4 } else { 120 };
    ids.split_whitespace().map(|id| message(id, words(id))).collect()
}

/// Gives less and less room, and notes in which order messages change, and after which nothing is possible any more.
#[track_caller]
fn check(ids: &str, protection: Protection, expected: &str) {
    let messages = request(ids);
    let mut order: Vec<String> = Vec::new();
    let mut budget = Meter::estimate().messages(&messages);
    loop {
        let done = CompressionPipeline::new(RequestConfig::to_fit(budget)).compress(&messages, protection);
        if let PassOutcome::Infeasible(overflow) = &done.report.outcome {
            assert!(overflow.needed > budget);
            assert_eq!(done.messages, messages, "nothing is done by halves");
            break;
        }
        assert!(Meter::estimate().messages(&done.messages) <= budget);
        let mut changed = Vec::new();
        for (before, now) in kept(&messages, &done.messages) {
            let id = before.source.id.as_deref().unwrap().to_owned();
            let Some(now) = now else {
                changed.push(id);
                continue;
            };
            assert_eq!((before.role, &before.tool_calls), (now.role, &now.tool_calls));
            assert_eq!(before.tool_call_id, now.tool_call_id);
            assert!(!now.text().is_empty());
            if before.content != now.content {
                changed.push(id);
            }
        }
        assert!(order.iter().all(|id| changed.contains(id)), "less room changes no less: {changed:?}");
        order.extend(changed.into_iter().filter(|id| !order.contains(id)).collect::<Vec<_>>());
        budget -= 1;
    }
    assert_eq!(order.join(" "), expected);
}

/// Pairs what must stay with what became of it; a digest may replace older tool rounds.
fn kept<'a>(before: &'a [Message], now: &'a [Message]) -> Vec<(&'a Message, Option<&'a Message>)> {
    let same = |message: &&Message| now.iter().find(|now| now.source.id == message.source.id);
    let stays =
        before.iter().filter(|message| message.source.id.as_deref().is_some_and(|id| !id.starts_with('h')));
    stays.map(|message| (message, same(&message))).collect()
}

#[test]
fn shortens_old_rounds_then_results_then_texts_then_question() {
    check("i0 h1 u2 c3 r3 c4 r4 c5 r5", Protection::PendingTurn, "r3 c3 r4 r5 c4 c5 u2");
}

#[test]
fn of_several_questions_the_last_one_comes_last() {
    check("i0 u1 u2 c3 r3", Protection::PendingTurn, "r3 u1 c3 u2");
}

#[test]
fn of_a_running_loop_only_what_it_added_is_shortened_before_the_question() {
    check("i0 h1 u2 c3 r3 c4 r4", Protection::CurrentLoop(3), "r3 r4 c3 c4 u2");
}

#[test]
fn without_a_loop_only_the_last_question_stays_and_is_shortened_as_a_last_resort() {
    check("i0 h1 u2 h3 h4", Protection::LastUserMessage, "u2");
}

#[test]
fn a_summary_in_what_is_answered_is_never_shortened() {
    check("i0 u1 s2 c3 r3", Protection::PendingTurn, "r3 c3 u1");
    check("i0 u1 s2 c3 r3", Protection::CurrentLoop(2), "r3 c3 u1");
}

/// Checks the order in a pass of any kind; only texts that are long enough to become shorter count.
fn check_order(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, Setting { counting: 0, ..setting });
    let plan = pass.pipeline.plan(messages, setting.protection);
    let is_current = |index: usize| {
        plan.steps.iter().any(|step| step.part == Part::Current && step.range.contains(&index))
    };
    let last_user = (0..pass.given.len())
        .rfind(|index| pass.given[*index].role == Role::User && is_turn(&pass.given[*index]));
    let sources = pass.sources();
    let is_changed = |index: usize| {
        let place = sources.iter().position(|source| *source == Some(index));
        place.is_some_and(|place| pass.done.messages[place].content != pass.given[index].content)
    };
    let chars = |index: usize| pass.given[index].text().chars().count();
    let current = || (0..pass.given.len()).filter(|index| is_current(*index));
    let results: Vec<usize> = current().filter(|index| pass.given[*index].role == Role::Tool).collect();
    let texts: Vec<usize> = current()
        .filter(|index| matches!(pass.given[*index].role, Role::User | Role::Assistant))
        .filter(|index| Some(*index) != last_user)
        .collect();
    for index in current().filter(|index| is_changed(*index)) {
        let now = sources.iter().position(|source| *source == Some(index)).unwrap();
        let tokens = |message: &Message| pass.tokens(std::slice::from_ref(message));
        assert!(
            tokens(&pass.done.messages[now]) < tokens(&pass.given[index]),
            "a change of {index} saves something"
        );
    }
    for newer in results.iter().filter(|index| is_changed(**index)) {
        let older = results.iter().filter(|older| *older < newer && chars(**older) > chars(*newer) + 100);
        // Results of one group come in their order too.
        older.for_each(|older| assert!(is_changed(*older), "{older} comes before {newer}"));
    }
    if texts.iter().any(|index| is_changed(*index)) {
        let whole = results.iter().find(|index| chars(**index) > 120 && !is_changed(**index));
        assert_eq!(whole, None, "results come before texts");
    }
    if last_user.is_some_and(is_changed) {
        let whole = results.iter().chain(&texts).find(|index| chars(**index) > 120 && !is_changed(**index));
        assert_eq!(whole, None, "the last question comes last");
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Invariants 3 and 4, where what must stay is more than the budget.
    #[test]
    fn the_last_resort_keeps_its_order(messages in paired_requests(), setting in settings()) {
        check_order(&messages, setting);
    }
}
