//! A context as stable, readable text, for snapshot tests.

use std::fmt::Write as _;

use ctx_types::{Decision, Diagnostic, Message, Source, Usage, plural};
use serde_json::Value;

use crate::context::{Context, place_name};

impl Context {
    /// Writes the context as text: messages with their sources and tokens, what they use of the budget if there
    /// is one, then decisions, then diagnostics.
    ///
    /// Equal contexts give equal texts. The form is made to be read and compared, not to be parsed.
    pub fn to_snapshot(&self) -> String {
        let mut out = String::new();
        let tokens = self.tokens();
        for (index, (message, tokens)) in self.messages.iter().zip(&tokens).enumerate() {
            write_message(&mut out, index, message, *tokens);
        }
        if let Some(usage) = self.report.usage.as_ref().filter(|usage| usage.available.is_some()) {
            write_usage(&mut out, usage, &tokens);
        }
        write_list(&mut out, "decisions", &self.report.decisions, decision_line);
        write_list(&mut out, "diagnostics", &self.report.diagnostics, diagnostic_line);
        out
    }
}

/// The exact figure, also where none had to be counted to know that everything fits.
fn write_usage(out: &mut String, usage: &Usage, tokens: &[u32]) {
    let total: u64 = tokens.iter().copied().map(u64::from).sum();
    let available = usage.available.unwrap_or_default();
    let kind = if usage.is_exact { "exact" } else { "estimated" };
    push(out, format_args!("=== usage\n{total} of {available} tokens, {kind} as {}\n", usage.encoding));
    for line in &usage.budget {
        push(out, format_args!("  {:+} {}\n", line.tokens, line.name));
    }
}

fn write_message(out: &mut String, index: usize, message: &Message, tokens: u32) {
    let mut head = format!("--- {index} {} · {}", message.role, spelled(&message.source));
    match &message.placement {
        Some(placement) => push(&mut head, format_args!(" · {placement}")),
        None => push(&mut head, format_args!(" · {}", place_name(message.place))),
    }
    if let Some(name) = &message.name {
        push(&mut head, format_args!(" · name {name}"));
    }
    if let Some(id) = &message.tool_call_id {
        push(&mut head, format_args!(" · answers {id}"));
    }
    if message.is_continuation_prefix {
        head.push_str(" · to be continued");
    }
    push(&mut head, format_args!(" · {tokens} tokens"));
    push(out, format_args!("{head}\n{}\n", message.text()));
    for call in &message.tool_calls {
        push(out, format_args!("  calls {} {} {}\n", call.id, call.name, call.arguments));
    }
    if let Some(reasoning) = &message.reasoning {
        let text = reasoning.text.as_deref().unwrap_or_default();
        push(out, format_args!("  reasons {text}\n"));
    }
    for file in &message.attachments {
        push(out, format_args!("  file {}", file.id));
        if !file.name.is_empty() {
            push(out, format_args!(" {}", file.name));
        }
        out.push('\n');
    }
    for segment in &message.written {
        let source = spelled(&segment.source);
        push(out, format_args!("  {}..{} {source}", segment.span.start, segment.span.end));
        for source in &segment.via {
            push(out, format_args!(" via {}", spelled(source)));
        }
        out.push('\n');
    }
}

/// Spells a source: as everywhere, but for an id that would not be told from what stands around it, which is written
/// as JSON writes a text.
fn spelled(source: &Source) -> String {
    let is_odd = |id: &&str| {
        let marks = [" · ", " via ", " + ", ": "];
        // Decisions say `and 3 more` behind a source.
        let is_marked = marks.iter().any(|mark| id.contains(mark)) || id.ends_with(" more");
        is_marked || id.starts_with('"') || id.contains(char::is_control)
    };
    match source.id.as_deref().filter(is_odd) {
        Some(id) => format!("{}:{}", source.kind.as_str(), Value::from(id)),
        None => source.to_string(),
    }
}

fn write_list<T>(out: &mut String, title: &str, items: &[T], line: fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    push(out, format_args!("=== {title}\n"));
    for item in items {
        push(out, format_args!("{}\n", line(item)));
    }
}

/// Writes a decision as `Display` has it, but for its source.
fn decision_line(decision: &Decision) -> String {
    let mut line = format!("{} {}", decision.outcome, spelled(&decision.source));
    if let Some(more @ 1..) = decision.count.checked_sub(1) {
        push(&mut line, format_args!(" and {more} more"));
    }
    push(&mut line, format_args!(": {}", decision.reason));
    match (decision.bytes, decision.tokens) {
        (Some(bytes), Some(tokens)) => {
            push(&mut line, format_args!(" ({}, {tokens})", plural(bytes, "byte")));
        }
        (Some(bytes), None) => push(&mut line, format_args!(" ({})", plural(bytes, "byte"))),
        (None, _) => {}
    }
    line
}

fn diagnostic_line(diagnostic: &Diagnostic) -> String {
    match &diagnostic.help {
        Some(help) => format!("{diagnostic}\n  help: {help}"),
        None => diagnostic.to_string(),
    }
}

/// Writing to a string cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
}
