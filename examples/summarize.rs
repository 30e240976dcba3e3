//! Adds a summary to a long conversation, which hides the summarized messages until it is undone.
//!
//! A real summarizer calls a model. This one always returns the same text.
//!
//! `cargo run -p examples --bin summarize`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::compress::{MaskConfig, MaskPlan, MaskSelection, Summarizing};
use ctx_engine::prelude::{
    Counter, Node, PortError, PortFuture, Role, Session, Summarizer, SummaryAnswer, SummaryRequest,
    TokenCounter, visible_path,
};

/// A summarizer. A real one sends the prompt to a model.
struct Fake;

impl Summarizer for Fake {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        let tokens = Counter::estimate().count(request.prompt.as_str());
        println!("  prompt of the summarizer: about {tokens} tokens");
        let answer = "They looked for the red umbrella in 20 rooms, and did not find it.";
        Box::pin(std::future::ready(Ok(answer.into())))
    }
}

fn main() -> anyhow::Result<()> {
    let said = |n| match n % 2 {
        0 => Node::new(Role::User, format!("Is the red umbrella in room {n}?")),
        _ => Node::new(Role::Assistant, format!("I looked behind the door of room {}: it is not.", n - 1)),
    };
    let (mut session, _) = Session::linear("search", (0..30).map(said));
    let counter = Counter::estimate();
    show("before", &session);

    // First, plan: the messages to hide, and the prompt for the summarizer.
    let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::Oldest, &counter)?;
    // Then write the summary. This summarizer needs no async runtime.
    let with = Summarizing { summarizer: Some(&Fake), deadline: None, counter: &counter, extract: None };
    let draft = pollster::block_on(plan.summarize(&with))?;
    // Then change the session in one operation. The time is an input.
    let commit = draft.commit(&session, 1_733_712_000_000)?;
    let undo = session.apply(&commit.op)?;
    println!("  {}", commit.notice);
    show("after", &session);

    // Each operation can be undone exactly.
    session.apply(&undo)?;
    show("undone", &session);
    Ok(())
}

/// Prints the messages that are sent.
fn show(title: &str, session: &Session) {
    let visible = visible_path(session);
    println!("{title}: {} messages; the first is", visible.len());
    let role = visible.first().and_then(|first| first.role).unwrap_or_default();
    let text = visible.first().and_then(|first| first.content.as_ref()).map(|content| content.text());
    println!("  {}: {}", role.as_str(), text.unwrap_or_default());
}
