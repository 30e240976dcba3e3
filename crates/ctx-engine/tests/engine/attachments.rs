#[path = "../../../../xtask/suite/src/attached.rs"]
mod attached;

use std::path::Path;
use std::sync::{Arc, Mutex};

use attached::Attached;
use ctx_engine::{Compile, Dialect, Engine, Ports, Request, read_agent, read_conversation};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
use ctx_tokens::internal::message_cost;
use ctx_types::{Severity, TurnInput};
use ctx_wire::lint;
use serde_json::Map;

const CASE: &str = "../../fixtures/attachments/each_dialect_takes_what_it_can";

struct Probe {
    id: &'static str,
    priority: i64,
    tokens: Arc<Mutex<Vec<u64>>>,
}

#[async_trait]
impl ContextProcessor for Probe {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(self.id, self.id, "counts").with(|descriptor| descriptor.priority = self.priority)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let cost = |message| u64::from(message_cost(message, cx.inputs.model, cx.inputs.counter).total());
        self.tokens.lock().unwrap().push(cx.draft.messages().iter().map(cost).sum());
        Ok(())
    }
}

/// Tokens before the limiter, before the resolver, and of the context.
fn totals(dialect: Dialect, model: &str) -> Vec<u64> {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASE);
    let read = |name: &str| std::fs::read(case.join(name)).unwrap();
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let mut engine = Engine::new();
    for (id, priority) in [("before-limiter", 395), ("before-resolver", 9_999)] {
        engine.register(Arc::new(Probe { id, priority, tokens: tokens.clone() })).unwrap();
    }
    let agent = read_agent(&read("agent.yaml"), "agent.yaml").unwrap().value;
    let session = read_conversation(&read("session.yaml"), "session.yaml").unwrap().value;
    let compiled = engine.compile(&agent, &Compile::default());
    let attached = Attached::of(&case);
    let ports = Ports::default().with(|lent| lent.attachments = attached.ports());
    let turn = TurnInput::default().with(|turn| {
        turn.model = Some(model.into());
        turn.dialect = Some(dialect.name().into());
    });
    let context = pollster::block_on(compiled.assemble_with(&session, &turn, ports)).unwrap();
    let request = Request { model, tools: &[], parameters: &Map::new() };
    let body = context.encode(&request).to_value();
    let errors =
        lint::check(&body, dialect).into_iter().filter(|finding| finding.severity == Severity::Error);
    assert_eq!(errors.collect::<Vec<_>>(), [], "linter errors for {dialect}");
    let mut totals = tokens.lock().unwrap().clone();
    totals.push(context.tokens().into_iter().map(u64::from).sum());
    totals
}

#[test]
fn counts_files_equally_before_and_after_resolving() {
    for dialect in Dialect::ALL {
        for model in ["gemini-3-pro", "gpt-4o", "claude-opus-4-8", "deepseek-chat", "unknown-model"] {
            let totals = totals(dialect, model);
            let [limiter, resolver, context] = totals[..] else { panic!("{totals:?}") };
            assert_eq!((limiter, resolver), (context, context), "{dialect} {model}");
        }
    }
}
