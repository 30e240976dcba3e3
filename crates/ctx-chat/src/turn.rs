//! Runs one turn of a chat: stores the user's message, builds the context, sends the request, runs tools, and stores
//! every message immediately.

mod answer;
mod event;
mod fit;
mod mask;
mod outcome;
mod preview;
mod record;
mod recorder;
mod request;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use ctx_compress::mask::MaskConfig;
use ctx_compress::request::RequestConfig;
use ctx_engine::{AssembleError, CompiledAgent, Context, Ports, TurnCache};
use ctx_pipeline::Cancel;
use ctx_types::ports::{AttachmentPorts, Summarizer};
use ctx_types::session::{NodeId, Session};
use ctx_types::{Diagnostic, GenerationKind, Message, Role, StoredAttachment, Text, TurnInput};
use ctx_wire::{Options, read_tools};

pub use event::{TurnEvent, TurnWatch, UsageLevel};
pub use mask::compress_conversation;
pub use outcome::{TurnEnd, TurnError, TurnFailure, TurnOutcome};
pub use preview::{TurnPreview, preview_turn};
pub use record::MessageTags;
pub use recorder::{ChatLog, UnstoredConversation, within};
pub use request::{RequestBody, RequestShape, Target, sampling};

use crate::learned::LearnedLimits;
use crate::model::ChatModel;
use crate::spill::SpillFolder;
use crate::step_label::StepLabel;
use crate::store::StoreError;
use crate::tools::{Approval, Tool, ToolHost, ToolLimits, ToolPolicy};
use fit::{Fit, turn_start};
use mask::is_summary_due;
use outcome::Stop;
use recorder::Recorder;

/// Configuration of a chat. Many turns can share it.
#[derive(Clone)]
pub struct Chat<'a> {
    /// The agent.
    pub agent: &'a CompiledAgent,
    /// Model of the chat.
    pub model: &'a dyn ChatModel,
    /// Request fields other than the messages.
    pub shape: RequestShape,
    /// Tools, if there are any.
    pub tools: Option<ToolAccess<'a>>,
    /// Whether the turn ends at a reply with tool calls. The caller then runs the tools. False by default.
    ///
    /// The tool results are the next messages of the conversation.
    pub leaves_calls: bool,
    /// Whether a reply without text and tool calls is valid. If not (the default), the turn fails.
    pub accepts_blank: bool,
    /// Compaction of older messages, if enabled.
    pub masks: Option<Masks<'a>>,
    /// Request compression, if enabled.
    pub compression: Option<RequestCompression>,
    /// Loads attachments and extracts their texts. Disabled by default.
    pub attachments: AttachmentPorts<'a>,
    /// Context windows learned from rejected requests. Without it, each turn learns them again.
    pub limits: Option<&'a LearnedLimits>,
    /// Maximum number of requests in one turn, at least 1. 20 by default.
    pub max_rounds: usize,
    /// Returns the time in milliseconds since 1970-01-01T00:00:00Z.
    pub clock: &'a (dyn Fn() -> i64 + Send + Sync),
}

/// Tools and their limits.
#[derive(Clone)]
pub struct ToolAccess<'a> {
    /// Provides and runs the tools.
    pub host: &'a dyn ToolHost,
    /// Rules for the tools that the model may call.
    pub policy: ToolPolicy,
    /// Asks the user to approve calls.
    pub approval: Option<&'a dyn Approval>,
    /// Limits of calls.
    pub limits: ToolLimits,
    /// Folder for large results. Without it, they stay in the conversation.
    pub spill: Option<&'a SpillFolder>,
}

/// Compaction of older messages.
#[derive(Clone)]
pub struct Masks<'a> {
    /// Settings of compaction.
    pub config: MaskConfig,
    /// Writes the summaries.
    pub summarizer: &'a dyn Summarizer,
}

/// Request compression.
#[derive(Clone, Debug, Default)]
pub struct RequestCompression {
    /// Settings. Their budget is ignored.
    pub config: RequestConfig,
    /// Token budget of the messages. It replaces the budget of the context.
    pub token_budget: Option<u64>,
    /// Name of the strategy. The default is the best strategy.
    pub strategy: Option<Arc<str>>,
}

