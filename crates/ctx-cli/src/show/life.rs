//! The life of one message, for people.

use ctx_engine::internal::{CacheStatus, CostPart, Event, MessageSegment, SentMessage, Step, TracedMessage};
use ctx_language::Language;
use ctx_project::life;
use ctx_types::internal::{Argument, Divider};
use ctx_types::report::Decision;
use ctx_types::{Phrase, Source, SourceKind, count_of, phrase};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::diff::diff;
use crate::show::explanation::decision;
use crate::show::findings::colon;
use crate::show::table::{first_line, fitted, share};
use crate::show::{cut_line, omitted, width};

/// How many lines of a text are shown before the rest is counted.
const MAX_LINES: usize = 100;

/// How many pieces of a text are shown before the rest is counted.
const MAX_PIECES: usize = 500;

/// Writes what is sent of a message and where each byte came from, what each stage did to it, and where it stands to
/// the cache. Colours are in it where standard output wants them.
pub(crate) fn life(language: Language, life: &TracedMessage) -> String {
    let mut parts: Vec<String> = life.messages.iter().map(|message| sent(language, life, message)).collect();
    if life.messages.is_empty() {
        parts.push(not_sent(language, life));
    }
    parts.push(stages(language, &life.steps, &life.decisions));
    parts.extend(caches(language, &life.messages));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn not_sent(language: Language, life: &TracedMessage) -> String {
    let why = match (life.end(), life.steps.last()) {
        (Some(end), _) => {
            let outcome = lang::word(language, &end.outcome.as_str().replace('_', " ")).into_owned();
            phrase!("{outcome}, {reason}", outcome, reason = end.reason)
        }
        (None, Some(step)) => phrase!("`{stage}` dropped it without a reason", stage = step.stage),
        (None, None) => phrase!("no reason given"),
    };
    let told = phrase!("{subject} is not sent: {why}", subject = named(&life.subject, life), why);
    clean_line(&lang::say(language, &told)) + "\n"
}

/// Adds the name of what was asked for.
fn named(source: &str, life: &TracedMessage) -> String {
    match &life.name {
        Some(name) => format!("{source} ({name})"),
        None => source.to_owned(),
    }
}

/// One message: what it is and costs, its text, and its pieces.
fn sent(language: Language, life: &TracedMessage, message: &SentMessage) -> String {
    let SentMessage { number, role, source, tokens, .. } = message;
    let (source, role, subject) = (source.to_string(), role.to_string(), &life.subject);
    let head = if source == *subject {
        phrase!("message {number}, {role}: {source}", number, role, source = named(&source, life))
    } else {
        phrase!("message {number}, {role}: {source}, includes {subject}", number, role, source, subject)
    };
    let head = life::placed(head, message.placement.as_ref());
    let parts = Argument::list(message.cost.iter().map(cost_part), Divider::Comma);
    let cost = phrase!("{tokens}: {parts}", tokens = count_of!(*tokens, "token"), parts);
    let cost = match message.own_tokens {
        Some(own) => {
            phrase!("{cost}; {own} for {subject}", cost, own = share(own, true), subject)
        }
        None => cost,
    };
    let head: String =
        [head, cost].iter().map(|line| clean_line(&lang::say(language, line)) + "\n").collect();
    [head, text(language, &message.text, "  "), pieces(language, message)].join("\n")
}

fn cost_part(cost: &CostPart) -> Phrase {
    phrase!("{tokens} {part}", tokens = cost.tokens, part = Phrase::from(cost.part))
}

/// A text with each line indented.
fn text(language: Language, text: &str, indent: &str) -> String {
    let mut lines = text.lines();
    let shown: String = lines
        .by_ref()
        .take(MAX_LINES)
        .map(|line| format!("{indent}{}", clean(line)).trim_end().to_owned() + "\n")
        .collect();
    let more = omitted(language, lines.count(), |more| {
        phrase!("and {more}; use `--json` to list all", more = count_of!(more, "more line"))
    });
    shown + &more.map(|more| format!("{indent}{more}\n")).unwrap_or_default()
}

/// Names a source. Only the names of separators and of overhead are words of the program; others are ids.
pub(crate) fn source_name(language: Language, source: &Source) -> String {
    match (source.kind, source.id.as_deref()) {
        (SourceKind::Overhead, Some(part)) if language != Language::En => {
            format!("{}{}{}", lang::page(language, "overhead"), colon(language), lang::word(language, part))
        }
        (SourceKind::Separator, None) => lang::word(language, "separator").into_owned(),
        _ => source.to_string(),
    }
}

/// Source of each range of the bytes.
fn pieces(language: Language, message: &SentMessage) -> String {
    let row = |piece: &MessageSegment| {
        let span = piece.segment.span;
        let bytes = if span.is_empty() { String::new() } else { format!("{}..{}", span.start, span.end) };
        let own = source_name(language, &piece.segment.source);
        let source = format!("{own}{}", via(language, piece));
        let text = first_line(message.text.get(span.start..span.end).unwrap_or_default());
        [bytes, share(piece.tokens, !span.is_empty()), cut_line(&source, width() / 2), text]
    };
    let mut rows: Vec<[String; 4]> = message.pieces.iter().take(MAX_PIECES).map(row).collect();
    let more = omitted(language, message.pieces.len() - rows.len(), |more| {
        phrase!("and {more} more; use `--json` to list all", more)
    });
    rows.extend(more.map(|more| [String::new(), String::new(), more, String::new()]));
    fitted(language, ["bytes", "tokens", "source", "text"], rows, &[0, 1])
}

/// Names what a piece was written by way of.
pub(crate) fn via(language: Language, piece: &MessageSegment) -> String {
    let of = |source: &Source| lang::say(language, &phrase!(" from {source}", source = source.to_string()));
    piece.segment.via.iter().map(of).collect()
}

fn stages(language: Language, steps: &[Step], late: &[Decision]) -> String {
    let mut lines: Vec<String> = steps.iter().map(|own| step(language, own)).collect();
    if lines.is_empty() {
        lines.push(lang::lines(language, "  no processor received it\n"));
    }
    lines.extend(late.iter().map(|late| format!("  {}\n", decision(language, late))));
    format!("{}\n{}", lang::word(language, "processors"), lines.concat())
}

fn step(language: Language, step: &Step) -> String {
    let events = step
        .events
        .iter()
        .map(|event| format!("    {}\n{}", clean_line(&what(language, event)), change(language, event)));
    let decisions = step.decisions.iter().map(|decided| format!("    {}\n", decision(language, decided)));
    let lines: Vec<String> = events.chain(decisions).collect();
    format!("  {}\n{}", clean_line(&step.stage), lines.concat())
}

/// Writes in one phrase what a stage did.
pub(crate) fn what(language: Language, event: &Event) -> String {
    lang::say(language, &life::event(event, ToString::to_string))
}

/// The text that a stage made, or how it changed it.
fn change(language: Language, event: &Event) -> String {
    const INDENT: &str = "      ";
    match (&event.before, &event.after) {
        (Some(before), Some(after)) => diff(language, before, after)
            .lines()
            .map(|line| format!("{INDENT}{line}").trim_end().to_owned() + "\n")
            .collect(),
        (None, Some(after)) => text(language, after, INDENT),
        _ => String::new(),
    }
}

/// Where messages stand to the cache of the provider.
fn caches(language: Language, messages: &[SentMessage]) -> Option<String> {
    let lines: Vec<String> = messages
        .iter()
        .filter_map(|message| {
            let standing = cache(message.number, message.cache.as_ref()?);
            Some(format!("  {}\n", clean_line(&lang::say(language, &standing))))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("{}\n{}", lang::word(language, "cache"), lines.concat()))
}

fn cache(number: usize, standing: &CacheStatus) -> Phrase {
    if standing.is_stable {
        return phrase!("message {number} and all messages above it are unchanged next turn", number);
    }
    let told = match standing.ended_by {
        Some(end) if end != number => {
            phrase!("message {number} is below message {end}, which may change next turn", number, end)
        }
        _ => phrase!("message {number} may change next turn", number),
    };
    match standing.source.as_ref().zip(standing.reason.as_ref()) {
        Some((source, reason)) => {
            phrase!("{told}: {source}, {reason}", told, source = source.to_string(), reason)
        }
        None => told,
    }
}
