//! Data about summaries for user interfaces: notices, details, statistics.

use std::fmt;

use ctx_types::internal::{DisplayState, display_path, thousands};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Phrase, Role, count_of, phrase};
use serde::Serialize;
use serde_json::Value;

use crate::mask::draft::MaskDraft;
use crate::mask::plan::{MaskTarget, materials};
use crate::mask::trigger::{MaskTotals, tokens_of};

/// The notice that a conversation was compressed.
///
/// ```
/// use ctx_compress::mask::MaskNotice;
///
/// let notice = MaskNotice { messages: 15, summaries: 0, replaced_tokens: 12_800, summary_tokens: 500, is_again: false };
/// assert_eq!(notice.to_string(), "compressed 15 messages, saved 12,300 tokens");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskNotice {
    /// Number of newly hidden messages.
    pub messages: usize,
    /// Number of merged summaries.
    pub summaries: usize,
    /// Tokens of both.
    pub replaced_tokens: u64,
    /// Tokens of the summary.
    pub summary_tokens: u64,
    /// Whether an existing summary got a new text.
    pub is_again: bool,
}

impl MaskNotice {
    /// Makes the notice of a draft.
    pub fn of(draft: &MaskDraft) -> Self {
        let range = &draft.plan.range;
        Self {
            messages: range.messages.len(),
            summaries: range.covered.len(),
            replaced_tokens: draft.plan.replaced_tokens,
            summary_tokens: draft.summary_tokens,
            is_again: draft.plan.target != MaskTarget::New,
        }
    }

    /// Returns the saved tokens: the difference between the hidden messages and the summary.
    pub const fn saved_tokens(&self) -> u64 {
        self.replaced_tokens.saturating_sub(self.summary_tokens)
    }

    /// Returns the notice as a phrase.
    pub fn phrase(&self) -> Phrase {
        let saved = thousands(self.saved_tokens());
        let messages = count_of!(self.messages, "message");
        let summaries = match self.summaries {
            1 => phrase!("1 summary"),
            count => phrase!("{count} summaries", count),
        };
        let what = match (self.messages, self.summaries) {
            (_, 0) => messages,
            (0, _) => summaries,
            _ => phrase!("{messages} and {summaries}", messages, summaries),
        };
        if self.is_again {
            phrase!("summarized {what} again, saved {saved} tokens", what, saved)
        } else {
            phrase!("compressed {what}, saved {saved} tokens", what, saved)
        }
    }
}

impl fmt::Display for MaskNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Details of a summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskDetails {
    /// The node.
    pub id: NodeId,
    /// The state.
    pub state: MaskState,
    /// The role.
    pub role: Role,
    /// The listed nodes, in their order.
    pub listed: Vec<ListedNode>,
    /// Number of replaced messages.
    pub messages: usize,
    /// Tokens of these messages.
    pub original_tokens: u64,
    /// Tokens of the summary.
    pub summary_tokens: u64,
    /// Creation time in milliseconds since 1970-01-01T00:00:00Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_millis: Option<i64>,
    /// The settings at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// The `compressionDetails` of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Value>,
}

/// The state of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum MaskState {
    /// It is sent in place of the listed nodes.
    Active,
    /// It is disabled; the listed nodes are sent.
    Disabled,
    /// Another summary replaces it.
    Hidden {
        /// The other summary.
        by: NodeId,
    },
    /// It is on another branch.
    OffPath,
}

/// A node that a summary lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedNode {
    /// The id.
    pub id: NodeId,
    /// The role; absent if there is no such node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Tokens of the node.
    pub tokens: u64,
    /// Whether it is a summary.
    pub is_summary: bool,
}

