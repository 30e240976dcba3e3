//! What an object is, by its keys and values.

use ctx_types::UserProfile;
use serde_json::{Map, Value};

use crate::format::Format;
use crate::format::evidence::foreign;
use crate::formats::sillytavern::templates::TEXT_SAMPLERS;
use crate::loose::get;

pub(super) fn has(map: &Map<String, Value>, key: &str) -> bool {
    get(map, key).is_some()
}

pub(super) fn is(map: &Map<String, Value>, key: &str, value: &str) -> bool {
    get(map, key).and_then(Value::as_str) == Some(value)
}

pub(super) fn is_text(map: &Map<String, Value>, key: &str) -> bool {
    get(map, key).is_some_and(Value::is_string)
}

pub(super) fn is_number(map: &Map<String, Value>, key: &str) -> bool {
    get(map, key).is_some_and(Value::is_number)
}

pub(super) fn is_list(map: &Map<String, Value>, key: &str) -> bool {
    get(map, key).is_some_and(Value::is_array)
}

pub(super) fn is_object(map: &Map<String, Value>, key: &str) -> bool {
    get(map, key).is_some_and(Value::is_object)
}

/// The samplers whose names only text completion has.
const TOLD_SAMPLERS: [&str; 5] = ["temp", "rep_pen", "freq_pen", "presence_pen", "genamt"];

pub(super) fn is_sampled(map: &Map<String, Value>) -> bool {
    let samplers = TEXT_SAMPLERS.iter().filter(|(key, _)| is_number(map, key)).count();
    !has(map, "content") && samplers > 1 && TOLD_SAMPLERS.iter().any(|key| is_number(map, key))
}

/// Returns whether an object is what SillyTavern's prompt manager exports: `{version, type, data: {prompts, prompt_order}}`.
pub(super) fn is_prompt_export(map: &Map<String, Value>) -> bool {
    let is_kind = is(map, "type", "full") || is(map, "type", "character");
    let lists = |key: &&str| map.get("data").and_then(|data| data.get(*key)).is_some_and(Value::is_array);
    is_kind && ["prompts", "prompt_order"].iter().all(lists)
}

/// Returns whether an object holds the tree of a session and nothing else can: other graphs have nodes with parents too.
pub(super) fn is_tree_of_messages(map: &Map<String, Value>) -> bool {
    let named = ["rootNodeId", "activeLeafId"].iter().any(|key| has(map, key));
    let nodes = map.get("nodes").and_then(Value::as_object);
    let is_said = |node: &Value| node.get("role").is_some_and(Value::is_string);
    is_tree(map) && (named || nodes.is_some_and(|nodes| nodes.values().any(is_said)))
}

/// Returns whether an object holds the tree of a session.
pub(super) fn is_tree(map: &Map<String, Value>) -> bool {
    let Some(nodes) = map.get("nodes") else { return false };
    let named = ["rootNodeId", "activeLeafId"].iter().any(|key| has(map, key));
    let linked = |node: &Value| node.get("parentId").is_some() || node.get("childrenIds").is_some();
    named || nodes.as_object().is_some_and(|nodes| nodes.values().any(linked))
}

/// Returns whether the entries of an object are a book's: one has all of these keys.
pub(super) fn has_entry(map: &Map<String, Value>, keys: &[&str]) -> bool {
    let first = map.get("entries").and_then(first_entry);
    first.is_some_and(|entry| keys.iter().all(|key| entry.get(*key).is_some()))
}

pub(super) fn first_entry(entries: &Value) -> Option<&Value> {
    let first = entries.as_array().and_then(|list| list.first());
    first.or_else(|| entries.as_object()?.values().next())
}

/// Returns which kind of worldbook an object is; not the card that holds one.
pub(super) fn book_shape(map: &Map<String, Value>) -> Option<Format> {
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

/// Returns whether an object has what a user profile is made of, and is nothing else that has a text: many files have a
/// name, so one without a text has nothing that no profile has.
pub(crate) fn is_profile(map: &Map<String, Value>) -> bool {
    let is_named = ["name", "displayName"].iter().any(|key| has(map, key));
    let is_told = has(map, "content") || (is_named && has_only(map, UserProfile::KEYS));
    is_told && !has(map, "role") && !has(map, "entries") && foreign(map).is_none()
}

/// Returns whether an object has no other keys than these, beside the one that names its schema.
pub(super) fn has_only(map: &Map<String, Value>, known: &[&str]) -> bool {
    map.keys().all(|key| key == "$schema" || known.contains(&key.as_str()))
}

/// The names that files of user profiles have.
pub(super) fn is_name_of_profile(stem: &str) -> bool {
    ["profile", "persona", "user", "me"].iter().any(|name| stem.eq_ignore_ascii_case(name))
}

/// Returns whether an object is a message or the header of a SillyTavern chat.
pub(super) fn is_silly_tavern_line(map: &Map<String, Value>) -> bool {
    let is_header = has(map, "chat_metadata") || (has(map, "user_name") && has(map, "character_name"));
    has(map, "mes") || (is_header && !has(map, "messages"))
}

/// Returns whether an object is the header of a SillyTavern chat, or a message that says who speaks.
pub(super) fn is_chat_header(map: &Map<String, Value>) -> bool {
    let is_message = is_text(map, "mes")
        && ["is_user", "is_system", "send_date", "swipes"].iter().any(|key| has(map, key));
    let is_header = has(map, "chat_metadata") || has(map, "create_date");
    is_silly_tavern_line(map) && if has(map, "mes") { is_message } else { is_header }
}
