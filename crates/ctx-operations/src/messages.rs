//! Messages and tools as chat completions have them.

use std::sync::Arc;

use ctx_types::internal::BlockOrder;
use ctx_types::ports::ToolDefinition;
use ctx_types::session::{Node, Session};
use ctx_types::{Content, ContentPart, Message, Note, Place, Text, ToolCall};
use ctx_wire::openai_chat::ReplyState;
use serde_json::{Map, Value, json};

/// Returns what is sent of a conversation.
pub fn sent_messages(session: &Session) -> Vec<Message> {
    let sent = (0..session.sent_len()).filter_map(|position| session.sent_node(position));
    let message = |node: &Node, message: Message| {
        if node.is_pinned() { message.with(|message| message.place = Place::Pinned) } else { message }
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
    let mut state = message.reasoning.as_ref().map(ReplyState::from_reasoning).unwrap_or_default();
    if !message.tool_calls.is_empty() {
        let call = |(position, call): (usize, &ToolCall)| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            let mut written = json!({ "id": call.id, "type": "function", "function": function });
            if let Some(extra) = state.extras.remove(&Some(position)) {
                written["extra_content"] = extra;
            }
            written
        };
        map.insert("tool_calls".to_owned(), message.tool_calls.iter().enumerate().map(call).collect());
    }
    let texts = [("tool_call_id", &message.tool_call_id), ("name", &message.name)];
    for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
        map.insert(key.to_owned(), json!(text));
    }
    if let Some(text) = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
        map.insert("reasoning_content".to_owned(), json!(text));
    }
    let details = [("reasoning_details", state.details), ("extra_content", state.extras.remove(&None))];
    map.extend(details.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let mut metadata = Map::new();
    if message.is_error {
        metadata.insert("isError".to_owned(), Value::Bool(true));
    }
    if let Some(order) = &message.block_order {
        metadata.insert(BlockOrder::KEY.to_owned(), order.to_value());
    }
    if !metadata.is_empty() {
        map.insert("metadata".to_owned(), Value::Object(metadata));
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

/// Reads a tool definition for the budget: that of chat completions, or the same without its envelope.
pub fn tool_of(definition: &Value) -> ToolDefinition {
    let body = definition.get("function").unwrap_or(definition);
    let text = |key| body.get(key).and_then(Value::as_str);
    ToolDefinition {
        name: text("name").unwrap_or_default().into(),
        description: text("description").map(Text::from),
        parameters: Arc::new(body.get("parameters").cloned().unwrap_or_default()),
    }
}
