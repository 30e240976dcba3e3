//! The prompts of a preset, and what a card puts in their places, as the entries of an agent's preset.

mod extra_entries;
mod original;

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::space;
use serde_json::{Value, json};

use super::card::Card;
use super::lanes;
use super::person::PersonaPlace;
use super::preset::{ChatPreset, Form, InChat, Ordered, Prompt};
use super::settings::Preferences;
use crate::loose::{Object, said};
use original::{has_original, may_be_empty, overriding};

pub(crate) use extra_entries::repeated;

#[derive(Clone, Debug)]
pub(crate) struct Arrangement<'v> {
    pub(crate) preset: ChatPreset<'v>,
    prompts: BTreeMap<&'v str, Prompt<'v>>,
    card: Option<Card<'v>>,
    pub(crate) persona: PersonaPlace,
    prefers: Preferences,
    /// The texts of a system prompt for text completion: above the conversation, and below it.
    otherwise: [Option<&'v str>; 2],
    order: Vec<Ordered<'v>>,
    /// The place of a main prompt in the conversation. `None` for one that is in the list or not sent.
    pub(crate) main: Option<InChat>,
    /// The prompts that the order has above the main prompt.
    above_main: BTreeSet<&'v str>,
}

/// A marker: its identifier, the anchor that it becomes, and what stands there by itself.
#[derive(Debug)]
pub(crate) struct Marker {
    pub(crate) identifier: &'static str,
    pub(crate) anchor: &'static str,
    pub(crate) content: Option<&'static str>,
    /// The field of the preset with a text around the content.
    pub(crate) format: Option<&'static str>,
}

/// The markers, those first that stand at the end, in this order, where the order of prompts leaves them out.
pub(crate) const MARKERS: [Marker; 8] = [
    Marker::new("worldInfoBefore", "world_info_before", None, None),
    Marker::new("worldInfoAfter", "world_info_after", None, None),
    Marker::new("charDescription", "char_description", Some("description"), None),
    Marker::new("charPersonality", "char_personality", Some("personality"), Some("personality_format")),
    Marker::new("scenario", "scenario", Some("scenario"), Some("scenario_format")),
    Marker::new(PERSONA, "user_profile", Some("persona"), None),
    Marker::new(EXAMPLES, "dialogue_examples", None, None),
    Marker::new(HISTORY, "chat_history", None, None),
];

/// The fields of a system prompt for text completion, each with the prompt that it stands for.
const SYSTEM_PROMPT: [(&str, &str); 2] = [("content", MAIN), ("post_history", "jailbreak")];

const MAIN: &str = "main";

pub(crate) const PERSONA: &str = "personaDescription";

/// Conditions around the own text of the persona marker: `SillyTavern` sends it without a persona.
pub(crate) const OWN_PERSONA: [&str; 2] = ["{{#if persona}}{{persona}}{{else}}", "{{/if}}"];

const EXAMPLES: &str = "dialogueExamples";
const HISTORY: &str = "chatHistory";

/// How many of [`MARKERS`] are sent even where the order leaves them out.
pub(crate) const ALWAYS_SENT: usize = 6;

/// What the card and the persona put at a depth: the ids of the entries, each with the macro that it is.
pub(crate) const AT_DEPTH: [(&str, &str); 2] =
    [("depth_prompt", "{{charDepthPrompt}}"), ("persona_at_depth", "{{persona}}")];

/// The id of the entry that stands above the conversation.
pub(crate) const NEW_CHAT: &str = "new_chat";

impl Marker {
    const fn new(
        identifier: &'static str,
        anchor: &'static str,
        content: Option<&'static str>,
        format: Option<&'static str>,
    ) -> Self {
        Self { identifier, anchor, content, format }
    }

    /// Returns whether it stands for one text.
    pub(crate) const fn has_text(&self) -> bool {
        self.content.is_some()
    }

    /// Returns the macro that gives its text; none if it does not stand for one.
    pub(crate) fn plain(&self) -> Option<String> {
        self.content.map(|name| format!("{{{{{name}}}}}"))
    }
}

pub(crate) fn marker(identifier: &str) -> Option<&'static Marker> {
    MARKERS.iter().find(|marker| marker.identifier == identifier)
}

