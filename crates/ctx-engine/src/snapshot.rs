//! A context as stable, readable text, for snapshot tests.

use std::fmt::Write as _;

use ctx_types::{Decision, Diagnostic, Message};

use crate::context::{Context, place_name};

impl Context {
    /// Writes the context as text: messages with their sources, then decisions, then diagnostics.
    ///
    /// Equal contexts give equal texts. The form is made to be read and compared, not to be parsed.
    pub fn to_snapshot(&self) -> String {
        let mut out = String::new();
        for (index, message) in self.messages.iter().enumerate() {
            write_message(&mut out, index, message);
        }
        write_list(&mut out, "decisions", &self.report.decisions, decision_line);
        write_list(&mut out, "diagnostics", &self.report.diagnostics, diagnostic_line);
        out
    }
}

fn write_message(out: &mut String, index: usize, message: &Message) {
    let mut head = format!("--- {index} {} · {}", message.role, message.source);
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
        push(out, format_args!("  {}..{} {}", segment.span.start, segment.span.end, segment.source));
        for source in &segment.via {
            push(out, format_args!(" via {source}"));
        }
        out.push('\n');
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

fn decision_line(decision: &Decision) -> String {
    let mut line = decision.to_string();
    if let Some(bytes) = decision.bytes {
        push(&mut line, format_args!(" ({bytes} bytes)"));
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
