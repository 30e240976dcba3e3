use ctx_pipeline::internal::Run;
use ctx_pipeline::{Cancel, Inputs, ProcessorError, RunError};
use ctx_processors::internal::{
    AppendOnly, CompressionCache, LimiterResult, LoadedWindow, WindowSize, cost_upper_bound, ids, unsent,
};
use ctx_processors::{Cause, Infeasible, RequestPart};
use ctx_tokens::internal::{has_media, message_cost, tools_cost};
use ctx_tokens::{Budget, BudgetError, Counter, ModelFacts};
use ctx_types::ports::{AttachmentPorts, Deadline, Embedder, Stopwatch, TokenCounter as _};
use ctx_types::report::{Report, StablePart, TokenFigure, Usage, UsageLine};
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Message, Phrase, TurnInput, phrase};
use ctx_wire::Dialect;

use crate::append_only::UnloadedDraft;
use crate::attempt::{AddedParts, Attempt};
use crate::codes;
use crate::compiled_agent::CompiledAgent;
use crate::context::Context;
use crate::limiter;
use crate::recall::Recall;
use crate::stable::{self, Stability};
use crate::trace::Trace;
use crate::turn_cache::TurnCache;

/// Optional services that the host provides to an assembly.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Ports<'a> {
    /// Cancels the assembly.
    pub cancel: Option<&'a Cancel>,
    /// Loads attachments and extracts their text.
    pub attachments: AttachmentPorts<'a>,
    /// Computes embeddings, which let `recall` find passages without a common word.
    pub embedder: Option<&'a dyn Embedder>,
    /// Limits the time of the whole assembly. It is also the clock for
    /// [`Compile::time_limit`](crate::Compile).
    pub deadline: Option<&'a dyn Deadline>,
    /// Measures the time of processors.
    pub stopwatch: Option<&'a dyn Stopwatch>,
    /// Cache shared by the turns of a conversation; see [`TurnCache`].
    pub memory: Option<&'a TurnCache>,
    /// Whether to record the output of each processor. Off by default, and then free of cost.
    #[doc(hidden)]
    pub is_traced: bool,
}

impl Ports<'_> {
    /// Returns the ports after `set` changed them.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

ctx_types::opaque!(Ports<'_>);

/// Reason why a context could not be assembled.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum AssembleError {
    /// The budget is invalid, or leaves no tokens for messages.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The messages exceed the budget, and no more can be dropped or no limiter runs.
    Infeasible(Infeasible),
    /// The assembly was cancelled.
    Cancelled,
    /// A core processor failed.
    #[error(transparent)]
    Processor(RunError),
}

impl AssembleError {
    /// Formats the error as a translatable phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Budget(error) => error.phrase(),
            Self::Infeasible(error) => phrase!("no context fits the budget: {error}", error = error.phrase()),
            Self::Cancelled => phrase!("the assembly was cancelled"),
            Self::Processor(error) => error.phrase(),
        }
    }
}

impl From<RunError> for AssembleError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cancelled => Self::Cancelled,
            RunError::Core { id, error: ProcessorError::Infeasible(error) } => {
                match error.downcast::<Infeasible>() {
                    Ok(infeasible) => Self::Infeasible(*infeasible),
                    Err(error) => {
                        Self::Processor(RunError::Core { id, error: ProcessorError::Infeasible(error) })
                    }
                }
            }
            other => Self::Processor(other),
        }
    }
}

