//! Decisions, diagnostics, and log lines of the compressor.

use std::collections::BTreeMap;

use ctx_compress::request::{PassOutcome, Repaired};
use ctx_pipeline::PipelineContext;
use ctx_types::{
    Decision, Diagnostic, LogLine, Message, Outcome as Outcomes, Phrase, TokenFigure, count_of, phrase,
    pointer_step,
};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::compression::beginning::Beginning;
use crate::compression::kept::Became;
use crate::compression::outcome::Outcome;
use crate::compression::settings::Settings;
use crate::costing::Costing;
use crate::gap_ranks::{GapRanks, name};

/// Document of diagnostics about stored messages.
const CONVERSATION: &str = "session";

/// `earlier` is the compressed prefix that was not loaded.
pub(crate) fn tell(
    cx: &mut PipelineContext<'_>,
    given: &[Message],
    outcome: &Outcome,
    settings: &Settings,
    earlier: Option<&Beginning>,
) {
    let costing = Costing::of(cx);
    let ranks = cx.blackboard.get::<GapRanks>().cloned().unwrap_or_default();
    let decisions = earlier.map_or_else(Vec::new, |earlier| earlier.decisions.clone());
    cx.draft.decide_all(runs(decisions, given, outcome, &costing));
    cx.draft.decide_all(moves(given, outcome, &ranks));
    cx.draft.decide_all(points(given, outcome));
    for finding in &outcome.diagnostics {
        cx.report(in_conversation(finding, given));
    }
    if let Some(finding) = overflow(outcome, settings) {
        cx.report(finding);
    }
    cx.log(line(outcome, settings, earlier.map_or(0, |earlier| earlier.positions().len())));
}

pub(crate) fn tell_repairs(cx: &mut PipelineContext<'_>, given: &[Message], repaired: &Repaired) {
    for finding in &repaired.diagnostics {
        cx.report(in_conversation(finding, given));
    }
    let left_out = repaired.left_out.iter().filter_map(|index| given.get(*index));
    let reason = phrase!("no tool call matches this result, or the call already has a result");
    cx.draft.decide_all(left_out.map(|message| {
        let decision = Decision::new(Outcomes::Dropped, message.source.clone(), reason.clone());
        Decision { bytes: Some(message.content.len()), ..decision }
    }));
}

/// Appends one decision per run of messages with the same outcome, and one per truncated message.
pub(super) fn runs(
    mut decisions: Vec<Decision>,
    given: &[Message],
    outcome: &Outcome,
    costing: &Costing<'_>,
) -> Vec<Decision> {
    let noted = given.iter().zip(&outcome.became);
    for (message, became) in noted.filter_map(|(message, became)| Some((message, became.as_ref()?))) {
        let (fate, reason) = match became {
            Became::Itself => continue,
            Became::Cut(short, reason) => {
                decisions.push(cut(message, short, Phrase::clone(reason)));
                continue;
            }
            Became::Merged(reason) => (Outcomes::Merged, reason),
            Became::Dropped(reason) => (Outcomes::Dropped, reason),
        };
        let (tokens, is_exact) = costing.text(message);
        let tokens = if is_exact { TokenFigure::Exact(tokens) } else { TokenFigure::AtMost(tokens) };
        match decisions.last_mut().filter(|last| last.outcome == fate && last.reason == **reason) {
            Some(run) => {
                run.count += 1;
                run.bytes = run.bytes.map(|bytes| bytes + message.content.len());
                run.tokens = run.tokens.map(|sum| add(sum, tokens));
            }
            None => decisions.push(Decision {
                bytes: Some(message.content.len()),
                tokens: Some(tokens),
                ..Decision::new(fate, message.source.clone(), Phrase::clone(reason))
            }),
        }
    }
    decisions
}

fn add(sum: TokenFigure, more: TokenFigure) -> TokenFigure {
    use TokenFigure::{AtMost, Exact};
    match (sum, more) {
        (Exact(sum), Exact(more)) => Exact(sum + more),
        (Exact(sum) | AtMost(sum), Exact(more) | AtMost(more)) => AtMost(sum + more),
    }
}

