//! An agent as a chat-completion preset.

use std::collections::{BTreeSet, HashMap};

use ctx_types::{Agent, Diagnostic, Persist as _, Reader};
use serde_json::{Value, json};

use super::prompts::{Entry, Prompts};
use super::scripts::{export_regex_scripts, rules_of};
use super::{imported, put, settings};
use crate::formats::sillytavern::PRESET_RULES;
use crate::formats::sillytavern::arrange::Arrangement;
use crate::formats::sillytavern::card::Card;
use crate::formats::sillytavern::person::{Persona, PersonaPlace};
use crate::formats::sillytavern::preset::{ChatPreset, default_text, is_order_owner};
use crate::formats::sillytavern::processors;
use crate::formats::sillytavern::settings::Settings;
use crate::loose::{Object, object};
use crate::source::SourceNode;

/// The key of a preset's regex scripts, below `extensions`.
const SCRIPTS: &str = "regex_scripts";

/// Writes the preset of an agent as a chat-completion preset, with the order of 100001; returns it with what of the agent
/// it cannot say.
///
/// What it cannot say are warnings with pointers into the agent, up to 1,000, and then one that counts the rest.
///
/// ```
/// use ctx_preset_import::export_preset;
/// use ctx_types::{Agent, Persist, Reader};
///
/// let entry = serde_json::json!({ "id": "main", "content": "Hi.", "modelMatch": { "enabled": true, "patterns": ["gpt"] } });
/// let agent = serde_json::json!({ "presetMessages": [entry, { "type": "chat_history" }] });
/// let (preset, lost) = export_preset(&Agent::read(agent, &mut Reader::new()));
/// assert_eq!(preset["prompts"][0]["content"], "Hi.");
/// assert_eq!(preset["prompt_order"][0]["order"][4]["identifier"], "chatHistory");
/// assert_eq!(lost[0].location.pointer.as_deref(), Some("/presetMessages/0"));
/// ```
pub fn export_preset(agent: &Agent) -> (Value, Vec<Diagnostic>) {
    let mut preset = imported(agent, "preset").unwrap_or_default();
    let is_new = preset.is_empty();
    let now = agent.write();
    let card = imported(agent, "card").map(Value::Object);
    let before = before(&preset, card.as_ref(), &now);
    let mut lost = Vec::new();
    if now.get("presetMessages") != before.get("presetMessages") {
        let persona = persona(&now);
        let earlier = match before.get("dialect") {
            Some(_) => {
                let agent = Agent::read(before.clone(), &mut Reader::new());
                Prompts::of(&agent, has_examples(&before), persona)
            }
            None => Prompts::default(),
        };
        let current = Prompts::of(agent, has_examples(&now), persona);
        write_prompts(&current, &earlier.entries, &mut preset);
        lost = current.lost;
    }
    lost.extend(settings::write(&now, &before, &mut preset));
    rules(agent, &mut preset);
    if is_new {
        ChatPreset::without_default_texts(&mut preset);
    }
    if let Some(more) = lost.len().checked_sub(MOST_LOST).filter(|more| *more > 0) {
        lost.truncate(MOST_LOST);
        lost.push(Diagnostic::more(more, "this agent"));
    }
    (Value::Object(preset), lost)
}

const MOST_LOST: usize = 1_000;

/// Returns what importing the preset gives, with the card that it was imported with.
fn before(preset: &Object, card: Option<&Value>, now: &Value) -> Value {
    if preset.is_empty() {
        return json!({ "presetMessages": [], "parameters": { "processors": [] } });
    }
    let preset = Value::Object(preset.clone());
    let (preset, card, settings) =
        (SourceNode::new(&preset), card.map(SourceNode::new), file(now, "settings"));
    let preset = preset.source();
    let settings = Settings::take(settings.as_ref().map(SourceNode::source).unwrap_or_default());
    let card = card.as_ref().map(|card| Card::new(card.source()));
    let arrangement = Arrangement::new(ChatPreset(preset), card, persona(now), settings.prefers, None);
    Value::Object(processors::agent_fields(&arrangement, &settings))
}

/// Returns an imported file of an agent.
fn file<'v>(agent: &'v Value, kind: &str) -> Option<SourceNode<'v>> {
    let file = agent.get("imported")?.get(kind)?;
    file.is_object().then(|| SourceNode::new(file))
}

