//! A long conversation is compressed: a summary in its tree hides what it was made of, until it is undone.
//!
//! A model would write the summary; here somebody stands in who always writes the same.
//!
//! `cargo run -p examples --bin summarize`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::compress::{MaskConfig, MaskPlan, MaskSelection, Summarizing};
use ctx_engine::prelude::{
    Counter, Node, PortError, PortFuture, Role, Session, Summarizer, SummaryAnswer, SummaryRequest,
    TokenCounter, visible_path,
};

/// What a host lends; a real one sends the prompt to a model and waits.
struct Fake;

impl Summarizer for Fake {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        let tokens = Counter::estimate().count(request.prompt.as_str());
        println!("  the summarizer is asked with some {tokens} tokens");
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

    // First a plan, which can be looked at: what is hidden, and what the summarizer is asked.
    let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::Oldest, &counter)?;
    // Then the summary. A host would await; nothing here needs a runtime.
    let with = Summarizing { summarizer: Some(&Fake), deadline: None, counter: &counter, extract: None };
    let draft = pollster::block_on(plan.summarize(&with))?;
    // Then one operation on the session. Time is an input, as everywhere.
    let commit = draft.commit(&session, 1_733_712_000_000)?;
    let undo = session.apply(&commit.op)?;
    println!("  {}", commit.notice);
    show("after", &session);

    // Every operation has an exact inverse.
    session.apply(&undo)?;
    show("undone", &session);
    Ok(())
}

/// Shows what of the conversation is sent.
fn show(title: &str, session: &Session) {
    let visible = visible_path(session);
    println!("{title}: {} messages, the first of which says", visible.len());
    let role = visible.first().and_then(|first| first.role).unwrap_or_default();
    let text = visible.first().and_then(|first| first.content.as_ref()).map(|content| content.text());
    println!("  {}: {}", role.as_str(), text.unwrap_or_default());
}
