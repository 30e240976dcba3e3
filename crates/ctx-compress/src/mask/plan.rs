//! Plans: what a summary will stand for and what it is made from, before anything is asked or changed.

use std::fmt;
use std::sync::Arc;

use ctx_types::internal::{AppendedFact, Argument, Divider, Fingerprint, thousands};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId, Session, visible_path};
use ctx_types::{Diagnostic, Message, Phrase, Role, Text, count_of, phrase};
use serde_json::Value;

use crate::mask::appendix::{self, body_of};
use crate::mask::commit::{Basis, fingerprint};
use crate::mask::config::MaskConfig;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;
use crate::mask::prompt;
use crate::mask::range::{MaskRange, MaskSelection, NoRange, on_path};
use crate::mask::trigger::tokens_of;

/// What a summary will stand for and what it is made from.
///
/// It shares the texts of the session and borrows nothing, so that a summary can be written while the
/// conversation goes on; [`MaskDraft::commit`](crate::mask::MaskDraft::commit) finds out whether it still fits.
///
/// ```
/// use ctx_compress::mask::{MaskConfig, MaskPlan, MaskSelection};
/// use ctx_tokens::Counter;
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session};
///
/// let nodes = (0..30).map(|n| Node::new(if n % 2 == 0 { Role::User } else { Role::Assistant }, "hello"));
/// let (session, _) = Session::linear("s1", nodes);
/// let plan = MaskPlan::new(&session, &MaskConfig::default(), &MaskSelection::All, &Counter::estimate())?;
/// assert_eq!(plan.to_string(), "summarize 20 messages (100 tokens) from `n1` to `n20`");
/// # Ok::<(), ctx_compress::mask::NoRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct MaskPlan {
    /// Whether the summary is a new one.
    pub target: MaskTarget,
    /// What it stands for.
    pub range: MaskRange,
    /// What it is made from, oldest first.
    pub material: Vec<Material>,
    /// The texts of earlier summaries: to be continued, or to become a part of this one.
    pub previous: Vec<Text>,
    /// The facts that are kept beside summaries which are taken in.
    pub carried: Vec<AppendedFact>,
    /// What is asked for.
    pub task: SummaryTask,
    /// The kind of conversation.
    pub kind: ConversationKind,
    /// The language of the prompt.
    pub language: Language,
    /// How many tokens that are sent now will be hidden.
    pub replaced_tokens: u64,
    /// How many tokens the messages have that it stands for in the end.
    pub original_tokens: u64,
    /// How many messages these are.
    pub original_messages: usize,
    /// Whether state of a provider's reasoning will be hidden, which cannot be replayed then.
    pub hides_reasoning: bool,
    /// The settings, which are noted beside the summary.
    pub config: MaskConfig,
    /// What is worth knowing about the settings.
    pub diagnostics: Vec<Diagnostic>,
    pub(super) fingerprint: Fingerprint,
}

/// Whether a summary is a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskTarget {
    /// A new node will hold it.
    New,
    /// A summary gets a new text.
    Existing(NodeId),
}

/// What is asked of a summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryTask {
    /// A summary of messages.
    First,
    /// A summary of messages only, with earlier summaries to know what went before.
    Append,
    /// One summary of earlier ones and the messages after them.
    Merge,
    /// One summary of the summaries of parts.
    Parts,
}

/// A message that a summary is made from.
#[derive(Clone, Debug)]
pub struct Material {
    /// The node.
    pub id: NodeId,
    /// The message.
    pub message: Message,
    /// Whether it is a summary itself.
    pub is_summary: bool,
    /// The name of who speaks, if one is known.
    pub speaker: Option<Arc<str>>,
}

