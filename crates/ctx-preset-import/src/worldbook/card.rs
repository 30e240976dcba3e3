//! Books as character cards have them: entries with `keys`.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::pointer_step;
use serde_json::{Map, Value};

use super::Form;
use super::around;
use super::origin::WorldbookOrigin;
use crate::format::Format;
use crate::kept::{self, IMPORTED};

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

/// Tells whether the book of a card has entries, without which there is no book to search.
pub(crate) fn has_entries(book: &Map<String, Value>) -> bool {
    book.get("entries").is_some_and(|entries| entries.is_array() || entries.is_object())
}

/// Brings the book into the unified form; entries are kept beside as they were.
pub(super) fn read(mut book: Map<String, Value>, place: &str, is_v3: bool) -> Form {
    let mut aside = Map::new();
    let is_there = book.contains_key("entries");
    let (theirs, entries): (Vec<String>, Vec<Value>) = match book.get_mut("entries").map(Value::take) {
        Some(Value::Array(entries)) => {
            entries.into_iter().enumerate().map(|(index, entry)| (index.to_string(), entry)).unzip()
        }
        Some(Value::Object(entries)) => {
            aside.insert(around::KEYS.to_owned(), entries.keys().cloned().collect());
            entries.into_iter().unzip()
        }
        Some(other) => {
            aside.insert(around::ENTRIES.to_owned(), other);
            Default::default()
        }
        None => Default::default(),
    };
    let (ours, is_list) = entry_keys(&entries.iter().collect::<Vec<_>>());
    let keys = ours.iter().map(|key| pointer_step(key)).zip(theirs.iter().map(|key| pointer_step(key)));
    let moved = keys.filter(|(ours, theirs)| ours != theirs);
    let moved: BTreeMap<String, String> =
        moved.map(|(ours, theirs)| (ours.into_owned(), theirs.into_owned())).collect();
    if is_there {
        let mut converter = Converter::new(is_v3);
        let entries = entries.into_iter().map(|value| converter.entry(value));
        let entries = match is_list {
            true => Value::Array(entries.collect()),
            false => Value::Object(ours.into_iter().zip(entries).collect()),
        };
        book.insert("entries".to_owned(), entries);
    }
    if is_v3 {
        kept::displace(&mut book, around::DIALECT, &mut aside);
        book.insert(around::DIALECT.to_owned(), Value::from("ccv3"));
    }
    kept::add(&mut book, aside);
    let origin = WorldbookOrigin::new(place, &format!("{place}/entries")).with_names(moved, field);
    Form { format: Format::CardBook, book: Value::Object(book), origin, diagnostics: Vec::new() }
}

/// Returns the entries of a book with the names under which they stand there.
pub(super) fn listed(book: &Map<String, Value>) -> (Vec<String>, Vec<&Value>) {
    match book.get("entries") {
        Some(Value::Array(entries)) => {
            entries.iter().enumerate().map(|(index, entry)| (index.to_string(), entry)).unzip()
        }
        Some(Value::Object(entries)) => entries.iter().map(|(key, entry)| (key.clone(), entry)).unzip(),
        _ => Default::default(),
    }
}

/// Returns the keys under which entries of a card are put: their ids, as applications do. Those that share one stay
/// a list, so that none is lost, under their places; then the other value is true.
pub(super) fn entry_keys(entries: &[&Value]) -> (Vec<String>, bool) {
    let id = |(index, entry): (usize, &&Value)| {
        let name = |entry| {
            let [key, id, uid] = find_each(entry, &["key", "id", "uid"], |name| name);
            if key.is_some() { uid } else { id }
        };
        match entry.as_object().and_then(name) {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => index.to_string(),
        }
    };
    let ids: Vec<String> = entries.iter().enumerate().map(id).collect();
    let is_list = ids.iter().collect::<BTreeSet<_>>().len() < ids.len();
    match is_list {
        true => ((0..entries.len()).map(|index| index.to_string()).collect(), true),
        false => (ids, false),
    }
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

/// What else counts in an entry.
const OTHERS: [&str; 8] =
    ["comment", "name", "constant", "selective", "enabled", "case_sensitive", "position", "extensions"];

/// Brings entries of one book into the unified form.
pub(crate) struct Converter {
    is_v3: bool,
    /// The form that the last entry got.
    last: Option<Shape>,
}

/// An entry in the unified form without its values: applications write the same fields in each, and to copy a map costs
/// less than to make another one.
struct Shape {
    /// Which of the fields are there, a bit for each.
    fields: u64,
    map: Map<String, Value>,
}

/// How many places for fields an entry has: those of cards and their extensions, four more, and a second one for two.
const FIELDS: usize = CARD_FIELDS.len() + CARD_EXTENSIONS.len() + 6;

// Each has a bit.
const _: () = assert!(FIELDS <= u64::BITS as usize);

/// The fields of an entry in the unified form, in their order, with the values of those that are there.
struct Fields<'v> {
    all: [(&'static str, Option<&'v Value>); FIELDS],
    count: usize,
}

