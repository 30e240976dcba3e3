//! Keeping requests small: usage at each safe point, compression where it is too much.

use std::sync::Arc;

use ctx_compress::request::{
    Compression, CompressionPipeline, ContextUsage, Meter, PassOutcome, Protection, RequestConfig,
    UsageWatch, strategy,
};
use ctx_engine::Context;
use ctx_types::internal::{RecordEnd, SentRecord};
use ctx_types::report::{Decision, Outcome, PlannedBreak};
use ctx_types::session::pending_start;
use ctx_types::{Message, Place, phrase};
use ctx_wire::Failure;

use crate::learned::limit_of;
use crate::model::RequestFailure;
use crate::step_label::StepLabel;
use crate::store::StoreError;
use crate::turn::outcome::{Stop, TurnFailure};
use crate::turn::{RequestCompression, Running, TurnEvent, UsageLevel};

/// Name of the budget line of tools.
const TOOLS: &str = "tools";

/// What a request may cost, and what is done about it.
#[derive(Debug, Default)]
pub(super) struct Fit {
    meter: Meter<'static>,
    watch: UsageWatch,
    budget: Option<u64>,
    tool_tokens: u64,
    compression: Option<RequestCompression>,
    /// What a refusal taught, until a smaller request shows that it was the size.
    lesson: Option<u64>,
    /// Whether the next turn repeats the request, which a compression prevents.
    is_append_only: bool,
    /// Whether messages were compressed since the last reply.
    is_compressed: bool,
    /// Whether reasoning is bound to the messages before it.
    binds_reasoning: bool,
}

impl Fit {
    /// `learned` is the most that messages may have, as a refusal showed.
    pub(super) fn new(
        compression: Option<&RequestCompression>,
        context: &Context,
        learned: Option<u64>,
    ) -> Self {
        let usage = context.report.usage.as_ref();
        let allowed = usage.and_then(|usage| usage.available).map(u64::from);
        let mut lines = usage.into_iter().flat_map(|usage| &usage.budget);
        let tools = lines.find(|line| line.name.template() == TOOLS);
        Self {
            meter: Meter::for_model(Arc::new(context.model().clone()), Arc::new(context.counter())),
            watch: UsageWatch::default(),
            budget: least(compression.and_then(|compression| compression.token_budget).or(allowed), learned),
            tool_tokens: tools.map_or(0, |line| line.tokens.unsigned_abs()),
            compression: compression.cloned(),
            lesson: None,
            is_append_only: context.report.prefix.is_some(),
            is_compressed: false,
            binds_reasoning: context.model().capabilities.prefix_bound_reasoning,
        }
    }

    fn usage(&mut self, messages: &[Message]) -> Option<ContextUsage> {
        let used = self.watch.tokens(messages, &self.meter);
        Some(ContextUsage::new(used, self.budget?))
    }

    /// Returns whether a request is above the trigger, and a pass over it was not in vain before.
    ///
    /// An append-only request is compressed only above the budget.
    fn is_due(&self, usage: &ContextUsage) -> bool {
        if self.is_append_only && usage.used_tokens <= usage.total_budget {
            return false;
        }
        let config = self.compression.as_ref().map(|compression| &compression.config);
        let is_above = |config: &RequestConfig| {
            with_budget(config, usage.total_budget).is_above_trigger(usage.used_tokens)
        };
        config.is_some_and(is_above) && !self.watch.is_hopeless()
    }

