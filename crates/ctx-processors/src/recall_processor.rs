//! `recall`: brings back what the conversation says about what is asked, where the request does not have it.

use std::collections::BTreeSet;

use async_trait::async_trait;
use ctx_compress::recall::{RecallRequest, Recalled, RecalledPiece, recall};
use ctx_compress::request::Meter;
use ctx_pipeline::{Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_tokens::MAX_TOKENS;
use ctx_types::{
    Decision, LogLine, Message, Outcome, Phrase, Place, Role, SourceKind, TokenFigure, count_of, phrase,
};

use crate::compression::CompressionRoom;
use crate::costing::Costing;
use crate::kept_recall::{KeptRecall, PathRecall};
use crate::token_limiter::Units;

/// Searches the active path with what is being asked, and writes what fits it best into one message.
///
/// What the request has already is not written again; what is dropped, not loaded, or stands behind a summary is
/// found, what is switched off is not. Each line is a decision with its reason and knows where its bytes came from.
/// The same question over the same conversation gives the same bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecallProcessor;

impl RecallProcessor {
    /// The id, by which settings and reports name the processor.
    pub const ID: &'static str = "recall";
}

const SHARE: &str = "share";
const MOST: &str = "maxTokens";
const ROLE: &str = "role";
const POSITION: &str = "position";
const BEFORE_INPUT: &str = "before_input";
const POSITIONS: [(&str, &str); 2] =
    [(BEFORE_INPUT, "Before the last message of the user"), ("before_history", "Before the conversation")];
const ROLES: [(&str, &str); 3] = [("system", "System"), ("user", "User"), ("assistant", "Model")];

/// How many tokens it may have where nothing limits the request and nothing is set.
const WITHOUT_BUDGET: u64 = 2_000;

#[async_trait]
impl ContextProcessor for RecallProcessor {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            Self::ID,
            "Recall",
            "Brings back what the conversation says about what is asked, where the request does not have it",
        )
        .with(|descriptor| {
            descriptor.priority = 395;
            descriptor.default_enabled = false;
            descriptor.config_fields = vec![
                ConfigField::share(SHARE, "Share of the budget that it may have", 0.1)
                    .with_description("Where compression left more room below its trigger, it may have that"),
                ConfigField::whole(MOST, "Tokens that it may have at the most", 0)
                    .between(0.0, f64::from(MAX_TOKENS))
                    .with_description("0 means what the share says"),
                ConfigField::select(POSITION, "Where it stands", &POSITIONS),
                ConfigField::select(ROLE, "Who speaks it", &ROLES),
            ];
        })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let question = Question::of(cx.draft.messages());
        let parts = question.parts();
        if parts.is_empty() {
            cx.log(phrase!("nothing is asked: nothing is recalled"));
            return Ok(());
        }
        let room = Room::of(cx);
        if room.most == 0 {
            cx.log(phrase!("no room: nothing is recalled"));
            return Ok(());
        }
        let kept = cx.blackboard.get::<KeptRecall>().cloned().unwrap_or_default();
        let recalled = {
            let path = kept.follow(cx.inputs.session);
            cx.checkpoint()?;
            fitted(cx, &path, &question, &room)
        };
        cx.checkpoint()?;
        let Some(recalled) = recalled else {
            cx.log(phrase!("nothing that fits what is asked is missing from the request"));
            return Ok(());
        };
        cx.draft.decide_all(recalled.pieces.iter().map(decision));
        let lines = count_of!(recalled.pieces.len(), "line");
        cx.log(LogLine::info(phrase!(
            "{lines} recalled, {tokens}",
            lines,
            tokens = TokenFigure::Exact(recalled.tokens)
        )));
        let at = place(cx.draft.messages(), cx.config);
        let message = recalled.message.with(|message| message.place = Place::Gap { multiple: false });
        cx.draft.messages_mut().insert(at, message);
        Ok(())
    }
}

/// What is being asked.
#[derive(Debug, Default)]
struct Question {
    /// What the user said last, and the newest results of a running tool loop.
    now: Vec<String>,
    /// The two messages before that.
    before: Vec<String>,
}

impl Question {
    /// How much the messages before the question count, in hundredths.
    const BEFORE: u64 = 33;

    fn of(messages: &[Message]) -> Self {
        let said: Vec<&Message> = messages.iter().filter(|message| is_said(message)).collect();
        let Some(last) = said.iter().rposition(|message| message.role == Role::User) else {
            return Self::default();
        };
        let text = |message: &&&Message| message.text().into_owned();
        let (before, now) = said.split_at(last);
        let results = now.iter().rev().take_while(|message| message.role == Role::Tool);
        let mut asked: Vec<String> = now.first().iter().map(&text).collect();
        asked.extend(results.map(|message| text(&message)));
        Self { now: asked, before: before.iter().rev().take(2).map(|message| text(&message)).collect() }
    }

    fn parts(&self) -> Vec<(&str, u64)> {
        let now = self.now.iter().map(|text| (text.as_str(), 100));
        let before = self.before.iter().map(|text| (text.as_str(), Self::BEFORE));
        match self.now.iter().all(|text| text.trim().is_empty()) {
            true => Vec::new(),
            false => now.chain(before).collect(),
        }
    }
}

