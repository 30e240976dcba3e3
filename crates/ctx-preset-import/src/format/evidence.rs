//! What tells each format: one table, from which imports, checks and readers learn what a document is.

use serde_json::{Map, Value};

use super::Format;
use crate::formats::sillytavern::templates::TEXT_SAMPLERS;

/// What a document is, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    /// Only this format has what the document has.
    Certain(Format),
    /// Other files may have it too; what it is.
    Guess(Format, &'static str),
    /// Nothing tells; the formats that have some of its keys, the nearest first.
    Unknown(Vec<Format>),
}

/// How much some evidence is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// No other application writes it.
    Certain,
    /// It is likely, and worth a warning.
    Guess,
    /// Many files have it: it counts where this format is asked for, and does not tell it.
    Asked,
}

/// What tells a format.
struct Evidence {
    format: Format,
    worth: Worth,
    /// It, in words.
    what: &'static str,
    /// The keys that it looks at, but for those that any file may have.
    keys: &'static [&'static str],
    fits: fn(&Map<String, Value>) -> bool,
}

/// How many formats are named where nothing tells.
const NEAREST: usize = 3;

/// Returns what a document is for an import, which takes nothing for what it may not be; `stem` is the name of its file
/// without folders and ending.
pub(crate) fn detected(value: &Value, stem: &str) -> Detected {
    match value {
        Value::Object(map) => object(map, stem),
        Value::Array(items) => list_shape(items, Strictness::Strict)
            .map_or_else(|| Detected::Unknown(Vec::new()), Detected::Certain),
        Value::String(_) if is_name_of_profile(stem) => {
            Detected::Guess(Format::PlainText, "the name of the file")
        }
        Value::String(_) => Detected::Unknown(vec![Format::Profile]),
        _ => Detected::Unknown(Vec::new()),
    }
}

fn object(map: &Map<String, Value>, stem: &str) -> Detected {
    let (before, behind) = OWN.split_at(OWN_BEFORE_MESSAGES);
    let find = |rows: &'static [Evidence], worth: Worth| {
        rows.iter().filter(|row| row.worth == worth).find(|row| (row.fits)(map))
    };
    let is_certain = |rows: &'static [Evidence]| find(rows, Worth::Certain).map(|row| row.format);
    let certain = foreign(map).or_else(|| is_certain(before));
    let certain = certain.or_else(|| messages(map, Strictness::Strict)).or_else(|| is_certain(behind));
    if let Some(format) = certain {
        return Detected::Certain(format);
    }
    if let Some(row) = find(&FOREIGN, Worth::Guess).or_else(|| find(&OWN, Worth::Guess)) {
        return Detected::Guess(row.format, row.what);
    }
    if is_name_of_profile(stem) && is_profile(map) {
        return Detected::Guess(Format::Profile, "the name of the file");
    }
    Detected::Unknown(nearest(map))
}

/// The formats of which an object has some keys, those with the largest part of theirs first.
fn nearest(map: &Map<String, Value>) -> Vec<Format> {
    let share = |row: &Evidence| {
        let has = row.keys.iter().filter(|key| map.contains_key(**key)).count();
        (has > 0).then(|| (has * 100 / row.keys.len(), row.format))
    };
    let mut shares: Vec<(usize, Format)> = FOREIGN.iter().chain(&OWN).filter_map(share).collect();
    // Ties stay in the order of the table.
    shares.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
    let mut nearest: Vec<Format> = Vec::new();
    for (_, format) in shares {
        if nearest.len() < NEAREST && !nearest.contains(&format) && Format::NAMED.contains(&format) {
            nearest.push(format);
        }
    }
    nearest
}

/// Returns what a value is, files of other applications among it, as far as one can tell.
pub(crate) fn source_format(value: &Value) -> Option<Format> {
    likely(value).map(|(format, _)| format)
}

/// As [`source_format`], with the evidence in words.
fn likely(value: &Value) -> Option<(Format, &'static str)> {
    let Value::Object(map) = value else {
        let scripts = value.as_array().filter(|items| is_list_of_scripts(items));
        return scripts.map(|_| (Format::RegexScripts, "")).or_else(|| own_shape(value));
    };
    let certain = foreign(map).map(|format| (format, ""));
    certain.or_else(|| match own(map) {
        shape @ (None | Some((Format::Profile, _))) => guessed(map).or(shape),
        shape => shape,
    })
}

