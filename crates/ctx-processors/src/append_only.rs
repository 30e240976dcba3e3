use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ctx_anchors::AssembledPreset;
use ctx_types::{
    Decision, Message, NodeId, Outcome, Place, Role, SentPrefix, SourceKind, TurnInput, Window, phrase,
};

/// Left on the blackboard for an append-only context: what was sent does not change.
///
/// Without a prefix, the request begins a new one. With a prefix, the draft contains only what follows it.
#[derive(Clone, Debug, Default)]
pub struct AppendOnly {
    prefix: Option<Arc<Prefix>>,
    /// Whether replies lose their reasoning, because it is bound to text that changed.
    drops_reasoning: bool,
}

#[derive(Debug, Default)]
struct Prefix {
    /// Messages of the conversation after the prefix.
    tail: HashSet<NodeId>,
    /// Messages of the conversation that the prefix contains.
    sent: HashSet<NodeId>,
    /// Newest text of each source of the prefix that is not from the conversation.
    insertions: HashMap<String, String>,
    /// Whether the prefix contains the input of the turn.
    has_input: bool,
    messages: Vec<Message>,
}

/// Parts of the conversation that no text is inserted into.
#[derive(Debug, Default)]
pub(crate) struct FixedParts {
    /// Messages that follow the prefix, up to the newest reply or tool result.
    settled: Vec<Message>,
    /// Messages of this turn only.
    single_turn: Vec<Message>,
}

impl AppendOnly {
    /// Creates the value for a request that continues `prefix`.
    pub fn after(prefix: &SentPrefix) -> Self {
        let recorded = prefix.messages.iter().zip(&prefix.records);
        let inserted = recorded.filter(|(message, sent)| sent.is_insertion() || is_merged(message));
        let insertions = inserted.flat_map(|(message, _)| texts(message)).collect();
        let sent = prefix.records.iter().flat_map(|sent| sent.nodes.iter().cloned()).collect();
        let tail = prefix.tail.iter().cloned().collect();
        let has_input = prefix.records.iter().any(|sent| sent.has_input);
        let messages = prefix.messages.clone();
        let prefix = Prefix { tail, sent, insertions, has_input, messages };
        Self { prefix: Some(Arc::new(prefix)), drops_reasoning: false }
    }

    /// Drops the reasoning of replies that follow the prefix.
    #[must_use]
    pub fn without_reasoning(self, drops_reasoning: bool) -> Self {
        Self { drops_reasoning, ..self }
    }

    /// Returns whether the request continues an earlier one.
    pub fn has_prefix(&self) -> bool {
        self.prefix.is_some()
    }

    /// Returns whether the prefix contains a message of the conversation.
    pub(crate) fn has_sent(&self, id: &str) -> bool {
        self.prefix.as_ref().is_some_and(|prefix| prefix.sent.contains(id))
    }

    /// Returns the messages of the prefix, which are before the draft.
    pub(crate) fn sent_messages(&self) -> &[Message] {
        self.prefix.as_ref().map_or(&[], |prefix| &prefix.messages)
    }

    /// Removes the messages that the prefix contains, and those that nothing is inserted between.
    pub(crate) fn take_fixed_parts(&self, window: &mut Window, turn: &TurnInput) -> FixedParts {
        let further = turn.further.iter().filter(|message| !message.is_blank()).count();
        let further = window.messages.len().saturating_sub(further);
        let single_turn = window.messages.split_off(further);
        let Some(prefix) = &self.prefix else { return FixedParts { settled: Vec::new(), single_turn } };
        let is_new = |message: &Message| {
            if message.source.kind == SourceKind::Input {
                return !prefix.has_input;
            }
            let is_stored = matches!(message.source.kind, SourceKind::History | SourceKind::Summary);
            !is_stored || message.source.id.as_ref().is_none_or(|id| prefix.tail.contains(id))
        };
        window.pinned.retain(is_new);
        window.messages.retain(is_new);
        window.skipped = 0;
        let settled = window.messages.iter().rposition(|message| message.role != Role::User);
        let settled = window.messages.drain(..settled.map_or(0, |last| last + 1)).collect();
        FixedParts { settled, single_turn }
    }

    /// Returns the messages of the draft. Text that the prefix contains is not inserted again; new text for the
    /// front goes before the newest user message.
    pub(crate) fn join(
        &self,
        fixed: FixedParts,
        assembled: AssembledPreset,
        decisions: &mut Vec<Decision>,
    ) -> Vec<Message> {
        let AssembledPreset { mut messages, front, .. } = assembled;
        let prefix = messages.pop_if(|message| message.is_continuation_prefix);
        let FixedParts { settled: mut joined, single_turn } = fixed;
        match &self.prefix {
            None => joined.append(&mut messages),
            // The same request again, for another reply.
            Some(_) if joined.is_empty() && !messages.iter().any(is_of_history) => {}
            Some(sent) => {
                for (index, message) in messages.into_iter().enumerate() {
                    let is_front = index < front;
                    joined.extend(sent.new_message(message, is_front, decisions));
                }
            }
        }
        if self.drops_reasoning {
            for message in &mut joined {
                drop_reasoning(message, decisions);
            }
        }
        joined.extend(single_turn);
        joined.extend(prefix);
        joined
    }
}

impl Prefix {
    /// Returns the message if it is not sent yet.
    fn new_message(
        &self,
        mut message: Message,
        is_front: bool,
        decisions: &mut Vec<Decision>,
    ) -> Option<Message> {
        if message.source.kind.is_history() {
            return Some(message);
        }
        if message.is_silent {
            return None;
        }
        let sent = self.insertions.get(&message.source.to_string());
        let is_own = message.source.kind == SourceKind::Preset;
        if is_front && is_own && sent.is_some() {
            // The prefix has it as it was when the conversation began.
            return None;
        }
        if sent.is_some_and(|sent| *sent == message.text()) {
            let reason = phrase!("an earlier request inserted it");
            decisions.push(Decision::new(Outcome::Kept, message.source.clone(), reason));
            return None;
        }
        if is_front {
            let reason = phrase!(
                "the text before the conversation was already sent; placed before the newest user message"
            );
            decisions.push(Decision::new(Outcome::Moved, message.source.clone(), reason));
            message.place = Place::Gap { multiple: false };
        }
        Some(message)
    }
}

fn is_of_history(message: &Message) -> bool {
    message.source.kind.is_history()
}

fn is_merged(message: &Message) -> bool {
    message.source.kind == SourceKind::Merged
}

fn drop_reasoning(message: &mut Message, decisions: &mut Vec<Decision>) {
    if message.reasoning.is_none() {
        return;
    }
    message.reasoning = None;
    let reason = phrase!("its reasoning is bound to text that changed");
    decisions.push(Decision::new(Outcome::Degraded, message.source.clone(), reason));
}

/// Returns the source and text of a message, and of the parts of a joined message.
fn texts(message: &Message) -> Vec<(String, String)> {
    let text = message.text();
    if !is_merged(message) {
        return vec![(message.source.to_string(), text.into_owned())];
    }
    let mut parts: Vec<(String, String)> = Vec::new();
    for segment in &message.written {
        let source = segment.via.last().unwrap_or(&segment.source).to_string();
        let piece = text.get(segment.span.start..segment.span.end).unwrap_or_default();
        match parts.last_mut() {
            Some((last, text)) if *last == source => text.push_str(piece),
            _ => parts.push((source, piece.to_owned())),
        }
    }
    parts
}
