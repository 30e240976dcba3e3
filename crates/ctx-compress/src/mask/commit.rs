//! Inserts a draft into the session, if its sources are unchanged.

use std::collections::HashSet;

use ctx_types::internal::{DisplayNode, DisplayState, Fingerprint, display_path};
use ctx_types::session::{Change, Node, NodeEdit, NodeId, Session, SessionOp};
use ctx_types::{Content, Message, Phrase, phrase};

use crate::mask::details::MaskNotice;
use crate::mask::draft::MaskDraft;
use crate::mask::plan::{MaskPlan, MaskTarget, is_on_active_path};
use crate::mask::range::{MaskRange, listed};
use crate::mask::record;

/// The operation that inserts a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskCommit {
    /// The operation; its inverse undoes the compression.
    pub op: SessionOp,
    /// The node of the summary.
    pub id: NodeId,
    /// The notice for the user.
    pub notice: MaskNotice,
}

/// Why a summary no longer matches the session and is discarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum StaleMask {
    /// A node was removed.
    Gone(NodeId),
    /// A node is no longer on the active path.
    OffPath(NodeId),
    /// A node is hidden or disabled.
    Hidden(NodeId),
    /// A node was edited or inserted.
    Changed,
}

impl StaleMask {
    /// Returns the reason as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Gone(id) => {
                phrase!("`{id}` was removed during summarization", id = id.to_string())
            }
            Self::OffPath(id) => {
                phrase!("another branch became active while `{id}` was summarized", id = id.to_string())
            }
            Self::Hidden(id) => {
                phrase!("`{id}` was hidden during summarization", id = id.to_string())
            }
            Self::Changed => phrase!("the messages changed during summarization"),
        }
    }
}

impl MaskDraft {
    /// Makes the operation that inserts the summary. O(active path).
    ///
    /// `at_millis` is the time in milliseconds since 1970-01-01T00:00:00Z. Later messages do not matter. Any change of
    /// the sources or of the earlier summaries makes the draft stale.
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
        let MaskPlan { range, target, .. } = &self.plan;
        if fingerprint(session, range, target) == self.plan.fingerprint {
            return Ok(());
        }
        let ids = || range.previous.iter().chain(&range.covered).chain(&range.messages);
        if let Some(id) = ids().find(|id| session.node(id).is_none()) {
            return Err(StaleMask::Gone(id.clone()));
        }
        if *target != MaskTarget::New {
            return Err(StaleMask::Changed);
        }
        if let Some(id) = ids().find(|id| !is_on_active_path(session, id)) {
            return Err(StaleMask::OffPath(id.clone()));
        }
        let shown = display_path(session, &[]);
        let visible: HashSet<&NodeId> =
            shown.iter().filter(|one| is_visible(one)).map(|one| one.id).collect();
        match ids().find(|id| !visible.contains(id)) {
            Some(id) => Err(StaleMask::Hidden(id.clone())),
            None => Err(StaleMask::Changed),
        }
    }
}

/// Returns the fingerprint of the sources of a summary. O(active path + bytes of the range).
///
/// For a new summary these are the visible messages from the first node of the range to the last, and the earlier
/// summaries. For an existing one they are the messages of the range and the summary, visible or not.
pub(super) fn fingerprint(session: &Session, range: &MaskRange, target: &MaskTarget) -> Fingerprint {
    if let MaskTarget::Existing(id) = target {
        let ids = range.previous.iter().chain(&range.messages).chain([id]);
        let nodes = ids.filter_map(|id| Some((id, session.node(id)?)));
        return nodes.fold(Fingerprint::default(), |sum, (id, node)| add(sum, id, node));
    }
    let ids = range.covered.iter().chain(&range.messages);
    let Some(first) = ids.filter_map(|id| session.depth(id)).min() else {
        return Fingerprint::default();
    };
    let last = session.depth(&range.after).unwrap_or_default();
    let shown = display_path(session, &[]);
    let within = shown.iter().skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first));
    let earlier = shown.iter().filter(|one| range.previous.contains(one.id));
    // The messages of a merged summary may change without a change of the summary.
    let listed = listed(session, &range.covered, &range.messages);
    let sum = listed.iter().fold(Fingerprint::default(), |sum, id| sum.text(id));
    let sources = earlier.chain(within).filter(|one| is_visible(one));
    sources.fold(sum, |sum, one| add(sum, one.id, one.node))
}

fn is_visible(shown: &DisplayNode<'_>) -> bool {
    shown.state == DisplayState::Visible
}

fn add(sum: Fingerprint, id: &NodeId, node: &Node) -> Fingerprint {
    let message: Message = node.to_message(id);
    let sum = sum.text(id).text(message.role.as_str()).text(&message.text());
    let calls = message.tool_calls.iter();
    let sum = calls.fold(sum, |sum, call| sum.text(&call.id).text(&call.name).text(&call.arguments));
    let sum = sum.text(message.tool_call_id.as_deref().unwrap_or_default());
    let files = message.attachments.iter().fold(sum, |sum, file| sum.text(&file.id).text(&file.name));
    // Lists of different lengths must not look alike.
    files.number(message.tool_calls.len() as u64).number(message.attachments.len() as u64)
}

/// Returns an id for a new summary; equal sessions get equal ids.
fn free_id(session: &Session, fingerprint: Fingerprint) -> NodeId {
    let first = format!("compression_{fingerprint}");
    let numbered = (2_usize..).map(|number| format!("{first}_{number}"));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    let free = names.find(|name| session.node(name).is_none());
    free.expect("an unbounded range contains a free name").into()
}
