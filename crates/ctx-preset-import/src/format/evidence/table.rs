//! The table: which format is told by what.

use ctx_types::internal::nearest_key;
use serde_json::{Map, Value};

use crate::format::Format;
use crate::format::evidence::lists::is_message;
use crate::format::evidence::objects::{
    book_shape, first_entry, has, has_entry, is, is_chat_header, is_list, is_number, is_object, is_profile,
    is_prompt_export, is_sampled, is_silly_tavern_line, is_text, is_tree, is_tree_of_messages,
};

/// How much some evidence is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// No other application writes it.
    Certain,
    /// It is likely, and worth a warning.
    Guess,
    /// Many files have it: it counts where this format is asked for, and does not tell it.
    Asked,
}

/// What tells a format.
pub(super) struct Evidence {
    pub(super) format: Format,
    pub(super) worth: Worth,
    /// It, in words.
    pub(super) what: &'static str,
    /// The keys that it looks at, but for those that any file may have.
    pub(super) keys: &'static [&'static str],
    pub(super) fits: fn(&Map<String, Value>) -> bool,
}

/// What other applications write; of several that fit the first counts.
pub(super) const FOREIGN: [Evidence; 30] = [
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
        "a name and card texts",
        &["name", "description", "personality", "scenario", "mes_example"],
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
    guess(Format::Pygmalion, "a name and a greeting", &["name", "greeting"], |map| {
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
pub(super) const OWN_BEFORE_MESSAGES: usize = 9;

/// Our own forms, which are those of AIO Hub and of seed 004.
pub(super) const OWN: [Evidence; 23] = [
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
    guess(Format::Agent, "a misspelled key of an agent", &[], |map| {
        let is_near = |key: &String| nearest_key(key, ["presetMessages", "presetGroups"]).is_some();
        map.keys().take(MAX_COMPARISONS).any(is_near)
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
        "text with a display name or an icon",
        &["name", "content", "displayName"],
        |map| {
            is_profile(map)
                && is_text(map, "content")
                && (is_text(map, "displayName") || is_text(map, "icon"))
        },
    ),
    asked(Format::Profile, "text under `content`", &["name", "content", "displayName"], |map| {
        !is_message(map) && is_profile(map)
    }),
];

/// How many keys of a file are compared with those of an agent: each costs the product of both lengths.
const MAX_COMPARISONS: usize = 100;

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