impl<'v> Arrangement<'v> {
    /// `prompt` is a system prompt for text completion. Its texts replace empty prompts of chats.
    pub(crate) fn new(
        preset: ChatPreset<'v>,
        card: Option<Card<'v>>,
        persona: PersonaPlace,
        prefers: Preferences,
        prompt: Option<&'v Object>,
    ) -> Self {
        let (prompts, order) = (preset.by_identifier(), preset.order());
        let is_main = |ordered: &&Ordered<'_>| ordered.identifier == MAIN && ordered.is_enabled;
        let main = prompts.get(MAIN).filter(|main| main.is_sent() && order.iter().any(|step| is_main(&step)));
        let main = main.and_then(|main| main.in_chat());
        let above_main = order.iter().take_while(|step| !is_main(step)).map(|step| step.identifier).collect();
        let otherwise = SYSTEM_PROMPT.map(|(field, _)| said(prompt?, field));
        Self { preset, prompts, card, persona, prefers, otherwise, order, main, above_main }
    }

    /// Returns the fields of the system prompt that count.
    pub(crate) fn system_prompt(&self) -> impl Iterator<Item = &'static str> {
        let overridden = self.overridden();
        let counts = move |(_, id): &(&str, &str)| {
            let is_ordered = || self.order.iter().any(|ordered| ordered.identifier == *id);
            let counts = self.otherwise(id).is_some() && !overridden.contains(id);
            counts && (is_ordered() || self.named(id).is_some())
        };
        SYSTEM_PROMPT.into_iter().filter(counts).map(|(field, _)| field)
    }

    /// Returns the text of a system prompt that stands for a prompt which says nothing.
    fn otherwise(&self, identifier: &str) -> Option<&'v str> {
        let index = SYSTEM_PROMPT.iter().position(|(_, id)| *id == identifier)?;
        let is_silent = self.preset.content(identifier, self.named(identifier)).is_empty();
        self.otherwise[index].filter(|_| is_silent)
    }

    /// Returns the text of a prompt without that of the card.
    fn own(&self, identifier: &str, prompt: Option<Prompt<'v>>) -> &'v str {
        self.otherwise(identifier).unwrap_or_else(|| self.preset.content(identifier, prompt))
    }

    fn named(&self, identifier: &str) -> Option<Prompt<'v>> {
        self.prompts.get(identifier).copied()
    }

    pub(crate) fn entries(&self) -> Vec<Value> {
        let overridden = self.overridden();
        let mut entries = Vec::new();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for ordered in &self.order {
            let count = counts.entry(ordered.identifier).or_default();
            *count += 1;
            match marker(ordered.identifier) {
                Some(marker) => self.marker(marker, Some(ordered.is_enabled), &mut entries),
                None if *count > 1 => entries.extend(self.repeated_prompt(ordered.identifier, *count)),
                None => self.prompt(*ordered, &overridden, &mut entries),
            }
        }
        let is_ordered = |identifier: &str| counts.contains_key(identifier);
        for marker in MARKERS.iter().take(ALWAYS_SENT) {
            if !is_ordered(marker.identifier) {
                self.marker(marker, None, &mut entries);
            } else if self.is_sent(marker.identifier) {
                entries.extend(self.untriggered_marker(marker));
            }
        }
        entries.extend(self.notes());
        let unordered = self.preset.prompts();
        for prompt in unordered.filter(|prompt| !is_ordered(prompt.id) && marker(prompt.id).is_none()) {
            if self.named(prompt.id).is_some_and(|first| first.is(prompt)) {
                prompt.take(form(prompt, &overridden));
            }
            let content = self.own(prompt.id, self.named(prompt.id));
            entries.push(entry(Some(prompt), prompt.id, content, false, lanes::PROMPT));
        }
        self.preset.take_around(&entries, &overridden);
        entries
    }

    /// Returns the kind of lane of a prompt at a depth: a main prompt at one divides the others.
    fn lane(&self, identifier: &str) -> i64 {
        match self.main {
            Some(_) if identifier == MAIN => lanes::MAIN,
            Some(_) if self.above_main.contains(identifier) => lanes::BEFORE_MAIN,
            _ => lanes::PROMPT,
        }
    }

    /// Returns whether a prompt is in the order and switched on.
    fn is_sent(&self, identifier: &str) -> bool {
        self.order.iter().any(|ordered| ordered.identifier == identifier && ordered.is_enabled)
    }

    pub(crate) fn has_examples(&self) -> bool {
        self.is_sent(EXAMPLES)
    }

    fn prompt(&self, ordered: Ordered<'_>, overridden: &[&str], entries: &mut Vec<Value>) {
        let Ordered { identifier, is_enabled } = ordered;
        let prompt = self.named(identifier);
        let is_main = identifier == MAIN;
        if prompt.is_none()
            && !is_main
            && self.own(identifier, prompt).is_empty()
            && self.over(identifier).is_none()
        {
            return;
        }
        if is_main {
            entries.push(json!({ "id": "before_main", "type": "placeholder" }));
        }
        if let Some(prompt) = prompt {
            prompt.take(form(prompt, overridden));
        }
        let content = self.content(identifier, prompt);
        entries.push(entry(prompt, identifier, &content, is_enabled, self.lane(identifier)));
        if is_main {
            entries.extend(prompt.and_then(|prompt| self.untriggered_main(prompt, is_enabled)));
            entries.push(json!({ "id": "author_note", "type": "author_note" }));
        }
    }

    /// Returns the text of a prompt, or that of the card that stands over it, with the former once in the latter.
    fn content(&self, identifier: &str, prompt: Option<Prompt<'v>>) -> String {
        let own = self.own(identifier, prompt);
        let is_open = !prompt.is_some_and(Prompt::forbids_overrides);
        match self.over(identifier).filter(|_| is_open) {
            Some(over) => overriding(identifier, over, own),
            None => own.to_owned(),
        }
    }

    /// Returns the prompts over whose texts those of the card stand, without these in them.
    pub(crate) fn overridden(&self) -> Vec<&'static str> {
        let is_over = |id: &&str| {
            let over = self.over(id).filter(|over| !has_original(over) && !may_be_empty(over));
            over.is_some() && !self.named(id).is_some_and(Prompt::forbids_overrides)
        };
        [MAIN, "jailbreak"].into_iter().filter(is_over).collect()
    }

    /// Returns the text of the card that stands over a prompt.
    fn over(&self, identifier: &str) -> Option<&str> {
        let card = self.card?;
        match identifier {
            MAIN if self.prefers.system_prompt => card.said("system_prompt"),
            "jailbreak" if self.prefers.post_history => card.said("post_history_instructions"),
            _ => None,
        }
        .map(space::trim)
    }

    /// Adds a marker. One that is not in the order has the application's role and position; its prompt has no effect.
    fn marker(&self, marker: &Marker, is_enabled: Option<bool>, entries: &mut Vec<Value>) {
        let named = self.named(marker.identifier);
        let prompt = named.filter(|_| is_enabled.is_some());
        let is_enabled = is_enabled.unwrap_or(true);
        let is_world_info = marker.anchor.starts_with("world_info");
        let content = marker.content.map(|name| self.formatted(marker, name)).unwrap_or_default();
        let is_persona = marker.identifier == PERSONA;
        let own = prompt.filter(|_| is_persona).and_then(Prompt::content).filter(|own| !own.is_empty());
        let is_elsewhere = is_persona && self.persona != PersonaPlace::Marker;
        let content = match own {
            Some(own) if is_elsewhere => own.to_owned(),
            Some(own) => [OWN_PERSONA[0], own, OWN_PERSONA[1]].concat(),
            None => content,
        };
        let is_elsewhere = is_elsewhere && own.is_none();
        let has_place = prompt.is_none_or(Prompt::has_place) || marker.content.is_none() && !is_world_info;
        let is_wanted = is_enabled && !is_elsewhere && has_place;
        let has_text = marker.has_text();
        let in_chat = prompt.and_then(Prompt::in_chat).filter(|_| has_text || is_world_info);
        if marker.identifier == HISTORY {
            if !is_enabled {
                return;
            }
            let mut new_chat = self.new_chat();
            put_triggers(prompt, &mut new_chat);
            entries.push(new_chat);
        }
        if let Some(named) = named {
            named.take(match in_chat {
                _ if prompt.is_none() => Form::Unordered,
                _ if !has_text && !is_world_info => Form::Anchor,
                Some(_) => Form::TextInChat,
                None => Form::TextInList,
            });
        }
        let mut entry = json!({ "id": marker.identifier });
        let is_message = has_text && in_chat.is_some();
        if !is_message {
            entry["type"] = marker.anchor.into();
        }
        if let Some(name) = named.and_then(Prompt::name).filter(|_| in_chat.is_none()) {
            entry["name"] = name.into();
        }
        let role = prompt.map_or("system", Prompt::role);
        if has_text || is_world_info && prompt.is_some_and(Prompt::has_role) {
            entry["role"] = role.into();
        }
        if has_text {
            entry["content"] = content.into();
        }
        if let Some(in_chat) = in_chat {
            entry["injectionStrategy"] = depth(in_chat, lanes::of(role, self.lane(marker.identifier)));
        }
        if is_message || !is_wanted {
            entry["isEnabled"] = is_wanted.into();
        }
        put_triggers(prompt, &mut entry);
        entries.push(entry);
    }

    /// Returns what stands above the conversation.
    fn new_chat(&self) -> Value {
        let text = self.preset.text_or_default("new_chat_prompt");
        json!({ "id": NEW_CHAT, "name": "New chat", "role": "system", "content": text })
    }

    /// Returns the macro that gives a text, with what the preset puts around it unless the text is empty.
    fn formatted(&self, marker: &Marker, name: &str) -> String {
        let plain = marker.plain().unwrap_or_default();
        let format =
            marker.format.and_then(|key| self.preset.0.at(key).text().into("/presetMessages/*/content"));
        match format.filter(|format| !format.trim().is_empty() && *format != plain) {
            Some(format) if self.looks_false(name) => format.to_owned(),
            Some(format) => format!("{{{{#if {name}}}}}{format}{{{{/if}}}}"),
            None => plain,
        }
    }

    /// Returns whether a field of the card says something that a condition takes for nothing.
    fn looks_false(&self, field: &str) -> bool {
        let said = self.card.and_then(|card| card.text(field)).unwrap_or_default();
        !said.trim().is_empty() && !ctx_macros::internal::is_true(said)
    }

    /// Returns what the card and the persona put at a depth.
    fn notes(&self) -> Vec<Value> {
        let [of_card, of_persona] = AT_DEPTH;
        let at = |(id, content): (&str, &str), level: i64, role: &str, kind: i64| {
            let strategy = json!({ "type": "depth", "depth": level.max(0), "lane": lanes::of(role, kind) });
            json!({ "id": id, "role": role, "content": content, "injectionStrategy": strategy })
        };
        let note = self.card.and_then(Card::depth_prompt);
        let note = note.map(|(_, level, role)| at(of_card, level, role, lanes::CARD_NOTE));
        let persona = match self.persona {
            PersonaPlace::Depth { depth, role } => Some(at(of_persona, depth, role, lanes::PERSONA)),
            _ => None,
        };
        note.into_iter().chain(persona).collect()
    }
}

