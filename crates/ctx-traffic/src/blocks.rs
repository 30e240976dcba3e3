//! Request bodies as blocks.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;

use ctx_tokens::internal::{MediaItem, media_cost};
use ctx_tokens::{Counter, ModelFacts, ModelTable};
use ctx_types::ports::TokenCounter as _;
use ctx_wire::Dialect;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::mask::masked_hash;
use crate::place::{BlockPlace, Section};

/// Maximum number of blocks of a request. More are one block.
const MAX_BLOCKS: usize = 200_000;

/// Maximum size of the texts that are kept to explain a change, in bytes.
const MAX_KEPT: usize = 128 << 20;

/// Kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    Tool,
    Text,
    ToolCall,
    ToolResult,
    Other,
}

/// Role of a message, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    System,
    User,
    Other,
}

/// Lifetime of a cache mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lifetime {
    /// 5 minutes (Anthropic), 30 minutes (OpenAI).
    Short,
    /// 1 hour (Anthropic), 12 hours (OpenAI).
    Long,
}

/// What is known of a block, wherever it is.
#[derive(Debug)]
pub(crate) struct BlockFacts {
    /// Hash of the role and the content, without cache marks and item ids.
    pub(crate) hash: u64,
    /// Hash without times, dates, and ids.
    pub(crate) masked: u64,
    pub(crate) kind: BlockKind,
    pub(crate) tokens: u32,
    speaker: Speaker,
    /// Role of the message; `tool` for definitions.
    pub(crate) role: Box<str>,
    /// Name of a tool, or id of the call that a tool result answers.
    pub(crate) name: Option<Box<str>>,
    /// Text that a person would read; JSON for blocks without text.
    pub(crate) text: Box<str>,
    pub(crate) mark: Option<Lifetime>,
}

/// A block at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedBlock {
    pub(crate) hash: u64,
    pub(crate) tokens: u32,
    pub(crate) place: BlockPlace,
    pub(crate) mark: Option<Lifetime>,
}

/// A request body as blocks, in the order in which the provider reads them: tools, system, messages.
#[derive(Clone, Debug)]
pub(crate) struct RequestBlocks {
    pub(crate) dialect: Dialect,
    pub(crate) model: Arc<str>,
    /// Hashes of the parameters that belong to the cached prefix, by name.
    pub(crate) parameters: BTreeMap<&'static str, u64>,
    pub(crate) blocks: Vec<PlacedBlock>,
    /// Hash of the first message of the user.
    pub(crate) first_user: Option<u64>,
    /// `prompt_cache_key`, or Anthropic's `metadata.user_id`.
    pub(crate) thread: Option<u64>,
}

/// Parameters that belong to the prefix, and their places in bodies of all dialects.
const PARAMETERS: [(&str, &[&str]); 8] = [
    ("tool_choice", &["tool_choice", "toolConfig", "tool_config"]),
    ("thinking", &["thinking"]),
    ("effort", &["reasoning_effort", "reasoning", "output_config"]),
    ("format", &["response_format", "text"]),
    ("prompt_cache_key", &["prompt_cache_key"]),
    ("service_tier", &["service_tier"]),
    ("speed", &["speed"]),
    ("cached_content", &["cachedContent", "cached_content"]),
];

/// Why a line holds no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    NoJson,
    NoRequest,
}

/// Reads bodies. Remembers parts that were read before: most of a request repeats an earlier one.
#[derive(Debug)]
pub(crate) struct BlockReader {
    models: ModelTable,
    known_models: HashMap<String, Arc<KnownModel>>,
    parts: HashMap<u64, Arc<[BlockFacts]>>,
    /// Facts by [`BlockFacts::hash`]: the part, and the position in it.
    facts: HashMap<u64, (Arc<[BlockFacts]>, u32)>,
    kept: usize,
}

/// Facts of a model that a log names.
#[derive(Debug)]
pub(crate) struct KnownModel {
    pub(crate) facts: ModelFacts,
    counter: Counter,
}

impl KnownModel {
    pub(crate) const fn counter(&self) -> Counter {
        self.counter
    }
}

