use ctx_engine::internal::{EventKind, MessageTrace, TracedMessage};
use ctx_engine::{Context, Ports};
use ctx_types::session::Session;
use serde_json::json;

use crate::pipeline::case::{Case, plugin, rewrite, stages, written};

#[track_caller]
fn assemble_traced(case: &Case) -> (Context, Session) {
    let session = case.session.clone().unwrap();
    let ports = Ports::default().with(|ports| ports.is_traced = true);
    let context = pollster::block_on(case.compile().assemble_with(&session, &case.turn, ports)).unwrap();
    (context, session)
}

fn events(traced: &TracedMessage) -> Vec<String> {
    let steps = traced.steps.iter().flat_map(|step| step.events.iter().map(move |event| (step, event)));
    let event = |(step, event): (&ctx_engine::internal::Step, &ctx_engine::internal::Event)| {
        format!("{} {} {:?} {:?}", step.stage, event.kind.as_str(), event.from, event.to)
    };
    steps.map(event).collect()
}

#[track_caller]
fn check(case: &Case, wanted: &str, expected: &[&str]) -> TracedMessage {
    let (context, session) = assemble_traced(case);
    let traced = MessageTrace::read(&context, &session).unwrap().find(wanted).unwrap();
    assert_eq!(events(&traced), expected);
    traced
}

fn long() -> Case {
    Case::talk(40, 400).with(plugin("adds", 900, |cx| {
        cx.draft.messages_mut().push(written(&"more ".repeat(100)));
    }))
}

#[test]
fn gives_same_context_with_trace() {
    for case in [Case::talk(5, 400), long(), Case::talk(40, 100)] {
        let (context, _) = assemble_traced(&case);
        let without = case.context();
        assert_eq!(context, without);
        assert!(without.trace.is_none());
    }
}

#[test]
fn traces_last_run_of_each_processor() {
    let (context, _) = assemble_traced(&long());
    let trace = context.trace.as_ref().unwrap();
    assert_eq!(trace.stages().map(|(id, _)| id).collect::<Vec<_>>(), stages(&context));
    for ((_, draft), stage) in trace.stages().zip(&context.report.stages) {
        assert_eq!(draft.messages().len(), stage.messages_after);
    }
    let decided: Vec<_> = (0..context.report.decisions.len()).map(|at| trace.decided_by(at)).collect();
    assert_eq!(decided, [Some("token-limiter")]);
}

#[test]
fn gives_equal_traces_for_equal_inputs() {
    let traces = || {
        let (context, session) = assemble_traced(&long());
        let traces = MessageTrace::read(&context, &session).unwrap();
        (0..context.messages.len()).map(|number| json!(traces.sent(number))).collect::<Vec<_>>()
    };
    assert_eq!(traces(), traces());
}

#[test]
fn records_plugin_edits_as_events() {
    let case = Case::talk(3, 400)
        .with(plugin("rewrites", 410, |cx| rewrite(&mut cx.draft.messages_mut()[1], "Changed.".to_owned())))
        .with(plugin("swaps", 420, |cx| cx.draft.messages_mut().swap(2, 3)))
        .with(plugin("removes", 430, |cx| drop(cx.draft.messages_mut().remove(1))))
        .with(plugin("adds", 900, |cx| cx.draft.messages_mut().push(written("Noted."))));
    let expected =
        ["session-loader made [] Some(0)", "rewrites changed [1] Some(1)", "removes gone [1] None"];
    let traced = check(&case, "history:n1", &expected);
    assert_eq!((traced.messages.len(), traced.end()), (0, None));
    assert_eq!(traced.steps[1].events[0].after.as_deref(), Some("Changed."));
    check(&case, "plugin", &["adds made [] Some(3)"]);
    let (context, session) = assemble_traced(&case);
    let traces = MessageTrace::read(&context, &session).unwrap();
    let moved = ["history:n2", "history:n3"].map(|id| {
        let traced = traces.find(id).unwrap();
        traced
            .steps
            .iter()
            .flat_map(|step| &step.events)
            .filter(|event| event.kind == EventKind::Moved)
            .count()
    });
    assert_eq!(moved.iter().sum::<usize>(), 1, "a swap moves one message");
}

#[test]
fn traces_each_copy_of_one_source() {
    let mut case = Case::talk(5, 400);
    case.agent["presetMessages"].as_array_mut().unwrap().push(json!({
        "id": "often", "role": "system", "content": "Again.",
        "injectionStrategy": { "type": "advanced_depth", "depthConfig": "1, 3" },
    }));
    let (context, session) = assemble_traced(&case);
    let traces = MessageTrace::read(&context, &session).unwrap();
    let numbers: Vec<usize> =
        traces.find("preset:often").unwrap().messages.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [3, 6]);
    for number in numbers {
        let traced = traces.sent(number).unwrap();
        assert_eq!(events(&traced), [format!("injection-assembler made [] Some({number})")]);
    }
}
