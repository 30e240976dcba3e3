//! A look at what `worldbook-processor` made of the books of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ctx_engine::{AssembleError, Compile, Engine, ImportError};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_processors::WorldbookScan;
use ctx_types::{Agent, Diagnostic, Session, TurnInput};
use ctx_worldbook::CheckOptions;

use crate::books::Books;
use crate::turn::Turn;

/// What a turn made of its worldbooks.
#[derive(Clone, Debug)]
pub struct ObservedScan {
    /// The scan.
    pub scan: WorldbookScan,
    /// The tokens of each active entry.
    pub tokens: Vec<u32>,
    /// Whether they were counted as the model counts.
    pub is_exact: bool,
    /// What is wrong with the books, whatever the conversation.
    pub checked: Vec<Diagnostic>,
}

/// A processor that changes nothing and keeps what it sees.
#[derive(Clone, Debug, Default)]
pub struct Probe(Arc<Mutex<Option<ObservedScan>>>);

impl Probe {
    /// Returns an engine on which it looks.
    pub fn engine(&self) -> Engine {
        let mut engine = Engine::new();
        let registered = engine.register(Arc::new(self.clone()));
        debug_assert!(registered.is_ok(), "no other processor has its id");
        engine
    }

    /// Returns what was seen last; nothing if there was no entry, or the processor did not run.
    pub fn take(&self) -> Option<ObservedScan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl ContextProcessor for Probe {
    fn descriptor(&self) -> Descriptor {
        // Before what may end a turn.
        let descriptor = Descriptor::new("ctx:worldbook-probe", "Worldbook probe", "Keeps what was found");
        descriptor.with(|descriptor| descriptor.priority = 389)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(scan) = cx.blackboard.get::<WorldbookScan>().cloned() else { return Ok(()) };
        let counter = cx.inputs.counter;
        let count = |activation: &ctx_worldbook::Activation| counter.count_text(&activation.content);
        let tokens = scan.scan.activations.iter().map(count).collect();
        let options = CheckOptions { counter: Some(counter), budget: scan.scan.budget };
        let checked = ctx_worldbook::check(&scan.set, options);
        let is_exact = cx.inputs.model.is_exact;
        let seen = ObservedScan { scan, tokens, is_exact, checked };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(())
    }
}

/// Scans the conversation of a turn; returns what was seen, and what was found in the files and about books.
pub fn look(turn: &Turn, probe: &Probe) -> (Result<Option<ObservedScan>, AssembleError>, Vec<Diagnostic>) {
    let mut found = turn.settings().1;
    let context = turn.assemble(false);
    let seen = probe.take();
    match context {
        Ok(context) => {
            let is_wanted = |finding: &Diagnostic| turn.books().owns(finding) || is_of_scan(turn, finding);
            let of_run = context.report.diagnostics.into_iter().filter(is_wanted);
            let new: Vec<Diagnostic> = of_run.filter(|finding| !found.contains(finding)).collect();
            found.extend(new);
        }
        // Whether all else fits a budget is another question.
        Err(_) if seen.is_some() => {}
        Err(error) => return (Err(error), found),
    }
    (Ok(seen), found)
}

/// Returns whether a finding is about a scan or its settings.
fn is_of_scan(turn: &Turn, finding: &Diagnostic) -> bool {
    let document = finding.location.document.as_deref();
    let is_of_settings = document.is_some() && document == turn.worldbook_settings();
    is_of_settings || (950..1_000).contains(&finding.code.number())
}

/// Checks one worldbook by itself, with the settings that hold where nobody set any.
pub fn findings(bytes: &[u8], name: &str) -> Result<Vec<Diagnostic>, ImportError> {
    let (books, mut found) = Books::parse(bytes, name)?;
    let probe = Probe::default();
    let with = Compile::default().with(|compile| compile.worldbooks = books.loaded());
    let compiled = probe.engine().compile(&Agent::default(), &with);
    let mut checked = match compiled.assemble_blocking(&Session::new("session"), &TurnInput::default()) {
        Ok(context) => context.report.diagnostics,
        Err(_) => compiled.diagnostics().to_vec(),
    };
    checked.extend(probe.take().map(|seen| seen.checked).unwrap_or_default());
    books.lead_back(&mut checked);
    found.extend(checked.into_iter().filter(|finding| books.owns(finding)));
    Ok(found)
}
