//! A look at what `worldbook-processor` made of the books of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use ctx_engine::prelude::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
use ctx_engine::{Compile, Engine, ImportError};
use ctx_processors::internal::{NewestHit, WorldbookScan};
use ctx_types::session::Session;
use ctx_types::{Agent, Diagnostic, Phrase, TurnInput, phrase};
use ctx_worldbook::{
    Activation, Member, Status, TimedState,
    internal::{CheckOptions, Reason},
};

use crate::book_file::BookFile;

/// What a turn made of its worldbooks.
#[derive(Clone, Debug)]
pub struct ObservedScan {
    /// The scan.
    pub scan: WorldbookScan,
    /// The tokens of each active entry.
    pub tokens: Vec<u32>,
    /// The tokens of the content of each entry before macro expansion, in the order of the members of the set.
    pub content_tokens: Vec<u32>,
    /// The newest message with a key of each entry, in the order of the members of the set.
    pub newest_hits: Vec<Option<NewestHit>>,
    /// Whether they were counted as the model counts.
    pub is_exact: bool,
    /// What is wrong with the books, whatever the conversation.
    pub checked: Vec<Diagnostic>,
}

/// An entry as a scan left it.
#[derive(Clone, Copy, Debug)]
pub struct SeenEntry<'a> {
    /// The entry.
    pub member: &'a Member,
    /// Its number among the members of the set.
    pub number: usize,
    /// `active`, or in a word why it is not.
    pub state: &'static str,
    /// If it is active: as what, and how many tokens it has.
    pub active: Option<(&'a Activation, Option<u32>)>,
    /// If it is not: why.
    pub reason: Option<&'a Reason>,
}

impl ObservedScan {
    /// Returns all entries: active ones as they became active, then the others as they were considered.
    pub fn entries(&self) -> impl Iterator<Item = SeenEntry<'_>> {
        let (members, scan) = (self.scan.set.members(), &self.scan.scan);
        let active = scan.activations.iter().enumerate().filter_map(move |(at, activation)| {
            let active = Some((activation, self.tokens.get(at).copied()));
            let (member, number) = (members.get(activation.member)?, activation.member);
            Some(SeenEntry { member, number, state: "active", active, reason: None })
        });
        let others =
            members.iter().zip(&scan.statuses).enumerate().filter_map(move |(number, (member, status))| {
                match status {
                    Status::NotActivated(reason) => Some(SeenEntry {
                        member,
                        number,
                        state: reason.as_str(),
                        active: None,
                        reason: Some(reason),
                    }),
                    Status::Activated(_) => None,
                }
            });
        active.chain(others)
    }

    /// Explains why an entry is active, or is not.
    pub fn why(&self, entry: &SeenEntry<'_>) -> Option<Phrase> {
        let (set, message) = (&self.scan.set, |newest| self.scan.message(newest));
        let active = entry.active.map(|(activation, _)| set.describe_with(activation, &message));
        active.or_else(|| {
            let newest = self.newest_hits.get(entry.number).and_then(Option::as_ref);
            Some(self.scan.describe_inactive(entry.number, entry.reason?, newest))
        })
    }

    /// Returns the tokens of all active entries.
    pub fn active_tokens(&self) -> u64 {
        self.tokens.iter().map(|tokens| u64::from(*tokens)).sum()
    }

    /// Tells each timed effect that holds from now on; `shown` makes the id of an entry fit to be shown.
    pub fn timed(&self, shown: impl Fn(&str) -> String) -> Vec<Phrase> {
        timed(&self.scan.scan.state, shown)
    }
}

/// Tells each timed effect of a state; `shown` makes the id of an entry fit to be shown.
pub fn timed(state: &TimedState, shown: impl Fn(&str) -> String) -> Vec<Phrase> {
    let sticky = state.sticky.iter().map(|(id, effect)| (shown(id), effect.until()));
    let sticky = sticky.map(|(id, until)| phrase!("`{id}` is sticky {until}", id, until));
    let resting = state.cooldown.iter().map(|(id, effect)| (shown(id), effect.until()));
    let resting = resting.map(|(id, until)| phrase!("`{id}` is on cooldown {until}", id, until));
    sticky.chain(resting).collect()
}

/// A processor that changes nothing and keeps what it sees.
#[derive(Clone, Debug, Default)]
pub struct Probe(Arc<Mutex<Option<ObservedScan>>>);

impl Probe {
    /// Returns an engine on which it looks.
    pub fn engine(&self) -> Engine {
        self.on(Engine::new())
    }

    /// Looks on an engine with parts of one's own.
    pub fn on(&self, mut engine: Engine) -> Engine {
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
        let contents = scan.set.members().iter().map(|member| counter.count_text(&member.entry.content));
        let content_tokens = contents.collect();
        let options = CheckOptions { counter: Some(counter), budget: scan.scan.budget };
        let checked = ctx_worldbook::internal::check(&scan.set, options);
        let is_exact = cx.inputs.model.is_exact;
        let newest_hits = scan.newest_hits(cx);
        let seen = ObservedScan { scan, tokens, content_tokens, newest_hits, is_exact, checked };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(())
    }
}

/// Checks one worldbook by itself, with the settings that hold where nobody set any.
pub fn findings(bytes: &[u8], name: &str) -> Result<Vec<Diagnostic>, ImportError> {
    let (file, mut found) = BookFile::parse(bytes, name)?;
    let probe = Probe::default();
    let with = Compile::default().with(|compile| compile.worldbooks = vec![file.book.clone()]);
    let compiled = probe.engine().compile(&Agent::default(), &with);
    let mut checked = match compiled.assemble_blocking(&Session::new("session"), &TurnInput::default()) {
        Ok(context) => context.report.diagnostics,
        Err(_) => compiled.diagnostics().to_vec(),
    };
    checked.extend(probe.take().map(|seen| seen.checked).unwrap_or_default());
    let is_of_book =
        |finding: &&mut Diagnostic| finding.location.document.as_deref() == Some(&*file.book.name);
    checked.iter_mut().filter(is_of_book).for_each(|finding| file.lead_back(finding));
    let is_of_file = |finding: &Diagnostic| finding.location.document.as_deref() == Some(&*file.file);
    found.extend(checked.into_iter().filter(is_of_file));
    Ok(found)
}