/// Input of one turn.
#[derive(Clone, Debug, Default)]
pub struct TurnRequest {
    /// Inputs for the context. `input` is the user's message, if there is one.
    ///
    /// Without `input`, the model replies to the last message. With the matching `kind`, it continues its last reply.
    pub turn: TurnInput,
    /// Text that the user typed, if it differs from `turn.input`.
    pub raw: Option<Text>,
    /// Attachments of the user's message. [`Chat::attachments`] loads their bytes.
    pub attachments: Vec<StoredAttachment>,
    /// Metadata for the new messages.
    pub tags: MessageTags,
    /// The conversation for the model, if it differs from the stored one: with other contents, or further messages. The
    /// turn adds its messages to both.
    pub sent: Option<Session>,
}

impl<'a> Chat<'a> {
    /// Default maximum number of requests in one turn.
    pub const DEFAULT_ROUNDS: usize = 20;

    /// Creates a chat without tools and compaction, with request compression.
    pub fn new(agent: &'a CompiledAgent, model: &'a dyn ChatModel) -> Self {
        Self {
            agent,
            model,
            shape: RequestShape::default(),
            tools: None,
            leaves_calls: false,
            accepts_blank: false,
            masks: None,
            compression: Some(RequestCompression::default()),
            attachments: AttachmentPorts::default(),
            limits: None,
            max_rounds: Self::DEFAULT_ROUNDS,
            clock: &now,
        }
    }
}

