//! Messages as a summarizer reads them.

use std::collections::HashMap;

use ctx_types::ports::TokenCounter;
use ctx_types::{Content, ContentPart, Message, Role};

use crate::mask::language::Language;
use crate::mask::plan::Material;
use crate::mask::prompt::fill;
use crate::mask::texts::Texts;

/// The text of a message or a part of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) tokens: u64,
    /// Whether it is a tool result, which may lose its middle.
    pub(super) is_result: bool,
}

impl Entry {
    pub(super) fn new(text: String, counter: &dyn TokenCounter) -> Self {
        Self { tokens: u64::from(counter.count(&text)), text, is_result: false }
    }
}

/// Writes messages as text, each with its number and role. O(text).
pub(super) fn entries(material: &[Material], language: Language, counter: &dyn TokenCounter) -> Vec<Entry> {
    let texts = language.texts();
    let mut tools: HashMap<&str, &str> = HashMap::new();
    let mut entries = Vec::with_capacity(material.len());
    for (one, number) in material.iter().zip(1_usize..) {
        if !one.message.tool_calls.is_empty() {
            // Reversed, so that the first of 2 calls with the same id is used.
            tools = one.message.tool_calls.iter().rev().map(|call| (&*call.id, &*call.name)).collect();
        }
        let tool = one.message.tool_call_id.as_deref().and_then(|id| tools.get(id).copied());
        let (number, head, body) = (number.to_string(), head(one, tool, texts), body(&one.message, texts));
        let text = fill(texts.message, &[("{number}", &number), ("{head}", &head), ("{body}", &body)]);
        let is_result = one.message.role == Role::Tool;
        entries.push(Entry { is_result, ..Entry::new(text, counter) });
    }
    entries
}

/// Joins entries to the text of a prompt.
pub(super) fn join(entries: &[Entry]) -> String {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    texts.join("\n\n")
}

fn head(one: &Material, tool: Option<&str>, texts: &Texts) -> String {
    let role = match one.message.role {
        _ if one.is_summary => return texts.earlier_summary.to_owned(),
        Role::Tool => {
            let tool = tool.or(one.message.name.as_deref()).unwrap_or_default();
            return fill(texts.result, &[("{tool}", tool)]);
        }
        Role::User => texts.user,
        Role::Assistant => texts.assistant,
        _ => texts.system,
    };
    match &one.speaker {
        Some(name) => fill(texts.named_role, &[("{role}", role), ("{name}", &**name)]),
        None => role.to_owned(),
    }
}

/// Writes the text of a message, its calls, and its files.
fn body(message: &Message, texts: &Texts) -> String {
    let mut lines = vec![message.text().trim().to_owned()];
    lines.extend(
        message.tool_calls.iter().map(|call| {
            fill(texts.call, &[("{tool}", &*call.name), ("{arguments}", call.arguments.as_str())])
        }),
    );
    if let Content::Parts(parts) = &message.content {
        let others = parts.iter().filter(|part| matches!(part, ContentPart::Other(_)));
        lines.extend(others.map(|_| texts.image.to_owned()));
    }
    lines.extend(message.attachments.iter().map(|file| fill(texts.file, &[("{name}", &*file.name)])));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}
