//! Lorebooks of NovelAI, Agnai and RisuAI.

use std::collections::BTreeMap;

use ctx_types::KeyList;
use serde_json::{Map, Value, json};

use super::origin::{Field, WorldbookOrigin};
use super::{Form, around};
use crate::format::Format;
use crate::kept::IMPORTED;

/// Gives the fields of an entry the names that they have here.
type Convert = fn(&Map<String, Value>) -> Map<String, Value>;

/// An application that writes lorebooks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Application {
    NovelAi,
    Agnai,
    Risu,
}

impl Application {
    /// Tells whose book a file is; none if it is nobody's of these.
    pub(crate) fn of(map: &Map<String, Value>) -> Option<Self> {
        let is = |key: &str, value: &str| map.get(key).and_then(Value::as_str) == Some(value);
        match () {
            () if map.contains_key("lorebookVersion") => Some(Self::NovelAi),
            () if is("kind", "memory") => Some(Self::Agnai),
            () if is("type", "risu") => Some(Self::Risu),
            () => None,
        }
    }

    /// Returns the field that has the entries.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Self::NovelAi | Self::Agnai => "entries",
            Self::Risu => "data",
        }
    }

    fn convert(self) -> (Convert, Field) {
        match self {
            Self::NovelAi => (novel_ai, |name| theirs(&NOVEL_AI, name)),
            Self::Agnai => (agnai, |name| theirs(&AGNAI, name)),
            Self::Risu => (risu, |name| theirs(&RISU, name)),
        }
    }
}

/// Reads a book of one of these applications; none if it is none.
pub(super) fn read(map: &Map<String, Value>) -> Option<Form> {
    let application = Application::of(map)?;
    let (list, (convert, field)) = (application.list(), application.convert());
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
    let rest = map.iter().filter(|(key, _)| *key != list);
    let rest: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    book.insert(IMPORTED.to_owned(), json!({ around::FILE: rest }));
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

/// Divides keys that stand in one text, unless it has so many that reading the book refuses it.
fn divided(keys: &Value) -> Value {
    match keys.as_str().filter(|keys| keys.matches(',').count() < KeyList::MOST_IN_TEXT) {
        Some(keys) => {
            let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
            json!(keys.collect::<Vec<_>>())
        }
        None => keys.clone(),
    }
}

/// Writes the entries of a book over those of the application that it came from.
pub(crate) fn write(application: Application, entries: Vec<Value>) -> Value {
    let (convert, _) = application.convert();
    let names: &Names = match application {
        Application::NovelAi => &NOVEL_AI,
        Application::Agnai => &AGNAI,
        Application::Risu => &RISU,
    };
    let form = |entry: Value| {
        let Value::Object(mut entry) = entry else { return entry };
        let original = entry.shift_remove(IMPORTED).and_then(|original| original.as_object().cloned());
        let original = original.unwrap_or_default();
        let before = convert(&original);
        let mut written = original;
        for (key, value) in entry.iter().filter(|(key, value)| before.get(*key) != Some(value)) {
            let theirs = names.iter().find(|(_, ours)| ours == key).map(|(theirs, _)| *theirs);
            let value = match (key.as_str(), value) {
                ("disable", Value::Bool(is_off)) => Value::Bool(!is_off),
                ("key" | "keysecondary", Value::Array(keys)) if application == Application::Risu => {
                    let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
                    keys.join(", ").into()
                }
                (_, value) => value.clone(),
            };
            let theirs = match key.as_str() {
                "disable" => "enabled",
                "keysecondary" => "secondkey",
                key => theirs.unwrap_or(key),
            };
            written.insert(theirs.to_owned(), value);
        }
        Value::Object(written)
    };
    entries.into_iter().map(form).collect()
}
