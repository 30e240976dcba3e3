//! Invariants 15, 18, 19 and 21: summaries over summaries, work that is given up, what is accepted, and time limits.

use std::future::Future as _;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use ctx_compress::mask::{
    Extraction, MadeBy, MaskConfig, MaskPlan, MaskSelection, Summarizing, switch_summary,
};
use ctx_tokens::Counter;
use ctx_types::Text;
use ctx_types::ports::{
    PortError, PortFuture, Summarizer, SummaryAnswer, SummaryFinish, SummaryRequest, TokenCounter,
};
use ctx_types::session::{NodeId, Session, SessionOp};
use proptest::prelude::*;

use crate::generate::{Draw, draws, session};
use crate::property::cases;
use crate::{Clock, Hangs, Scripted, bytes, says, summarize, visible};

/// Compresses again and again, each time what there is then, and takes the summaries away from the last to the first.
fn check_chain(draws: &[Draw], selections: &[u8], inner: usize) {
    let mut session = session(draws);
    let config = MaskConfig { protect_recent_count: 1, compress_count: 4, ..MaskConfig::default() };
    let mut chain: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    for selection in selections {
        let selection = [MaskSelection::Oldest, MaskSelection::All, MaskSelection::Summaries]
            [usize::from(selection % 3)]
        .clone();
        let Ok(plan) = MaskPlan::new(&session, &config, &selection, &Counter::estimate()) else { continue };
        let Ok(draft) = summarize(plan, &says("ok")) else { continue };
        let commit = draft.commit(&session, 7).unwrap();
        chain.push((commit.id, visible(&session)));
        session.apply(&commit.op).unwrap();
    }
    let view = visible(&session);
    let hidden: Vec<&NodeId> = chain.iter().map(|(id, _)| id).filter(|id| !view.contains(id)).collect();
    if let Some(hidden) = hidden.get(inner % hidden.len().max(1)) {
        let undo = session.apply(&switch_summary(&session, hidden, false).unwrap()).unwrap();
        assert_eq!(visible(&session), view, "a summary behind another one hides nothing by itself");
        session.apply(&undo).unwrap();
    }
    for (id, before) in chain.iter().rev() {
        let listed = session.node(id).unwrap().summarized_ids();
        assert!(!listed.contains(id));
        session.apply(&SessionOp::Toggle { id: id.clone(), enabled: false }).unwrap();
        assert_eq!(visible(&session), *before, "without `{id}` what was there before it shows");
    }
}

/// Answers after it was asked so often whether it is done.
struct Slow {
    polls: usize,
}

impl Summarizer for Slow {
    fn summarize<'a>(&'a self, _: &'a SummaryRequest) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        let mut left = self.polls;
        Box::pin(std::future::poll_fn(move |_| match left.checked_sub(1) {
            Some(fewer) => {
                left = fewer;
                Poll::Pending
            }
            None => Poll::Ready(Ok("ok".into())),
        }))
    }

    fn window(&self) -> Option<u32> {
        Some(1_500)
    }
}

/// Gives the work up after some steps, or lets it come to its end; the session is touched by the commit alone.
fn check_given_up(draws: &[Draw], polls: usize, steps: usize) {
    let session = session(draws);
    let file = bytes(&session);
    let config = MaskConfig { protect_recent_count: 1, ..MaskConfig::default() };
    let counter = Counter::estimate();
    let Ok(plan) = MaskPlan::new(&session, &config, &MaskSelection::All, &counter) else { return };
    let summarizer = Slow { polls };
    let with =
        Summarizing { summarizer: Some(&summarizer), deadline: None, counter: &counter, extract: None };
    let mut done = None;
    {
        let mut work = pin!(plan.summarize(&with));
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..steps {
            if let Poll::Ready(result) = work.as_mut().poll(&mut cx) {
                done = Some(result);
                break;
            }
        }
    }
    assert_eq!(bytes(&session), file);
    if let Some(Ok(draft)) = done {
        let mut session = session;
        let undo = session.apply(&draft.commit(&session, 7).unwrap().op).unwrap();
        session.apply(&undo).unwrap();
        assert_eq!(bytes(&session), file);
    }
}

/// What a summarizer may answer, good or bad.
fn answers() -> impl Strategy<Value = Vec<SummaryAnswer>> {
    let text = prop_oneof![
        Just(String::new()),
        Just(" \n\t".to_owned()),
        Just("…".to_owned()),
        Just("They talk of a lamp.".to_owned()),
        Just("{\"name\":\"look\",\"arguments\":{}}".to_owned()),
        Just("<tool_call>{}</tool_call>".to_owned()),
        Just("<think>they talk".to_owned()),
        Just("They talk of the".to_owned()),
        "[a-z ]{0,40}\\.",
        (1_usize..400).prop_map(|count| "word ".repeat(count)),
    ];
    let finish = prop_oneof![
        6 => Just(SummaryFinish::Complete),
        1 => Just(SummaryFinish::Length),
        1 => Just(SummaryFinish::ToolCall),
        1 => Just(SummaryFinish::Refused),
    ];
    let answer = (text, finish).prop_map(|(text, finish)| SummaryAnswer { text: Text::from(text), finish });
    proptest::collection::vec(answer, 1..4)
}