fn is_said(message: &Message) -> bool {
    message.place == Place::History
        && (message.source.kind.is_history() || message.source.kind == SourceKind::Input)
        && message.source.kind != SourceKind::Summary
}

/// How many tokens may be used.
struct Room {
    /// By the message itself.
    most: u64,
    /// By all messages; none if nothing limits them.
    available: Option<u64>,
}

impl Room {
    fn of(cx: &PipelineContext<'_>) -> Self {
        let set = Some(cx.config.count(MOST) as u64).filter(|most| *most > 0);
        let Some(available) = cx.inputs.budget.available.map(u64::from) else {
            return Self { most: set.unwrap_or(WITHOUT_BUDGET), available: None };
        };
        let left = cx.blackboard.get::<CompressionRoom>().map_or(0, |room| room.tokens);
        let share = share(available, cx.config).max(left);
        let safe = Units::of(cx.draft.messages());
        let costing = Costing { model: cx.inputs.model, counter: cx.inputs.counter };
        let mut messages = cx.draft.messages().iter().enumerate().filter(|(at, _)| !safe.has(*at));
        let fixed = messages.try_fold(available, |left, (_, message)| costing.take(message, left));
        Self {
            most: set.map_or(share, |set| set.min(share)).min(fixed.unwrap_or(0)),
            available: Some(available),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of tokens are far below 2^53, and a share is between 0 and 1"
)]
fn share(available: u64, config: &Config) -> u64 {
    (available as f64 * config.number(SHARE).clamp(0.0, 1.0)).floor() as u64
}

/// Writes what is not held, such that it stays so: the fewer tokens it has, the more messages the limiter keeps.
fn fitted(
    cx: &PipelineContext<'_>,
    path: &PathRecall<'_>,
    question: &Question,
    room: &Room,
) -> Option<Recalled> {
    /// How often what turned out to be held is taken out again.
    const ATTEMPTS: usize = 8;
    let meter = Meter::lent(cx.inputs.model, cx.inputs.counter);
    let index = path.index();
    let asked = question.now.join("\n");
    // What was said before says nothing by itself.
    let hits = if index.knows(&asked) { index.search(&question.parts()) } else { Vec::new() };
    let write = |held: &BTreeSet<&str>, most: u64| {
        let is_held = |at: usize| path.id(at).is_none_or(|id| held.contains(id));
        recall(&RecallRequest {
            hits: &hits,
            index,
            message: &|at| path.message(cx.inputs.session, at),
            is_held: &is_held,
            question: &asked,
            room: most,
            role: Role::parse(cx.config.text(ROLE)).unwrap_or(Role::System),
            meter: &meter,
        })
    };
    let mut tokens = room.most;
    for _ in 0..ATTEMPTS {
        let held = held(cx, room.available, tokens);
        let recalled = write(&held, tokens)?;
        let after = self::held(cx, room.available, recalled.tokens);
        let is_twice = |piece: &RecalledPiece| path.id(piece.message).is_some_and(|id| after.contains(id));
        if !recalled.pieces.iter().any(is_twice) {
            return Some(recalled);
        }
        tokens = recalled.tokens;
    }
    write(&held(cx, room.available, 0), room.most)
}

/// Returns the ids of messages of the conversation that are sent where so many tokens are taken by something else.
fn held<'a>(cx: &'a PipelineContext<'_>, available: Option<u64>, taken: u64) -> BTreeSet<&'a str> {
    let messages = cx.draft.messages();
    let units = Units::of(messages);
    let costing = Costing { model: cx.inputs.model, counter: cx.inputs.counter };
    let mut left = available.map_or(Some(u64::MAX), |available| available.checked_sub(taken));
    for (_, message) in messages.iter().enumerate().filter(|(at, _)| !units.has(*at)) {
        left = left.and_then(|left| costing.take(message, left));
    }
    let mut first = units.len();
    while let Some(rest) = first.checked_sub(1).and_then(|unit| {
        let mut members = units.members(unit).filter_map(|at| messages.get(at));
        members.try_fold(left?, |left, message| costing.take(message, left))
    }) {
        left = Some(rest);
        first -= 1;
    }
    let gone = units.end(first);
    let is_sent = |at: usize| at >= gone || !units.has(at);
    let sent =
        messages.iter().enumerate().filter(|(at, message)| is_sent(*at) && message.source.kind.is_history());
    sent.filter_map(|(_, message)| message.source.id.as_deref()).collect()
}

/// Returns where the message is put.
fn place(messages: &[Message], config: &Config) -> usize {
    let is_said = |message: &Message| is_said(message);
    let input = messages.iter().rposition(|message| is_said(message) && message.role == Role::User);
    let first = messages.iter().position(is_said);
    let place = if config.text(POSITION) == BEFORE_INPUT { input } else { first };
    place.unwrap_or(messages.len())
}

/// Says why a line was recalled.
fn decision(piece: &RecalledPiece) -> Decision {
    let ago = count_of!(piece.ago, "message");
    let reason: Phrase = if piece.words.is_empty() {
        phrase!("recalled: it stands beside what was asked about, {ago} ago", ago)
    } else {
        let words = piece.words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        phrase!("recalled: {words} in it, {ago} ago", words, ago)
    };
    Decision::new(Outcome::Kept, piece.source.clone(), reason)
}