impl fmt::Debug for Chat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("shape", &self.shape)
            .field("max_rounds", &self.max_rounds)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolAccess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolAccess")
            .field("policy", &self.policy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Masks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Runs one turn.
///
/// The order is guaranteed. The turn stores the user's message, compacts older messages if a summary is due, and
/// builds the context. Then each round compresses the request if it is too large, sends it, stores the reply, runs
/// its tool calls, and stores their results.
///
/// If no summary is due and there are no attachments, the context is built while the message is stored. Custom
/// processors may then see a message that is not durable yet, and that the store may still reject.
///
/// A failed request ends with a message in the conversation that reports the error and is never sent. The next turn can
/// answer the same message. [`TurnEnd::outcome`] has the error. If `cancel` is called, the partial reply is stored, and this is not an error.
///
/// Without a log, nothing is loaded or stored. If the returned future is dropped, stored data stays, the partial
/// reply is lost, and the conversation may have to be loaded again.
///
/// # Errors
///
/// Returns [`TurnError`] if the store fails, or if another process has acquired the lease of the conversation.
pub async fn run_turn(
    chat: &Chat<'_>,
    log: Option<ChatLog<'_>>,
    mut request: TurnRequest,
    watch: &mut TurnWatch<'_>,
    cancel: &Cancel,
) -> Result<TurnEnd, TurnError> {
    let is_kept = matches!(request.turn.kind, GenerationKind::Normal | GenerationKind::Continue);
    let continued = continued(log.as_ref(), &request.turn);
    let lease = log.as_ref().and_then(|log| log.lease);
    let sent = request.sent.take().filter(|_| log.is_some());
    let recorder = Recorder::new(log, sent, is_kept, chat.clock, cancel);
    // The future of a turn is large, so keep it on the heap.
    let mut running = Box::new(Running { continued, ..Running::new(chat, recorder, request, watch, cancel) });
    let stop = match lease {
        Some(lease) => stop_at(lease.lost(), cancel, Box::pin(running.run())).await,
        None => Box::pin(running.run()).await,
    };
    match stop {
        // Another turn continues the conversation.
        Stop::Aborted(unstored) | Stop::Failed(_, unstored)
            if lease.is_some_and(|lease| lease.lost().is_cancelled()) =>
        {
            let id = running.recorder.conversation_id().unwrap_or_default().to_owned();
            Err(TurnError { source: StoreError::LeaseLost { id }, unstored })
        }
        stop => Box::pin(running.finish(stop)).await,
    }
}

/// Runs one turn of a conversation that no store has, and stores nothing. The rest is as in [`run_turn`].
///
/// # Errors
///
/// Returns [`TurnError`] if a message does not fit into the conversation.
pub async fn run_unstored_turn(
    chat: &Chat<'_>,
    UnstoredConversation { session, memory }: UnstoredConversation<'_>,
    request: TurnRequest,
    watch: &mut TurnWatch<'_>,
    cancel: &Cancel,
) -> Result<TurnEnd, TurnError> {
    let recorder = Recorder::on_copy(session, memory, true, chat.clock, cancel);
    let mut running = Box::new(Running::new(chat, recorder, request, watch, cancel));
    let stop = Box::pin(running.run()).await;
    Box::pin(running.finish(stop)).await
}

/// Runs a turn. Cancels it at a signal, and waits for its end.
async fn stop_at(signal: &Cancel, cancel: &Cancel, mut turn: impl Future<Output = Stop> + Unpin) -> Stop {
    tokio::select! {
        biased;
        stop = &mut turn => return stop,
        () = signal.cancelled() => cancel.cancel(),
    }
    turn.await
}

/// A running turn.
struct Running<'a, 'w> {
    chat: &'a Chat<'a>,
    recorder: Recorder<'a>,
    request: TurnRequest,
    /// The reply to continue, until its continuation is stored.
    continued: Option<NodeId>,
    cancel: &'a Cancel,
    watch: &'a mut TurnWatch<'w>,
    /// Our tools that the model knows.
    tools: Vec<Tool>,
    /// Messages of the next request.
    messages: Vec<Message>,
    /// Request options that the model supports.
    options: Options<'static>,
    /// Index of the first message in this turn's tool loop.
    loop_start: usize,
    fit: Fit,
    /// The message with the record of the request, for an append-only context.
    recorded: Option<NodeId>,
    /// Reported diagnostics.
    told: HashSet<String>,
    end: TurnEnd,
}

impl<'a, 'w> Running<'a, 'w> {
    fn new(
        chat: &'a Chat<'a>,
        recorder: Recorder<'a>,
        request: TurnRequest,
        watch: &'a mut TurnWatch<'w>,
        cancel: &'a Cancel,
    ) -> Self {
        Self {
            chat,
            recorder,
            request,
            continued: None,
            cancel,
            watch,
            tools: Vec::new(),
            messages: Vec::new(),
            options: Options::default(),
            loop_start: 0,
            fit: Fit::default(),
            recorded: None,
            told: HashSet::new(),
            end: TurnEnd::default(),
        }
    }
}

impl Running<'_, '_> {
    async fn run(&mut self) -> Stop {
        match self.steps().await {
            Ok(()) => Stop::Answered,
            Err(stop) => stop,
        }
    }

    async fn steps(&mut self) -> Result<(), Stop> {
        self.recover().await?;
        self.prepare();
        let memory = self.recorder.memory();
        let context = if let Some(assembled) = self.store_input(memory).await? {
            assembled?
        } else {
            self.summarize().await?;
            self.assemble(memory).await?
        };
        self.build(context).await?;
        for round in 1..=self.chat.max_rounds.max(1) {
            self.end.rounds = round;
            self.fit()?;
            self.end_record().await.map_err(|error| Stop::store(error, ""))?;
            let reply = self.ask(round).await?;
            if !self.take(reply).await? {
                return Ok(());
            }
        }
        Err(TurnFailure::TooManyRounds { rounds: self.end.rounds }.into())
    }

    /// Adds results to the unfinished calls of an interrupted turn.
    async fn recover(&mut self) -> Result<(), Stop> {
        let found = self.recorder.recover().await.map_err(|error| Stop::store(error, ""))?;
        self.found(found);
        Ok(())
    }

    /// Stores the user's message.
    ///
    /// Assembles the context while the message is written, unless attachments must be read or a summary is due. Both
    /// may take long.
    async fn store_input(
        &mut self,
        memory: Option<&TurnCache>,
    ) -> Result<Option<Result<Context, AssembleError>>, Stop> {
        let text = self.request.turn.input.clone().filter(|text| !text.trim().is_empty());
        let is_said = text.is_some() || !self.request.attachments.is_empty();
        if !is_said || !self.recorder.has_conversation() {
            return Ok(None);
        }
        let text = text.unwrap_or_default();
        let mut node = self.request.tags.user(&text, self.request.raw.as_ref());
        node.attachments = std::mem::take(&mut self.request.attachments);
        self.request.turn.input = None;
        let (chat, turn, cancel) = (self.chat, &self.request.turn, self.cancel);
        let is_ready = node.attachments.is_empty();
        let added = self.recorder.add_beside(node, async |session| {
            let is_next = is_ready && !is_summary_due(chat, turn, session);
            if is_next { Some(assemble(chat, session, turn, memory, cancel).await) } else { None }
        });
        let added = added.await;
        let is_in_vain = added.as_ref().map_or(true, |(_, _, assembled)| assembled.is_none());
        if let Some(memory) = memory.filter(|_| is_in_vain && self.recorder.stores()) {
            // The cache may contain a context that was not sent.
            memory.forget_context();
        }
        let (id, message, assembled) = added.map_err(|error| Stop::store(error, &text))?;
        self.stored(&id, &message);
        Ok(assembled.flatten())
    }

    /// Selects the tools that the policy allows, and prepares the other inputs of the context.
    fn prepare(&mut self) {
        if let Some(access) = self.chat.tools.as_ref().filter(|_| self.recorder.is_kept()) {
            self.tools = access.host.tools().into_iter().filter(|tool| access.policy.allows(tool)).collect();
        }
        let given = self.chat.shape.tools.iter().flat_map(read_tools);
        self.request.turn.tools =
            self.tools.iter().map(|tool| tool.definition.clone()).chain(given).collect();
        self.request.turn.dialect = Some(self.chat.model.dialect().name().into());
    }

    async fn assemble(&mut self, memory: Option<&TurnCache>) -> Result<Context, AssembleError> {
        assemble(self.chat, self.recorder.session(), &self.request.turn, memory, self.cancel).await
    }

    /// Takes the messages of a context, and stores the changes of its assembly.
    async fn build(&mut self, mut context: Context) -> Result<(), Stop> {
        for op in std::mem::take(&mut context.effects) {
            self.recorder
                .apply(StepLabel::KEEP_VARIABLES, op)
                .await
                .map_err(|error| Stop::store(error, ""))?;
        }
        let leaf = self.recorder.session().active_leaf_id().clone();
        self.recorded = context.report.prefix.as_ref().map(|_| leaf);
        self.found(context.report.diagnostics.clone());
        let planned = context.report.prefix.as_ref().and_then(|prefix| prefix.planned_break.clone());
        if let Some(planned) = planned {
            self.emit(TurnEvent::PlannedBreak(planned));
        }
        self.options = context.options();
        self.fit = Fit::new(self.chat.compression.as_ref(), &context, self.learned());
        self.end.report = Some(Box::new(std::mem::take(&mut context.report)));
        self.messages = std::mem::take(&mut context.messages);
        self.loop_start = turn_start(&self.messages);
        self.pair();
        Ok(())
    }

    /// Pairs calls with results for any conversation.
    fn pair(&mut self) {
        let Some(repaired) = ctx_compress::request::repair(&self.messages) else { return };
        self.loop_start = repaired.place(self.loop_start);
        self.messages = repaired.messages;
        self.found(repaired.diagnostics);
    }

    fn emit(&mut self, event: TurnEvent) {
        (self.watch)(event);
    }

    /// Reports the diagnostics that this turn has not reported yet.
    fn found(&mut self, found: Vec<Diagnostic>) {
        for finding in found {
            if self.told.insert(finding.to_string()) {
                self.emit(TurnEvent::Found(finding));
            }
        }
    }
}

async fn assemble(
    chat: &Chat<'_>,
    session: &Session,
    turn: &TurnInput,
    memory: Option<&TurnCache>,
    cancel: &Cancel,
) -> Result<Context, AssembleError> {
    let ports = Ports::default().with(|ports| {
        ports.cancel = Some(cancel);
        ports.attachments = chat.attachments;
        ports.memory = memory;
    });
    chat.agent.assemble_with(session, turn, ports).await
}

/// Returns the reply that a turn continues: the newest message, if it is a reply.
fn continued(log: Option<&ChatLog<'_>>, turn: &TurnInput) -> Option<NodeId> {
    let is_wanted = turn.kind == GenerationKind::Continue && turn.input.is_none();
    let session = log.filter(|_| is_wanted)?.conversation.session();
    let id = session.active_leaf_id();
    let node = session.node(id)?;
    let is_answer = node.role == Some(Role::Assistant)
        && node.tool_calls.is_empty()
        && !node.is_summary()
        && !node.is_error();
    is_answer.then(|| id.clone())
}

/// Returns the time of this machine.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
