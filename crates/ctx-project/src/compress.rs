//! Conversations in files, made shorter: what is sent of them, and who writes their summaries.

mod program;
mod settings;

use std::sync::Arc;

use ctx_chat::{Client, ModelSummarizer, RequestShape};
use ctx_compress::mask::MaskConfig;
use ctx_engine::Engine;
use ctx_types::{Content, ContentPart, Message, Node, Note, Place, Session, Summarizer, ToolCall, phrase};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::endpoint::EndpointConfig;
use crate::error::{ProjectError, Result};
use crate::options::{SummarizerChoice, SummarizerOptions};

pub use program::SummaryProgram;
pub use settings::settings;

/// Returns who writes summaries; none where the messages' own sentences do.
pub fn summarizer(
    options: &SummarizerOptions,
    settings: &MaskConfig,
    config: &Config,
) -> Result<Option<Box<dyn Summarizer>>> {
    Ok(Some(match &options.by {
        SummarizerChoice::Extractive => return Ok(None),
        SummarizerChoice::Program(command) => Box::new(SummaryProgram::parse(command, options.window)?),
        SummarizerChoice::Model(dialect) => {
            let endpoint = config.endpoint(&options.endpoint)?;
            Box::new(model(options, settings, &endpoint.for_dialect(*dialect))?)
        }
    }))
}

/// A model that is asked through the client; its window is that of the table of models unless one is given.
fn model(
    options: &SummarizerOptions,
    settings: &MaskConfig,
    config: &EndpointConfig,
) -> Result<ModelSummarizer> {
    let Some(name) = settings.summary_model.as_deref().or(config.model.as_deref()) else {
        let message = phrase!("no model is set for writing summaries; name one with `--summarizer-model`");
        return Err(ProjectError::Usage(message));
    };
    let mut endpoint = config.endpoint(&options.endpoint, true)?;
    endpoint.model = Some(name.to_owned());
    endpoint.streams = false;
    let window = options.window.or_else(|| Engine::new().models.lookup(name).0.context_window);
    let shape = RequestShape { model: name.to_owned(), streams: false, ..RequestShape::default() };
    Ok(ModelSummarizer::new(Arc::new(Client::new(endpoint)?), shape).with_window(window))
}

/// Returns what is sent of a conversation.
pub fn messages(session: &Session) -> Vec<Message> {
    let sent = (0..session.sent_len()).filter_map(|position| session.sent_node(position));
    let message = |node: &Node, message: Message| match node.kept.get("pinned") {
        Some(Value::Bool(true)) => message.with(|message| message.place = Place::Pinned),
        _ => message,
    };
    sent.map(|(id, node)| message(node, node.to_message(id))).collect()
}

/// Writes a message as chat completions have it, with its id, and for a note what a later pass needs.
pub fn message_to_json(message: &Message) -> Value {
    let mut map = Map::new();
    if let Some(id) = &message.source.id {
        map.insert("id".to_owned(), json!(id));
    }
    map.insert("role".to_owned(), json!(message.role));
    map.insert("content".to_owned(), content(message));
    if !message.tool_calls.is_empty() {
        let call = |call: &ToolCall| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } });
        map.insert("tool_calls".to_owned(), message.tool_calls.iter().map(call).collect());
    }
    let texts = [("tool_call_id", &message.tool_call_id), ("name", &message.name)];
    for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
        map.insert(key.to_owned(), json!(text));
    }
    if let Some(text) = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
        map.insert("reasoning_content".to_owned(), json!(text));
    }
    if !message.attachments.is_empty() {
        let files = message.attachments.iter().map(|file| (*file.kept).clone());
        map.insert("attachments".to_owned(), files.collect());
    }
    if message.place == Place::Pinned && !message.role.is_instruction() {
        map.insert("pinned".to_owned(), Value::Bool(true));
    }
    if let Some(note) = &message.note {
        map.insert(Note::KEY.to_owned(), json!(note));
    }
    Value::Object(map)
}

/// Writes content: null for calls without a text, a list where there is more than text.
fn content(message: &Message) -> Value {
    let part = |part: &ContentPart| match part {
        ContentPart::Text(text) => json!({ "type": "text", "text": text }),
        ContentPart::Other(other) => (**other).clone(),
    };
    match &message.content {
        Content::Text(text) if text.is_empty() && !message.tool_calls.is_empty() => Value::Null,
        Content::Text(text) => json!(text),
        Content::Parts(parts) => parts.iter().map(part).collect(),
    }
}