/// Returns where the persona goes that was imported beside the preset.
fn persona(now: &Value) -> PersonaPlace {
    let mut files = ["personas", "settings"].into_iter().filter_map(|kind| file(now, kind));
    let found = files.find_map(|file| Persona::take(file.source()));
    found.map(|persona| persona.place).unwrap_or_default()
}

/// Writes the rules that came with the preset as its scripts.
fn rules(agent: &Agent, preset: &mut Object) {
    let Some(rules) = rules_of(agent, PRESET_RULES, "preset") else { return };
    let scripts = export_regex_scripts(rules);
    let mut extensions = object(preset, "extensions").cloned().unwrap_or_default();
    if extensions.get(SCRIPTS) != Some(&scripts) {
        extensions.insert(SCRIPTS.to_owned(), scripts);
        preset.insert("extensions".to_owned(), Value::Object(extensions));
    }
}

/// Writes the prompts of an agent that are not as they were in the preset that it was imported from.
fn write_prompts(current: &Prompts, earlier: &[Entry], preset: &mut Object) {
    let list = preset.get("prompts").and_then(Value::as_array).cloned().unwrap_or_default();
    let entries = &current.entries;
    preset.insert("prompts".to_owned(), Value::Array(written(list, entries, earlier)));
    let order = |all: &[Entry]| -> Vec<(String, bool)> {
        all.iter().map(|entry| (entry.identifier.clone(), entry.is_sent)).collect()
    };
    if order(entries) != order(earlier) {
        write_order(preset, &order(entries));
    }
    let known = earlier.iter().filter_map(Entry::format);
    let known: Vec<_> = known.map(|(key, format, _)| (key, format)).collect();
    for (key, format, marker) in entries.iter().filter_map(Entry::format) {
        // Without a field the macro stands alone.
        let is_needed = preset.contains_key(key) || marker.plain().as_deref() != Some(format.trim());
        if is_needed && !known.contains(&(key, format)) {
            put(preset, key, format.into());
        }
    }
    if let Some(text) = &current.new_chat
        && text != crate::loose::text(preset, NEW_CHAT_PROMPT).unwrap_or(default_text(NEW_CHAT_PROMPT))
    {
        put(preset, NEW_CHAT_PROMPT, text.as_str().into());
    }
}

const NEW_CHAT_PROMPT: &str = "new_chat_prompt";

/// Returns whether examples of dialogue are sent where no anchor says their place.
fn has_examples(agent: &Value) -> bool {
    settings::setting(agent, "dialogue-examples", "omit") != Some(Value::Bool(true))
}

/// Writes the entries that are not as they were over their prompts, and those that have none behind them.
///
/// Of several with one identifier the first counts. O(entries + prompts).
fn written(mut list: Vec<Value>, current: &[Entry], earlier: &[Entry]) -> Vec<Value> {
    let mut known: HashMap<&str, &Option<Object>> = HashMap::new();
    for entry in earlier {
        known.entry(&entry.identifier).or_insert(&entry.fields);
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, prompt) in list.iter().enumerate() {
        if let Some(identifier) = prompt.get("identifier").and_then(Value::as_str) {
            places.entry(identifier.to_owned()).or_insert(place);
        }
    }
    for entry in current.iter().filter(|entry| entry.fields.is_some()) {
        let identifier = &*entry.identifier;
        if known.get(identifier) == Some(&&entry.fields) {
            continue;
        }
        let place = *places.entry(identifier.to_owned()).or_insert_with(|| {
            list.push(json!({ "identifier": identifier }));
            list.len() - 1
        });
        if let Some(prompt) = list.get_mut(place).and_then(Value::as_object_mut) {
            entry.write(prompt);
        }
    }
    list
}

/// Writes the order as that of 100001; what others are there stays.
fn write_order(preset: &mut Object, order: &[(String, bool)]) {
    let mut seen = BTreeSet::new();
    let steps = order.iter().filter(|(identifier, _)| seen.insert(identifier.clone()));
    let steps: Vec<Value> = steps
        .map(|(identifier, is_enabled)| json!({ "identifier": identifier, "enabled": is_enabled }))
        .collect();
    let mut lists = preset.get("prompt_order").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_ours = |list: &&mut Value| list.get("character_id").is_some_and(is_order_owner);
    match lists.iter_mut().find(is_ours) {
        Some(list) => list["order"] = Value::Array(steps),
        None => lists.push(json!({ "character_id": 100_001, "order": steps })),
    }
    preset.insert("prompt_order".to_owned(), Value::Array(lists));
}
