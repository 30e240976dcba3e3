//! Messages that a summarizer cannot read at once.

use std::sync::Mutex;

use ctx_compress::mask::{
    Extraction, MadeBy, MaskConfig, MaskDraft, MaskSelection, Summarizing, SummaryFailure,
};
use ctx_tokens::Counter;
use ctx_types::ports::{
    PortError, PortErrorKind, PortFuture, Summarizer, SummaryAnswer, SummaryRequest, TokenCounter as _,
};
use ctx_types::{Text, phrase};

use crate::{Scripted, conversation, plan, summarize};

const CONFIG: &str = "P {previous_summary} C {context}";

/// Summarizes forty messages with some window; returns the draft and the tokens of each prompt.
fn run(window: Option<u32>, refuses_above: u32) -> (Result<MaskDraft, SummaryFailure>, Vec<u32>) {
    run_long(20, window, refuses_above)
}

/// The same with twice as many messages as `exchanges`.
fn run_long(
    exchanges: usize,
    window: Option<u32>,
    refuses_above: u32,
) -> (Result<MaskDraft, SummaryFailure>, Vec<u32>) {
    let prompts = Mutex::new(Vec::new());
    let answer = |request: &SummaryRequest| {
        let tokens = Counter::estimate().count(&request.prompt);
        if tokens > refuses_above {
            return Err(PortError::new(PortErrorKind::TooLarge, phrase!("too long")));
        }
        let mut prompts = prompts.lock().unwrap();
        prompts.push(tokens);
        Ok(format!("Summary {}.", prompts.len()).into())
    };
    let config =
        MaskConfig { summary_prompt: "C {context}".into(), summary_max_tokens: 100, ..MaskConfig::default() };
    let plan = plan(&conversation(&"u a ".repeat(exchanges)), &config, &MaskSelection::All).unwrap();
    let draft = summarize(plan, &Scripted { answer, window });
    (draft, prompts.into_inner().unwrap())
}

#[test]
fn what_fits_is_asked_for_at_once() {
    let (draft, prompts) = run(Some(10_000), u32::MAX);
    assert_eq!((draft.unwrap().parts, prompts.len()), (1, 1));
}

#[test]
fn what_does_not_fit_is_summarised_in_parts() {
    let (draft, prompts) = run(Some(900), u32::MAX);
    let draft = draft.unwrap();
    assert_eq!(&*draft.text, format!("Summary {}.", prompts.len()));
    assert_eq!((draft.parts, prompts.len(), draft.made_by), (3, 4, MadeBy::Summarizer));
    assert!(prompts.iter().all(|tokens| *tokens <= 800), "{prompts:?}");
}

#[test]
fn a_summarizer_that_says_too_large_gets_smaller_parts() {
    // It refuses the whole, then also the larger parts.
    for limit in [5_000, 2_700] {
        let (draft, prompts) = run_long(100, None, limit);
        assert!(draft.unwrap().parts >= 2);
        assert!(prompts.iter().all(|tokens| *tokens <= limit));
    }
}

#[test]
fn a_window_without_room_is_a_failure() {
    let (draft, prompts) = run(Some(60), u32::MAX);
    assert!(matches!(draft.unwrap_err(), SummaryFailure::WindowTooSmall { window: 60, .. }));
    assert!(prompts.is_empty());
}

#[test]
fn rejects_parts_whose_summaries_would_be_too_short() {
    let (draft, prompts) = run_long(100, Some(800), u32::MAX);
    assert!(matches!(draft.unwrap_err(), SummaryFailure::TooManyParts { most: 1..10, .. }));
    assert!(prompts.is_empty());
}

#[test]
fn a_summarizer_that_never_finds_room_ends() {
    let (draft, _) = run(None, 0);
    let failure = draft.unwrap_err();
    assert!(matches!(failure, SummaryFailure::Port { kind: PortErrorKind::TooLarge, .. }), "{failure}");
}

