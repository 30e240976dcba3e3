use std::sync::Arc;
use std::time::Duration;

use ctx_tokens::{Counter, ModelFacts, internal::message_cost};
use ctx_types::{Content, ContentPart, Message, Report, SessionOp};
use ctx_wire::Dialect;
use serde_json::{Map, Value, json};

use crate::trace::Trace;

/// Result of an assembly.
#[derive(Clone, Debug)]
pub struct Context {
    /// Messages in the order of the request.
    pub messages: Vec<Message>,
    /// Diagnostics, decisions, steps, and token usage.
    pub report: Report,
    /// Operations that the host applies to the session when it sends the context; empty for a preview.
    pub effects: Vec<SessionOp>,
    /// Duration of each processor, if the host provided a stopwatch. Not part of the report.
    pub timings: Vec<(Arc<str>, Duration)>,
    /// Output of each processor, if requested with [`Ports::is_traced`](crate::Ports::is_traced). Not part of
    /// the report.
    pub trace: Option<Trace>,
    pub(crate) dialect: Dialect,
    pub(crate) model: ModelFacts,
    pub(crate) counter: Counter,
}

/// Ignores timings and traces: equal inputs give equal contexts.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages && self.report == other.report && self.effects == other.effects
    }
}

impl Context {
    /// Returns the facts about the model that the context was assembled for.
    pub const fn model(&self) -> &ModelFacts {
        &self.model
    }

    /// Returns the token counter.
    pub const fn counter(&self) -> Counter {
        self.counter
    }

    /// Returns the tokens of each message, including overhead.
    pub fn tokens(&self) -> Vec<u32> {
        let cost = |message| message_cost(message, &self.model, &self.counter).total();
        self.messages.iter().map(cost).collect()
    }

    /// Writes the context as JSON: `{"messages": […], "report": {…}, "effects": […]}`.
    ///
    /// Each message has `role`, `content`, `source` and `tokens`, and if present `name`, `tool_calls`,
    /// `tool_call_id`, `attachments`, `prefix`, `cacheMark`, `place`, `placement` and `segments` (byte ranges
    /// of the text). Read it with [`SavedContext::read`](crate::inspect::SavedContext::read).
    pub fn to_json(&self) -> Value {
        json!({
            "messages": self.messages.iter().zip(self.tokens()).map(|(message, tokens)| message_json(message, tokens)).collect::<Vec<_>>(),
            "report": &self.report,
            "effects": &self.effects,
        })
    }
}

fn message_json(message: &Message, tokens: u32) -> Value {
    let mut map = Map::new();
    map.insert("role".to_owned(), json!(message.role));
    map.insert("content".to_owned(), content_json(&message.content));
    if let Some(name) = &message.name {
        map.insert("name".to_owned(), json!(name));
    }
    if !message.tool_calls.is_empty() {
        map.insert("tool_calls".to_owned(), json!(message.tool_calls));
    }
    if let Some(id) = &message.tool_call_id {
        map.insert("tool_call_id".to_owned(), json!(id));
    }
    if !message.attachments.is_empty() {
        let attachments: Vec<Value> = message.attachments.iter().map(|file| (*file.kept).clone()).collect();
        map.insert("attachments".to_owned(), Value::Array(attachments));
    }
    if message.is_continuation_prefix {
        map.insert("prefix".to_owned(), json!(true));
    }
    if let Some(mark) = message.cache_mark {
        map.insert("cacheMark".to_owned(), json!(mark.as_str()));
    }
    map.insert("source".to_owned(), json!(message.source));
    map.insert("tokens".to_owned(), json!(tokens));
    map.insert("place".to_owned(), json!(message.place.as_str()));
    if let Some(placement) = &message.placement {
        map.insert("placement".to_owned(), json!(placement.to_string()));
    }
    if !message.written.is_empty() {
        map.insert("segments".to_owned(), json!(message.written));
    }
    Value::Object(map)
}

fn content_json(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!(text),
        Content::Parts(parts) => Value::Array(parts.iter().map(part_json).collect()),
    }
}

fn part_json(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({ "type": "text", "text": text }),
        ContentPart::Other(value) => (**value).clone(),
    }
}
