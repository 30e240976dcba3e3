//! Requests that other programs sent, for people.

use ctx_language::Language;
use ctx_traffic::{
    Cause, Change, LogReport, OutlineBlock, PrefixBreak, RequestComparison, RequestOutline, RequestReport,
    Section, SkipReason,
};
use ctx_types::internal::thousands;
use ctx_types::{Phrase, count_of, phrase};
use jiff::Timestamp;

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::{fitted, left, omitted, tokens, widest};

/// Number of requests of a log up to which all are shown.
const MAX_ALL: usize = 60;

/// Number of rows that are shown of longer logs.
const MAX_ROWS: usize = 200;

/// Number of causes and skipped lines that are shown.
const MAX_CAUSES: usize = 12;

const HEADER: [&str; 7] = ["#", "time", "model", "tokens", "reused", "cost", "cache break"];

/// Writes the requests of a log, the causes of cache misses, and the sums.
pub(crate) fn log(language: Language, report: &LogReport, all: bool) -> String {
    let is_short = all || report.requests.len() <= MAX_ALL;
    let wanted: Vec<&RequestReport> =
        report.requests.iter().filter(|request| is_short || is_notable(request)).collect();
    let limit = if all { usize::MAX } else { MAX_ROWS };
    let rows = wanted.iter().take(limit).map(|request| row(language, request)).collect();
    let mut parts = Vec::new();
    if !wanted.is_empty() {
        parts.push(fitted(language, HEADER, rows, &[0, 3, 4, 5]));
    }
    let hidden = report.requests.len() - wanted.len().min(limit);
    parts.extend(omitted(language, hidden, |more| {
        phrase!("{more} not shown; use `--all` to show all", more = count_of!(more, "request"))
    }));
    if !report.causes.is_empty() {
        let title = lang::word(language, "causes of cache misses, by cost:");
        let shown = report.causes.iter().take(MAX_CAUSES);
        let lines = shown.map(|cause| format!("  {}\n", said(language, &cause_line(cause))));
        let more = omitted(language, report.causes.len().saturating_sub(MAX_CAUSES), |more| {
            phrase!("and {more} more", more)
        });
        let more = more.map(|more| format!("  {more}\n")).unwrap_or_default();
        parts.push(format!("{title}\n{}{more}", lines.collect::<String>()));
    }
    parts.push(said(language, &total(report)) + "\n");
    parts.extend(skipped(language, report));
    parts.join("\n")
}

fn is_notable(request: &RequestReport) -> bool {
    request.prefix_break.is_some() || request.verdict.is_some() || request.is_failed
}

