//! What a list is, by what stands in it; messages and entries of presets above all.

use ctx_types::internal::{closest, meant_key};
use serde_json::{Map, Value};

use crate::conversation::provider_messages::is_gemini;
use crate::conversation::provider_messages::responses_items::is_item;
use crate::format::Format;
use crate::format::evidence::objects::{has, is_chat_header, is_list, is_silly_tavern_line, is_text};
use crate::loose::get;

/// How much a list has to show to be what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Nothing else looks so.
    Strict,
    /// It is asked for.
    Loose,
}

/// Returns what the list under `messages` of an object is, or that the object is a message itself: a list of one line is
/// no list.
pub(super) fn messages(map: &Map<String, Value>, strictness: Strictness) -> Option<Format> {
    if let Some(Value::Array(items)) = map.get("messages") {
        let of_list = list_shape(items, strictness);
        return if is_list(map, "groups") || of_list == Some(Format::PresetList) {
            Some(Format::PresetFile)
        } else {
            of_list
        };
    }
    let contents = map.get("contents").and_then(Value::as_array).into_iter().flatten();
    if contents.filter_map(Value::as_object).any(is_gemini) {
        return Some(Format::ChatMessages);
    }
    let input = map.get("input").and_then(Value::as_array).into_iter().flatten();
    let is_input = |item: &Map<String, Value>| is_item(item) || is_message(item) && has_known_role(item);
    if is_text(map, "model") && !has(map, "role") && input.filter_map(Value::as_object).any(is_input) {
        return Some(Format::ChatMessages);
    }
    let is_meant = is_message(map) && (strictness == Strictness::Loose || has_known_role(map));
    is_meant.then(|| message_shape(map))
}

/// Returns whether an object is a single message.
pub(super) fn is_message(map: &Map<String, Value>) -> bool {
    let has_content = ["content", "tool_calls", "tool_call_id"].iter().any(|key| has(map, key));
    is_text(map, "role") && (has_content || is_gemini(map))
}

/// Returns whether an object is a message whose text is under a misspelled key.
fn is_misspelled_message(map: &Map<String, Value>) -> bool {
    let is_meant =
        |(key, value): (&String, &Value)| value.is_string() && meant_key(key, &["content"]).is_some();
    is_text(map, "role") && !has(map, "content") && map.iter().any(is_meant)
}

pub(super) fn has_known_role(map: &Map<String, Value>) -> bool {
    let role = get(map, "role").and_then(Value::as_str);
    let is_of_model = role == Some("model") && is_gemini(map);
    // The reader reports a misspelled role.
    is_of_model || role.is_some_and(|role| ROLES.contains(&role) || closest(role, ROLES).is_some())
}

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn message_shape(map: &Map<String, Value>) -> Format {
    let is_stored = STORED_KEYS.iter().any(|key| has(map, key));
    if is_stored { Format::StoredMessages } else { Format::ChatMessages }
}

pub(super) fn is_list_of_scripts(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get("findRegex").is_some())
}

pub(super) fn list_shape(items: &[Value], strictness: Strictness) -> Option<Format> {
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
    let is_said = !is_strict
        || objects().any(|map| (is_message(map) || is_misspelled_message(map)) && has_known_role(map));
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
    let is_list = !is_strict && (items.is_empty() || any_has(&["role", "content"]) || objects().any(is_item));
    (is_list || (is_strict && is_said)).then_some(Format::ChatMessages)
}

/// The keys of messages that only seed 004 stores.
const STORED_KEYS: [&str; 3] = ["createdAt", "runId", "partType"];

/// The keys that only the entries of a preset have.
const PLACEMENT_KEYS: [&str; 6] =
    ["injectionStrategy", "insertionPoint", "anchorTarget", "anchorPoint", "modelMatch", "groupId"];

fn is_anchor(item: &Value) -> bool {
    let kind = item.as_object().and_then(|map| get(map, "type")).and_then(Value::as_str);
    kind.is_some_and(|kind| ["chat_history", "user_profile", "placeholder"].contains(&kind))
}
