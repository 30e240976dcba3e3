//! What is done with summaries that are there: each is one step in the log of the conversation.

use ctx_compress::mask::{
    MaskConfig, MaskDraft, MaskNotice, MaskPlan, StaleMask, delete_summary, edit_summary, switch_appendix,
    switch_summary,
};
use ctx_tokens::Counter;
use ctx_types::internal::{Argument, Divider, SummaryAppendix};
use ctx_types::session::{Node, NodeId, Session, SessionOp};
use ctx_types::{count_of, phrase};

use crate::error::{ProjectError, Result};
use crate::session_file::SessionFile;
use crate::sources::Sources;

/// How many summaries a message names.
const MOST_NAMED: usize = 5;

/// A summary of a conversation in a file.
#[derive(Debug)]
pub struct SummaryFile {
    /// The conversation.
    pub file: SessionFile,
    /// The node of the summary.
    pub id: NodeId,
    counter: Counter,
    at_millis: i64,
}

/// A step that changes a summary and is not taken yet.
#[derive(Clone, Debug)]
pub struct SummaryStep {
    /// Its name in the log.
    pub label: String,
    op: SessionOp,
}

/// What of a summary is switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPart {
    /// All of it; while it is off, the messages it covers are sent.
    All,
    /// The facts that it lost and that are sent below it.
    Facts,
}

impl SummaryFile {
    /// Finds a summary by its id, or by the beginning of it; steps are noted at this time, in milliseconds since 1970.
    pub fn find(file: SessionFile, node: &str, counter: Counter, at_millis: i64) -> Result<Self> {
        let id = find(&file.session, node)?;
        Ok(Self { file, id, counter, at_millis })
    }

    /// Switches the summary, or the facts beside it; `None` if they stand so already.
    pub fn switch(&self, part: SummaryPart, enabled: bool) -> Result<Option<SummaryStep>> {
        let (session, id) = (&self.file.session, &self.id);
        let node = session.node(id);
        let is_enabled = match part {
            SummaryPart::All => node.is_some_and(Node::is_enabled),
            // Without facts the switch itself says so.
            SummaryPart::Facts => {
                node.and_then(SummaryAppendix::from_node).map_or(!enabled, |facts| facts.is_sent)
            }
        };
        if is_enabled == enabled {
            return Ok(None);
        }
        let (op, what) = match part {
            SummaryPart::All => (switch_summary(session, id, enabled), id.to_string()),
            SummaryPart::Facts => {
                (switch_appendix(session, id, enabled, &self.counter), format!("facts of {id}"))
            }
        };
        let op = op.map_err(|error| ProjectError::Usage(error.phrase()))?;
        let label = format!("{} {what}", if enabled { "enable" } else { "disable" });
        Ok(Some(SummaryStep { label, op }))
    }

    /// Deletes the summary; the messages that it covers stay.
    pub fn delete(&self) -> Result<SummaryStep> {
        let op = delete_summary(&self.file.session, &self.id);
        let op = op.map_err(|error| ProjectError::Usage(error.phrase()))?;
        Ok(SummaryStep { label: format!("delete {}", self.id), op })
    }

    /// Gives the summary other words.
    pub fn edit(&self, text: &str) -> Result<SummaryStep> {
        let op = edit_summary(&self.file.session, &self.id, text.trim_end(), &self.counter);
        let op = op.map_err(|error| ProjectError::Usage(error.phrase()))?;
        Ok(SummaryStep { label: format!("edit {}", self.id), op })
    }

    /// Plans how the summary is written again, from the messages that it covers.
    pub fn plan(&self, config: &MaskConfig) -> Result<MaskPlan> {
        let plan = MaskPlan::regenerate(&self.file.session, config, &self.id, &self.counter);
        plan.map_err(|none| ProjectError::Usage(none.phrase()))
    }

    /// Reads the file again, which may have changed while a summary was written.
    pub fn read_again(&mut self, sources: &mut Sources) -> Result<()> {
        self.file = self.file.read_again(sources)?;
        Ok(())
    }

    /// Puts what was written again in the place of the summary, if it still fits.
    pub fn rewrite(&self, draft: &MaskDraft) -> Result<(SummaryStep, MaskNotice), StaleMask> {
        let commit = draft.commit(&self.file.session, self.at_millis)?;
        Ok((SummaryStep { label: format!("write {} again", self.id), op: commit.op }, commit.notice))
    }

    /// Takes a step and notes it in the log; what is odd about that is among the file's findings.
    pub fn take(&mut self, step: &SummaryStep) -> Result<()> {
        Ok(self.file.apply(&step.label, self.at_millis, &step.op)?)
    }
}

/// Finds a summary by its id, or by the beginning of it.
pub fn find(session: &Session, text: &str) -> Result<NodeId> {
    if let Some(node) = session.node(text) {
        return if node.is_summary() {
            Ok(text.into())
        } else {
            Err(ProjectError::Usage(phrase!("`{text}` is not a summary", text)))
        };
    }
    let summaries = || session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id);
    let begun: Vec<&NodeId> = summaries().filter(|id| !text.is_empty() && id.starts_with(text)).collect();
    Err(ProjectError::Usage(match (begun.as_slice(), summaries().count()) {
        ([id], _) => return Ok((*id).clone()),
        ([], 0) => phrase!("no summary `{text}`; the conversation has none", text),
        ([], _) => {
            let known = Argument::names(summaries().take(MOST_NAMED), Divider::Comma);
            phrase!("no summary `{text}`; the summaries are {known}", text, known)
        }
        (several, _) => {
            phrase!("`{text}` is ambiguous: {ids} start with it", ids = count_of!(several.len(), "id"), text)
        }
    }))
}