/// Returns what tells that a document is what it is taken for, in words; `None` if it is certain.
pub(super) fn weak_evidence(value: &Value, stem: &str) -> Option<&'static str> {
    match detected(value, stem) {
        Detected::Certain(_) => None,
        Detected::Guess(Format::Profile | Format::PlainText, _) if is_name_of_profile(stem) => None,
        Detected::Guess(_, what) => Some(what),
        Detected::Unknown(_) => likely(value).map(|(_, what)| what).filter(|what| !what.is_empty()),
    }
}

/// Returns what a value is of our own forms, for readers that are asked for one.
pub(crate) fn shape(value: &Value) -> Option<Format> {
    own_shape(value).map(|(format, _)| format)
}

fn own_shape(value: &Value) -> Option<(Format, &'static str)> {
    match value {
        Value::Object(map) => own(map),
        Value::Array(items) => {
            list_shape(items, Strictness::Loose).map(|format| (format, "a list of texts or roles"))
        }
        _ => None,
    }
}

/// Returns what another application wrote, for certain.
pub(super) fn foreign(map: &Map<String, Value>) -> Option<Format> {
    let row = FOREIGN.iter().filter(|row| row.worth == Worth::Certain).find(|row| (row.fits)(map))?;
    Some(versioned(row.format, map))
}

fn guessed(map: &Map<String, Value>) -> Option<(Format, &'static str)> {
    let rows = FOREIGN.iter().filter(|row| row.worth != Worth::Certain);
    rows.into_iter().find(|row| (row.fits)(map)).map(|row| (row.format, row.what))
}

fn own(map: &Map<String, Value>) -> Option<(Format, &'static str)> {
    let fits = |row: &&Evidence| (row.fits)(map);
    let told = |row: &Evidence| (row.format, row.what);
    let (before, behind) = OWN.split_at(OWN_BEFORE_MESSAGES);
    let before = before.iter().find(fits).map(told);
    let messages = || messages(map, Strictness::Loose).map(|format| (format, "messages"));
    before.or_else(messages).or_else(|| behind.iter().find(fits).map(told))
}

/// Reports the version of a card by what it says of itself.
fn versioned(format: Format, map: &Map<String, Value>) -> Format {
    match (format, map.get("spec").and_then(Value::as_str)) {
        (Format::CardV1, Some("chara_card_v3")) => Format::CardV3,
        (Format::CardV1, Some(_)) => Format::CardV2,
        (Format::CardV1, None) if map.get("data").is_some_and(Value::is_object) => Format::CardV2,
        (format, _) => format,
    }
}

const fn certain(
    format: Format,
    keys: &'static [&'static str],
    fits: fn(&Map<String, Value>) -> bool,
) -> Evidence {
    Evidence { format, worth: Worth::Certain, what: "", keys, fits }
}

const fn guess(
    format: Format,
    what: &'static str,
    keys: &'static [&'static str],
    fits: fn(&Map<String, Value>) -> bool,
) -> Evidence {
    Evidence { format, worth: Worth::Guess, what, keys, fits }
}

const fn asked(
    format: Format,
    what: &'static str,
    keys: &'static [&'static str],
    fits: fn(&Map<String, Value>) -> bool,
) -> Evidence {
    Evidence { format, worth: Worth::Asked, what, keys, fits }
}

fn has(map: &Map<String, Value>, key: &str) -> bool {
    map.contains_key(key)
}

fn is(map: &Map<String, Value>, key: &str, value: &str) -> bool {
    map.get(key).and_then(Value::as_str) == Some(value)
}

fn is_text(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).is_some_and(Value::is_string)
}

fn is_number(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).is_some_and(Value::is_number)
}

fn is_list(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).is_some_and(Value::is_array)
}

fn is_object(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).is_some_and(Value::is_object)
}

