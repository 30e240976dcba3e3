//! An agent as a chat-completion preset.

use std::collections::BTreeSet;

use ctx_types::{Agent, Persist as _};
use serde_json::{Map, Value, json};

use super::{imported, put, text_at};
use crate::loose::{Object, flag, text};
use crate::sillytavern::arrange::{Arrangement, MARKERS, Marker, Preferences, marker};
use crate::sillytavern::card::Card;
use crate::sillytavern::parameters::{self, SAMPLERS};
use crate::sillytavern::person::PersonaPlace;
use crate::sillytavern::preset::ChatPreset;
use crate::sillytavern::processors::{self, Wanted};

/// The texts that are settings of processors: the processor, the setting, and the field of a preset.
const SETTINGS: [(&str, &str, &str); 6] = [
    ("dialogue-examples", "header", "new_example_chat_prompt"),
    ("generation-prompt", "continue", "continue_nudge_prompt"),
    ("generation-prompt", "impersonate", "impersonation_prompt"),
    ("generation-prompt", "sendIfEmpty", "send_if_empty"),
    ("generation-prompt", "prefill", "assistant_prefill"),
    ("worldbook-processor", "anchorFormat", "wi_format"),
];

/// The entries that no prompt stands for.
const OWN: [&str; 5] = ["before_main", "author_note", "new_chat", "depth_prompt", "persona_at_depth"];

/// Writes the preset of an agent as a chat-completion preset, with the order of 100001.
///
/// ```
/// use ctx_preset_import::export_preset;
/// use ctx_types::{Agent, Persist, Reader};
///
/// let agent = serde_json::json!({ "presetMessages": [{ "id": "main", "content": "Hi." }, { "type": "chat_history" }] });
/// let preset = export_preset(&Agent::read(agent, &mut Reader::new()));
/// assert_eq!(preset["prompts"][0]["content"], "Hi.");
/// assert_eq!(preset["prompt_order"][0]["order"][1]["identifier"], "chatHistory");
/// ```
pub fn export_preset(agent: &Agent) -> Value {
    let mut preset = imported(agent, "preset").unwrap_or_default();
    let card = imported(agent, "card");
    let now = agent.write();
    let before = before(&preset, card.as_ref(), &now);
    prompts(&now, &before, &mut preset);
    settings(&now, &before, &mut preset);
    Value::Object(preset)
}

/// Returns what importing the preset gives, with the card that it was imported with.
fn before(preset: &Object, card: Option<&Object>, now: &Value) -> Value {
    if preset.is_empty() {
        return json!({ "presetMessages": [], "parameters": { "processors": [] } });
    }
    let none = Map::new();
    let settings = now.pointer("/imported/settings").and_then(Value::as_object).unwrap_or(&none);
    let prefers = Preferences::of(settings);
    let arrangement = Arrangement::new(ChatPreset(preset), card.map(Card::of), PersonaPlace::Marker, prefers);
    let wanted = Wanted {
        preset: arrangement.preset,
        settings,
        persona: PersonaPlace::Marker,
        has_examples: arrangement.has_examples(),
    };
    let mut parameters = parameters::of_preset(preset);
    parameters.insert("processors".to_owned(), Value::Array(processors::settings(&wanted)));
    json!({ "presetMessages": arrangement.entries(), "parameters": parameters })
}

/// An entry on its way to a prompt.
struct Entry<'v> {
    identifier: String,
    fields: &'v Object,
    marker: Option<&'static Marker>,
}

fn entries(agent: &Value) -> Vec<Entry<'_>> {
    let list = agent.get("presetMessages").and_then(Value::as_array).into_iter().flatten();
    list.enumerate().filter_map(|(index, entry)| Entry::of(index, entry)).collect()
}

fn prompts(now: &Value, before: &Value, preset: &mut Object) {
    if now.get("presetMessages") == before.get("presetMessages") {
        return;
    }
    let (current, earlier) = (entries(now), entries(before));
    let mut list = preset.get("prompts").and_then(Value::as_array).cloned().unwrap_or_default();
    for entry in &current {
        let same = earlier.iter().find(|earlier| earlier.identifier == entry.identifier);
        if same.is_some_and(|earlier| earlier.fields == entry.fields) {
            continue;
        }
        let is_it =
            |prompt: &&mut Value| prompt.get("identifier").and_then(Value::as_str) == Some(&entry.identifier);
        if let Some(prompt) = list.iter_mut().find(is_it).and_then(Value::as_object_mut) {
            entry.write(prompt);
            continue;
        }
        let mut prompt = Map::from_iter([("identifier".to_owned(), Value::from(&*entry.identifier))]);
        entry.write(&mut prompt);
        list.push(Value::Object(prompt));
    }
    preset.insert("prompts".to_owned(), Value::Array(list));
    let step = |entry: &Entry<'_>| (entry.identifier.clone(), flag(entry.fields, "isEnabled") != Some(false));
    let order: Vec<(String, bool)> = current.iter().map(step).collect();
    if order != earlier.iter().map(step).collect::<Vec<_>>() {
        write_order(preset, &order);
    }
    let new_chat = |agent: &Value| {
        let list = agent.get("presetMessages").and_then(Value::as_array).into_iter().flatten();
        list.into_iter()
            .find(|entry| entry.get("id").and_then(Value::as_str) == Some("new_chat"))
            .map(|entry| text_at(entry, "/content"))
    };
    if let Some(text) = new_chat(now).filter(|text| new_chat(before).as_ref() != Some(text)) {
        put(preset, "new_chat_prompt", text.into());
    }
}

