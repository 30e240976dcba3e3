//! The entries of an agent as prompts of a chat-completion preset.

use std::collections::{BTreeMap, BTreeSet};

use ctx_anchors::{
    AnchorRegistry, Preset,
    internal::{Entry as Compiled, EntryPart},
};
use ctx_types::internal::excerpt;
use ctx_types::{
    Agent, Content, Diagnostic, Order, Persist as _, Phrase, Placement, PresetMessage, Role, phrase,
};
use serde_json::{Value, json};

use super::order::{self, is_sent};
use super::put;
use crate::codes;
use crate::formats::sillytavern::arrange::{
    ALWAYS_SENT, AT_DEPTH, MARKERS, Marker, NEW_CHAT, OWN_PERSONA, PERSONA, marker, repeated,
};
use crate::formats::sillytavern::person::PersonaPlace;
use crate::formats::sillytavern::preset::is_built_in;
use crate::loose::{Object, object, text};

/// The anchors that an imported preset has beside its own.
const OWN: [&str; 2] = ["before_main", "author_note"];

/// Above every message of a conversation.
const TOP: u64 = 10_000;

/// An entry on its way to a prompt.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) identifier: String,
    pub(super) is_sent: bool,
    /// What it says of itself in the agent; none for a marker that stands there for what the agent leaves unsaid.
    pub(super) fields: Option<Object>,
    /// The anchor that it is.
    anchor: Option<&'static str>,
    kind: Kind,
    place: Place,
    role: Option<Role>,
}

#[derive(Debug)]
enum Kind {
    /// A marker, with the text that the preset puts around what stands there.
    Marker(&'static Marker, String),
    Text(String),
    /// A marker that stands for nothing, with a text that is not sent.
    Silent(String),
}

/// Where a prompt stands.
#[derive(Debug)]
enum Place {
    InList,
    /// In the list too, beside an anchor.
    Beside,
    InChat(u64, Order),
}

/// The prompts of an agent, and what of its entries they do not say.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    pub(super) entries: Vec<Entry>,
    pub(super) lost: Vec<Diagnostic>,
    /// What stands above the conversation, which no prompt says; none where the conversation is not sent.
    pub(super) new_chat: Option<String>,
    /// The prompts by their identifiers, each with its number among them.
    used: BTreeMap<String, usize>,
    ids: BTreeSet<String>,
    /// The next number for each name.
    next: BTreeMap<String, usize>,
}

impl Prompts {
    /// Makes the prompts of an agent, whose persona goes to a place. O(entries · log entries).
    ///
    /// `has_examples`: whether examples of dialogue are sent where no anchor says their place.
    pub(super) fn of(agent: &Agent, has_examples: bool, persona: PersonaPlace) -> Self {
        let (preset, _) = Preset::compile(agent, &AnchorRegistry::system());
        let order = order::in_order(&preset);
        let new_chat = new_chat(&preset, &order);
        let ids = agent.preset_messages.iter().filter_map(|entry| entry.id.as_deref().map(str::to_owned));
        let mut made = Self { ids: ids.collect(), ..Self::default() };
        if preset.sends_history() {
            let said = new_chat.filter(|entry| is_sent(entry)).map(|entry| entry.content.text().into_owned());
            made.new_chat = Some(said.unwrap_or_default());
        }
        for number in order {
            match (preset.entries().get(number), agent.preset_messages.get(number)) {
                (Some(entry), Some(file)) if new_chat.is_some_and(|own| own.index == number) => {
                    made.lose_fields(entry, file);
                }
                (Some(entry), Some(file)) => made.add(entry, file, persona),
                _ => made.entries.extend(marker("chatHistory").map(|marker| Entry::bare(marker, true))),
            }
        }
        made.stand_in(has_examples);
        made
    }

