//! The content blocks of one message.

use ctx_types::{Content, ContentPart, Diagnostic, Message, Reasoning, Role, ToolCall, excerpt};
use serde_json::{Value, json};

use super::is_of;
use crate::codes;

/// Writes the blocks of a message and reports what has none.
pub(super) struct Blocks<'a> {
    index: usize,
    written: Vec<Value>,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Blocks<'a> {
    /// Starts for the message at a place of the context.
    pub(super) fn new(index: usize, found: &'a mut Vec<Diagnostic>) -> Self {
        Self { index, written: Vec::new(), found }
    }

    /// Adds what a message says and calls.
    pub(super) fn add(&mut self, message: &Message) {
        match message.role {
            Role::Tool => self.add_result(message),
            Role::System | Role::Developer => self.add_instruction(message),
            Role::User | Role::Assistant => self.add_words(message),
        }
        for attachment in &message.attachments {
            let name = if attachment.name.is_empty() { &attachment.id } else { &attachment.name };
            let text = format!("attachment `{}` is not sent: nothing loaded its bytes", excerpt(name));
            self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
        }
        if self.written.is_empty() {
            let text = format!("message {} of the context is not sent: it has no words", self.index);
            self.report(Diagnostic::info(codes::BLANK_NOT_SENT, text));
        }
    }

    /// Returns the blocks.
    pub(super) fn into_values(self) -> Vec<Value> {
        self.written
    }

    fn add_words(&mut self, message: &Message) {
        if let Some(reasoning) = message.reasoning.as_ref().filter(|_| message.role == Role::Assistant) {
            self.add_reasoning(reasoning);
        }
        for block in self.content(&message.content) {
            self.written.push(block);
        }
        let is_calling = message.role == Role::Assistant;
        for call in message.tool_calls.iter().filter(|_| is_calling) {
            let block = self.call(call);
            self.written.push(block);
        }
        if !is_calling && !message.tool_calls.is_empty() {
            let text = format!("its tool calls are not sent: role `{}` has none", message.role);
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text));
        }
        if message.name.is_some() {
            let text = "its name is not sent: this dialect has no place for it";
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        }
    }

    /// Signed reasoning is replayed as it came; all else has no place.
    fn add_reasoning(&mut self, reasoning: &Reasoning) {
        for artifact in &reasoning.artifacts {
            if is_of(artifact, "thinking") || is_of(artifact, "redacted_thinking") {
                self.written.push((**artifact).clone());
            } else {
                let text = "reasoning state of another provider is not sent";
                self.report(Diagnostic::info(codes::REASONING_NOT_SENT, text));
            }
        }
    }

    fn add_instruction(&mut self, message: &Message) {
        let text = message.text();
        if text.trim().is_empty() {
            return;
        }
        self.written.push(json!({ "type": "text", "text": format!("<system>\n{text}\n</system>") }));
        let text = "a system message inside the conversation is sent as the user's, in `<system>` marks";
        self.report(Diagnostic::info(codes::MESSAGE_MOVED, text));
    }

    fn add_result(&mut self, message: &Message) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let content = match self.content(&message.content).as_slice() {
            [] => Value::from(""),
            [block] if is_of(block, "text") => block["text"].clone(),
            blocks => Value::from(blocks.to_vec()),
        };
        self.written.push(json!({ "type": "tool_result", "tool_use_id": id, "content": content }));
    }

    fn content(&mut self, content: &Content) -> Vec<Value> {
        let text = |text: &str| (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
        match content {
            Content::Text(words) => text(words).into_iter().collect(),
            Content::Parts(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    ContentPart::Text(words) => text(words),
                    ContentPart::Other(part) => self.part(part),
                })
                .collect(),
        }
    }

    /// An image of a chat completion becomes one of this dialect; its own blocks stay as they are.
    fn part(&mut self, part: &Value) -> Option<Value> {
        if is_of(part, "image") || is_of(part, "document") {
            return Some(part.clone());
        }
        let image = part.pointer("/image_url/url").and_then(Value::as_str).and_then(image);
        if image.is_none() {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("without a type");
            let text = format!("a part `{}` is not sent: this dialect has no block for it", excerpt(kind));
            self.report(Diagnostic::error(codes::PART_NOT_ACCEPTED, text));
        }
        image
    }

    /// The API wants an object; other arguments are wrapped, so that nothing of them is lost.
    fn call(&mut self, call: &ToolCall) -> Value {
        let input: Option<Value> = serde_json::from_str(&call.arguments).ok();
        let input = input.filter(Value::is_object).unwrap_or_else(|| {
            let text = format!(
                "the arguments of the call `{}` are no JSON object, and are wrapped in one",
                excerpt(&call.id)
            );
            self.report(Diagnostic::warning(codes::ARGUMENTS, text));
            json!({ "arguments": call.arguments.as_str() })
        });
        json!({ "type": "tool_use", "id": &*call.id, "name": &*call.name, "input": input })
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.index)));
    }
}

/// A `data:` address as a base64 source, any other as one by address.
fn image(url: &str) -> Option<Value> {
    let Some(inline) = url.strip_prefix("data:") else {
        return Some(json!({ "type": "image", "source": { "type": "url", "url": url } }));
    };
    let (kind, data) = inline.split_once(";base64,")?;
    Some(json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } }))
}