/// Writes how much two requests have in common, and where they differ.
pub(crate) fn pair(language: Language, comparison: &RequestComparison) -> String {
    let [before, after] = &comparison.requests;
    let (shared, all) = (comparison.shared_blocks, after.blocks);
    let mut lines =
        vec![("shared", phrase!("{shared} of {blocks}", shared, blocks = count_of!(all, "block")))];
    if let Some(found) = &after.prefix_break {
        let place = place(found);
        let told = match comparison.byte {
            Some(byte) => phrase!("{place}, byte {byte} of the request", place, byte = thousands(byte)),
            None => place,
        };
        lines.push(("first difference", told));
        lines.push(("change", change_word(found.change)));
        let sides = [("first", &found.before), ("second", &found.after)];
        let sides = sides.into_iter().filter_map(|(side, text)| {
            Some((side, phrase!("`{text}`", text = Phrase::verbatim(text.as_deref()?))))
        });
        lines.extend(sides);
        lines.push(("read again", with_cost(found.lost, found.cost.map(|cost| cost.to_string()))));
    }
    if after.is_known_cache {
        let told =
            phrase!("{reused} of {tokens}", reused = thousands(after.reused), tokens = tokens(after.tokens));
        lines.push(("reusable", told));
    } else {
        lines.push(("reusable", phrase!("unknown, because the rules of the provider are not known")));
    }
    lines.push(("cost", phrase!("{before}, then {after}", before = cost(before), after = cost(after))));
    let lines: Vec<(String, String)> = lines
        .into_iter()
        .map(|(title, text)| (lang::word(language, title).into_owned(), said(language, &text)))
        .collect();
    let width = widest(lines.iter().map(|(title, _)| title));
    let lines = lines.iter().map(|(title, text)| format!("{}  {text}", left(title, width)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Writes the blocks of a request with their tokens, and the sums.
pub(crate) fn outline(language: Language, outline: &RequestOutline) -> String {
    let place = |block: &OutlineBlock| match (block.section, block.block) {
        (Section::Messages, Some(part)) if part > 1 => {
            phrase!("message {number}, part {part}", number = block.number, part)
        }
        (section, _) => block_place(section, block.number),
    };
    let text = |block: &OutlineBlock| match (&block.name, block.kind) {
        (Some(name), "tool") => format!("{name}: {}", block.text),
        _ => block.text.clone(),
    };
    let row = |block: &OutlineBlock| {
        [
            said(language, &place(block)),
            block.role.clone().unwrap_or_default(),
            lang::word(language, block.kind).into_owned(),
            thousands(block.tokens.into()),
            block.mark.map(|mark| lang::word(language, mark).into_owned()).unwrap_or_default(),
            text(block),
        ]
    };
    let header = ["place", "role", "kind", "tokens", "cache", "text"];
    let table = fitted(language, header, outline.blocks.iter().map(row).collect(), &[3]);
    format!("{table}\n{}", outline_total(language, outline))
}

/// Writes the tokens of a request: of each section, in all, and as the provider counted them.
pub(crate) fn outline_total(language: Language, outline: &RequestOutline) -> String {
    let sections = [Section::Tools, Section::System, Section::Messages].into_iter().filter_map(|section| {
        let (count, sum) = outline.size_of(section);
        let (section, blocks) = (section_word(section), count_of!(count, "block"));
        (count > 0).then(|| phrase!("{section}: {tokens}, {blocks}", section, tokens = tokens(sum), blocks))
    });
    let encoding = outline.encoding;
    let way = if outline.is_exact {
        phrase!("exact ({encoding})", encoding)
    } else {
        phrase!("estimated ({encoding})", encoding)
    };
    let sum = phrase!("all blocks: {tokens}, {way}", tokens = tokens(outline.tokens), way);
    let usage = outline.usage.map(|usage| {
        let (input, cached) = (tokens(usage.input), thousands(usage.cached));
        phrase!("counted by the provider: {input}, {cached} of them from the cache", input, cached)
    });
    let (name, api) = (&*outline.model, outline.api);
    let model = if name.is_empty() {
        phrase!("API {api}", api)
    } else {
        phrase!("model {model}, API {api}", model = name, api)
    };
    let lines = sections.chain([sum]).chain(usage).chain([model]);
    lines.map(|line| said(language, &line) + "\n").collect()
}

fn row(language: Language, request: &RequestReport) -> [String; 7] {
    let time = request.at.and_then(|at| Timestamp::from_millisecond(at).ok());
    let time = time.map(|time| time.strftime("%H:%M:%S").to_string()).unwrap_or_default();
    let reused = match request.usage {
        // The provider knows; a different forecast is shown beside it.
        Some(usage) if usage.cached.abs_diff(request.reused) * 10 <= usage.cached.max(request.reused) => {
            thousands(usage.cached)
        }
        Some(usage) => format!("{} (~{})", thousands(usage.cached), thousands(request.reused)),
        None => format!("~{}", thousands(request.reused)),
    };
    let found = match (&request.prefix_break, &request.verdict) {
        _ if request.is_failed => Some(phrase!("failed, not billed")),
        (Some(found), Some(verdict)) => {
            Some(phrase!("{change}; the provider says `{verdict}`", change = break_line(found), verdict))
        }
        (Some(found), None) => Some(break_line(found)),
        (None, verdict) => verdict.as_ref().map(|verdict| phrase!("the provider says `{verdict}`", verdict)),
    };
    let found = found.map(|found| said(language, &found));
    [
        request.index.to_string(),
        time,
        request.model.to_string(),
        thousands(request.tokens),
        if request.is_known_cache || request.usage.is_some() { reused } else { "?".to_owned() },
        request.cost.map(|cost| cost.to_string()).unwrap_or_default(),
        found.unwrap_or_default(),
    ]
}

/// Writes what broke the prefix: the place, the change, and the texts of both sides.
fn break_line(found: &PrefixBreak) -> Phrase {
    let (place, change) = (place(found), change_word(found.change));
    match (&found.before, &found.after) {
        (Some(before), Some(after)) => {
            phrase!(
                "{place}: {change} (`{before}` → `{after}`)",
                place,
                change,
                before = Phrase::verbatim(before.as_str()),
                after = Phrase::verbatim(after.as_str())
            )
        }
        _ => phrase!("{place}: {change}", place, change),
    }
}

fn place(found: &PrefixBreak) -> Phrase {
    let number = found.number.unwrap_or(1);
    match (found.section, &found.subject) {
        (Section::Parameters, Some(name)) => phrase!("parameter `{name}`", name),
        (Section::Tools, Some(name)) => phrase!("tool {number}, `{name}`", number, name),
        (section, _) => block_place(section, number),
    }
}

fn block_place(section: Section, number: u32) -> Phrase {
    match section {
        Section::Model => phrase!("model"),
        Section::Parameters => phrase!("parameters"),
        Section::Tools => phrase!("tool {number}", number),
        Section::System => phrase!("system part {number}", number),
        Section::Messages => phrase!("message {number}", number),
    }
}

fn change_word(change: Change) -> Phrase {
    match change {
        Change::Clock => phrase!("a time, date, or id changed"),
        Change::Reordered => phrase!("another order"),
        Change::Added => phrase!("added"),
        Change::Removed => phrase!("removed"),
        Change::Edited => phrase!("edited"),
        Change::ToolResultRewritten => phrase!("the tool result was rewritten"),
        Change::Reminder => phrase!("a reminder changed"),
        Change::Compacted => phrase!("messages were compacted"),
        Change::Expired => phrase!("the cache had expired"),
        Change::NotMarked => phrase!("no cache mark"),
        Change::Switched => phrase!("another model"),
    }
}

fn section_word(section: Section) -> Phrase {
    match section {
        Section::Model => phrase!("model"),
        Section::Parameters => phrase!("parameters"),
        Section::Tools => phrase!("tools"),
        Section::System => phrase!("system prompt"),
        Section::Messages => phrase!("messages"),
    }
}

fn cause_line(cause: &Cause) -> Phrase {
    let section = match &cause.subject {
        Some(subject) => {
            phrase!("{section} `{subject}`", section = section_word(cause.section), subject)
        }
        None => section_word(cause.section),
    };
    phrase!(
        "{lost}: {section}, {change}; {requests}, first request {first}",
        lost = with_cost(cause.lost, cause.cost.map(|cost| cost.to_string())),
        section,
        change = change_word(cause.change),
        requests = count_of!(cause.count, "request"),
        first = cause.first
    )
}

fn with_cost(lost: u64, cost: Option<String>) -> Phrase {
    match cost {
        Some(cost) => phrase!("{tokens} ({cost})", tokens = tokens(lost), cost),
        None => tokens(lost),
    }
}

fn cost(request: &RequestReport) -> Phrase {
    match request.cost {
        Some(cost) => Phrase::verbatim(cost.to_string()),
        None => phrase!("no price is known"),
    }
}

fn total(report: &LogReport) -> Phrase {
    let total = &report.total;
    let (requests, all) = (count_of!(total.requests, "request"), tokens(total.tokens));
    let percent = |part: u64, all: u64| (part * 100).checked_div(all).unwrap_or(0);
    let reusable = percent(total.reused, total.tokens);
    let sum = match total.cached {
        Some(cached) => phrase!(
            "{requests}, {all}: {cached}% were read from caches, {reusable}% could be",
            requests,
            all,
            cached = percent(cached, total.reported.unwrap_or(0)),
            reusable
        ),
        None => phrase!("{requests}, {all}: caches could provide {reusable}%", requests, all, reusable),
    };
    match (total.cost, total.avoidable) {
        (Some(cost), Some(avoidable)) => phrase!(
            "{sum}; {cost}, of which {avoidable} for cache misses",
            sum,
            cost = cost.to_string(),
            avoidable = avoidable.to_string()
        ),
        (Some(cost), None) => phrase!("{sum}; {cost}", sum, cost = cost.to_string()),
        _ => sum,
    }
}

/// Lists the lines that hold no request.
fn skipped(language: Language, report: &LogReport) -> Option<String> {
    let first = report.skipped.first()?;
    let reason = match first.reason {
        SkipReason::NoJson => phrase!("no JSON"),
        SkipReason::NoRequest => phrase!("no request"),
        SkipReason::TooLong => phrase!("longer than 64 MiB"),
        SkipReason::TooMany => phrase!("more than 1,000,000 requests"),
    };
    let (lines, number) = (count_of!(report.skipped_count, "line"), first.line);
    Some(
        said(language, &phrase!("{lines} skipped, first line {number}: {reason}", lines, number, reason))
            + "\n",
    )
}

fn said(language: Language, text: &Phrase) -> String {
    clean_line(&lang::say(language, text))
}
