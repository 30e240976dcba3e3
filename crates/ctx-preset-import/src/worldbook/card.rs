//! Books as character cards have them: entries with `keys`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Form;
use super::origin::{WorldbookOrigin, escaped};
use crate::format::Format;
use crate::kept::IMPORTED;

/// Finds the book of a card or of a standalone lorebook; also where it stands, and whether version 3 says so.
pub(super) fn find(map: &mut Map<String, Value>) -> Option<(Map<String, Value>, String, bool)> {
    let spec = map.get("spec").and_then(Value::as_str).unwrap_or_default();
    let (is_lorebook, is_card) = (spec == "lorebook_v3", spec == "chara_card_v3");
    let is_v3 = is_lorebook || is_card;
    let data = map.get_mut("data").and_then(Value::as_object_mut);
    if let Some(data) = data {
        if let Some(Value::Object(book)) = data.get_mut("character_book").map(Value::take) {
            return Some((book, "/data/character_book".to_owned(), is_v3));
        }
        let is_book = is_lorebook || data.get("entries").is_some_and(Value::is_array);
        return is_book.then(|| (std::mem::take(data), "/data".to_owned(), is_v3));
    }
    match map.get_mut("character_book").map(Value::take) {
        Some(Value::Object(book)) => Some((book, "/character_book".to_owned(), is_v3)),
        _ => None,
    }
}

/// Tells whether the entries of a book are those of a card.
pub(super) fn is_card_book(map: &Map<String, Value>) -> bool {
    let is_card = |entry: &Value| entry.get("keys").is_some() && entry.get("key").is_none();
    match map.get("entries") {
        Some(Value::Array(entries)) => entries.iter().any(is_card),
        Some(Value::Object(entries)) => entries.values().any(is_card),
        _ => false,
    }
}

/// Brings the book into the unified form; entries are kept beside as they were.
pub(super) fn read(mut book: Map<String, Value>, place: &str, is_v3: bool) -> Form {
    let entries: Vec<(String, Value)> = match book.get_mut("entries").map(Value::take) {
        Some(Value::Array(entries)) => {
            entries.into_iter().enumerate().map(|(index, entry)| (index.to_string(), entry)).collect()
        }
        Some(Value::Object(entries)) => entries.into_iter().collect(),
        _ => Vec::new(),
    };
    let (theirs, entries): (Vec<String>, Vec<Value>) =
        entries.into_iter().map(|(key, value)| (escaped(&key), entry(value, is_v3))).unzip();
    let (entries, ours) = by_uid(entries);
    let moved = ours.iter().map(|key| escaped(key)).zip(theirs).filter(|(ours, theirs)| ours != theirs);
    let moved: BTreeMap<String, String> = moved.collect();
    book.insert("entries".to_owned(), entries);
    if is_v3 {
        book.insert("dialect".to_owned(), Value::from("ccv3"));
    }
    let origin = WorldbookOrigin::new(place, &format!("{place}/entries")).with_names(moved, field);
    Form { format: Format::CardBook, book: Value::Object(book), origin, diagnostics: Vec::new() }
}

/// Puts entries under their ids, as applications do; those that share one stay a list, so that none is lost. Also
/// returns the key of each.
fn by_uid(entries: Vec<Value>) -> (Value, Vec<String>) {
    let uid = |(index, entry): (usize, &Value)| match entry.get("uid") {
        Some(Value::String(uid)) => uid.clone(),
        Some(Value::Number(uid)) => uid.to_string(),
        _ => index.to_string(),
    };
    let uids: Vec<String> = entries.iter().enumerate().map(uid).collect();
    let unique: BTreeSet<&String> = uids.iter().collect();
    if unique.len() < uids.len() {
        let indexes = (0..entries.len()).map(|index| index.to_string()).collect();
        return (Value::Array(entries), indexes);
    }
    (Value::Object(uids.iter().cloned().zip(entries).collect()), uids)
}

