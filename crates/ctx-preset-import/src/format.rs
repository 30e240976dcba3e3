//! What a document is, told by its keys.

use std::fmt;

use ctx_types::excerpt;
use serde_json::{Map, Value};

use crate::document::{Document, Syntax};
use crate::error::ImportError;
use crate::limits::Limits;
use crate::sillytavern::templates::TEXT_SAMPLERS;

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
    /// A character card of version 1.
    CardV1,
    /// A character card of version 2.
    CardV2,
    /// A character card of version 3.
    CardV3,
    /// A character card of Pygmalion's time, or the YAML of text-generation-webui.
    Pygmalion,
    /// A chat-completion preset of SillyTavern.
    ChatPreset,
    /// Prompts and their order, as SillyTavern's prompt manager exports them.
    PromptExport,
    /// Regex scripts of SillyTavern: one, or a list of them.
    RegexScripts,
    /// A context template of SillyTavern.
    ContextTemplate,
    /// An instruct template of SillyTavern.
    InstructTemplate,
    /// A system prompt of SillyTavern.
    SystemPrompt,
    /// A reasoning template of SillyTavern.
    ReasoningTemplate,
    /// A master export of SillyTavern: several templates in one file.
    MasterExport,
    /// A sampler preset of SillyTavern for text completion.
    TextPreset,
    /// Personas of SillyTavern.
    Personas,
    /// The settings of SillyTavern.
    Settings,
    /// A preset of RisuAI.
    RisuPreset,
    /// A module of RisuAI.
    RisuModule,
    /// The metadata of a backup of AIO Hub's conversations.
    SessionBackup,
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
            Self::CardV1 | Self::CardV2 | Self::CardV3 | Self::Pygmalion => "a character card",
            Self::ChatPreset => "a chat completion preset",
            Self::PromptExport => "an export of prompts",
            Self::RegexScripts => "a regex script",
            Self::ContextTemplate => "a context template",
            Self::InstructTemplate => "an instruct template",
            Self::SystemPrompt => "a system prompt",
            Self::ReasoningTemplate => "a reasoning template",
            Self::MasterExport => "a master export of templates",
            Self::TextPreset => "a text completion preset",
            Self::Personas => "personas",
            Self::Settings => "SillyTavern's settings",
            Self::RisuPreset => "a RisuAI preset",
            Self::RisuModule => "a RisuAI module",
            Self::SessionBackup => "a backup of conversations",
            Self::PlainText => "a plain text",
        })
    }
}

impl Format {
    /// Tells whether it is a form of worldbooks.
    pub const fn is_worldbook(self) -> bool {
        matches!(self, Self::Worldbook | Self::CardBook | Self::OtherLorebook)
    }

    /// Returns the name of the format in reports.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::AgentExport => "agent_export",
            Self::PresetList => "preset_list",
            Self::PresetFile => "preset_file",
            Self::Session => "session",
            Self::SessionHalves => "session_halves",
            Self::ChatMessages => "chat_messages",
            Self::StoredMessages => "stored_messages",
            Self::SillyTavernChat => "sillytavern_chat",
            Self::Profile => "profile",
            Self::Worldbook => "lorebook",
            Self::CardBook => "card_book",
            Self::OtherLorebook => "other_lorebook",
            Self::CardV1 => "card_v1",
            Self::CardV2 => "card_v2",
            Self::CardV3 => "card_v3",
            Self::Pygmalion => "card_pygmalion",
            Self::ChatPreset => "preset_cc",
            Self::PromptExport => "prompt_export",
            Self::RegexScripts => "regex",
            Self::ContextTemplate => "context",
            Self::InstructTemplate => "instruct",
            Self::SystemPrompt => "sysprompt",
            Self::ReasoningTemplate => "reasoning",
            Self::MasterExport => "master_export",
            Self::TextPreset => "preset_text",
            Self::Personas => "personas",
            Self::Settings => "settings",
            Self::RisuPreset => "risu_preset",
            Self::RisuModule => "risu_module",
            Self::SessionBackup => "session_backup",
            Self::PlainText => "plain_text",
        }
    }

    /// Tells whether it holds a conversation; a list of messages may be meant as a preset too.
    pub const fn is_conversation(self) -> bool {
        matches!(
            self,
            Self::Session
                | Self::SessionHalves
                | Self::ChatMessages
                | Self::StoredMessages
                | Self::SillyTavernChat
        )
    }

    /// Tells whether it is a character card, whatever its version.
    pub const fn is_card(self) -> bool {
        matches!(self, Self::CardV1 | Self::CardV2 | Self::CardV3 | Self::Pygmalion)
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
        (value, _) => source_format(value),
    })
}

/// Tells what a value is, files of other applications among it.
pub(crate) fn source_format(value: &Value) -> Option<Format> {
    match value {
        Value::Object(map) => foreign(map).or_else(|| match object_shape(map) {
            shape @ (None | Some(Format::Profile)) => nearly(map).or(shape),
            shape => shape,
        }),
        Value::Array(items) if !items.is_empty() && items.iter().all(is_script) => Some(Format::RegexScripts),
        value => shape(value),
    }
}

/// The texts of a card that nothing else with a name has.
const CARD_TEXTS: [&str; 4] = ["personality", "scenario", "mes_example", "first_mes"];

