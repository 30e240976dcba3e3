//! A look at what `worldbook-processor` made of the books of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ctx_engine::Engine;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_processors::WorldbookScan;
use ctx_types::Diagnostic;
use ctx_worldbook::CheckOptions;

/// What a turn made of its worldbooks.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) scan: WorldbookScan,
    /// The tokens of each active entry.
    pub(super) tokens: Vec<u32>,
    /// Whether they were counted as the model counts.
    pub(super) is_exact: bool,
    /// What is wrong with the books, whatever the conversation.
    pub(super) checked: Vec<Diagnostic>,
}

/// A processor that changes nothing and keeps what it sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe(Arc<Mutex<Option<Seen>>>);

impl Probe {
    /// Returns an engine on which it looks.
    pub(super) fn engine(&self) -> Engine {
        let mut engine = Engine::new();
        let registered = engine.register(Arc::new(self.clone()));
        debug_assert!(registered.is_ok(), "no other processor has its id");
        engine
    }

    /// Returns what was seen last; nothing if there was no entry, or the processor did not run.
    pub(super) fn take(&self) -> Option<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl ContextProcessor for Probe {
    fn descriptor(&self) -> Descriptor {
        // Before what may end a turn.
        let descriptor = Descriptor::new("ctx:worldbook-probe", "Worldbook probe", "Keeps what was found");
        Descriptor { priority: 389, ..descriptor }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(scan) = cx.blackboard.get::<WorldbookScan>().cloned() else { return Ok(()) };
        let counter = cx.inputs.counter;
        let count = |activation: &ctx_worldbook::Activation| counter.count_text(&activation.content);
        let tokens = scan.scan.activations.iter().map(count).collect();
        let options = CheckOptions { counter: Some(counter), budget: scan.scan.budget };
        let checked = ctx_worldbook::check(&scan.set, options);
        let is_exact = cx.inputs.model.is_exact;
        let seen = Seen { scan, tokens, is_exact, checked };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(())
    }
}
