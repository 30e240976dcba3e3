//! Settings of `session-loader` that change loaded messages.

use std::borrow::Cow;

use ctx_pipeline::ConfigField;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{
    Content, Message, Phrase, Reasoning, Role, Source, SourceKind, Span, Text, Trust, count_of, phrase,
};
use serde_json::{Map, Value};

use crate::rewrite::{Edit, rewrite};

settings! {
    pub(crate) LoadedForm {
        html_to_markdown: bool =
            ConfigField::boolean("htmlToMarkdown", "Convert HTML to Markdown in older messages", false),
        html_kept: usize = ConfigField::integer("htmlKeptMessages", "Newest messages that keep HTML", 6)
            .between(0.0, 1_000_000.0),
        reasoning: KeptReasoning =
            ConfigField::select("reasoning", "Reasoning to send", KeptReasoning::OPTIONS),
        tools_as_user: bool = ConfigField::boolean("toolsAsUser", "Send tool calls as text", false)
            .with_description("for models and servers without tool support"),
    }
}

choices! {
    // Provider state is always kept. Some providers require the reasoning of messages with tool calls.
    KeptReasoning {
        All = ("all", "All reasoning"),
        OfCalls = ("calls", "Only in messages with tool calls"),
        None = ("none", "No reasoning"),
    }
}

/// Elements with reasoning, which stay unchanged.
const THOUGHTS: [&str; 3] = ["think", "thinking", "guguthink"];

impl LoadedForm {
    pub(crate) fn apply(&self, messages: &mut [Message], pinned: usize) -> FormChanges {
        let count = messages.len();
        let mut done = FormChanges::default();
        for (index, message) in messages.iter_mut().enumerate().skip(pinned) {
            if self.reasoning != KeptReasoning::All && message.reasoning.is_some() {
                done.reasoning += usize::from(self.drop_reasoning(message));
            }
            if self.html_to_markdown && count - index > self.html_kept {
                done.html += usize::from(html_to_markdown(message));
            }
            if self.tools_as_user {
                done.tools += usize::from(tools_to_words(message));
            }
        }
        done
    }

    fn drop_reasoning(&self, message: &mut Message) -> bool {
        if self.reasoning == KeptReasoning::OfCalls && !message.tool_calls.is_empty() {
            return false;
        }
        let Some(reasoning) = message.reasoning.take() else { return false };
        let artifacts = reasoning.artifacts;
        message.reasoning = Some(Reasoning { text: None, artifacts, model: reasoning.model })
            .filter(|reasoning| !reasoning.artifacts.is_empty());
        reasoning.text.is_some()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormChanges {
    html: usize,
    reasoning: usize,
    tools: usize,
}

impl FormChanges {
    pub(crate) fn line(self) -> Option<Phrase> {
        let in_messages = |count: usize, write: fn(Phrase) -> Phrase| {
            (count > 0).then(|| write(count_of!(count, "message")))
        };
        let done = [
            in_messages(self.html, |messages| phrase!("HTML converted to Markdown in {messages}", messages)),
            in_messages(self.reasoning, |messages| phrase!("reasoning removed from {messages}", messages)),
            in_messages(self.tools, |messages| {
                phrase!("tool calls and results written as text in {messages}", messages)
            }),
        ];
        let done: Vec<Phrase> = done.into_iter().flatten().collect();
        (!done.is_empty())
            .then(|| phrase!("settings: {changes}", changes = Argument::list(done, Divider::Comma)))
    }
}

/// Writes tool calls and results as text, in the tags of text completion models.
///
/// Results get the role `user`. Positions do not change.
fn tools_to_words(message: &mut Message) -> bool {
    if message.role == Role::Tool {
        message.role = Role::User;
        message.tool_call_id = None;
        replace(message, |text| Some(format!("<tool_response>\n{text}\n</tool_response>")));
        return true;
    }
    if message.tool_calls.is_empty() {
        return false;
    }
    let calls: Vec<String> = std::mem::take(&mut message.tool_calls)
        .into_iter()
        .map(|call| {
            let arguments = serde_json::from_str(&call.arguments)
                .unwrap_or_else(|_| Value::String(call.arguments.to_string()));
            let call = [("name", Value::from(&*call.name)), ("arguments", arguments)];
            let call: Map<String, Value> =
                call.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
            format!("<tool_call>\n{}\n</tool_call>", Value::Object(call))
        })
        .collect();
    let calls = calls.join("\n");
    if message.content.is_empty() {
        message.content = Content::Text(Text::default());
    }
    let end = |text: &str| {
        let words = if text.trim().is_empty() { calls.clone() } else { format!("\n{calls}") };
        Edit { span: Span::new(text.len(), text.len()), text: words, source: source() }
    };
    let mut is_first = true;
    rewrite(message, |text| std::mem::take(&mut is_first).then(|| end(text)).into_iter().collect());
    true
}

fn html_to_markdown(message: &mut Message) -> bool {
    replace(message, |text| {
        let is_html = memchr::memchr_iter(b'<', text.as_bytes())
            .any(|at| text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic));
        if !is_html {
            return None;
        }
        let converted: Option<String> =
            split_reasoning(text).into_iter().map(|piece| part_to_markdown(&piece)).collect();
        converted.filter(|converted| converted != text)
    })
}

enum ReplyPart<'a> {
    Words(&'a str),
    Thoughts(&'a str),
}

fn part_to_markdown<'a>(piece: &ReplyPart<'a>) -> Option<Cow<'a, str>> {
    match piece {
        ReplyPart::Thoughts(text) => Some(Cow::Borrowed(text)),
        ReplyPart::Words(text) if text.trim().is_empty() => Some(Cow::Borrowed(text)),
        ReplyPart::Words(text) => markdown(text).map(Cow::Owned),
    }
}

