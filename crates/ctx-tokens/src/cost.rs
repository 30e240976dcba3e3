//! What a message and a list of tools cost, part by part.

use ctx_types::{Content, ContentPart, Message, TokenCounter, ToolDefinition};
use serde_json::json;

use crate::estimate::estimate;
use crate::media::{MediaItem, media_cost};
use crate::model::ModelFacts;

/// The tokens of one message, by what causes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCost {
    /// The text, of all parts together.
    pub text: u32,
    /// The role and the borders.
    pub per_message: u32,
    /// The name beside the role, with what it adds.
    pub name: u32,
    /// The ids, names and arguments of the calls that it makes; ids are weighed by their length.
    pub tool_calls: u32,
    /// The id of the call that it answers, weighed by its length.
    pub tool_call_id: u32,
    /// Reasoning that is sent back to the provider.
    pub reasoning: u32,
    /// Pictures, recordings and documents; always an estimate.
    pub media: u32,
}

impl MessageCost {
    /// Returns the whole figure.
    pub fn total(&self) -> u32 {
        self.parts().fold(0, |sum, (_, tokens)| sum.saturating_add(tokens))
    }

    /// Returns everything but the text.
    pub fn overhead(&self) -> u32 {
        self.parts().skip(1).fold(0, |sum, (_, tokens)| sum.saturating_add(tokens))
    }

    /// Returns the parts by name, the text first; parts of 0 tokens too.
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

/// Counts a message for a model.
///
/// The count of a text is remembered in it, so that counting the message again costs nothing.
///
/// ```
/// use ctx_tokens::{Counter, ModelFacts, message_cost};
/// use ctx_types::{Message, Role, Source};
///
/// let mut message = Message::new(Role::User, "four by four", Source::history("n1", Role::User));
/// message.name = Some("Bob".into());
/// let cost = message_cost(&message, &ModelFacts::unknown(""), &Counter::estimate());
/// assert_eq!((cost.text, cost.per_message, cost.name), (3, 3, 2));
/// assert_eq!((cost.total(), cost.overhead()), (8, 5));
/// ```
pub fn message_cost(message: &Message, model: &ModelFacts, counter: &dyn TokenCounter) -> MessageCost {
    let adds = &model.overheads;
    let (text, media_parts) = content_cost(&message.content, model, counter);
    let calls = message
        .tool_calls
        .iter()
        .flat_map(|call| [id_cost(&call.id), counter.count(&call.name), counter.count_text(&call.arguments)]);
    let attachments =
        message.attachments.iter().map(|file| media_cost(model.media, &MediaItem::of(file)).tokens);
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

/// Weighs the id of a call: a token for every two bytes, at least one.
///
/// Providers do not say how they write ids to the model, and random letters have about that many tokens in
/// OpenAI's encodings. Counting each id anew would cost more than all the rest of a turn.
fn id_cost(id: &str) -> u32 {
    u32::try_from(id.len().div_ceil(2)).unwrap_or(u32::MAX)
}

/// Counts the definitions of tools: the compact JSON of each, what the provider adds to each, and what it
/// adds once. Nothing for no tools.
///
/// ```
/// use ctx_tokens::{Counter, ModelFacts, tools_cost};
///
/// assert_eq!(tools_cost(&[], &ModelFacts::unknown(""), &Counter::estimate()), 0);
/// ```
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

/// Returns the tokens of all texts, and of all parts that are no text.
///
/// Texts are counted as the words that they are sent as. Pictures within them, as Markdown with their bytes, are files
/// of their message before anything is counted.
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
                let tokens = match MediaItem::of_part(value) {
                    Some(item) => media_cost(model.media, &item).tokens,
                    None => counter.count(&value.to_string()),
                };
                cost.1 = cost.1.saturating_add(tokens);
            }
        }
    }
    cost
}

/// Visible reasoning is counted; what a provider has encrypted can only be estimated from its length.
fn reasoning_cost(message: &Message, counter: &dyn TokenCounter) -> u32 {
    let Some(reasoning) = &message.reasoning else { return 0 };
    if let Some(text) = &reasoning.text {
        return counter.count_text(text);
    }
    let artifacts = reasoning.artifacts.iter().map(|artifact| estimate(&artifact.to_string()));
    artifacts.fold(0, u32::saturating_add)
}