impl MaskPlan {
    /// Plans a new summary on the active path. O(active path).
    pub fn new(
        session: &Session,
        config: &MaskConfig,
        selection: &MaskSelection,
        counter: &dyn TokenCounter,
    ) -> Result<Self, NoRange> {
        let range = MaskRange::find(session, config, selection, counter)?;
        let first = range.messages.iter().filter_map(|id| session.depth(id)).min();
        let leads =
            |id: &NodeId| first.is_some_and(|first| session.depth(id).is_some_and(|depth| depth < first));
        let (leading, within): (Vec<NodeId>, Vec<NodeId>) = range.covered.iter().cloned().partition(leads);
        let mut ids = [within, range.messages.clone()].concat();
        ids.sort_by_key(|id| session.depth(id));
        let (task, previous) = match (range.messages.is_empty(), leading.is_empty()) {
            (true, _) => (SummaryTask::Parts, Vec::new()),
            (false, false) => (SummaryTask::Merge, leading),
            (false, true) if range.previous.is_empty() => (SummaryTask::First, Vec::new()),
            (false, true) => (SummaryTask::Append, range.previous.clone()),
        };
        let replaced: Vec<Message> =
            materials(session, range.covered.iter().chain(&range.messages)).map(|one| one.message).collect();
        let fingerprint = fingerprint(session, &Basis::Visible(&range));
        let plan = Self {
            target: MaskTarget::New,
            material: materials(session, &ids).collect(),
            previous: previous.iter().filter_map(|id| session.node(id)).map(body_of).collect(),
            task,
            replaced_tokens: tokens_of(&replaced, counter),
            fingerprint,
            ..Self::empty(range, config)
        };
        Ok(plan.finish(session, counter))
    }

    /// Plans a new text for a summary, from the messages that it stands for. O(path to the summary).
    pub fn regenerate(
        session: &Session,
        config: &MaskConfig,
        id: &NodeId,
        counter: &dyn TokenCounter,
    ) -> Result<Self, NoRange> {
        let node = session.node(id).ok_or_else(|| NoRange::UnknownNode { id: id.clone() })?;
        if !node.is_summary() {
            return Err(NoRange::NoSummary { id: id.clone() });
        }
        let mut listed: Vec<NodeId> = listed_above(session, id);
        listed.sort_by_key(|id| session.depth(id));
        let is_message = |id: &&NodeId| session.node(id).is_some_and(|node| !node.is_summary());
        let messages: Vec<NodeId> = listed.iter().filter(is_message).cloned().collect();
        let Some(first) = messages.first().and_then(|id| session.depth(id)) else {
            return Err(NoRange::NothingListed { id: id.clone() });
        };
        let is_before = |node: &&Node| {
            let depth = node.id.as_ref().and_then(|id| session.depth(id));
            node.is_summary() && depth.is_some_and(|depth| depth < first)
        };
        // On another branch it is not known which earlier summaries will be sent.
        let visible = if is_on_active_path(session, id) { visible_path(session) } else { Vec::new() };
        let earlier: Vec<&Node> = visible.into_iter().filter(is_before).collect();
        let range = MaskRange { messages, listed, after: id.clone(), ..MaskRange::default() };
        let fingerprint = fingerprint(session, &Basis::Named(&range, id));
        let material: Vec<Material> = materials(session, &range.messages).collect();
        let plan = Self {
            target: MaskTarget::Existing(id.clone()),
            task: if earlier.is_empty() { SummaryTask::First } else { SummaryTask::Append },
            previous: earlier.into_iter().map(body_of).collect(),
            replaced_tokens: tokens_of(material.iter().map(|one| &one.message), counter),
            material,
            fingerprint,
            ..Self::empty(range, config)
        };
        Ok(plan.finish(session, counter))
    }

    fn empty(range: MaskRange, config: &MaskConfig) -> Self {
        Self {
            target: MaskTarget::New,
            range,
            material: Vec::new(),
            previous: Vec::new(),
            carried: Vec::new(),
            task: SummaryTask::First,
            kind: ConversationKind::default(),
            language: Language::default(),
            replaced_tokens: 0,
            original_tokens: 0,
            original_messages: 0,
            hides_reasoning: false,
            config: config.clone(),
            diagnostics: Vec::new(),
            fingerprint: Fingerprint::default(),
        }
    }

