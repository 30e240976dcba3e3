//! One request as a list of blocks with their tokens.

use std::sync::Arc;

use ctx_tokens::ModelTable;
use serde::Serialize;

use crate::blocks::{BlockKind, BlockReader, Lifetime, PlacedBlock};
use crate::entry::LogLine;
use crate::place::{BlockPlace, Section};
use crate::usage::Usage;

/// Maximum length of the text of a block, in characters.
const MAX_TEXT: usize = 240;

/// The blocks of a request, in the order in which the provider reads them.
///
/// ```
/// use ctx_tokens::ModelTable;
/// use ctx_traffic::RequestOutline;
///
/// let body = r#"{ "model": "gpt-4o", "messages": [{ "role": "user", "content": "Which port?" }] }"#;
/// let outline = RequestOutline::read(&ModelTable::builtin(), body).unwrap();
/// assert_eq!((outline.api, outline.tokens), ("openai", 3));
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestOutline {
    /// API dialect, as commands spell it.
    pub api: &'static str,
    /// Requested model; empty if the request does not contain it.
    pub model: Arc<str>,
    /// Tokens of all blocks. Providers also count a few tokens for each message and tool.
    pub tokens: u64,
    /// Tokenizer.
    pub encoding: &'static str,
    /// Whether the tokenizer belongs to the model.
    pub is_exact: bool,
    /// Tokens that the provider reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Tool definitions, parts of the system prompt, and parts of messages.
    pub blocks: Vec<OutlineBlock>,
}

/// A block of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlineBlock {
    /// Part of the request.
    #[serde(rename = "in")]
    pub section: Section,
    /// Number of the tool, part of the system prompt, or message, from 1.
    #[serde(rename = "index")]
    pub number: u32,
    /// Number of the block in the message, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// `tool`, `text`, `call`, `result`, or `other`.
    pub kind: &'static str,
    /// Role of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Name of a tool, or id of the call that a result answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tokens; an estimate if the tokenizer of the model is unknown.
    pub tokens: u32,
    /// Lifetime of the cache mark on the block: `short` (5 or 30 minutes) or `long` (1 or 12 hours).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<&'static str>,
    /// The first 240 characters. Content without text is JSON.
    pub text: String,
}

impl RequestOutline {
    /// Reads a request body, or a line of a log. Returns `None` for other texts.
    pub fn read(models: &ModelTable, line: &str) -> Option<Self> {
        let entry = LogLine::read(line).ok()?;
        let mut reader = BlockReader::new(models.clone());
        let request = reader.read(entry.body, entry.dialect, entry.model.as_deref()).ok()?;
        let counter = reader.model(&request.model).counter();
        let blocks: Vec<OutlineBlock> =
            request.blocks.iter().map(|block| OutlineBlock::new(&reader, block)).collect();
        Some(Self {
            api: request.dialect.name(),
            model: request.model,
            tokens: blocks.iter().map(|block| u64::from(block.tokens)).sum(),
            encoding: counter.kind().name(),
            is_exact: counter.is_exact(),
            usage: entry.usage,
            blocks,
        })
    }

    /// Returns the number of blocks of a section, and their tokens.
    pub fn size_of(&self, section: Section) -> (usize, u64) {
        let blocks = self.blocks.iter().filter(|block| block.section == section);
        blocks.fold((0, 0), |(count, tokens), block| (count + 1, tokens + u64::from(block.tokens)))
    }
}

impl OutlineBlock {
    fn new(reader: &BlockReader, placed: &PlacedBlock) -> Self {
        let facts = reader.facts(placed.hash);
        let block = match placed.place {
            BlockPlace::Message { block, .. } => Some(block),
            _ => None,
        };
        Self {
            section: placed.place.section(),
            number: placed.place.number(),
            block,
            kind: match facts.map_or(BlockKind::Other, |facts| facts.kind) {
                BlockKind::Tool => "tool",
                BlockKind::Text => "text",
                BlockKind::ToolCall => "call",
                BlockKind::ToolResult => "result",
                BlockKind::Other => "other",
            },
            role: facts.map(|facts| facts.role.to_string()).filter(|role| role != "tool" || block.is_some()),
            name: facts.and_then(|facts| facts.name.as_deref()).map(str::to_owned),
            tokens: placed.tokens,
            mark: placed.mark.map(|mark| match mark {
                Lifetime::Short => "short",
                Lifetime::Long => "long",
            }),
            text: facts.map(|facts| facts.text.chars().take(MAX_TEXT).collect()).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_blocks_of_all_sections() {
        let body = json!({
            "model": "claude-sonnet-4-5",
            "tools": [{ "name": "read_file", "input_schema": {} }],
            "system": [{ "type": "text", "text": "You keep the lamps.", "cache_control": { "type": "ephemeral" } }],
            "messages": [
                { "role": "user", "content": "Which lamps?" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "read_file", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "Two." }] },
            ],
        });
        let line = json!({ "request": body, "usage": { "input_tokens": 90, "cache_read_input_tokens": 0 } });
        let outline = RequestOutline::read(&ModelTable::builtin(), &line.to_string()).unwrap();
        let shown: Vec<String> = outline
            .blocks
            .iter()
            .map(|block| {
                let OutlineBlock { section, number, kind, role, name, mark, .. } = block;
                format!("{section:?} {number} {kind} {role:?} {name:?} {mark:?}").replace("Some", "")
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        Tools 1 tool None ("read_file") None
        System 1 text ("system") None ("short")
        Messages 1 text ("user") None None
        Messages 2 call ("assistant") None None
        Messages 3 result ("user") ("t1") None
        "#);
        assert_eq!(outline.usage.unwrap().input, 90);
        let (count, tokens) = outline.size_of(Section::Messages);
        assert!(count == 3 && tokens < outline.tokens);
    }

    #[test]
    fn other_texts_have_no_outline() {
        for text in ["", "{}", "[]", "no JSON", r#"{"request":{}}"#] {
            assert!(RequestOutline::read(&ModelTable::builtin(), text).is_none(), "{text}");
        }
    }
}