/// An object whose values are not parsed yet.
pub(crate) type RawMap<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

impl BlockReader {
    pub(crate) fn new(models: ModelTable) -> Self {
        Self { models, known_models: HashMap::new(), parts: HashMap::new(), facts: HashMap::new(), kept: 0 }
    }

    /// Returns the facts of a block that was read; `None` if they were forgotten.
    pub(crate) fn facts(&self, hash: u64) -> Option<&BlockFacts> {
        self.facts.get(&hash).and_then(|(part, index)| part.get(*index as usize))
    }

    /// Returns the facts of a model.
    pub(crate) fn model(&mut self, name: &str) -> Arc<KnownModel> {
        if let Some(known) = self.known_models.get(name) {
            return Arc::clone(known);
        }
        let facts = self.models.lookup(name).0;
        let counter = Counter::for_model(&facts).0;
        let known = Arc::new(KnownModel { facts, counter });
        self.known_models.insert(name.to_owned(), Arc::clone(&known));
        known
    }

    /// Reads a body. `model` is that of the address, for Gemini; `dialect` is detected if it is not known.
    pub(crate) fn read(
        &mut self,
        body: &str,
        dialect: Option<Dialect>,
        model: Option<&str>,
    ) -> Result<RequestBlocks, Unreadable> {
        if self.kept > MAX_KEPT {
            self.parts.clear();
            self.facts.clear();
            self.kept = 0;
        }
        let map: RawMap<'_> = serde_json::from_str(body).map_err(|_| Unreadable::NoJson)?;
        let dialect = match dialect {
            Some(dialect) => dialect,
            None => detect(&map, body, model).ok_or(Unreadable::NoRequest)?,
        };
        let named = map.get("model").and_then(|raw| string(raw));
        let name = named.as_deref().or(model).unwrap_or_default();
        let known = self.model(name);
        let mut reading = Reading {
            reader: self,
            model: &known,
            dialect,
            blocks: Vec::new(),
            first_user: None,
            in_front: true,
            tools: 0,
            systems: 0,
        };
        reading.read_sections(&map).ok_or(Unreadable::NoRequest)?;
        let (blocks, first_user) = (reading.blocks, reading.first_user);
        let parameters = PARAMETERS.iter().filter_map(|(name, keys)| {
            let raw = keys.iter().find_map(|key| map.get(*key))?;
            // The verbosity of a reply is no part of the prompt.
            let format = (*name == "format").then(|| value(raw).get("format").cloned());
            let hash = match format {
                Some(Some(format)) => hash_of(&format.to_string()),
                Some(None) if raw.get().contains("verbosity") => return None,
                _ => hash_of(&value(raw).to_string()),
            };
            Some((*name, hash))
        });
        let parameters = parameters.collect();
        let user = map.get("metadata").and_then(|raw| value(raw).get("user_id").cloned());
        let key = map.get("prompt_cache_key").and_then(|raw| string(raw));
        let thread = key.as_ref().map(hash_of).or_else(|| user.map(|user| hash_of(&user.to_string())));
        Ok(RequestBlocks { dialect, model: name.into(), parameters, blocks, first_user, thread })
    }
}

/// A body that is being read.
struct Reading<'a> {
    reader: &'a mut BlockReader,
    model: &'a KnownModel,
    dialect: Dialect,
    blocks: Vec<PlacedBlock>,
    first_user: Option<u64>,
    /// Whether only system messages were read so far.
    in_front: bool,
    tools: u32,
    systems: u32,
}

