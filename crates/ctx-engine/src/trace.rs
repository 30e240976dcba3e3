//! What each stage of an assembly left behind, where the host asked for it.

use std::sync::Arc;

use ctx_pipeline::Draft;
use ctx_processors::WorldbookScan;
use ctx_types::Decision;

/// What each stage of an assembly left behind: its messages, what waited to be placed, and its decisions.
///
/// Messages are shared between stages, so that a stage which changes little keeps little. Stages that ran again
/// because the result was too long are there once, as they ran last.
#[derive(Clone, Debug)]
pub struct Trace {
    drafts: Vec<(Arc<str>, Draft)>,
    scan: Option<WorldbookScan>,
}

/// One stage of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedStage<'a> {
    pub(crate) id: &'a str,
    /// What the stage before it left; none before the first.
    pub(crate) before: Option<&'a Draft>,
    pub(crate) after: &'a Draft,
}

impl Trace {
    pub(crate) fn new(drafts: Vec<(Arc<str>, Draft)>, scan: Option<WorldbookScan>) -> Self {
        Self { drafts, scan }
    }

    /// Returns the stages in the order in which they ran, with their ids and what they left.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = (&str, &Draft)> {
        self.drafts.iter().map(|(id, draft)| (&**id, draft))
    }

    /// Returns the id of the stage that made the decision at a place of the report; none if it was made later.
    pub fn decided_by(&self, decision: usize) -> Option<&str> {
        self.stages().find(|(_, draft)| draft.decisions().len() > decision).map(|(id, _)| id)
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = TracedStage<'_>> {
        let before = std::iter::once(None).chain(self.drafts.iter().map(|(_, draft)| Some(draft)));
        let stages = self.drafts.iter().zip(before);
        stages.map(|((id, after), before)| TracedStage { id, before, after })
    }

    /// Returns what became of the entries of worldbooks, if any were searched.
    pub(crate) const fn scan(&self) -> Option<&WorldbookScan> {
        self.scan.as_ref()
    }
}

impl<'a> TracedStage<'a> {
    /// Returns what the stage decided; decisions are only ever added.
    pub(crate) fn decisions(&self) -> &'a [Decision] {
        let earlier = self.before.map_or(0, |draft| draft.decisions().len());
        self.after.decisions().get(earlier..).unwrap_or_default()
    }
}
