//! An agent as a character card.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist as _, Placement, PresetMessage};
use serde_json::{Map, Value, json};

use super::scripts::{export_regex_scripts, rules_of};
use super::{imported, put, text_at};
use crate::container::png;
use crate::formats::sillytavern::CARD_RULES;
use crate::formats::sillytavern::arrange::AT_DEPTH;
use crate::formats::sillytavern::card::{Card, CardText, TEXTS, mirrors};
use crate::kept;
use crate::loose::{Object, object};
use crate::source::SourceNode;
use crate::worldbook::export_card_book;

/// Writes an agent as a character card of version 2, or of the version that it was imported from.
///
/// `book` becomes the card's own book. What of an agent no card can say, such as the entries of its preset, is not in
/// it: [`export_preset`](crate::export_preset) has those.
///
/// ```
/// use ctx_preset_import::export_card;
/// use ctx_types::Agent;
///
/// let agent = Agent { name: Some("Ada".into()), ..Agent::default() };
/// let card = export_card(&agent, None);
/// assert_eq!((&card["spec"], &card["data"]["name"]), (&"chara_card_v2".into(), &"Ada".into()));
/// ```
pub fn export_card(agent: &Agent, book: Option<&Worldbook>) -> Value {
    let mut card = imported(agent, "card").unwrap_or_else(blank);
    let (now, before) = (agent.write(), as_imported(&card));
    let mirrored = mirrored(&card);
    let fields = match card.get_mut("data") {
        Some(Value::Object(data)) => data,
        _ => &mut card,
    };
    for CardText { key, to, .. } in &TEXTS {
        let text = text_at(&now, to);
        if text != text_at(&before, to) {
            put(fields, key, text.into());
        }
    }
    greetings(&now, &before, fields);
    tags(&now, &before, fields);
    extensions(agent, &now, &before, fields);
    if let Some(book) = book {
        put(fields, "character_book", export_card_book(book));
    }
    for (top, below) in mirrored {
        if let Some(value) = object(&card, "data").and_then(|data| data.get(below)).cloned() {
            put(&mut card, top, value);
        }
    }
    Value::Object(card)
}

/// Writes a card into a PNG, in both chunks that applications read: `chara`, and `ccv3` with the label of version 3.
///
/// A card without `data` (before version 2) is only written to `chara`, because readers of version 3 need `data`. The
/// default picture is one grey pixel. Returns `None` if the picture is not a complete PNG.
///
/// ```
/// use ctx_preset_import::{Importer, SourceFile, export_card_picture};
///
/// let card = serde_json::json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
/// let picture = export_card_picture(&card, None).unwrap();
/// let made = Importer::default().import(&[SourceFile { name: "ada.png", bytes: &picture }]);
/// assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
/// ```
pub fn export_card_picture(card: &Value, picture: Option<&[u8]>) -> Option<Vec<u8>> {
    let plain = card.to_string();
    let labelled =
        card.as_object().filter(|card| card.get("data").is_some_and(Value::is_object)).map(|card| {
            let mut card = card.clone();
            card.insert("spec".to_owned(), json!("chara_card_v3"));
            card.insert("spec_version".to_owned(), json!("3.0"));
            Value::Object(card).to_string()
        });
    let labelled = labelled.as_deref().map(str::as_bytes);
    let texts = [("chara", Some(plain.as_bytes())), ("ccv3", labelled)];
    png::with_texts(picture.unwrap_or(png::BLANK), &texts)
}

/// Returns the name of the worldbook that an agent got from its card; it asks for it by that.
pub fn card_book(agent: &Agent) -> Option<&str> {
    kept::find(&agent.kept, "cardBook")?.as_str()
}

/// What an agent without a card begins with.
fn blank() -> Object {
    let keys = TEXTS.iter().map(|text| text.key).filter(|key| *key != "nickname");
    let mut data: Object = keys.map(|key| (key.to_owned(), Value::from(""))).collect();
    data.insert("alternate_greetings".to_owned(), json!([]));
    data.insert("tags".to_owned(), json!([]));
    data.insert("extensions".to_owned(), json!({}));
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data });
    card.as_object().cloned().unwrap_or_default()
}

