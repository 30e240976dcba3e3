//! One turn of a chat: the user's message is stored, the context built, the model asked, tools are run, and every
//! message is stored as it comes.

mod answer;
mod event;
mod fit;
mod mask;
mod outcome;
mod preview;
mod record;
mod recorder;
mod request;

use std::fmt;
use std::sync::Arc;

use ctx_compress::mask::MaskConfig;
use ctx_compress::request::RequestConfig;
use ctx_engine::{AssembleError, CompiledAgent, Context, ConversationMemory, Ports};
use ctx_pipeline::Cancel;
use ctx_types::{
    AttachmentPorts, Diagnostic, GenerationKind, Message, NodeId, Role, Session, StoredAttachment,
    Summarizer, Text, TurnInput,
};
use ctx_wire::{Options, read_tool};

pub use event::{TurnEvent, TurnWatch, UsageLevel};
pub use mask::compress_conversation;
pub use outcome::{TurnEnd, TurnError, TurnFailure, TurnOutcome};
pub use preview::{TurnPreview, preview_turn};
pub use record::MessageTags;
pub use recorder::{ChatLog, within};
pub use request::{RequestBody, RequestShape, Target, sampling};

use crate::learned::LearnedLimits;
use crate::model::ChatModel;
use crate::spill::SpillFolder;
use crate::step_label::StepLabel;
use crate::tools::{Approval, Tool, ToolHost, ToolLimits, ToolPolicy};
use fit::{Fit, turn_start};
use mask::is_summary_due;
use outcome::Stop;
use recorder::Recorder;

/// Everything that turns of a chat are carried out with; the same for many of them.
#[derive(Clone)]
pub struct Chat<'a> {
    /// The agent.
    pub agent: &'a CompiledAgent,
    /// What answers.
    pub model: &'a dyn ChatModel,
    /// What a request holds beside its messages.
    pub shape: RequestShape,
    /// The tools, if there are any.
    pub tools: Option<ToolAccess<'a>>,
    /// Whether a turn ends with an answer that calls tools, which the caller carries out; false by default.
    ///
    /// Their results are the next messages of the conversation.
    pub leaves_calls: bool,
    /// What summarises older messages in the conversation, if anything does.
    pub masks: Option<Masks<'a>>,
    /// How requests are kept small, if they are.
    pub compression: Option<RequestCompression>,
    /// What loads attached files and reads their texts; nothing by default.
    pub attachments: AttachmentPorts<'a>,
    /// What refusals have taught of the windows of models; without it each turn learns anew.
    pub limits: Option<&'a LearnedLimits>,
    /// How often the model is asked in one turn; at least once. 20 by default.
    pub max_rounds: usize,
    /// The time, in milliseconds since 1970-01-01T00:00:00Z.
    pub clock: &'a (dyn Fn() -> i64 + Send + Sync),
}

/// Tools, and what limits them.
#[derive(Clone)]
pub struct ToolAccess<'a> {
    /// What has them and carries out calls.
    pub host: &'a dyn ToolHost,
    /// Which of them the model may call.
    pub policy: ToolPolicy,
    /// Who agrees to calls that need it.
    pub approval: Option<&'a dyn Approval>,
    /// What calls may take.
    pub limits: ToolLimits,
    /// Where large results go; without it they stay in the conversation.
    pub spill: Option<&'a SpillFolder>,
}

/// What summarises older messages in the conversation.
#[derive(Clone)]
pub struct Masks<'a> {
    /// When, and how.
    pub config: MaskConfig,
    /// Who writes summaries.
    pub summarizer: &'a dyn Summarizer,
}

/// How requests are kept small.
#[derive(Clone, Debug, Default)]
pub struct RequestCompression {
    /// When, and how far; the budget in it stands for nothing.
    pub config: RequestConfig,
    /// How many tokens the messages may have in place of what the context was allowed.
    pub token_budget: Option<u64>,
    /// The name of a strategy; the best one if absent.
    pub strategy: Option<Arc<str>>,
}

