use ctx_types::phrase;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ctx_engine::AssembleError;
use ctx_processors::Cause;
use ctx_types::Role;
use ctx_types::session::{Node, Session, SessionOp};
use serde_json::json;

use crate::pipeline::case::{Case, Plugin, failing, plugin, texts, total, written};

fn adds(tokens: usize) -> Plugin {
    plugin("adds", 900, move |cx| cx.draft.messages_mut().push(written(&"more ".repeat(tokens))))
}

fn counts(priority: i64) -> (Plugin, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let plugin = plugin("counts", priority, move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    (plugin, runs)
}

#[test]
fn drops_history_for_plugin_messages() {
    let (without, with) = (Case::talk(40, 400).context(), Case::talk(40, 400).with(adds(100)).context());
    assert!(total(&with) <= 397);
    assert!(total(&with) > 397 - 30, "drops no more than necessary: {}", total(&with));
    assert!(with.messages.len() < without.messages.len());
    let added = texts(&with).pop().unwrap();
    assert!(added.starts_with("more more"));
}

#[test]
fn runs_once_if_plugin_messages_fit() {
    let (counts, runs) = counts(410);
    Case::talk(4, 400).with(adds(100)).with(counts).context();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn drops_message_when_unused_budget_is_too_small() {
    // The second message fits next to the question; the first leaves budget unused.
    let words = |count: usize| "word ".repeat(count);
    let nodes = [
        Node::new(Role::User, words(700)),
        Node::new(Role::Assistant, words(390)),
        Node::new(Role::User, "So?"),
    ];
    let case = Case { session: Some(Session::linear("s", nodes).0), ..Case::talk(1, 1_000) };
    assert_eq!(case.context().messages.len(), 3);
    let context = case.with(adds(650)).context();
    assert_eq!(texts(&context)[..2], ["You help.", "So?"]);
    assert!(total(&context) <= 997);
}

#[test]
fn runs_processors_at_most_three_times() {
    let (counts, runs) = counts(410);
    Case::talk(40, 400).with(adds(100)).with(counts).context();
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    let (counts, runs) = self::counts(410);
    let (early, earlier) = self::counts(350);
    let early = Plugin::renamed(early, "early");
    let error = Case::talk(40, 400).with(fills()).with(counts).with(early).assemble().unwrap_err();
    let AssembleError::Infeasible(infeasible) = &error else { panic!("{error}") };
    assert_eq!((infeasible.available, infeasible.cause), (397, Cause::Overgrown));
    assert_eq!((runs.load(Ordering::Relaxed), earlier.load(Ordering::Relaxed)), (3, 1));
}

fn fills() -> Plugin {
    failing("fills", 900, |cx| {
        let used: u32 = cx
            .draft
            .messages()
            .iter()
            .map(|message| {
                ctx_tokens::internal::message_cost(message, cx.inputs.model, cx.inputs.counter).total()
            })
            .sum();
        let room = 400_usize.saturating_sub(used as usize);
        cx.draft.messages_mut().push(written(&"more ".repeat(room + 5)));
        Ok(())
    })
}

#[test]
fn explains_context_that_never_fits() {
    let error = Case::talk(40, 400).with(fills()).assemble().unwrap_err();
    insta::assert_snapshot!(error, @"no context fits the budget: 397 tokens are available, but the messages have 409, since processors after `token-limiter` add more: preset 6 (preset#0), conversation 315 (history:n25 21 and 14 more), current turn 21 (history:n40), later processors 67 (fills)");
}

#[test]
fn includes_shortening_processors_in_error() {
    let mut case = Case::talk(3, 90).with(adds(60));
    case.agent["presetMessages"] = json!([
        { "id": "one", "role": "system", "content": "You help." },
        { "id": "two", "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ]);
    let on = json!([{ "id": "merge-system-to-head", "config": { "separator": "" } }]);
    case.agent["parameters"] = json!({ "processors": on });
    insta::assert_snapshot!(case.assemble().unwrap_err(), @"no context fits the budget: 87 tokens are available, but 93 cannot be dropped: preset 12 (preset:one 6 and 1 more), current turn 21 (history:n3), later processors 60 (adds 64 and 1 more)");
}

#[test]
fn reports_limiter_that_runs_before_loader() {
    let mut case = Case::talk(400, 3_000);
    case.agent["parameters"] = json!({ "processors": [
        { "id": "token-limiter", "priority": 50 },
        { "id": "ensure-alternating-roles", "enabled": true },
    ] });
    let AssembleError::Infeasible(infeasible) = case.unchecked().unwrap_err() else {
        panic!("expected an infeasible budget")
    };
    assert_eq!(infeasible.cause, Cause::TooEarly { limiter: 50, loader: 100 });
    insta::assert_snapshot!(infeasible, @"2997 tokens are available, but the messages have 8406: `token-limiter` (at 50) runs before `session-loader` (at 100): preset 6 (preset#0), conversation 8379 (history:n1 21 and 398 more), current turn 21 (history:n400); move it after `injection-assembler`, or raise the budget");
    let found = case.compile().diagnostics().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        found,
        [
            "warning[CTX0705]: `token-limiter` (at 50) has no effect: it runs before `session-loader` (at 100) loads messages"
        ]
    );
    case.turn.context_tokens = Some(30_000);
    assert_eq!(case.unchecked().unwrap().messages.len(), 401);
}

#[test]
fn names_plugin_in_budget_error() {
    let error = Case::talk(3, 60).with(adds(50)).assemble().unwrap_err();
    let AssembleError::Infeasible(infeasible) = &error else { panic!("{error}") };
    assert_eq!(infeasible.available, 57);
    insta::assert_snapshot!(infeasible, @"57 tokens are available, but 81 cannot be dropped: preset 6 (preset#0), current turn 21 (history:n3), later processors 54 (adds)");
    assert!(infeasible.needed() > 57);
}

#[test]
fn starts_each_repetition_from_saved_run() {
    struct Seen;
    let marks = plugin("marks", 395, |cx| {
        let seen = cx.blackboard.get::<Seen>().is_some();
        cx.blackboard.insert(Seen);
        cx.log(phrase!("seen {seen}", seen = seen.to_string()));
        cx.draft.effect(SessionOp::Toggle { id: "n1".into(), enabled: false });
    });
    let context = Case::talk(40, 400).with(adds(100)).with(marks).context();
    let stage = context.report.stages.iter().find(|stage| stage.id == "marks").unwrap();
    assert_eq!(stage.log[0].to_string(), "seen false");
    assert_eq!(context.effects.len(), 1);
    let mut ids: Vec<&str> = context.report.stages.iter().map(|stage| stage.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), context.report.stages.len());
    assert_eq!(ids.iter().filter(|id| **id == "token-limiter").count(), 1);
}

#[test]
fn recounts_history_changed_by_plugin() {
    let longer = plugin("longer", 450, |cx| {
        for message in cx.draft.messages_mut() {
            let text = format!("{} (said on the way)", message.text());
            crate::pipeline::case::rewrite(message, text);
        }
    });
    let context = Case::talk(40, 400).with(longer).context();
    assert!((300..=397).contains(&total(&context)), "{}", total(&context));
}