#[cfg(feature = "html")]
fn markdown(text: &str) -> Option<String> {
    crate::html_to_markdown(text).ok()
}

#[cfg(not(feature = "html"))]
const fn markdown(_: &str) -> Option<String> {
    None
}

/// Splits a text into replies and reasoning. Unclosed reasoning extends to the end. O(bytes).
fn split_reasoning(text: &str) -> Vec<ReplyPart<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((at, name)) = first_thought(rest) {
        let (before, thoughts) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let end = format!("</{name}>");
        let len = thoughts.find(&end).map_or(thoughts.len(), |found| found + end.len());
        let (thoughts, after) = thoughts.split_at_checked(len).unwrap_or((thoughts, ""));
        pieces.extend([ReplyPart::Words(before), ReplyPart::Thoughts(thoughts)]);
        rest = after;
    }
    pieces.push(ReplyPart::Words(rest));
    pieces
}

fn first_thought(text: &str) -> Option<(usize, &'static str)> {
    memchr::memchr_iter(b'<', text.as_bytes()).find_map(|at| {
        let opened = text.get(at + 1..)?;
        let is_thought = |name: &&&str| opened.strip_prefix(**name).is_some_and(|rest| rest.starts_with('>'));
        THOUGHTS.iter().find(is_thought).map(|name| (at, *name))
    })
}

fn replace(message: &mut Message, words: impl Fn(&str) -> Option<String>) -> bool {
    let edit = |text: &str| {
        let words = words(text)?;
        Some(Edit { span: Span::new(0, text.len()), text: words, source: source() })
    };
    rewrite(message, |text| edit(text).into_iter().collect())
}

fn source() -> Source {
    Source::new(SourceKind::Formatter, Trust::Preset).with_id("session-loader")
}

#[cfg(test)]
mod tests {
    use ctx_types::ToolCall;
    use ctx_types::internal::is_partition;

    use super::*;

    const PLAIN: LoadedForm = LoadedForm {
        html_to_markdown: false,
        html_kept: 0,
        reasoning: KeptReasoning::All,
        tools_as_user: false,
    };

    fn message(role: Role, text: &str) -> Message {
        Message::new(role, text, Source::history("n", role))
    }

    #[track_caller]
    fn apply(form: &LoadedForm, message: Message) -> Message {
        let mut messages = [message];
        form.apply(&mut messages, 0);
        let [message] = messages;
        assert!(is_partition(&message.segments(), message.content.len()));
        message
    }

    #[cfg(feature = "html")]
    #[test]
    fn converts_html_but_keeps_thoughts() {
        let form = LoadedForm { html_to_markdown: true, ..PLAIN };
        let check = |text: &str, expected: &str| {
            assert_eq!(apply(&form, message(Role::Assistant, text)).text(), expected);
        };
        check("<p>a <b>b</b></p>", "a **b**");
        check("1 < 2 and no HTML", "1 < 2 and no HTML");
        check("<think><b>$&</b></think><h1>x</h1>", "<think><b>$&</b></think># x");
        check("<i>a</i><think>no end <b>", "*a*<think>no end <b>");
        let newest = LoadedForm { html_kept: 1, ..form };
        assert_eq!(apply(&newest, message(Role::User, "<b>x</b>")).text(), "<b>x</b>");
    }

    #[test]
    fn splits_many_thoughts() {
        let thoughts = "<think></think>".repeat(70_000);
        assert_eq!(split_reasoning(&thoughts).len(), 2 * 70_000 + 1);
        assert_eq!(split_reasoning(&"<think>".repeat(150_000)).len(), 3);
        assert_eq!(split_reasoning(&"<thinking".repeat(100_000)).len(), 1);
    }

    #[test]
    fn drops_reasoning_except_provider_state() {
        let with = |calls: bool, artifacts: usize| {
            let call = ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() };
            message(Role::Assistant, "x").with(|message| {
                message.tool_calls = vec![call; usize::from(calls)];
                let artifacts = (0..artifacts).map(|_| std::sync::Arc::new(Value::Null)).collect();
                message.reasoning = Some(Reasoning { text: Some("why".into()), artifacts, model: None });
            })
        };
        let check = |reasoning: KeptReasoning, message: Message, text: bool, artifacts: bool| {
            let kept = apply(&LoadedForm { reasoning, ..PLAIN }, message).reasoning.clone();
            let found =
                kept.map(|kept| (kept.text.is_some(), !kept.artifacts.is_empty())).unwrap_or_default();
            assert_eq!(found, (text, artifacts), "{reasoning:?}");
        };
        check(KeptReasoning::All, with(false, 0), true, false);
        check(KeptReasoning::OfCalls, with(true, 0), true, false);
        check(KeptReasoning::OfCalls, with(false, 1), false, true);
        check(KeptReasoning::None, with(true, 1), false, true);
        check(KeptReasoning::None, with(false, 0), false, false);
    }
}