    fn add(&mut self, entry: &Compiled, file: &PresetMessage, persona: PersonaPlace) {
        let id = file.id.as_deref().unwrap_or_default();
        if repeated(id).is_some_and(|identifier| self.ids.contains(identifier)) {
            return;
        }
        let (own, is_anchor) = match (entry.anchor(), marker_at(entry)) {
            (Some(_), Some(marker)) => (Some(marker), true),
            (Some(anchor), None) if OWN.contains(&anchor) => return,
            // A marker that stands for nothing; one without a text is an anchor of the agent's own.
            (Some(_), None) if !entry.content.is_empty() => (None, false),
            (Some(_), None) if !is_sent(entry) => return,
            (Some(anchor), None) => {
                let anchor = excerpt(anchor);
                return self.lose(
                    entry.index,
                    phrase!(
                        "SillyTavern presets have no anchor `{anchor}`; its entries move elsewhere",
                        anchor
                    ),
                );
            }
            (None, _) if self.is_elsewhere(entry, id, persona) => return,
            (None, _) => (marker(id).filter(|own| own.has_text()), false),
        };
        self.lose_fields(entry, file);
        let content = file.content.as_ref().map(Content::text).unwrap_or_default();
        let is_free = |own: &&'static Marker| !self.used.contains_key(own.identifier);
        let said = own.filter(is_free).and_then(|own| Some((own, own.said(&content)?)));
        let made = Entry {
            identifier: said.as_ref().map(|(own, _)| own.identifier.to_owned()).unwrap_or_default(),
            is_sent: is_sent(entry),
            fields: file.write().as_object().cloned(),
            anchor: own.filter(|_| is_anchor && is_sent(entry)).map(|own| own.anchor),
            place: self.place(entry),
            kind: match said {
                Some((marker, format)) => Kind::Marker(marker, format),
                None if matches!(entry.part, EntryPart::Placeholder { .. }) => {
                    Kind::Silent(content.into_owned())
                }
                None => Kind::Text(content.into_owned()),
            },
            role: file.role,
        };
        match made.kind {
            Kind::Marker(..) => self.push(made),
            Kind::Text(_) | Kind::Silent(_) => {
                self.add_text(entry.index, made, own.filter(|_| is_anchor), id);
            }
        }
    }

    /// Returns whether a message is one that importing makes of something else than a prompt, where that says it still.
    fn is_elsewhere(&mut self, entry: &Compiled, id: &str, persona: PersonaPlace) -> bool {
        let content = entry.content.text();
        if id == NEW_CHAT {
            // What is blank is left of a conversation that stands elsewhere now.
            return content.trim().is_empty();
        }
        let [note, own] = AT_DEPTH;
        let is_moved = match ((id, content.trim()), persona) {
            // The card has its place.
            (said, _) if said == note => false,
            (said, PersonaPlace::Depth { depth, role }) if said == own => {
                let at = match &entry.placement {
                    Placement::Depth { points, .. } => points.as_single(),
                    _ => None,
                };
                at != u64::try_from(depth).ok() || entry.role.as_str() != role
            }
            _ => return false,
        };
        if is_moved || !is_sent(entry) {
            let lost = phrase!(
                "SillyTavern presets cannot set depths of card or persona texts; the card or persona keeps them"
            );
            self.lose(entry.index, lost);
        }
        true
    }

    /// Adds a prompt with a text, and a marker that is off in place of one whose text it is.
    fn add_text(&mut self, number: usize, mut entry: Entry, own: Option<&'static Marker>, id: &str) {
        if let Some(own) = own {
            if !self.used.contains_key(own.identifier) {
                self.push(Entry { anchor: entry.anchor, ..Entry::bare(own, false) });
            }
            if matches!(&entry.kind, Kind::Text(text) if text.trim().is_empty()) {
                return;
            }
        }
        let wanted = match id {
            "" => format!("entry_{number}"),
            id if marker(id).is_some() => format!("{id}_text"),
            id => id.to_owned(),
        };
        let same = self.used.get(&wanted).and_then(|at| self.entries.get(*at));
        // A preset may have a prompt twice that its order does not have; the first counts.
        if !entry.is_sent && same.is_some_and(|same| same.fields == entry.fields) {
            return;
        }
        let is_taken = self.used.contains_key(&wanted) || wanted != id && self.ids.contains(&wanted);
        entry.identifier = if is_taken { self.numbered(&wanted, number) } else { wanted };
        self.push(entry);
    }

    /// Returns a name with a number, from `number` on, that neither an entry nor a prompt has.
    fn numbered(&mut self, name: &str, number: usize) -> String {
        let next = self.next.entry(name.to_owned()).or_default();
        *next = number.max(*next);
        loop {
            let numbered = format!("{name}_{next}");
            *next += 1;
            if !self.ids.contains(&numbered) && !self.used.contains_key(&numbered) {
                return numbered;
            }
        }
    }

    fn push(&mut self, entry: Entry) {
        self.used.entry(entry.identifier.clone()).or_insert(self.entries.len());
        self.entries.push(entry);
    }

