//! Documents with a part of the agent.

use ctx_types::{Diagnostic, RegexPreset};
use serde_json::Value;

use crate::formats::sillytavern::card::TakenCard;
use crate::formats::sillytavern::regex_scripts::TakenScripts;
use crate::formats::sillytavern::settings::Settings;

/// The used card.
pub(super) struct CardDocument {
    pub(super) report: usize,
    /// The card without its worldbook.
    pub(super) document: Value,
    pub(super) parts: TakenCard,
}

/// The document with the used preset.
pub(super) struct PresetDocument {
    pub(super) report: usize,
    /// The place of the preset in the document.
    pub(super) at: &'static str,
    pub(super) kept_at: String,
    pub(super) document: Value,
}

/// The used settings.
pub(super) struct SettingsDocument {
    pub(super) report: usize,
    pub(super) document: Value,
    pub(super) parts: Settings,
    /// Whether a file before it has a persona.
    pub(super) has_persona: bool,
}

/// The used system prompt.
pub(super) struct PromptDocument {
    pub(super) report: usize,
    /// The place of the prompt in the document.
    pub(super) at: &'static str,
    pub(super) prompt: Value,
}

/// The document with the used agent.
pub(super) struct AgentDocument {
    pub(super) report: usize,
    pub(super) document: Value,
}

/// Regex rules of a file.
pub(super) struct NamedScripts {
    pub(super) name: String,
    pub(super) report: usize,
    /// The place of the scripts in the file.
    pub(super) at: String,
    pub(super) rules: RegexPreset,
    /// Diagnostics with pointers into the scripts.
    pub(super) found: Vec<Diagnostic>,
}

impl NamedScripts {
    /// Scripts from a card, a preset, or settings, which are at a place in their file.
    pub(super) fn inside(name: &str, report: usize, place: &str, taken: TakenScripts) -> Self {
        let TakenScripts { at, rules, found } = taken;
        let rules = RegexPreset { rules, ..RegexPreset::default() };
        Self { name: name.to_owned(), report, at: format!("{place}{at}"), rules, found }
    }
}