/// Where an entry of a card has a field.
fn field(name: &str) -> Option<String> {
    if name == "disable" {
        return Some("enabled".to_owned());
    }
    let renamed = CARD_FIELDS.iter().find(|(_, ours)| *ours == name).map(|(theirs, _)| (*theirs).to_owned());
    let extension = || CARD_EXTENSIONS.iter().find(|(_, ours)| *ours == name);
    renamed.or_else(|| extension().map(|(theirs, _)| format!("extensions/{theirs}")))
}

/// The fields of an entry that have another name, or stand below `extensions`; each with its name here.
pub(crate) const CARD_FIELDS: [(&str, &str); 6] = [
    ("id", "uid"),
    ("keys", "key"),
    ("secondary_keys", "keysecondary"),
    ("comment", "comment"),
    ("content", "content"),
    ("insertion_order", "order"),
];

/// What SillyTavern keeps below `extensions`.
pub(crate) const CARD_EXTENSIONS: [(&str, &str); 30] = [
    ("exclude_recursion", "excludeRecursion"),
    ("prevent_recursion", "preventRecursion"),
    ("delay_until_recursion", "delayUntilRecursion"),
    ("probability", "probability"),
    ("useProbability", "useProbability"),
    ("depth", "depth"),
    ("selectiveLogic", "selectiveLogic"),
    ("outlet_name", "outletName"),
    ("group", "group"),
    ("group_override", "groupOverride"),
    ("group_weight", "groupWeight"),
    ("scan_depth", "scanDepth"),
    ("case_sensitive", "caseSensitive"),
    ("match_whole_words", "matchWholeWords"),
    ("use_group_scoring", "useGroupScoring"),
    ("automation_id", "automationId"),
    ("role", "role"),
    ("vectorized", "vectorized"),
    ("sticky", "sticky"),
    ("cooldown", "cooldown"),
    ("delay", "delay"),
    ("match_persona_description", "matchPersonaDescription"),
    ("match_character_description", "matchCharacterDescription"),
    ("match_character_personality", "matchCharacterPersonality"),
    ("match_character_depth_prompt", "matchCharacterDepthPrompt"),
    ("match_scenario", "matchScenario"),
    ("match_creator_notes", "matchCreatorNotes"),
    ("triggers", "triggers"),
    ("ignore_budget", "ignoreBudget"),
    ("display_index", "displayIndex"),
];

/// Brings an entry into the unified form, with what it was beside.
pub(crate) fn entry(value: Value, is_v3: bool) -> Value {
    let Value::Object(map) = &value else { return value };
    // A file that several applications wrote may have both forms side by side.
    if map.contains_key("key") {
        return value;
    }
    let mut entry = Map::new();
    let mut copy = |from: Option<&Value>, to: &str| {
        if let Some(value) = from {
            entry.insert(to.to_owned(), value.clone());
        }
    };
    for (from, to) in CARD_FIELDS {
        copy(map.get(from), to);
    }
    if map.get("comment").is_none_or(is_blank) {
        copy(map.get("name"), "comment");
    }
    copy(map.get("constant"), "constant");
    let extensions = map.get("extensions");
    let extension = |key: &str| extensions.and_then(|extensions| extensions.get(key));
    copy(Some(map.get("selective").unwrap_or(&Value::Bool(false))), "selective");
    let is_off = map.get("enabled").and_then(Value::as_bool).map(|enabled| Value::Bool(!enabled));
    copy(is_off.as_ref(), "disable");
    for (from, to) in CARD_EXTENSIONS {
        copy(extension(from), to);
    }
    if is_v3 && extension("case_sensitive").is_none_or(Value::is_null) {
        copy(map.get("case_sensitive"), "caseSensitive");
    }
    let position = extension("position").filter(|position| !position.is_null()).cloned();
    let is_before = map.get("position").and_then(Value::as_str) == Some("before_char");
    entry.insert("position".to_owned(), position.unwrap_or(json!(u8::from(!is_before))));
    entry.insert(IMPORTED.to_owned(), value);
    Value::Object(entry)
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