/// What other applications write; of several that fit the first counts.
const FOREIGN: [Evidence; 32] = [
    certain(Format::CardBook, &[], |map| is(map, "spec", "lorebook_v3")),
    certain(Format::RisuModule, &[], |map| is(map, "type", "risuModule")),
    certain(Format::PromptExport, &[], is_prompt_export),
    certain(Format::SessionBackup, &[], |map| is(map, "format", "aiohub-chat-session-backup")),
    certain(Format::MasterExport, &MASTER_PARTS, |map| {
        MASTER_PARTS.iter().filter(|part| is_object(map, part)).count() > 1
    }),
    certain(Format::RegexScripts, &["findRegex"], |map| has(map, "findRegex")),
    certain(Format::CardV1, &[], |map| {
        let is_named =
            map.get("spec").and_then(Value::as_str).is_some_and(|spec| spec.starts_with("chara_card"));
        let data = map.get("data").and_then(Value::as_object);
        let is_like_one =
            || data.is_some_and(|data| CARD_KEYS.iter().filter(|key| has(data, key)).count() > 1);
        is_named || (has(map, "spec") && is_like_one())
    }),
    certain(Format::Settings, &["power_user"], |map| is_object(map, "power_user")),
    certain(Format::Settings, &["world_info_settings"], |map| is_object(map, "world_info_settings")),
    certain(Format::Settings, &["extension_settings"], |map| is_object(map, "extension_settings")),
    certain(Format::Settings, &["oai_settings"], |map| is_object(map, "oai_settings")),
    certain(Format::ChatPreset, &["prompts", "prompt_order"], |map| {
        has(map, "prompts") && has(map, "prompt_order")
    }),
    certain(Format::ChatPreset, &["openai_max_context"], |map| has(map, "openai_max_context")),
    certain(Format::ChatPreset, &["chat_completion_source"], |map| has(map, "chat_completion_source")),
    certain(Format::ChatPreset, &["main_prompt", "nsfw_prompt"], |map| {
        has(map, "main_prompt") && has(map, "nsfw_prompt")
    }),
    certain(Format::ChatPreset, &["new_chat_prompt"], |map| is_text(map, "new_chat_prompt")),
    certain(Format::CardV1, &["first_mes"], |map| {
        map.get("first_mes").is_some_and(|text| text.is_string() || text.is_null())
    }),
    certain(Format::Pygmalion, &["char_name"], |map| {
        has(map, "char_name")
            && (is_text(map, "char_name") || has(map, "char_greeting") || has(map, "char_persona"))
    }),
    certain(Format::Personas, &["personas", "persona_descriptions"], |map| {
        has(map, "personas") && has(map, "persona_descriptions")
    }),
    certain(Format::ContextTemplate, &["story_string"], |map| is_text(map, "story_string")),
    certain(Format::InstructTemplate, &["input_sequence"], |map| is_text(map, "input_sequence")),
    certain(Format::SystemPrompt, &["content", "post_history"], |map| {
        has(map, "content") && has(map, "post_history")
    }),
    certain(Format::ReasoningTemplate, &["prefix", "suffix", "separator"], |map| {
        ["name", "prefix", "suffix", "separator"].iter().all(|key| is_text(map, key))
    }),
    certain(Format::TextPreset, &["temp", "rep_pen"], |map| {
        is_number(map, "temp") && is_number(map, "rep_pen")
    }),
    certain(Format::RisuPreset, &["promptTemplate"], |map| has(map, "promptTemplate")),
    guess(
        Format::CardV1,
        "a name beside texts of a card",
        &["name", "personality", "scenario", "mes_example"],
        |map| {
            has(map, "name") && ["personality", "scenario", "mes_example"].iter().any(|key| is_text(map, key))
        },
    ),
    guess(Format::ChatPreset, "prompts with identifiers", &["prompts"], |map| {
        let prompts = map.get("prompts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_prompt = |prompt: &Value| {
            let has = |key: &str| prompt.get(key).is_some();
            has("identifier") && (has("content") || has("marker"))
        };
        !prompts.is_empty() && prompts.iter().all(is_prompt)
    }),
    guess(Format::Pygmalion, "a name beside a greeting", &["name", "greeting"], |map| {
        is_text(map, "name") && is_text(map, "greeting") && !has(map, "content")
    }),
    guess(Format::ReasoningTemplate, "a prefix and a suffix", &["prefix", "suffix"], |map| {
        is_text(map, "prefix") && is_text(map, "suffix") && is_text(map, "name")
    }),
    guess(
        Format::TextPreset,
        "samplers of text completion",
        &["temp", "top_k", "top_p", "rep_pen"],
        is_sampled,
    ),
    asked(Format::CardV1, "a name beside a description", &["name", "description"], |map| {
        has(map, "name") && is_text(map, "description") && !has(map, "content")
    }),
    asked(Format::Pygmalion, "a name beside a context", &["name", "context"], |map| {
        has(map, "name") && is_text(map, "context") && !has(map, "content")
    }),
];

/// The fields that only the data of a card has.
const CARD_KEYS: [&str; 7] = [
    "first_mes",
    "mes_example",
    "personality",
    "character_book",
    "alternate_greetings",
    "post_history_instructions",
    "creator_notes",
];

