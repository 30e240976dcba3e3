//! The life of one message, for people.

use ctx_engine::{CacheStanding, CostPart, Event, EventKind, Life, Piece, SentMessage, Step};
use ctx_types::{Decision, Source};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::diff::diff;
use crate::show::explanation::decision;
use crate::show::table::{first_line, fitted, share};
use crate::show::{cut_line, plural, width};

/// How many lines of a text are shown before the rest is counted.
const MAX_LINES: usize = 100;

/// How many pieces of a text are shown before the rest is counted.
const MAX_PIECES: usize = 500;

/// How many sources of a joined message are named.
const MAX_NAMED: usize = 8;

/// Writes what is sent of a message and where each byte came from, what each stage did to it, and where it stands to
/// the cache. Colours are in it where standard output wants them.
pub(crate) fn life(life: &Life) -> String {
    let mut parts: Vec<String> = life.messages.iter().map(|message| sent(life, message)).collect();
    if life.messages.is_empty() {
        parts.push(not_sent(life));
    }
    parts.push(stages(&life.steps, &life.decisions));
    parts.extend(caches(&life.messages));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn not_sent(life: &Life) -> String {
    let why = life.end().map(|end| {
        let outcome = end.outcome.as_str().replace('_', " ");
        lang::list(&[lang::text(&outcome), lang::say(&end.reason).into()])
    });
    let stage = life.steps.last().map(|step| format!("`{}` left it out and does not say why", step.stage));
    let why = why.or(stage).unwrap_or_else(|| "nothing says why".to_owned());
    let told = format!("{}{} is not sent: {why}", life.subject, named(life.name.as_deref()));
    clean_line(&lang::text(&told)) + "\n"
}

fn named(name: Option<&str>) -> String {
    name.map(|name| format!(" ({name})")).unwrap_or_default()
}

fn placed(placement: Option<&str>) -> String {
    let placed = placement.map(|placement| lang::phrase(&format!(", {placement}")).into_owned());
    placed.unwrap_or_default()
}

/// One message: what it is and costs, its text, and its pieces.
fn sent(life: &Life, message: &SentMessage) -> String {
    let SentMessage { number, role, source, tokens, .. } = message;
    let is_whole = source.to_string() == life.subject;
    let head = match is_whole {
        true => format!("message {number}, {role}: {source}{}", named(life.name.as_deref())),
        false => format!("message {number}, {role}: {source}, with {}", life.subject),
    };
    let place = placed(message.placement.as_deref());
    let part = |cost: &CostPart| lang::phrase(&format!("{} {}", cost.tokens, cost.part)).into_owned();
    let parts: Vec<String> = message.cost.iter().map(part).collect();
    let own = message.own_tokens.map(|own| format!("; {} of them for {}", share(own, true), life.subject));
    let cost =
        format!("{}: {}{}", plural(*tokens as usize, "token"), lang::list(&parts), own.unwrap_or_default());
    let head = format!(
        "{}\n{}\n",
        clean_line(&(lang::phrase(&head) + place.as_str())),
        clean_line(&lang::phrase(&cost))
    );
    [head, text(&message.text, "  "), pieces(message)].join("\n")
}

/// A text with each line indented.
fn text(text: &str, indent: &str) -> String {
    let mut lines = text.lines();
    let shown: String = lines
        .by_ref()
        .take(MAX_LINES)
        .map(|line| format!("{indent}{}", clean(line)).trim_end().to_owned() + "\n")
        .collect();
    match lines.count() {
        0 => shown,
        more => {
            let more = format!("and {}; `--json` has them all", plural(more, "more line"));
            format!("{shown}{indent}{}\n", lang::text(&more))
        }
    }
}

/// What each range of the bytes came from.
fn pieces(message: &SentMessage) -> String {
    let row = |piece: &Piece| {
        let span = piece.segment.span;
        let bytes = if span.is_empty() { String::new() } else { format!("{}..{}", span.start, span.end) };
        let source = format!("{}{}", piece.segment.source, via(piece));
        let text = first_line(message.text.get(span.start..span.end).unwrap_or_default());
        [bytes, share(piece.tokens, !span.is_empty()), cut_line(&source, width() / 2), text]
    };
    let mut rows: Vec<[String; 4]> = message.pieces.iter().take(MAX_PIECES).map(row).collect();
    if let Some(more) = message.pieces.len().checked_sub(MAX_PIECES).filter(|more| *more > 0) {
        let note = lang::text(&format!("and {more} more; `--json` has them all")).into_owned();
        rows.push([String::new(), String::new(), note, String::new()]);
    }
    fitted(["bytes", "tokens", "source", "text"], rows, &[0, 1])
}

/// Names what a piece was written by way of.
pub(crate) fn via(piece: &Piece) -> String {
    let of = |source: &Source| lang::phrase(&format!(" of {source}")).into_owned();
    piece.segment.via.iter().map(of).collect()
}

fn stages(steps: &[Step], late: &[Decision]) -> String {
    let mut lines: Vec<String> = steps.iter().map(step).collect();
    if lines.is_empty() {
        lines.push(lang::lines("  no stage has seen it\n").into_owned());
    }
    lines.extend(late.iter().map(|late| format!("  {}\n", decision(late))));
    format!("{}\n{}", lang::text("stages"), lines.concat())
}

fn step(step: &Step) -> String {
    let events =
        step.events.iter().map(|event| format!("    {}\n{}", clean_line(&what(event)), change(event)));
    let decisions = step.decisions.iter().map(|decided| format!("    {}\n", decision(decided)));
    let lines: Vec<String> = events.chain(decisions).collect();
    format!("  {}\n{}", clean_line(&step.stage), lines.concat())
}

/// Says in one phrase what a stage did.
pub(crate) fn what(event: &Event) -> String {
    let to = event.to.map(|to| format!("message {to}")).unwrap_or_default();
    let from = numbers(&event.from);
    let moved = if event.is_moved { format!(", moved from {from}") } else { String::new() };
    let told = match event.kind {
        EventKind::Made if event.source.kind.is_history() => format!("loaded as {to}"),
        EventKind::Made => format!("made as {to}"),
        EventKind::HandedOver => "handed over to be placed".to_owned(),
        EventKind::Placed => format!("placed as {to}"),
        EventKind::Joined => {
            let mut names: Vec<String> =
                event.joined.iter().take(MAX_NAMED).map(ToString::to_string).collect();
            if let Some(more) = event.joined.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
                names.push(format!("{more} more"));
            }
            format!("joined {from} to {to}: {}", lang::list(&names))
        }
        EventKind::Changed => {
            let changes: Vec<_> = event.changes.iter().map(|change| lang::text(change)).collect();
            format!("changed {}: {to}{moved}", lang::list(&changes))
        }
        EventKind::Moved => format!("moved from {from} to {to}"),
        EventKind::Gone => format!("left out {from}"),
    };
    let is_placed = match event.kind {
        EventKind::Made => !event.source.kind.is_history(),
        kind => matches!(kind, EventKind::HandedOver | EventKind::Placed),
    };
    let place = event.placement.as_deref().filter(|_| is_placed);
    lang::phrase(&told).into_owned() + &placed(place)
}

