//! Invariants of compressed requests, for any conversation; tests name them by number.
//!
//! Each is a property test over the generator in `generate.rs`, 1,000 cases each; `cargo xtask properties` tries more.
//!
//! | number | invariant | test |
//! |---|---|---|
//! | 1 | calls and results pair, groups are whole or absent, repairs are reported | `pairing::*` |
//! | 2 | the result is a subsequence of the request | `order::*` |
//! | 3 | what is protected stays byte for byte | `protection::*` |
//! | 4 | never more than the budget, or the outcome says what is in the way | `budget::*` |
//! | 3, 4 | what must stay is shortened in a fixed order before that | `relief::*` |
//! | 5 | at or below the trigger nothing changes | `progress::at_or_below_the_trigger_nothing_changes` |
//! | 6 | what is compressed is smaller, and the figures agree | `progress::what_is_compressed_is_smaller_and_the_report_agrees` |
//! | 7 | a pass over the result changes nothing | `progress::a_second_pass_changes_nothing`, `progress::repeated_passes_come_to_rest` |
//! | 8 | more budget keeps more | `monotony::*` |
//! | 9 | the same input gives the same bytes | `determinism::*` |
//! | 10 | a running loop stays as it is | `running_loop::*` |
//! | 11 | the last resort keeps the last rounds, each whole | `rounds::*` |
//! | 12 | what messages cost adds up | `measure::*` |
//! | | a line of a note names what it was made from | `notes::*` |
//! | | a plan says of each group what becomes of it and why | `plans::*` |
//!
//! Invariants 13 to 21, about masks, are in `tests/mask/`; 22 to 26 are about conversations that are stored and chatted
//! in, which this crate does not do.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken expectation is a failed test")]

mod budget;
mod determinism;
mod generate;
mod measure;
mod monotony;
mod notes;
mod order;
mod pairing;
mod plans;
mod progress;
mod protection;
mod relief;
mod rounds;
mod running_loop;

use std::rc::Rc;
use std::sync::Arc;

use ctx_compress::request::{
    Compression, CompressionPipeline, Meter, PassOutcome, Protection, RequestConfig, is_summary, repair,
    strategy,
};
use ctx_tokens::ModelFacts;
use ctx_types::ports::TokenCounter;
use ctx_types::{EncodingId, Message, Place};
use proptest::prelude::*;

/// How many requests each rule is tried on; `PROPTEST_CASES` asks for more.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(1_000), failure_persistence: None, ..default }
}

/// How a pass is made; all that decides beside the messages.
#[derive(Clone, Copy, Debug)]
struct Setting {
    strategy: &'static str,
    /// The budget as a share of what the request has, in hundredths.
    budget: u64,
    /// Trigger and target as shares of the budget, in hundredths.
    trigger: u64,
    target: u64,
    min_recent: usize,
    min_saving: u64,
    tail: u64,
    protection: Protection,
    /// By what is counted: the estimate, or something that finds more or fewer tokens.
    counting: u8,
}

fn settings() -> impl Strategy<Value = Setting> {
    let protection = prop_oneof![
        Just(Protection::PendingTurn),
        Just(Protection::LastUserMessage),
        (0_usize..40).prop_map(Protection::CurrentLoop),
    ];
    let shares = (2_u64..130, 0_u64..=100, 0_u64..=100, 0_u64..40, 0_u64..60);
    (shares, 0_usize..14, any::<prop::sample::Index>(), protection, 0_u8..6).prop_map(
        |((budget, trigger, target, min_saving, tail), min_recent, named, protection, counting)| Setting {
            strategy: ctx_compress::request::STRATEGIES[named.index(4)],
            budget,
            trigger,
            target: target.min(trigger),
            min_recent,
            min_saving,
            tail,
            protection,
            counting,
        },
    )
}

