//! The entries of an agent as prompts of a chat-completion preset.

use std::collections::BTreeMap;

use ctx_types::{Agent, Content, Diagnostic, Order, Persist as _, Placement, PresetMessage, Role, excerpt};
use serde_json::{Value, json};

use super::order::{self, Part};
use super::put;
use crate::codes;
use crate::loose::{Object, object, text};
use crate::sillytavern::arrange::{ALWAYS_SENT, MARKERS, Marker, marker};

/// The entries that no prompt stands for.
const OWN: [&str; 5] = ["before_main", "author_note", "new_chat", "depth_prompt", "persona_at_depth"];

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
    /// The prompts by their identifiers, each with the number of its entry.
    used: BTreeMap<String, usize>,
}

impl Prompts {
    /// Makes the prompts of an agent; `has_examples` if examples of dialogue are sent without a place of their own.
    pub(super) fn of(agent: &Agent, has_examples: bool) -> Self {
        let mut made = Self::default();
        for number in order::in_order(agent) {
            match agent.preset_messages.get(number) {
                Some(entry) => made.add(agent, number, entry),
                None => made.entries.extend(marker("chatHistory").map(|marker| Entry::bare(marker, true))),
            }
        }
        made.stand_in(has_examples);
        made
    }

    fn add(&mut self, agent: &Agent, number: usize, entry: &PresetMessage) {
        let part = Part::of(entry);
        let id = entry.id.as_deref().unwrap_or_default();
        let is_sent = order::is_on(agent, entry) || part.is_history();
        let (own, is_anchor) = match part {
            Part::Nothing => return,
            Part::Anchor(anchor) if OWN.contains(&anchor) || !is_sent => return,
            Part::Anchor(anchor) => {
                let anchor = excerpt(anchor);
                return self.lose(
                    number,
                    format!("a preset has no anchor `{anchor}`; what goes to it has another place there"),
                );
            }
            Part::Message if OWN.contains(&id) => return,
            Part::Message => (marker(id).filter(|own| own.has_text()), false),
            Part::Marker(marker) => (Some(marker), true),
        };
        if is_sent {
            self.lose_fields(number, entry, part);
        }
        let content = entry.content.as_ref().map(Content::text).unwrap_or_default();
        let is_free = |own: &&'static Marker| !self.used.contains_key(own.identifier);
        let said = own.filter(is_free).and_then(|own| Some((own, own.said(&content)?)));
        let made = Entry {
            identifier: said.as_ref().map(|(own, _)| own.identifier.to_owned()).unwrap_or_default(),
            is_sent,
            fields: entry.write().as_object().cloned(),
            anchor: own.filter(|_| is_anchor && is_sent).map(|own| own.anchor),
            place: self.place(number, entry, is_sent),
            kind: match said {
                Some((marker, format)) => Kind::Marker(marker, format),
                None => Kind::Text(content.into_owned()),
            },
            role: entry.role,
        };
        match made.kind {
            Kind::Marker(..) => self.push(made),
            Kind::Text(_) => self.add_text(number, made, own.filter(|_| is_anchor), id),
        }
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
        let is_same = |at: usize| self.entries.get(at).is_some_and(|other| other.fields == entry.fields);
        entry.identifier = match self.used.get(&wanted) {
            // A preset may have a prompt twice in its order; the first counts.
            Some(at) if is_same(*at) => return,
            Some(_) => format!("{wanted}_{number}"),
            None => wanted,
        };
        self.push(entry);
    }

    fn push(&mut self, entry: Entry) {
        self.used.entry(entry.identifier.clone()).or_insert(self.entries.len());
        self.entries.push(entry);
    }

    /// Returns where a prompt stands.
    fn place(&mut self, number: usize, entry: &PresetMessage, is_sent: bool) -> Place {
        let (place, lost) = match order::placement(entry) {
            Placement::InOrder => return Place::InList,
            Placement::Anchor { .. } => return Place::Beside,
            Placement::Depth { points, order } => {
                let depth = points.nearest(TOP, 1).first().copied().unwrap_or(TOP);
                let lost =
                    || format!("a prompt of a preset has one depth; of {points} it is at {depth} alone");
                (Place::InChat(depth, order), points.as_single().is_none().then(lost))
            }
            // The message that is answered follows the settled part.
            Placement::Index { at, order } if at < 0 => return Place::InChat(at.unsigned_abs(), order),
            Placement::Index { at, order } => {
                let lost = "no place of a preset counts from the oldest message; the prompt stands above all of them";
                (Place::InChat(TOP, order), (at > 0).then(|| lost.to_owned()))
            }
        };
        lost.filter(|_| is_sent).into_iter().for_each(|lost| self.lose(number, lost));
        place
    }

    fn lose_fields(&mut self, number: usize, entry: &PresetMessage, part: Part<'_>) {
        let is_matched = entry.model_match.as_ref().is_some_and(|rule| rule.enabled == Some(true));
        let has_parts = match &entry.content {
            Some(Content::Parts(parts)) => parts.iter().any(|part| part.as_text().is_none()),
            _ => false,
        };
        let lost = [
            (
                is_matched && !part.is_history(),
                "a prompt of a preset is for every model, and so this one goes to all",
            ),
            (
                !entry.all_attachments().is_empty(),
                "a prompt of a preset has no files; this one is without them",
            ),
            (has_parts, "a prompt of a preset is a text; other parts of its content are left out"),
        ];
        for (_, message) in lost.into_iter().filter(|(is_so, _)| *is_so) {
            self.lose(number, message.to_owned());
        }
    }

    fn lose(&mut self, number: usize, message: String) {
        let help = "say it otherwise in the agent, or mend the prompt in SillyTavern";
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

    /// Tells whether the system says it where the list has it.
    fn is_system(&self) -> bool {
        let has_text = match &self.kind {
            Kind::Text(_) => true,
            Kind::Marker(marker, _) => marker.has_text() && self.fields.is_some(),
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
            Kind::Marker(..) => put(prompt, "marker", true.into()),
            Kind::Text(text) => put(prompt, "content", text.as_str().into()),
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

    /// Returns the field of a preset with the text around a marker, and that text.
    pub(super) fn format(&self) -> Option<(&'static str, &str)> {
        let Kind::Marker(marker, format) = &self.kind else { return None };
        self.fields.as_ref()?;
        Some((marker.format?, format))
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
        let Some(name) = self.content else { return Some(String::new()) };
        let plain = format!("{{{{{name}}}}}");
        if content.trim() == plain {
            return Some(plain);
        }
        self.format?;
        let inner = content.strip_prefix(&format!("{{{{#if {name}}}}}"))?.strip_suffix("{{/if}}")?;
        (!inner.contains("{{/if}}") && !inner.contains("{{#if")).then(|| inner.to_owned())
    }
}
