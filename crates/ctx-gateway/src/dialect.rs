//! Reads requests and writes responses in the API dialects.

mod anthropic;
mod effort;
mod gemini;
mod mapping;
mod openai_chat;
mod openai_responses;
mod partial_calls;
mod request_fields;
mod response_format;
mod sse;
mod tool_choice;

use std::collections::BTreeMap;

use ctx_types::session::Node;
use ctx_types::{Phrase, Reasoning, ToolCall};
use ctx_wire::{Delta, Dialect, Finish, ReplyUsage};
use serde_json::{Map, Value, json};

use crate::api_error::ApiError;
use partial_calls::PartialCall;

pub(crate) use mapping::{Target, map_request};

/// The body of a client's request in any API dialect.
#[derive(Debug, Default)]
pub(crate) struct ClientRequest {
    /// Name of the agent, with a model if the client names one.
    pub(crate) model: String,
    /// Messages without ids.
    pub(crate) messages: Vec<Node>,
    /// Tool definitions in the format of any API dialect.
    pub(crate) tools: Vec<Value>,
    /// Further fields of the body, unchanged.
    pub(crate) parameters: Map<String, Value>,
    /// Whether the response is streaming.
    pub(crate) streams: bool,
    /// Whether a stream of chat completions ends with its usage.
    pub(crate) wants_usage: bool,
    /// Dropped fields, which have no counterpart in the API of the provider.
    pub(crate) lost: Vec<String>,
}

/// A complete response with stored ids of tool calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientResponse {
    /// The provider's JSON, for a client of the same dialect without streaming.
    pub(crate) provider_json: Option<String>,
    pub(crate) text: String,
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: Finish,
    pub(crate) usage: ReplyUsage,
}

/// Fields at the start of every response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseLabel {
    /// Id of the response, without the prefix of the API dialect.
    pub(crate) id: String,
    /// The client's name of the model.
    pub(crate) model: String,
    /// Start of the turn, in seconds since 1970.
    pub(crate) created: i64,
}

/// Reads the body of a request. A Gemini request has the model in its path.
pub(crate) fn read(dialect: Dialect, body: Map<String, Value>) -> Result<ClientRequest, ApiError> {
    match dialect {
        Dialect::Anthropic => anthropic::read(body),
        Dialect::Gemini => gemini::read(body),
        Dialect::OpenaiResponses => openai_responses::read(body),
        _ => openai_chat::read(body),
    }
}

/// Takes the name of the conversation to continue out of the other fields of a request.
pub(crate) fn take_conversation_name(
    dialect: Dialect,
    fields: &mut Map<String, Value>,
) -> Result<Option<String>, ApiError> {
    match dialect {
        Dialect::OpenaiResponses => openai_responses::take_conversation_name(fields),
        _ => request_fields::take_conversation_name(fields),
    }
}

/// Writes a complete response.
pub(crate) fn write(dialect: Dialect, label: &ResponseLabel, response: &ClientResponse) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::write(label, response),
        Dialect::Gemini => gemini::write(label, response),
        Dialect::OpenaiResponses => openai_responses::write(label, response),
        _ => openai_chat::write(label, response),
    }
}

/// Writes an API error.
pub(crate) fn write_error(dialect: Dialect, error: &ApiError, message: &str) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::write_error(error, message),
        Dialect::Gemini => gemini::write_error(error, message),
        _ => openai_chat::write_error(error, message),
    }
}

/// Writes a response as server-sent events.
#[derive(Debug)]
pub(crate) struct StreamWriter {
    dialect: Dialect,
    label: ResponseLabel,
    wants_usage: bool,
    /// The open part.
    open: Option<Part>,
    /// Number of parts, including the open one.
    parts: usize,
    /// Number of events.
    events: u64,
    /// Text of the open part, for API dialects that repeat it at the end.
    text: String,
    reasoning: String,
    /// Tool calls by index.
    calls: BTreeMap<usize, PartialCall>,
    /// Texts that wait for the end of the open tool call.
    waiting: Vec<(Part, String)>,
    /// Whether the provider's events are passed through.
    is_passed_through: bool,
    /// Whether the provider ended the stream.
    is_done: bool,
}

/// A part of a streaming response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Reasoning,
    /// Arguments of the tool call with this index.
    Call(usize),
}