fn check_acceptance(draws: &[Draw], answers: &[SummaryAnswer], retries: u32, has_extract: bool) {
    let session = session(draws);
    let counter = Counter::estimate();
    let config = MaskConfig { protect_recent_count: 1, summary_retries: retries, ..MaskConfig::default() };
    let Ok(plan) = MaskPlan::new(&session, &config, &MaskSelection::All, &counter) else { return };
    let asked = AtomicUsize::new(0);
    let answer =
        |_: &SummaryRequest| Ok(answers[asked.fetch_add(1, Ordering::Relaxed) % answers.len()].clone());
    let summarizer = Scripted { answer, window: None };
    let extract = |_: &Extraction<'_>| Some(Text::from("It is said."));
    let with = Summarizing {
        summarizer: Some(&summarizer),
        deadline: None,
        counter: &counter,
        extract: has_extract.then_some(&extract),
    };
    let replaced = plan.replaced_tokens;
    let made = pollster::block_on(plan.summarize(&with));
    let asked = asked.load(Ordering::Relaxed);
    assert!((1..=1 + retries as usize).contains(&asked), "asked {asked} times");
    let Ok(draft) = made else {
        assert!(!has_extract || replaced <= u64::from(counter.count("It is said.")) + 3, "the fallback fits");
        return;
    };
    assert!(draft.text.contains(char::is_alphanumeric));
    assert!(draft.summary_tokens < replaced);
    assert!(!draft.text.contains("tool_call") && !draft.text.contains("arguments"));
    let last = &answers[(asked - 1) % answers.len()];
    match draft.made_by {
        MadeBy::Summarizer => {
            assert_eq!((last.text.trim(), last.finish), (draft.text.trim(), SummaryFinish::Complete));
        }
        MadeBy::Extract => {
            assert_eq!((&*draft.text, draft.failure.is_some()), ("It is said.", true));
        }
    }
}

/// In how many parts messages are summarised at most.
const MOST_PARTS: usize = 64;

fn check_limits(session: &Session, retries: u32, window: Option<u32>) {
    let counter = Counter::estimate();
    let config = MaskConfig { protect_recent_count: 1, summary_retries: retries, ..MaskConfig::default() };
    let Ok(plan) = MaskPlan::new(session, &config, &MaskSelection::All, &counter) else { return };
    let (clock, summarizer) = (Clock::default(), Hangs { window, ..Hangs::default() });
    let extract = |_: &Extraction<'_>| Some(Text::from("It is said."));
    let with = Summarizing {
        summarizer: Some(&summarizer),
        deadline: Some(&clock),
        counter: &counter,
        extract: Some(&extract),
    };
    let made = pollster::block_on(plan.summarize(&with));
    assert!(made.is_err() || made.is_ok_and(|draft| draft.made_by != MadeBy::Summarizer));
    let (asked, limits) = (summarizer.asked.into_inner(), clock.limits.into_inner());
    assert_eq!(asked, limits, "every request has its time limit");
    assert!(asked <= (1 + retries as usize) * (MOST_PARTS + 1), "{asked} requests");
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 15.
    #[test]
    fn summaries_over_summaries_are_taken_away_one_by_one(
        draws in draws(), selections in proptest::collection::vec(any::<u8>(), 1..6), inner in any::<usize>(),
    ) {
        check_chain(&draws, &selections, inner);
    }

    /// Invariant 18, given up at any point where something is waited for.
    #[test]
    fn work_that_is_given_up_leaves_the_session_as_it_was(draws in draws(), polls in 0_usize..4, steps in 0_usize..9) {
        check_given_up(&draws, polls, steps);
    }

    /// Invariant 19.
    #[test]
    fn only_text_that_is_shorter_and_no_call_is_accepted(
        draws in draws(), answers in answers(), retries in 0_u32..3, has_extract in any::<bool>(),
    ) {
        check_acceptance(&draws, &answers, retries, has_extract);
    }

    /// Invariant 21.
    #[test]
    fn every_request_has_a_time_limit_and_there_are_few(
        draws in draws(), retries in 0_u32..3, window in proptest::option::of(200_u32..3_000),
    ) {
        check_limits(&session(&draws), retries, window);
    }
}
