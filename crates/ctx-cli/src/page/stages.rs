//! The stages, and which messages each of them touched.

use ctx_engine::Context;
use ctx_engine::internal::MessageTrace;
use ctx_language::Language;
use ctx_types::report::StageReport;
use ctx_types::{Phrase, phrase};
use serde::Serialize;

use crate::lang;
use crate::page::messages::numbers_shown;
use crate::page::text::shown;
use crate::show::{log_lines, what};

/// How many lines of a log are shown before the rest is counted.
const MAX_LOG: usize = 50;

/// One stage.
#[derive(Debug, Serialize)]
pub(super) struct Stage {
    id: String,
    before: usize,
    after: usize,
    /// What it added, took out and changed: a sign, how many, and what that means.
    changes: Vec<(&'static str, usize, String)>,
    log: Vec<String>,
    /// The messages of the context that it touched: the number of each, and how.
    touched: Vec<(usize, String)>,
    is_idle: bool,
}

/// Lists the stages that ran.
pub(super) fn list(language: Language, context: &Context, traces: &MessageTrace<'_>) -> Vec<Stage> {
    let mut stages: Vec<Stage> = context.report.stages.iter().map(|report| stage(language, report)).collect();
    for number in numbers_shown(context.messages.len()) {
        let Some(life) = traces.sent(number) else { continue };
        for step in life.steps {
            let Some(stage) = stages.iter_mut().find(|stage| stage.id == shown(&step.stage)) else {
                continue;
            };
            let own = step.events.iter().map(|event| (number, shown(&what(language, event))));
            stage.touched.extend(own);
        }
    }
    for stage in &mut stages {
        stage.is_idle = stage.changes.is_empty() && stage.touched.is_empty();
    }
    stages
}

fn stage(language: Language, report: &StageReport) -> Stage {
    let change =
        |sign, count: usize, what: fn(usize) -> Phrase| (sign, count, lang::say(language, &what(count)));
    let changes = [
        change("+", report.added, |count| phrase!("{count} added", count)),
        change("−", report.removed, |count| phrase!("{count} removed", count)),
        change("~", report.changed, |count| phrase!("{count} changed", count)),
    ];
    Stage {
        id: shown(&report.id),
        before: report.messages_before,
        after: report.messages_after,
        changes: changes.into_iter().filter(|(_, count, _)| *count > 0).collect(),
        log: log_lines(language, &report.log, MAX_LOG).iter().map(|line| shown(line)).collect(),
        touched: Vec::new(),
        is_idle: false,
    }
}
