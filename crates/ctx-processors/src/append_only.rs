use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::macro_values::AgentMacros;
use ctx_anchors::AssembledPreset;
use ctx_pipeline::PipelineContext;
use ctx_types::internal::{Fingerprint, JoinRule, SentPrefix};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{NodeId, Window};
use ctx_types::{Diagnostic, Message, Place, Role, Source, SourceKind, TurnInput, phrase};
use ctx_wire::codes::REASONING_NOT_SENT;

/// Prefix of an append-only request, on the blackboard.
///
/// Without a prefix, the request starts a new one. With a prefix, the draft contains only later messages.
#[derive(Clone, Debug, Default)]
pub struct AppendOnly {
    prefix: Option<Arc<Prefix>>,
    reasoning: ReasoningRule,
    /// Whether no later request repeats this one.
    is_stateless: bool,
    /// Whether the limiter cuts the conversation, because the previous request and the new messages exceed the budget.
    must_cut: bool,
}

/// Whether replies lose their reasoning, because it is bound to text that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningRule {
    /// Replies keep their reasoning.
    #[default]
    Keep,
    /// Replies lose their reasoning if the request has text that can change.
    DropIfInserted,
    /// Replies lose their reasoning.
    Drop,
}

#[derive(Debug, Default)]
struct Prefix {
    /// Messages of the conversation after the prefix.
    tail: HashSet<NodeId>,
    /// Messages of the conversation that the prefix contains.
    sent: HashSet<NodeId>,
    /// Fingerprints of the newest texts of each source.
    texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Whether the prefix contains the input of the turn.
    has_input: bool,
    messages: Vec<Message>,
}

/// Fingerprints of the texts of each source with a new text, on the blackboard. The next request compares them.
#[derive(Clone, Debug, Default)]
pub struct InsertedTexts {
    /// The fingerprints by source.
    pub texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

/// Parts of the conversation that no text is inserted into.
#[derive(Debug, Default)]
pub(crate) struct FixedParts {
    /// Messages that follow the prefix, up to the newest reply or tool result.
    settled: Vec<Message>,
    /// Messages of this turn only.
    single_turn: Vec<Message>,
}

/// Facts that decide whether a text can change in later turns.
pub(crate) struct TextStability<'a> {
    pub(crate) macros: &'a AgentMacros,
    pub(crate) has_variables: bool,
    /// Worldbook entries that every turn has.
    pub(crate) constant_entries: BTreeSet<Arc<str>>,
}

/// The messages of a draft, and which texts are new.
pub(crate) struct JoinedDraft {
    pub(crate) messages: Vec<Message>,
    pub(crate) inserted: InsertedTexts,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) decisions: Vec<Decision>,
}

impl AppendOnly {
    /// Creates the value for a request that continues `prefix`.
    pub fn after(prefix: &SentPrefix) -> Self {
        let sent = prefix.records.iter().flat_map(|sent| sent.nodes.iter().cloned()).collect();
        let tail = prefix.tail.iter().cloned().collect();
        let has_input = prefix.records.iter().any(|sent| sent.has_input);
        let (messages, texts) = (prefix.messages.clone(), prefix.texts.clone());
        let prefix = Prefix { tail, sent, texts, has_input, messages };
        Self { prefix: Some(Arc::new(prefix)), ..Self::default() }
    }

    /// Creates the value for a request that no later request repeats. System messages that can change go to the end,
    /// only for this turn.
    pub fn stateless() -> Self {
        Self { is_stateless: true, ..Self::default() }
    }

    /// Cuts the conversation in a large step, even if it fits now.
    #[must_use]
    pub fn cut(self) -> Self {
        Self { must_cut: true, ..self }
    }

    /// Returns whether the limiter cuts the conversation even if it fits.
    pub(crate) fn must_cut(&self) -> bool {
        self.must_cut
    }

    /// Sets whether replies that follow the prefix lose their reasoning.
    #[must_use]
    pub fn with_reasoning(self, reasoning: ReasoningRule) -> Self {
        Self { reasoning, ..self }
    }

    /// Returns whether the request continues an earlier one.
    pub fn has_prefix(&self) -> bool {
        self.prefix.is_some()
    }

    /// Returns whether later requests repeat this one, and it repeats none.
    pub(crate) fn starts_prefix(&self) -> bool {
        self.prefix.is_none() && !self.is_stateless
    }

    /// Returns whether the prefix contains a text.
    fn has_text(&self, message: &Message, sum: &Arc<str>) -> bool {
        let texts = self.prefix.as_ref().and_then(|prefix| prefix.texts.get(&*message.source.to_string()));
        texts.is_some_and(|texts| texts.contains(sum))
    }

    /// Returns whether no later request repeats this one.
    pub(crate) fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    /// Returns whether the prefix contains a message of the conversation.
    pub(crate) fn has_sent(&self, id: &str) -> bool {
        self.prefix.as_ref().is_some_and(|prefix| prefix.sent.contains(id))
    }