/// Tells what another application wrote, where it left out the fields by which that is known for certain: what has a
/// name and one text of a card, be it the description alone, and no content is a card; some samplers are a preset.
fn nearly(map: &Map<String, Value>) -> Option<Format> {
    let is_text = |key: &str| map.get(key).is_some_and(Value::is_string);
    let (is_named, has_content) = (map.contains_key("name"), map.contains_key("content"));
    if is_named && (CARD_TEXTS.into_iter().any(is_text) || (is_text("description") && !has_content)) {
        return Some(Format::CardV1);
    }
    if is_named && !has_content && ["context", "greeting"].into_iter().any(is_text) {
        return Some(Format::Pygmalion);
    }
    let samplers = TEXT_SAMPLERS.iter().filter(|(key, _)| map.get(*key).is_some_and(Value::is_number));
    let is_told = || TOLD_SAMPLERS.iter().any(|key| map.get(*key).is_some_and(Value::is_number));
    (!has_content && samplers.count() > 1 && is_told()).then_some(Format::TextPreset)
}

/// Tells whether an object that is taken for a card of version 1 has nothing of one but a name and a description, as
/// many other files have.
pub(crate) fn is_card_by_description(map: &Map<String, Value>) -> bool {
    let is_text = |key: &str| map.get(key).is_some_and(Value::is_string);
    foreign(map).is_none() && !CARD_TEXTS.into_iter().any(is_text)
}

/// The samplers whose names only text completion has.
const TOLD_SAMPLERS: [&str; 5] = ["temp", "rep_pen", "freq_pen", "presence_pen", "genamt"];

fn is_script(value: &Value) -> bool {
    value.get("findRegex").is_some()
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
    is_named && !has("role") && !has("entries") && foreign(map).is_none()
}

/// What other applications write as objects that may have a name, and the keys by which each is told; the first
/// that fits counts.
const FOREIGN: [(Format, &[&str]); 23] = [
    (Format::RegexScripts, &["findRegex"]),
    (Format::CardV1, &["spec", "data"]),
    (Format::CardV1, &["spec", "spec_version"]),
    (Format::Settings, &["power_user"]),
    (Format::Settings, &["world_info_settings"]),
    (Format::Settings, &["extension_settings"]),
    (Format::Settings, &["oai_settings"]),
    (Format::ChatPreset, &["prompts", "prompt_order"]),
    (Format::ChatPreset, &["prompts", "openai_max_context"]),
    (Format::ChatPreset, &["chat_completion_source"]),
    (Format::ChatPreset, &["openai_max_context"]),
    (Format::ChatPreset, &["main_prompt", "nsfw_prompt"]),
    (Format::ChatPreset, &["new_chat_prompt"]),
    (Format::CardV1, &["first_mes"]),
    (Format::Pygmalion, &["char_name"]),
    (Format::Pygmalion, &["name", "greeting", "context"]),
    (Format::Personas, &["personas", "persona_descriptions"]),
    (Format::ContextTemplate, &["story_string"]),
    (Format::InstructTemplate, &["input_sequence"]),
    (Format::SystemPrompt, &["content", "post_history"]),
    (Format::ReasoningTemplate, &["prefix", "suffix"]),
    (Format::TextPreset, &["temp", "rep_pen"]),
    (Format::RisuPreset, &["promptTemplate"]),
];

/// The parts of a master export, two of which make one.
const MASTER_PARTS: [&str; 6] = ["instruct", "context", "sysprompt", "preset", "reasoning", "srw"];

/// Tells what another application wrote.
fn foreign(map: &Map<String, Value>) -> Option<Format> {
    let is = |key: &str, value: &str| map.get(key).and_then(Value::as_str) == Some(value);
    if is("spec", "lorebook_v3") || is("type", "AIO_Agent_Export") {
        return None;
    }
    if is("type", "risuModule") {
        return Some(Format::RisuModule);
    }
    if is_prompt_export(map) {
        return Some(Format::PromptExport);
    }
    if is("format", "aiohub-chat-session-backup") {
        return Some(Format::SessionBackup);
    }
    if MASTER_PARTS.iter().filter(|part| map.get(**part).is_some_and(Value::is_object)).count() > 1 {
        return Some(Format::MasterExport);
    }
    let fits = |(_, keys): &&(Format, &[&str])| keys.iter().all(|key| map.contains_key(*key));
    let format = FOREIGN.iter().find(fits).map(|(format, _)| *format)?;
    Some(if format == Format::CardV1 { card_version(map) } else { format })
}

/// Tells whether an object is what SillyTavern's prompt manager exports: `{version, type, data: {prompts, prompt_order}}`.
fn is_prompt_export(map: &Map<String, Value>) -> bool {
    let kind = map.get("type").and_then(Value::as_str);
    let lists = |key: &&str| map.get("data").and_then(|data| data.get(*key)).is_some_and(Value::is_array);
    kind.is_some_and(|kind| ["full", "character"].contains(&kind))
        && ["prompts", "prompt_order"].iter().all(lists)
}

/// Tells the version of a card by what it says of itself.
fn card_version(map: &Map<String, Value>) -> Format {
    match map.get("spec").and_then(Value::as_str) {
        Some("chara_card_v3") => Format::CardV3,
        Some(_) => Format::CardV2,
        None if map.get("data").is_some_and(Value::is_object) => Format::CardV2,
        None => Format::CardV1,
    }
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
    if let Some(format) = foreign(map) {
        return format.to_string();
    }
    if map.contains_key("entries") {
        return Format::Worldbook.to_string();
    }
    let shown = map.keys().take(SHOWN_KEYS).map(|key| format!("`{}`", excerpt(key)));
    let more = if map.len() > SHOWN_KEYS { " and more" } else { "" };
    format!("an object with the keys {}{more}", shown.collect::<Vec<_>>().join(", "))
}
