//! Worldbooks as files, and as books of cards.

use ctx_types::{Persist as _, Worldbook};
use serde_json::{Map, Value, json};

use crate::kept::IMPORTED;
use crate::loose::Object;
use crate::worldbook::{CARD_EXTENSIONS, CARD_FIELDS, card_entry};

/// Returns a worldbook as world info: an object of entries by their uids.
pub fn export_worldbook(book: &Worldbook) -> Value {
    let mut file = book.write();
    if let Some(entries) = file.get_mut("entries").and_then(Value::as_object_mut) {
        for entry in entries.values_mut().filter_map(Value::as_object_mut) {
            entry.shift_remove(IMPORTED);
        }
    }
    file
}

/// Returns a worldbook as the book of a card.
///
/// An entry that came from a card and was not changed since is as it was there.
pub fn export_card_book(book: &Worldbook) -> Value {
    let mut file = book.write();
    let is_v3 = file.get("dialect").and_then(Value::as_str) == Some("ccv3");
    let Some(map) = file.as_object_mut() else { return file };
    map.shift_remove("dialect");
    let entries: Vec<Value> = match map.get_mut("entries").map(Value::take) {
        Some(Value::Array(entries)) => entries,
        Some(Value::Object(entries)) => entries.into_iter().map(|(_, entry)| entry).collect(),
        _ => Vec::new(),
    };
    let entries = entries.into_iter().enumerate().map(|(index, entry)| card_form(entry, index, is_v3));
    let entries: Vec<Value> = entries.collect();
    map.insert("entries".to_owned(), Value::Array(entries));
    file
}

fn card_form(entry: Value, index: usize, is_v3: bool) -> Value {
    let Value::Object(mut entry) = entry else { return entry };
    let original = entry.get(IMPORTED).cloned();
    if let Some(original) = &original
        && card_entry(original.clone(), is_v3) == Value::Object(entry.clone())
    {
        return original.clone();
    }
    entry.shift_remove(IMPORTED);
    let original = original.and_then(|original| original.as_object().cloned()).unwrap_or_default();
    Value::Object(write(&entry, original, index))
}

fn write(entry: &Object, mut card: Object, index: usize) -> Object {
    for (theirs, ours) in CARD_FIELDS {
        if let Some(value) = entry.get(ours) {
            card.insert(theirs.to_owned(), value.clone());
        }
    }
    card.entry("id").or_insert_with(|| index.into());
    for key in ["keys", "secondary_keys"] {
        card.entry(key).or_insert_with(|| json!([]));
    }
    let flag = |key: &str| entry.get(key).and_then(Value::as_bool);
    card.insert("enabled".to_owned(), (flag("disable") != Some(true)).into());
    card.insert("constant".to_owned(), flag("constant").unwrap_or(false).into());
    card.insert("selective".to_owned(), flag("selective").unwrap_or(true).into());
    let position = entry.get("position").cloned().unwrap_or_else(|| 0.into());
    let is_before = position.as_u64() == Some(0);
    card.insert("position".to_owned(), if is_before { "before_char" } else { "after_char" }.into());
    let mut extensions: Map<String, Value> =
        card.get("extensions").and_then(Value::as_object).cloned().unwrap_or_default();
    extensions.insert("position".to_owned(), position);
    for (theirs, ours) in CARD_EXTENSIONS {
        if let Some(value) = entry.get(ours) {
            extensions.insert(theirs.to_owned(), value.clone());
        }
    }
    card.insert("extensions".to_owned(), Value::Object(extensions));
    card
}
