//! `request-compressor`: settled history in fewer tokens, before anything has to be dropped.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use ctx_compress::codes;
use ctx_compress::request::{CompressionPipeline, RequestConfig, STRATEGIES, repair, strategy};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Code, Message, Place, Session, phrase};

use crate::compression::{
    Beginning, CompressionRoom, KeptCompression, Settings, StageInput, fields, tell, tell_repairs,
};
use crate::costing::Costing;
use crate::gap_ranks::GapRanks;
use crate::token_limiter::TokenLimiter;
use crate::window::{LoadedWindow, StillCompressed};

/// Rewrites settled history where a request comes near its budget: layer B of compression.
///
/// Instructions, the preset, injections, pins, summaries and the pending turn stay as they are; what a placement
/// put at one of several points goes with the history around it. What was rewritten is left on the blackboard as
/// [`KeptCompression`] and stays the same in later turns that begin with it, until they come near the budget
/// themselves. Calls and results that do not pair are put right. What cannot be made to fit is left to the limiter.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestCompressor;

impl RequestCompressor {
    /// The id, by which settings and reports name the processor.
    pub const ID: &'static str = "request-compressor";
}

#[async_trait]
impl ContextProcessor for RequestCompressor {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            Self::ID,
            "Compression",
            "Compresses older messages when the request approaches its budget",
        )
        .with(|descriptor| {
            descriptor.priority = 390;
            descriptor.default_enabled = false;
            descriptor.config_fields = fields();
        })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(settings) = Settings::read(cx.config, cx.inputs.budget.available) else {
            cx.log(phrase!("no budget, nothing to compress"));
            return Ok(());
        };
        repair_pairs(cx);
        cx.checkpoint()?;
        let meter = Costing::of(cx).as_limiter(cx.config_of(TokenLimiter::ID)).meter();
        let pipeline = CompressionPipeline::new(settings.config.clone()).with_meter(meter);
        let pipeline = match strategy(&settings.strategy) {
            Some(strategy) => pipeline.with_strategy(strategy),
            None => pipeline,
        };
        let draft: Vec<Message> = cx.draft.messages().to_vec();
        let messages = marked(&draft, cx.inputs.session);
        let window = cx.blackboard.get::<LoadedWindow>().cloned().unwrap_or_default();
        let earlier = cx.blackboard.get::<KeptCompression>().cloned().unwrap_or_default();
        let beginning = earlier.beginning.clone().filter(|_| window.compressed > 0);
        let ranks = cx.blackboard.get::<GapRanks>().cloned().unwrap_or_default();
        // What has its place among messages that were not loaded stands otherwise beside a note.
        let is_displaced = |message| ranks.unloaded_gap(message, window.skipped).is_some_and(|gap| gap > 0);
        if beginning.is_some() && draft.iter().any(is_displaced) {
            return Ok(());
        }
        let fitted = StageInput {
            draft: &draft,
            messages: &messages,
            skipped: window.skipped,
            is_late: beginning.is_some(),
            ranks: &ranks,
            settings: &settings,
            pipeline: &pipeline,
            earlier: &earlier,
        }
        .fit();
        cx.checkpoint()?;
        let Some(mut outcome) = fitted else { return Ok(()) };
        tell(cx, &messages, &outcome, &settings, beginning.as_deref());
        if beginning.is_some() {
            cx.blackboard.insert(StillCompressed);
        }
        let find = || Beginning::find(cx, &messages, &outcome).map(Arc::new);
        outcome.kept.beginning = beginning.or_else(find);
        if outcome.kept.is_set() {
            let tokens = trigger(&settings).saturating_sub(outcome.tokens);
            cx.blackboard.insert(CompressionRoom { tokens });
        }
        cx.blackboard.insert(outcome.kept);
        let is_same = |(after, before): (&Message, &Message)| after.is_shared_with(before);
        if outcome.messages.len() != draft.len() || !outcome.messages.iter().zip(&draft).all(is_same) {
            cx.draft.set_messages(outcome.messages);
        }
        Ok(())
    }
}

/// Compresses a running turn that alone is more than `available` tokens, with the history before it.
///
/// The older tool rounds become previews or a digest, whether the processor is on or off: the alternative is an error.
/// The user's message and the newest 2 rounds stay as they are.
pub(crate) fn compact_running_turn(cx: &mut PipelineContext<'_>, available: u32) {
    let config = RequestConfig::to_fit(u64::from(available));
    let settings = Settings { config: config.clone(), strategy: STRATEGIES[0].to_owned() };
    let meter = Costing::of(cx).as_limiter(Some(cx.config)).meter();
    let draft: Vec<Message> = cx.draft.messages().to_vec();
    let messages = marked(&draft, cx.inputs.session);
    let outcome = StageInput {
        draft: &draft,
        messages: &messages,
        skipped: cx.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped),
        is_late: false,
        ranks: &cx.blackboard.get::<GapRanks>().cloned().unwrap_or_default(),
        settings: &settings,
        pipeline: &CompressionPipeline::new(config).with_meter(meter),
        earlier: &KeptCompression::default(),
    }
    .fit();
    let Some(mut outcome) = outcome else { return };
    // The limiter leaves calls and results as they are; the linter reports those that do not pair.
    outcome.diagnostics.retain(|found| !REPAIRS.contains(&found.code));
    tell(cx, &messages, &outcome, &settings, None);
    cx.draft.set_messages(outcome.messages);
}

/// What is reported of calls and results that do not pair.
const REPAIRS: [Code; 4] =
    [codes::UNANSWERED_CALL, codes::ORPHAN_RESULT, codes::DUPLICATE_RESULT, codes::LATE_RESULT];

/// Returns at how many tokens compression begins.
fn trigger(settings: &Settings) -> u64 {
    let config = &settings.config;
    RequestConfig { target_usage: config.trigger_threshold, ..config.clone() }.target()
}

/// Puts calls and results right that do not pair, and tells of it.
fn repair_pairs(cx: &mut PipelineContext<'_>) {
    let Some(repaired) = repair(cx.draft.messages()) else { return };
    let given = cx.draft.take_messages();
    tell_repairs(cx, &given, &repaired);
    cx.draft.repair_pairs(repaired.messages);
}

/// Returns messages as pinned if their nodes in the conversation's file are.
fn marked<'a>(draft: &'a [Message], session: &Session) -> Cow<'a, [Message]> {
    let nodes = session.sent_pinned().iter().filter_map(|at| session.sent_node(*at));
    let pinned: BTreeSet<&str> = nodes.map(|(id, _)| &**id).collect();
    if pinned.is_empty() {
        return Cow::Borrowed(draft);
    }
    let is_pinned = |message: &Message| {
        message.place == Place::History && message.source.id.as_deref().is_some_and(|id| pinned.contains(id))
    };
    let mark = |message: &Message| match is_pinned(message) {
        true => message.clone().with(|message| message.place = Place::Pinned),
        false => message.clone(),
    };
    draft.iter().map(mark).collect()
}