/// Settings as hosts have them: the defaults, and only the budget differs.
fn usual_settings() -> impl Strategy<Value = Setting> {
    settings().prop_map(|setting| Setting {
        trigger: 80,
        target: 50,
        min_recent: 10,
        min_saving: 5,
        tail: 20,
        ..setting
    })
}

impl Setting {
    fn meter(&self) -> Meter<'static> {
        match self.counting {
            0..=3 => Meter::estimate(),
            4 => Meter::for_model(Arc::new(ModelFacts::unknown("m")), Arc::new(Letters)),
            _ => Meter::for_model(Arc::new(ModelFacts::unknown("m")), Arc::new(Words)),
        }
    }

    fn pipeline(&self, messages: &[Message]) -> CompressionPipeline<'static> {
        let hundredths = |share: u64| f64::from(u32::try_from(share).unwrap()) / 100.0;
        let config = RequestConfig {
            token_budget: self.meter().messages(messages) * self.budget / 100,
            trigger_threshold: hundredths(self.trigger),
            target_usage: hundredths(self.target),
            min_recent_messages: self.min_recent,
            min_saving: hundredths(self.min_saving),
            tail_share: hundredths(self.tail),
            ..RequestConfig::default()
        };
        let pipeline = CompressionPipeline::new(config).with_meter(self.meter());
        pipeline.with_strategy(strategy(self.strategy).unwrap())
    }
}

/// Counts letters: more tokens than the estimate.
struct Letters;

impl TokenCounter for Letters {
    fn encoding(&self) -> EncodingId {
        EncodingId(901)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.chars().count()).unwrap()
    }
}

/// Counts words: fewer tokens than the estimate.
struct Words;

impl TokenCounter for Words {
    fn encoding(&self) -> EncodingId {
        EncodingId(902)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.split_whitespace().count()).unwrap()
    }
}

/// A pass with everything that it was made from.
struct Pass {
    /// The request, calls and results paired.
    given: Vec<Message>,
    pipeline: Rc<CompressionPipeline<'static>>,
    protection: Protection,
    done: Compression,
}

impl Pass {
    fn of(messages: &[Message], setting: Setting) -> Self {
        Self::by(setting.pipeline(messages).into(), messages, setting.protection)
    }

    fn by(pipeline: Rc<CompressionPipeline<'static>>, messages: &[Message], protection: Protection) -> Self {
        let done = pipeline.compress(messages, protection);
        Self { given: paired(messages), pipeline, protection, done }
    }

    /// Makes the same pass over the result.
    fn again(&self) -> Self {
        let protection = match self.protection {
            Protection::CurrentLoop(_) => Protection::CurrentLoop(self.done.new_loop_start),
            other => other,
        };
        Self::by(self.pipeline.clone(), &self.done.messages, protection)
    }

    fn is_compacted(&self) -> bool {
        self.done.report.outcome == PassOutcome::Compacted
    }

    fn tokens(&self, messages: &[Message]) -> u64 {
        self.pipeline.meter().messages(messages)
    }

    /// Pairs each message of the result with the one of the request that it is; notes are none.
    fn sources(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let mut source = |message: &Message| {
            let place = self.given.iter().skip(next).position(|given| is_the_same_message(given, message))?;
            next += place + 1;
            Some(next - 1)
        };
        self.done.messages.iter().map(&mut source).collect()
    }
}

/// Returns whether a message is one of the request, at most shorter.
fn is_the_same_message(given: &Message, now: &Message) -> bool {
    given.source == now.source
        && given.role == now.role
        && given.place == now.place
        && given.tool_calls == now.tool_calls
        && given.tool_call_id == now.tool_call_id
}

/// Returns whether a message is somebody's turn: not placed, and no note or summary of turns, whoever speaks that.
fn is_turn(message: &Message) -> bool {
    message.place == Place::History && message.note.is_none() && !is_summary(message)
}

/// Returns a request with calls and results that pair.
fn paired(messages: &[Message]) -> Vec<Message> {
    repair(messages).map_or_else(|| messages.to_vec(), |repaired| repaired.messages)
}
