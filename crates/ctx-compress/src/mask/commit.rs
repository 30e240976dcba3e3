//! From a draft to the operation that changes the session, if the session is still what was summarised.

use ctx_types::internal::{DisplayNode, DisplayState, Fingerprint, display_path};
use ctx_types::session::{Change, Node, NodeEdit, NodeId, Session, SessionOp};
use ctx_types::{Content, Message, Phrase, phrase};

use crate::mask::details::MaskNotice;
use crate::mask::draft::MaskDraft;
use crate::mask::plan::{MaskTarget, is_on_active_path};
use crate::mask::range::{MaskRange, listed};
use crate::mask::record;

/// What carries a summary into the session.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskCommit {
    /// The one operation; its inverse undoes the compression.
    pub op: SessionOp,
    /// The node of the summary.
    pub id: NodeId,
    /// What to tell people.
    pub notice: MaskNotice,
}

/// Why a summary does not fit the session any more; it is thrown away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum StaleMask {
    /// A node is gone.
    Gone {
        /// The node.
        id: NodeId,
    },
    /// A node is on no way to the active leaf any more.
    OffPath {
        /// The node.
        id: NodeId,
    },
    /// A node is hidden behind another summary, or switched off.
    Hidden {
        /// The node.
        id: NodeId,
    },
    /// A node was edited, or others came between.
    Changed,
}

impl StaleMask {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Gone { id } => {
                phrase!("`{id}` was removed during summarization", id = id.to_string())
            }
            Self::OffPath { id } => {
                phrase!("another branch became active while `{id}` was summarized", id = id.to_string())
            }
            Self::Hidden { id } => {
                phrase!("`{id}` was hidden during summarization", id = id.to_string())
            }
            Self::Changed => phrase!("the messages changed during summarization"),
        }
    }
}

impl MaskDraft {
    /// Makes the operation that carries the summary into the session. O(active path).
    ///
    /// `at_millis` is the time, in milliseconds since 1970-01-01T00:00:00Z. Later messages do not matter; any
    /// change of what was summarised, or of the summaries before it, makes the draft stale.
    pub fn commit(&self, session: &Session, at_millis: i64) -> Result<MaskCommit, StaleMask> {
        self.check(session)?;
        let (id, op) = match &self.plan.target {
            MaskTarget::New => {
                let id = free_id(session, self.plan.fingerprint);
                let mut node =
                    Node::new(self.plan.config.summary_role, self.text.clone()).with_id(id.clone());
                node.is_enabled = Some(true);
                node.metadata = Some(Box::new(record::write(self, at_millis, None)));
                let op = SessionOp::Insert { after: self.plan.range.after.clone(), node: Box::new(node) };
                (id, op)
            }
            MaskTarget::Existing(id) => {
                let before = session.node(id).and_then(|node| node.metadata.as_deref());
                let metadata = Box::new(record::write(self, at_millis, before));
                let edit = NodeEdit {
                    content: Change::Set(Content::Text(self.text.clone())),
                    metadata: Change::Set(metadata),
                    ..NodeEdit::default()
                };
                (id.clone(), SessionOp::Edit { id: id.clone(), edit: Box::new(edit) })
            }
        };
        Ok(MaskCommit { op, notice: MaskNotice::of(self), id })
    }

    fn check(&self, session: &Session) -> Result<(), StaleMask> {
        let range = &self.plan.range;
        let basis = match &self.plan.target {
            MaskTarget::New => Basis::Visible(range),
            MaskTarget::Existing(id) => Basis::Named(range, id),
        };
        if fingerprint(session, &basis) == self.plan.fingerprint {
            return Ok(());
        }
        let ids = || range.previous.iter().chain(&range.covered).chain(&range.messages);
        if let Some(id) = ids().find(|id| session.node(id).is_none()) {
            return Err(StaleMask::Gone { id: id.clone() });
        }
        if matches!(basis, Basis::Named(..)) {
            return Err(StaleMask::Changed);
        }
        if let Some(id) = ids().find(|id| !is_on_active_path(session, id)) {
            return Err(StaleMask::OffPath { id: id.clone() });
        }
        let shown = display_path(session, &[]);
        let visible: std::collections::HashSet<&NodeId> =
            shown.iter().filter(|shown| shown.state == DisplayState::Visible).map(|shown| shown.id).collect();
        match ids().find(|id| !visible.contains(id)) {
            Some(id) => Err(StaleMask::Hidden { id: id.clone() }),
            None => Err(StaleMask::Changed),
        }
    }
}

/// What a fingerprint is taken of.
pub(super) enum Basis<'a> {
    /// All that is visible from the first node of the range to the last, and the summaries before it.
    Visible(&'a MaskRange),
    /// The messages of the range, whether visible or not, the summary of them, and the summaries before it.
    Named(&'a MaskRange, &'a NodeId),
}

/// Takes the fingerprint of what a summary is made from. O(active path + bytes of the range).
pub(super) fn fingerprint(session: &Session, basis: &Basis<'_>) -> Fingerprint {
    match basis {
        Basis::Named(range, id) => {
            let ids = range.previous.iter().chain(&range.messages).chain([*id]);
            let nodes = ids.filter_map(|id| Some((id, session.node(id)?)));
            nodes.fold(Fingerprint::default(), |sum, (id, node)| add(sum, id, node))
        }
        Basis::Visible(range) => {
            let ids = range.covered.iter().chain(&range.messages);
            let Some(first) = ids.filter_map(|id| session.depth(id)).min() else {
                return Fingerprint::default();
            };
            let last = session.depth(&range.after).unwrap_or_default();
            let shown = display_path(session, &[]);
            let is_visible = |shown: &&DisplayNode<'_>| shown.state == DisplayState::Visible;
            let within = shown.iter().skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first));
            let visible = within.filter(is_visible);
            // The summarizer is shown the earlier summaries, and continues them.
            let is_earlier = |shown: &&DisplayNode<'_>| range.previous.contains(shown.id);
            let earlier = shown.iter().filter(is_visible).filter(is_earlier);
            let listed = listed(session, &range.covered, &range.messages);
            // What a summary that is taken in stands for may change without any change of its own.
            let sum = listed.iter().fold(Fingerprint::default(), |sum, id| sum.text(id));
            let sum = earlier.fold(sum, |sum, shown| add(sum, shown.id, shown.node));
            visible.fold(sum, |sum, shown| add(sum, shown.id, shown.node))
        }
    }
}

fn add(sum: Fingerprint, id: &NodeId, node: &Node) -> Fingerprint {
    let message: Message = node.to_message(id);
    let sum = sum.text(id).text(message.role.as_str()).text(&message.text());
    let calls = message.tool_calls.iter();
    let sum = calls.fold(sum, |sum, call| sum.text(&call.id).text(&call.name).text(&call.arguments));
    let sum = sum.text(message.tool_call_id.as_deref().unwrap_or_default());
    let files = message.attachments.iter().fold(sum, |sum, file| sum.text(&file.id).text(&file.name));
    // Two numbers at the end, so that lists of different lengths never look alike.
    files.number(message.tool_calls.len() as u64).number(message.attachments.len() as u64)
}

/// Returns an id for a new summary: made from what it is made from, so that equal sessions get equal ids.
fn free_id(session: &Session, fingerprint: Fingerprint) -> NodeId {
    let first = format!("compression_{fingerprint}");
    let numbered = (2_usize..).map(|number| format!("{first}_{number}"));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    names.find(|name| session.node(name).is_none()).unwrap_or_default().into()
}