#[test]
fn shortens_long_summaries_of_parts() {
    let prompts = Mutex::new(Vec::new());
    let answer = |request: &SummaryRequest| {
        let mut prompts = prompts.lock().unwrap();
        prompts.push(request.prompt.to_string());
        let is_last = prompts.len() == 4;
        Ok(if is_last { "All of it.".to_owned() } else { "They talk of many things. ".repeat(40) }.into())
    };
    let config =
        MaskConfig { summary_prompt: "C {context}".into(), summary_max_tokens: 100, ..MaskConfig::default() };
    let plan = plan(&conversation(&"u a ".repeat(20)), &config, &MaskSelection::All).unwrap();
    let draft = summarize(plan, &Scripted { answer, window: Some(900) }).unwrap();
    assert_eq!((&*draft.text, draft.parts), ("All of it.", 3));
    let prompts = prompts.into_inner().unwrap();
    assert_eq!(prompts[3].matches("[…]").count(), 3, "{}", prompts[3]);
    assert!(Counter::estimate().count(&prompts[3]) <= 800);
}

#[test]
fn extracts_all_messages_if_a_part_fails() {
    let asked = Mutex::new(0);
    let answer = |_: &SummaryRequest| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        match *asked {
            2 => Err(PortError::new(PortErrorKind::Denied, phrase!("no"))),
            number => Ok(format!("Summary {number}.").into()),
        }
    };
    let config =
        MaskConfig { summary_prompt: CONFIG.into(), summary_max_tokens: 100, ..MaskConfig::default() };
    let plan = plan(&conversation(&"u a ".repeat(20)), &config, &MaskSelection::All).unwrap();
    let counter = Counter::estimate();
    let extract = |from: &Extraction<'_>| Some(Text::from(format!("Own words of {}.", from.messages.len())));
    let summarizer = Scripted { answer, window: Some(900) };
    let with = Summarizing {
        summarizer: Some(&summarizer),
        deadline: None,
        counter: &counter,
        extract: Some(&extract),
    };
    let draft = pollster::block_on(plan.summarize(&with)).unwrap();
    assert_eq!((draft.made_by, &*draft.text), (MadeBy::Extract, "Own words of 30."));
    assert_eq!(draft.failure.unwrap().to_string(), "the summarizer failed (not allowed): no");
}

#[test]
fn an_earlier_summary_that_is_taken_in_is_one_of_the_parts() {
    let seen = Mutex::new(Vec::new());
    let answer = |request: &SummaryRequest| {
        seen.lock().unwrap().push(request.prompt.contains("In short 2."));
        Ok("It went on.".into())
    };
    let config = MaskConfig {
        summary_prompt: CONFIG.into(),
        roll_up_percent: 0,
        summary_max_tokens: 100,
        ..MaskConfig::default()
    };
    let session = conversation(&format!("u a S[n1,n2] {}", "u a ".repeat(20)));
    let plan = plan(&session, &config, &MaskSelection::All).unwrap();
    drop(summarize(plan, &Scripted { answer, window: Some(900) }).unwrap());
    let seen = seen.into_inner().unwrap();
    assert_eq!((seen[0], seen.iter().filter(|seen| **seen).count()), (true, 1));
}

/// Notes which requests it hears of.
struct Heard<S>(S, Mutex<Vec<(usize, usize)>>);

impl<S: Summarizer> Summarizer for Heard<S> {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        self.0.summarize(request)
    }

    fn window(&self) -> Option<u32> {
        self.0.window()
    }

    fn begins(&self, request: usize, of: usize) {
        self.1.lock().unwrap().push((request, of));
    }
}

#[test]
fn a_summarizer_hears_which_part_it_is_asked_for() {
    let heard = |window| {
        let answer = |_: &SummaryRequest| Ok("In short.".into());
        let config = MaskConfig {
            summary_prompt: "C {context}".into(),
            summary_max_tokens: 100,
            ..MaskConfig::default()
        };
        let plan = plan(&conversation(&"u a ".repeat(20)), &config, &MaskSelection::All).unwrap();
        let summarizer = Heard(Scripted { answer, window: Some(window) }, Mutex::default());
        summarize(plan, &summarizer).unwrap();
        summarizer.1.into_inner().unwrap()
    };
    assert_eq!(heard(900), [(1, 4), (2, 4), (3, 4), (4, 4)]);
    assert_eq!(heard(10_000), [], "one prompt has room for all");
}