impl Reading<'_> {
    /// Reads tools, system, and messages; `None` if the body has no messages.
    fn read_sections(&mut self, map: &RawMap<'_>) -> Option<()> {
        for tool in map.get("tools").into_iter().flat_map(|raw| list(raw)) {
            let part = self.part(tool.get(), Section::Tools);
            self.push(&part, Section::Tools, 0);
        }
        let system = ["system", "systemInstruction", "system_instruction", "instructions"];
        if let Some(raw) = system.iter().find_map(|key| map.get(*key)) {
            let part = self.part(raw.get(), Section::System);
            self.push(&part, Section::System, 0);
        }
        let raw = ["messages", "input", "contents", "prompt"].iter().find_map(|key| map.get(*key))?;
        let items = if raw.get().starts_with('[') { list(raw) } else { vec![*raw] };
        for (index, item) in items.iter().enumerate() {
            self.add_message(item.get(), number(index));
        }
        Some(())
    }

    fn add_message(&mut self, raw: &str, number: u32) {
        let part = self.part(raw, Section::Messages);
        let speaker = part.first().map_or(Speaker::Other, |facts| facts.speaker);
        self.in_front &= speaker == Speaker::System;
        if self.first_user.is_none() && speaker == Speaker::User {
            self.first_user = part.first().map(|facts| facts.hash);
        }
        self.push(&part, if self.in_front { Section::System } else { Section::Messages }, number);
    }

    fn push(&mut self, part: &Arc<[BlockFacts]>, section: Section, number: u32) {
        for (index, facts) in part.iter().enumerate() {
            if self.blocks.len() >= MAX_BLOCKS {
                return;
            }
            let place = match section {
                Section::Messages => BlockPlace::Message { number, block: self::number(index) },
                Section::System => {
                    self.systems += 1;
                    BlockPlace::System(self.systems)
                }
                _ => {
                    self.tools += 1;
                    BlockPlace::Tool(self.tools)
                }
            };
            let (hash, tokens, mark) = (facts.hash, facts.tokens, facts.mark);
            self.blocks.push(PlacedBlock { hash, tokens, place, mark });
        }
    }

    /// Returns the blocks of a message, tool, or system prompt.
    fn part(&mut self, raw: &str, section: Section) -> Arc<[BlockFacts]> {
        let key = hash_of(&(raw, section, self.dialect, self.model.counter.kind()));
        if let Some(part) = self.reader.parts.get(&key) {
            return Arc::clone(part);
        }
        let value: Value = serde_json::from_str(raw).unwrap_or(Value::Null);
        let blocks = match section {
            Section::Tools => tool_blocks(value),
            Section::System => system_blocks(value),
            _ => message_blocks(value),
        };
        let part: Arc<[BlockFacts]> = blocks.into_iter().map(|block| self.facts(block)).collect();
        let size: usize = part.iter().map(|facts| facts.text.len() + size_of::<BlockFacts>()).sum();
        self.reader.kept = self.reader.kept.saturating_add(size).saturating_add(64);
        for (index, facts) in part.iter().enumerate() {
            self.reader.facts.insert(facts.hash, (Arc::clone(&part), self::number(index) - 1));
        }
        self.reader.parts.insert(key, Arc::clone(&part));
        part
    }

    fn facts(&self, NewBlock { role, speaker, kind, name, mut value }: NewBlock) -> BlockFacts {
        let mark = take_mark(&mut value);
        let media = MediaItem::from_part(&value).map(|item| media_cost(self.model.facts.media, &item));
        let written = value.to_string();
        let text = match readable(&value) {
            Some(text) => text,
            None => written.clone(),
        };
        let tokens = media.unwrap_or_else(|| self.model.counter.count(&text));
        BlockFacts {
            hash: hash_of(&(&role, &written)),
            masked: hash_of(&(&role, masked_hash(&text))),
            kind,
            speaker,
            role: role.split(' ').next().unwrap_or_default().into(),
            tokens: tokens.max(1),
            name: name.map(String::into_boxed_str),
            text: if media.is_some() { "[media]".into() } else { text.into() },
            mark,
        }
    }
}

/// A block before it is counted.
struct NewBlock {
    role: String,
    speaker: Speaker,
    kind: BlockKind,
    name: Option<String>,
    value: Value,
}

