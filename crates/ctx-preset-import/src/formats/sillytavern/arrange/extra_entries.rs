//! Further entries of a prompt: for each repetition in the order, and for generation types that its triggers exclude.

use ctx_types::GenerationKind;
use serde_json::{Value, json};

use super::original::overriding;
use super::{Arrangement, MAIN, Marker, PERSONA, entry};
use crate::formats::sillytavern::person::PersonaPlace;
use crate::formats::sillytavern::preset::Prompt;

/// Suffix of the id of an entry for the generation types that the triggers of its prompt exclude.
const OTHERWISE: &str = ":otherwise";

/// Returns the prompt of a further entry, given the id of the entry.
pub(crate) fn repeated(id: &str) -> Option<&str> {
    let (identifier, number) = id.rsplit_once(':')?;
    (number == &OTHERWISE[1..] || number.parse::<usize>().is_ok()).then_some(identifier)
}

impl<'v> Arrangement<'v> {
    /// Returns the entry for a repetition of a prompt in the order.
    pub(super) fn repeated_prompt(&self, identifier: &str, count: usize) -> Option<Value> {
        let prompt = self.named(identifier)?;
        let content = self.content(identifier, Some(prompt));
        let id = format!("{identifier}:{count}");
        Some(entry(Some(prompt), &id, &content, true, self.lane(identifier)))
    }

    /// Returns the entry for a main prompt that is disabled or that its triggers exclude: `SillyTavern` empties it. Only
    /// for excluded generation types, a card's text replaces it.
    pub(super) fn untriggered_main(&self, main: Prompt<'v>, is_enabled: bool) -> Option<Value> {
        let triggers = if is_enabled { other_triggers(main)? } else { Vec::new() };
        let over = self.over(MAIN).filter(|_| is_enabled && !main.forbids_overrides());
        let content = over.map(|over| overriding(MAIN, over, "")).unwrap_or_default();
        let divides = main.in_chat().is_none() && main.role() != "system";
        if !main.is_sent() || content.is_empty() && !divides {
            return None;
        }
        let id = format!("{MAIN}{OTHERWISE}");
        let mut entry = entry(Some(main), &id, &content, true, self.lane(MAIN));
        set_triggers(&mut entry, &triggers);
        Some(entry)
    }

    /// Returns the entry of a marker for the generation types that its triggers exclude, as if the order lacked it.
    pub(super) fn untriggered_marker(&self, marker: &Marker) -> Option<Value> {
        let triggers = other_triggers(self.named(marker.identifier)?)?;
        if marker.identifier == PERSONA && self.persona != PersonaPlace::Marker {
            return None;
        }
        let id = format!("{}{OTHERWISE}", marker.identifier);
        let mut entry = json!({ "id": id, "type": marker.anchor });
        if let Some(name) = marker.content {
            entry["role"] = "system".into();
            entry["content"] = self.formatted(marker, name).into();
        }
        set_triggers(&mut entry, &triggers);
        Some(entry)
    }
}

fn set_triggers(entry: &mut Value, triggers: &[&str]) {
    let Some(entry) = entry.as_object_mut() else { return };
    entry.shift_remove("triggers");
    if !triggers.is_empty() {
        entry.insert("triggers".to_owned(), json!(triggers));
    }
}

/// Returns the generation types that the triggers of a prompt exclude. `None` means that it has no triggers or all.
fn other_triggers(prompt: Prompt<'_>) -> Option<Vec<&'static str>> {
    let triggers = prompt.triggers();
    let others = GenerationKind::WORDS.into_iter().filter(|kind| !triggers.contains(kind));
    let others: Vec<&str> = others.collect();
    (!triggers.is_empty() && !others.is_empty()).then_some(others)
}