impl MaskDetails {
    /// Collects the details of a summary; `None` for any other node. O(active path + listed ids).
    pub fn of(session: &Session, id: &str, counter: &dyn TokenCounter) -> Option<Self> {
        let node = session.node(id).filter(|node| node.is_summary())?;
        let id = node.id.clone()?;
        let listed: Vec<ListedNode> =
            node.summarized_ids().iter().map(|id| listed_node(session, id, counter)).collect();
        let messages = || listed.iter().filter(|one| one.role.is_some() && !one.is_summary);
        let noted = |key: &str| node.metadata.as_ref()?.kept.get(key);
        let number = |key: &str| noted(key).and_then(Value::as_u64);
        Some(Self {
            state: state(session, &id, node),
            role: node.role.unwrap_or_default(),
            messages: number("originalMessageCount")
                .map_or_else(|| messages().count(), |count| usize::try_from(count).unwrap_or(usize::MAX)),
            original_tokens: number("originalTokenCount")
                .unwrap_or_else(|| messages().map(|one| one.tokens).sum()),
            summary_tokens: tokens_of([&node.to_message(&id)], counter),
            at_millis: noted("compressionTimestamp").and_then(Value::as_i64),
            config: noted("compressionConfig").cloned(),
            made: noted("compressionDetails").cloned(),
            listed,
            id,
        })
    }

    /// Returns a line that applications show above a summary.
    pub fn phrase(&self) -> Phrase {
        let line = phrase!(
            "`{id}` replaces {messages}: {original} → {own} tokens",
            id = self.id,
            messages = count_of!(self.messages, "message"),
            original = thousands(self.original_tokens),
            own = thousands(self.summary_tokens)
        );
        match &self.state {
            MaskState::Active => line,
            MaskState::Disabled => phrase!("{line}; disabled", line),
            MaskState::Hidden { by } => phrase!("{line}; replaced by `{by}`", line, by),
            MaskState::OffPath => phrase!("{line}; on another branch", line),
        }
    }
}

impl fmt::Display for MaskDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Figures of all summaries of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskStatistics {
    /// Number of summaries on the active path.
    pub summaries: usize,
    /// Number of visible summaries.
    pub active: usize,
    /// Number of hidden messages.
    pub hidden_messages: usize,
    /// Tokens of the visible messages.
    pub sent_tokens: u64,
    /// Tokens without summaries.
    pub full_tokens: u64,
}

impl MaskStatistics {
    /// Collects the figures of the active path. O(active path).
    pub fn of(session: &Session, counter: &dyn TokenCounter) -> Self {
        let shown = display_path(session, &[]);
        let count = |wanted: &dyn Fn(&ctx_types::internal::DisplayNode<'_>) -> bool| {
            shown.iter().filter(|shown| wanted(shown)).count()
        };
        let is_message = |node: &Node| !node.is_summary() && node.is_enabled();
        let full = shown.iter().filter(|shown| is_message(shown.node));
        let full: Vec<_> =
            full.map(|shown| shown.node.to_message(shown.id)).filter(|one| !one.is_blank()).collect();
        Self {
            summaries: count(&|shown| shown.node.is_summary()),
            active: count(&|shown| shown.node.is_summary() && shown.state == DisplayState::Visible),
            hidden_messages: count(&|shown| {
                !shown.node.is_summary() && matches!(shown.state, DisplayState::Hidden { .. })
            }),
            sent_tokens: MaskTotals::of(session, counter).tokens,
            full_tokens: tokens_of(&full, counter),
        }
    }
}

fn listed_node(session: &Session, id: &NodeId, counter: &dyn TokenCounter) -> ListedNode {
    match materials(session, [id]).next() {
        None => ListedNode { id: id.clone(), role: None, tokens: 0, is_summary: false },
        Some(one) => ListedNode {
            id: id.clone(),
            role: Some(one.message.role),
            tokens: tokens_of([&one.message], counter),
            is_summary: one.is_summary,
        },
    }
}

fn state(session: &Session, id: &NodeId, node: &Node) -> MaskState {
    let shown = display_path(session, &[]).into_iter().find(|shown| shown.id == id);
    match shown.map(|shown| shown.state) {
        Some(DisplayState::Visible) => MaskState::Active,
        Some(DisplayState::Disabled) => MaskState::Disabled,
        Some(DisplayState::Hidden { by }) => MaskState::Hidden { by },
        None if node.is_enabled() => MaskState::OffPath,
        None => MaskState::Disabled,
    }
}