/// How many rows of [`OWN`] stand before a list under `messages`.
const OWN_BEFORE_MESSAGES: usize = 9;

/// Our own forms, which are those of AIO Hub and of seed 004.
const OWN: [Evidence; 22] = [
    certain(Format::Agent, &["presetMessages"], |map| has(map, "presetMessages")),
    certain(Format::AgentExport, &["agents", "type"], |map| {
        is_list(map, "agents") && is(map, "type", "AIO_Agent_Export")
    }),
    certain(Format::AgentExport, &["agents"], |map| {
        let agents = map.get("agents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        agents.iter().any(|agent| agent.get("presetMessages").is_some())
    }),
    asked(Format::AgentExport, "a list of agents", &["agents"], |map| is_list(map, "agents")),
    certain(Format::Session, &["nodes", "rootNodeId", "activeLeafId"], is_tree_of_messages),
    asked(Format::Session, "nodes that have parents", &["nodes"], is_tree),
    certain(Format::SessionHalves, &["index", "detail"], |map| {
        map.get("detail").and_then(Value::as_object).is_some_and(is_tree)
    }),
    certain(Format::SillyTavernChat, &["chat_metadata", "user_name", "character_name"], is_chat_header),
    asked(Format::SillyTavernChat, "a line of a chat", &["mes", "is_user"], is_silly_tavern_line),
    // Here `messages` decide.
    certain(Format::Agent, &AGENT_KEYS, |map| {
        let parameters = map.get("parameters").and_then(Value::as_object);
        AGENT_KEYS.iter().any(|key| has(map, key))
            || parameters.is_some_and(|own| PARAMETERS.iter().any(|key| has(own, key)))
    }),
    guess(Format::Agent, "keys of an agent", &["greetings", "character", "modelId", "profileId"], |map| {
        is_list(map, "greetings") || is_object(map, "character") || (has(map, "name") && has(map, "modelId"))
    }),
    asked(Format::Agent, "parameters or a character", &["parameters"], |map| {
        // A persona with fields is that of an agent; a profile's is a text.
        ["greetings", "character", "parameters", "modelId", "profileId"].iter().any(|key| has(map, key))
            || is_object(map, "persona")
    }),
    certain(Format::OtherLorebook, &["lorebookVersion"], |map| {
        let is_told = is(map, "kind", "memory") || is(map, "type", "risu");
        has(map, "lorebookVersion") || (is_told && (has(map, "entries") || is_list(map, "data")))
    }),
    certain(Format::Worldbook, &["entries"], |map| {
        let entry = map.get("entries").and_then(first_entry).filter(|entry| entry.get("content").is_some());
        let has = |key: &str, is_meant: fn(&Value) -> bool| {
            entry.and_then(|entry| entry.get(key)).is_some_and(is_meant)
        };
        has("key", Value::is_array)
            || has("keysecondary", Value::is_array)
            || has("disable", Value::is_boolean)
            || (has("key", Value::is_string) && has("uid", |_| true))
    }),
    certain(Format::CardBook, &["entries"], |map| {
        ["keys", "secondary_keys", "insertion_order"].iter().any(|key| has_entry(map, &[key, "content"]))
    }),
    // Both kinds of entries may be constant, so their keys tell first.
    certain(Format::Worldbook, &["entries"], |map| {
        let entry = map.get("entries").and_then(first_entry).filter(|entry| entry.get("content").is_some());
        entry.and_then(|entry| entry.get("constant")).is_some_and(Value::is_boolean)
    }),
    guess(Format::Worldbook, "entries", &["entries"], |map| {
        let is_empty = |entries: &Value| {
            entries.as_object().is_some_and(Map::is_empty) || entries.as_array().is_some_and(Vec::is_empty)
        };
        let is_book =
            ["name", "scan_depth", "recursive_scanning", "token_budget"].iter().any(|key| has(map, key));
        is_book && (map.get("entries").is_some_and(is_empty) || has_entry(map, &["key"]))
    }),
    asked(Format::Worldbook, "entries", &["entries"], |map| book_shape(map) == Some(Format::Worldbook)),
    asked(Format::CardBook, "entries with keys", &["entries"], |map| {
        book_shape(map) == Some(Format::CardBook)
    }),
    certain(Format::Profile, &["name", "content", "displayName"], |map| {
        is_profile(map) && is_text(map, "content") && PROFILE_KEYS.iter().any(|key| has(map, key))
    }),
    guess(
        Format::Profile,
        "a text beside a display name or an icon",
        &["name", "content", "displayName"],
        |map| {
            is_profile(map)
                && is_text(map, "content")
                && (is_text(map, "displayName") || is_text(map, "icon"))
        },
    ),
    asked(Format::Profile, "a name or a text", &["name", "content", "displayName"], |map| {
        !is_message(map) && is_profile(map)
    }),
];

/// The keys beside `presetMessages` that only an agent has.
const AGENT_KEYS: [&str; 8] = [
    "presetGroups",
    "agentVersion",
    "displayPresetCount",
    "toolCallConfig",
    "variableConfig",
    "virtualTimeConfig",
    "historyWhenUnplaced",
    "worldbookSettings",
];

/// The parameters that only an agent has.
const PARAMETERS: [&str; 4] =
    ["processors", "contextManagement", "contextPostProcessing", "contextCompression"];

/// The fields beside name and content that only the profile of a user has.
const PROFILE_KEYS: [&str; 3] = ["lastUsedAt", "worldbookIds", "regexConfig"];

/// The parts of a master export, two of which make one.
const MASTER_PARTS: [&str; 6] = ["instruct", "context", "sysprompt", "preset", "reasoning", "srw"];

/// The samplers whose names only text completion has.
const TOLD_SAMPLERS: [&str; 5] = ["temp", "rep_pen", "freq_pen", "presence_pen", "genamt"];

fn is_sampled(map: &Map<String, Value>) -> bool {
    let samplers = TEXT_SAMPLERS.iter().filter(|(key, _)| is_number(map, key)).count();
    !has(map, "content") && samplers > 1 && TOLD_SAMPLERS.iter().any(|key| is_number(map, key))
}

/// Returns whether an object is what SillyTavern's prompt manager exports: `{version, type, data: {prompts, prompt_order}}`.
fn is_prompt_export(map: &Map<String, Value>) -> bool {
    let is_kind = is(map, "type", "full") || is(map, "type", "character");
    let lists = |key: &&str| map.get("data").and_then(|data| data.get(*key)).is_some_and(Value::is_array);
    is_kind && ["prompts", "prompt_order"].iter().all(lists)
}

/// Returns whether an object holds the tree of a session and nothing else can: other graphs have nodes with parents too.
fn is_tree_of_messages(map: &Map<String, Value>) -> bool {
    let named = ["rootNodeId", "activeLeafId"].iter().any(|key| has(map, key));
    let nodes = map.get("nodes").and_then(Value::as_object);
    let is_said = |node: &Value| node.get("role").is_some_and(Value::is_string);
    is_tree(map) && (named || nodes.is_some_and(|nodes| nodes.values().any(is_said)))
}

/// Returns whether an object holds the tree of a session.
fn is_tree(map: &Map<String, Value>) -> bool {
    let Some(nodes) = map.get("nodes") else { return false };
    let named = ["rootNodeId", "activeLeafId"].iter().any(|key| has(map, key));
    let linked = |node: &Value| node.get("parentId").is_some() || node.get("childrenIds").is_some();
    named || nodes.as_object().is_some_and(|nodes| nodes.values().any(linked))
}

/// Returns whether the entries of an object are a book's: one has all of these keys.
fn has_entry(map: &Map<String, Value>, keys: &[&str]) -> bool {
    let first = map.get("entries").and_then(first_entry);
    first.is_some_and(|entry| keys.iter().all(|key| entry.get(*key).is_some()))
}

fn first_entry(entries: &Value) -> Option<&Value> {
    let first = entries.as_array().and_then(|list| list.first());
    first.or_else(|| entries.as_object()?.values().next())
}

/// Returns which kind of worldbook an object is; not the card that holds one.
fn book_shape(map: &Map<String, Value>) -> Option<Format> {
    if is(map, "spec", "lorebook_v3") {
        return Some(Format::CardBook);
    }
    let entries = map.get("entries")?;
    match (entries, first_entry(entries)) {
        (Value::Object(_) | Value::Array(_), None) => Some(Format::Worldbook),
        (_, Some(entry)) if entry.get("key").is_some() => Some(Format::Worldbook),
        (_, Some(entry)) if entry.get("keys").is_some() => Some(Format::CardBook),
        (_, Some(Value::Object(entry))) => entry.contains_key("content").then_some(Format::Worldbook),
        _ => None,
    }
}

/// Returns whether an object has what a user profile is made of, and is nothing else that has a name.
pub(crate) fn is_profile(map: &Map<String, Value>) -> bool {
    let is_named = ["content", "name", "displayName"].iter().any(|key| has(map, key));
    is_named && !has(map, "role") && !has(map, "entries") && foreign(map).is_none()
}

/// The names that files of user profiles have.
fn is_name_of_profile(stem: &str) -> bool {
    ["profile", "persona", "user", "me"].iter().any(|name| stem.eq_ignore_ascii_case(name))
}

/// Returns whether an object is a message or the header of a SillyTavern chat.
fn is_silly_tavern_line(map: &Map<String, Value>) -> bool {
    let is_header = has(map, "chat_metadata") || (has(map, "user_name") && has(map, "character_name"));
    has(map, "mes") || (is_header && !has(map, "messages"))
}

/// Returns whether an object is the header of a SillyTavern chat, or a message that says who speaks.
fn is_chat_header(map: &Map<String, Value>) -> bool {
    let is_message = is_text(map, "mes")
        && ["is_user", "is_system", "send_date", "swipes"].iter().any(|key| has(map, key));
    let is_header = has(map, "chat_metadata") || has(map, "create_date");
    is_silly_tavern_line(map) && if has(map, "mes") { is_message } else { is_header }
}

/// How much a list has to show to be what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// Nothing else looks so.
    Strict,
    /// It is asked for.
    Loose,
}

