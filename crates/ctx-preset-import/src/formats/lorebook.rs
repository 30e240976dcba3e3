//! Lorebooks of applications whose entries have fields of their own: `NovelAI`, Agnai and `RisuAI`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use ctx_types::worldbook::KeyList;
use ctx_types::{Diagnostic, phrase};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::format::Format;
use crate::kept::IMPORTED;
use crate::loose::{Object, text};
use crate::source::{Source, SourceNode};
use crate::worldbook::fields::{EntryField, Kind, row};
use crate::worldbook::{Form, WorldbookOrigin, around};

/// How an application writes its lorebooks.
pub(crate) struct Lorebook {
    /// Returns whether a file is one.
    is_it: fn(&Object) -> bool,
    /// The field that has the entries.
    entries: &'static str,
    pub(crate) fields: &'static [EntryField],
    /// The dialect of the book, unless it is SillyTavern's.
    dialect: Option<&'static str>,
}

pub(crate) const NOVELAI: Lorebook = Lorebook {
    is_it: |file| file.contains_key("lorebookVersion"),
    entries: "entries",
    fields: &[
        row("keys", "key", Kind::Texts),
        row("text", "content", Kind::Text),
        row("displayName", "comment", Kind::Text),
        row("forceActivation", "constant", Kind::Switch),
        row("contextConfig/budgetPriority", "order", Kind::Number),
        row("enabled", "disable", Kind::Switched),
        row("secondkey", "keysecondary", Kind::Unread),
    ],
    dialect: None,
};

pub(crate) const AGNAI: Lorebook = Lorebook {
    is_it: |file| text(file, "kind") == Some("memory"),
    entries: "entries",
    fields: &[
        row("keywords", "key", Kind::Texts),
        row("entry", "content", Kind::Text),
        row("name", "comment", Kind::Text),
        row("weight", "order", Kind::Number),
        row("enabled", "disable", Kind::Switched),
        row("secondkey", "keysecondary", Kind::Unread),
    ],
    dialect: None,
};

pub(crate) const RISU: Lorebook = Lorebook {
    is_it: |file| text(file, "type") == Some("risu"),
    entries: "data",
    fields: &[
        row("content", "content", Kind::Decorated),
        row("comment", "comment", Kind::Text),
        row("alwaysActive", "constant", Kind::Switch),
        row("selective", "selective", Kind::Switch),
        row("insertorder", "order", Kind::Number),
        row("activationPercent", "probability", Kind::Number),
        row("key", "key", Kind::Divided),
        row("secondkey", "keysecondary", Kind::Divided),
        row("enabled", "disable", Kind::Unread),
    ],
    dialect: Some("risuai"),
};

impl Lorebook {
    /// Returns how a file is written, if it is a lorebook of one of these applications.
    pub(crate) fn of(file: &Object) -> Option<&'static Self> {
        [&NOVELAI, &AGNAI, &RISU].into_iter().find(|lorebook| (lorebook.is_it)(file))
    }

    /// Returns an entry under the names that its fields have here, and itself beside them.
    fn entry(&self, entry: Source<'_>) -> Value {
        let mut converted = Map::new();
        for &EntryField { theirs, ours, kind } in self.fields {
            let field = entry.at(theirs);
            let read = kind.take(field, ours);
            let text = || field.as_str().map(|text| (text, has_regexes(entry)));
            let value = match kind {
                Kind::Divided => {
                    text().and_then(|(keys, has_regexes)| Some(keys_of(keys, has_regexes)?.into()))
                }
                Kind::Decorated => text().map(|(text, has_regexes)| decorated(text, has_regexes).into()),
                _ => None,
            };
            converted.extend(value.or(read).map(|value| (ours.to_owned(), value)));
        }
        if entry.at("mode").as_str() == Some(CHILD) {
            entry.at("mode").keep("the entry repeats the text of another one, unless that is active");
        }
        converted.insert(IMPORTED.to_owned(), entry.value().cloned().unwrap_or_default());
        Value::Object(converted)
    }

    /// Writes the entries of a book over those that it came from.
    pub(crate) fn write(&self, file: &mut Object, entries: Vec<Value>) {
        let before = entries.iter().map(|entry| {
            let original = entry.get(IMPORTED).filter(|original| original.is_object());
            self.entry(SourceNode::new(original.unwrap_or(&json!({}))).source())
        });
        let mut before: Vec<Value> = before.collect();
        link_children(&mut before);
        let entries = entries.into_iter().zip(before).map(|(entry, before)| match entry {
            Value::Object(entry) => self.written(entry, &before),
            other => other,
        });
        file.insert(self.entries.to_owned(), entries.collect());
    }

    /// Writes the fields of an entry that changed since it was read.
    fn written(&self, mut entry: Object, before: &Value) -> Value {
        let original = entry.shift_remove(IMPORTED).filter(Value::is_object);
        let mut written = original.unwrap_or_else(|| json!({}));
        for (ours, value) in entry.iter().filter(|(key, value)| before.get(key.as_str()) != Some(value)) {
            let known = self.fields.iter().find(|known| known.ours == ours);
            let value = match value {
                Value::Bool(is_off) if ours == "disable" => Value::Bool(!is_off),
                Value::Array(keys) if known.is_some_and(|known| known.kind == Kind::Divided) => {
                    keys.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ").into()
                }
                value => value.clone(),
            };
            put(&mut written, known.map_or(ours.as_str(), |known| known.theirs), value);
        }
        written
    }
}