/// What one turn is about.
#[derive(Clone, Debug, Default)]
pub struct TurnRequest {
    /// The inputs of the turn; `input` is what the user says, if anything.
    ///
    /// Without it the model answers what is pending; `kind` may ask it to continue its last answer.
    pub turn: TurnInput,
    /// What the user typed, where `turn.input` differs from it.
    pub raw: Option<Text>,
    /// Files that the user sends with it; their bytes come from [`Chat::attachments`].
    pub attachments: Vec<StoredAttachment>,
    /// What is noted beside the messages.
    pub tags: MessageTags,
}

impl<'a> Chat<'a> {
    /// How often the model is asked in one turn unless somebody says otherwise.
    pub const DEFAULT_ROUNDS: usize = 20;

    /// A chat without tools and summaries, whose requests are kept small.
    pub fn new(agent: &'a CompiledAgent, model: &'a dyn ChatModel) -> Self {
        Self {
            agent,
            model,
            shape: RequestShape::default(),
            tools: None,
            leaves_calls: false,
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

/// Carries out one turn.
///
/// The order is a contract: the user's message is stored; older messages are summarised if it is time; the context
/// is built; then, round by round, it is made smaller if it is too large, the model is asked, its answer stored, its
/// calls carried out, their results stored. Where no summary is due and no files came, the context is built while the
/// message is stored: processors of your own may see one that is not durable yet, and never is if the store refuses it. What goes wrong with the model ends in a message of the conversation, so
/// that the next turn can go on from there, and in [`TurnEnd::outcome`]; when `cancel` is called, what came of the
/// answer is stored and nothing has gone wrong.
///
/// Without a log nothing is loaded and nothing is stored. If the returned future is dropped, everything that was
/// stored stays; the piece of an answer that was under way is lost, and the conversation in memory may have to be
/// loaded again.
///
/// Errors: [`TurnError`] if the store fails.
pub async fn run_turn(
    chat: &Chat<'_>,
    log: Option<ChatLog<'_>>,
    request: TurnRequest,
    watch: &mut TurnWatch<'_>,
    cancel: &Cancel,
) -> Result<TurnEnd, TurnError> {
    let is_kept = matches!(request.turn.kind, GenerationKind::Normal | GenerationKind::Continue);
    let continued = continued(log.as_ref(), &request.turn);
    let recorder = Recorder::new(log, is_kept, chat.clock, cancel);
    // A turn is large; whoever waits for one need not hold it.
    let mut running = Box::new(Running { continued, ..Running::new(chat, recorder, request, watch, cancel) });
    let stop = Box::pin(running.run()).await;
    Box::pin(running.finish(stop)).await
}

/// A turn under way.
struct Running<'a, 'w> {
    chat: &'a Chat<'a>,
    recorder: Recorder<'a>,
    request: TurnRequest,
    /// The answer that is to be continued, until its continuation is there.
    continued: Option<NodeId>,
    cancel: &'a Cancel,
    watch: &'a mut TurnWatch<'w>,
    /// The tools of ours that the model is told of.
    tools: Vec<Tool>,
    /// What is sent next.
    messages: Vec<Message>,
    /// What is known of how the model wants a request.
    options: Options<'static>,
    /// Where the messages of this turn's loop begin.
    loop_start: usize,
    fit: Fit,
    /// The findings that were told.
    told: Vec<Diagnostic>,
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
            told: Vec::new(),
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
            let reply = self.ask(round).await?;
            if !self.take(reply).await? {
                return Ok(());
            }
        }
        Err(TurnFailure::TooManyRounds { rounds: self.end.rounds }.into())
    }

    /// Gives calls a result on which an earlier turn was given up midway.
    async fn recover(&mut self) -> Result<(), Stop> {
        let found = self.recorder.recover().await.map_err(|error| Stop::store(error, ""))?;
        self.found(found);
        Ok(())
    }

    /// Stores what the user says; from then on it is a part of the conversation.
    ///
    /// The context is assembled while the disk is waited for, where nothing has to be done before that: to read files
    /// that came with the message may take long, and so may a summary.
    async fn store_input(
        &mut self,
        memory: Option<&ConversationMemory>,
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
            // What was kept may be of a context that is not sent.
            memory.forget_context();
        }
        let (id, message, assembled) = added.map_err(|error| Stop::store(error, &text))?;
        self.stored(&id, &message);
        Ok(assembled.flatten())
    }

