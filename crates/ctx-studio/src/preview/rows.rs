//! The rows of a context: its messages, and between them what is not sent.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::names::Names;
use super::{KeptRow, Shown};
use crate::api_preview::Row;
use ctx_engine::Context;
use ctx_project::Turn;
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Diagnostic, Message, Placement, Segment, Source, SourceKind, phrase};

/// Limit of rows for disabled entries, and for other dropped messages.
const MAX_LEFT_OUT: usize = 500;

/// How many of those that a message was joined of are named.
const MAX_NAMED: usize = 8;

/// How many characters of a text a row shows.
const MAX_HEAD: usize = 200;

/// Reasons of decisions about disabled entries and messages.
const DISABLED: [&str; 2] = ["disabled", "group `{name}` is disabled"];

/// Returns where the entries of the preset that something came from stand in their file.
pub(super) fn pointers(turn: &Turn, context: &Context) -> BTreeMap<usize, String> {
    let mut indexes = BTreeSet::new();
    for message in &context.messages {
        let segments = message.segments();
        let sources = segments.iter().map(root).chain([&message.source]);
        indexes.extend(sources.filter_map(entry));
    }
    indexes.extend(context.report.decisions.iter().filter_map(|decision| entry(&decision.source)));
    let at = |index: &usize| {
        Diagnostic::info(MORE_FINDINGS, phrase!("")).at_pointer(format!("/presetMessages/{index}"))
    };
    let led = turn.lead_back(indexes.iter().map(at).collect());
    let pointers = led.into_iter().map(|found| found.location.pointer.unwrap_or_default());
    indexes.into_iter().zip(pointers).collect()
}

/// What a piece was written from at first.
pub(super) fn root(segment: &Segment) -> &Source {
    segment.via.last().unwrap_or(&segment.source)
}

/// Returns the index of the entry of the preset that something came from.
pub(super) fn entry(source: &Source) -> Option<usize> {
    source.index().filter(|_| source.kind == SourceKind::Preset)
}

/// Returns the name that people know something by, without the conversation.
pub(crate) fn name(source: &Source) -> String {
    match (source.name(), &source.id, source.index()) {
        (Some(name), ..) if !name.trim().is_empty() => name.to_owned(),
        (_, Some(id), _) => id.to_string(),
        (_, None, Some(index)) => format!("#{}", index + 1),
        (_, None, None) => String::new(),
    }
}

/// Returns what most bytes of a message come from, where it was joined of several.
pub(crate) fn kind(message: &Message, segments: &[Segment]) -> SourceKind {
    if message.source.kind != SourceKind::Merged {
        return message.source.kind;
    }
    let mut bytes: BTreeMap<SourceKind, usize> = BTreeMap::new();
    for segment in segments {
        *bytes.entry(root(segment).kind).or_default() += segment.span.len();
    }
    bytes.remove(&SourceKind::Separator);
    let most = bytes.into_iter().max_by_key(|(_, bytes)| *bytes);
    most.map_or(message.source.kind, |(kind, _)| kind)
}

/// Names what a message was joined of.
pub(crate) fn joined_name(message: &Message, segments: &[Segment]) -> String {
    named(message, segments, name)
}

fn named(message: &Message, segments: &[Segment], name: impl Fn(&Source) -> String) -> String {
    if message.source.kind != SourceKind::Merged {
        return name(&message.source);
    }
    let mut names: Vec<String> = Vec::new();
    for root in segments.iter().map(root).filter(|root| root.kind != SourceKind::Separator) {
        let name =
            Some(name(root)).filter(|name| !name.is_empty()).unwrap_or_else(|| root.kind.as_str().to_owned());
        if !names.contains(&name) && names.len() < MAX_NAMED {
            names.push(name);
        }
    }
    names.join(" + ")
}

/// Lists messages, and what is not sent before the message that would follow it.
pub(super) fn list(
    names: Names<'_>,
    turn: &Turn,
    context: &Context,
    pointers: &BTreeMap<usize, String>,
) -> Vec<KeptRow> {
    let tokens = context.tokens();
    let mut left_out: Vec<(usize, KeptRow)> = Vec::new();
    let mut counts = [0; 2];
    let mut is_listed = |decision: &Decision| {
        let count = &mut counts[usize::from(is_disabled(decision))];
        *count += 1;
        *count <= MAX_LEFT_OUT
    };
    for (at, decision) in context.report.decisions.iter().enumerate() {
        if !is_left_out(decision.outcome) || !is_listed(decision) {
            continue;
        }
        let row = left_out_row(names, turn, decision, pointers);
        left_out
            .push((slot(&context.messages, &decision.source), KeptRow { row, shows: Shown::LeftOut(at) }));
    }
    left_out.sort_by_key(|(slot, _)| *slot);
    let mut left_out = left_out.into_iter().peekable();
    let mut rows = Vec::new();
    for (n, (message, tokens)) in context.messages.iter().zip(tokens).enumerate() {
        while let Some((_, row)) = left_out.next_if(|(slot, _)| *slot <= n) {
            rows.push(row);
        }
        let row = message_row(names, message, (n, tokens), pointers);
        rows.push(KeptRow { row, shows: Shown::Message(n) });
    }
    rows.extend(left_out.map(|(_, row)| row));
    for (number, kept) in rows.iter_mut().enumerate() {
        kept.row.row = number;
    }
    rows
}