fn tool_blocks(mut tool: Value) -> Vec<NewBlock> {
    for key in ["functionDeclarations", "function_declarations"] {
        if let Some(Value::Array(declarations)) = tool.get_mut(key).map(Value::take) {
            return declarations.into_iter().flat_map(tool_blocks).collect();
        }
    }
    let name = ["/name", "/function/name", "/type"].iter().find_map(|path| tool.pointer(path)?.as_str());
    let name = name.map(str::to_owned);
    let (role, speaker) = ("tool".to_owned(), Speaker::Other);
    vec![NewBlock { role, speaker, kind: BlockKind::Tool, name, value: tool }]
}

fn system_blocks(system: Value) -> Vec<NewBlock> {
    let parts = match system {
        Value::Array(parts) => parts,
        Value::Object(mut map) if map.contains_key("parts") => match map.remove("parts") {
            Some(Value::Array(parts)) => parts,
            other => other.into_iter().collect(),
        },
        other => vec![other],
    };
    let block = |part| NewBlock {
        role: "system".to_owned(),
        speaker: Speaker::System,
        kind: BlockKind::Text,
        name: None,
        value: as_text_block(part),
    };
    parts.into_iter().map(block).collect()
}

/// Splits a message or item of any dialect: its parts, its tool calls, and the rest.
fn message_blocks(message: Value) -> Vec<NewBlock> {
    let Value::Object(mut map) = message else {
        let block = NewBlock {
            role: "user".to_owned(),
            speaker: Speaker::User,
            kind: BlockKind::Text,
            name: None,
            value: as_text_block(message),
        };
        return vec![block];
    };
    for key in ["id", "status"] {
        map.remove(key);
    }
    let role = map.remove("role").and_then(|role| role.as_str().map(str::to_owned));
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("message").to_owned();
    if role.is_none() && kind != "message" {
        return vec![item_block(&kind, map)];
    }
    let role = role.unwrap_or_else(|| "user".to_owned());
    map.remove("type");
    let calls = map.remove("tool_calls");
    let content = map.remove("content").or_else(|| map.remove("parts")).unwrap_or(Value::Null);
    let mark = map.remove("cache_control");
    let call_id = map.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    let speaker = match role.as_str() {
        "system" | "developer" => Speaker::System,
        "user" => Speaker::User,
        _ => Speaker::Other,
    };
    // Fields of the message, such as `name`, belong to all its blocks.
    map.retain(|_, value| !value.is_null());
    let header = if map.is_empty() { role } else { format!("{role} {}", Value::Object(map)) };
    let parts = match content {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts,
        other => vec![other],
    };
    let mut blocks: Vec<NewBlock> = Vec::new();
    for part in parts {
        let (kind, name) = match &call_id {
            Some(id) => (BlockKind::ToolResult, Some(id.clone())),
            None => part_kind(&part),
        };
        blocks.push(NewBlock { role: header.clone(), speaker, kind, name, value: as_text_block(part) });
    }
    if let Some(Value::Array(calls)) = calls {
        blocks.extend(calls.into_iter().map(|value| NewBlock {
            role: header.clone(),
            speaker,
            kind: BlockKind::ToolCall,
            name: None,
            value,
        }));
    }
    if blocks.is_empty() {
        let value = as_text_block(Value::String(String::new()));
        blocks.push(NewBlock { role: header, speaker, kind: BlockKind::Other, name: None, value });
    }
    if let (Some(mark), Some(last)) = (mark, blocks.last_mut())
        && let Value::Object(map) = &mut last.value
    {
        map.insert("cache_control".to_owned(), mark);
    }
    blocks
}

/// Returns an item of the Responses API that is no message.
fn item_block(kind: &str, map: Map<String, Value>) -> NewBlock {
    let id = map.get("call_id").and_then(Value::as_str).map(str::to_owned);
    let (kind, name) = if kind.ends_with("_output") {
        (BlockKind::ToolResult, id)
    } else if kind.ends_with("_call") {
        (BlockKind::ToolCall, None)
    } else {
        (BlockKind::Other, None)
    };
    NewBlock { role: "item".to_owned(), speaker: Speaker::Other, kind, name, value: Value::Object(map) }
}