    /// Returns the messages of the prefix, which are before the draft.
    pub(crate) fn sent_messages(&self) -> &[Message] {
        self.prefix.as_ref().map_or(&[], |prefix| &prefix.messages)
    }

    /// Removes sent messages, and splits off messages that stay adjacent.
    pub(crate) fn take_fixed_parts(&self, window: &mut Window, turn: &TurnInput) -> FixedParts {
        let count = turn.further.iter().filter(|message| !message.is_blank()).count();
        let start = window.messages.len().saturating_sub(count);
        let mut single_turn = window.messages.split_off(start);
        for message in &mut single_turn {
            message.join_rule = JoinRule::None;
        }
        let Some(prefix) = &self.prefix else { return FixedParts { settled: Vec::new(), single_turn } };
        let total = window.total_len();
        let is_new = |message: &Message| {
            if message.source.kind == SourceKind::Input {
                return !prefix.has_input;
            }
            let is_stored = matches!(message.source.kind, SourceKind::History | SourceKind::Summary);
            !is_stored || message.source.id.as_ref().is_none_or(|id| prefix.tail.contains(id))
        };
        window.pinned.retain(is_new);
        window.messages.retain(is_new);
        let settled = window.messages.iter().rposition(|message| message.role != Role::User);
        let settled = window.messages.drain(..settled.map_or(0, |last| last + 1)).collect();
        window.skipped = total - window.messages.len();
        window.is_sent = true;
        FixedParts { settled, single_turn }
    }

    /// Returns the messages of the draft. Text that the prefix contains is not inserted again; new text for the
    /// front goes before the newest user message.
    pub(crate) fn join(
        &self,
        fixed: FixedParts,
        assembled: AssembledPreset,
        stability: &TextStability<'_>,
    ) -> JoinedDraft {
        let AssembledPreset { mut messages, front, mut decisions } = assembled;
        let continued = messages.pop_if(|message| message.is_continuation_prefix);
        let mut prefill = take_prefill(&mut messages, front);
        let FixedParts { settled: mut joined, mut single_turn } = fixed;
        let (mut inserted, mut sent) = (Vec::new(), Vec::new());
        let mut has_changing_text = false;
        let mut texts = CurrentTexts::default();
        let is_repeated = joined.is_empty() && !messages.iter().any(is_of_history);
        for (index, message) in messages.into_iter().enumerate() {
            if is_of_history(&message) || message.is_silent && self.prefix.is_none() {
                joined.push(message);
                continue;
            }
            if message.is_silent {
                continue;
            }
            let has_variables = stability.has_variables && message.text().contains("$[");
            let sum = texts.add(&message, has_variables);
            let is_constant = || index < front && stability.is_constant(&message);
            if self.is_stateless && !is_constant() {
                has_changing_text = true;
                // After the pending message, an example would replace the question or become the reply.
                if message.role.is_instruction() {
                    inserted.push(message.with(|message| message.join_rule = JoinRule::None));
                } else {
                    joined.push(message);
                }
                continue;
            }
            let Some(prefix) = &self.prefix else {
                texts.mark_new(&message);
                joined.push(message);
                continue;
            };
            let is_sent = sum.is_some_and(|sum| self.has_text(&message, &sum));
            if index < front && prefix.has_front(&message) || is_sent {
                sent.push(message.source.clone());
            } else if is_repeated {
                let reason =
                    phrase!("the same request is sent again; a changed text follows with the next message");
                decisions.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
            } else {
                texts.mark_new(&message);
                joined.push(placed(message, index < front, &mut decisions));
            }
        }
        add_sent_decisions(&sent, &mut decisions);
        let is_dropped = match self.reasoning {
            ReasoningRule::Keep => false,
            ReasoningRule::DropIfInserted => has_changing_text,
            ReasoningRule::Drop => true,
        };
        let mut diagnostics = Vec::new();
        if is_dropped {
            if self.is_stateless && joined.iter().any(|message| message.reasoning.is_some()) {
                let text = phrase!("reasoning is not sent: it is bound to text that changed");
                diagnostics.push(Diagnostic::info(REASONING_NOT_SENT, text));
            }
            for message in &mut joined {
                drop_reasoning(message, &mut decisions);
            }
        }
        let end = before_reply(&joined);
        joined.splice(end..end, inserted);
        joined.append(&mut single_turn);
        joined.append(&mut prefill);
        joined.extend(continued);
        JoinedDraft { messages: joined, inserted: texts.finish(), diagnostics, decisions }
    }
}

impl Prefix {
    /// Returns whether the prefix contains an entry of the preset. A change of the entry starts a new prefix.
    fn has_front(&self, message: &Message) -> bool {
        let is_entry = message.source.kind == SourceKind::Preset && message.source.listed.is_some();
        is_entry && self.texts.contains_key(&*message.source.to_string())
    }
}

