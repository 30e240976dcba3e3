//! `SillyTavern`'s files as an agent: `spec/sillytavern.md` of the shared specification, observed on 1.18.0.

pub(crate) mod arrange;
pub(crate) mod card;
pub(crate) mod chat;
mod export;
pub(crate) mod note;
pub(crate) mod parameters;
pub(crate) mod person;
pub(crate) mod preset;
pub(crate) mod processors;
pub(crate) mod regex_scripts;
pub(crate) mod settings;
mod story;
pub(crate) mod templates;

pub use export::{card_book, export_card, export_card_picture, export_preset, export_regex_scripts};
pub use regex_scripts::read_regex_scripts;

/// The lanes by which what stands at one depth is sorted: the agent's words above the user's above the system's, and
/// among those of one the preset above the note above the card's note above the persona above worldbooks.
pub(crate) mod lanes {
    use serde_json::Value;

    pub(crate) const PROMPT: i64 = 0;
    /// Prompts that the order has above a main prompt at a depth, and that prompt; a note that belongs beside it has its
    /// lane between them or below it.
    pub(crate) const BEFORE_MAIN: i64 = -4;
    pub(crate) const ABOVE_MAIN: i64 = -3;
    pub(crate) const MAIN: i64 = -2;
    pub(crate) const BELOW_MAIN: i64 = -1;
    pub(crate) const NOTE: i64 = 1;
    pub(crate) const CARD_NOTE: i64 = 2;
    pub(crate) const PERSONA: i64 = 3;
    pub(crate) const WORLDBOOK: i64 = 4;

    /// Returns the lane of what one speaks.
    pub(crate) fn of(role: &str, kind: i64) -> i64 {
        let base = match role {
            "assistant" => -20,
            "user" => -10,
            _ => 0,
        };
        base + kind
    }

    /// Returns the settings of a processor that give these lanes to what it brings in.
    pub(crate) fn settings(kind: i64) -> [(&'static str, Value); 3] {
        [
            ("systemLane", of("system", kind).into()),
            ("userLane", of("user", kind).into()),
            ("assistantLane", of("assistant", kind).into()),
        ]
    }
}

/// Returns the role that a number stands for, in notes, personas and worldbooks.
pub(crate) fn role_of_number(number: Option<i64>) -> &'static str {
    match number {
        Some(1) => "user",
        Some(2) => "assistant",
        _ => "system",
    }
}

/// Returns a role as preset entries have it; what is none is the system's.
pub(crate) fn role(name: Option<&str>) -> &'static str {
    match name {
        Some("user") => "user",
        Some("assistant") => "assistant",
        _ => "system",
    }
}

/// The name of the regex rules that came with a card.
pub(crate) const CARD_RULES: &str = "Scripts of the card";

/// The name of the regex rules that came with a preset.
pub(crate) const PRESET_RULES: &str = "Scripts of the preset";
