//! How a context came about: stages, budget, decisions.

use ctx_language::Language;
use std::sync::Arc;
use std::time::Duration;

use ctx_engine::Context;
use ctx_types::report::{Decision, PrefixReport, StablePart, StageReport, Usage};
use ctx_types::session::LogLine;
use ctx_types::{Phrase, count_of, phrase};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::table::listing;
use crate::show::{omitted, to_stderr};

/// How many decisions are shown before the rest is counted.
const MAX_DECISIONS: usize = 1_000;

/// How many lines a stage may say before the rest is counted.
const MAX_LOG: usize = 20;

/// Writes what each stage did, how the budget came about, and what became of everything.
pub(crate) fn explanation(language: Language, context: &Context, with_timings: bool) -> String {
    let report = &context.report;
    let mut parts = vec![if with_timings {
        timed_stages(language, &report.stages, &context.timings)
    } else {
        stages(language, &report.stages)
    }];
    parts.extend(report.usage.as_ref().map(|usage| budget(language, usage, context.tokens())));
    parts.extend(report.prefix.as_ref().map(|prefix| repeated_part(language, prefix)));
    parts.extend(report.stable.as_ref().map(|stable| cache(language, stable, context)));
    parts.push(decisions(language, &report.decisions));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Prints, on standard error, how long each stage took.
pub(crate) fn timings(language: Language, timings: &[(Arc<str>, Duration)]) {
    let stages = totals(timings);
    let sum = stages.iter().map(|(_, time)| *time).sum();
    let rows = stages.iter().map(|(id, time)| [(*id).to_owned(), duration(*time)]);
    let sum = [[lang::word(language, "all processors").into_owned(), duration(sum)]];
    to_stderr(listing(language, ["processor", "time"], rows.chain(sum)).trim_end());
}

fn stages(language: Language, stages: &[StageReport]) -> String {
    let rows = stages.iter().map(|stage| {
        let [messages, change, log] = cells(language, stage);
        [stage.id.clone(), messages, change, log]
    });
    listing(language, ["processor", "messages", "changes", "log"], rows)
}

fn timed_stages(language: Language, stages: &[StageReport], timings: &[(Arc<str>, Duration)]) -> String {
    let times = totals(timings);
    let rows = stages.iter().map(|stage| {
        let time = times.iter().find(|(id, _)| *id == stage.id).map(|(_, time)| duration(*time));
        let [messages, change, log] = cells(language, stage);
        [stage.id.clone(), messages, change, time.unwrap_or_default(), log]
    });
    listing(language, ["processor", "messages", "changes", "time", "log"], rows)
}

fn cells(language: Language, stage: &StageReport) -> [String; 3] {
    let messages = format!("{} → {}", stage.messages_before, stage.messages_after);
    let changes = [("+", stage.added), ("-", stage.removed), ("~", stage.changed)];
    let changes = changes.into_iter().filter(|(_, count)| *count > 0);
    let changes: Vec<String> = changes.map(|(sign, count)| format!("{sign}{count}")).collect();
    let log: Vec<String> =
        log_lines(language, &stage.log, MAX_LOG).iter().map(|line| clean_line(line)).collect();
    [messages, changes.join(" "), log.join("\n")]
}

/// Formats the first lines of a log, without details, and the number of other lines.
pub(crate) fn log_lines(language: Language, log: &[LogLine], most: usize) -> Vec<String> {
    let line = |line: &LogLine| {
        let message = Phrase::verbatim(lang::say(language, &line.message));
        LogLine { details: None, message, ..line.clone() }.to_string()
    };
    let more = omitted(language, log.len().saturating_sub(most), |more| {
        phrase!("and {more}", more = count_of!(more, "more line"))
    });
    log.iter().take(most).map(line).chain(more).collect()
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
fn budget(language: Language, usage: &Usage, tokens: Vec<u32>) -> String {
    let used: u64 = tokens.into_iter().map(u64::from).sum();
    let encoding = &usage.encoding;
    let counted = if usage.is_exact {
        phrase!("{used} used, exact ({encoding})", used, encoding)
    } else {
        phrase!("about {used} used, estimated ({encoding})", used, encoding)
    };
    let title = lang::word(language, "budget");
    let Some(available) = usage.available else {
        let told = phrase!("no limit for messages; {counted}", counted);
        return format!("{title}\n  {}\n", lang::say(language, &told));
    };
    let lines = usage
        .budget
        .iter()
        .map(|line| (line.tokens.to_string(), clean_line(&lang::say(language, &line.name))));
    let sum = lang::say(language, &phrase!("available for messages; {counted}", counted));
    let sum = (format!("= {available}"), sum);
    let lines: Vec<(String, String)> = lines.chain([sum]).collect();
    let width = lines.iter().map(|(figure, _)| figure.len()).max().unwrap_or(0);
    let lines = lines.iter().map(|(figure, name)| format!("  {figure:>width$}  {name}\n"));
    format!("{title}\n{}", lines.collect::<String>())
}

/// Lines about the repeated prefix of an append-only request.
pub(crate) fn repeated_part(language: Language, prefix: &PrefixReport) -> String {
    let tokens = prefix.tokens;
    let kept = match prefix.messages {
        0 => phrase!("repeats no message of an earlier request"),
        1 => phrase!("repeats the first message of the previous request: {tokens} tokens", tokens),
        count => phrase!("repeats {count} messages of the previous request: {tokens} tokens", count, tokens),
    };
    let planned = prefix.planned_break.as_ref().map(|planned| {
        let (reason, tokens) = (&planned.reason, planned.tokens);
        phrase!("planned break: {reason}; {tokens} tokens are read again", reason, tokens)
    });
    let inserted =
        prefix.insertions.iter().map(|source| phrase!("inserts {source}", source = source.to_string()));
    let lines = [kept].into_iter().chain(planned).chain(inserted);
    let lines = lines.map(|line| format!("  {}\n", clean_line(&lang::say(language, &line))));
    format!("{}\n{}", lang::say(language, &phrase!("append-only")), lines.collect::<String>())
}

/// What the provider's prompt cache can find again next turn, and what ends it.
fn cache(language: Language, stable: &StablePart, context: &Context) -> String {
    let tokens: u64 = context.tokens().into_iter().take(stable.messages).map(u64::from).sum();
    let kept = match stable.messages {
        0 => phrase!("no message is guaranteed to stay unchanged next turn"),
        1 => phrase!("the first message is unchanged next turn: {tokens} tokens", tokens),
        count => {
            phrase!("the first {count} messages are unchanged next turn: {tokens} tokens", count, tokens)
        }
    };
    let end = stable.ended_by.as_ref().map(|end| {
        let message = context.messages.get(end.message).map(|message| message.source.to_string());
        let source = end.source.to_string();
        let what = match message.filter(|message| *message != source) {
            Some(message) => phrase!("{source} in {message}", source, message),
            None => Phrase::verbatim(source),
        };
        let reason = &end.reason;
        phrase!("message {number} may change: {what}, {reason}", number = end.message, what, reason)
    });
    let lines = [kept].into_iter().chain(end);
    let lines = lines.map(|line| format!("  {}\n", clean_line(&lang::say(language, &line))));
    format!("{}\n{}", lang::word(language, "cache"), lines.collect::<String>())
}

fn decisions(language: Language, decisions: &[Decision]) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> =
        decisions.iter().take(MAX_DECISIONS).map(|own| decision(language, own)).collect();
    lines.extend(omitted(language, decisions.len() - lines.len(), |more| {
        phrase!("and {more} more; use `--json` to list all", more)
    }));
    format!("{}\n  {}\n", lang::word(language, "decisions"), lines.join("\n  "))
}

/// Writes a decision with the size of what it is about.
pub(super) fn decision(language: Language, decision: &Decision) -> String {
    let size = size(language, decision);
    let line = clean_line(&language.decision(decision));
    if size.is_empty() {
        line
    } else {
        line + &lang::say(language, &phrase!(" ({counter})", counter = language.list(&size)))
    }
}

/// What a decision is about, in bytes and tokens, as far as they are known.
pub(crate) fn size(language: Language, decision: &Decision) -> Vec<String> {
    let bytes = decision.bytes.map(|bytes| lang::say(language, &count_of!(bytes, "byte")));
    let tokens = decision.tokens.map(|tokens| lang::say(language, &tokens.phrase()));
    bytes.into_iter().chain(tokens).collect()
}