/// Removes the preset's last assistant messages after the conversation, with which each reply begins.
fn take_prefill(messages: &mut Vec<Message>, front: usize) -> Vec<Message> {
    let is_prefill = |message: &Message| message.role == Role::Assistant && !is_of_history(message);
    let count = messages.iter().skip(front).rev().take_while(|message| is_prefill(message)).count();
    let mut prefill = messages.split_off(messages.len() - count);
    for message in &mut prefill {
        message.join_rule = JoinRule::None;
    }
    prefill
}

impl TextStability<'_> {
    /// Returns whether every turn has an entry, and it has no macro that changes every turn.
    fn is_constant(&self, message: &Message) -> bool {
        let segments = message.written.iter().flat_map(|segment| segment.via.iter().chain([&segment.source]));
        let is_entry = matches!(message.source.kind, SourceKind::Preset | SourceKind::Worldbook);
        is_entry && !std::iter::once(&message.source).chain(segments).any(|source| self.can_change(source))
    }

    fn can_change(&self, source: &Source) -> bool {
        let id = source.id.as_deref().unwrap_or_default();
        match source.kind {
            SourceKind::Macro => {
                self.macros.registry.get(id, self.macros.dialect).is_none_or(|known| known.volatile)
            }
            SourceKind::Worldbook => !self.constant_entries.contains(id),
            kind => kind == SourceKind::Variable,
        }
    }
}

/// The texts of the turn by source, before other processors change them.
#[derive(Default)]
struct CurrentTexts {
    texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    new: HashSet<Arc<str>>,
}

impl CurrentTexts {
    /// Returns the fingerprint of the text. `None` if session variables change it later.
    fn add(&mut self, message: &Message, has_variables: bool) -> Option<Arc<str>> {
        let source = Arc::from(message.source.to_string());
        let texts = self.texts.entry(source).or_default();
        let sum = (!has_variables).then(|| text_fingerprint(message));
        texts.extend(sum.clone());
        sum
    }

    fn mark_new(&mut self, message: &Message) {
        self.new.insert(Arc::from(message.source.to_string()));
    }

    fn finish(mut self) -> InsertedTexts {
        self.texts.retain(|source, _| self.new.contains(source));
        InsertedTexts { texts: self.texts }
    }
}

fn text_fingerprint(message: &Message) -> Arc<str> {
    Fingerprint::default().text(&message.text()).to_string().into()
}

/// Reports texts that are already sent, instead of their places in this request.
fn add_sent_decisions(sent: &[Source], decisions: &mut Vec<Decision>) {
    let names: HashSet<String> = sent.iter().map(ToString::to_string).collect();
    decisions.retain(|decision| {
        decision.outcome != Outcome::Moved || !names.contains(&decision.source.to_string())
    });
    let kept = |source: &Source| {
        Decision::new(Outcome::Kept, source.clone(), phrase!("an earlier request inserted it"))
    };
    decisions.extend(sent.iter().map(kept));
}

/// Removes texts with session variables that are already sent. `indexes` has the messages with such texts.
pub(crate) fn remove_sent_texts(cx: &mut PipelineContext<'_>, indexes: &HashSet<usize>) {
    let append_only = cx.blackboard.get::<AppendOnly>().filter(|_| !indexes.is_empty()).cloned();
    let Some(append_only) = append_only else { return };
    let mut inserted = cx.blackboard.get::<InsertedTexts>().cloned().unwrap_or_default();
    let (mut messages, mut sent) = (Vec::new(), Vec::new());
    for (index, message) in cx.draft.take_messages().into_iter().enumerate() {
        if !indexes.contains(&index) || is_of_history(&message) {
            messages.push(message);
            continue;
        }
        let sum = text_fingerprint(&message);
        let is_sent = append_only.has_text(&message, &sum);
        inserted.texts.entry(message.source.to_string().into()).or_default().push(sum);
        if is_sent {
            sent.push(message.source.clone());
        } else {
            messages.push(message);
        }
    }
    cx.blackboard.insert(inserted);
    cx.draft.set_messages(messages);
    let mut decisions = Vec::new();
    add_sent_decisions(&sent, &mut decisions);
    cx.draft.decide_all(decisions);
}

/// Moves new text for the front before the newest user message.
fn placed(mut message: Message, is_front: bool, decisions: &mut Vec<Decision>) -> Message {
    if is_front {
        let reason = phrase!(
            "the text before the conversation was already sent; placed before the newest user message"
        );
        decisions.push(Decision::new(Outcome::Moved, message.source.clone(), reason));
        message.place = Place::Gap { multiple: false };
    }
    message
}

/// Returns the place before assistant messages at the end, which the model continues.
pub(crate) fn before_reply(messages: &[Message]) -> usize {
    messages.iter().rposition(|message| message.role != Role::Assistant).map_or(0, |last| last + 1)
}

fn is_of_history(message: &Message) -> bool {
    message.source.kind.is_history()
}

fn drop_reasoning(message: &mut Message, decisions: &mut Vec<Decision>) {
    if message.reasoning.is_none() {
        return;
    }
    message.reasoning = None;
    let reason = phrase!("its reasoning is bound to text that changed");
    decisions.push(Decision::new(Outcome::Degraded, message.source.clone(), reason));
}
