//! What a document is, told by its keys.

use std::fmt;

use ctx_types::excerpt;
use serde_json::{Map, Value};

use crate::document::{Document, Syntax};
use crate::error::ImportError;
use crate::limits::Limits;

/// The form in which a document holds an agent, a conversation or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An agent or preset file of AIO Hub, which is our own unified form too.
    Agent,
    /// An export of AIO Hub: `{version, type: "AIO_Agent_Export", agents}`.
    AgentExport,
    /// The entries of a preset as a bare list, as seed 000 draws them.
    PresetList,
    /// The entries of a preset under `messages`, with or without `groups`.
    PresetFile,
    /// A session of AIO Hub, which is our own unified form too.
    Session,
    /// A session of AIO Hub in two halves: `{index, detail}`.
    SessionHalves,
    /// Messages as OpenAI's chat completions take them, as a list or under `messages`.
    ChatMessages,
    /// Messages as seed 004 stores them, as a list or under `messages`.
    StoredMessages,
    /// A chat of SillyTavern, one message a line.
    SillyTavernChat,
    /// A user profile of AIO Hub, which is our own unified form too.
    Profile,
    /// World info of SillyTavern and AIO Hub, which is our own unified form too.
    Worldbook,
    /// The lorebook of a character card, or one of that form by itself.
    CardBook,
    /// A lorebook of NovelAI, Agnai or RisuAI.
    OtherLorebook,
    /// A text without fields.
    PlainText,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "an agent",
            Self::AgentExport => "an AIO Hub agent export",
            Self::PresetList => "a list of preset entries",
            Self::PresetFile => "a preset with `messages`",
            Self::Session => "a session",
            Self::SessionHalves => "a session as `index` and `detail`",
            Self::ChatMessages => "a list of chat messages",
            Self::StoredMessages => "a list of stored messages",
            Self::SillyTavernChat => "a SillyTavern chat",
            Self::Profile => "a user profile",
            Self::Worldbook => "a worldbook",
            Self::CardBook => "a lorebook of a character card",
            Self::OtherLorebook => "a lorebook of another application",
            Self::PlainText => "a plain text",
        })
    }
}

impl Format {
    /// Tells whether it is a form of worldbooks.
    pub const fn is_worldbook(self) -> bool {
        matches!(self, Self::Worldbook | Self::CardBook | Self::OtherLorebook)
    }

    /// Tells whether it holds a conversation; a list of messages may be meant as a preset too.
    pub const fn is_conversation(self) -> bool {
        match self {
            Self::Session
            | Self::SessionHalves
            | Self::ChatMessages
            | Self::StoredMessages
            | Self::SillyTavernChat => true,
            Self::Agent
            | Self::AgentExport
            | Self::PresetList
            | Self::PresetFile
            | Self::Profile
            | Self::Worldbook
            | Self::CardBook
            | Self::OtherLorebook
            | Self::PlainText => false,
        }
    }
}

/// Tells what a document is, as far as one can tell; none of ours is `None`.
///
/// Some documents can be read as two things: a list of `{role, content}` is a preset as well as a
/// conversation (here: a conversation). [`crate::read_agent`] and its siblings read what they are asked for.
pub fn detect(bytes: &[u8], name: &str, limits: &Limits) -> Result<Option<Format>, ImportError> {
    let document = Document::read(bytes, name, limits)?;
    Ok(match (&document.value, document.syntax) {
        (Value::String(_), Syntax::Yaml) => Some(Format::PlainText),
        (value, _) => shape(value),
    })
}

/// Tells what a value is.
pub(crate) fn shape(value: &Value) -> Option<Format> {
    match value {
        Value::Object(map) => object_shape(map),
        Value::Array(items) => list_shape(items),
        _ => None,
    }
}

fn object_shape(map: &Map<String, Value>) -> Option<Format> {
    let has = |key: &str| map.contains_key(key);
    if has("presetMessages") {
        return Some(Format::Agent);
    }
    if map.get("agents").is_some_and(Value::is_array) {
        return Some(Format::AgentExport);
    }
    if is_tree(map) {
        return Some(Format::Session);
    }
    if map.get("detail").and_then(Value::as_object).is_some_and(is_tree) {
        return Some(Format::SessionHalves);
    }
    if is_silly_tavern_line(map) {
        return Some(Format::SillyTavernChat);
    }
    if let Some(Value::Array(items)) = map.get("messages") {
        let preset =
            map.get("groups").is_some_and(Value::is_array) || list_shape(items) == Some(Format::PresetList);
        return if preset { Some(Format::PresetFile) } else { list_shape(items) };
    }
    // A persona with fields is that of an agent; a profile's is a text.
    if AGENT_KEYS.iter().any(|key| has(key)) || map.get("persona").is_some_and(Value::is_object) {
        return Some(Format::Agent);
    }
    if let Some(format) = book_shape(map) {
        return Some(format);
    }
    if is_message(map) {
        return Some(message_shape(map));
    }
    is_profile(map).then_some(Format::Profile)
}

/// Tells whether an object is a single message: a list of one line is no list.
fn is_message(map: &Map<String, Value>) -> bool {
    let says = ["content", "tool_calls", "tool_call_id"].iter().any(|key| map.contains_key(*key));
    says && map.get("role").is_some_and(Value::is_string)
}

fn message_shape(map: &Map<String, Value>) -> Format {
    let is_stored = STORED_KEYS.iter().any(|key| map.contains_key(*key));
    if is_stored { Format::StoredMessages } else { Format::ChatMessages }
}

