//! The messages: their texts coloured by source, their cost, and what each stage did to them.

use ctx_language::Language;

use ctx_engine::Context;
use ctx_engine::internal::{CostPart, Event, MessageSegment, MessageTrace, SentMessage, Step, TracedMessage};
use ctx_types::internal::{Argument, Divider, thousands};
use ctx_types::{Content, ContentPart, Message, Phrase, count_of, phrase};
use serde::Serialize;

use crate::lang;
use crate::page::bars::{self, Bar};
use crate::page::decisions::{self, Row};
use crate::page::difference::{self, Run};
use crate::page::text::{Room, missing, shown};
use crate::show::{self, via, what};

/// How many messages are shown; of more, half of them from either end.
const MAX_SHOWN: usize = 400;

/// How many pieces of a message are listed before the rest is counted.
const MAX_PIECES: usize = 1_000;

/// The messages that are shown.
#[derive(Serialize)]
pub(super) struct List<'a> {
    items: Vec<Item<'a>>,
    /// What is said of those that are left out.
    gap: Option<Gap>,
}

/// Messages in the middle of a long context.
#[derive(Serialize)]
struct Gap {
    /// The number before which they stand.
    at: usize,
    text: String,
}

/// One message.
#[derive(Serialize)]
struct Item<'a> {
    number: usize,
    role: &'a str,
    source: String,
    name: Option<String>,
    placement: Option<String>,
    speaker: Option<String>,
    tokens: String,
    cost: String,
    /// Both on one line.
    account: String,
    bar: Bar,
    is_stable: bool,
    text: Vec<Stretch>,
    missing: Option<String>,
    /// What travels beside the text: calls, files, parts.
    beside: Vec<String>,
    pieces: Vec<PieceRow>,
    more_pieces: usize,
    steps: Vec<StepRow>,
}

/// A stretch of a text that one source wrote.
#[derive(Serialize)]
struct Stretch {
    kind: &'static str,
    title: String,
    text: String,
}

#[derive(Serialize)]
struct PieceRow {
    bytes: String,
    tokens: String,
    kind: &'static str,
    source: String,
}

#[derive(Serialize)]
struct StepRow {
    stage: String,
    events: Vec<EventRow>,
    decisions: Vec<Row>,
}

#[derive(Serialize)]
struct EventRow {
    what: String,
    /// How the text changed, or what it was made of; empty where it is the text of the message.
    runs: Vec<Run>,
}

/// Lists the messages of a context, as far as there is room.
pub(super) fn list<'a>(
    language: Language,
    context: &'a Context,
    traces: &MessageTrace<'_>,
    tokens: &[u32],
    room: &mut Room,
) -> List<'a> {
    let most = tokens.iter().copied().max().unwrap_or(0);
    let item = |number: usize| {
        let (message, life) = (context.messages.get(number)?, traces.sent(number)?);
        item(language, message, &life, most, room)
    };
    let count = context.messages.len();
    let items = numbers_shown(count).filter_map(item).collect();
    let gap = count.checked_sub(MAX_SHOWN).filter(|omitted| *omitted > 0).map(|omitted| Gap {
        at: count - MAX_SHOWN / 2,
        text: lang::say(
            language,
            &phrase!(
                "{more} in between; use ctx explain --json to list all",
                more = count_of!(omitted, "more message")
            ),
        ),
    });
    List { items, gap }
}

/// Returns the numbers of the messages that are shown of so many.
pub(super) fn numbers_shown(count: usize) -> impl Iterator<Item = usize> {
    let (head, tail) =
        if count > MAX_SHOWN { (MAX_SHOWN / 2, count - MAX_SHOWN / 2) } else { (count, count) };
    (0..head).chain(tail..count)
}

