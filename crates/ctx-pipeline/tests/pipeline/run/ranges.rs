use ctx_pipeline::internal::{Pipeline, Run};

use crate::run::case::{Host, Step, compile, describe, messages, with_inputs, words};

fn pipeline() -> Pipeline {
    compile([
        Step::push("s3").at(300),
        Step::push("s1").at(100),
        Step::push("s2").at(200).per_message(),
        Step::push("s9").per_message(),
    ])
}

#[test]
fn runs_processors_of_range_in_order() {
    let (pipeline, mut run) = (pipeline(), Run::default());
    with_inputs(&Host::default(), |inputs| {
        pollster::block_on(pipeline.run(&mut run, inputs, ..200)).unwrap();
        assert_eq!(words(run.draft.messages()), "s1");
        pollster::block_on(pipeline.run(&mut run, inputs, 200..=300)).unwrap();
        assert_eq!(words(run.draft.messages()), "s1 s2 s3");
        pollster::block_on(pipeline.run(&mut run, inputs, 301..)).unwrap();
    });
    assert_eq!(words(run.draft.messages()), "s1 s2 s3 s9");
    let ids: Vec<&str> = run.stages.iter().map(|stage| &*stage.id).collect();
    assert_eq!(ids, ["s1", "s2", "s3", "s9"]);
}

#[test]
fn continues_from_saved_run() {
    let (pipeline, mut run) = (pipeline(), Run::default());
    with_inputs(&Host::default(), |inputs| {
        pollster::block_on(pipeline.run(&mut run, inputs, ..=200)).unwrap();
        let saved = run.clone();
        pollster::block_on(pipeline.run(&mut run, inputs, 201..)).unwrap();
        assert_eq!(words(saved.draft.messages()), "s1 s2");
        let mut again = saved;
        pollster::block_on(pipeline.run(&mut again, inputs, 201..)).unwrap();
        assert_eq!(describe(&again), describe(&run));
        assert_eq!(again.stages, run.stages);
    });
}

#[test]
fn runs_per_message_processors_on_appended_messages() {
    let mut run = Run::default();
    run.draft.set_messages(messages("u1"));
    with_inputs(&Host::default(), |inputs| pollster::block_on(pipeline().run_appended(&mut run, inputs)))
        .unwrap();
    assert_eq!(words(run.draft.messages()), "u1 s2 s9");
}