fn numbers(numbers: &[usize]) -> String {
    let mut words: Vec<String> = numbers.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if let Some(more) = numbers.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        words.push(format!("{more} more"));
    }
    let noun = if numbers.len() == 1 { "message" } else { "messages" };
    format!("{noun} {}", lang::list(&words))
}

/// The text that a stage made, or how it changed it.
fn change(event: &Event) -> String {
    const INDENT: &str = "      ";
    match (&event.before, &event.after) {
        (Some(before), Some(after)) => diff(before, after)
            .lines()
            .map(|line| format!("{INDENT}{line}").trim_end().to_owned() + "\n")
            .collect(),
        (None, Some(after)) => text(after, INDENT),
        _ => String::new(),
    }
}

/// Where messages stand to the cache of the provider.
fn caches(messages: &[SentMessage]) -> Option<String> {
    let lines: Vec<String> = messages
        .iter()
        .filter_map(|message| {
            Some(format!("  {}\n", clean_line(&lang::text(&cache(message.number, message.cache.as_ref()?)))))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("{}\n{}", lang::text("cache"), lines.concat()))
}

fn cache(number: usize, standing: &CacheStanding) -> String {
    if standing.is_stable {
        return format!("the next turn sends message {number} again as it is, and all above it");
    }
    let of = standing.source.as_ref().zip(standing.reason.as_ref());
    let of = of.map(|(source, reason)| format!(": {source}, {}", lang::say(reason))).unwrap_or_default();
    match standing.ended_by {
        Some(end) if end == number => format!("message {number} may differ in the next turn{of}"),
        Some(end) => {
            format!("message {number} stands below message {end}, which may differ in the next turn{of}")
        }
        None => format!("message {number} may differ in the next turn"),
    }
}