    /// Returns where a prompt stands.
    fn place(&mut self, entry: &Compiled) -> Place {
        let (place, lost) = match &entry.placement {
            Placement::InOrder => return Place::InList,
            Placement::Anchor { .. } => return Place::Beside,
            Placement::Depth { points, order } => {
                let depth = points.nearest(TOP, 1).first().copied().unwrap_or(TOP);
                let lost = phrase!(
                    "SillyTavern prompts have one depth; of {points}, only {depth} is kept",
                    points = points.to_string(),
                    depth
                );
                (Place::InChat(depth, *order), points.as_single().is_none().then_some(lost))
            }
            // The message that is answered follows the settled part.
            Placement::Index { at, order } if *at < 0 => return Place::InChat(at.unsigned_abs(), *order),
            Placement::Index { at, order } => {
                let lost = phrase!(
                    "SillyTavern prompts cannot count from the oldest message; placed above all messages"
                );
                (Place::InChat(TOP, *order), (*at > 0).then_some(lost))
            }
        };
        lost.filter(|_| is_sent(entry)).into_iter().for_each(|lost| self.lose(entry.index, lost));
        place
    }

    fn lose_fields(&mut self, entry: &Compiled, file: &PresetMessage) {
        if !is_sent(entry) {
            return;
        }
        let is_matched = file.model_match.as_ref().is_some_and(|rule| rule.enabled == Some(true));
        let has_parts = match &file.content {
            Some(Content::Parts(parts)) => parts.iter().any(|part| part.as_text().is_none()),
            _ => false,
        };
        if is_matched && entry.part != EntryPart::History {
            let lost = phrase!("SillyTavern prompts have no model filter; this one applies to all models");
            self.lose(entry.index, lost);
        }
        if !entry.attachments.is_empty() {
            self.lose(entry.index, phrase!("SillyTavern prompts cannot have attachments; not exported"));
        }
        if has_parts {
            let lost = phrase!("SillyTavern prompts are plain text; other content parts are not exported");
            self.lose(entry.index, lost);
        }
    }

    fn lose(&mut self, number: usize, message: Phrase) {
        let help = phrase!("change it in the agent, or edit the prompt in SillyTavern");
        let found = Diagnostic::warning(codes::PRESET_CANNOT_SAY, message).with_help(help);
        self.lost.push(found.at_pointer(format!("/presetMessages/{number}")));
    }

    /// Puts markers where the agent leaves them out: that application would send them at the end.
    ///
    /// World info and examples stand where an agent without their anchors has them, the others are off.
    fn stand_in(&mut self, has_examples: bool) {
        for marker in MARKERS.iter().take(ALWAYS_SENT) {
            if self.entries.iter().any(|entry| entry.identifier == marker.identifier) {
                continue;
            }
            match self.instead_of(marker) {
                Some(at) => self.entries.insert(at, Entry::bare(marker, true)),
                None => self.entries.push(Entry::bare(marker, false)),
            }
        }
        let has_place = self.entries.iter().any(|entry| entry.identifier == "dialogueExamples");
        if let Some(marker) = marker("dialogueExamples").filter(|_| has_examples && !has_place)
            && let Some(history) = self.history()
        {
            self.entries.insert(history, Entry::bare(marker, true));
        }
    }

    /// Returns where world info stands without its marker: beside the description, else beside what the system says.
    fn instead_of(&self, marker: &Marker) -> Option<usize> {
        let is_described = |entry: &Entry| entry.anchor == Some("char_description");
        match marker.identifier {
            "worldInfoBefore" => {
                let at = self.entries.iter().position(is_described);
                Some(at.or_else(|| self.entries.iter().position(Entry::is_system)).unwrap_or(0))
            }
            "worldInfoAfter" => {
                let end = self.history().unwrap_or(self.entries.len());
                let above = self.entries.get(..end).unwrap_or_default();
                let last = self.entries.iter().rposition(is_described);
                Some(last.or_else(|| above.iter().rposition(Entry::is_system)).map_or(end, |at| at + 1))
            }
            _ => None,
        }
    }

    fn history(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.identifier == "chatHistory")
    }
}

/// Returns what stands above the conversation where a preset says it: right before it, in the list, by the system, in
/// each turn.
fn new_chat<'p>(preset: &'p Preset, order: &[usize]) -> Option<&'p Compiled> {
    let entry = |place: usize| preset.entries().get(*order.get(place)?);
    let is_history = |place: &usize| entry(*place).is_none_or(|entry| entry.part == EntryPart::History);
    let history = (0..order.len()).find(is_history).filter(|_| preset.sends_history())?;
    let history_triggers = entry(history).map(|entry| entry.triggers.clone()).unwrap_or_default();
    entry(history.checked_sub(1)?).filter(|entry| {
        entry.source.id.as_deref() == Some(NEW_CHAT)
            && entry.part == EntryPart::Message
            && entry.placement == Placement::InOrder
            && entry.role == Role::System
            && entry.triggers == history_triggers
    })
}

fn marker_at(entry: &Compiled) -> Option<&'static Marker> {
    let is_template = matches!(entry.part, EntryPart::Template { .. });
    let anchor = entry.anchor()?;
    MARKERS.iter().find(|marker| marker.anchor == anchor && marker.has_text() == is_template)
}

