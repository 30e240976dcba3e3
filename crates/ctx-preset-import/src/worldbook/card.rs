//! Books as character cards have them: entries with `keys`.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::pointer_step;
use serde_json::{Map, Value};

use super::fields::Kind::{
    Any, Number, QuickReply, Scalar, Shown, Switch, Switched, Text, Texts, Title, Triggers,
};
use super::fields::{EntryField, row};
use super::origin::WorldbookOrigin;
use super::{Form, around, world_info};
use crate::format::Format;
use crate::kept::{self, IMPORTED};
use crate::loose::{Object, object, text};
use crate::source::Source;

/// Finds the book of a card or of a standalone lorebook: where it stands, and whether version 3 says so.
pub(super) fn find(map: &Object) -> Option<(&'static str, bool)> {
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
pub(super) fn is_card_book(map: &Object) -> bool {
    let is_card = |entry: &Value| entry.get("keys").is_some() && entry.get("key").is_none();
    match map.get("entries") {
        Some(Value::Array(entries)) => entries.iter().any(is_card),
        Some(Value::Object(entries)) => entries.values().any(is_card),
        _ => false,
    }
}

/// Takes the fields of the book of a card, which is at a pointer of its document.
pub(crate) fn take(book: Source<'_>, place: &str, pointer: &str, is_v3: bool) -> Form {
    let book = book.lead_to(place).keep_at(place);
    book.any().equivalent("empty").into("");
    for field in ["name", "description"] {
        book.at(field).text().into(field);
    }
    for field in ["scan_depth", "token_budget"] {
        book.at(field).number().into(field);
    }
    book.at("recursive_scanning").switch().into("/recursive_scanning");
    let list = book.at("entries").with_names();
    list.list().into("/entries");
    let entries: Vec<Source<'_>> = list.children().collect();
    let (ours, is_list) = entry_keys(&entries);
    let mut aside = Map::new();
    let theirs: Vec<String> = match list.value() {
        Some(Value::Object(entries)) => {
            aside.insert(around::KEYS.to_owned(), entries.keys().cloned().collect());
            entries.keys().cloned().collect()
        }
        Some(other) if !other.is_array() => {
            aside.insert(around::ENTRIES.to_owned(), other.clone());
            Vec::new()
        }
        _ => (0..entries.len()).map(|index| index.to_string()).collect(),
    };
    let keys = ours.iter().map(|key| pointer_step(key)).zip(theirs.iter().map(|key| pointer_step(key)));
    let moved = keys.filter(|(ours, theirs)| ours != theirs);
    let moved: BTreeMap<String, String> =
        moved.map(|(ours, theirs)| (ours.into_owned(), theirs.into_owned())).collect();
    let place = format!("{place}/entries/*");
    let entries = entries.into_iter().map(|entry| match entry.object() {
        Some(_) => unified(entry.lead_to(&*place).keep_at(format!("{place}/{IMPORTED}")), is_v3),
        None => entry.keep_at(&*place).value().cloned().unwrap_or_default(),
    });
    let entries = if is_list {
        Value::Array(entries.collect())
    } else {
        Value::Object(ours.into_iter().zip(entries).collect())
    };
    let mut map = book.object().cloned().unwrap_or_default();
    if let Some(given) = map.get_mut("entries") {
        *given = entries;
    }
    if is_v3 {
        kept::displace(&mut map, around::DIALECT, &mut aside);
        map.insert(around::DIALECT.to_owned(), Value::from("ccv3"));
    }
    kept::add(&mut map, aside);
    let origin = WorldbookOrigin::new(pointer, &format!("{pointer}/entries")).with_names(moved, &CARD);
    Form { format: Format::CardBook, book: Value::Object(map), origin, diagnostics: Vec::new() }
}

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

/// The fields of an entry, without its position. SillyTavern has its own fields below `extensions`.
pub(crate) static CARD: [EntryField; 40] = [
    row("id", "uid", Scalar),
    row("keys", "key", Texts),
    row("secondary_keys", "keysecondary", Texts),
    row("comment", "comment", Text),
    row("content", "content", Text),
    row("insertion_order", "order", Number),
    row("name", "comment", Title),
    row("constant", "constant", Switch),
    row("selective", "selective", Switch),
    row("enabled", "disable", Switched),
    row("extensions/exclude_recursion", "excludeRecursion", Any),
    row("extensions/prevent_recursion", "preventRecursion", Any),
    row("extensions/delay_until_recursion", "delayUntilRecursion", Any),
    row("extensions/probability", "probability", Any),
    row("extensions/useProbability", "useProbability", Any),
    row("extensions/depth", "depth", Any),
    row("extensions/selectiveLogic", "selectiveLogic", Any),
    row("extensions/outlet_name", "outletName", Any),
    row("extensions/group", "group", Any),
    row("extensions/group_override", "groupOverride", Any),
    row("extensions/group_weight", "groupWeight", Any),
    row("extensions/scan_depth", "scanDepth", Any),
    row("extensions/case_sensitive", "caseSensitive", Any),
    row("extensions/match_whole_words", "matchWholeWords", Any),
    row("extensions/use_group_scoring", "useGroupScoring", Any),
    row("extensions/automation_id", "automationId", QuickReply),
    row("extensions/role", "role", Any),
    row("extensions/vectorized", "vectorized", Any),
    row("extensions/sticky", "sticky", Any),
    row("extensions/cooldown", "cooldown", Any),
    row("extensions/delay", "delay", Any),
    row("extensions/match_persona_description", "matchPersonaDescription", Any),
    row("extensions/match_character_description", "matchCharacterDescription", Any),
    row("extensions/match_character_personality", "matchCharacterPersonality", Any),
    row("extensions/match_character_depth_prompt", "matchCharacterDepthPrompt", Any),
    row("extensions/match_scenario", "matchScenario", Any),
    row("extensions/match_creator_notes", "matchCreatorNotes", Any),
    row("extensions/triggers", "triggers", Triggers),
    row("extensions/ignore_budget", "ignoreBudget", Any),
    row("extensions/display_index", "displayIndex", Shown),
];

const USE_REGEX: &str = "a key written as /…/ is always a regular expression";

/// Brings an entry into the unified form, with the original next to it. The text is in the unified form only; it is
/// null in the original. An entry that also has our own form does not change.
pub(super) fn unified(entry: Source<'_>, is_v3: bool) -> Value {
    let mut original = entry.object().cloned().unwrap_or_default();
    if entry.at("key").value().is_some() {
        world_info::take_entry(entry);
        let mut unified = original.clone();
        unified.insert(IMPORTED.to_owned(), Value::Object(original));
        return Value::Object(unified);
    }
    let mut unified = Object::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            unified.entry(key).or_insert(value);
        }
    };
    let (title, case) = (take_title(entry), take_case(entry, is_v3));
    for &EntryField { theirs, ours, kind } in &CARD {
        let field = entry.at(theirs);
        let value = match theirs {
            "comment" if title.is_some() => {
                field.keep("empty; the name becomes the title");
                field.value().and(title).cloned()
            }
            "name" => title.cloned(),
            "selective" => kind.take(field, ours).or(Some(Value::Bool(false))),
            "extensions/case_sensitive" => kind.take(field, ours).map(|own| case.cloned().unwrap_or(own)),
            _ => kind.take(field, ours),
        };
        put(ours, value);
    }
    entry.at("use_regex").flag().approximated(USE_REGEX).into("/key");
    entry.at("priority").keep("not used for sorting");
    put("caseSensitive", case.cloned());
    put("position", Some(take_position(entry)));
    if let Some(content) = original.get_mut("content").filter(|content| content.is_string()) {
        *content = Value::Null;
    }
    put(IMPORTED, Some(Value::Object(original)));
    Value::Object(unified)
}

/// Takes the name of an entry where its comment is blank.
fn take_title(entry: Source<'_>) -> Option<&Value> {
    let (comment, name) = (entry.at("comment"), entry.at("name"));
    if comment.value().is_some_and(|comment| !is_blank(comment)) {
        name.keep("the comment becomes the title");
        return None;
    }
    name.text().into("/comment");
    name.value()
}

/// Takes `case_sensitive` of version 3, unless the extensions set it.
fn take_case(entry: Source<'_>, is_v3: bool) -> Option<&Value> {
    let case = entry.at("case_sensitive");
    if is_v3 && entry.at("extensions/case_sensitive").filled().value().is_none() {
        case.flag().into("/caseSensitive");
        return case.value();
    }
    case.keep("the value in `extensions` is used");
    None
}

fn take_position(entry: Source<'_>) -> Value {
    let (place, extended) = (entry.at("position"), entry.at("extensions/position"));
    if let Some(position) = extended.filled().value() {
        extended.any().into("/position");
        place.keep("the position in `extensions` applies");
        return position.clone();
    }
    extended.keep("empty");
    place.named(&["before_char", "after_char"]).into("/position");
    Value::from(u8::from(place.as_str() != Some("before_char")))
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
