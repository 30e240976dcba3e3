//! Plans of summaries.

use std::fmt;
use std::sync::Arc;

use ctx_types::internal::{AppendedFact, Argument, Divider, Fingerprint, thousands};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId, Session, visible_path};
use ctx_types::{Diagnostic, Message, Phrase, Role, Text, count_of, phrase};
use serde_json::Value;

use crate::mask::appendix::{self, body_of};
use crate::mask::commit::fingerprint;
use crate::mask::config::MaskConfig;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;
use crate::mask::prompt;
use crate::mask::range::{MaskRange, MaskSelection, NoRange, on_path};
use crate::mask::trigger::tokens_of;
use crate::quality::original_ids;

/// A plan of a summary: the messages that it replaces, and its sources.
///
/// It shares the texts of the session and borrows nothing, so the conversation can continue while a summary is written.
/// [`MaskDraft::commit`](crate::mask::MaskDraft::commit) checks that the session still matches.
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
    /// The node of the summary.
    pub target: MaskTarget,
    /// The replaced messages.
    pub range: MaskRange,
    /// The sources, oldest first.
    pub material: Vec<Material>,
    /// The texts of earlier summaries, which the summary continues or merges.
    pub previous: Vec<Text>,
    /// The facts in the appendixes of merged summaries.
    pub carried: Vec<AppendedFact>,
    /// The task of the summarizer.
    pub task: SummaryTask,
    /// The kind of conversation.
    pub kind: ConversationKind,
    /// The language of the prompt.
    pub language: Language,
    /// Tokens of the newly hidden messages.
    pub replaced_tokens: u64,
    /// Tokens of the original messages, also through merged summaries.
    pub original_tokens: u64,
    /// Number of these messages.
    pub original_messages: usize,
    /// Whether reasoning of a provider will be hidden, which cannot be sent back.
    pub hides_reasoning: bool,
    /// The settings.
    pub config: MaskConfig,
    /// Diagnostics about the settings.
    pub diagnostics: Vec<Diagnostic>,
    pub(super) fingerprint: Fingerprint,
}

/// The node of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskTarget {
    /// A new node.
    New,
    /// An existing summary, which gets a new text.
    Existing(NodeId),
}

/// The task of a summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryTask {
    /// Summarizes messages.
    First,
    /// Summarizes messages, with earlier summaries as background.
    Append,
    /// Merges earlier summaries and the messages after them.
    Merge,
    /// Merges the summaries of parts.
    Parts,
}

/// A message that a summary is made from.
#[derive(Clone, Debug)]
pub struct Material {
    /// The node.
    pub id: NodeId,
    /// The message.
    pub message: Message,
    /// Whether it is a summary.
    pub is_summary: bool,
    /// The name of the speaker.
    pub speaker: Option<Arc<str>>,
}

/// The choices of a plan.
struct Outline {
    target: MaskTarget,
    range: MaskRange,
    material: Vec<NodeId>,
    previous: Vec<Text>,
    task: SummaryTask,
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
        let mut material = [within, range.messages.clone()].concat();
        material.sort_by_key(|id| session.depth(id));
        let (task, previous) = match (range.messages.is_empty(), leading.is_empty()) {
            (true, _) => (SummaryTask::Parts, Vec::new()),
            (false, false) => (SummaryTask::Merge, leading),
            (false, true) if range.previous.is_empty() => (SummaryTask::First, Vec::new()),
            (false, true) => (SummaryTask::Append, range.previous.clone()),
        };
        let previous = previous.iter().filter_map(|id| session.node(id)).map(body_of).collect();
        let outline = Outline { target: MaskTarget::New, range, material, previous, task };
        Ok(outline.into_plan(session, config, counter))
    }

    /// Plans a new text for a summary, from its original messages. O(path to the summary).
    pub fn regenerate(
        session: &Session,
        config: &MaskConfig,
        id: &NodeId,
        counter: &dyn TokenCounter,
    ) -> Result<Self, NoRange> {
        let node = session.node(id).ok_or_else(|| NoRange::UnknownNode(id.clone()))?;
        if !node.is_summary() {
            return Err(NoRange::NoSummary(id.clone()));
        }
        let messages: Vec<NodeId> = original_ids(session, id).into_iter().cloned().collect();
        let Some(first) = messages.first().and_then(|id| session.depth(id)) else {
            return Err(NoRange::NothingListed(id.clone()));
        };
        let is_before = |node: &&Node| {
            let depth = node.id.as_ref().and_then(|id| session.depth(id));
            node.is_summary() && depth.is_some_and(|depth| depth < first)
        };
        // On another branch, the earlier summaries that will be sent are unknown.
        let visible = if is_on_active_path(session, id) { visible_path(session) } else { Vec::new() };
        let previous: Vec<Text> = visible.into_iter().filter(is_before).map(body_of).collect();
        let range = MaskRange {
            messages: messages.clone(),
            listed: messages.clone(),
            after: id.clone(),
            ..MaskRange::default()
        };
        let task = if previous.is_empty() { SummaryTask::First } else { SummaryTask::Append };
        let target = MaskTarget::Existing(id.clone());
        let outline = Outline { target, range, material: messages, previous, task };
        Ok(outline.into_plan(session, config, counter))
    }
}

impl Outline {
    fn into_plan(self, session: &Session, config: &MaskConfig, counter: &dyn TokenCounter) -> MaskPlan {
        let Self { target, range, material, previous, task } = self;
        let replaced = materials(session, range.covered.iter().chain(&range.messages));
        let replaced: Vec<Message> = replaced.map(|one| one.message).collect();
        let originals = materials(session, &range.listed).filter(|one| !one.is_summary);
        let originals: Vec<Message> = originals.map(|one| one.message).collect();
        let covered = range.covered.iter().filter_map(|id| session.node(id));
        let mut hidden = range.messages.iter().filter_map(|id| session.node(id));
        MaskPlan {
            material: materials(session, &material).collect(),
            carried: covered.flat_map(appendix::facts).collect(),
            kind: config.summary_profile.unwrap_or_else(|| ConversationKind::of(&originals)),
            language: config.summary_language.unwrap_or_else(|| Language::of(&originals)),
            replaced_tokens: tokens_of(&replaced, counter),
            original_tokens: tokens_of(&originals, counter),
            original_messages: originals.len(),
            hides_reasoning: hidden.any(has_replayed_reasoning),
            config: config.clone(),
            diagnostics: prompt::check(config),
            fingerprint: fingerprint(session, &range, &target),
            target,
            range,
            previous,
            task,
        }
    }
}

impl MaskPlan {
    /// Returns the plan as a phrase.
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

/// Makes messages of nodes; unknown ids are ignored.
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

/// Returns whether a node has reasoning that its provider expects back.
fn has_replayed_reasoning(node: &Node) -> bool {
    let artifacts = node.metadata.iter().flat_map(|metadata| &metadata.reasoning_artifacts);
    let policy =
        |artifact: &Arc<Value>| artifact.get("replayPolicy").and_then(Value::as_str) == Some("never");
    artifacts.into_iter().any(|artifact| !policy(artifact))
}

pub(super) fn is_on_active_path(session: &Session, id: &NodeId) -> bool {
    on_path(session, session.active_leaf_id(), id).is_some()
}