    fn finish(mut self, session: &Session, counter: &dyn TokenCounter) -> Self {
        let originals: Vec<Message> = materials(session, &self.range.listed)
            .filter(|one| !one.is_summary)
            .map(|one| one.message)
            .collect();
        self.original_tokens = tokens_of(&originals, counter);
        self.original_messages = originals.len();
        self.kind = self.config.summary_profile.unwrap_or_else(|| ConversationKind::of(&originals));
        self.language = self.config.summary_language.unwrap_or_else(|| Language::of(&originals));
        let covered = self.range.covered.iter().filter_map(|id| session.node(id));
        self.carried = covered.flat_map(appendix::facts).collect();
        let nodes = self.range.messages.iter().filter_map(|id| session.node(id));
        self.hides_reasoning = nodes.into_iter().any(has_replayed_reasoning);
        self.diagnostics = prompt::check(&self.config);
        self
    }
}

impl MaskPlan {
    /// Writes in one phrase what is summarised.
    pub fn phrase(&self) -> Phrase {
        let (messages, summaries) = (self.range.messages.len(), self.range.covered.len());
        let summaries = match summaries {
            0 => None,
            1 => Some(phrase!("1 summary")),
            count => Some(phrase!("{count} summaries", count)),
        };
        let messages = (messages > 0).then(|| count_of!(messages, "message"));
        let parts = Argument::list(messages.into_iter().chain(summaries), Divider::And);
        let tokens = thousands(self.replaced_tokens);
        match (self.range.covered.first().or(self.range.messages.first()), &self.target) {
            (_, MaskTarget::Existing(id)) => {
                phrase!("summarize {parts} again ({tokens} tokens) into `{id}`", parts, tokens, id)
            }
            (Some(first), MaskTarget::New) => phrase!(
                "summarize {parts} ({tokens} tokens) from `{first}` to `{last}`",
                parts,
                tokens,
                first,
                last = self.range.after
            ),
            (None, MaskTarget::New) => phrase!("summarize {parts} ({tokens} tokens)", parts, tokens),
        }
    }
}

impl fmt::Display for MaskPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Makes messages of nodes; an id that is no node's is left out.
pub(super) fn materials<'a>(
    session: &'a Session,
    ids: impl IntoIterator<Item = &'a NodeId>,
) -> impl Iterator<Item = Material> {
    ids.into_iter().filter_map(|id| {
        let node = session.node(id)?;
        let message = node.to_message(id);
        let speaker = speaker(node, message.role);
        Some(Material { id: id.clone(), message, is_summary: node.is_summary(), speaker })
    })
}

fn speaker(node: &Node, role: Role) -> Option<Arc<str>> {
    let keys: &[&str] = match role {
        Role::User => &["userProfileDisplayName", "userProfileName"],
        Role::Assistant => &["agentDisplayName", "agentName"],
        _ => &[],
    };
    let metadata = node.metadata.as_ref();
    let noted = |key: &&str| metadata?.kept.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
    node.name.clone().or_else(|| keys.iter().find_map(noted).map(Arc::from))
}

/// Returns what a summary lists and what listed summaries list, as far as it stands above it.
fn listed_above(session: &Session, summary: &NodeId) -> Vec<NodeId> {
    let mut seen = std::collections::BTreeSet::from([summary.clone()]);
    let mut open = vec![summary.clone()];
    let mut listed = Vec::new();
    let above: std::collections::HashSet<&NodeId> = session.ancestors(summary).map(|(id, _)| id).collect();
    while let Some(id) = open.pop() {
        let ids = session.node(&id).map(Node::summarized_ids).unwrap_or_default();
        for id in ids.iter().filter(|id| above.contains(*id)) {
            if seen.insert(id.clone()) {
                listed.push(id.clone());
                open.push(id.clone());
            }
        }
    }
    listed
}

/// Returns whether a node has reasoning that its provider wants back.
fn has_replayed_reasoning(node: &Node) -> bool {
    let artifacts = node.metadata.iter().flat_map(|metadata| &metadata.reasoning_artifacts);
    let policy =
        |artifact: &Arc<Value>| artifact.get("replayPolicy").and_then(Value::as_str) == Some("never");
    artifacts.into_iter().any(|artifact| !policy(artifact))
}

/// Returns where a node stands on the active path.
pub(super) fn is_on_active_path(session: &Session, id: &NodeId) -> bool {
    on_path(session, session.active_leaf_id(), id).is_some()
}
