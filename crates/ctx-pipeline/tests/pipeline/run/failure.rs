use ctx_macros::Scope;
use ctx_pipeline::{ProcessorError, RunError};
use ctx_types::DepthPoints;
use ctx_types::Phrase;
use ctx_types::phrase;
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{NodeId, SessionOp};
use ctx_types::{Code, Diagnostic, Injection, Order, Placement, Source, SourceKind, Text, Trust};

use crate::run::case::{Host, Step, check, describe, message, run};

const FOUND: Code = Code::new(9999, "found by a test");

fn failing(id: &'static str) -> Step {
    Step::new(id, |cx| {
        cx.log(phrase!("began"));
        cx.report(Diagnostic::warning(FOUND, phrase!("something odd")));
        cx.draft.messages_mut().clear();
        Err(ProcessorError::failed("no weather today"))
    })
}

#[test]
fn ends_run_when_core_processor_fails() {
    let (run, result) =
        run([Step::push("s1"), failing("weather").core(), Step::push("s2")], "u1", &Host::default());
    let error = result.unwrap_err();
    assert!(
        matches!(&error, RunError::Core { id, error: ProcessorError::Failed { .. } } if &**id == "weather")
    );
    assert_eq!(error.to_string(), "core processor `weather` failed: no weather today");
    assert_eq!(describe(&run), ["u1 s1", "warning[CTX9999]: something odd", "weather: began"]);
    let ids: Vec<&str> = run.stages.iter().map(|stage| &*stage.id).collect();
    assert_eq!(ids, ["s1", "weather"]);
}

#[test]
fn rolls_back_all_but_logs_and_diagnostics() {
    struct Mood(u8);
    let fill = |text: &'static str| {
        move |cx: &mut ctx_pipeline::PipelineContext<'_>| {
            let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id(text);
            let placement = Placement::Depth { points: DepthPoints::single(0), order: Order::DEFAULT };
            cx.draft.messages_mut().push(message(text));
            cx.draft.inject(Injection::plugin(text, placement, source.clone()));
            cx.draft.decide(Decision::new(Outcome::Kept, source, Phrase::verbatim(text)));
            cx.draft
                .macros_mut()
                .set_variable(Scope::Local, "word", Text::from(text), Trust::Preset)
                .unwrap();
            cx.draft.effect(SessionOp::Toggle { id: NodeId::from(text), enabled: true });
            cx.blackboard.insert(Mood(u8::try_from(text.len()).unwrap()));
        }
    };
    let (good, bad) = (fill("s1"), fill("s22"));
    let good = Step::new("good", move |cx| {
        good(cx);
        Ok(())
    });
    let bad = Step::new("bad", move |cx| {
        bad(cx);
        Err(ProcessorError::failed("no"))
    });
    let (run, _) = run([good, bad], "u1", &Host::default());
    assert_eq!(describe(&run), ["u1 s1", "error[CTX0453]: processor `bad` failed: no", "kept plugin:s1: s1"]);
    assert_eq!(run.draft.injections().len(), 1);
    assert_eq!(run.draft.effects().len(), 1);
    let word = run.draft.macros().and_then(|macros| macros.variable(Scope::Local, "word"));
    assert_eq!(word.map(Text::as_str), Some("s1"));
    assert_eq!(run.blackboard.get::<Mood>().map(|mood| mood.0), Some(2));
}

#[test]
fn reports_panic_as_failure() {
    check(
        [Step::new("format", |_| panic!("{} ideas", 0))],
        "u1",
        &["u1", "error[CTX0453]: processor `format` failed: the processor panicked: 0 ideas"],
    );
    check(
        [Step::new("value", |_| std::panic::panic_any(7))],
        "u1",
        &["u1", "error[CTX0453]: processor `value` failed: the processor panicked: without a message"],
    );
}

#[test]
fn returns_infeasible_error_unchanged() {
    #[derive(Debug, thiserror::Error)]
    #[error("{0} tokens too many")]
    struct OverLimit(u32);
    let limiter = Step::new("limiter", |_| Err(ProcessorError::Infeasible(Box::new(OverLimit(7))))).core();
    let (_, result) = run([limiter], "u1", &Host::default());
    let Err(RunError::Core { error: ProcessorError::Infeasible(error), .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(error.downcast_ref::<OverLimit>().map(|error| error.0), Some(7));
}

#[test]
fn fails_only_processor_with_cancelled_port() {
    check(
        [Step::new("port", |_| Err(ProcessorError::Cancelled)), Step::push("s1")],
        "u1",
        &["u1 s1", "error[CTX0453]: processor `port` failed: the run was cancelled"],
    );
}

#[test]
fn ends_run_when_core_processor_panics() {
    let (_, result) = run([Step::new("text", |_| panic!("out of ideas")).core()], "u1", &Host::default());
    let error = result.unwrap_err().to_string();
    assert_eq!(error, "core processor `text` failed: the processor panicked: out of ideas");
}