fn form(prompt: Prompt<'_>, overridden: &[&str]) -> Form {
    match prompt.is_sent() {
        false => Form::Silent,
        true if overridden.contains(&prompt.id) => Form::Overridden,
        true => Form::Plain,
    }
}

fn entry(prompt: Option<Prompt<'_>>, identifier: &str, content: &str, is_enabled: bool, lane: i64) -> Value {
    let role = prompt.map_or("system", Prompt::role);
    let mut entry = json!({ "id": identifier });
    let is_unsent = prompt.is_some_and(|prompt| !prompt.is_sent());
    if is_unsent && (!content.is_empty() || role != "system") {
        // Macros of an unsent prompt are expanded, since variables that it sets are used below.
        entry["type"] = "placeholder".into();
    }
    if let Some(name) = prompt.and_then(Prompt::name) {
        entry["name"] = name.into();
    }
    entry["role"] = role.into();
    entry["content"] = content.into();
    if !is_enabled {
        entry["isEnabled"] = false.into();
    }
    if let Some(strategy) = prompt.and_then(|prompt| strategy(prompt, lanes::of(role, lane))) {
        entry["injectionStrategy"] = strategy;
    }
    put_triggers(prompt, &mut entry);
    entry
}

/// Returns where a prompt goes; one that stands in the list keeps the depth that it has elsewhere.
fn strategy(prompt: Prompt<'_>, lane: i64) -> Option<Value> {
    // A prompt that is not sent has its place in the list.
    if let Some(in_chat) = prompt.in_chat().filter(|_| prompt.is_sent()) {
        return Some(depth(in_chat, lane));
    }
    let (depth, order) = (prompt.depth(), prompt.order());
    if depth.is_none() && order.is_none() {
        return None;
    }
    let mut strategy = json!({ "type": "default" });
    for (key, value) in [("depth", depth), ("order", order)] {
        if let Some(value) = value {
            strategy[key] = value.into();
        }
    }
    Some(strategy)
}

fn put_triggers(prompt: Option<Prompt<'_>>, entry: &mut Value) {
    let triggers = prompt.map(Prompt::triggers).unwrap_or_default();
    if !triggers.is_empty() {
        entry["triggers"] = json!(triggers);
    }
}

fn depth(in_chat: InChat, lane: i64) -> Value {
    json!({ "type": "depth", "depth": in_chat.depth, "order": in_chat.order, "lane": lane })
}
