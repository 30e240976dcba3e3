use ctx_pipeline::{Cancel, Inputs, Pipeline, Run};
use ctx_tokens::{Budget, Counter, ModelFacts};
use ctx_types::{Agent, AttachmentPorts, Session, TurnInput, UserProfile};

/// Runs a pipeline without budget on an empty conversation.
pub(crate) fn execute(
    pipeline: &Pipeline,
    run: &mut Run,
    agent: &Agent,
    profile: Option<&UserProfile>,
    turn: &TurnInput,
) {
    let model = ModelFacts::unknown("x");
    let inputs = Inputs {
        agent,
        profile,
        session: &Session::new("s"),
        turn,
        model: &model,
        counter: &Counter::for_model(&model).0,
        budget: &Budget { available: None, lines: Vec::new() },
        cancel: &Cancel::default(),
        attachments: AttachmentPorts::default(),
        embedder: None,
        deadline: None,
        stopwatch: None,
    };
    pollster::block_on(pipeline.run(run, inputs, ..)).unwrap();
}