impl StreamWriter {
    pub(crate) fn new(dialect: Dialect, label: ResponseLabel, wants_usage: bool) -> Self {
        let (text, reasoning) = (String::new(), String::new());
        let (calls, waiting) = (BTreeMap::new(), Vec::new());
        let (open, parts, events, is_passed_through, is_done) = (None, 0, 0, false, false);
        Self {
            dialect,
            label,
            wants_usage,
            open,
            parts,
            events,
            text,
            reasoning,
            calls,
            waiting,
            is_passed_through,
            is_done,
        }
    }

    /// Writes the events before the first chunk.
    pub(crate) fn write_start(&mut self) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => anthropic::write_start(self),
            Dialect::Gemini => Vec::new(),
            Dialect::OpenaiResponses => openai_responses::write_start(self),
            _ => openai_chat::write_start(self),
        }
    }

    /// Writes a ping before the first chunk. Google's SDK for Python fails on comments.
    pub(crate) fn ping(&self) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => sse::named("ping", &json!({ "type": "ping" })),
            Dialect::Gemini => b"\n".to_vec(),
            _ => b": ping\n\n".to_vec(),
        }
    }

    /// Writes a delta.
    pub(crate) fn write_delta(&mut self, delta: &Delta) -> Vec<u8> {
        match delta {
            Delta::Text(text) => self.write_text(Part::Text, text),
            Delta::Reasoning(text) => self.write_text(Part::Reasoning, text),
            Delta::Call { index, id, name } => self.start_call(*index, id, name),
            Delta::Arguments { index, text } => self.add_arguments(*index, text),
            _ => Vec::new(),
        }
    }

    /// Writes an event of a provider with the client's API dialect.
    pub(crate) fn write_event(&mut self, json: &str) -> Vec<u8> {
        self.is_passed_through = true;
        self.is_done = json.trim() == "[DONE]";
        match self.dialect {
            Dialect::Anthropic | Dialect::OpenaiResponses => {
                let event: Value = serde_json::from_str(json).unwrap_or_default();
                // An error of the gateway continues the provider's events.
                if let Some(number) = event["sequence_number"].as_u64() {
                    self.events = number.saturating_add(1);
                }
                if let Some(id) = event["response"]["id"].as_str() {
                    id.strip_prefix("resp_").unwrap_or(id).clone_into(&mut self.label.id);
                }
                sse::named_text(event["type"].as_str().unwrap_or_default(), json)
            }
            // The gateway always requests the usage.
            Dialect::OpenaiChat if !self.wants_usage => openai_chat::without_usage(json),
            _ => sse::text(json),
        }
    }

    /// Writes text of a part.
    fn write_part(&mut self, part: Part, text: &str) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => anthropic::write_part(self, part, text),
            Dialect::Gemini => gemini::write_part(self, part, text),
            Dialect::OpenaiResponses => openai_responses::write_part(self, part, text),
            _ => openai_chat::write_part(self, part, text),
        }
    }

    /// Writes the end of a response, with the rest that no chunk contained.
    pub(crate) fn write_end(&mut self, response: &ClientResponse) -> Vec<u8> {
        if self.is_passed_through {
            let needs_end = self.dialect == Dialect::OpenaiChat && !self.is_done;
            return if needs_end { sse::text("[DONE]") } else { Vec::new() };
        }
        let mut written = Vec::new();
        if self.parts == 0 && self.calls.is_empty() && !response.text.is_empty() {
            written = self.write_text(Part::Text, &response.text);
        }
        written.extend(self.end_calls(&response.calls));
        written.extend(match self.dialect {
            Dialect::Anthropic => anthropic::write_end(self, response),
            Dialect::Gemini => gemini::write_end(self, response),
            Dialect::OpenaiResponses => openai_responses::write_end(self, response),
            _ => openai_chat::write_end(self, response),
        });
        written
    }

    /// Writes an error that ends the stream.
    pub(crate) fn write_failure(&mut self, error: &ApiError, message: &Phrase) -> Vec<u8> {
        let body = write_error(self.dialect, error, &message.to_string());
        match self.dialect {
            Dialect::Anthropic => sse::named("error", &body),
            Dialect::OpenaiResponses => openai_responses::write_failure(self, error, &message.to_string()),
            _ => sse::data(&body),
        }
    }
}
