//! Books as character cards have them: entries with `keys`.

mod entry;

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::pointer_step;
use serde_json::{Map, Value};

use super::origin::WorldbookOrigin;
use super::{Form, around};
use crate::format::Format;
use crate::kept;
use crate::loose::{object, text};
use crate::source::Source;
use entry::{completed, field, unified};

pub(crate) use entry::{CARD_EXTENSIONS, CARD_FIELDS, converted};
pub(super) use entry::{EDITOR, QUICK_REPLIES};

/// Finds the book of a card or of a standalone lorebook: where it stands, and whether version 3 says so.
pub(super) fn find(map: &Map<String, Value>) -> Option<(&'static str, bool)> {
    let spec = text(map, "spec").unwrap_or_default();
    let (is_lorebook, is_card) = (spec == "lorebook_v3", spec == "chara_card_v3");
    let is_v3 = is_lorebook || is_card;
    let Some(data) = object(map, "data") else {
        return object(map, "character_book").map(|_| ("character_book", is_v3));
    };
    if object(data, "character_book").is_some() {
        return Some(("data/character_book", is_v3));
    }
    let is_book = is_lorebook || data.get("entries").is_some_and(Value::is_array);
    is_book.then_some(("data", is_v3))
}

/// Returns whether the entries of a book are those of a card.
pub(super) fn is_card_book(map: &Map<String, Value>) -> bool {
    let is_card = |entry: &Value| entry.get("keys").is_some() && entry.get("key").is_none();
    match map.get("entries") {
        Some(Value::Array(entries)) => entries.iter().any(is_card),
        Some(Value::Object(entries)) => entries.values().any(is_card),
        _ => false,
    }
}

/// Returns whether the book of a card has entries, without which there is no book to search.
pub(crate) fn has_entries(book: &Map<String, Value>) -> bool {
    book.get("entries").is_some_and(|entries| entries.is_array() || entries.is_object())
}

/// What is made of the book of a card, but for what moves out of its document.
pub(super) struct CardBook {
    /// The entries in the unified form; none for those that move as they are.
    entries: Vec<Option<Map<String, Value>>>,
    /// The keys under which they are put.
    keys: Vec<String>,
    /// Whether they stay a list.
    is_list: bool,
    is_v3: bool,
}

impl CardBook {
    /// Takes the fields of a book that goes to a place; `is_v3` if version 3 says so.
    pub(super) fn take(book: Source<'_>, place: &str, is_v3: bool) -> Self {
        let book = book.lead_to(place).keep_at(place);
        book.any().equivalent("empty").into("");
        for field in ["name", "description"] {
            book.at(field).text().into(field);
        }
        for field in ["scan_depth", "token_budget"] {
            book.at(field).number().into(field);
        }
        book.at("recursive_scanning").switch().into("/recursive_scanning");
        book.at("entries").list().into("/entries");
        let entries: Vec<Source<'_>> = book.at("entries").with_names().children().collect();
        let (keys, is_list) = entry_keys(&entries);
        let place = format!("{place}/entries/*");
        let take = |entry: Source<'_>| {
            if entry.object().is_none() {
                entry.keep_at(&*place);
                return None;
            }
            unified(entry.lead_to(&*place).keep_at(format!("{place}{ORIGINAL}")), is_v3)
        };
        Self { entries: entries.into_iter().map(take).collect(), keys, is_list, is_v3 }
    }

    /// Puts what moves out of its document, where the book stands at a pointer, into the unified form.
    pub(super) fn finish(self, mut book: Map<String, Value>, place: &str) -> Form {
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
        let ours = self.keys;
        let keys = ours.iter().map(|key| pointer_step(key)).zip(theirs.iter().map(|key| pointer_step(key)));
        let moved = keys.filter(|(ours, theirs)| ours != theirs);
        let moved: BTreeMap<String, String> =
            moved.map(|(ours, theirs)| (ours.into_owned(), theirs.into_owned())).collect();
        if is_there {
            let entries =
                self.entries.into_iter().zip(entries).map(|(unified, entry)| completed(unified, entry));
            let entries = if self.is_list {
                Value::Array(entries.collect())
            } else {
                Value::Object(ours.into_iter().zip(entries).collect())
            };
            book.insert("entries".to_owned(), entries);
        }
        if self.is_v3 {
            kept::displace(&mut book, around::DIALECT, &mut aside);
            book.insert(around::DIALECT.to_owned(), Value::from("ccv3"));
        }
        kept::add(&mut book, aside);
        let origin = WorldbookOrigin::new(place, &format!("{place}/entries")).with_names(moved, field);
        Form { format: Format::CardBook, book: Value::Object(book), origin, diagnostics: Vec::new() }
    }
}

/// Where an entry has the one that it was made of.
const ORIGINAL: &str = "/imported";

/// Returns the keys under which entries of a card are put: their ids, as applications do. Those that share one stay
/// a list, so that none is lost, under their places; then the other value is true.
fn entry_keys(entries: &[Source<'_>]) -> (Vec<String>, bool) {
    let id = |(index, entry): (usize, &Source<'_>)| {
        let has_key = entry.at("key").value().is_some();
        match entry.at(if has_key { "uid" } else { "id" }).value() {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => index.to_string(),
        }
    };
    let ids: Vec<String> = entries.iter().enumerate().map(id).collect();
    let is_list = ids.iter().collect::<BTreeSet<_>>().len() < ids.len();
    if is_list { ((0..entries.len()).map(|index| index.to_string()).collect(), true) } else { (ids, false) }
}