fn item<'a>(
    language: Language,
    message: &'a Message,
    life: &TracedMessage,
    most: u32,
    room: &mut Room,
) -> Option<Item<'a>> {
    let sent = life.messages.first()?;
    let (text, missing) = stretches(language, sent, room);
    let part = |cost: &CostPart| {
        phrase!("{tokens} {part}", tokens = thousands(cost.tokens.into()), part = Phrase::from(cost.part))
    };
    let parts: Vec<Phrase> = sent.cost.iter().map(part).collect();
    let cost: Vec<String> = parts.iter().map(|part| lang::say(language, part)).collect();
    let tokens = show::tokens(sent.tokens.into());
    let account = phrase!("{tokens}: {parts}", tokens, parts = Argument::list(&parts, Divider::Comma));
    Some(Item {
        number: sent.number,
        role: message.role.as_str(),
        source: shown(&sent.source.to_string()),
        name: life.name.as_deref().map(shown),
        placement: sent.placement.as_ref().map(|placement| shown(&lang::say(language, placement))),
        speaker: message.name.as_deref().map(shown),
        tokens: lang::say(language, &tokens),
        cost: language.list(&cost),
        account: lang::say(language, &account),
        bar: bars::of_pieces(language, &sent.pieces, most.into()),
        is_stable: sent.cache.as_ref().is_some_and(|cache| cache.is_stable),
        text,
        missing,
        beside: beside(language, message),
        pieces: sent.pieces.iter().take(MAX_PIECES).map(|own| piece(language, own)).collect(),
        more_pieces: sent.pieces.len().saturating_sub(MAX_PIECES),
        steps: life.steps.iter().map(|step| self::step(language, step, &sent.text, room)).collect(),
    })
}

/// Divides a text into what each source wrote.
fn stretches(language: Language, sent: &SentMessage, room: &mut Room) -> (Vec<Stretch>, Option<String>) {
    let cut = room.take(&sent.text);
    let stretch = |piece: &MessageSegment| {
        let span = piece.segment.span;
        let text = cut.text.get(span.start..span.end.min(cut.text.len())).filter(|text| !text.is_empty())?;
        let size = phrase!(
            "bytes {start}–{end} · {tokens}",
            start = span.start,
            end = span.end,
            tokens = count_of!(piece.tokens, "token")
        );
        let title = format!("{} · {}", writer(language, piece), lang::say(language, &size));
        Some(Stretch { kind: piece.segment.source.kind.as_str(), title, text: shown(text) })
    };
    (sent.pieces.iter().filter_map(stretch).collect(), missing(language, cut.missing))
}

fn piece(language: Language, piece: &MessageSegment) -> PieceRow {
    let span = piece.segment.span;
    PieceRow {
        bytes: if span.is_empty() { "–".to_owned() } else { format!("{}–{}", span.start, span.end) },
        tokens: thousands(piece.tokens.into()),
        kind: piece.segment.source.kind.as_str(),
        source: writer(language, piece),
    }
}

/// Names what wrote a piece, and what it replaced.
fn writer(language: Language, piece: &MessageSegment) -> String {
    let source = &piece.segment.source;
    let name = source.name().map(|name| show::bracketed(language, name)).unwrap_or_default();
    shown(&format!("{}{name}{}", show::source_name(language, source), via(language, piece)))
}

fn beside(language: Language, message: &Message) -> Vec<String> {
    let answers = message.tool_call_id.iter().map(|id| phrase!("result of {id}", id));
    let calls = message.tool_calls.iter().map(|call| {
        let call_text = short(format!("{}({})", call.name, call.arguments));
        phrase!("call {id}: {call}", call = call_text, id = call.id)
    });
    let files =
        message.attachments.iter().map(|file| phrase!("file {name}", name = short(file.name.to_string())));
    let parts = match &message.content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Text(_) => &[],
    };
    let parts = parts.iter().filter_map(|part| match part {
        ContentPart::Other(part) => part.get("type")?.as_str().map(|kind| phrase!("{kind} part", kind)),
        ContentPart::Text(_) => None,
    });
    let reasons = message.reasoning.iter().map(|_| phrase!("includes the model's reasoning"));
    answers
        .chain(calls)
        .chain(files)
        .chain(parts)
        .chain(reasons)
        .map(|text| shown(&lang::say(language, &text)))
        .collect()
}

/// The beginning of what may be long, such as the arguments of a call.
fn short(text: String) -> String {
    const MAX: usize = 2_000;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn step(language: Language, step: &Step, text: &str, room: &mut Room) -> StepRow {
    StepRow {
        stage: shown(&step.stage),
        events: step.events.iter().map(|event| self::event(language, event, text, room)).collect(),
        decisions: step.decisions.iter().map(|decision| decisions::row(language, decision, None)).collect(),
    }
}

fn event(language: Language, event: &Event, text: &str, room: &mut Room) -> EventRow {
    let runs = match (&event.before, &event.after) {
        (Some(before), Some(after)) => difference::runs(language, before, after, room),
        // What is the message's text in the end stands above.
        (None, Some(after)) if after != text => difference::whole(language, after, room),
        _ => Vec::new(),
    };
    EventRow { what: shown(&what(language, event)), runs }
}
