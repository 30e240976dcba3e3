//! What was left out, moved, joined and kept, and why.

use ctx_engine::Context;
use ctx_language::Language;
use ctx_types::report::{Decision, Outcome};
use serde::Serialize;

use crate::lang;
use crate::page::text::shown;
use crate::show::size;

/// How many decisions of one group are shown before the rest is counted.
const MAX_SHOWN: usize = 500;

/// Decisions of one kind.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    title: &'static str,
    is_open: bool,
    count: usize,
    rows: Vec<Row>,
    more: usize,
}

/// One decision.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    outcome: String,
    source: String,
    name: Option<String>,
    reason: String,
    size: String,
    stage: String,
}

/// Groups all decisions: what was left out first.
pub(super) fn groups(language: Language, context: &Context) -> Vec<Group> {
    let groups = [
        group(language, context, "Not sent, or cut", is_left_out),
        group(language, context, "Moved, merged, or changed", |outcome| {
            !is_left_out(outcome) && outcome != Outcome::Kept
        }),
        Group { is_open: false, ..group(language, context, "Sent", |outcome| outcome == Outcome::Kept) },
    ];
    groups.into_iter().filter(|group| group.count > 0).collect()
}

fn group(language: Language, context: &Context, title: &'static str, belongs: fn(Outcome) -> bool) -> Group {
    let decided = context.report.decisions.iter().enumerate();
    let mut own = decided.filter(|(_, decision)| belongs(decision.outcome));
    let stage = |at| context.trace.as_ref().and_then(|trace| trace.decided_by(at));
    let rows: Vec<Row> =
        own.by_ref().take(MAX_SHOWN).map(|(at, decision)| row(language, decision, stage(at))).collect();
    let more = own.count();
    Group { title, is_open: true, count: rows.len() + more, rows, more }
}

/// Returns whether something is not sent, or not all of it.
pub(super) const fn is_left_out(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Dropped | Outcome::Cut | Outcome::Hidden | Outcome::NotActivated | Outcome::NotLoaded
    )
}

/// One decision, with the stage that made it.
pub(super) fn row(language: Language, decision: &Decision, stage: Option<&str>) -> Row {
    Row {
        outcome: lang::word(language, &decision.outcome.as_str().replace('_', " ")).into_owned(),
        source: shown(&language.source(decision)),
        name: decision.source.name().map(shown),
        reason: shown(&lang::say(language, &decision.reason)),
        size: language.list(&size(language, decision)),
        stage: shown(stage.unwrap_or_default()),
    }
}