/// Puts a value where a field has it, in objects that are made where there are none.
fn put(written: &mut Value, path: &str, value: Value) {
    let Some(object) = written.as_object_mut() else { return };
    match path.split_once('/') {
        Some((step, below)) => put(object.entry(step).or_insert_with(|| json!({})), below, value),
        None => drop(object.insert(path.to_owned(), value)),
    }
}

/// The `mode` of an entry of `RisuAI` that repeats the text of another one.
pub(super) const CHILD: &str = "child";

/// Returns whether the keys of an entry of `RisuAI` are regular expressions.
fn has_regexes(entry: Source<'_>) -> bool {
    entry.at("useRegex").flag().into("key") == Some(true)
}

/// Divides keys of `RisuAI`, and writes them as a worldbook reads them, unless there are more than it reads.
///
/// A text that looks like a regular expression becomes an expression that matches this text.
fn keys_of(keys: &str, has_regexes: bool) -> Option<Vec<String>> {
    if keys.matches(',').count() >= KeyList::MAX_IN_TEXT {
        return None;
    }
    if has_regexes {
        return Some(patterns(keys));
    }
    let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
    Some(keys.map(|key| if is_pattern(key) { as_pattern(key) } else { key.to_owned() }).collect())
}

/// Writes the keys of decorators above a text as a worldbook reads them: `useRegex` decides about them too.
fn decorated(text: &str, has_regexes: bool) -> String {
    /// An expression that matches nothing.
    const NEVER: &str = "/(?!)/";
    let mut is_above = true;
    let lines = text.split_inclusive('\n').map(|line| {
        is_above &= line.starts_with("@@");
        let (name, keys) = line.split_once(' ').filter(|_| is_above).unwrap_or_default();
        if !matches!(name.trim_start_matches('@'), "additional_keys" | "exclude_keys") {
            return Cow::Borrowed(line);
        }
        let written = keys_of(keys.trim(), has_regexes);
        let Some(written) = written.filter(|_| !keys.trim().is_empty()) else { return Cow::Borrowed(line) };
        // A text that begins like an expression could end in a later key.
        let written = written.into_iter().map(|key| {
            let is_unclear = !has_regexes && key.starts_with('/') && !is_pattern(&key);
            if is_unclear { as_pattern(&key) } else { key }
        });
        let written: Vec<String> = written.collect();
        let written = if written.is_empty() { NEVER.to_owned() } else { written.join(", ") };
        let end = if line.ends_with('\n') { "\n" } else { "" };
        Cow::Owned(format!("{name} {written}{end}"))
    });
    lines.collect()
}

/// Writes an expression that matches a text.
fn as_pattern(key: &str) -> String {
    format!("/{}/i", ctx_regex::escape(key))
}

/// Divides regular expressions in one text: at commas between two of them. A key without slashes never matches.
fn patterns(keys: &str) -> Vec<String> {
    let mut patterns: Vec<String> = Vec::new();
    for piece in keys.split(',') {
        let is_open =
            patterns.last().is_some_and(|last| last.trim_start().starts_with('/') && !is_pattern(last));
        match patterns.last_mut().filter(|_| is_open) {
            Some(pattern) => {
                pattern.push(',');
                pattern.push_str(piece);
            }
            None => patterns.push(piece.to_owned()),
        }
    }
    let patterns = patterns.iter().map(|pattern| pattern.trim()).filter(|pattern| is_pattern(pattern));
    patterns.map(str::to_owned).collect()
}

/// Returns whether a text is `/pattern/flags`.
fn is_pattern(text: &str) -> bool {
    let rest = text.trim().strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    rest.is_some_and(|(_, flags)| flags.bytes().all(|flag| flag.is_ascii_alphabetic()))
}