/// Returns what the list under `messages` of an object is, or that the object is a message itself: a list of one line is
/// no list.
fn messages(map: &Map<String, Value>, strictness: Strictness) -> Option<Format> {
    if let Some(Value::Array(items)) = map.get("messages") {
        let of_list = list_shape(items, strictness);
        return if is_list(map, "groups") || of_list == Some(Format::PresetList) {
            Some(Format::PresetFile)
        } else {
            of_list
        };
    }
    let is_meant = is_message(map) && (strictness == Strictness::Loose || has_known_role(map));
    is_meant.then(|| message_shape(map))
}

/// Returns whether an object is a single message.
fn is_message(map: &Map<String, Value>) -> bool {
    ["content", "tool_calls", "tool_call_id"].iter().any(|key| has(map, key)) && is_text(map, "role")
}

fn has_known_role(map: &Map<String, Value>) -> bool {
    let role = map.get("role").and_then(Value::as_str);
    role.is_some_and(|role| ["system", "developer", "user", "assistant", "tool", "function"].contains(&role))
}

fn message_shape(map: &Map<String, Value>) -> Format {
    let is_stored = STORED_KEYS.iter().any(|key| has(map, key));
    if is_stored { Format::StoredMessages } else { Format::ChatMessages }
}

fn is_list_of_scripts(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get("findRegex").is_some())
}

