use std::sync::Arc;
use std::time::Duration;

use ctx_tokens::internal::message_cost;
use ctx_tokens::{Counter, ModelFacts};
use ctx_types::Message;
use ctx_types::report::Report;
use ctx_types::session::SessionOp;
use ctx_wire::Dialect;
use serde_json::{Value, json};

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
    /// Output of each processor, if requested.
    #[doc(hidden)]
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
    let files: Vec<&Value> = message.attachments.iter().map(|file| &*file.kept).collect();
    let is_there = |items: usize| items > 0;
    let fields = [
        ("role", Some(json!(message.role))),
        ("content", Some(json!(message.content))),
        ("name", message.name.as_ref().map(|name| json!(name))),
        ("tool_calls", is_there(message.tool_calls.len()).then(|| json!(message.tool_calls))),
        ("tool_call_id", message.tool_call_id.as_ref().map(|id| json!(id))),
        ("attachments", is_there(files.len()).then(|| json!(files))),
        ("prefix", message.is_continuation_prefix.then(|| json!(true))),
        ("cacheMark", message.cache_mark.map(|mark| json!(mark.as_str()))),
        ("source", Some(json!(message.source))),
        ("tokens", Some(json!(tokens))),
        ("place", Some(json!(message.place.as_str()))),
        ("placement", message.placement.as_ref().map(|placement| json!(placement.to_string()))),
        ("segments", is_there(message.written.len()).then(|| json!(message.written))),
    ];
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