/// Reads a lorebook of one of these applications, which goes to a place; none if it is none.
pub(crate) fn read(file: Source<'_>, place: &str) -> Option<Form> {
    let map = file.object()?;
    let lorebook = Lorebook::of(map)?;
    let list = file.at(lorebook.entries);
    list.value().filter(|list| list.is_array())?;
    let file = file.lead_to(place).keep_at(format!("{place}/imported/file"));
    list.list().into("/entries");
    let mut rest = map.clone();
    rest.shift_remove(lorebook.entries);
    file.at("name").text().into("/name");
    for (_, item) in list.items() {
        let place = format!("{place}/entries/*");
        match item.object() {
            Some(_) => item.keep_at(format!("{place}/imported")).lead_to(place),
            None => item.keep_at(place),
        };
    }
    Some(form(lorebook, list, rest))
}

/// Makes a book of the entries of a list, and of the other fields of its file.
pub(super) fn form(lorebook: &'static Lorebook, list: Source<'_>, rest: Object) -> Form {
    let entries = list.items().map(|(_, item)| match item.object() {
        Some(_) => lorebook.entry(item),
        None => item.value().cloned().unwrap_or_default(),
    });
    let mut entries: Vec<Value> = entries.collect();
    let unlinked = link_children(&mut entries);
    let mut book = Map::new();
    book.extend(rest.get("name").map(|name| ("name".to_owned(), name.clone())));
    book.insert("entries".to_owned(), entries.into());
    book.extend(lorebook.dialect.map(|dialect| (around::DIALECT.to_owned(), dialect.into())));
    let rest = Map::from_iter([(around::FILE.to_owned(), Value::Object(rest))]);
    book.insert(IMPORTED.to_owned(), Value::Object(rest));
    let origin = WorldbookOrigin::new("", &format!("/{}", lorebook.entries));
    let origin = origin.with_names(BTreeMap::new(), lorebook.fields);
    let diagnostics = unlinked_children(unlinked).into_iter().collect();
    Form { format: Format::OtherLorebook, book: Value::Object(book), origin, diagnostics }
}

/// Maximum size of the texts that child entries of a book repeat, in bytes.
const MAX_REPEATED: usize = 8 << 20;

/// Links each child entry of `RisuAI` with the first earlier entry of its id. Returns the number of other children.
///
/// A child has the text of that entry and is active unless that entry is: both are in one inclusion group, which
/// that entry wins. A child is disabled if there is no such entry, if it has no key, or above [`MAX_REPEATED`].
fn link_children(entries: &mut [Value]) -> usize {
    let mut first_of_id: HashMap<String, usize> = HashMap::new();
    let (mut unlinked, mut repeated) = (0, 0);
    for index in 0..entries.len() {
        let original = |key: &str| entries[index].get(IMPORTED)?.get(key).cloned();
        let id = original("id").and_then(|id| Some(id.as_str()?.to_owned()));
        let is_child = original("mode").is_some_and(|mode| mode == CHILD);
        let parent = id.as_ref().and_then(|id| first_of_id.get(id).copied());
        if let Some(id) = id {
            first_of_id.entry(id).or_insert(index);
        }
        if !is_child {
            continue;
        }
        let has_key = original("key").is_some_and(|key| key.as_str().is_some_and(|key| !key.is_empty()));
        let is_searched = has_key || original("alwaysActive") == Some(Value::Bool(true));
        let size = |parent: usize| {
            let text = |key: &str| entries[parent].get(key).and_then(Value::as_str).map_or(0, str::len);
            text("content") + text("comment")
        };
        repeated += parent.filter(|_| is_searched).map_or(0, size);
        let Some(parent) = parent.filter(|_| is_searched && repeated <= MAX_REPEATED) else {
            entries[index]["disable"] = true.into();
            unlinked += 1;
            continue;
        };
        let group = format!("risuai-{parent}");
        for key in ["content", "comment"] {
            entries[index][key] = entries[parent].get(key).cloned().unwrap_or_else(|| "".into());
        }
        entries[index]["constant"] = true.into();
        entries[index]["group"] = group.as_str().into();
        entries[parent]["group"] = group.into();
        entries[parent]["groupOverride"] = true.into();
    }
    unlinked
}

/// Reports child entries that repeat no entry. They are disabled.
fn unlinked_children(count: usize) -> Option<Diagnostic> {
    let message = match count {
        1 => phrase!("1 linked entry of RisuAI is disabled"),
        _ => phrase!("{count} linked entries of RisuAI are disabled", count),
    };
    let found = Diagnostic::info(codes::LINKED_ENTRY, message);
    (count > 0).then(|| found.with_help(phrase!("to use one, copy the text of the entry that it repeats")))
}
