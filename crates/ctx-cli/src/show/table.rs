//! Tables: a context with what was moved or left out, and plain listings.

use ctx_language::Language;
use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ctx_engine::Context;
use ctx_engine::inspect::TokenShare;
use ctx_types::internal::thousands;
use ctx_types::report::Decision;
use ctx_types::{Content, ContentPart, Message, Source, SourceKind, Span, count_of, phrase};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::{omitted, width};

/// The fewest columns in which the text of a message is shown.
const MIN_TEXT: usize = 24;

/// The fewest columns in which a source is shown whole.
const MIN_SOURCE: usize = 24;

/// The titles of the table of messages.
const HEADER: [&str; 5] = ["#", "role", "tokens", "source", "text"];

/// How many columns the table of messages has beside its contents.
const PADDING: usize = 14;

/// How many decisions are shown before the rest is counted.
const MAX_DECISIONS: usize = 50;

/// How many messages of a run between its first and its last one are worth a row of their own each.
const MAX_RUN: usize = 10;

/// How many pieces of a joined message are shown before the rest is counted.
const MAX_JOINED: usize = 50;

/// Writes the messages of a context as a table, one line each, and below it what was moved or left out.
///
/// Of a long run of messages of the conversation the first and the last are shown, unless `all` are wanted.
pub(crate) fn context(language: Language, context: &Context, all: bool) -> String {
    let rows = if context.messages.is_empty() {
        lang::word(language, "no messages").into_owned() + "\n"
    } else {
        rows(language, context, all, width())
    };
    let changes: Vec<&Decision> = context.report.changes().collect();
    rows + &decisions(language, &changes)
}

/// Writes messages in full, and nothing else.
pub(crate) fn messages(messages: &[Message]) -> String {
    let text = |message: &Message| {
        let head = Some(format!("[{}]", message.role));
        let body = Some(message.text().into_owned());
        let lines = head.into_iter().chain(extras(message)).chain(body).chain(calls(message));
        lines.filter(|line| !line.is_empty()).map(|line| line + "\n").collect::<String>()
    };
    messages.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Writes rows with a header; long cells are wrapped to the width of the terminal.
pub(crate) fn listing<const N: usize>(
    language: Language,
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = empty();
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width()).unwrap_or(u16::MAX));
    table.set_header(header.map(|english| lang::word(language, english)));
    for row in rows {
        table.add_row(row.map(|cell| clean(&cell).into_owned()));
    }
    text(&table)
}

/// Writes rows with a header, one line each: the last column is cut to the width of the terminal.
///
/// The columns in `right` are aligned to the right.
pub(crate) fn fitted<const N: usize>(
    language: Language,
    header: [&str; N],
    rows: Vec<[String; N]>,
    right: &[usize],
) -> String {
    let header = header.map(|english| lang::word(language, english));
    let rows: Vec<[String; N]> = rows.into_iter().map(|row| row.map(|cell| clean_line(&cell))).collect();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.max().unwrap_or(0).max(header.get(column).map_or(0, |title| title.width()))
    };
    let taken = (0..N.saturating_sub(1)).map(|column| widest(column) + GAP).sum::<usize>();
    let last_width = width().saturating_sub(taken + GAP).max(MIN_TEXT);
    let mut table = empty();
    table.set_header(header);
    for mut row in rows {
        if let Some(last) = row.last_mut() {
            *last = cut(last, last_width);
        }
        table.add_row(row);
    }
    for column in right {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text(&table)
}

/// What a column takes beside its contents.
const GAP: usize = 3;

