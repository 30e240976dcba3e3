use crate::generate;
use ctx_types::Phrase;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use ctx_engine::{Context, Engine, Ports, Request};
use ctx_macros::Scope;
use ctx_pipeline::internal::Run;
use ctx_pipeline::{Cancel, ContextProcessor, Descriptor, Inputs, PipelineContext, ProcessorError};
use ctx_tokens::{Budget, Counter, ModelFacts};
use ctx_types::Role;
use ctx_types::ports::Stopwatch;
use ctx_types::session::{Node, SessionOp};
use generate::turn::turn;
use proptest::prelude::*;
use serde_json::Map;

struct KeepsVariables;

#[async_trait]
impl ContextProcessor for KeepsVariables {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(KEEPER, "", "").with(|descriptor| descriptor.priority = 350)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let parent = cx.inputs.session.active_leaf_id().clone();
        let variables = cx.draft.macros().into_iter().flat_map(|state| state.variables(Scope::Local));
        let kept = variables.map(|(name, value)| {
            let node = Node::new(Role::System, format!("{name} = {value}")).with_id(format!("kept-{name}"));
            SessionOp::Append { parent: parent.clone(), node: Box::new(node) }
        });
        let kept: Vec<SessionOp> = kept.collect();
        cx.log(Phrase::verbatim(kept.len().to_string()));
        for op in kept {
            cx.draft.effect(op);
        }
        Ok(())
    }
}

const KEEPER: &str = "keeps-variables";

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = Engine::new();
    engine.register(Arc::new(KeepsVariables)).unwrap();
    engine
});

#[derive(Default)]
struct Seconds(AtomicU64);

impl Stopwatch for Seconds {
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn body(context: &Context) -> Vec<u8> {
    let request = Request { model: "m", tools: &[], parameters: &Map::new() };
    context.encode(&request).to_bytes()
}

fn found(context: &Context) -> usize {
    let keeper = context.report.stages.iter().find(|stage| stage.id == KEEPER);
    keeper.and_then(|stage| stage.log.first()).map_or(0, |line| line.message.to_string().parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// The preview and its request share counted texts; the other request uses a new agent and conversation.
    #[test]
    fn previews_same_bytes_without_effects(turn in turn()) {
        let (input, preview) = (turn.input(), turn.input().with(|turn| turn.preview = true));
        let (kept, session) = (turn.compile(&ENGINE), turn.session());
        let shown = kept.assemble_blocking(&session, &preview);
        let after = kept.assemble_blocking(&session, &input);
        let (new, (cancel, clock)) = (turn.compile(&ENGINE), (Cancel::default(), Seconds::default()));
        let ports = Ports::default().with(|ports| {
ports.cancel = Some(&cancel);
ports.stopwatch = Some(&clock);
});
        let sent = pollster::block_on(new.assemble_with(&turn.session(), &input, ports));
        match (shown, after, sent) {
            (Ok(shown), Ok(after), Ok(sent)) => {
                prop_assert_eq!(body(&shown), body(&sent));
                prop_assert_eq!(shown.to_snapshot(), sent.to_snapshot());
                prop_assert_eq!((&shown.messages, &shown.report), (&sent.messages, &sent.report));
                prop_assert_eq!(&after, &sent);
                prop_assert_eq!((found(&shown), shown.effects.len()), (sent.effects.len(), 0));
                prop_assert!(shown.timings.is_empty() && !sent.timings.is_empty());
            }
            (shown, after, sent) => {
                let error = sent.unwrap_err().to_string();
                prop_assert_eq!(shown.unwrap_err().to_string(), error.clone());
                prop_assert_eq!(after.unwrap_err().to_string(), error);
            }
        }
    }

    #[test]
    fn changes_nothing_when_formatters_run_again(turn in turn()) {
        let (compiled, session, input) = (turn.compile(&ENGINE), turn.session(), turn.input());
        let Ok(context) = compiled.assemble_blocking(&session, &input) else { return Ok(()) };
        let model = ModelFacts::unknown("m");
        let inputs = Inputs {
            agent: compiled.agent(),
            profile: None,
            session: &session,
            turn: &input,
            model: &model,
            counter: &Counter::for_model(&model).0,
            budget: &Budget { available: None, lines: Vec::new() },
            cancel: &Cancel::default(),
            attachments: ctx_types::ports::AttachmentPorts::default(),
            embedder: None,
            deadline: None,
            stopwatch: None,
        };
        let mut run = Run::default();
        run.draft.set_messages(context.messages.clone());
        pollster::block_on(compiled.pipeline().run(&mut run, inputs, FORMATTERS)).unwrap();
        prop_assert_eq!(run.draft.messages(), &context.messages[..]);
        prop_assert_eq!(run.draft.decisions(), &[]);
        prop_assert_eq!(run.diagnostics, []);
    }
}

const FORMATTERS: std::ops::RangeInclusive<i64> = 500..=800;
