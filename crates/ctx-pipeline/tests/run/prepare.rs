//! What is made of an agent once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ctx_pipeline::{Prepared, ProcessorError, Run};
use ctx_types::{Code, Diagnostic};

use crate::case::{Host, Step, check, compile, describe, with_inputs};

#[test]
fn every_run_finds_what_was_prepared_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let step = Step::new("step", |cx| {
        let word = cx.prepared.get::<&str>().copied();
        cx.log(word.unwrap_or("nothing"));
        assert!(cx.prepared.get::<u8>().is_none());
        Ok(())
    });
    let pipeline = compile([step.preparing(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Prepared::new("made once")
    })]);
    for _ in 0..3 {
        let mut run = Run::default();
        with_inputs(&Host::default(), |inputs| pollster::block_on(pipeline.run(&mut run, inputs, ..)))
            .unwrap();
        assert_eq!(describe(&run), ["", "step: made once"]);
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn findings_of_the_preparation_are_those_of_the_pipeline() {
    const ODD: Code = Code::new(9999, "odd");
    let step = Step::push("s1").preparing(|cx| {
        cx.report(Diagnostic::warning(ODD, "an odd rule"));
        Prepared::default()
    });
    let found: Vec<String> = compile([step]).diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["warning[CTX9999]: an odd rule"]);
}

#[test]
fn a_panic_in_the_preparation_is_a_failure_of_every_run() {
    let step = || Step::push("s1").preparing(|_| panic!("no rules"));
    let found: Vec<String> = compile([step()]).diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["error[CTX0453]: processor `s1` came to nothing: the processor panicked: no rules"]);
    check(
        [step(), Step::push("s2")],
        "u1",
        &["u1 s2", "error[CTX0453]: processor `s1` came to nothing: it panicked when it was prepared"],
    );
    let (_, result) = crate::case::run([step().core()], "u1", &Host::default());
    assert_eq!(
        result.unwrap_err().to_string(),
        "core processor `s1` failed: it panicked when it was prepared"
    );
}

#[test]
fn settings_reach_the_processor() {
    let step = Step::new("step", |cx| match cx.config.values() {
        [] => Ok(()),
        values => Err(ProcessorError::failed(format!("{} settings", values.len()))),
    });
    check([step], "u1", &["u1"]);
}
