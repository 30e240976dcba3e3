use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::context::Context;

/// A saved context from [`Context::to_json`] or from a chat completion body: messages and their sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedContext {
    pub(crate) messages: Vec<SavedMessage>,
    /// Reason of the planned break in its report.
    pub(crate) planned_break: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedMessage {
    pub(crate) sent: Map<String, Value>,
    pub(crate) text: String,
    pub(crate) tokens: Option<u64>,
    pub(crate) source: Option<String>,
    segments: Vec<SavedSegment>,
}

#[derive(Clone, Debug, PartialEq)]
struct SavedSegment {
    span: Range<usize>,
    writer: String,
}

/// A text of a message.
#[derive(Clone, Copy)]
pub(crate) struct WrittenText<'a> {
    pub(crate) writer: &'a str,
    pub(crate) text: &'a str,
    /// Offset in the message.
    pub(crate) end: usize,
}

const NOT_SENT: [&str; 6] = ["source", "tokens", "place", "placement", "segments", "cacheMark"];

impl SavedContext {
    /// Extracts the data needed for comparisons.
    pub fn from_context(context: &Context) -> Self {
        Self::read(&context.to_json()).unwrap_or_default()
    }

    /// Reads the output of [`Context::to_json`], or a request body with `messages`; `None` without such a
    /// list.
    ///
    /// Anthropic's `system` becomes the first message. An invalid message becomes an empty one. O(bytes).
    ///
    /// ```
    /// use ctx_engine::inspect::SavedContext;
    /// use serde_json::json;
    ///
    /// assert!(SavedContext::read(&json!({ "messages": [{ "role": "user", "content": "Hi" }] })).is_some());
    /// assert!(SavedContext::read(&json!({ "presetMessages": [] })).is_none());
    /// ```
    pub fn read(value: &Value) -> Option<Self> {
        let messages = value.get("messages")?.as_array()?;
        let system = value.get("system").map(|content| json!({ "role": "system", "content": content }));
        let reason = value.pointer("/report/prefix/plannedBreak/reason").and_then(Value::as_str);
        Some(Self {
            messages: system.iter().chain(messages).map(SavedMessage::read).collect(),
            planned_break: reason.map(str::to_owned),
        })
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

impl SavedMessage {
    fn read(value: &Value) -> Self {
        let Value::Object(map) = value else { return Self::default() };
        let sent = map.iter().filter(|(key, _)| !NOT_SENT.contains(&key.as_str()));
        let segments = map.get("segments").and_then(Value::as_array);
        Self {
            text: text(map.get("content")),
            tokens: map.get("tokens").and_then(Value::as_u64),
            source: map.get("source").and_then(writer),
            segments: segments.into_iter().flatten().filter_map(segment).collect(),
            sent: sent.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }

    /// Returns the texts with their writers, without separators.
    pub(crate) fn texts(&self) -> impl Iterator<Item = WrittenText<'_>> {
        let segments = self.segments.iter().map(|segment| (segment.writer.as_str(), segment.span.clone()));
        let whole = self.source.as_deref().filter(|_| self.segments.is_empty());
        let whole = whole.map(|writer| (writer, 0..self.text.len()));
        let texts = segments.chain(whole).filter(|(writer, _)| *writer != "separator");
        texts.map(|(writer, span)| WrittenText {
            writer,
            end: span.end,
            text: self.text.get(span).unwrap_or_default(),
        })
    }

    pub(crate) fn writer_at(&self, offset: usize) -> Option<&str> {
        let segment = self.segments.iter().find(|segment| segment.span.contains(&offset));
        segment.map(|segment| segment.writer.as_str()).or(self.source.as_deref())
    }
}

fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Reads a segment; its writer is formatted like `macro:time of preset:sys`.
fn segment(value: &Value) -> Option<SavedSegment> {
    let end = |key| value.get("span")?.get(key)?.as_u64().and_then(|end| usize::try_from(end).ok());
    let writer_of = |value: &Value| writer(value);
    let via = value.get("via").and_then(Value::as_array);
    let via = via.into_iter().flatten().filter_map(writer_of);
    let names: Vec<String> = value.get("source").and_then(writer_of).into_iter().chain(via).collect();
    Some(SavedSegment { span: end("start")?..end("end")?, writer: names.join(" of ") })
}

fn writer(source: &Value) -> Option<String> {
    let kind = source.get("kind")?.as_str()?;
    let id = source.get("id").and_then(Value::as_str).map(|id| format!(":{id}"));
    let index = source.get("index").and_then(Value::as_u64).map(|index| format!("#{index}"));
    Some(format!("{kind}{}", id.or(index).unwrap_or_default()))
}