impl<'v> Fields<'v> {
    fn push(&mut self, name: &'static str, value: Option<&'v Value>) {
        debug_assert!(self.count < FIELDS, "each field has a place");
        if let Some(place) = self.all.get_mut(self.count) {
            *place = (name, value);
            self.count += 1;
        }
    }

    fn of_those_there(&self) -> impl Iterator<Item = (usize, &'static str, &'v Value)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(at, (name, value))| value.map(|value| (at, *name, value)))
    }
}

impl Converter {
    /// Converts entries of a book; `is_v3` if version 3 says so.
    pub(crate) fn new(is_v3: bool) -> Self {
        Self { is_v3, last: None }
    }

    /// Brings an entry into the unified form, with what it was beside, where the text is null: it stands once.
    pub(crate) fn entry(&mut self, value: Value) -> Value {
        let Value::Object(mut map) = value else { return value };
        // A file that several applications wrote may have both forms side by side.
        if map.contains_key("key") {
            let mut entry = map.clone();
            entry.insert(IMPORTED.to_owned(), Value::Object(map));
            return Value::Object(entry);
        }
        let content = map.get_mut("content").filter(|content| content.is_string()).map(Value::take);
        let mut entry = self.unified(&map);
        if let (Some(place), Some(content)) = (entry.get_mut("content"), content) {
            *place = content;
        }
        if let Some(original) = entry.get_mut(IMPORTED) {
            *original = Value::Object(map);
        }
        Value::Object(entry)
    }

    /// Makes the unified form of an entry, where what it is made of has its place.
    fn unified(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let [comment, name, constant, selective, enabled, case_sensitive, place, extensions] =
            find_each(map, &OTHERS, |name| name);
        let none = Map::new();
        let extensions = extensions.and_then(Value::as_object).unwrap_or(&none);
        let has_title = comment.is_some_and(|comment| !is_blank(comment));
        let title = if has_title { None } else { name };
        let is_off = enabled.and_then(Value::as_bool).map(|enabled| Value::Bool(!enabled));
        let has_case = extensions.get("case_sensitive").is_some_and(|case| !case.is_null());
        let case = case_sensitive.filter(|_| self.is_v3 && !has_case);
        let is_before = place.and_then(Value::as_str) == Some("before_char");
        let position = extensions.get("position").filter(|position| !position.is_null());
        let otherwise = Value::from(u8::from(!is_before));

        let mut fields = Fields { all: [("", None); FIELDS], count: 0 };
        let (mut is_titled, mut is_cased) = (false, false);
        for ((_, to), found) in CARD_FIELDS.iter().zip(find_each(map, &CARD_FIELDS, |(theirs, _)| theirs)) {
            let is_title = *to == "comment" && found.is_some();
            is_titled |= is_title;
            fields.push(to, found.map(|found| title.filter(|_| is_title).unwrap_or(found)));
        }
        fields.push("comment", title.filter(|_| !is_titled));
        fields.push("constant", constant);
        fields.push("selective", selective.or(Some(&Value::Bool(false))));
        fields.push("disable", is_off.as_ref());
        let extended = find_each(extensions, &CARD_EXTENSIONS, |(theirs, _)| theirs);
        for ((_, to), found) in CARD_EXTENSIONS.iter().zip(extended) {
            let is_case = *to == "caseSensitive" && found.is_some();
            is_cased |= is_case;
            fields.push(to, found.map(|found| case.filter(|_| is_case).unwrap_or(found)));
        }
        fields.push("caseSensitive", case.filter(|_| !is_cased));
        fields.push("position", Some(position.unwrap_or(&otherwise)));
        self.shaped(&fields)
    }

    /// Makes a map of fields and of a place for what they are made of.
    fn shaped(&mut self, fields: &Fields<'_>) -> Map<String, Value> {
        let there = fields.of_those_there().map(|(at, ..)| 1 << at).sum();
        let shape = self.last.take().filter(|last| last.fields == there).unwrap_or_else(|| {
            let names = fields.of_those_there().map(|(_, name, _)| name).chain([IMPORTED]);
            Shape { fields: there, map: names.map(|name| (name.to_owned(), Value::Null)).collect() }
        });
        let mut entry = shape.map.clone();
        for (place, (.., value)) in entry.values_mut().zip(fields.of_those_there()) {
            *place = value.clone();
        }
        self.last = Some(shape);
        entry
    }
}

/// Finds the values of fields. O(keys) where they stand in nearly this order, as applications write them.
pub(super) fn find_each<'v, T, const N: usize>(
    map: &'v Map<String, Value>,
    fields: &[T; N],
    name: impl Fn(&T) -> &str,
) -> [Option<&'v Value>; N] {
    let mut found = [None; N];
    let mut next = 0;
    for (key, value) in map {
        let is_next = fields.get(next).is_some_and(|field| name(field) == key);
        let at = if is_next { Some(next) } else { fields.iter().position(|field| name(field) == key) };
        if let Some(at) = at {
            found[at] = Some(value);
            next = at + 1;
        }
    }
    found
}

pub(super) fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