fn rows(language: Language, context: &Context, all: bool, width: usize) -> String {
    let counts = context.tokens();
    let header = HEADER.map(|english| lang::word(language, english));
    let source_width = MIN_SOURCE.max(width / 3);
    let shares = context.token_shares();
    let joined: Vec<Vec<[String; 3]>> = context
        .messages
        .iter()
        .zip(shares)
        .map(|(message, shares)| joined(language, message, &shares))
        .collect();
    let folds = if all { Vec::new() } else { folds(&context.messages) };
    let mut heads: Vec<Head<'_>> = Vec::new();
    let messages = context.messages.iter().zip(&counts).zip(&joined).enumerate();
    for (index, ((message, tokens), joined)) in messages {
        match folds.iter().find(|fold| fold.contains(&index)) {
            Some(fold) if fold.start == index => heads.push(folded(context, fold, &counts)),
            Some(_) => {}
            None => {
                let (index, role) = (index.to_string(), message.role.to_string());
                let cells = [index, role, tokens.to_string(), cut(&source(language, message), source_width)];
                heads.push(Head { cells, of: Rows::Message(message, joined) });
            }
        }
    }
    let widest = |column: usize| {
        let cells = heads.iter().map(|head| head.cells[column].width());
        let sources = joined.iter().flatten().map(|[_, source, _]| source.width());
        let sources = sources.max().filter(|_| column == 3).map_or(0, |widest| widest.min(source_width));
        cells.max().unwrap_or(0).max(header[column].width()).max(sources)
    };
    let taken = (0..4).map(widest).sum::<usize>() + PADDING;
    let text_width = width.saturating_sub(taken).max(MIN_TEXT);
    let mut table = empty();
    table.set_header(header);
    for Head { cells: [index, role, tokens, source], of } in heads {
        let (message, joined) = match of {
            Rows::Message(message, joined) => (message, joined),
            Rows::Folded(count) => {
                let told = format!("… {}", lang::say(language, &count_of!(count, "message")));
                table.add_row([index, role, tokens, source, told]);
                continue;
            }
        };
        let line = if joined.is_empty() { summary(message, text_width) } else { String::new() };
        table.add_row([index, role, tokens, source, line]);
        for [tokens, source, line] in joined {
            let (source, line) = (cut(source, source_width), cut(line, text_width));
            table.add_row([String::new(), String::new(), tokens.clone(), source, line]);
        }
    }
    if let Some(tokens) = table.column_mut(2) {
        tokens.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n{}\n", text(&table), total(language, context, counts.into_iter().map(u64::from).sum()))
}

/// The first cells of a row, and the message that it is about with what was joined to it; none for several messages.
struct Head<'a> {
    cells: [String; 4],
    of: Rows<'a>,
}

/// What a row is about.
enum Rows<'a> {
    /// A message, and what was joined to it.
    Message(&'a Message, &'a [[String; 3]]),
    /// So many messages of the conversation.
    Folded(usize),
}

/// Returns which messages are folded: those between the first and the last of a long run of the conversation.
fn folds(messages: &[Message]) -> Vec<Range<usize>> {
    let is_history = |message: &Message| message.source.kind == SourceKind::History;
    let mut start = 0;
    let runs = messages.chunk_by(|a, b| is_history(a) && is_history(b)).map(|run| {
        start += run.len();
        start - run.len()..start
    });
    let inner = runs.map(|run| run.start + 1..run.end.saturating_sub(1));
    inner.filter(|inner| inner.len() > MAX_RUN).collect()
}

/// Writes what stands for folded messages: their places, their tokens, and their ids.
fn folded<'a>(context: &Context, fold: &Range<usize>, counts: &[u32]) -> Head<'a> {
    let last = fold.end - 1;
    let tokens: u64 = counts.get(fold.clone()).unwrap_or_default().iter().copied().map(u64::from).sum();
    let id = |index: usize| context.messages.get(index).and_then(|message| message.source.id.as_deref());
    let ids = match (id(fold.start), id(last)) {
        (Some(first), Some(last)) => clean_line(&format!("history:{first}–{last}")),
        _ => "history".to_owned(),
    };
    let index = format!("{}–{last}", fold.start);
    let cells = [index, String::new(), thousands(tokens), cut(&ids, MIN_SOURCE)];
    Head { cells, of: Rows::Folded(fold.len()) }
}

/// What was joined to a message: the tokens of each piece, its source, and the first line of its text.
fn joined(language: Language, message: &Message, shares: &[TokenShare]) -> Vec<[String; 3]> {
    if message.source.kind != SourceKind::Merged {
        return Vec::new();
    }
    let mut pieces: Vec<(&Source, Span, u32)> = Vec::new();
    for TokenShare { segment, tokens } in shares {
        let origin = segment.via.last().unwrap_or(&segment.source);
        match pieces.last_mut() {
            Some((source, span, sum)) if *source == origin => {
                span.end = segment.span.end;
                *sum += tokens;
            }
            _ => pieces.push((origin, segment.span, *tokens)),
        }
    }
    let is_said = |source: &Source| !matches!(source.kind, SourceKind::Separator | SourceKind::Overhead);
    let mut said = pieces.iter().filter(|(source, ..)| is_said(source));
    let text = message.text();
    let row = |(source, span, tokens): &(&Source, Span, u32)| {
        let line = first_line(text.get(span.start..span.end).unwrap_or_default());
        [share(*tokens, !span.is_empty()), clean_line(&format!("  {source}")), line]
    };
    let mut rows: Vec<[String; 3]> = said.by_ref().take(MAX_JOINED).map(row).collect();
    let more = omitted(language, said.count(), |more| phrase!("and {more} more", more));
    rows.extend(more.map(|more| [String::new(), format!("  {more}"), String::new()]));
    rows
}