pub(crate) struct Assembly<'a> {
    pub(crate) agent: &'a CompiledAgent,
    pub(crate) session: &'a Session,
    pub(crate) turn: &'a TurnInput,
    ports: Ports<'a>,
    cancel: Cancel,
    pub(crate) model: ModelFacts,
    counter: Recall<'a>,
    pub(crate) budget: Budget,
    /// Set for an append-only context.
    pub(crate) append_only: Option<AppendOnly>,
    found: Vec<Diagnostic>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(
        agent: &'a CompiledAgent,
        session: &'a Session,
        turn: &'a TurnInput,
        ports: Ports<'a>,
    ) -> Result<Self, AssembleError> {
        let mut found = Vec::new();
        let has_model = agent.model_name(turn).is_some();
        let (model, unknown) = agent.model(turn);
        found.extend(unknown);
        let (counter, estimated) = Counter::for_model(&model);
        found.extend(estimated.filter(|_| has_model));
        let counter = Recall { counter, memory: &agent.memory };
        let request = agent.limit.request(turn, tools_cost(&turn.tools, &model, &counter));
        let (budget, unlimited) = Budget::compute(&model, &request)?;
        // A missing context window is a warning only if the request depends on it.
        let wants_window = has_model || request.context_tokens.is_some();
        let is_wanted = |finding: &Diagnostic| wants_window || finding.code != ctx_tokens::codes::NO_WINDOW;
        found.extend(unlimited.into_iter().filter(is_wanted));
        let cancel = ports.cancel.cloned().unwrap_or_default();
        Ok(Self { agent, session, turn, ports, cancel, model, counter, budget, append_only: None, found })
    }

    pub(crate) async fn run(self) -> Result<Context, AssembleError> {
        if self.is_append_only() {
            return Box::pin(self.run_append_only()).await;
        }
        let (run, tokens) = self.run_windows().await?;
        Ok(self.finish(run, tokens, None))
    }

    /// Runs the pipeline. Doubles the loaded tokens until messages are dropped, unless the size is final.
    pub(crate) async fn run_windows(&self) -> Result<(Run, TokenFigure), AssembleError> {
        let mut size = limiter::first_window(self.agent.pipeline(), self.budget.available);
        loop {
            let (run, tokens) = self.run_window(size).await?;
            let skipped = run.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped);
            let dropped = run.blackboard.get::<LimiterResult>().map_or(0, |result| result.dropped);
            if skipped == 0 || dropped > 0 || size.is_some_and(|size| size.is_final) {
                self.keep(&run);
                return Ok((run, tokens));
            }
            size = size.map(|size| WindowSize { tokens: size.tokens.saturating_mul(2), ..size });
        }
    }

    fn keep(&self, run: &Run) {
        let Some(memory) = self.ports.memory.filter(|_| !self.turn.preview) else { return };
        if let Some(kept) = run.blackboard.get::<CompressionCache>() {
            memory.keep(kept.clone());
        }
    }

    pub(crate) async fn run_appended(&self, run: &mut Run) -> Result<(), AssembleError> {
        Ok(self.agent.pipeline().run_appended(run, self.inputs(&self.budget)).await?)
    }

    /// Reruns from the limiter on while the result is over the budget, with the excess subtracted from the
    /// limiter's kept tokens.
    ///
    /// If too little can be dropped, everything droppable is dropped: later processors may then need less.
    pub(crate) async fn run_window(
        &self,
        size: Option<WindowSize>,
    ) -> Result<(Run, TokenFigure), AssembleError> {
        let pipeline = self.agent.pipeline();
        let from = limiter::recount_from(pipeline);
        let mut run = Run { drafts: self.ports.is_traced.then(Vec::new), ..Run::default() };
        if let Some(size) = size {
            run.blackboard.insert(size);
        }
        if let Some(append_only) = &self.append_only {
            run.blackboard.insert(append_only.clone());
        }
        if let Some(memory) = self.ports.memory {
            run.blackboard.insert(memory.compression());
            run.blackboard.insert(memory.recall());
        }
        pipeline.run(&mut run, self.inputs(&self.budget), ..from).await?;
        // Macro results are mostly equal from turn to turn. Share them before they are counted.
        self.agent.share_texts(run.draft.messages_mut(), self.counter.encoding());
        let saved = run.clone();
        let mut attempt = Attempt::new(self.budget.clone());
        let unlimited = self.unlimited();
        loop {
            if !self.ports.is_traced {
                run.drafts = (attempt.is_repetition() || unlimited.is_some()).then(Vec::new);
            }
            let done = self.run_rest(&mut run, &attempt.budget, from).await;
            let tokens = match done.map_err(AssembleError::from) {
                Ok(()) => {
                    self.agent.share_texts(run.draft.messages_mut(), self.counter.encoding());
                    self.total(run.draft.messages())
                }
                Err(AssembleError::Infeasible(infeasible)) => {
                    attempt.keep_least(infeasible)?;
                    run = Run { timings: run.timings, ..saved.clone() };
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(over) = self.overshoot(tokens) else { return Ok((run, tokens)) };
            let grown = self.added_parts(&run, &saved);
            if let Some(cause) = unlimited {
                return Err(AssembleError::Infeasible(grown.infeasible(attempt.available, cause)));
            }
            attempt.lower_budget(over, self.kept_tokens(&run, &saved), grown)?;
            run = Run { timings: run.timings, ..saved.clone() };
        }
    }

    /// Runs the limiter and later processors.
    async fn run_rest(&self, run: &mut Run, budget: &Budget, from: i64) -> Result<(), RunError> {
        let (pipeline, inputs) = (self.agent.pipeline(), self.inputs(budget));
        if self.append_only.is_none() {
            return pipeline.run(run, inputs, from..).await;
        }
        let attachments = limiter::attachments_from(pipeline).max(from);
        pipeline.run(run, inputs, from..attachments).await?;
        run.blackboard.insert(UnloadedDraft { messages: run.draft.messages().to_vec() });
        pipeline.run(run, inputs, attachments..).await
    }

    fn unlimited(&self) -> Option<Cause> {
        limiter::unlimited(self.agent.pipeline()).filter(|_| self.budget.available.is_some())
    }

    /// If the limiter did not count, it kept all its input.
    fn kept_tokens(&self, run: &Run, saved: &Run) -> u64 {
        match run.blackboard.get::<LimiterResult>().and_then(|result| result.kept) {
            Some(TokenFigure::Exact(kept)) => kept,
            Some(TokenFigure::AtMost(kept)) => kept.min(self.count(saved.draft.messages())),
            None => self.count(saved.draft.messages()),
        }
    }

    fn added_parts(&self, run: &Run, saved: &Run) -> AddedParts {
        let Some(drafts) = &run.drafts else { return AddedParts::default() };
        let earlier = saved.drafts.as_ref().map_or(0, Vec::len);
        let drafts = drafts.get(earlier..).unwrap_or_default();
        let limiter = drafts.iter().position(|(id, _)| &**id == ids::TOKEN_LIMITER);
        let kept = limiter.and_then(|at| drafts.get(at)).map_or(&saved.draft, |(_, draft)| draft);
        let mut before = self.count(kept.messages());
        let mut written = Vec::new();
        for (id, draft) in drafts.iter().skip(limiter.map_or(0, |at| at + 1)) {
            let after = self.count(draft.messages());
            let added = i64::try_from(after).unwrap_or(i64::MAX).saturating_sub_unsigned(before);
            written.extend(Some((id.to_string(), added)).filter(|_| added != 0));
            before = after;
        }
        AddedParts { kept: RequestPart::from_messages(kept.messages(), &self.model, &self.counter), written }
    }

    pub(crate) fn inputs<'b>(&'b self, budget: &'b Budget) -> Inputs<'b> {
        Inputs {
            agent: self.agent.agent(),
            profile: self.agent.profile(),
            session: self.session,
            turn: self.turn,
            model: &self.model,
            counter: &self.counter,
            budget,
            cancel: &self.cancel,
            attachments: self.ports.attachments,
            embedder: self.ports.embedder,
            deadline: self.ports.deadline,
            stopwatch: self.ports.stopwatch,
        }
    }

    fn overshoot(&self, total: TokenFigure) -> Option<u64> {
        let available = u64::from(self.budget.available?);
        match total {
            TokenFigure::AtMost(_) => None,
            TokenFigure::Exact(total) => total.checked_sub(available).filter(|over| *over > 0),
        }
    }

    /// Skips counting if an upper bound by bytes fits the budget.
    fn total(&self, messages: &[Message]) -> TokenFigure {
        let bound = messages.iter().map(|message| cost_upper_bound(message, &self.model));
        let bound = bound.fold(0, u64::saturating_add);
        match self.budget.available {
            Some(available) if bound > u64::from(available) => TokenFigure::Exact(self.count(messages)),
            _ => TokenFigure::AtMost(bound),
        }
    }

    pub(crate) fn count(&self, messages: &[Message]) -> u64 {
        let cost = |message| u64::from(message_cost(message, &self.model, &self.counter).total());
        messages.iter().map(cost).sum()
    }

    /// `stable` is predicted if it is not known.
    pub(crate) fn finish(self, mut run: Run, tokens: TokenFigure, stable: Option<StablePart>) -> Context {
        let mut messages = run.draft.take_messages();
        let unsent = unsent(&run.draft, &run.blackboard);
        run.draft.decide_all(unsent);
        let predict = || Stability::new(&run, self.agent, &self.turn.further).part(&messages);
        let stable = stable.unwrap_or_else(predict);
        stable::mark(self.turn.cache_marks, &mut messages, &stable);
        let mut diagnostics: Vec<Diagnostic> = self.agent.diagnostics().to_vec();
        diagnostics.extend(self.found);
        diagnostics.extend(run.diagnostics);
        if messages.is_empty() {
            let nothing = Diagnostic::warning(
                codes::NOTHING_TO_ANSWER,
                phrase!("there is nothing to send: the context has no messages"),
            );
            diagnostics
                .push(nothing.with_help(phrase!("add a conversation, an input, or a preset with messages")));
        }
        let lines = self.budget.lines.iter();
        let usage = Usage {
            tokens,
            available: self.budget.available,
            budget: lines.map(|line| UsageLine { name: line.name.clone(), tokens: line.tokens }).collect(),
            encoding: self.counter.counter.kind().name().to_owned(),
            is_exact: self.counter.counter.is_exact() && !messages.iter().any(has_media),
        };
        let report = Report {
            diagnostics,
            decisions: run.draft.decisions().to_vec(),
            stages: run.stages,
            usage: Some(usage),
            stable: Some(stable),
            prefix: None,
        };
        let effects = if self.turn.preview { Vec::new() } else { run.draft.effects().to_vec() };
        let drafts = run.drafts.filter(|_| self.ports.is_traced);
        let trace = drafts.map(|drafts| Trace::new(drafts, run.blackboard.get().cloned()));
        Context {
            messages,
            trace,
            report,
            effects,
            timings: run.timings,
            dialect: self.turn.dialect.as_deref().and_then(Dialect::parse).unwrap_or_default(),
            model: self.model,
            counter: self.counter.counter,
        }
    }
}
