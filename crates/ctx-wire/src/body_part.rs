//! The parts of a request body, to compare it with the previous one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::json::{Json, object};
use crate::marks::CACHE_CONTROL;

/// Fields with parts, in the order in which providers read them.
const FIELDS: [&str; 8] =
    ["tools", "system", "systemInstruction", "instructions", "messages", "input", "contents", "prompt"];

/// Fields that ask a provider to cache.
const MARKS: [&str; 2] = [CACHE_CONTROL, "prompt_cache_breakpoint"];

/// Size of a file in bytes: providers do not read it as text.
const FILE_BYTES: usize = 1 << 10;

/// Size of the parts of a prompt in bytes.
const PROMPT_BYTES: usize = 256;

/// A tool, a system prompt, a block of a message, or 256 bytes of a prompt in a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyPart {
    /// Hash of the part without its cache marks, for comparisons within this process. A block includes the role.
    pub hash: u64,
    /// Size of its texts in bytes. A file counts as 1 KiB.
    pub bytes: usize,
}

impl BodyPart {
    fn new(part: &Json<'_>) -> Self {
        PartHasher::default().finish_with(part)
    }

    fn from_prompt(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self { hash: hasher.finish(), bytes: bytes.len() }
    }

    /// Returns the parts of a body in the order in which providers read them. O(size of the body).
    pub(crate) fn all(body: &Json<'_>) -> Vec<Self> {
        let mut parts = Vec::new();
        for (key, field) in FIELDS.iter().filter_map(|key| Some((*key, body.get(key)?))) {
            match field {
                Json::Text(prompt) if key == "prompt" => {
                    parts.extend(prompt.as_bytes().chunks(PROMPT_BYTES).map(Self::from_prompt));
                }
                Json::List(items) => items.iter().for_each(|item| push_blocks(&mut parts, item)),
                Json::Text(text) => parts.push(Self::new(&text_block(text))),
                part => parts.push(Self::new(part)),
            }
        }
        parts
    }
}

/// Adds each block of a message: providers cache up to a block. Other items are one part.
fn push_blocks(parts: &mut Vec<BodyPart>, item: &Json<'_>) {
    let key = ["content", "parts"].into_iter().find(|key| item.get(key).is_some());
    let (Some(key), Some(fields)) = (key, item.as_object()) else { return parts.push(BodyPart::new(item)) };
    let mut message = PartHasher::default();
    for (name, value) in fields.iter().filter(|(name, _)| name != key) {
        message.add_field(name, value);
    }
    match fields.get(key) {
        Some(Json::List(blocks)) if !blocks.is_empty() => {
            for block in blocks {
                parts.push(message.clone().finish_with(block));
                message.bytes = 0;
            }
        }
        Some(Json::Text(text)) => parts.push(message.finish_with(&text_block(text))),
        content => parts.push(message.finish_with(content.unwrap_or(&Json::Null))),
    }
}

/// Returns the block that equals a bare text: only a block can have a mark.
fn text_block(text: &str) -> Json<'_> {
    object([("type", "text".into()), ("text", text.into())])
}

#[derive(Clone, Default)]
struct PartHasher {
    hasher: DefaultHasher,
    bytes: usize,
}

impl PartHasher {
    fn finish_with(mut self, part: &Json<'_>) -> BodyPart {
        self.add(part);
        BodyPart { hash: self.hasher.finish(), bytes: self.bytes }
    }

    fn add_field(&mut self, key: &str, value: &Json<'_>) {
        if MARKS.contains(&key) {
            return;
        }
        key.hash(&mut self.hasher);
        match value {
            Json::Text(text) if key == "content" => self.add(&Json::List(vec![text_block(text)])),
            value => self.add(value),
        }
    }

    fn add(&mut self, value: &Json<'_>) {
        match value {
            Json::Null => self.hasher.write_u8(0),
            Json::Bool(value) => value.hash(&mut self.hasher),
            Json::Number(number) => number.hash(&mut self.hasher),
            Json::Text(text) => {
                text.hash(&mut self.hasher);
                self.bytes += text_size(text);
            }
            Json::File(file) => {
                file.head.hash(&mut self.hasher);
                file.bytes.hash(&mut self.hasher);
                self.bytes += FILE_BYTES;
            }
            Json::List(items) => {
                self.hasher.write_usize(items.len());
                for item in items {
                    self.add(item);
                }
            }
            Json::Object(fields) => {
                for (key, value) in fields.iter() {
                    self.add_field(key, value);
                }
            }
        }
    }
}

/// Returns the size of a text, or of a file if the text is a long `data:` URL or base64.
fn text_size(text: &str) -> usize {
    let data = text.strip_prefix("data:").and_then(|url| url.split_once(','));
    let data = data.map_or(text, |(_, data)| data);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    if data.len() > FILE_BYTES && data.bytes().all(is_base64) { FILE_BYTES } else { text.len() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parts(body: &Value) -> Vec<BodyPart> {
        BodyPart::all(&Json::from(body))
    }

    #[test]
    fn ignores_cache_marks() {
        let mark = json!({ "type": "ephemeral" });
        let plain = json!({ "messages": [{ "role": "user", "content": "Hello" }], "model": "m",
            "system": "Be brief.", "tools": [{ "name": "look" }] });
        let marked = json!({ "model": "n", "tools": [{ "name": "look", "cache_control": mark }],
            "system": [{ "type": "text", "text": "Be brief.", "cache_control": mark }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Hello", "cache_control": mark }] }] });
        assert_eq!(parts(&plain), parts(&marked));
        assert_eq!(parts(&plain).len(), 3);
    }

    #[test]
    fn splits_messages_into_blocks() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let before = json!({ "messages": [{ "role": "user", "content": "Hello" }] });
        let after = json!({ "messages": [{ "role": "user", "content": [text("Hello"), text("Note")] }] });
        assert_eq!(parts(&before), parts(&after)[..1]);
        assert_eq!(parts(&after).len(), 2);
        let contents =
            json!({ "contents": [{ "role": "user", "parts": [{ "text": "a" }, { "text": "b" }] }] });
        assert_eq!(parts(&contents).iter().map(|part| part.bytes).collect::<Vec<_>>(), [5, 1]);
    }

    #[test]
    fn splits_prompts() {
        let prompt = |end: &str| parts(&json!({ "prompt": format!("{}{end}", "word ".repeat(100)) }));
        let (before, after) = (prompt(""), prompt("reply"));
        assert_eq!((before.len(), after.len()), (2, 2));
        assert!(before[0] == after[0] && before[1] != after[1]);
    }

    #[test]
    fn differs_in_changed_parts() {
        let body = |role: &str, text: &str| json!({ "messages": [{ "role": role, "content": text }] });
        let sums = [("user", "a"), ("user", "b"), ("assistant", "a")].map(|(role, text)| {
            let parts = parts(&body(role, text));
            (parts.len(), parts[0].hash)
        });
        assert!(sums[0] != sums[1] && sums[0] != sums[2] && sums[1] != sums[2]);
    }

    #[test]
    fn counts_little_for_files() {
        let size = |text: String| parts(&json!({ "input": [text] }))[0].bytes;
        let file = "A".repeat(9_000);
        assert_eq!([size(format!("data:image/png;base64,{file}")), size(file)], [FILE_BYTES; 2]);
        assert_eq!([size("a ".repeat(4_500)), size("{\"a\":1},".repeat(1_000))], [9_000, 8_000]);
    }
}
