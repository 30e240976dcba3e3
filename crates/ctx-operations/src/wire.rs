//! Requests and replies in the dialects of providers.

use ctx_engine::{Options, Request};
use ctx_tokens::ModelTable;
use ctx_wire::{Delta, Dialect, Failure, Reply, ReplyLimits, ReplyStream, StreamError};
use serde_json::{Map, Value, json};

use crate::check::rules_of;
use crate::conversation::Conversation;
use crate::error::OperationError;
use crate::given::{finish, need, need_text, optional, options};
use crate::messages::{message_to_json, sent_messages};
use crate::turn::{dialect, template};

/// A streamed reply that is read piece by piece.
#[derive(Debug)]
pub struct Stream(ReplyStream);

impl Stream {
    /// Starts with nothing. Errors: there is no such dialect.
    pub fn new(name: &str) -> Result<Self, OperationError> {
        Ok(Self(ReplyStream::new(dialect(name)?, ReplyLimits::default())))
    }

    /// Takes the data of the next server-sent event and returns what it brought, a list of objects with `kind`.
    pub fn push(&mut self, data: &str) -> Result<Value, OperationError> {
        let deltas = self.0.push(data).map_err(OperationError::from)?;
        Ok(deltas.iter().map(delta).collect())
    }

    /// Returns what came so far, as an answer that was cut off.
    pub fn partial(&self) -> Value {
        reply_to_json(&self.0.partial())
    }

    /// Returns the answer. Errors: the provider never said why it ended.
    pub fn finish(&self) -> Result<Value, OperationError> {
        Ok(reply_to_json(&self.0.clone().finish().map_err(OperationError::from)?))
    }
}

impl From<StreamError> for OperationError {
    fn from(error: StreamError) -> Self {
        Self::new("provider", error.phrase())
    }
}

impl From<Failure> for OperationError {
    fn from(failure: Failure) -> Self {
        Self::new("provider", failure.phrase())
    }
}

/// The operation `encode`.
pub(crate) fn encode(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Given {
        dialect: Option<String>,
        model: String,
        tools: Vec<Value>,
        parameters: Map<String, Value>,
        template: Option<Value>,
    }
    let conversation = Conversation::of_given(&need(&mut input, "messages")?)?;
    let given: Given = options(input)?;
    let dialect = given.dialect.as_deref().map_or(Ok(Dialect::OpenaiChat), dialect)?;
    let template = given.template.as_ref().map(template).transpose()?;
    let request = Request { model: &given.model, tools: &given.tools, parameters: &given.parameters };
    let rules = rules_of(&json!({ "model": given.model }), &ModelTable::builtin());
    let options = Options { template: template.as_ref(), rules, ..Options::default() };
    let messages = sent_messages(&conversation.session);
    let encoded = dialect.encode_with(&messages, &request, &options);
    let found = [&conversation.found[..], &encoded.diagnostics].concat();
    Ok(json!({ "body": encoded.to_value(), "findings": found }))
}

/// The operation `decode`.
pub(crate) fn decode(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let dialect = dialect(&need_text(&mut input, "dialect")?)?;
    let body = need(&mut input, "body")?;
    finish(&input)?;
    Ok(reply_to_json(&dialect.decode(&body)?))
}

/// The operation `stream.read`.
pub(crate) fn read_stream(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let mut stream = Stream::new(&need_text(&mut input, "dialect")?)?;
    let events = need(&mut input, "events")?;
    finish(&input)?;
    let Value::Array(events) = events else { return Err(OperationError::usage("`events` must be a list")) };
    for event in &events {
        match event {
            Value::String(data) => stream.push(data)?,
            event => stream.push(&event.to_string())?,
        };
    }
    stream.finish()
}

/// The operation `lint`.
pub(crate) fn lint(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let body = need(&mut input, "body")?;
    let named: Option<String> = optional(&mut input, "dialect")?;
    finish(&input)?;
    let dialect = match named {
        Some(name) => Some(dialect(&name)?),
        None => ctx_wire::lint::detect(&body),
    };
    let dialect = dialect
        .ok_or_else(|| OperationError::usage("`body` is not a request body of a known API dialect"))?;
    Ok(
        json!({ "dialect": dialect.name(), "findings": ctx_wire::lint::check_for(&body, dialect, rules_of(&body, &ModelTable::builtin())) }),
    )
}

/// Writes a reply; `message` is the assistant's message as chat completions have it.
fn reply_to_json(reply: &Reply) -> Value {
    let usage = reply
        .usage
        .map(|usage| json!({ "input": usage.input, "cached": usage.cached, "output": usage.output }));
    let source = ctx_types::Source::new(ctx_types::SourceKind::History, ctx_types::Trust::Model);
    json!({
        "id": reply.id,
        "model": reply.model,
        "text": reply.text.as_str(),
        "message": message_to_json(&reply.to_message(source)),
        "finish": reply.finish.as_str(),
        "usage": usage,
        "findings": reply.diagnostics,
    })
}

fn delta(delta: &Delta) -> Value {
    match delta {
        Delta::Text(text) => json!({ "kind": "text", "text": text }),
        Delta::Reasoning(text) => json!({ "kind": "reasoning", "text": text }),
        Delta::Call { index, id, name } => {
            json!({ "kind": "call", "index": index, "id": id, "name": name })
        }
        Delta::Arguments { index, text } => json!({ "kind": "arguments", "index": index, "text": text }),
        _ => json!({ "kind": "other" }),
    }
}