    /// Finds the tools that the policy leaves, and what else the context depends on.
    fn prepare(&mut self) {
        if let Some(access) = self.chat.tools.as_ref().filter(|_| self.recorder.is_kept()) {
            self.tools = access.host.tools().into_iter().filter(|tool| access.policy.allows(tool)).collect();
        }
        let given = self.chat.shape.tools.iter().filter_map(read_tool);
        self.request.turn.tools =
            self.tools.iter().map(|tool| tool.definition.clone()).chain(given).collect();
        self.request.turn.dialect = Some(self.chat.model.dialect().name().into());
    }

    async fn assemble(&mut self, memory: Option<&ConversationMemory>) -> Result<Context, AssembleError> {
        assemble(self.chat, self.recorder.session(), &self.request.turn, memory, self.cancel).await
    }

    /// Takes what is sent from a context, and stores what that changed.
    async fn build(&mut self, mut context: Context) -> Result<(), Stop> {
        for op in std::mem::take(&mut context.effects) {
            self.recorder
                .apply(StepLabel::KEEP_VARIABLES, op)
                .await
                .map_err(|error| Stop::store(error, ""))?;
        }
        self.found(context.report.diagnostics.clone());
        self.end.report = Some(Box::new(std::mem::take(&mut context.report)));
        self.messages = std::mem::take(&mut context.messages);
        self.options = context.options();
        self.loop_start = turn_start(&self.messages);
        self.fit = Fit::new(self.chat.compression.as_ref(), &context, self.learned());
        self.pair();
        Ok(())
    }

    /// Makes calls and results pair, whatever the conversation holds.
    fn pair(&mut self) {
        let Some(repaired) = ctx_compress::request::repair(&self.messages) else { return };
        self.loop_start = repaired.place(self.loop_start);
        self.messages = repaired.messages;
        self.found(repaired.diagnostics);
    }

    fn emit(&mut self, event: TurnEvent) {
        (self.watch)(event);
    }

    /// Reports findings that were not told in this turn.
    fn found(&mut self, found: Vec<Diagnostic>) {
        for finding in found {
            if !self.told.contains(&finding) {
                self.told.push(finding.clone());
                self.emit(TurnEvent::Found(finding));
            }
        }
    }
}

async fn assemble(
    chat: &Chat<'_>,
    session: &Session,
    turn: &TurnInput,
    memory: Option<&ConversationMemory>,
    cancel: &Cancel,
) -> Result<Context, AssembleError> {
    let ports = Ports::default().with(|ports| {
        ports.cancel = Some(cancel);
        ports.attachments = chat.attachments;
        ports.memory = memory;
    });
    chat.agent.assemble_with(session, turn, ports).await
}

/// Finds the answer that a turn continues: the newest message, if it is an answer.
fn continued(log: Option<&ChatLog<'_>>, turn: &TurnInput) -> Option<NodeId> {
    let is_wanted = turn.kind == GenerationKind::Continue && turn.input.is_none();
    let session = log.filter(|_| is_wanted)?.conversation.session();
    let id = session.active_leaf_id();
    let node = session.node(id)?;
    let is_answer = node.role == Some(Role::Assistant) && node.tool_calls.is_empty() && !node.is_summary();
    is_answer.then(|| id.clone())
}

/// The time on this machine.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
