//! Plug-ins that shorten loaded messages before the limiter, so more of them fit.

use ctx_types::phrase;
use ctx_types::report::Outcome;
use ctx_types::session::Session;
use ctx_types::{Persist, Reader};
use serde_json::json;

use crate::pipeline::case::{Case, Plugin, log, plugin, rewrite, talk, texts};

fn shrinks(priority: i64) -> Plugin {
    plugin("shrinks", priority, |cx| {
        for message in cx.draft.messages_mut() {
            let short = message.text().split(' ').take(2).collect::<Vec<_>>().join(" ");
            rewrite(message, short);
        }
    })
}

fn shrunk(session: &Session) -> Session {
    let mut file = session.write();
    for (_, node) in file["nodes"].as_object_mut().unwrap() {
        let text =
            node["content"].as_str().unwrap_or_default().split(' ').take(2).collect::<Vec<_>>().join(" ");
        node["content"] = json!(text);
    }
    Session::read(file, &mut Reader::new())
}

#[test]
fn loads_more_until_messages_are_dropped() {
    let case = Case::talk(400, 500);
    let shortened = case.clone().with(shrinks(200)).context();
    let stored = Case { session: Some(shrunk(&talk(400))), ..case }.context();
    assert_eq!(texts(&shortened), texts(&stored));
    assert_eq!(log(&shortened, "session-loader"), "95 messages loaded, 305 older messages not loaded");
    let dropped = |context: &ctx_engine::Context| {
        let decisions =
            context.report.decisions.iter().filter(|decision| decision.outcome == Outcome::Dropped);
        decisions.map(|decision| (decision.source.clone(), decision.count)).collect::<Vec<_>>()
    };
    assert_eq!(dropped(&shortened), dropped(&stored));
}

#[test]
fn loads_everything_if_it_fits() {
    let context = Case::talk(100, 800).with(shrinks(200)).context();
    assert_eq!(context.messages.len(), 101);
    assert_eq!(context.report.decisions, []);
    assert_eq!(log(&context, "session-loader"), "100 messages loaded, 0 older messages not loaded");
}

#[test]
fn starts_each_attempt_with_empty_blackboard() {
    let counts = plugin("counts", 395, |cx| {
        let seen = cx.blackboard.get::<u64>().copied().unwrap_or(0);
        cx.blackboard.insert(seen + 1);
        cx.log(phrase!("run {seen}", seen));
    });
    let context = Case::talk(400, 500).with(shrinks(200)).with(counts).context();
    assert_eq!(log(&context, "counts"), "run 0");
}

#[test]
fn omits_conversation_excluded_by_preset() {
    let mut case = Case::talk(400, 500);
    case.agent = json!({ "presetMessages": [{ "role": "system", "content": "You help." }], "historyWhenUnplaced": "omit" });
    let context = case.context();
    assert_eq!(texts(&context), ["You help."]);
    assert_eq!(context.report.decisions[0].count, 400);
}

#[test]
fn loads_everything_without_limiter() {
    let mut case = Case::talk(400, 20_000);
    case.agent["parameters"] = json!({ "processors": [{ "id": "token-limiter", "enabled": false }] });
    let context = case.context();
    assert_eq!(context.messages.len(), 401);
    assert_eq!(context.report.diagnostics, []);
    case.turn.context_tokens = Some(500);
    let error = case.assemble().unwrap_err().to_string();
    assert!(
        error.contains(&format!("the messages have {}", crate::pipeline::case::total(&context))),
        "{error}"
    );
}
