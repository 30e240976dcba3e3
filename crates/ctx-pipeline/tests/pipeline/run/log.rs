use ctx_pipeline::{PipelineContext, ProcessorError};
use ctx_types::session::LogLine;
use ctx_types::{Content, Phrase, phrase};
use serde_json::{Value, json};

use crate::run::case::{Host, Step, run};

#[track_caller]
fn check(
    act: impl Fn(&mut PipelineContext<'_>) -> Result<(), ProcessorError> + Send + Sync + 'static,
    expected: &Value,
) {
    let (run, _) = run([Step::new("step", act)], "u1", &Host::default());
    assert_eq!(json!(run.stages[0].log), *expected);
}

#[test]
fn logs_error_as_last_line() {
    let act = |cx: &mut PipelineContext<'_>| {
        cx.log(phrase!("began"));
        Err(ProcessorError::failed("no weather today"))
    };
    check(
        act,
        &json!([{ "level": "info", "message": "began" }, {
            "level": "error",
            "message": "no weather today",
        }]),
    );
}

#[test]
fn logs_corrections_of_runner_as_warnings() {
    let act = |cx: &mut PipelineContext<'_>| {
        let message = &mut cx.draft.messages_mut()[0];
        message.written = message.segments().into_owned();
        message.content = Content::Text("longer".into());
        Ok(())
    };
    let warning = "segments of 1 message did not match the text and are attributed to the processor";
    check(act, &json!([{ "level": "warn", "message": warning, "arguments": { "messages": "1 message" } }]));
}

#[test]
fn counts_lines_beyond_limit() {
    let act = |cx: &mut PipelineContext<'_>| {
        (0..1_003).for_each(|at| cx.log(Phrase::verbatim(at.to_string())));
        Err(ProcessorError::failed("no luck"))
    };
    let (run, _) = run([Step::new("step", act)], "u1", &Host::default());
    let log = &run.stages[0].log;
    assert_eq!(log.len(), 1_002);
    let last: Vec<String> = log[999..].iter().map(ToString::to_string).collect();
    assert_eq!(last, ["999", "warn: and 3 more lines", "error: no luck"]);
}

#[test]
fn omits_long_details() {
    let act = |cx: &mut PipelineContext<'_>| {
        cx.log(LogLine::info(phrase!("kept")).with_details(json!("x".repeat(16 * 1024 - 2))));
        cx.log(LogLine::info(phrase!("gone")).with_details(json!("x".repeat(16 * 1024 - 1))));
        Ok(())
    };
    let (run, _) = run([Step::new("step", act)], "u1", &Host::default());
    let log = &run.stages[0].log;
    assert!(log[0].details.is_some());
    assert_eq!(log[1].to_string(), "gone (16385 bytes of details omitted)");
    assert!(log[1].details.is_none());
}

#[test]
fn logs_level_and_details() {
    let act = |cx: &mut PipelineContext<'_>| {
        cx.log(LogLine::warn(phrase!("a rule matched nothing")).with_details(json!({ "rule": "trim" })));
        Ok(())
    };
    check(
        act,
        &json!([{ "level": "warn", "message": "a rule matched nothing", "details": { "rule": "trim" } }]),
    );
}