/// Writes the order as that of 100001; what others are there stays.
fn write_order(preset: &mut Object, order: &[(String, bool)]) {
    let mut seen = BTreeSet::new();
    let steps = order.iter().filter(|(identifier, _)| seen.insert(identifier.clone()));
    let steps: Vec<Value> = steps
        .map(|(identifier, is_enabled)| json!({ "identifier": identifier, "enabled": is_enabled }))
        .collect();
    let mut lists = preset.get("prompt_order").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_ours = |list: &&mut Value| match list.get("character_id") {
        Some(Value::String(id)) => id == "100001",
        Some(id) => id.as_u64() == Some(100_001),
        None => false,
    };
    match lists.iter_mut().find(is_ours) {
        Some(list) => list["order"] = Value::Array(steps),
        None => lists.push(json!({ "character_id": 100_001, "order": steps })),
    }
    preset.insert("prompt_order".to_owned(), Value::Array(lists));
}

impl<'v> Entry<'v> {
    /// Reads an entry; none for one that no prompt stands for.
    fn of(index: usize, entry: &'v Value) -> Option<Self> {
        let fields = entry.as_object()?;
        let id = text(fields, "id").unwrap_or_default();
        let kind = text(fields, "type");
        let of_kind = kind.and_then(|kind| MARKERS.iter().find(|marker| marker.anchor == kind));
        let marker = of_kind.or_else(|| marker(id));
        if OWN.contains(&id) || (marker.is_none() && kind.is_some_and(|kind| kind != "message")) {
            return None;
        }
        let identifier = match (marker, id) {
            (Some(marker), _) => marker.identifier.to_owned(),
            (None, "") => format!("entry_{index}"),
            (None, id) => id.to_owned(),
        };
        Some(Self { identifier, fields, marker })
    }

    fn write(&self, prompt: &mut Object) {
        let role = text(self.fields, "role").unwrap_or(if self.marker.is_some() { "system" } else { "user" });
        put(prompt, "role", role.into());
        if let Some(name) = text(self.fields, "name") {
            put(prompt, "name", name.into());
        }
        match self.marker {
            Some(_) => put(prompt, "marker", true.into()),
            None => put(prompt, "content", text(self.fields, "content").unwrap_or_default().into()),
        }
        let strategy = self.fields.get("injectionStrategy").and_then(Value::as_object);
        let kind = strategy.and_then(|strategy| text(strategy, "type"));
        let number =
            |key: &str| strategy.and_then(|all| all.get(key)).filter(|value| value.is_number()).cloned();
        let (depth, order) = (number("depth"), number("order"));
        let is_in_chat = depth.is_some() && kind.is_none_or(|kind| kind == "depth");
        if is_in_chat {
            put(prompt, "injection_position", 1.into());
        } else if prompt.get("injection_position").and_then(Value::as_u64) == Some(1) {
            put(prompt, "injection_position", 0.into());
        }
        let order = order.or_else(|| is_in_chat.then(|| 100.into()));
        for (key, value) in [("injection_depth", depth), ("injection_order", order)] {
            if let Some(value) = value {
                put(prompt, key, value);
            }
        }
        if let Some(triggers) = self.fields.get("triggers") {
            put(prompt, "injection_trigger", triggers.clone());
        }
    }
}

fn settings(now: &Value, before: &Value, preset: &mut Object) {
    let parameter = |agent: &Value, key: &str| agent.pointer(&format!("/parameters/{key}")).cloned();
    for (theirs, ours) in SAMPLERS {
        let value = parameter(now, ours);
        if let Some(value) = value.filter(|value| parameter(before, ours).as_ref() != Some(value)) {
            put(preset, theirs, value);
        }
    }
    let window = parameter(now, "contextManagement/maxContextTokens");
    let window = window
        .filter(|window| parameter(before, "contextManagement/maxContextTokens").as_ref() != Some(window));
    if let Some(window) = window {
        put(preset, "openai_max_context", window);
    }
    for (processor, key, theirs) in SETTINGS {
        let value = setting(now, processor, key);
        if let Some(value) = value.filter(|value| setting(before, processor, key).as_ref() != Some(value)) {
            put(preset, theirs, value);
        }
    }
    let mode = setting(now, "speaker-names", "mode");
    if mode != setting(before, "speaker-names", "mode") {
        let number = match mode.as_ref().and_then(Value::as_str) {
            Some("field") => 1,
            Some("prefix") => 2,
            _ => -1,
        };
        put(preset, "names_behavior", number.into());
    }
}

/// Returns a setting of a processor.
fn setting(agent: &Value, processor: &str, key: &str) -> Option<Value> {
    let list = agent.pointer("/parameters/processors")?.as_array()?;
    let entry = list.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(processor))?;
    entry.get("config")?.get(key).cloned()
}
