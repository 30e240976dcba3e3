//! How a context came about: stages, budget, decisions.

use std::sync::Arc;
use std::time::Duration;

use ctx_engine::Context;
use ctx_types::{Decision, LogLine, Phrase, StablePart, StageReport, Usage};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::table::listing;
use crate::show::{plural, to_stderr};

/// How many decisions are shown before the rest is counted.
const MAX_DECISIONS: usize = 1_000;

/// How many lines a stage may say before the rest is counted.
const MAX_LOG: usize = 20;

/// How many characters of the details of a line are shown; `--json` has all.
const MAX_DETAILS: usize = 100;

/// Writes what each stage did, how the budget came about, and what became of everything.
pub(crate) fn explanation(context: &Context, with_timings: bool) -> String {
    let report = &context.report;
    let mut parts = vec![match with_timings {
        true => timed_stages(&report.stages, &context.timings),
        false => stages(&report.stages),
    }];
    parts.extend(report.usage.as_ref().map(|usage| budget(usage, context.tokens())));
    parts.extend(report.stable.as_ref().map(|stable| cache(stable, context)));
    parts.push(decisions(&report.decisions));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Prints, on standard error, how long each stage took.
pub(crate) fn timings(timings: &[(Arc<str>, Duration)]) {
    let stages = totals(timings);
    let sum = stages.iter().map(|(_, time)| *time).sum();
    let rows = stages.iter().map(|(id, time)| [(*id).to_owned(), duration(*time)]);
    let sum = [[lang::text("all stages").into_owned(), duration(sum)]];
    to_stderr(listing(["stage", "time"], rows.chain(sum)).trim_end());
}

fn stages(stages: &[StageReport]) -> String {
    let rows = stages.iter().map(|stage| {
        let [messages, change, log] = cells(stage);
        [stage.id.clone(), messages, change, log]
    });
    listing(["stage", "messages", "changes", "log"], rows)
}

fn timed_stages(stages: &[StageReport], timings: &[(Arc<str>, Duration)]) -> String {
    let times = totals(timings);
    let rows = stages.iter().map(|stage| {
        let time = times.iter().find(|(id, _)| *id == stage.id).map(|(_, time)| duration(*time));
        let [messages, change, log] = cells(stage);
        [stage.id.clone(), messages, change, time.unwrap_or_default(), log]
    });
    listing(["stage", "messages", "changes", "time", "log"], rows)
}

fn cells(stage: &StageReport) -> [String; 3] {
    let messages = format!("{} → {}", stage.messages_before, stage.messages_after);
    let changes = [("+", stage.added), ("-", stage.removed), ("~", stage.changed)];
    let changes = changes.into_iter().filter(|(_, count)| *count > 0);
    let changes: Vec<String> = changes.map(|(sign, count)| format!("{sign}{count}")).collect();
    let mut log: Vec<String> = stage.log.iter().take(MAX_LOG).flat_map(log_lines).collect();
    if let Some(more) = stage.log.len().checked_sub(MAX_LOG).filter(|more| *more > 0) {
        log.push(lang::text(&format!("and {}", plural(more, "more line"))).into_owned());
    }
    [messages, changes.join(" "), log.join("\n")]
}

/// The level of a line unless all is as usual, its message, and below it the details.
fn log_lines(line: &LogLine) -> impl Iterator<Item = String> {
    let told = lang::say(&line.message);
    let message = LogLine { details: None, message: Phrase::verbatim(told), ..line.clone() };
    let details = line.details.as_ref().map(|details| {
        let text = details.to_string();
        match text.char_indices().nth(MAX_DETAILS) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    });
    [clean_line(&message.to_string())]
        .into_iter()
        .chain(details.map(|text| format!("  {}", clean_line(&text))))
}

/// Adds up the times of each stage, in the order of their first runs; some run again after the recount.
fn totals(timings: &[(Arc<str>, Duration)]) -> Vec<(&str, Duration)> {
    let mut totals: Vec<(&str, Duration)> = Vec::new();
    for (id, time) in timings {
        match totals.iter_mut().find(|(known, _)| *known == &**id) {
            Some((_, total)) => *total += *time,
            None => totals.push((id, *time)),
        }
    }
    totals
}

fn duration(time: Duration) -> String {
    match time.as_micros() {
        0..1_000 => format!("{} µs", time.as_micros()),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// The account of the budget, which adds up to what messages may have, and what they have.
fn budget(usage: &Usage, tokens: Vec<u32>) -> String {
    let used: u64 = tokens.into_iter().map(u64::from).sum();
    let (about, how) = if usage.is_exact { ("", "exact") } else { ("about ", "an estimate") };
    let counted = format!("they have {about}{used}, {how} as {}", usage.encoding);
    let Some(available) = usage.available else {
        return lang::lines(&format!("budget\n  nothing limits the messages; {counted}\n")).into_owned();
    };
    let lines = usage.budget.iter().map(|line| (line.tokens.to_string(), clean_line(&lang::say(&line.name))));
    let sum = (format!("= {available}"), lang::text(&format!("for messages; {counted}")).into_owned());
    let lines: Vec<(String, String)> = lines.chain([sum]).collect();
    let width = lines.iter().map(|(figure, _)| figure.len()).max().unwrap_or(0);
    let lines = lines.iter().map(|(figure, name)| format!("  {figure:>width$}  {name}\n"));
    format!("{}\n{}", lang::text("budget"), lines.collect::<String>())
}

/// What the provider's prompt cache can find again next turn, and what ends it.
fn cache(stable: &StablePart, context: &Context) -> String {
    let tokens: u64 = context.tokens().into_iter().take(stable.messages).map(u64::from).sum();
    let mut text = match stable.messages {
        0 => "cache\n  no message is sure to be sent again as it is\n".to_owned(),
        1 => format!("cache\n  the first message is sent again next turn as it is: {tokens} tokens\n"),
        count => format!(
            "cache\n  the first {count} messages are sent again next turn as they are: {tokens} tokens\n"
        ),
    };
    if let Some(end) = &stable.ended_by {
        let message = context.messages.get(end.message).map(|message| message.source.to_string());
        let of = message.filter(|message| *message != end.source.to_string());
        let of = of.map(|message| format!(" of {message}")).unwrap_or_default();
        let reason = lang::say(&end.reason);
        let line = format!("  message {} may differ: {}{of}, {reason}", end.message, end.source);
        text.push_str(&clean_line(&line));
        text.push('\n');
    }
    lang::lines(&text).into_owned()
}

fn decisions(decisions: &[Decision]) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = decisions.iter().take(MAX_DECISIONS).map(decision).collect();
    let more = decisions.len() - lines.len();
    if more > 0 {
        lines.push(lang::text(&format!("and {more} more; `--json` has them all")).into_owned());
    }
    format!("{}\n  {}\n", lang::text("decisions"), lines.join("\n  "))
}

/// Writes a decision with the size of what it is about.
pub(super) fn decision(decision: &Decision) -> String {
    let size = size(decision);
    let line = clean_line(&lang::decision(decision));
    if size.is_empty() { line } else { line + &lang::phrase(&format!(" ({})", lang::list(&size))) }
}

/// What a decision is about, in bytes and tokens, as far as they are known.
pub(crate) fn size(decision: &Decision) -> Vec<String> {
    let bytes = decision.bytes.map(|bytes| plural(bytes, "byte"));
    let tokens = decision.tokens.map(|tokens| tokens.to_string());
    bytes.into_iter().chain(tokens).map(|size| lang::text(&size).into_owned()).collect()
}
