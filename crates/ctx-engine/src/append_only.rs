//! Append-only contexts: a request repeats the previous one and adds to it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use ctx_pipeline::internal::Run;
use ctx_processors::internal::{AppendOnly, InsertedTexts, LimiterResult, LoadedWindow, ReasoningRule};
use ctx_types::internal::{Fingerprint, JoinRule, SentMessage, SentPrefix, SentRecord};
use ctx_types::report::{PlannedBreak, PrefixReport, StablePart, TokenFigure, Unstable};
use ctx_types::session::{Change, NodeId, Session, SessionOp};
use ctx_types::{
    Agent, GenerationKind, Message, Phrase, PrefixMode, PresetMessage, Role, Source, SourceKind, Trust,
    TurnInput, UserProfile, phrase,
};

use crate::assembly::{AssembleError, Assembly};
use crate::context::Context;
use crate::limiter;

/// Messages of the draft before attachments are loaded, on the blackboard.
#[derive(Clone, Debug)]
pub(crate) struct UnloadedDraft {
    pub(crate) messages: Vec<Message>,
}

/// The part of a request that earlier requests sent.
struct EarlierRequest {
    preset: Arc<str>,
    /// The part that this request repeats.
    prefix: Option<SentPrefix>,
    /// Tokens of that part, with its files.
    tokens: u64,
    /// Reason it does not repeat everything.
    reason: Option<Phrase>,
}

/// Whether the previous request can be repeated.
enum Continuation {
    Repeated(RepeatedRequest),
    /// The reason, if an earlier request is known.
    Broken(Option<Phrase>),
    ExceedsBudget,
}

/// A request that repeats the previous one.
struct RepeatedRequest {
    run: Run,
    tokens: TokenFigure,
    /// Tokens of the part that it repeats.
    sent_tokens: u64,
}

