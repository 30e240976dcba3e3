//! A context as a table: what is sent, and below it what was moved or left out.

use std::fmt::Write as _;

use comfy_table::{LineStyle, Table, TableStyle};
use ctx_engine::Context;
use ctx_types::{Decision, Message};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many terminal columns of a message's first line are shown.
const TEXT_WIDTH: usize = 60;

/// How many lines of decisions are shown before the rest is counted.
const MAX_DECISIONS: usize = 50;

/// Writes the messages as a table, and below it the decisions.
pub(crate) fn table(context: &Context) -> String {
    let mut table = empty();
    table.set_header(["#", "role", "source", "text"]);
    for (index, message) in context.messages.iter().enumerate() {
        table.add_row([index.to_string(), message.role.to_string(), source(message), first_line(message)]);
    }
    let mut out = text(&table);
    let bytes: usize = context.messages.iter().map(|message| message.content.len()).sum();
    push(&mut out, format_args!("\n{} messages, {bytes} bytes of text\n", context.messages.len()));
    let changes: Vec<&Decision> = context.report.changes().collect();
    if !changes.is_empty() {
        push(&mut out, format_args!("\nmoved or left out:\n"));
    }
    for decision in changes.iter().take(MAX_DECISIONS) {
        push(&mut out, format_args!("  {decision}\n"));
    }
    if let Some(more) = changes.len().checked_sub(MAX_DECISIONS).filter(|more| *more > 0) {
        push(&mut out, format_args!("  and {more} more; `--format json` has them all\n"));
    }
    out
}

/// An empty table with one line, below its header.
pub(crate) fn empty() -> Table {
    const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table.load_style(STYLE);
    table
}

/// The lines of a table without the blanks that fill its last column.
pub(crate) fn text(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect::<Vec<_>>().concat()
}

fn source(message: &Message) -> String {
    match &message.placement {
        Some(placement) => format!("{} ({placement})", message.source),
        None => message.source.to_string(),
    }
}

/// The first line that has anything, cut to the width of its column; calls and files are named.
fn first_line(message: &Message) -> String {
    let text = message.text();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut shown = clean(lines.next().unwrap_or_default());
    let is_cut = shown.width() > TEXT_WIDTH || lines.next().is_some();
    if is_cut {
        shown = fitting(&shown, TEXT_WIDTH - 1) + "…";
    }
    let calls = message.tool_calls.iter().map(|call| format!("→ {}({})", call.name, call.id));
    let files = message.attachments.iter().map(|file| format!("[{}]", file.name));
    let answers = message.tool_call_id.iter().map(|id| format!("← {id}"));
    let extras: Vec<String> =
        answers.chain(calls).chain(files).map(|extra| fitting(&clean(&extra), TEXT_WIDTH)).collect();
    let parts: Vec<String> = extras.into_iter().chain([shown]).filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Terminal control characters in a stranger's text must not reach the terminal.
fn clean(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The longest start of a line that fits a number of columns.
fn fitting(line: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    line.chars().take_while(fits).collect()
}

/// Writing to a string cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
}
