//! Summarizers of all kinds: those that fail, hang, or answer something else than a summary.

use std::sync::atomic::{AtomicUsize, Ordering};

use ctx_compress::mask::{
    Extraction, MadeBy, MaskConfig, MaskPlan, MaskSelection, Summarizing, SummaryFailure, SummaryFault,
};
use ctx_tokens::Counter;
use ctx_types::ports::{PortError, PortErrorKind, SummaryAnswer, SummaryFinish, SummaryRequest};
use ctx_types::{Text, phrase};

use crate::{Clock, Hangs, Scripted, conversation, plan, summarize, summarize_with};

fn some_plan() -> MaskPlan {
    let config = MaskConfig { protect_recent_count: 2, ..MaskConfig::default() };
    plan(&conversation("u a u a u a"), &config, &MaskSelection::Oldest).unwrap()
}

/// Asks a summarizer that answers by the number of the attempt; checks the outcome and how often it was asked.
#[track_caller]
fn check(
    answer: impl Fn(usize) -> Result<SummaryAnswer, PortError> + Send + Sync,
    expected: Result<&str, SummaryFailure>,
    attempts: usize,
) {
    let asked = AtomicUsize::new(0);
    let answer = |_: &SummaryRequest| answer(asked.fetch_add(1, Ordering::Relaxed));
    let draft = summarize(some_plan(), &Scripted { answer, window: None });
    assert_eq!(draft.map(|draft| draft.text.to_string()), expected.map(str::to_owned));
    assert_eq!(asked.into_inner(), attempts);
}

fn unusable(fault: SummaryFault) -> Result<&'static str, SummaryFailure> {
    Err(SummaryFailure::Unusable(fault))
}

fn error(kind: PortErrorKind) -> Result<SummaryAnswer, PortError> {
    Err(PortError::new(kind, phrase!("no luck")))
}

fn failed(kind: PortErrorKind) -> Result<&'static str, SummaryFailure> {
    Err(SummaryFailure::Port { kind, detail: phrase!("no luck") })
}

#[test]
fn a_summary_is_taken() {
    check(|_| Ok(" They talk. ".into()), Ok("They talk."), 1);
}

#[test]
fn an_answer_that_is_none_is_asked_for_once_more() {
    check(|_| Ok("  ".into()), unusable(SummaryFault::Blank), 2);
    check(|_| Ok("{\"name\":\"f\",\"arguments\":{}}".into()), unusable(SummaryFault::ToolCall), 2);
    check(
        |_| Ok("word ".repeat(400).into()),
        Err(SummaryFailure::Unusable(SummaryFault::TooLong { tokens: 503, limit: 252 })),
        2,
    );
    let cut = |_| Ok(SummaryAnswer { text: "They".into(), finish: SummaryFinish::Length });
    check(cut, unusable(SummaryFault::CutOff), 2);
    let call = |_| Ok(SummaryAnswer { text: "They talk.".into(), finish: SummaryFinish::ToolCall });
    check(call, unusable(SummaryFault::ToolCall), 2);
    check(|attempt| Ok(if attempt == 0 { "" } else { "They talk." }.into()), Ok("They talk."), 2);
}

#[test]
fn errors_that_may_pass_are_tried_again() {
    check(|_| error(PortErrorKind::Unavailable), failed(PortErrorKind::Unavailable), 2);
    check(|_| error(PortErrorKind::Denied), failed(PortErrorKind::Denied), 1);
    check(|_| error(PortErrorKind::Cancelled), Err(SummaryFailure::Stopped), 1);
    let later = |attempt| if attempt == 0 { error(PortErrorKind::TimedOut) } else { Ok("They talk.".into()) };
    check(later, Ok("They talk."), 2);
}

#[test]
fn a_panic_is_a_failure() {
    check(|_| panic!("broken on purpose"), Err(SummaryFailure::Panicked), 1);
}