    fn pipeline(&self, config: RequestConfig) -> CompressionPipeline<'static> {
        let pipeline = CompressionPipeline::new(config).with_meter(self.meter.clone());
        let name = self.compression.as_ref().and_then(|compression| compression.strategy.as_deref());
        match name.and_then(strategy) {
            Some(strategy) => pipeline.with_strategy(strategy),
            None => pipeline,
        }
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

fn with_budget(config: &RequestConfig, token_budget: u64) -> RequestConfig {
    RequestConfig { token_budget, ..config.clone() }
}

/// Finds where begins what is being answered: nothing from there on is compressed while there is any way.
pub(super) fn turn_start(messages: &[Message]) -> usize {
    let is_said = |(_, message): &(usize, &Message)| message.place == Place::History;
    let (places, said): (Vec<usize>, Vec<&Message>) = messages.iter().enumerate().filter(is_said).unzip();
    places.get(pending_start(&said)).copied().unwrap_or(messages.len())
}

impl Running<'_, '_> {
    /// Looks at how large the next request is, and makes it smaller if it is time.
    pub(super) fn fit(&mut self) -> Result<(), Stop> {
        let Some(usage) = self.fit.usage(&self.messages) else { return Ok(()) };
        let is_due = self.fit.is_due(&usage);
        self.tell_usage(usage, if is_due { UsageLevel::Compressing } else { UsageLevel::of(&usage) });
        let Some(compression) = self.fit.compression.as_ref().filter(|_| is_due) else { return Ok(()) };
        let config = with_budget(&compression.config, usage.total_budget);
        if self.compress(config)?
            && let Some(usage) = self.fit.usage(&self.messages)
        {
            self.tell_usage(usage, UsageLevel::of(&usage));
        }
        Ok(())
    }

    /// Returns the tokens of the messages and tools of the next request.
    pub(super) fn tokens(&mut self) -> u64 {
        self.fit.watch.tokens(&self.messages, &self.fit.meter) + self.fit.tool_tokens
    }

    fn tell_usage(&mut self, usage: ContextUsage, level: UsageLevel) {
        self.end.usage = Some(usage);
        self.emit(TurnEvent::Usage { usage, level });
    }

    /// Makes the next request smaller; says whether it is.
    fn compress(&mut self, config: RequestConfig) -> Result<bool, Stop> {
        let compression = self.compression(config);
        self.take_compression(compression)
    }

    fn compression(&self, config: RequestConfig) -> Compression {
        let pipeline = self.fit.pipeline(config);
        pipeline.compress(&self.messages, Protection::CurrentLoop(self.loop_start))
    }

    /// Takes the messages of a compression, if they are smaller, and says whether they are.
    fn take_compression(&mut self, compression: Compression) -> Result<bool, Stop> {
        self.found(compression.report.diagnostics.clone());
        match &compression.report.outcome {
            PassOutcome::Compacted => {
                self.report_compression(&compression.messages);
                self.messages = compression.messages;
                self.drop_bound_reasoning();
                self.loop_start = compression.new_loop_start;
                self.fit.watch.forget();
                self.fit.is_compressed = true;
                self.emit(TurnEvent::Compressed(Box::new(compression.report)));
                return Ok(true);
            }
            PassOutcome::NotNeeded => {}
            PassOutcome::NoProgress { reason } => {
                self.fit.watch.note_no_progress();
                self.emit(TurnEvent::NotCompressed(reason.clone()));
            }
            PassOutcome::Infeasible(overflow) => {
                return Err(TurnFailure::TooLarge(overflow.clone()).into());
            }
        }
        Ok(false)
    }

    /// Removes reasoning that is bound to messages that a compression changed.
    fn drop_bound_reasoning(&mut self) {
        if !self.fit.is_append_only || !self.fit.binds_reasoning {
            return;
        }
        let mut decisions = Vec::new();
        for message in self.messages.iter_mut().filter(|message| message.reasoning.is_some()) {
            message.reasoning = None;
            let reason = phrase!("its reasoning is bound to text that changed");
            decisions.push(Decision::new(Outcome::Degraded, message.source.clone(), reason));
        }
        if let Some(report) = &mut self.end.report {
            report.decisions.append(&mut decisions);
        }
    }

