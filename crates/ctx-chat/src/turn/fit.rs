//! Keeping requests small: usage at each safe point, compression where it is too much.

use std::sync::Arc;

use ctx_compress::request::{
    CompressionPipeline, ContextUsage, Meter, PassOutcome, Protection, RequestConfig, UsageWatch, strategy,
};
use ctx_engine::Context;
use ctx_types::{Message, Place, pending_start};

use crate::model::AskFailure;
use crate::turn::outcome::{Stop, TurnFailure};
use crate::turn::{RequestCompression, Running, TurnEvent, UsageLevel};

/// What a request may cost, and what is done about it.
#[derive(Debug, Default)]
pub(super) struct Fit {
    meter: Meter<'static>,
    watch: UsageWatch,
    budget: Option<u64>,
    compression: Option<RequestCompression>,
}

impl Fit {
    pub(super) fn new(compression: Option<&RequestCompression>, context: &Context) -> Self {
        let allowed = context.report.usage.as_ref().and_then(|usage| usage.available).map(u64::from);
        Self {
            meter: Meter::for_model(Arc::new(context.model().clone()), Arc::new(context.counter())),
            watch: UsageWatch::default(),
            budget: compression.and_then(|compression| compression.token_budget).or(allowed),
            compression: compression.cloned(),
        }
    }

    fn usage(&mut self, messages: &[Message]) -> Option<ContextUsage> {
        let used = self.watch.tokens(messages, &self.meter);
        Some(ContextUsage::new(used, self.budget?))
    }

    /// Tells whether a request is above the trigger, and a pass over it was not in vain before.
    fn is_due(&self, usage: &ContextUsage) -> bool {
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

    fn tell_usage(&mut self, usage: ContextUsage, level: UsageLevel) {
        self.end.usage = Some(usage);
        self.emit(TurnEvent::Usage { usage, level });
    }

    /// Makes the next request smaller; says whether it is.
    fn compress(&mut self, config: RequestConfig) -> Result<bool, Stop> {
        let pipeline = self.fit.pipeline(config);
        let compression = pipeline.compress(&self.messages, Protection::CurrentLoop(self.loop_start));
        self.found(compression.report.diagnostics.clone());
        match &compression.report.outcome {
            PassOutcome::Compacted => {
                self.messages = compression.messages;
                self.loop_start = compression.new_loop_start;
                self.fit.watch.forget();
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

    /// After a request was too large for the provider: makes it smaller, once in a turn; else the turn ends.
    ///
    /// Providers count otherwise than we do and do not all say what their window is. So what was too large is
    /// brought down to half of what it was, and from then on it is the most that a request may have.
    pub(super) fn relieve(&mut self, failure: AskFailure) -> Result<(), Stop> {
        let is_new = self.end.learned_budget.is_none() && self.fit.compression.is_some();
        if !failure.cause.is_overflow() || failure.partial.is_some() || !is_new {
            return Err(failure.into());
        }
        self.emit(TurnEvent::Overflowed);
        let used = self.fit.watch.tokens(&self.messages, &self.fit.meter);
        let most = self.fit.budget.map_or(used, |budget| budget.min(used)).saturating_sub(1);
        self.end.learned_budget = Some(most);
        self.fit.budget = Some(most);
        match self.compress(RequestConfig::to_fit(most / 2)) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(failure.into()),
        }
    }
}