/// Returns what importing the card gives.
fn as_imported(card: &Object) -> Value {
    let card = Value::Object(card.clone());
    Value::Object(Card::new(SourceNode::new(&card).source()).take().agent)
}

/// Returns the names of equal fields at the top and in `data`.
fn mirrored(card: &Object) -> Vec<(&'static str, &'static str)> {
    let data = object(card, "data");
    let is_same = |(top, below): &(&str, &str)| {
        data.is_some_and(|data| card.get(*top).is_some_and(|value| data.get(*below) == Some(value)))
    };
    mirrors().map(|(top, below, _)| (top, below)).filter(is_same).collect()
}

fn greetings(now: &Value, before: &Value, fields: &mut Object) {
    if now.get("greetings") == before.get("greetings") {
        return;
    }
    let list = now.get("greetings").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<Value> = list.map(|greeting| text_at(greeting, "/content").into()).collect();
    let mut texts = texts.into_iter();
    put(fields, "first_mes", texts.next().unwrap_or_else(|| "".into()));
    put(fields, "alternate_greetings", Value::Array(texts.collect()));
}

fn tags(now: &Value, before: &Value, fields: &mut Object) {
    if now.get("tags") != before.get("tags") {
        put(fields, "tags", now.get("tags").cloned().unwrap_or_else(|| json!([])));
    }
}

/// The key of a card's note, which is the id of the entry that stands for it, and what that entry says.
const NOTE: &str = AT_DEPTH[0].0;
const NOTE_TEXT: &str = AT_DEPTH[0].1;

/// Has the note of a card say the depth and the role of the entry that stands for it, which are the ones that count.
fn place_note(agent: &Agent, earlier: Option<&Value>, note: &mut Object) {
    let is_note = |entry: &&PresetMessage| {
        entry.id.as_deref() == Some(NOTE)
            && entry.content.as_ref().is_some_and(|content| content.text().trim() == NOTE_TEXT)
    };
    let Some(entry) = agent.preset_messages.iter().find(is_note) else { return };
    let Placement::Depth { points, .. } = Placement::read(entry).0 else { return };
    let Some(depth) = points.as_single() else { return };
    let none = Map::new();
    let earlier = earlier.and_then(Value::as_object).unwrap_or(&none);
    let (was_deep, was_role) = Card::note_place(earlier);
    let role = entry.role.unwrap_or_default().as_str();
    let said = [
        ("depth", depth == u64::try_from(was_deep).unwrap_or(0), depth.into()),
        ("role", role == was_role, role.into()),
    ];
    for (key, is_same, value) in said {
        match (earlier.get(key), is_same) {
            (Some(given), true) => put(note, key, given.clone()),
            (None, true) if !earlier.is_empty() => drop(note.shift_remove(key)),
            _ => put(note, key, value),
        }
    }
}

const SCRIPTS: &str = "regex_scripts";

fn extensions(agent: &Agent, now: &Value, before: &Value, fields: &mut Object) {
    let mut all = object(fields, "extensions").cloned().unwrap_or_default();
    let own = [
        ("/character/depthPrompt", NOTE),
        ("/character/talkativeness", "talkativeness"),
        ("/character/isFavourite", "fav"),
    ];
    let mut is_changed = false;
    for (pointer, key) in own {
        let earlier = before.pointer(pointer);
        let mut value = now.pointer(pointer).cloned();
        if let (NOTE, Some(Value::Object(note))) = (key, &mut value) {
            place_note(agent, earlier, note);
        }
        if value.as_ref() != earlier {
            all.insert(key.to_owned(), value.unwrap_or_default());
            is_changed = true;
        }
    }
    // Some cards have their scripts beside the extensions.
    let is_beside = !all.contains_key(SCRIPTS) && fields.get(SCRIPTS).is_some_and(Value::is_array);
    match rules_of(agent, CARD_RULES, "card").map(export_regex_scripts) {
        Some(scripts) if is_beside => put(fields, SCRIPTS, scripts),
        Some(scripts) if all.get(SCRIPTS) != Some(&scripts) => {
            all.insert(SCRIPTS.to_owned(), scripts);
            is_changed = true;
        }
        _ => {}
    }
    if is_changed {
        fields.insert("extensions".to_owned(), Value::Object(all));
    }
}
