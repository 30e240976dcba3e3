//! Decisions, diagnostics, and log lines of the compressor.

use ctx_compress::request::{PassOutcome, Repaired};
use ctx_pipeline::PipelineContext;
use ctx_types::internal::pointer_step;
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::LogLine;
use ctx_types::{Diagnostic, Message, count_of, phrase};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::compression::result::CompressionResult;
use crate::compression::settings::Settings;
use crate::message_costs::MessageCosts;
use crate::removal::RemovalReport;

/// Document of diagnostics about stored messages.
const CONVERSATION: &str = "session";

pub(crate) fn report_outcome(
    cx: &mut PipelineContext<'_>,
    given: &[Message],
    result: &CompressionResult,
    settings: &Settings,
) {
    let costing = MessageCosts::new(cx);
    let report = RemovalReport {
        decisions: Vec::new(),
        moved: phrase!("its position is in compressed messages; placed before the kept ones"),
        dropped: phrase!("its depths are in compressed messages"),
    };
    cx.draft.decide_all(result.removal.decisions(given, &result.moved, &costing, report));
    for finding in &result.diagnostics {
        cx.report(in_conversation(finding, given));
    }
    if let Some(finding) = overflow(result, settings) {
        cx.report(finding);
    }
    cx.log(line(given, result, settings));
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

fn line(given: &[Message], result: &CompressionResult, settings: &Settings) -> LogLine {
    let budget = settings.config.token_budget;
    let still_does = || {
        let messages = count_of!(result.removal.gone_count(given), "message");
        let tokens = result.tokens;
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
