//! Worldbooks as files, and as books of cards.

use ctx_types::Persist as _;
use ctx_types::worldbook::Worldbook;
use serde_json::{Value, json};

use super::around::{ENVELOPE, FILE, IS_CARD, restore, restore_entries};
use super::card::{CARD, unified};
use super::fields::{EntryField, Kind};
use crate::formats::lorebook::Lorebook;
use crate::kept::IMPORTED;
use crate::loose::{Object, object};
use crate::source::SourceNode;

/// Returns a worldbook as world info: an object of entries by their uids.
pub fn export_worldbook(book: &Worldbook) -> Value {
    let mut file = book.write();
    let Some(map) = file.as_object_mut() else { return file };
    restore(map);
    match map.get_mut("entries") {
        Some(Value::Object(entries)) => entries.values_mut().for_each(plain),
        Some(Value::Array(entries)) => entries.iter_mut().for_each(plain),
        _ => {}
    }
    file
}

/// Takes away what an entry of a card or of another application was beside.
fn plain(entry: &mut Value) {
    let is_ours = entry.get(IMPORTED).is_some_and(Value::is_object);
    if let Some(entry) = entry.as_object_mut().filter(|_| is_ours) {
        entry.shift_remove(IMPORTED);
    }
}

/// Returns a worldbook in the form that its file had; one of our own is world info.
///
/// ```
/// use ctx_preset_import::{export_lorebook, read_worldbook};
///
/// let file = serde_json::json!({ "spec": "lorebook_v3", "data": { "entries": [{ "keys": ["moon"], "content": "c" }] } });
/// let book = read_worldbook(file.to_string().as_bytes(), "sky.json")?.value;
/// assert_eq!(export_lorebook(&book), file);
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn export_lorebook(book: &Worldbook) -> Value {
    let mut file = book.write();
    let Some(map) = file.as_object_mut() else { return file };
    let mut around = restore(map);
    if let Some(Value::Object(mut envelope)) = around.shift_remove(ENVELOPE) {
        envelope.insert("data".to_owned(), export_card_book(book));
        return Value::Object(envelope);
    }
    if around.contains_key(IS_CARD) {
        return export_card_book(book);
    }
    let Some(Value::Object(mut rest)) = around.shift_remove(FILE) else { return export_worldbook(book) };
    let Some(lorebook) = Lorebook::of(&rest) else { return export_worldbook(book) };
    if let Some(name) = map.get("name") {
        rest.insert("name".to_owned(), name.clone());
    }
    lorebook.write(&mut rest, listed(map));
    Value::Object(rest)
}

fn listed(book: &mut Object) -> Vec<Value> {
    match book.get_mut("entries").map(Value::take) {
        Some(Value::Array(entries)) => entries,
        Some(Value::Object(entries)) => entries.into_iter().map(|(_, entry)| entry).collect(),
        _ => Vec::new(),
    }
}

/// Returns a worldbook as the book of a card.
///
/// An entry that came from a card and was not changed since, but for its text, is as it was there.
pub fn export_card_book(book: &Worldbook) -> Value {
    let mut file = book.write();
    let is_v3 = file.get("dialect").and_then(Value::as_str) == Some("ccv3");
    let Some(map) = file.as_object_mut() else { return file };
    let around = restore(map);
    if map.contains_key("entries") {
        let entries = listed(map).into_iter().enumerate();
        let entries = entries.map(|(index, entry)| card_form(entry, index, is_v3)).collect();
        map.insert("entries".to_owned(), restore_entries(entries, &around));
    }
    file
}

/// Returns an entry as a card has it.
fn card_form(entry: Value, index: usize, is_v3: bool) -> Value {
    let Value::Object(mut entry) = entry else { return entry };
    let Some(original) = original(&mut entry) else {
        entry.shift_remove(IMPORTED);
        return Value::Object(write(&entry, Object::new(), index));
    };
    let original = Value::Object(original);
    if unified(SourceNode::new(&original).source(), is_v3).as_object() == Some(&entry) {
        return original;
    }
    entry.shift_remove(IMPORTED);
    let Value::Object(original) = original else { return original };
    Value::Object(write(&entry, original, index))
}

/// Returns what an entry was made of with the text, which the entry alone says.
fn original(entry: &mut Object) -> Option<Object> {
    let text = entry.get("content").cloned();
    let kept = entry.get_mut(IMPORTED)?.as_object_mut()?;
    let mut original = kept.clone();
    // One that has our own form too is there whole.
    if kept.contains_key("key") {
        return Some(original);
    }
    // Files that were written before have the text twice.
    let may_move = |kept: &Value| kept.is_null() || kept.is_string();
    if let Some(kept) = kept.get_mut("content").filter(|kept| may_move(kept)) {
        *kept = Value::Null;
        match text {
            Some(text) => drop(original.insert("content".to_owned(), text)),
            None => drop(original.shift_remove("content")),
        }
    }
    Some(original)
}

fn write(entry: &Object, mut card: Object, index: usize) -> Object {
    let mut extensions = object(&card, "extensions").cloned().unwrap_or_default();
    extensions.insert("position".to_owned(), entry.get("position").cloned().unwrap_or_else(|| 0.into()));
    for &EntryField { theirs, ours, kind } in &CARD {
        let value = entry.get(ours).filter(|_| !matches!(kind, Kind::Switch | Kind::Switched | Kind::Title));
        match (value.cloned(), theirs.strip_prefix("extensions/")) {
            (Some(value), Some(extension)) => drop(extensions.insert(extension.to_owned(), value)),
            (Some(value), None) => drop(card.insert(theirs.to_owned(), value)),
            (None, _) => {}
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
    let is_before = extensions["position"].as_u64() == Some(0);
    card.insert("position".to_owned(), if is_before { "before_char" } else { "after_char" }.into());
    card.insert("extensions".to_owned(), Value::Object(extensions));
    card
}