fn cut(message: &Message, short: &Message, reason: Phrase) -> Decision {
    let bytes = message.content.len().saturating_sub(short.content.len());
    Decision { bytes: Some(bytes), ..Decision::new(Outcomes::Cut, message.source.clone(), reason) }
}

/// The assembler has already reported messages that it moved to the front.
fn moves(given: &[Message], outcome: &Outcome, ranks: &GapRanks) -> Vec<Decision> {
    let moved = outcome.moved.iter().filter_map(|place| given.get(*place));
    let moved = moved.filter(|message| !ranks.is_told(message));
    let reason = phrase!("its position is in compressed messages; placed before the kept ones");
    moved.map(|message| Decision::new(Outcomes::Moved, message.source.clone(), reason.clone())).collect()
}

/// One decision for all depths of a placement.
fn points(given: &[Message], outcome: &Outcome) -> Vec<Decision> {
    let mut placements = BTreeMap::new();
    let mut decisions: Vec<Decision> = Vec::new();
    for message in outcome.points.iter().filter_map(|place| given.get(*place)) {
        let known = *placements.entry(name(&message.source)).or_insert(decisions.len());
        if let Some(decision) = decisions.get_mut(known) {
            decision.count += 1;
            continue;
        }
        let reason = phrase!("its depths are in compressed messages");
        decisions.push(Decision::new(Outcomes::Dropped, message.source.clone(), reason));
    }
    decisions
}

fn in_conversation(finding: &Diagnostic, messages: &[Message]) -> Diagnostic {
    let mut finding = finding.clone();
    let index = finding
        .location
        .pointer
        .as_deref()
        .and_then(|pointer| pointer.split('/').nth(1)?.parse::<usize>().ok());
    let id = index.and_then(|index| messages.get(index)?.source.id.as_deref());
    match id {
        Some(id) => {
            let pointer = format!("/nodes/{}", pointer_step(id));
            finding.location.pointer = Some(pointer);
            finding.in_document(CONVERSATION)
        }
        None => finding,
    }
}

/// Protected messages exceed the budget. The limiter decides whether the request fails.
fn overflow(outcome: &Outcome, settings: &Settings) -> Option<Diagnostic> {
    let PassOutcome::Infeasible(overflow) = &outcome.pass.as_ref()?.outcome else { return None };
    let message = phrase!(
        "the conversation cannot be compressed to {budget} tokens: {overflow}",
        budget = settings.config.token_budget,
        overflow = overflow.phrase()
    );
    let help = phrase!("raise the token budget, or shorten protected messages");
    Some(Diagnostic::warning(codes::NOT_COMPRESSIBLE, message).with_help(help))
}

fn line(outcome: &Outcome, settings: &Settings, earlier: usize) -> LogLine {
    let budget = settings.config.token_budget;
    let still_does = || {
        let gone = outcome.became.iter().flatten().filter(|became| became.is_gone());
        let count = earlier + gone.count();
        let (messages, tokens) = (count_of!(count, "message"), outcome.tokens);
        phrase!(
            "the earlier compression of {messages} still fits: {tokens} of {budget} tokens",
            messages,
            tokens,
            budget
        )
    };
    let line = outcome.pass.as_ref().map_or_else(still_does, |pass| pass.line.clone());
    let rewritten = outcome.pass.as_ref().filter(|pass| pass.outcome == PassOutcome::Compacted);
    let details = [("prefix", rewritten.map(|pass| pass.prefix)), ("sinceLastTurn", outcome.since_last_turn)];
    let details: Map<String, Value> =
        details.into_iter().filter_map(|(key, prefix)| Some((key.to_owned(), json!(prefix?)))).collect();
    if details.is_empty() {
        LogLine::info(line)
    } else {
        LogLine::info(line).with_details(Value::Object(details))
    }
}
