//! Masks through the public API.
//!
//! The invariants of compaction are property tests over the generator in `generate.rs`, 1,000 cases each;
//! `cargo xtask properties` tries more. Those about requests, 1 to 12, are in `tests/request/`.
//!
//! | number | invariant | test |
//! |---|---|---|
//! | 13 | no operation changes a message; undoing restores every byte | `property::any_history_can_be_undone_step_by_step` |
//! | 14 | switched off or deleted, a summary shows what was there before | `property::a_compression_hides_its_range_and_can_be_taken_back` |
//! | 15 | summaries over summaries; circles and foreign ids hide nothing | `invariants::summaries_over_summaries_are_taken_away_one_by_one`, `property::any_history_can_be_undone_step_by_step` |
//! | 16 | other branches show what they showed | `property::a_compression_hides_its_range_and_can_be_taken_back` |
//! | 17 | only candidates, oldest first, whole groups, nothing protected | `property::a_compression_hides_its_range_and_can_be_taken_back` |
//! | 18 | a commit fits the session or is refused; work can be given up | `property::a_commit_fits_the_session_or_is_refused`, `invariants::work_that_is_given_up_leaves_the_session_as_it_was` |
//! | 19 | only shorter text that is no call is accepted | `invariants::only_text_that_is_shorter_and_no_call_is_accepted` |
//! | 20 | one step to undo and to do again; later messages stay | `property::any_history_can_be_undone_step_by_step`, `property::messages_that_follow_survive_the_undoing` |
//! | 21 | every request has a time limit, and there are few | `invariants::every_request_has_a_time_limit_and_there_are_few` |
//!
//! Conversations are written in words: `s`ystem, `u`ser, `a`ssistant; `a:x,y` with calls; `t:x` a result; `~`
//! before what is switched off; `g` a greeting that nobody has answered; `S[n1,n2]` a summary with what it
//! lists. The nodes are `n1`, `n2`, … in their order.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a broken expectation is a failed test, and literals read better without `&`"
)]

mod appendix;
mod commit;
mod config;
mod details;
mod extract;
mod generate;
mod invariants;
mod kind;
mod parts;
mod property;
mod range;
mod stored;
mod summarizer;
mod switch;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use ctx_compress::mask::{MaskConfig, MaskDraft, MaskPlan, MaskSelection, Summarizing, SummaryFailure};
use ctx_tokens::Counter;
use ctx_types::Role;
use ctx_types::ports::{Deadline, PortError, PortFuture, Summarizer, SummaryAnswer, SummaryRequest};
use ctx_types::session::{Node, NodeId, NodeMetadata, Session, StoredToolCall, visible_path};

/// Builds a conversation from words; every message has some forty words, so that summaries are shorter.
fn conversation(words: &str) -> Session {
    Session::linear("s1", words.split_whitespace().enumerate().map(|(at, word)| node(at, word))).0
}

fn node(at: usize, word: &str) -> Node {
    let (word, is_off) = (word.trim_start_matches('~'), word.starts_with('~'));
    let (head, ids) = word.split_once(':').unwrap_or((word, ""));
    let role = match head.chars().next() {
        Some('u') => Role::User,
        Some('s' | 'S') => Role::System,
        Some('t') => Role::Tool,
        _ => Role::Assistant,
    };
    let mut node = Node::new(role, format!("Message {at} {}", "speaks of many things. ".repeat(10)));
    for id in ids.split(',').filter(|id| !id.is_empty()) {
        match role {
            Role::Tool => node.tool_call_id = Some(id.into()),
            _ => node.tool_calls.push(StoredToolCall {
                id: Some(id.into()),
                name: Some("look".into()),
                ..StoredToolCall::default()
            }),
        }
    }
    let listed = word.strip_prefix("S[").map(|listed| listed.trim_end_matches(']'));
    if let Some(listed) = listed {
        node.content = Some(ctx_types::Content::Text(format!("In short {at}.").into()));
        node.metadata = Some(Box::new(NodeMetadata {
            is_compression_node: Some(true),
            compressed_node_ids: listed.split(',').map(Into::into).collect(),
            ..NodeMetadata::default()
        }));
    }
    if head == "g" {
        let live =
            NodeMetadata { is_greeting: Some(true), greeting_live: Some(true), ..NodeMetadata::default() };
        node.metadata = Some(Box::new(live));
    }
    node.is_enabled = is_off.then_some(false);
    node
}

fn plan(session: &Session, config: &MaskConfig, selection: &MaskSelection) -> Result<MaskPlan, String> {
    MaskPlan::new(session, config, selection, &Counter::estimate()).map_err(|error| error.to_string())
}

fn between(from: &str, to: &str) -> MaskSelection {
    MaskSelection::Between { from: from.into(), to: to.into() }
}

fn ids(ids: &[NodeId]) -> String {
    ids.iter().map(|id| &**id).collect::<Vec<_>>().join(" ")
}

fn visible(session: &Session) -> Vec<NodeId> {
    visible_path(session).into_iter().map(|node| node.id.clone().unwrap()).collect()
}

fn bytes(session: &Session) -> String {
    serde_json::to_string(session).unwrap()
}

fn summarize(plan: MaskPlan, summarizer: &dyn Summarizer) -> Result<MaskDraft, SummaryFailure> {
    summarize_with(plan, Some(summarizer), None)
}

fn summarize_with(
    plan: MaskPlan,
    summarizer: Option<&dyn Summarizer>,
    deadline: Option<&dyn Deadline>,
) -> Result<MaskDraft, SummaryFailure> {
    let counter = Counter::estimate();
    let with = Summarizing { summarizer, deadline, counter: &counter, extract: None };
    pollster::block_on(plan.summarize(&with))
}

/// Summarizes by a function that is given the prompt.
struct Scripted<F> {
    answer: F,
    window: Option<u32>,
}

impl<F: Fn(&SummaryRequest) -> Result<SummaryAnswer, PortError> + Send + Sync> Summarizer for Scripted<F> {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        Box::pin(async move { (self.answer)(request) })
    }

    fn window(&self) -> Option<u32> {
        self.window
    }
}

/// A summarizer that always says the same.
fn says(text: &'static str) -> impl Summarizer {
    Scripted { answer: move |_: &SummaryRequest| Ok(text.into()), window: None }
}

/// A summarizer that never answers, and counts requests.
#[derive(Default)]
struct Hangs {
    asked: AtomicUsize,
    window: Option<u32>,
}

impl Summarizer for Hangs {
    fn summarize<'a>(&'a self, _: &'a SummaryRequest) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::pending())
    }

    fn window(&self) -> Option<u32> {
        self.window
    }
}

/// A clock whose limits pass as soon as something waits for them; the caller may cancel.
#[derive(Default)]
struct Clock {
    is_cancelled: AtomicBool,
    limits: AtomicUsize,
    is_limit: bool,
}

impl Deadline for Clock {
    fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::poll_fn(|_| {
            if self.is_limit || self.is_over() { Poll::Ready(()) } else { Poll::Pending }
        }))
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        assert_eq!(limit, Duration::from_secs(120));
        self.limits.fetch_add(1, Ordering::Relaxed);
        Box::new(Self { is_limit: true, ..Self::default() })
    }
}
