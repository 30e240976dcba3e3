use std::borrow::Cow;
use std::fmt::Write as _;

use ctx_types::internal::plural;
use ctx_types::report::{Decision, Usage};
use ctx_types::{Diagnostic, Message, Placement, Source};
use serde_json::Value;

use crate::context::Context;

impl Context {
    /// Writes the context as text for snapshot tests: messages, token usage if there is a budget, decisions,
    /// diagnostics.
    ///
    /// Equal contexts give equal texts. The format is not for parsing.
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
        Some(placement) => push(&mut head, format_args!(" · {}", spelled_placement(placement))),
        None => push(&mut head, format_args!(" · {}", message.place.as_str())),
    }
    if let Some(name) = &message.name {
        push(&mut head, format_args!(" · name {}", quoted_if_odd(name)));
    }
    if let Some(id) = &message.tool_call_id {
        push(&mut head, format_args!(" · answers {}", quoted_if_odd(id)));
    }
    if message.is_continuation_prefix {
        head.push_str(" · to be continued");
    }
    push(&mut head, format_args!(" · {tokens} tokens"));
    push(out, format_args!("{head}\n{}\n", message.text()));
    for call in &message.tool_calls {
        push(out, format_args!("  calls {} {} {}\n", word(&call.id), word(&call.name), call.arguments));
    }
    if let Some(reasoning) = &message.reasoning {
        let text = reasoning.text.as_deref().unwrap_or_default();
        push(out, format_args!("  reasons {text}\n"));
    }
    for file in &message.attachments {
        push(out, format_args!("  file {}", word(&file.id)));
        if !file.name.is_empty() {
            push(out, format_args!(" {}", quoted_if_odd(&file.name)));
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

/// Quotes a text as JSON if it could be confused with the surrounding syntax.
fn quoted_if_odd(text: &str) -> Cow<'_, str> {
    let marks = [" · ", " via ", " + ", ": "];
    // Decisions write `and 3 more` after a source.
    let is_marked = marks.iter().any(|mark| text.contains(mark)) || text.ends_with(" more");
    if is_marked || text.starts_with('"') || text.contains(char::is_control) {
        Value::from(text).to_string().into()
    } else {
        text.into()
    }
}

fn word(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.contains(' ') {
        Value::from(text).to_string().into()
    } else {
        quoted_if_odd(text)
    }
}

fn spelled(source: &Source) -> String {
    match source.id.as_deref().map(quoted_if_odd) {
        Some(Cow::Owned(id)) => format!("{}:{id}", source.kind.as_str()),
        _ => source.to_string(),
    }
}

fn spelled_placement(placement: &Placement) -> String {
    match placement {
        Placement::Anchor { target, side, .. } => match quoted_if_odd(target) {
            Cow::Owned(target) => format!("{side} {target}"),
            Cow::Borrowed(_) => placement.to_string(),
        },
        _ => placement.to_string(),
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
    let mut line = String::new();
    let written = decision.write_with(&spelled(&decision.source), &mut line);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
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

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctx_types::report::Outcome;
    use ctx_types::{Attachment, Order, Role, Side, SourceKind, ToolCall, Trust, phrase};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, word: &str) {
        let source = Source::history(text, Role::Assistant);
        let order = Order::DEFAULT;
        let placement = Placement::Anchor { target: text.into(), side: Side::After, order };
        let call = ToolCall { id: text.into(), name: text.into(), arguments: "{}".into() };
        let message = Message::new(Role::Assistant, "hi", source).with(|message| {
            message.name = Some(text.into());
            message.tool_call_id = Some(text.into());
            message.tool_calls = vec![call];
            message.attachments = vec![Attachment::from_value(&json!({ "id": text, "name": text }))];
            message.placement = Some(Arc::new(placement));
        });
        let mut out = String::new();
        write_message(&mut out, 0, &message, 1);
        let target = if name.starts_with('"') { name.to_owned() } else { format!("`{name}`") };
        let expected = format!(
            "--- 0 assistant · history:{name} · after {target} · name {name} · answers {name} · 1 tokens\n\
             hi\n  calls {word} {word} {{}}\n  file {word} {name}\n"
        );
        assert_eq!(out, expected);
    }

    #[test]
    fn quotes_ambiguous_names() {
        check("ada", "ada", "ada");
        check("Ada Bell", "Ada Bell", r#""Ada Bell""#);
        for (odd, quoted) in [
            ("a · name b", r#""a · name b""#),
            ("a\nb", r#""a\nb""#),
            ("a: b", r#""a: b""#),
            ("a and 3 more", r#""a and 3 more""#),
            ("\"a\"", r#""\"a\"""#),
        ] {
            check(odd, quoted, quoted);
        }
        check("a:b", "a:b", "a:b");
    }

    #[test]
    fn quotes_ambiguous_sources_of_decisions() {
        let decision = |id: &str| {
            let source = Source::new(SourceKind::Preset, Trust::Preset).with_id(id);
            decision_line(&Decision::new(Outcome::Hidden, source, phrase!("disabled")))
        };
        assert_eq!(decision("ordinary: no"), r#"hidden preset:"ordinary: no": disabled"#);
        assert_eq!(decision("a\nmerged preset:b"), r#"hidden preset:"a\nmerged preset:b": disabled"#);
        assert_eq!(decision("a and 3 more"), r#"hidden preset:"a and 3 more": disabled"#);
        assert_eq!(decision("salt and pepper"), "hidden preset:salt and pepper: disabled");
    }
}
