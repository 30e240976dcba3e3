//! The rows of a context: its messages, and between them what is not sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ctx_engine::Context;
use ctx_language::Language;
use ctx_project::Turn;
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Decision, Diagnostic, Message, Outcome, Placement, Segment, Source, SourceKind, phrase};
use similar::DiffOp;

use super::difference::operations;
use super::{KeptRow, Shown};
use crate::api_preview::{Row, RowSplice};
use crate::folder::hash;

/// How many rows of things that are not sent there are.
const MAX_LEFT_OUT: usize = 500;

/// How many of those that a message was joined of are named.
const MAX_NAMED: usize = 8;

/// How many characters of a text a row shows.
const MAX_HEAD: usize = 200;

/// How many changed places are told; of more, all rows are one.
const MAX_SPLICES: usize = 200;

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

/// Returns the name that people know something by.
pub(super) fn name(source: &Source) -> String {
    match (source.name(), &source.id, source.index()) {
        (Some(name), ..) if !name.trim().is_empty() => name.to_owned(),
        (_, Some(id), _) => id.to_string(),
        (_, None, Some(index)) => format!("#{}", index + 1),
        (_, None, None) => String::new(),
    }
}

/// Returns what most bytes of a message come from, where it was joined of several.
fn kind(message: &Message, segments: &[Segment]) -> SourceKind {
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
fn joined_name(message: &Message, segments: &[Segment]) -> String {
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
    language: Language,
    turn: &Turn,
    context: &Context,
    pointers: &BTreeMap<usize, String>,
) -> Vec<KeptRow> {
    let tokens = context.tokens();
    let mut left_out: Vec<(usize, KeptRow)> = Vec::new();
    let decisions = context.report.decisions.iter().enumerate();
    for (at, decision) in decisions.filter(|(_, decision)| is_left_out(decision.outcome)).take(MAX_LEFT_OUT) {
        let row = left_out_row(language, turn, decision, pointers);
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
        let row = message_row(language, message, (n, tokens), pointers);
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

/// Returns before which message something would stand.
fn slot(messages: &[Message], source: &Source) -> usize {
    let follows = |message: &Message| match entry(source) {
        Some(index) => entry(&message.source).is_some_and(|other| other > index),
        None => source.kind.is_history() && message.source.kind.is_history(),
    };
    messages.iter().position(follows).unwrap_or(messages.len())
}

fn message_row(
    language: Language,
    message: &Message,
    (n, tokens): (usize, u32),
    pointers: &BTreeMap<usize, String>,
) -> Row {
    let (text, segments) = (message.text(), message.segments());
    let place =
        message.placement.as_ref().map_or(Placement::InOrder.phrase(), |placement| placement.phrase());
    let mut more = text.clone().into_owned();
    for Segment { span, source, .. } in segments.iter() {
        // Writing into a text cannot fail.
        write!(more, "\n{}..{} {source}", span.start, span.end).unwrap_or_default();
    }
    let mut row = Row {
        n: Some(n),
        key: String::new(),
        role: message.role.as_str().to_owned(),
        source: kind(message, &segments).as_str().to_owned(),
        name: joined_name(message, &segments),
        pointer: entry(&message.source).and_then(|index| pointers.get(&index).cloned()),
        place: language.say(&place),
        tokens: Some(tokens.into()),
        bytes: text.len(),
        head: head(&text),
        dropped: None,
        row: 0,
    };
    row.key = key(&row, &more);
    row
}

fn left_out_row(
    language: Language,
    turn: &Turn,
    decision: &Decision,
    pointers: &BTreeMap<usize, String>,
) -> Row {
    let source = &decision.source;
    let text = left_out_text(turn, source).unwrap_or_default();
    let node =
        source.id.as_deref().filter(|_| source.kind.is_history()).and_then(|id| turn.session().node(id));
    let role = node.and_then(|node| node.role).map(|role| role.as_str().to_owned());
    let outcome = language.word(&decision.outcome.as_str().replace('_', " ")).into_owned();
    let why = phrase!("{outcome}: {reason}", outcome, reason = decision.reason);
    let why = match decision.count {
        0 | 1 => why,
        count => phrase!("{why} ({count} in all)", why, count),
    };
    let mut row = Row {
        n: None,
        key: String::new(),
        role: role.unwrap_or_default(),
        source: source.kind.as_str().to_owned(),
        name: name(source),
        pointer: entry(source).and_then(|index| pointers.get(&index).cloned()),
        place: String::new(),
        tokens: None,
        bytes: decision.bytes.unwrap_or(text.len()),
        head: head(&text),
        dropped: Some(language.say(&why)),
        row: 0,
    };
    row.key = key(&row, &text);
    row
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
fn key(row: &Row, more: &str) -> String {
    let shown =
        (&row.role, &row.source, &row.name, &row.pointer, &row.place, &row.tokens, &row.bytes, &row.dropped);
    hash(format!("{shown:?}\n{more}").as_bytes()).chars().take(16).collect()
}

fn head(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(MAX_HEAD).collect()
}

/// Returns what makes the new rows of the old ones, to be carried out in order.
pub(super) fn splices(old: &[KeptRow], new: &[KeptRow]) -> Vec<RowSplice> {
    let keys = |rows: &[KeptRow]| rows.iter().map(|kept| kept.row.key.clone()).collect::<Vec<_>>();
    let insert = |start: usize, len: usize| {
        let rows = new.get(start..start + len).unwrap_or_default();
        rows.iter().map(|kept| kept.row.clone()).collect::<Vec<_>>()
    };
    let ops = operations(&keys(old), &keys(new));
    let splice = |op: &DiffOp| match *op {
        DiffOp::Equal { .. } => None,
        DiffOp::Delete { old_len, new_index, .. } => {
            Some(RowSplice { at: new_index, remove: old_len, insert: Vec::new() })
        }
        DiffOp::Insert { new_index, new_len, .. } => {
            Some(RowSplice { at: new_index, remove: 0, insert: insert(new_index, new_len) })
        }
        DiffOp::Replace { old_len, new_index, new_len, .. } => {
            Some(RowSplice { at: new_index, remove: old_len, insert: insert(new_index, new_len) })
        }
    };
    let splices: Vec<RowSplice> = ops.iter().filter_map(splice).collect();
    match splices.len() > MAX_SPLICES {
        true => vec![RowSplice { at: 0, remove: old.len(), insert: insert(0, new.len()) }],
        false => splices,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(keys: &str) -> Vec<KeptRow> {
        let row = |(row, key): (usize, char)| KeptRow {
            row: Row {
                n: Some(row),
                key: key.to_string(),
                role: String::new(),
                source: String::new(),
                name: String::new(),
                pointer: None,
                place: String::new(),
                tokens: None,
                bytes: 0,
                head: String::new(),
                dropped: None,
                row,
            },
            shows: Shown::Message(row),
        };
        keys.chars().enumerate().map(row).collect()
    }

    #[track_caller]
    fn check(old: &str, new: &str) {
        let mut keys: Vec<String> = old.chars().map(|key| key.to_string()).collect();
        for splice in splices(&rows(old), &rows(new)) {
            let inserted = splice.insert.into_iter().map(|row| row.key);
            keys.splice(splice.at..splice.at + splice.remove, inserted);
        }
        assert_eq!(keys.concat(), new);
    }

    #[test]
    fn splices_make_the_new_rows_of_the_old_ones() {
        for (old, new) in [
            ("", ""),
            ("", "abc"),
            ("abc", ""),
            ("abc", "abc"),
            ("abc", "axc"),
            ("abc", "xabc"),
            ("abcdef", "acxfyz"),
            ("abcabc", "cabcab"),
        ] {
            check(old, new);
        }
    }
}
