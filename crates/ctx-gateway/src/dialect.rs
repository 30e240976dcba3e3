//! What clients ask and are answered, in the dialects of four providers: requests are read here, and replies written.

mod anthropic;
mod calls;
mod effort;
mod gemini;
mod mapping;
mod openai_chat;
mod openai_responses;
mod reading;
mod response_format;
mod sse;
mod tool_choice;

use std::collections::BTreeMap;

use ctx_types::session::Node;
use ctx_types::{Phrase, Reasoning, ToolCall};
use ctx_wire::{Delta, Dialect, Finish, ReplyUsage};
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use calls::CallSoFar;

pub(crate) use mapping::{Target, map_request};

/// What a client asks, whatever its dialect.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The agent, with the model if one is named.
    pub(crate) model: String,
    /// The messages, in order; ids are not set.
    pub(crate) messages: Vec<Node>,
    /// The definitions of tools, in the form of any dialect.
    pub(crate) tools: Vec<Value>,
    /// Further fields of the body, as they came.
    pub(crate) parameters: Map<String, Value>,
    /// Whether the answer is to come in pieces.
    pub(crate) streams: bool,
    /// Whether a stream of chat completions ends with its usage.
    pub(crate) wants_usage: bool,
    /// The conversation that is gone on with, where the client names one.
    pub(crate) conversation: Option<String>,
    /// Dropped fields, which have no counterpart in the API of the provider.
    pub(crate) lost: Vec<String>,
}

/// A whole answer, as it is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The provider's JSON, for a client of the same dialect without streaming.
    pub(crate) own: Option<String>,
    pub(crate) text: String,
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: Finish,
    pub(crate) usage: ReplyUsage,
}

/// What stands in the head of every answer.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// The id of the answer, without the dialect's prefix.
    pub(crate) id: String,
    /// The model, as the client named it.
    pub(crate) model: String,
    /// When the turn began, in seconds since 1970.
    pub(crate) created: i64,
}

/// Reads the body of a request. The model of a Gemini request is in its address.
pub(crate) fn read(dialect: Dialect, body: Map<String, Value>) -> Result<Asked, Refusal> {
    match dialect {
        Dialect::Anthropic => anthropic::read(body),
        Dialect::Gemini => gemini::read(body),
        Dialect::OpenaiResponses => openai_responses::read(body),
        _ => openai_chat::read(body),
    }
}

/// Writes a whole answer.
pub(crate) fn write(dialect: Dialect, label: &Label, answer: &Answer) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::write(label, answer),
        Dialect::Gemini => gemini::write(label, answer),
        Dialect::OpenaiResponses => openai_responses::write(label, answer),
        _ => openai_chat::write(label, answer),
    }
}

/// Writes an error; `kind` and `status` say of which sort it is.
pub(crate) fn write_error(dialect: Dialect, refusal: &Refusal, message: &str) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::write_error(refusal, message),
        Dialect::Gemini => gemini::write_error(refusal, message),
        _ => openai_chat::write_error(refusal, message),
    }
}

/// Writes an answer piece by piece, as server-sent events.
#[derive(Debug)]
pub(crate) struct Pieces {
    dialect: Dialect,
    label: Label,
    wants_usage: bool,
    /// The part that is open.
    open: Option<Part>,
    /// How many parts there were, the open one included.
    parts: usize,
    /// How many events there were.
    events: u64,
    /// The words so far, where the dialect says them again at the end.
    text: String,
    reasoning: String,
    /// The calls that have begun, by their place in the answer.
    calls: BTreeMap<usize, CallSoFar>,
    /// Words that came while a call was open that has not ended.
    held: Vec<(Part, String)>,
    /// Whether the provider's events are passed through.
    is_own: bool,
    /// Whether the provider ended the stream.
    is_done: bool,
}

/// What comes piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Reasoning,
    /// The arguments of the call of this place.
    Call(usize),
}

impl Pieces {
    pub(crate) fn new(dialect: Dialect, label: Label, wants_usage: bool) -> Self {
        let (text, reasoning) = (String::new(), String::new());
        let (calls, held) = (BTreeMap::new(), Vec::new());
        let (open, parts, events, is_own, is_done) = (None, 0, 0, false, false);
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
            held,
            is_own,
            is_done,
        }
    }

    /// Writes what stands before the first piece.
    pub(crate) fn begin(&mut self) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => anthropic::begin(self),
            Dialect::Gemini => Vec::new(),
            Dialect::OpenaiResponses => openai_responses::begin(self),
            _ => openai_chat::begin(self),
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

    /// Writes a piece.
    pub(crate) fn piece(&mut self, delta: &Delta) -> Vec<u8> {
        match delta {
            Delta::Text(text) => self.words(Part::Text, text),
            Delta::Reasoning(text) => self.words(Part::Reasoning, text),
            Delta::Call { index, id, name } => self.begin_call(*index, id, name),
            Delta::Arguments { index, text } => self.arguments(*index, text),
            _ => Vec::new(),
        }
    }

    /// Writes an event of the provider, which speaks the dialect of the client.
    pub(crate) fn event(&mut self, json: &str) -> Vec<u8> {
        self.is_own = true;
        self.is_done = json.trim() == "[DONE]";
        match self.dialect {
            Dialect::Anthropic | Dialect::OpenaiResponses => {
                let event: Value = serde_json::from_str(json).unwrap_or_default();
                sse::named_text(event["type"].as_str().unwrap_or_default(), json)
            }
            // The gateway always requests the usage.
            Dialect::OpenaiChat if !self.wants_usage => openai_chat::without_usage(json),
            _ => sse::text(json),
        }
    }

    /// Writes a piece of a part.
    fn write(&mut self, part: Part, text: &str) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => anthropic::piece(self, part, text),
            Dialect::Gemini => gemini::piece(self, part, text),
            Dialect::OpenaiResponses => openai_responses::piece(self, part, text),
            _ => openai_chat::piece(self, part, text),
        }
    }

    /// Writes the end of an answer, with what came in no piece.
    pub(crate) fn end(&mut self, answer: &Answer) -> Vec<u8> {
        if self.is_own {
            let needs_end = self.dialect == Dialect::OpenaiChat && !self.is_done;
            return if needs_end { sse::text("[DONE]") } else { Vec::new() };
        }
        let mut written = Vec::new();
        if self.parts == 0 && self.calls.is_empty() && !answer.text.is_empty() {
            written = self.words(Part::Text, &answer.text);
        }
        written.extend(self.end_calls(&answer.calls));
        written.extend(match self.dialect {
            Dialect::Anthropic => anthropic::end(self, answer),
            Dialect::Gemini => gemini::end(self, answer),
            Dialect::OpenaiResponses => openai_responses::end(self, answer),
            _ => openai_chat::end(self, answer),
        });
        written
    }

    /// Writes that nothing more comes, and why.
    pub(crate) fn broken(&mut self, refusal: &Refusal, message: &Phrase) -> Vec<u8> {
        let error = write_error(self.dialect, refusal, &message.to_string());
        match self.dialect {
            Dialect::Anthropic => sse::named("error", &error),
            Dialect::OpenaiResponses => openai_responses::broken(self, refusal, &message.to_string()),
            _ => sse::data(&error),
        }
    }
}
