//! Messages as a summarizer reads them.

use std::collections::HashMap;
use std::fmt::Write as _;

use ctx_types::ports::TokenCounter;
use ctx_types::{Content, ContentPart, Message, Role};

use crate::mask::language::Language;
use crate::mask::plan::Material;

/// A message, or a piece of one, as text.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The text, with who speaks.
    pub(super) text: String,
    /// Its tokens.
    pub(super) tokens: u64,
    /// Which of the materials it is; none for a summary of several.
    pub(super) material: Option<usize>,
    /// Whether it answers a call of the entry before, from which it is not parted without need.
    pub(super) joins: bool,
    /// Whether it is the result of a tool, of which the middle may go.
    pub(super) is_result: bool,
}

/// Writes messages as text, each with its number and who speaks. O(text).
pub(super) fn entries(material: &[Material], language: Language, counter: &dyn TokenCounter) -> Vec<Entry> {
    let mut tools: HashMap<&str, &str> = HashMap::new();
    let mut entries = Vec::with_capacity(material.len());
    for (index, one) in material.iter().enumerate() {
        if !one.message.tool_calls.is_empty() {
            // Reversed, so that the first of 2 calls with the same id is used.
            tools = one.message.tool_calls.iter().rev().map(|call| (&*call.id, &*call.name)).collect();
        }
        let answered = one.message.tool_call_id.as_deref();
        let tool = answered.and_then(|id| tools.get(id).copied());
        let text = entry(index + 1, one, tool, language);
        let is_result = one.message.role == Role::Tool;
        let tokens = u64::from(counter.count(&text));
        entries.push(Entry { tokens, text, material: Some(index), joins: is_result, is_result });
    }
    entries
}

/// Joins entries to the text that a prompt is filled with.
pub(super) fn join(entries: &[Entry]) -> String {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    texts.join("\n\n")
}

fn entry(number: usize, one: &Material, tool: Option<&str>, language: Language) -> String {
    let mut text = String::new();
    let head = head(one, tool, language);
    let written = match language {
        Language::English => write!(text, "[{number}] {head}:\n{}", body(&one.message, language)),
        Language::Chinese => write!(text, "【{number}】{head}：\n{}", body(&one.message, language)),
    };
    written.unwrap_or_default();
    text
}

fn head(one: &Material, tool: Option<&str>, language: Language) -> String {
    let chinese = language == Language::Chinese;
    let role = match one.message.role {
        _ if one.is_summary => return if chinese { "先前的摘要" } else { "earlier summary" }.to_owned(),
        Role::Tool => {
            let name = tool.or(one.message.name.as_deref()).unwrap_or_default();
            return if chinese { format!("工具 {name} 的结果") } else { format!("result of {name}") };
        }
        Role::User => {
            if chinese {
                "用户"
            } else {
                "user"
            }
        }
        Role::Assistant => {
            if chinese {
                "助手"
            } else {
                "assistant"
            }
        }
        _ => {
            if chinese {
                "系统"
            } else {
                "system"
            }
        }
    };
    match &one.speaker {
        Some(name) if chinese => format!("{role}（{name}）"),
        Some(name) => format!("{role} ({name})"),
        None => role.to_owned(),
    }
}

/// Writes what is said, then what is called, then which files are there.
fn body(message: &Message, language: Language) -> String {
    let chinese = language == Language::Chinese;
    let mut lines = vec![message.text().trim().to_owned()];
    lines.extend(message.tool_calls.iter().map(|call| {
        if chinese {
            format!("调用工具 {}，参数 {}", call.name, call.arguments.as_str())
        } else {
            format!("calls {} with {}", call.name, call.arguments.as_str())
        }
    }));
    let others = match &message.content {
        Content::Text(_) => 0,
        Content::Parts(parts) => parts.iter().filter(|part| matches!(part, ContentPart::Other(_))).count(),
    };
    lines.extend((0..others).map(|_| if chinese { "[图片或文件]" } else { "[picture or file]" }.to_owned()));
    lines.extend(message.attachments.iter().map(|file| {
        if chinese { format!("[附件：{}]", file.name) } else { format!("[file: {}]", file.name) }
    }));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}
