use ctx_anchors::AnchorRegistry;
use ctx_pipeline::internal::{Pipeline, Run};
use ctx_pipeline::{Cancel, Inputs, ProcessorRegistry};
use ctx_processors::MacroParts;
use ctx_processors::internal::built_in_processors;
use ctx_tokens::{Budget, Counter, ModelFacts};
use ctx_types::ports::AttachmentPorts;
use ctx_types::session::Session;
use ctx_types::{Agent, TurnInput, UserProfile};

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

/// Registers only the built-in processors with these ids.
pub(crate) fn registry(ids: &[&str]) -> ProcessorRegistry {
    let mut registry = ProcessorRegistry::default();
    for processor in built_in_processors(AnchorRegistry::system(), MacroParts::default()) {
        if ids.contains(&&*processor.descriptor().id) {
            registry.register(processor).unwrap();
        }
    }
    registry
}