/// Tells which kind of worldbook an object is; not the card that holds one.
fn book_shape(map: &Map<String, Value>) -> Option<Format> {
    let is = |key: &str, value: &str| map.get(key).and_then(Value::as_str) == Some(value);
    if is("spec", "lorebook_v3") {
        return Some(Format::CardBook);
    }
    if map.contains_key("lorebookVersion") || is("kind", "memory") || is("type", "risu") {
        return Some(Format::OtherLorebook);
    }
    let entries = map.get("entries")?;
    let first = entries.as_array().and_then(|list| list.first());
    let first = first.or_else(|| entries.as_object()?.values().next());
    match (entries, first) {
        (Value::Object(_) | Value::Array(_), None) => Some(Format::Worldbook),
        (_, Some(entry)) if entry.get("key").is_some() => Some(Format::Worldbook),
        (_, Some(entry)) if entry.get("keys").is_some() => Some(Format::CardBook),
        (_, Some(Value::Object(entry))) => entry.contains_key("content").then_some(Format::Worldbook),
        _ => None,
    }
}

/// Tells whether an object holds the tree of a session.
fn is_tree(map: &Map<String, Value>) -> bool {
    let Some(nodes) = map.get("nodes") else { return false };
    let named = ["rootNodeId", "activeLeafId"].iter().any(|key| map.contains_key(*key));
    let linked = |node: &Value| node.get("parentId").is_some() || node.get("childrenIds").is_some();
    named || nodes.as_object().is_some_and(|nodes| nodes.values().any(linked))
}

/// The keys beside `presetMessages` that only an agent has.
const AGENT_KEYS: [&str; 12] = [
    "greetings",
    "parameters",
    "character",
    "presetGroups",
    "profileId",
    "modelId",
    "agentVersion",
    "displayPresetCount",
    "toolCallConfig",
    "variableConfig",
    "virtualTimeConfig",
    "historyWhenUnplaced",
];

/// Tells whether an object has what a user profile is made of, and is nothing else that has a name.
pub(crate) fn is_profile(map: &Map<String, Value>) -> bool {
    let has = |key: &str| map.contains_key(key);
    let is_named = ["content", "name", "displayName"].into_iter().any(has);
    is_named && !has("role") && foreign(map).is_none()
}

/// What other applications write as objects that may have a name, and the keys by which each is told.
const FOREIGN: [(&str, &[&str]); 10] = [
    ("a character card", &["spec", "data"]),
    ("a character card", &["spec", "spec_version"]),
    ("a character card", &["first_mes"]),
    ("a worldbook", &["entries"]),
    ("a regex script", &["findRegex"]),
    ("a chat completion preset", &["prompts", "prompt_order"]),
    ("a context template", &["story_string"]),
    ("an instruct template", &["input_sequence"]),
    ("a system prompt", &["content", "post_history"]),
    ("a reasoning template", &["prefix", "suffix"]),
];

/// Names what another application wrote and cannot be read yet.
fn foreign(map: &Map<String, Value>) -> Option<&'static str> {
    let fits = |(_, keys): &&(&str, &[&str])| keys.iter().all(|key| map.contains_key(*key));
    FOREIGN.iter().find(fits).map(|(name, _)| *name)
}

/// Tells whether an object is a message or the header of a SillyTavern chat.
pub(crate) fn is_silly_tavern_line(map: &Map<String, Value>) -> bool {
    let has = |key: &str| map.contains_key(key);
    let is_header = has("chat_metadata") || (has("user_name") && has("character_name"));
    has("mes") || (is_header && !has("messages"))
}

fn list_shape(items: &[Value]) -> Option<Format> {
    let has = |keys: &[&str]| {
        let objects = items.iter().filter_map(Value::as_object);
        let mut objects = objects.filter(|map| keys.iter().any(|key| map.contains_key(*key)));
        objects.next().is_some()
    };
    if items.iter().filter_map(Value::as_object).any(is_silly_tavern_line) {
        return Some(Format::SillyTavernChat);
    }
    if has(&PLACEMENT_KEYS) || items.iter().any(is_anchor) {
        return Some(Format::PresetList);
    }
    if has(&STORED_KEYS) {
        return Some(Format::StoredMessages);
    }
    (items.is_empty() || has(&["role", "content"])).then_some(Format::ChatMessages)
}

/// The keys of messages that only seed 004 stores.
const STORED_KEYS: [&str; 3] = ["createdAt", "runId", "partType"];

/// The keys that only the entries of a preset have.
const PLACEMENT_KEYS: [&str; 6] =
    ["injectionStrategy", "insertionPoint", "anchorTarget", "anchorPoint", "modelMatch", "groupId"];

fn is_anchor(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| ["chat_history", "user_profile", "placeholder"].contains(&kind))
}

/// Names a value that is not what was asked for, by what it is or by its keys.
pub(crate) fn describe(value: &Value) -> String {
    if let Some(format) = shape(value) {
        return format.to_string();
    }
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => "a single value".to_owned(),
        Value::String(_) => "a plain text".to_owned(),
        Value::Array(items) if items.iter().any(Value::is_object) => "a list of unknown objects".to_owned(),
        Value::Array(_) => "a list without messages".to_owned(),
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => describe_object(map),
    }
}

/// How many keys of an unknown object are named.
const SHOWN_KEYS: usize = 8;

fn describe_object(map: &Map<String, Value>) -> String {
    if let Some(name) = foreign(map) {
        return name.to_owned();
    }
    let shown = map.keys().take(SHOWN_KEYS).map(|key| format!("`{}`", excerpt(key)));
    let more = if map.len() > SHOWN_KEYS { " and more" } else { "" };
    format!("an object with the keys {}{more}", shown.collect::<Vec<_>>().join(", "))
}
