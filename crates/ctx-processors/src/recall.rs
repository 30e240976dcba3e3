mod cache;
mod meaning;
mod question;
mod sent_messages;

use std::collections::HashSet;

use ctx_compress::recall::{Noted, RecallAnswer, RecallRequest, RecalledPiece, SearchResult, joined};
use ctx_compress::request::Meter;
use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_tokens::internal::MAX_TOKENS;
use ctx_types::internal::{Argument, Divider, JoinRule};
use ctx_types::report::{Decision, Outcome, TokenFigure};
use ctx_types::session::LogLine;
use ctx_types::{Content, Message, Phrase, Place, Role, count_of, phrase};

use crate::append_only::{AppendOnly, before_reply};
use crate::compression::CompressionBudget;
use crate::internal::ids;
pub use crate::recall::cache::RecallCache;
use crate::recall::cache::{BranchIndex, TurnPath};
use crate::recall::question::{Question, is_said};
use crate::recall::sent_messages::SentMessages;
use crate::settings::ROLES;

/// Searches the active branch for the current question, and inserts the best matches in one message.
///
/// Finds dropped, unloaded, and summarized messages, but not disabled ones. Skips text that the request
/// already contains. Each line has a decision with the reason, and every byte has a source. The result is
/// deterministic. If the host has an [`Embedder`](ctx_types::ports::Embedder), its ranking is combined with the word
/// search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecallProcessor;

settings! {
    pub(crate) RecallSettings {
        share: f64 = ConfigField::share("share", "Share of the budget", 0.1)
            .with_description("May also use tokens that compression freed below its trigger"),
        max_tokens: u64 = ConfigField::integer("maxTokens", "Token limit", 0)
            .between(0.0, f64::from(MAX_TOKENS))
            .with_description("0: only the share applies"),
        is_before_history: bool = ConfigField::select("position", "Position", &[
            ("before_input", "Before the last user message"),
            ("before_history", "Before the conversation"),
        ]),
        role: Role = ConfigField::select("role", "Message role", ROLES),
        searches_branches: bool = ConfigField::boolean("branches", "Search other branches", false)
            .with_description("reads all messages of the conversation each turn"),
    }
}

/// Token limit if neither the request nor the settings have one.
const WITHOUT_BUDGET: u64 = 2_000;

impl TypedProcessor for RecallProcessor {
    type Prepared = RecallSettings;