impl Assembly<'_> {
    pub(crate) fn is_append_only(&self) -> bool {
        match self.turn.prefix.unwrap_or_else(|| self.agent.agent().prefix_mode()) {
            PrefixMode::Moving => false,
            PrefixMode::AppendOnly => true,
            PrefixMode::Auto => self.model.capabilities.prefix_cache,
        }
    }

    /// Continues the previous request if it fits the budget; otherwise begins a new one.
    pub(crate) async fn run_append_only(mut self) -> Result<Context, AssembleError> {
        let binds = self.model.capabilities.prefix_bound_reasoning;
        if self.turn.is_stateless {
            let reasoning = if binds && !self.agent.adds_changing_text() {
                ReasoningRule::DropIfInserted
            } else {
                reasoning_rule(binds)
            };
            self.append_only = Some(AppendOnly::stateless().with_reasoning(reasoning));
            let (run, tokens) = self.run_windows().await?;
            return Ok(self.finish(run, tokens, None));
        }
        let preset = self.front_fingerprint();
        let mut exceeds_budget = false;
        let mut earlier = EarlierRequest { preset, prefix: None, tokens: 0, reason: None };
        if let Some(prefix) = self.session.sent_prefix(input_message(self.turn).as_ref()) {
            match self.continue_request(&prefix, &earlier.preset).await? {
                Continuation::Repeated(RepeatedRequest { run, tokens, sent_tokens }) => {
                    earlier.reason.clone_from(&prefix.ended_by);
                    earlier.tokens = sent_tokens;
                    earlier.prefix = Some(prefix);
                    return Ok(self.finish_request(run, tokens, earlier));
                }
                Continuation::Broken(reason) => earlier.reason = reason,
                Continuation::ExceedsBudget => {
                    exceeds_budget = true;
                    earlier.reason = Some(phrase!("the conversation exceeds the budget"));
                }
            }
        }
        let append_only = AppendOnly::default().with_reasoning(reasoning_rule(binds));
        self.append_only = Some(if exceeds_budget { append_only.cut() } else { append_only });
        let (run, tokens) = self.run_windows().await?;
        Ok(self.finish_request(run, tokens, earlier))
    }

    /// Fingerprints of the settings before the conversation, of the model, and of its tools.
    fn front_fingerprint(&self) -> Arc<str> {
        let model = self.agent.model_name(self.turn).unwrap_or_default();
        let model = Fingerprint::default().text(model);
        let tools = self.turn.tools.iter().fold(Fingerprint::default(), |sum, tool| {
            let description = tool.description.as_deref().unwrap_or_default();
            sum.text(&tool.name).text(description).text(&tool.parameters.to_string())
        });
        format!("{}-{model}-{tools}", self.agent.preset_fingerprint()).into()
    }

    /// Returns the reason for a new prefix, from the fingerprints. A preview can lack the tools of the request.
    fn front_change(&self, sent: &str, now: &str) -> Option<Phrase> {
        let reasons = [
            phrase!("the preset, the character or the user profile changed"),
            phrase!("the model changed"),
            phrase!("the tools changed"),
        ];
        let lacks_tools = self.turn.preview && self.turn.tools.is_empty();
        let (sent, now) = (sent.split('-').map(Some), now.split('-').map(Some));
        let sent = sent.chain(std::iter::repeat(None));
        let mut parts = sent.zip(now).zip(reasons).take(if lacks_tools { 2 } else { 3 });
        parts.find(|((sent, now), _)| sent != now).map(|(_, reason)| reason)
    }

    /// Repeats the prefix and adds to it, or returns why it cannot.
    async fn continue_request(
        &mut self,
        prefix: &SentPrefix,
        preset: &str,
    ) -> Result<Continuation, AssembleError> {
        if prefix.messages.is_empty() {
            return Ok(Continuation::Broken(prefix.ended_by.clone()));
        }
        if let Some(reason) = self.front_change(&prefix.preset, preset) {
            return Ok(Continuation::Broken(Some(reason)));
        }
        let leaf = self.session.active_leaf_id();
        let is_sent = || prefix.records.iter().any(|sent| sent.nodes.contains(leaf));
        if self.turn.kind == GenerationKind::Continue && is_sent() {
            let reason = phrase!("this turn continues a message of the previous request");
            return Ok(Continuation::Broken(Some(reason)));
        }
        let sent = self.load_files(prefix).await?;
        if sent.draft.messages().len() != prefix.messages.len() {
            let reason = phrase!("a processor changes the number of messages after files are loaded");
            return Ok(Continuation::Broken(Some(reason)));
        }
        if let Some(source) = changed_file(prefix, &sent) {
            return Ok(Continuation::Broken(Some(phrase!("a file of `{source}` changed", source))));
        }
        let continued = self.run_rest_of_request(prefix, sent).await?;
        Ok(continued.map_or(Continuation::ExceedsBudget, Continuation::Repeated))
    }

    /// Assembles the messages after the prefix. `None` if it does not fit. `sent` has the messages of the prefix with
    /// their files.
    async fn run_rest_of_request(
        &mut self,
        prefix: &SentPrefix,
        mut sent: Run,
    ) -> Result<Option<RepeatedRequest>, AssembleError> {
        let (available, sent_tokens) = (self.budget.available, self.count(sent.draft.messages()));
        let left = match available {
            None => None,
            Some(available) => match u64::from(available).checked_sub(sent_tokens) {
                Some(left) => u32::try_from(left).ok(),
                None => return Ok(None),
            },
        };
        let is_changed =
            prefix.ended_by.is_some() || prefix.has_single_turn || has_unrecorded_turn(self.session, prefix);
        let is_changed = is_changed && self.model.capabilities.prefix_bound_reasoning;
        self.append_only = Some(AppendOnly::after(prefix).with_reasoning(reasoning_rule(is_changed)));
        let size = limiter::first_window(self.agent.pipeline(), available);
        self.budget.available = left;
        let result = self.run_window(size).await;
        self.budget.available = available;
        let (mut run, tokens) = match result {
            Ok(done) => done,
            Err(AssembleError::Infeasible(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let dropped = run.blackboard.get::<LimiterResult>().map_or(0, |result| result.dropped);
        let unloaded =
            run.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped + window.pinned);
        if dropped > 0 || prefix.tail.len() > self.session.sent_len().saturating_sub(unloaded) {
            return Ok(None);
        }
        run.diagnostics.append(&mut sent.diagnostics);
        run.draft.decide_all(sent.draft.decisions().iter().cloned());
        let mut messages = sent.draft.take_messages();
        messages.append(&mut run.draft.take_messages());
        run.draft.set_messages(messages);
        let tokens = match tokens {
            TokenFigure::Exact(tokens) => TokenFigure::Exact(tokens + sent_tokens),
            TokenFigure::AtMost(tokens) => TokenFigure::AtMost(tokens + sent_tokens),
        };
        Ok(Some(RepeatedRequest { run, tokens, sent_tokens }))
    }

    /// Runs the processors that load files, and later ones, for the messages of the prefix.
    async fn load_files(&self, prefix: &SentPrefix) -> Result<Run, AssembleError> {
        let mut sent = Run::default();
        sent.draft.set_messages(prefix.messages.clone());
        let pipeline = self.agent.pipeline();
        let from = limiter::attachments_from(pipeline).max(limiter::recount_from(pipeline));
        pipeline.run(&mut sent, self.inputs(&self.budget), from..).await?;
        Ok(sent)
    }

    fn finish_request(self, run: Run, tokens: TokenFigure, earlier: EarlierRequest) -> Context {
        let (session, turn) = (self.session, self.turn);
        let added = run.blackboard.get().map_or(Vec::new(), |UnloadedDraft { messages }| messages.clone());
        let texts = run.blackboard.get().map_or(BTreeMap::new(), |InsertedTexts { texts }| texts.clone());
        let lasting = added.iter().rposition(|message| !is_single_turn(message));
        let (lasting, single_turn) = added.split_at(lasting.map_or(0, |last| last + 1));
        let repeated = earlier.prefix.as_ref().map_or(0, |prefix| prefix.messages.len());
        let ended_by = single_turn.first().map(|message| Unstable {
            message: repeated + lasting.len(),
            source: message.source.clone(),
            reason: phrase!("this turn only"),
        });
        let stable = StablePart { messages: repeated + lasting.len(), ended_by };
        let shared = earlier.tokens;
        let total = self.count(run.draft.messages());
        let mut sent = sent_messages(session, turn, lasting);
        let loaded = run.draft.messages().get(repeated..).unwrap_or_default();
        // A processor that changes the number of messages hides which file belongs to which message.
        for (index, message) in lasting.iter().enumerate().filter(|_| loaded.len() == added.len()) {
            if !message.attachments.is_empty() {
                sent[index].set_files(&loaded[index]);
            }
        }
        // Text for one turn only came before the messages of a tool loop, so it ends the shared part.
        let is_looped = earlier.prefix.as_ref().is_some_and(|prefix| !prefix.has_single_turn);
        let in_tool_loop = if is_looped { tool_loop_len(lasting, &sent) } else { 0 };
        let in_tool_loop = in_tool_loop.min(loaded.len());
        let shared = shared + self.count(&loaded[..in_tool_loop]);
        let mut context = self.finish(run, tokens, Some(stable));
        let insertions = lasting.iter().zip(&sent).filter(|(_, sent)| sent.is_insertion());
        let insertions = insertions.map(|(message, _)| message.source.clone());
        context.report.prefix = Some(PrefixReport {
            messages: repeated + in_tool_loop,
            tokens: shared,
            planned_break: earlier
                .reason
                .clone()
                .map(|reason| PlannedBreak { reason, tokens: total.saturating_sub(shared) }),
            insertions: if repeated == 0 { Vec::new() } else { insertions.collect() },
        });
        if !turn.preview && matches!(turn.kind, GenerationKind::Normal | GenerationKind::Continue) {
            let mut record = SentRecord { messages: sent, texts, ..SentRecord::default() };
            record.has_single_turn = single_turn.iter().any(is_for_this_turn);
            add_earlier(&mut record, session, earlier, single_turn);
            context.effects.push(record_op(session, &context.effects, &record));
        }
        context
    }
}

/// Number of leading messages that a tool loop of the previous turn sent: a reply after a tool result shows that
/// a request contained the result. `sent` has the records of `messages`.
fn tool_loop_len(messages: &[Message], sent: &[SentMessage]) -> usize {
    let is_stored = |(message, sent): &(&Message, &SentMessage)| {
        message.role != Role::User && message.source.kind == SourceKind::History && sent.sent.is_none()
    };
    let stored = messages.iter().zip(sent).take_while(is_stored).count();
    let is_answered = |pair: &[Message]| pair[0].tool_call_id.is_some() && pair[1].role == Role::Assistant;
    messages[..stored].windows(2).rposition(is_answered).map_or(0, |result| result + 1)
}

/// Records messages. The first that contains a message of the conversation is responsible for it.
fn sent_messages(session: &Session, turn: &TurnInput, messages: &[Message]) -> Vec<SentMessage> {
    let input = input_message(turn);
    let mut contained: HashSet<NodeId> = HashSet::new();
    let mut record = |message: &Message| {
        let (mut nodes, mut has_input) = (Vec::new(), false);
        for source in sources(message) {
            has_input |= source.kind == SourceKind::Input;
            let is_stored = matches!(source.kind, SourceKind::History | SourceKind::Summary);
            let id = source.id.as_ref().filter(|_| is_stored);
            if let Some((id, node)) = id.and_then(|id| Some((id, session.node(id)?)))
                && contained.insert(id.clone())
            {
                nodes.push((id.clone(), node.to_message(id)));
            }
        }
        SentMessage::new(message, &nodes, input.as_ref().filter(|_| has_input))
    };
    messages.iter().map(&mut record).collect()
}

/// Adds omitted messages and earlier texts to a record. A reply that this turn continues is not omitted.
fn add_earlier(record: &mut SentRecord, session: &Session, earlier: EarlierRequest, single_turn: &[Message]) {
    let continued = single_turn.iter().filter(|message| message.is_continuation_prefix);
    let continued = continued.filter_map(|message| message.source.id.as_deref().map(NodeId::from));
    let contained = record.messages.iter().flat_map(|sent| sent.nodes.iter().cloned()).chain(continued);
    let contained: HashSet<NodeId> = contained.collect();
    let EarlierRequest { preset, prefix, .. } = earlier;
    let Some(mut prefix) = prefix else {
        record.begins = Some(preset);
        session.set_omitted(record, &contained);
        return;
    };
    let omitted = session.omit(prefix.tail.iter().filter(|id| !contained.contains(*id)));
    let texts = std::mem::take(&mut record.texts);
    if prefix.inherited > 0 && prefix.inherited <= prefix.records.len() {
        // The records above the active leaf stay.
        record.messages.splice(..0, prefix.records.split_off(prefix.inherited));
        record.omitted = prefix.own.omitted;
        record.texts = prefix.own.texts;
    } else {
        record.begins = Some(preset);
        record.first = prefix.first;
        record.messages.splice(..0, prefix.records);
        record.omitted = prefix.omitted;
        record.texts = prefix.texts;
    }
    // An omitted message can have changed.
    record.omitted.extend(omitted);
    record.texts.extend(texts);
}

fn reasoning_rule(drops_reasoning: bool) -> ReasoningRule {
    if drops_reasoning { ReasoningRule::Drop } else { ReasoningRule::Keep }
}

/// Returns whether a reply after the prefix answers a later message of the user: its request was not append-only.
fn has_unrecorded_turn(session: &Session, prefix: &SentPrefix) -> bool {
    let roles = prefix.tail.iter().filter_map(|id| session.node(id)?.role);
    roles.skip_while(|role| *role != Role::User).any(|role| role == Role::Assistant)
}

/// Returns the source of a message whose file is not as sent.
fn changed_file(prefix: &SentPrefix, sent: &Run) -> Option<String> {
    let mut messages = prefix.records.iter().zip(sent.draft.messages());
    let (_, message) = messages.find(|(record, loaded)| !record.has_same_files(loaded))?;
    Some(message.source.to_string())
}

/// Returns the sources of a message that can be in the conversation.
fn sources(message: &Message) -> Vec<&Source> {
    if message.source.kind != SourceKind::Merged {
        return vec![&message.source];
    }
    let sources = message.written.iter().flat_map(|segment| {
        // A recalled line replaces text of a message that the request does not contain.
        let is_recalled = segment.source.kind == SourceKind::Summary;
        segment.via.iter().filter(move |_| !is_recalled).chain([&segment.source])
    });
    sources.collect()
}

/// Returns the operation that stores a record with the newest message, after other effects on that message.
fn record_op(session: &Session, effects: &[SessionOp], record: &SentRecord) -> SessionOp {
    let leaf = session.active_leaf_id();
    let earlier = effects.iter().rev().find_map(|effect| match effect {
        SessionOp::Edit { id, edit } if id == leaf => match &edit.metadata {
            Change::Set(metadata) => Some(&**metadata),
            _ => None,
        },
        _ => None,
    });
    let stored = || session.node(leaf).and_then(|node| node.metadata.as_deref());
    record.to_op(leaf, earlier.or_else(stored))
}

/// Returns whether a message is only for this turn.
fn is_single_turn(message: &Message) -> bool {
    message.is_continuation_prefix
        || message.source.kind == SourceKind::Formatter
        || is_for_this_turn(message)
}

fn is_for_this_turn(message: &Message) -> bool {
    message.join_rule == JoinRule::None
}

fn input_message(turn: &TurnInput) -> Option<Message> {
    let source = Source::new(SourceKind::Input, Trust::User);
    let input = turn.input.as_ref().filter(|text| !text.trim().is_empty());
    input.map(|text| Message::new(Role::User, text.clone(), source))
}

/// Fingerprint of the settings that write the text before the conversation. `moving` has the entries that move in
/// the conversation.
pub(crate) fn preset_fingerprint(
    agent: &Agent,
    moving: &BTreeSet<usize>,
    profile: Option<&UserProfile>,
) -> Arc<str> {
    let entries = agent.preset_messages.iter().enumerate();
    let fixed: Vec<&PresetMessage> =
        entries.filter(|(index, _)| !moving.contains(index)).map(|(_, entry)| entry).collect();
    let parts = [
        serde_json::to_string(&fixed),
        serde_json::to_string(&agent.preset_groups),
        serde_json::to_string(&[
            &agent.name,
            &agent.agent_version,
            &agent.dialect,
            &agent.history_when_unplaced,
        ]),
        serde_json::to_string(&agent.description),
        serde_json::to_string(&agent.character),
        serde_json::to_string(&agent.regex_config),
        serde_json::to_string(&agent.virtual_time_config),
        serde_json::to_string(&profile),
    ];
    let sum = parts.iter().flatten().fold(Fingerprint::default(), |sum, part| sum.text(part));
    sum.to_string().into()
}
