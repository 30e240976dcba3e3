use std::borrow::Cow;
use std::collections::BTreeSet;

use ctx_compress::codes;
use ctx_compress::request::{CompressionPipeline, RequestConfig, STRATEGIES, repair, strategy};
use ctx_pipeline::{PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::session::Session;
use ctx_types::{Code, Message, Place, phrase};

use crate::append_only::AppendOnly;
use crate::compression::{
    CompressionBudget, CompressionCache, CompressionInput, CompressionResult, CompressionSettings, Settings,
    report_outcome, report_repairs,
};
use crate::internal::ids;
use crate::message_costs::MessageCosts;
use crate::window::LoadedWindow;

/// Compresses older history when a request approaches its budget.
///
/// System messages, the preset, injections, pinned messages, summaries, and the pending turn stay unchanged.
/// An injection with several depths goes with the history around it. Unpaired tool calls and results are
/// repaired. The limiter handles the rest.
///
/// The result is left on the blackboard as [`CompressionCache`]. Later turns with the same prefix reuse it
/// until they approach the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestCompressor;

impl TypedProcessor for RequestCompressor {
    type Prepared = CompressionSettings;

    describe!(
        390,
        ids::REQUEST_COMPRESSOR,
        "Request compression",
        "Compresses older messages when the request approaches its budget",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompressionSettings {
        CompressionSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &CompressionSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        if cx.blackboard.get::<AppendOnly>().is_some_and(AppendOnly::has_prefix) {
            cx.log(phrase!("nothing to compress: the request continues the previous one"));
            return Ok(());
        }
        let Some(settings) = settings.for_budget(cx.inputs.budget.available) else {
            cx.log(phrase!("no budget, nothing to compress"));
            return Ok(());
        };
        repair_pairs(cx);
        cx.checkpoint()?;
        let meter = MessageCosts::as_limiter(cx).meter();
        let pipeline = CompressionPipeline::new(settings.config.clone()).with_meter(meter);
        let pipeline = match strategy(&settings.strategy) {
            Some(strategy) => pipeline.with_strategy(strategy),
            None => pipeline,
        };
        let earlier = cx.blackboard.get::<CompressionCache>().cloned().unwrap_or_default();
        let draft: Vec<Message> = cx.draft.messages().to_vec();
        let messages = mark_pinned(&draft, cx.inputs.session);
        let result = fit(cx, &messages, &settings, &pipeline, &earlier);
        cx.checkpoint()?;
        report_outcome(cx, &messages, &result, &settings);
        if result.cache.is_set() {
            let tokens = trigger(&settings).saturating_sub(result.tokens);
            cx.blackboard.insert(CompressionBudget { tokens });
        }
        cx.blackboard.insert(result.cache);
        let is_same = |(after, before): (&Message, &Message)| after.is_shared_with(before);
        if result.messages.len() != draft.len() || !result.messages.iter().zip(&draft).all(is_same) {
            cx.draft.set_messages(result.messages);
        }
        Ok(())
    }
}

/// Compresses a running turn that exceeds `available` tokens, and the history before it.
///
/// Older tool rounds become previews or a digest, even if the processor is disabled: the alternative is an
/// error. The user's message and the newest 2 rounds stay unchanged.
pub(crate) fn compact_running_turn(cx: &mut PipelineContext<'_>, available: u32) {
    let config = RequestConfig::to_fit(u64::from(available));
    let settings = Settings { config: config.clone(), strategy: STRATEGIES[0].to_owned() };
    let meter = MessageCosts::as_limiter(cx).meter();
    let draft: Vec<Message> = cx.draft.messages().to_vec();
    let messages = mark_pinned(&draft, cx.inputs.session);
    let pipeline = CompressionPipeline::new(config).with_meter(meter);
    let mut result = fit(cx, &messages, &settings, &pipeline, &CompressionCache::default());
    // The limiter does not repair tool calls; the linter reports unpaired ones.
    result.diagnostics.retain(|found| !REPAIRS.contains(&found.code));
    report_outcome(cx, &messages, &result, &settings);
    cx.draft.set_messages(result.messages);
}

fn fit(
    cx: &PipelineContext<'_>,
    messages: &[Message],
    settings: &Settings,
    pipeline: &CompressionPipeline<'_>,
    earlier: &CompressionCache,
) -> CompressionResult {
    let skipped = cx.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped);
    CompressionInput { draft: cx.draft.messages(), messages, skipped, settings, pipeline, earlier }.fit()
}

const REPAIRS: [Code; 4] =
    [codes::UNANSWERED_CALL, codes::ORPHAN_RESULT, codes::DUPLICATE_RESULT, codes::LATE_RESULT];

fn trigger(settings: &Settings) -> u64 {
    let config = &settings.config;
    RequestConfig { target_usage: config.trigger_threshold, ..config.clone() }.target()
}

fn repair_pairs(cx: &mut PipelineContext<'_>) {
    let Some(repaired) = repair(cx.draft.messages()) else { return };
    let given = cx.draft.take_messages();
    report_repairs(cx, &given, &repaired);
    cx.draft.repair_pairs(repaired.messages);
}

fn mark_pinned<'a>(draft: &'a [Message], session: &Session) -> Cow<'a, [Message]> {
    let nodes = session.sent_pinned().iter().filter_map(|at| session.sent_node(*at));
    let pinned: BTreeSet<&str> = nodes.map(|(id, _)| &**id).collect();
    if pinned.is_empty() {
        return Cow::Borrowed(draft);
    }
    let is_pinned = |message: &Message| {
        message.place == Place::History && message.source.id.as_deref().is_some_and(|id| pinned.contains(id))
    };
    let mark = |message: &Message| {
        if is_pinned(message) {
            message.clone().with(|message| message.place = Place::Pinned)
        } else {
            message.clone()
        }
    };
    draft.iter().map(mark).collect()
}
