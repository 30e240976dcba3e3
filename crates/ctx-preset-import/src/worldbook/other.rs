//! Lorebooks of NovelAI, Agnai and RisuAI.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Form;
use super::origin::{Field, WorldbookOrigin};
use crate::format::Format;
use crate::kept::IMPORTED;

/// Gives the fields of an entry the names that they have here.
type Convert = fn(&Map<String, Value>) -> Map<String, Value>;

/// Reads a book of one of these applications; none if it is none.
pub(super) fn read(map: &Map<String, Value>) -> Option<Form> {
    let is = |key: &str, value: &str| map.get(key).and_then(Value::as_str) == Some(value);
    let (list, convert, field): (&str, Convert, Field) = if map.contains_key("lorebookVersion") {
        ("entries", novel_ai, |name| theirs(&NOVEL_AI, name))
    } else if is("kind", "memory") {
        ("entries", agnai, |name| theirs(&AGNAI, name))
    } else if is("type", "risu") {
        ("data", risu, |name| theirs(&RISU, name))
    } else {
        return None;
    };
    let entries = map.get(list).and_then(Value::as_array)?;
    let entries = entries.iter().map(|entry| match entry {
        Value::Object(fields) => {
            let mut converted = convert(fields);
            converted.insert(IMPORTED.to_owned(), entry.clone());
            Value::Object(converted)
        }
        other => other.clone(),
    });
    let mut book = Map::new();
    book.extend(map.get("name").map(|name| ("name".to_owned(), name.clone())));
    book.insert("entries".to_owned(), Value::Array(entries.collect()));
    let mut rest = map.clone();
    rest.shift_remove(list);
    book.insert(IMPORTED.to_owned(), Value::Object(rest));
    let origin = WorldbookOrigin::new("", &format!("/{list}")).with_names(BTreeMap::new(), field);
    Some(Form { format: Format::OtherLorebook, book: Value::Object(book), origin, diagnostics: Vec::new() })
}

/// Fields of an entry by their names there and here.
type Names = [(&'static str, &'static str)];

const NOVEL_AI: [(&str, &str); 4] =
    [("keys", "key"), ("text", "content"), ("displayName", "comment"), ("forceActivation", "constant")];
const AGNAI: [(&str, &str); 4] =
    [("keywords", "key"), ("entry", "content"), ("name", "comment"), ("weight", "order")];
const RISU: [(&str, &str); 6] = [
    ("content", "content"),
    ("comment", "comment"),
    ("alwaysActive", "constant"),
    ("selective", "selective"),
    ("insertorder", "order"),
    ("activationPercent", "probability"),
];

/// What an application calls a field.
fn theirs(names: &Names, name: &str) -> Option<String> {
    match name {
        "disable" => Some("enabled".to_owned()),
        "keysecondary" => Some("secondkey".to_owned()),
        _ => names.iter().find(|(_, ours)| *ours == name).map(|(theirs, _)| (*theirs).to_owned()),
    }
}

/// Copies fields under their names here.
fn copied(entry: &Map<String, Value>, names: &Names) -> Map<String, Value> {
    let copy = |(from, to): &(&str, &str)| Some(((*to).to_owned(), entry.get(*from)?.clone()));
    names.iter().filter_map(copy).collect()
}

fn switch_off(entry: &Map<String, Value>, converted: &mut Map<String, Value>) {
    if let Some(enabled) = entry.get("enabled").and_then(Value::as_bool) {
        converted.insert("disable".to_owned(), Value::Bool(!enabled));
    }
}

fn novel_ai(entry: &Map<String, Value>) -> Map<String, Value> {
    let mut converted = copied(entry, &NOVEL_AI);
    let order = entry.get("contextConfig").and_then(|config| config.get("budgetPriority"));
    converted.extend(order.map(|order| ("order".to_owned(), order.clone())));
    switch_off(entry, &mut converted);
    converted
}

fn agnai(entry: &Map<String, Value>) -> Map<String, Value> {
    let mut converted = copied(entry, &AGNAI);
    switch_off(entry, &mut converted);
    converted
}

fn risu(entry: &Map<String, Value>) -> Map<String, Value> {
    let mut converted = copied(entry, &RISU);
    for (from, to) in [("key", "key"), ("secondkey", "keysecondary")] {
        converted.extend(entry.get(from).map(|keys| (to.to_owned(), divided(keys))));
    }
    converted
}

/// Divides keys that stand in one text.
fn divided(keys: &Value) -> Value {
    match keys.as_str() {
        Some(keys) => {
            let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
            json!(keys.collect::<Vec<_>>())
        }
        None => keys.clone(),
    }
}
