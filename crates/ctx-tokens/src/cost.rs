use ctx_types::ports::{TokenCounter, ToolDefinition};
use ctx_types::{Content, ContentPart, Message};
use serde_json::json;

use crate::estimate::estimate;
use crate::media::{MediaItem, media_cost};
use crate::model::ModelFacts;

/// Tokens of a message by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCost {
    pub text: u32,
    pub per_message: u32,
    pub name: u32,
    /// Tool calls; ids by length.
    pub tool_calls: u32,
    /// Id of the answered call, by length.
    pub tool_call_id: u32,
    /// Reasoning sent back to the provider.
    pub reasoning: u32,
    /// Media and documents; always an estimate.
    pub media: u32,
}

impl MessageCost {
    /// Returns the sum.
    pub fn total(&self) -> u32 {
        self.parts().fold(0, |sum, (_, tokens)| sum.saturating_add(tokens))
    }

    /// Returns all parts by name, text first.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let parts = [
            ("text", self.text),
            ("per message", self.per_message),
            ("name", self.name),
            ("tool calls", self.tool_calls),
            ("tool call id", self.tool_call_id),
            ("reasoning", self.reasoning),
            ("media", self.media),
        ];
        parts.into_iter()
    }
}

/// Counts a message. Texts cache their counts.
pub fn message_cost(message: &Message, model: &ModelFacts, counter: &dyn TokenCounter) -> MessageCost {
    let adds = &model.overheads;
    let (text, media_parts) = content_cost(&message.content, model, counter);
    let calls = message
        .tool_calls
        .iter()
        .flat_map(|call| [id_cost(&call.id), counter.count(&call.name), counter.count_text(&call.arguments)]);
    let attachments =
        message.attachments.iter().map(|file| media_cost(model.media, &MediaItem::from_attachment(file)));
    MessageCost {
        text,
        per_message: adds.per_message,
        name: message.name.as_ref().map_or(0, |name| counter.count(name).saturating_add(adds.per_name)),
        tool_calls: calls.fold(0, u32::saturating_add),
        tool_call_id: message.tool_call_id.as_ref().map_or(0, |id| id_cost(id)),
        reasoning: reasoning_cost(message, counter),
        media: attachments.fold(media_parts, u32::saturating_add),
    }
}

/// One token per two bytes, as random letters have in OpenAI's encodings. Providers do not publish their
/// format, and exact counting would dominate a turn.
fn id_cost(id: &str) -> u32 {
    u32::try_from(id.len().div_ceil(2)).unwrap_or(u32::MAX)
}

/// Counts tool definitions: compact JSON and overheads; 0 without tools.
pub fn tools_cost(tools: &[ToolDefinition], model: &ModelFacts, counter: &dyn TokenCounter) -> u32 {
    let adds = &model.overheads;
    let once = if tools.is_empty() { 0 } else { adds.with_tools };
    let each = tools.iter().map(|tool| {
        let mut definition = json!({ "name": &*tool.name });
        if let Some(description) = &tool.description {
            definition["description"] = description.as_str().into();
        }
        definition["parameters"] = (*tool.parameters).clone();
        counter.count(&definition.to_string()).saturating_add(adds.per_tool)
    });
    each.fold(once, u32::saturating_add)
}

/// Returns the tokens of texts and of other parts. Inline images are already attachments.
fn content_cost(content: &Content, model: &ModelFacts, counter: &dyn TokenCounter) -> (u32, u32) {
    let parts = match content {
        Content::Text(text) => return (counter.count_text(text), 0),
        Content::Parts(parts) => parts,
    };
    let mut cost = (0_u32, 0_u32);
    for part in parts {
        match part {
            ContentPart::Text(text) => cost.0 = cost.0.saturating_add(counter.count_text(text)),
            ContentPart::Other(value) => {
                let tokens = match MediaItem::from_part(value) {
                    Some(item) => media_cost(model.media, &item),
                    None => counter.count(&value.to_string()),
                };
                cost.1 = cost.1.saturating_add(tokens);
            }
        }
    }
    cost
}

/// Encrypted reasoning is estimated by its length.
fn reasoning_cost(message: &Message, counter: &dyn TokenCounter) -> u32 {
    let Some(reasoning) = &message.reasoning else { return 0 };
    if let Some(text) = &reasoning.text {
        return counter.count_text(text);
    }
    let artifacts = reasoning.artifacts.iter().map(|artifact| estimate(&artifact.to_string()));
    artifacts.fold(0, u32::saturating_add)
}