    /// Corrects the report of an append-only request, which a compression changes.
    fn report_compression(&mut self, compressed: &[Message]) {
        if !self.fit.is_append_only {
            return;
        }
        let shared = self.messages.iter().zip(compressed).take_while(|(old, new)| old == new).count();
        let tokens = |messages: &[Message]| -> u64 {
            messages.iter().map(|message| self.fit.meter.message(message)).sum()
        };
        let (shared_tokens, all) = (tokens(&compressed[..shared]), tokens(compressed));
        let prefix = self.end.report.as_mut().and_then(|report| report.prefix.as_mut());
        if let Some(prefix) = prefix.filter(|prefix| prefix.messages > shared) {
            (prefix.messages, prefix.tokens) = (shared, shared_tokens);
            let reason = phrase!("the request was compressed");
            prefix.planned_break = Some(PlannedBreak { reason, tokens: all - shared_tokens });
        }
    }

    /// Marks the record of a compressed request as not repeatable.
    pub(super) async fn end_record(&mut self) -> Result<(), StoreError> {
        let Some(id) = self.recorded.clone().filter(|_| std::mem::take(&mut self.fit.is_compressed)) else {
            return Ok(());
        };
        let metadata = self.recorder.session().node(&id).and_then(|node| node.metadata.as_deref());
        let op = SentRecord::ended_by(RecordEnd::Compressed).to_op(&id, metadata);
        self.recorder.apply(StepLabel::KEEP_VARIABLES, op).await
    }

    /// The name under which is kept what is learned of the model of this turn.
    fn model_key(&self) -> String {
        let model = match self.chat.shape.model.as_str() {
            "" => self.chat.agent.model_name(&self.request.turn).unwrap_or_default(),
            model => model,
        };
        format!("{model}@{}", self.chat.model.server().unwrap_or_default())
    }

    /// Returns what was learned of the model in earlier turns.
    pub(super) fn learned(&self) -> Option<u64> {
        self.chat.limits?.of(&self.model_key())
    }

    /// After a request was too large for the provider: makes it smaller, once in a turn; else the turn ends.
    ///
    /// Where the provider says how large it may be, it is brought a tenth below that, since not all count as we do;
    /// else down to half of what it was. What was learned holds from then on; also for later turns if the smaller
    /// request is answered: some refusals say that it is the size, and it is not.
    pub(super) fn relieve(&mut self, failure: RequestFailure) -> Result<(), Stop> {
        let is_new = self.end.learned_budget.is_none() && self.fit.compression.is_some();
        if !failure.cause.is_overflow() || failure.partial.is_some() || !is_new {
            return Err(failure.into());
        }
        let used = self.fit.watch.tokens(&self.messages, &self.fit.meter);
        let figures = failure.cause.failure().and_then(Failure::overflow_figures).unwrap_or_default();
        let reserve = self.request.turn.reserve.map(u64::from);
        let (most, target) = match limit_of(used, figures, reserve) {
            Some(limit) => (limit, limit / 10 * 9),
            None => (used.saturating_sub(1), used / 2),
        };
        let compression = self.compression(RequestConfig::to_fit(target));
        if matches!(compression.report.outcome, PassOutcome::Compacted) {
            self.emit(TurnEvent::Overflowed);
        }
        match self.take_compression(compression) {
            Ok(true) => {}
            Ok(false) | Err(_) => return Err(failure.into()),
        }
        let most = least(Some(most), self.fit.budget);
        (self.end.learned_budget, self.fit.budget, self.fit.lesson) = (most, most, most);
        if let Some(usage) = self.fit.usage(&self.messages) {
            self.tell_usage(usage, UsageLevel::of(&usage));
        }
        Ok(())
    }

    /// Keeps what a refusal taught once the smaller request was answered; that it cannot be kept is no failure of the
    /// turn.
    pub(super) async fn learn(&mut self) {
        let Some(most) = self.fit.lesson.take() else { return };
        let model = self.model_key();
        if let Some(limits) = self.chat.limits {
            limits.learn(&model, most);
        }
        if let Err(error) = self.recorder.learn(model, most).await {
            tracing::warn!(%error, "cannot save the context window of a model");
        }
    }
}
