use std::sync::Arc;

use ctx_pipeline::Draft;
use ctx_processors::internal::WorldbookScan;
use ctx_types::report::Decision;

/// Output of each processor of an assembly: messages, pending injections, and decisions.
///
/// Processors share unchanged messages. A processor that ran again appears once, with its last run.
#[derive(Clone, Debug)]
pub struct Trace {
    drafts: Vec<(Arc<str>, Draft)>,
    scan: Option<WorldbookScan>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedStage<'a> {
    pub(crate) id: &'a str,
    pub(crate) before: Option<&'a Draft>,
    pub(crate) after: &'a Draft,
}

impl Trace {
    pub(crate) fn new(drafts: Vec<(Arc<str>, Draft)>, scan: Option<WorldbookScan>) -> Self {
        Self { drafts, scan }
    }

    /// Returns the ids and outputs of processors, in the order they ran.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = (&str, &Draft)> {
        self.drafts.iter().map(|(id, draft)| (&**id, draft))
    }

    /// Returns the id of the processor that made the report's decision at an index; `None` if made after the
    /// last.
    pub fn decided_by(&self, decision: usize) -> Option<&str> {
        self.stages().find(|(_, draft)| draft.decisions().len() > decision).map(|(id, _)| id)
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = TracedStage<'_>> {
        let before = std::iter::once(None).chain(self.drafts.iter().map(|(_, draft)| Some(draft)));
        let stages = self.drafts.iter().zip(before);
        stages.map(|((id, after), before)| TracedStage { id, before, after })
    }

    pub(crate) const fn scan(&self) -> Option<&WorldbookScan> {
        self.scan.as_ref()
    }
}

impl<'a> TracedStage<'a> {
    /// Decisions are only ever added.
    pub(crate) fn decisions(&self) -> &'a [Decision] {
        let earlier = self.before.map_or(0, |draft| draft.decisions().len());
        self.after.decisions().get(earlier..).unwrap_or_default()
    }
}