#[test]
fn a_second_attempt_says_what_was_wrong() {
    let prompts = std::sync::Mutex::new(Vec::new());
    let answer = |request: &SummaryRequest| {
        prompts.lock().unwrap().push(request.clone());
        Ok("".into())
    };
    drop(summarize(some_plan(), &Scripted { answer, window: None }).unwrap_err());
    let prompts = prompts.into_inner().unwrap();
    assert_eq!((prompts[0].max_tokens, prompts[0].temperature), (Some(4096), Some(0.3)));
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].prompt.starts_with(&*prompts[0].prompt));
    assert!(prompts[1].prompt.ends_with("the reply is empty. Reply with the summary only, as plain text."));
}

#[test]
fn a_summarizer_that_hangs_is_given_up_after_its_time() {
    let clock = Clock::default();
    let failure = summarize_with(some_plan(), Some(&Hangs::default()), Some(&clock)).unwrap_err();
    assert_eq!(failure, SummaryFailure::TimedOut { seconds: 120 });
    assert_eq!(clock.limits.into_inner(), 2, "the first attempt and one more");
}

#[test]
fn a_cancelled_work_asks_nobody() {
    let clock = Clock::default();
    clock.is_cancelled.store(true, Ordering::Relaxed);
    let never = Scripted { answer: |_: &SummaryRequest| panic!("asked"), window: None };
    assert_eq!(summarize_with(some_plan(), Some(&never), Some(&clock)).unwrap_err(), SummaryFailure::Stopped);
}

#[test]
fn a_work_that_is_cancelled_meanwhile_ends_without_a_fallback() {
    let clock = Clock::default();
    let answer = |_: &SummaryRequest| {
        clock.is_cancelled.store(true, Ordering::Relaxed);
        error(PortErrorKind::Unavailable)
    };
    let counter = Counter::estimate();
    let extract = |_: &Extraction<'_>| Some(Text::from("They talk."));
    let summarizer = Scripted { answer, window: None };
    let with = Summarizing {
        summarizer: Some(&summarizer),
        deadline: Some(&clock),
        counter: &counter,
        extract: Some(&extract),
    };
    assert_eq!(pollster::block_on(some_plan().summarize(&with)).unwrap_err(), SummaryFailure::Stopped);
}

#[test]
fn without_anything_there_is_no_summary() {
    assert_eq!(summarize_with(some_plan(), None, None).unwrap_err(), SummaryFailure::NoSummarizer);
}

#[test]
fn a_failure_falls_back_on_the_messages_own_words() {
    let counter = Counter::estimate();
    let summarizer = Scripted { answer: |_: &SummaryRequest| error(PortErrorKind::Denied), window: None };
    let extract = |from: &Extraction<'_>| {
        Some(Text::from(format!("{} messages, {}", from.messages.len(), from.tokens)))
    };
    let with = Summarizing {
        summarizer: Some(&summarizer),
        deadline: None,
        counter: &counter,
        extract: Some(&extract),
    };
    let draft = pollster::block_on(some_plan().summarize(&with)).unwrap();
    assert_eq!((&*draft.text, draft.made_by), ("4 messages, 96", MadeBy::Extract));
    assert_eq!(draft.failure.unwrap().to_string(), "the summarizer failed (not allowed): no luck");
}

#[test]
fn a_fallback_without_words_leaves_the_first_failure() {
    let counter = Counter::estimate();
    let extract = |_: &Extraction<'_>| None;
    let (hangs, clock) = (Hangs::default(), Clock::default());
    let with = Summarizing {
        summarizer: Some(&hangs),
        deadline: Some(&clock),
        counter: &counter,
        extract: Some(&extract),
    };
    let failure = pollster::block_on(some_plan().summarize(&with)).unwrap_err();
    assert_eq!(failure, SummaryFailure::TimedOut { seconds: 120 });
    let alone = Summarizing { summarizer: None, ..with };
    let failure = pollster::block_on(some_plan().summarize(&alone)).unwrap_err();
    assert_eq!(failure, SummaryFailure::NoExtract(SummaryFault::Blank));
}
