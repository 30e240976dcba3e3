//! Entries that stand for a prompt once more: where the order repeats it, and where it is not for a kind of generation.

use ctx_types::GenerationKind;
use serde_json::{Value, json};

use super::original::overriding;
use super::{Arrangement, MAIN, Marker, PERSONA, entry};
use crate::formats::sillytavern::person::PersonaPlace;
use crate::formats::sillytavern::preset::Prompt;

/// The end of the id of an entry that stands for a prompt in the kinds of generation that the prompt is not for.
const OTHERWISE: &str = ":otherwise";

/// Returns the prompt of an entry that stands for it once more, by its id.
pub(crate) fn repeated(id: &str) -> Option<&str> {
    let (identifier, number) = id.rsplit_once(':')?;
    (number == &OTHERWISE[1..] || number.parse::<usize>().is_ok()).then_some(identifier)
}

impl<'v> Arrangement<'v> {
    /// Returns a prompt that the order has once more.
    pub(super) fn repeated_prompt(&self, identifier: &str, count: usize) -> Option<Value> {
        let prompt = self.named(identifier)?;
        let content = self.content(identifier, Some(prompt));
        let id = format!("{identifier}:{count}");
        Some(entry(Some(prompt), &id, &content, true, self.lane(identifier)))
    }

    /// Returns what stands for the main prompt where it is off or not for a kind of generation: `SillyTavern` empties
    /// it then. A card's text stands over it only in the latter case.
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

    /// Returns a marker where its prompt is not for a kind of generation: as if the order did not have it.
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

/// Returns the kinds of generation that a prompt is not for; none if it is for all.
fn other_triggers(prompt: Prompt<'_>) -> Option<Vec<&'static str>> {
    let triggers = prompt.triggers();
    let others = GenerationKind::WORDS.into_iter().filter(|kind| !triggers.contains(kind));
    let others: Vec<&str> = others.collect();
    (!triggers.is_empty() && !others.is_empty()).then_some(others)
}