fn list_shape(items: &[Value], strictness: Strictness) -> Option<Format> {
    let objects = || items.iter().filter_map(Value::as_object);
    let any_has = |keys: &[&str]| objects().any(|map| keys.iter().any(|key| has(map, key)));
    let is_strict = strictness == Strictness::Strict;
    if is_strict && is_list_of_scripts(items) {
        return Some(Format::RegexScripts);
    }
    let is_line = if is_strict { is_chat_header } else { is_silly_tavern_line };
    if objects().any(is_line) {
        return Some(Format::SillyTavernChat);
    }
    // What is said, or stands somewhere: no list of anything else has that.
    let is_said = !is_strict || objects().any(|map| is_message(map) && has_known_role(map));
    // Groups and contents have many lists; who also says who speaks has a preset.
    let is_entry = |map: &Map<String, Value>| {
        let is_placed = |key: &str| has(map, key) && (key != "groupId" || is_text(map, "role"));
        PLACEMENT_KEYS.iter().any(|key| is_placed(key)) && (has(map, "content") || is_text(map, "role"))
    };
    let is_placed = if is_strict { objects().any(is_entry) } else { any_has(&PLACEMENT_KEYS) };
    // Forms have placeholders too.
    let is_named = |item: &Value| item.get("type").and_then(Value::as_str) != Some("placeholder");
    let is_slot = |item: &&Value| {
        is_anchor(item)
            && (!is_strict
                || ["id", "role", "content"].iter().any(|key| item.get(*key).is_some())
                || is_named(item))
    };
    if is_placed || items.iter().any(|item| is_slot(&item)) {
        return Some(Format::PresetList);
    }
    if is_said && any_has(&STORED_KEYS) {
        return Some(Format::StoredMessages);
    }
    let is_list = if is_strict { false } else { items.is_empty() || any_has(&["role", "content"]) };
    (is_list || (is_strict && is_said)).then_some(Format::ChatMessages)
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