/// Returns whether something is not sent at all.
const fn is_left_out(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Dropped | Outcome::Hidden | Outcome::NotActivated | Outcome::NotLoaded)
}

/// Returns whether something is not sent because its author disabled it.
fn is_disabled(decision: &Decision) -> bool {
    decision.outcome == Outcome::Hidden && DISABLED.contains(&decision.reason.template())
}

/// Returns before which message something would stand.
fn slot(messages: &[Message], source: &Source) -> usize {
    let follows = |message: &Message| match entry(source) {
        Some(index) => entry(&message.source).is_some_and(|other| other > index),
        None => source.kind.is_history() && message.source.kind.is_history(),
    };
    messages.iter().position(follows).unwrap_or(messages.len())
}

fn message_row(
    names: Names<'_>,
    message: &Message,
    (n, tokens): (usize, u32),
    pointers: &BTreeMap<usize, String>,
) -> Row {
    let (text, segments) = (message.text(), message.segments());
    let place =
        message.placement.as_ref().map_or(Placement::InOrder.phrase(), |placement| placement.phrase());
    let mut row = Row {
        n: Some(n),
        key: String::new(),
        role: message.role.as_str().to_owned(),
        source: kind(message, &segments).as_str().to_owned(),
        code: code(message, &segments),
        name: named(message, &segments, |source| names.name(source)),
        pointer: entry(&message.source).and_then(|index| pointers.get(&index).cloned()),
        entries: entries(&message.source, &segments, pointers),
        place: names.language.say(&place),
        tokens: Some(tokens.into()),
        bytes: text.len(),
        head: head(&text),
        dropped: None,
        is_disabled: false,
        row: 0,
    };
    row.key = key(&row, &text, &segments);
    row
}

/// Identifies a message by its source; a joined one by the first source of its text.
fn code(message: &Message, segments: &[Segment]) -> String {
    let is_text = |source: &&Source| source.kind != SourceKind::Separator;
    let first = segments.iter().map(root).find(is_text);
    let first = first.filter(|_| message.source.kind == SourceKind::Merged);
    first.unwrap_or(&message.source).to_string()
}

/// Returns the places of all entries that a text is from.
fn entries(source: &Source, segments: &[Segment], pointers: &BTreeMap<usize, String>) -> Vec<String> {
    let sources = segments.iter().map(root).chain([source]);
    let indexes: BTreeSet<usize> = sources.filter_map(entry).collect();
    indexes.iter().filter_map(|index| pointers.get(index).cloned()).collect()
}

fn left_out_row(
    names: Names<'_>,
    turn: &Turn,
    decision: &Decision,
    pointers: &BTreeMap<usize, String>,
) -> Row {
    let source = &decision.source;
    let text = left_out_text(turn, source).unwrap_or_default();
    let node =
        source.id.as_deref().filter(|_| source.kind.is_history()).and_then(|id| turn.session().node(id));
    let role = node.and_then(|node| node.role).map(|role| role.as_str().to_owned());
    let why = why(names, decision);
    let why = match decision.count {
        0 | 1 => why,
        count => names.language.say(&phrase!("{why} ({count} in total)", why, count)),
    };
    let mut row = Row {
        n: None,
        key: String::new(),
        role: role.unwrap_or_default(),
        source: source.kind.as_str().to_owned(),
        code: source.to_string(),
        name: names.name(source),
        pointer: entry(source).and_then(|index| pointers.get(&index).cloned()),
        entries: entries(source, &[], pointers),
        place: String::new(),
        tokens: None,
        bytes: decision.bytes.unwrap_or(text.len()),
        head: head(&text),
        dropped: Some(why),
        is_disabled: is_disabled(decision),
        row: 0,
    };
    row.key = key(&row, &text, &[]);
    row
}

/// Formats the outcome and the reason of a decision.
pub(super) fn why(names: Names<'_>, decision: &Decision) -> String {
    let outcome = names.language.word(decision.outcome.as_str()).replace('_', " ");
    let reason = names.say(&decision.reason);
    names.language.say(&phrase!("{outcome}: {reason}", outcome, reason))
}

/// Returns the text of something that is not sent, where it is known.
pub(super) fn left_out_text(turn: &Turn, source: &Source) -> Option<String> {
    if let Some(index) = entry(source) {
        let content = turn.agent().preset_messages.get(index)?.content.as_ref()?;
        return Some(content.text().into_owned());
    }
    let id = source.id.as_deref().filter(|_| source.kind.is_history())?;
    Some(turn.session().node(id)?.content.as_ref()?.text().into_owned())
}

/// Names a row by all that it shows, but for where it stands.
fn key(row: &Row, text: &str, segments: &[Segment]) -> String {
    let mut hasher = DefaultHasher::new();
    let Row { role, source, code, name, pointer, entries, place, tokens, bytes, dropped, .. } = row;
    (role, source, code, name, pointer, entries, place, tokens, bytes, dropped, text).hash(&mut hasher);
    for Segment { span, source, .. } in segments {
        (span.start, span.end, source.kind.as_str(), &source.id, source.name(), source.index())
            .hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn head(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let end = line.char_indices().nth(MAX_HEAD).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or_default().to_owned()
}