/// Writes the tokens of a part: of a text so short that its share of the whole rounds to none, that it is less than 1.
pub(super) fn share(tokens: u32, has_text: bool) -> String {
    match (tokens, has_text) {
        (0, true) => "<1".to_owned(),
        (tokens, _) => tokens.to_string(),
    }
}

/// The first line of a text that has anything, and a mark if there are more.
pub(super) fn first_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = clean_line(lines.next().unwrap_or_default().trim());
    match lines.next() {
        Some(_) => first + " …",
        None => first,
    }
}

/// How many messages and tokens there are, and of how many.
fn total(language: Language, context: &Context, tokens: u64) -> String {
    let messages = count_of!(context.messages.len(), "message");
    let usage = context.report.usage.as_ref();
    let tokens = match usage.and_then(|usage| usage.available) {
        Some(available) => phrase!("{own} of {budget}", own = tokens, budget = count_of!(available, "token")),
        None => count_of!(tokens, "token"),
    };
    let told = if usage.is_some_and(|usage| usage.is_exact) {
        phrase!("{messages}, {tokens}", messages, tokens)
    } else {
        phrase!("{messages}, about {tokens}", messages, tokens)
    };
    lang::say(language, &told)
}

fn decisions(language: Language, changes: &[&Decision]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let shown = changes.iter().take(MAX_DECISIONS);
    let mut lines: Vec<String> = shown.map(|decision| clean_line(&language.decision(decision))).collect();
    lines.extend(omitted(language, changes.len() - lines.len(), |more| {
        phrase!("and {more} more; use `--format json` to list all", more)
    }));
    format!("\n{}\n  {}\n", lang::word(language, "moved, merged, or dropped:"), lines.join("\n  "))
}

fn source(language: Language, message: &Message) -> String {
    let source = match &message.placement {
        Some(placement) => {
            let placed = lang::say(language, &phrase!(" ({counter})", counter = placement.phrase()));
            format!("{}{placed}", message.source)
        }
        None => message.source.to_string(),
    };
    clean_line(&source)
}

/// One line of a message: what it answers, its files, the first line of its text that has anything, its calls.
pub(super) fn summary(message: &Message, columns: usize) -> String {
    let text = message.text();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first: String = lines.next().unwrap_or_default().chars().take(columns + 1).collect();
    let parts: Vec<String> = extras(message).chain([first]).chain(calls(message)).collect();
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    let line = clean_line(&parts.join(" "));
    match lines.next() {
        Some(_) => cut(&(line + " …"), columns),
        None => cut(&line, columns),
    }
}

/// What a message has before its text: the call that it answers, its files, its content parts that are no text.
fn extras(message: &Message) -> impl Iterator<Item = String> {
    let answer = message.tool_call_id.iter().map(|id| format!("{id} ←"));
    let files = message.attachments.iter().map(|file| format!("[{}]", file.name));
    answer.chain(files).chain(other_parts(&message.content))
}

fn calls(message: &Message) -> impl Iterator<Item = String> {
    message.tool_calls.iter().map(|call| format!("{} → {}({})", call.id, call.name, call.arguments))
}

/// The content parts that are no text, by their types.
fn other_parts(content: &Content) -> impl Iterator<Item = String> {
    let parts = match content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Text(_) => &[],
    };
    let others = parts.iter().filter_map(|part| match part {
        ContentPart::Other(part) => Some(part),
        ContentPart::Text(_) => None,
    });
    others.map(|part| format!("[{}]", part.get("type").and_then(Value::as_str).unwrap_or("part")))
}

/// Cuts a line to a number of terminal columns.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < columns
    };
    let start: String = line.chars().take_while(fits).collect();
    format!("{}…", start.trim_end_matches([' ', '…']))
}

/// An empty table with one line, below its header.
fn empty() -> Table {
    const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table.load_style(STYLE);
    table
}

/// The lines of a table without the blanks that fill its last column.
fn text(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    lines.concat()
}
