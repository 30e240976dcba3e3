//! What `settings.json` says of agents beside the persona in use and the preset in use.

use serde_json::Value;

use super::regex_scripts::TakenScripts;
use crate::loose::Object;
use crate::source::Source;

/// What is made of `settings.json`.
pub(crate) struct Settings {
    pub(crate) prefers: Preferences,
    /// The settings of the worldbook processor.
    pub(crate) world_info: Object,
    pub(crate) note: Object,
    /// The scripts for all cards.
    pub(crate) scripts: Option<TakenScripts>,
}

/// Whether the texts of a card stand over those of a preset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preferences {
    pub(crate) system_prompt: bool,
    pub(crate) post_history: bool,
}

const MET: &str = "decided when card and preset are combined";

impl Settings {
    /// Takes the settings, or what the other programs take for granted.
    pub(crate) fn take(file: Source<'_>) -> Self {
        let prefers = |key: &str| {
            let field = file.at("power_user").at(key);
            field.flag().approximated(MET).into("/presetMessages").unwrap_or(true)
        };
        Self {
            prefers: Preferences {
                system_prompt: prefers("prefer_character_prompt"),
                post_history: prefers("prefer_character_jailbreak"),
            },
            world_info: world_info(file),
            note: note(file.at("extension_settings/note")),
            scripts: TakenScripts::take(file, "/extension_settings/regex", "Global scripts"),
        }
    }
}

fn note(note: Source<'_>) -> Object {
    let fields = [("defaultInterval", "interval"), ("defaultDepth", "depth")];
    let take = |(from, to): (&str, &str)| {
        let place = format!("/parameters/processors/*/config/{to}");
        Some((to.to_owned(), note.at(from).whole(0).into(place)?.into()))
    };
    fields.into_iter().filter_map(take).collect()
}

/// The settings of world info, by their names in `settings.json`, each with ours and what is shipped.
pub(crate) const WORLD_INFO: [(&str, &str, Shipped); 12] = [
    ("world_info_depth", "depth", Shipped::Number(2)),
    ("world_info_budget", "budgetPercent", Shipped::Number(25)),
    ("world_info_budget_cap", "budgetCap", Shipped::Number(0)),
    ("world_info_min_activations", "minActivations", Shipped::Number(0)),
    ("world_info_min_activations_depth_max", "minActivationsDepthMax", Shipped::Number(0)),
    ("world_info_max_recursion_steps", "maxRecursionSteps", Shipped::Number(0)),
    ("world_info_recursive", "recursive", Shipped::Flag(true)),
    ("world_info_include_names", "includeNames", Shipped::Flag(true)),
    ("world_info_case_sensitive", "caseSensitive", Shipped::Flag(false)),
    ("world_info_match_whole_words", "matchWholeWords", Shipped::Flag(true)),
    ("world_info_use_group_scoring", "useGroupScoring", Shipped::Flag(false)),
    ("world_info_character_strategy", "strategy", Shipped::Strategy),
];

/// What a setting of world info is when nothing says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shipped {
    Number(i64),
    Flag(bool),
    Strategy,
}

fn world_info(file: Source<'_>) -> Object {
    let own = file.at("world_info_settings");
    let around = if own.object().is_some() { own } else { file };
    let take = |(from, to, shipped): (&str, &str, Shipped)| {
        let (field, place) = (around.at(from), format!("/parameters/processors/*/config/{to}"));
        let value: Value = match shipped {
            Shipped::Number(shipped) => field.whole(0).into(place).unwrap_or(shipped).into(),
            Shipped::Flag(shipped) => field.flag().into(place).unwrap_or(shipped).into(),
            Shipped::Strategy => match field.among(&[0, 1, 2]).into(place) {
                Some(0) => "evenly".into(),
                Some(2) => "global_first".into(),
                _ => "character_first".into(),
            },
        };
        (to.to_owned(), value)
    };
    WORLD_INFO.into_iter().map(take).collect()
}
