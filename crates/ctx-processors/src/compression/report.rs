//! Decisions, diagnostics, and log lines of the compressor.

use std::collections::BTreeMap;

use ctx_compress::request::{PassOutcome, Repaired};
use ctx_pipeline::PipelineContext;
use ctx_types::{
    Decision, Diagnostic, LogLine, Message, Outcome, Phrase, TokenFigure, count_of, phrase, pointer_step,
};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::compression::cache::MessageOutcome;
use crate::compression::result::CompressionResult;
use crate::compression::settings::Settings;
use crate::gap_ranks::{GapRanks, name};
use crate::message_costs::MessageCosts;

/// Document of diagnostics about stored messages.
const CONVERSATION: &str = "session";

pub(crate) fn report_outcome(
    cx: &mut PipelineContext<'_>,
    given: &[Message],
    result: &CompressionResult,
    settings: &Settings,
) {
    let costing = MessageCosts::new(cx);
    let ranks = cx.blackboard.get::<GapRanks>().cloned().unwrap_or_default();
    cx.draft.decide_all(runs(given, result, &costing));
    cx.draft.decide_all(moves(given, result, &ranks));
    cx.draft.decide_all(points(given, result));
    for finding in &result.diagnostics {
        cx.report(in_conversation(finding, given));
    }
    if let Some(finding) = overflow(result, settings) {
        cx.report(finding);
    }
    cx.log(line(result, settings));
}

pub(crate) fn report_repairs(cx: &mut PipelineContext<'_>, given: &[Message], repaired: &Repaired) {
    for finding in &repaired.diagnostics {
        cx.report(in_conversation(finding, given));
    }
    let left_out = repaired.left_out.iter().filter_map(|index| given.get(*index));
    let reason = phrase!("no tool call matches this result, or the call already has a result");
    cx.draft.decide_all(left_out.map(|message| {
        let decision = Decision::new(Outcome::Dropped, message.source.clone(), reason.clone());
        Decision { bytes: Some(message.content.len()), ..decision }
    }));
}

/// Returns one decision per run of messages with the same result, and one per truncated message.
fn runs(given: &[Message], result: &CompressionResult, costing: &MessageCosts<'_>) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = Vec::new();
    let noted = given.iter().zip(&result.message_outcomes);
    for (message, outcome) in noted.filter_map(|(message, outcome)| Some((message, outcome.as_ref()?))) {
        let (kind, reason) = match outcome {
            MessageOutcome::Itself => continue,
            MessageOutcome::Cut(short, reason) => {
                decisions.push(cut(message, short, Phrase::clone(reason)));
                continue;
            }
            MessageOutcome::Merged(reason) => (Outcome::Merged, reason),
            MessageOutcome::Dropped(reason) => (Outcome::Dropped, reason),
        };
        let (tokens, is_exact) = costing.text(message);
        let tokens = if is_exact { TokenFigure::Exact(tokens) } else { TokenFigure::AtMost(tokens) };
        match decisions.last_mut().filter(|last| last.outcome == kind && last.reason == **reason) {
            Some(run) => {
                run.count += 1;
                run.bytes = run.bytes.map(|bytes| bytes + message.content.len());
                run.tokens = run.tokens.map(|sum| add(sum, tokens));
            }
            None => decisions.push(Decision {
                bytes: Some(message.content.len()),
                tokens: Some(tokens),
                ..Decision::new(kind, message.source.clone(), Phrase::clone(reason))
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
    Decision { bytes: Some(bytes), ..Decision::new(Outcome::Cut, message.source.clone(), reason) }
}

/// The assembler has already reported messages that it moved to the front.
fn moves(given: &[Message], result: &CompressionResult, ranks: &GapRanks) -> Vec<Decision> {
    let moved = result.moved.iter().filter_map(|place| given.get(*place));
    let moved = moved.filter(|message| !ranks.is_reported(message));
    let reason = phrase!("its position is in compressed messages; placed before the kept ones");
    moved.map(|message| Decision::new(Outcome::Moved, message.source.clone(), reason.clone())).collect()
}

/// One decision for all depths of a placement.
fn points(given: &[Message], result: &CompressionResult) -> Vec<Decision> {
    let mut placements = BTreeMap::new();
    let mut decisions: Vec<Decision> = Vec::new();
    for message in result.points.iter().filter_map(|place| given.get(*place)) {
        let known = *placements.entry(name(&message.source)).or_insert(decisions.len());
        if let Some(decision) = decisions.get_mut(known) {
            decision.count += 1;
            continue;
        }
        let reason = phrase!("its depths are in compressed messages");
        decisions.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
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
fn overflow(result: &CompressionResult, settings: &Settings) -> Option<Diagnostic> {
    let PassOutcome::Infeasible(overflow) = &result.pass.as_ref()?.outcome else { return None };
    let message = phrase!(
        "the conversation cannot be compressed to {budget} tokens: {overflow}",
        budget = settings.config.token_budget,
        overflow = overflow.phrase()
    );
    let help = phrase!("raise the token budget, or shorten protected messages");
    Some(Diagnostic::warning(codes::NOT_COMPRESSIBLE, message).with_help(help))
}

fn line(result: &CompressionResult, settings: &Settings) -> LogLine {
    let budget = settings.config.token_budget;
    let still_does = || {
        let gone = result.message_outcomes.iter().flatten().filter(|outcome| outcome.is_gone());
        let (messages, tokens) = (count_of!(gone.count(), "message"), result.tokens);
        phrase!(
            "the earlier compression of {messages} still fits: {tokens} of {budget} tokens",
            messages,
            tokens,
            budget
        )
    };
    let line = result.pass.as_ref().map_or_else(still_does, |pass| pass.line.clone());
    let rewritten = result.pass.as_ref().filter(|pass| pass.outcome == PassOutcome::Compacted);
    let details = [("prefix", rewritten.map(|pass| pass.prefix)), ("sinceLastTurn", result.since_last_turn)];
    let details: Map<String, Value> =
        details.into_iter().filter_map(|(key, prefix)| Some((key.to_owned(), json!(prefix?)))).collect();
    if details.is_empty() {
        LogLine::info(line)
    } else {
        LogLine::info(line).with_details(Value::Object(details))
    }
}