fn part_kind(part: &Value) -> (BlockKind, Option<String>) {
    let named = |value: &Value, keys: &[&str]| {
        keys.iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned)
    };
    if let Some(response) = part.get("functionResponse").or_else(|| part.get("function_response")) {
        return (BlockKind::ToolResult, named(response, &["id", "name"]));
    }
    if part.get("functionCall").or_else(|| part.get("function_call")).is_some() {
        return (BlockKind::ToolCall, None);
    }
    match part.get("type").and_then(Value::as_str) {
        Some("tool_result") => (BlockKind::ToolResult, named(part, &["tool_use_id"])),
        Some(kind) if kind.ends_with("_tool_result") => {
            (BlockKind::ToolResult, named(part, &["tool_use_id"]))
        }
        Some(kind) if kind.ends_with("tool_use") => (BlockKind::ToolCall, None),
        Some("text" | "input_text" | "output_text") => (BlockKind::Text, None),
        None if part.is_string() || part.get("text").is_some() => (BlockKind::Text, None),
        _ => (BlockKind::Other, None),
    }
}

/// A string and a list of one text block are the same prompt.
fn as_text_block(part: Value) -> Value {
    match part {
        Value::String(text) => serde_json::json!({ "type": "text", "text": text }),
        other => other,
    }
}

/// Removes the marks of a block and of the blocks in it. Returns the mark of the block.
fn take_mark(value: &mut Value) -> Option<Lifetime> {
    let map = value.as_object_mut()?;
    if let Some(Value::Array(inner)) = map.get_mut("content") {
        for block in inner {
            block.as_object_mut().and_then(|block| block.remove("cache_control"));
        }
    }
    let mark = map.remove("cache_control").or_else(|| map.remove("prompt_cache_breakpoint"))?;
    match mark.get("ttl").and_then(Value::as_str) {
        Some("1h" | "12h") => Some(Lifetime::Long),
        _ => Some(Lifetime::Short),
    }
}

/// Returns the text of a block that has only one.
fn readable(value: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text")?.as_str()).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    };
    ["text", "thinking", "content", "output"].iter().find_map(|key| value.get(*key).and_then(text))
}

/// Returns the dialect of a body. Reads the whole body only if its keys do not tell.
fn detect(map: &RawMap<'_>, body: &str, model: Option<&str>) -> Option<Dialect> {
    let has = |key: &str| map.contains_key(key);
    if has("contents") {
        return Some(Dialect::Gemini);
    }
    if has("messages") && has("system") {
        return Some(Dialect::Anthropic);
    }
    if !has("messages") && has("input") && (has("model") || model.is_some()) {
        return Some(Dialect::OpenaiResponses);
    }
    ctx_wire::lint::detect(&serde_json::from_str(body).ok()?)
}

/// Returns the position in the second of two bodies where the elements at a place begin to differ.
pub(crate) fn first_byte([before, after]: [&str; 2], place: BlockPlace) -> Option<u64> {
    let map: RawMap<'_> = serde_json::from_str(after).ok()?;
    let new = element(&map, place)?;
    let start = (new.as_ptr() as usize).checked_sub(after.as_ptr() as usize)?;
    let map: RawMap<'_> = serde_json::from_str(before).ok()?;
    let old = element(&map, place).unwrap_or_default();
    let equal = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    Some((start + equal) as u64)
}

/// Returns the tool, part of the system prompt, or message at a place.
fn element<'a>(map: &RawMap<'a>, place: BlockPlace) -> Option<&'a str> {
    let keys: &[&str] = match place {
        BlockPlace::Tool(_) => &["tools"],
        BlockPlace::System(_) => &["system", "systemInstruction", "instructions", "messages", "input"],
        BlockPlace::Message { .. } => &["messages", "input", "contents", "prompt"],
    };
    let raw = *keys.iter().find_map(|key| map.get(*key))?;
    let index = usize::try_from(place.number()).ok()?.checked_sub(1)?;
    Some(list(&raw).get(index).map_or(raw.get(), |item| item.get()))
}

fn list<'a>(raw: &&'a RawValue) -> Vec<&'a RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

pub(crate) fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}

/// Returns the number of an index, from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns a hash that is the same in each run of a program.
pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