impl Entry {
    /// A marker of which the agent says nothing.
    fn bare(marker: &'static Marker, is_sent: bool) -> Self {
        Self {
            identifier: marker.identifier.to_owned(),
            is_sent,
            fields: None,
            anchor: None,
            kind: Kind::Marker(marker, String::new()),
            place: Place::InList,
            role: None,
        }
    }

    /// Returns whether the system says it where the list has it.
    fn is_system(&self) -> bool {
        let has_text = match &self.kind {
            Kind::Text(_) => true,
            Kind::Marker(marker, _) => marker.has_text() && self.fields.is_some(),
            Kind::Silent(_) => false,
        };
        has_text && self.is_sent && self.role == Some(Role::System) && matches!(self.place, Place::InList)
    }

    /// Writes the entry over its prompt.
    pub(super) fn write(&self, prompt: &mut Object) {
        let Some(fields) = &self.fields else { return };
        let role = match (&self.kind, self.role) {
            (Kind::Marker(marker, _), None) if !marker.has_text() => Role::System,
            (_, role) => role.unwrap_or_default(),
        };
        put(prompt, "role", role.as_str().into());
        if let Some(name) = text(fields, "name") {
            put(prompt, "name", name.into());
        }
        match &self.kind {
            Kind::Marker(marker, own) => {
                put(prompt, "marker", true.into());
                if marker.identifier == PERSONA && marker.plain().as_ref() != Some(own) && !own.is_empty() {
                    put(prompt, "content", own.as_str().into());
                }
            }
            Kind::Text(text) => {
                put(prompt, "content", text.as_str().into());
                put(prompt, "system_prompt", is_built_in(&self.identifier).into());
            }
            Kind::Silent(text) => {
                put(prompt, "content", text.as_str().into());
                put(prompt, "system_prompt", true.into());
                put(prompt, "marker", true.into());
            }
        }
        self.write_place(fields, prompt);
        match fields.get("triggers") {
            Some(triggers) => put(prompt, "injection_trigger", triggers.clone()),
            None if prompt
                .get("injection_trigger")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty()) =>
            {
                put(prompt, "injection_trigger", json!([]));
            }
            None => {}
        }
    }

    fn write_place(&self, fields: &Object, prompt: &mut Object) {
        match &self.place {
            Place::InChat(depth, order) => {
                put(prompt, "injection_position", 1.into());
                put(prompt, "injection_depth", (*depth).into());
                put(prompt, "injection_order", number(*order));
            }
            Place::InList | Place::Beside => {
                if prompt.get("injection_position").and_then(Value::as_u64) == Some(1) {
                    put(prompt, "injection_position", 0.into());
                }
                let strategy = object(fields, "injectionStrategy");
                let unused = strategy.filter(|strategy| text(strategy, "type") == Some("default"));
                for (ours, theirs) in [("depth", "injection_depth"), ("order", "injection_order")] {
                    let value =
                        unused.and_then(|strategy| strategy.get(ours)).filter(|value| value.is_number());
                    if let Some(value) = value {
                        put(prompt, theirs, value.clone());
                    }
                }
            }
        }
    }

    /// Returns the field of a preset with the text around a marker, that text, and the marker.
    pub(super) fn format(&self) -> Option<(&'static str, &str, &'static Marker)> {
        let Kind::Marker(marker, format) = &self.kind else { return None };
        self.fields.as_ref()?;
        Some((marker.format?, format, marker))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is compared with what it was")]
fn number(Order(order): Order) -> Value {
    let whole = order as i64;
    #[expect(clippy::cast_precision_loss, reason = "it is compared with what it was")]
    let is_whole = (whole as f64).total_cmp(&(order + 0.0)).is_eq();
    if is_whole { whole.into() } else { order.into() }
}

impl Marker {
    /// Returns what a preset says around a text of this marker, if a preset can say it so.
    ///
    /// The text may be the macro alone, or what stands around the macro unless that is empty.
    fn said(&self, content: &str) -> Option<String> {
        let (Some(name), Some(plain)) = (self.content, self.plain()) else { return Some(String::new()) };
        if content.trim() == plain {
            return Some(plain);
        }
        if self.identifier == PERSONA {
            let [start, end] = OWN_PERSONA;
            return Some(content.strip_prefix(start)?.strip_suffix(end)?.to_owned());
        }
        self.format?;
        let inner = content.strip_prefix(&format!("{{{{#if {name}}}}}"))?.strip_suffix("{{/if}}")?;
        (!inner.contains("{{/if}}") && !inner.contains("{{#if")).then(|| inner.to_owned())
    }
}