    describe!(
        395,
        ids::RECALL,
        "Recall",
        "Recalls passages related to the question that the request no longer contains",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> RecallSettings {
        RecallSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &RecallSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let question = Question::from_messages(cx.draft.messages());
        let parts = question.parts();
        if parts.is_empty() {
            cx.log(phrase!("nothing to recall: no question in this turn"));
            return Ok(());
        }
        let kept = cx.blackboard.get::<RecallCache>().cloned().unwrap_or_default();
        let path = TurnPath::new(&kept, cx.inputs.session, settings.searches_branches);
        let found = {
            let followed = path.index();
            followed.index().findings().into_iter().for_each(|finding| cx.report(finding));
            followed.index().search(&parts)
        };
        let near = meaning::rank_by_meaning(cx, &path, &question.now()).await?;
        cx.checkpoint()?;
        let found = if near.is_empty() { found } else { joined(found, &near) };
        let answer = match found.why_nothing() {
            // Skips token counting.
            Some(why) => RecallAnswer::Nothing(why),
            None => build_answer(cx, settings, &path.index(), &found),
        };
        cx.checkpoint()?;
        let recalled = match answer {
            RecallAnswer::Recalled(recalled) => recalled,
            RecallAnswer::Nothing(why) => {
                cx.log(why);
                return Ok(());
            }
        };
        cx.draft.decide_all(recalled.pieces.iter().map(decision));
        let lines = count_of!(recalled.pieces.len(), "line");
        cx.log(LogLine::info(phrase!(
            "{lines} recalled, {tokens}",
            lines,
            tokens = TokenFigure::Exact(recalled.tokens)
        )));
        let append_only = cx.blackboard.get::<AppendOnly>();
        let has_prefix = append_only.is_some_and(AppendOnly::has_prefix);
        let mut at = place(cx.draft.messages(), settings.is_before_history && !has_prefix);
        let mut message = recalled.message.with(|message| message.place = Place::Gap { multiple: false });
        if append_only.is_some_and(AppendOnly::is_stateless) && message.role.is_instruction() {
            at = before_reply(cx.draft.messages());
            message.join_rule = JoinRule::None;
        }
        cx.draft.messages_mut().insert(at, message);
        Ok(())
    }
}

/// A longer recall message makes the limiter drop more messages. Recalled passages must not be sent twice.
fn build_answer(
    cx: &PipelineContext<'_>,
    settings: &RecallSettings,
    path: &BranchIndex<'_>,
    found: &SearchResult,
) -> RecallAnswer {
    let (sent, noted) = (SentMessages::new(cx), Noted::of(cx.draft.messages()));
    let append_only = cx.blackboard.get::<AppendOnly>();
    let recalled = recalled_lines(append_only.map(AppendOnly::sent_messages).unwrap_or_default());
    let earlier = Noted::of(append_only.map(AppendOnly::sent_messages).unwrap_or_default());
    let is_noted = |at: usize, line: &str, taken: u64| {
        let is_earlier =
            |id: &str| recalled.contains(&(id, line.trim())) || earlier.having(id, line).next().is_some();
        if path.id(at).is_some_and(is_earlier) {
            return true;
        }
        let notes = path.id(at).into_iter().flat_map(|id| noted.having(id, line));
        notes.filter_map(|note| note.source.id.as_deref()).any(|note| sent.has(note, taken))
    };
    let request = RecallRequest {
        found,
        index: path.index(),
        message: &|at| path.message(cx.inputs.session, at),
        is_held: &|at, taken| {
            let is_sent = |id: &str| append_only.is_some_and(|earlier| earlier.has_sent(id));
            path.id(at).is_none_or(|id| is_sent(id) || sent.has(id, taken))
        },
        is_noted: &is_noted,
        others: path.others(),
        room: most(cx, settings, &sent),
        role: settings.role,
        meter: &Meter::lent(cx.inputs.model, cx.inputs.counter),
    };
    RecallAnswer::of(&request)
}

/// Returns the recalled lines of messages, with the messages that they are from.
fn recalled_lines(messages: &[Message]) -> HashSet<(&str, &str)> {
    let lines = messages.iter().flat_map(|message| {
        let text = match &message.content {
            Content::Text(text) => text.as_str(),
            Content::Parts(_) => "",
        };
        message.written.iter().filter_map(move |segment| {
            let is_recalled = segment.source.id.as_deref().is_some_and(|id| id.starts_with("recall-"));
            let id = segment.via.first().filter(|_| is_recalled)?.id.as_deref()?;
            Some((id, text.get(segment.span.start..segment.span.end)?.trim()))
        })
    });
    lines.collect()
}

fn most(cx: &PipelineContext<'_>, settings: &RecallSettings, sent: &SentMessages<'_>) -> u64 {
    let set = Some(settings.max_tokens).filter(|most| *most > 0);
    let (Some(room), Some(available)) = (sent.remaining(), cx.inputs.budget.available) else {
        return set.unwrap_or(WITHOUT_BUDGET);
    };
    let left = cx.blackboard.get::<CompressionBudget>().map_or(0, |room| room.tokens);
    let share = share(u64::from(available), settings.share).max(left);
    set.map_or(share, |set| set.min(share)).min(room)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "token counts are below 2^53; a share is in 0..=1"
)]
fn share(available: u64, share: f64) -> u64 {
    (available as f64 * share.clamp(0.0, 1.0)).floor() as u64
}

fn place(messages: &[Message], is_before_history: bool) -> usize {
    let input = messages.iter().rposition(|message| is_said(message) && message.role == Role::User);
    let first = messages.iter().position(is_said);
    let place = if is_before_history { first } else { input };
    place.unwrap_or(messages.len())
}

fn decision(piece: &RecalledPiece) -> Decision {
    let words = || Argument::names(&*piece.words, Divider::Comma);
    let reason: Phrase = match (piece.ago, piece.words.is_empty()) {
        (Some(ago), true) => {
            phrase!("recalled: similar to the question, {ago} ago", ago = count_of!(ago, "message"))
        }
        (Some(ago), false) => {
            phrase!("recalled: contains {words}, {ago} ago", words = words(), ago = count_of!(ago, "message"))
        }
        (None, true) => phrase!("recalled: similar to the question, on another branch"),
        (None, false) => phrase!("recalled: contains {words}, on another branch", words = words()),
    };
    Decision::new(Outcome::Kept, piece.source.clone(), reason)
}
