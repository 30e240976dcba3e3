use ctx_types::internal::{NearestName, excerpt, nearest, pointer_step};
use ctx_types::{Diagnostic, Fix, phrase};
use serde_json::Value;

use crate::codes;
use crate::entry::at_least_0;

/// Settings of a scan, with SillyTavern's defaults. Entries can override some of them.
///
/// ```
/// use ctx_worldbook::Settings;
///
/// let file = serde_json::json!({ "depth": 4, "match_whole_words": true });
/// let (settings, findings) = Settings::read(&file);
/// assert_eq!(settings, Settings { depth: 4, match_whole_words: true, ..Settings::default() });
/// assert!(findings.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Settings {
    /// Messages to search. Default: 2.
    pub depth: u64,
    /// Minimum number of active entries. With fewer, more messages are searched, one at a time. Default: 0.
    pub min_activations: u64,
    /// Depth above which `min_activations` adds no messages; 0 means unlimited. Default: 0.
    pub min_activations_depth_max: u64,
    /// Budget in percent of the context; 0 disables the percentage. Default: 25.
    pub budget_percent: f64,
    /// Maximum budget in tokens; 0 means unlimited. Default: 0.
    pub budget_cap: u64,
    /// Whether speaker names are searched. Default: true.
    pub include_names: bool,
    /// Whether active entries are searched. Default: false.
    pub recursive: bool,
    /// Whether keys are case-sensitive. Default: false.
    pub case_sensitive: bool,
    /// Whether single-word keys match whole words only. Default: false.
    pub match_whole_words: bool,
    /// Order of character and global books.
    pub strategy: CharacterStrategy,
    /// Whether the number of matching keys decides in groups. Default: false.
    pub use_group_scoring: bool,
    /// Maximum number of passes; 0 means unlimited. Default: 0.
    pub max_recursion_steps: u64,
}

/// Order of character and global books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CharacterStrategy {
    /// Mixed, by the order of entries.
    Evenly,
    /// Character books first.
    #[default]
    CharacterFirst,
    /// Global books first.
    GlobalFirst,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            depth: 2,
            min_activations: 0,
            min_activations_depth_max: 0,
            budget_percent: 25.0,
            budget_cap: 0,
            include_names: true,
            recursive: false,
            case_sensitive: false,
            match_whole_words: false,
            strategy: CharacterStrategy::CharacterFirst,
            use_group_scoring: false,
            max_recursion_steps: 0,
        }
    }
}

/// Returns false for an invalid value.
type Set = fn(&mut Settings, &Value) -> bool;

/// Names without case and `_`, main name first.
const FIELDS: [(&[&str], Set); 14] = [
    (&["depth"], |settings, value| count(&mut settings.depth, value)),
    (&["defaultScanDepth", "scanDepth"], |settings, value| count(&mut settings.depth, value)),
    (&["disableRecursion"], |settings, value| {
        let is_disabled = value.as_bool();
        settings.recursive = is_disabled.map_or(settings.recursive, |is_disabled| !is_disabled);
        is_disabled.is_some()
    }),
    (&["min_activations"], |settings, value| count(&mut settings.min_activations, value)),
    (&["min_activations_depth_max"], |settings, value| count(&mut settings.min_activations_depth_max, value)),
    (&["budget", "budget_percent"], |settings, value| {
        let percent = number(value).filter(|percent| *percent >= 0.0);
        settings.budget_percent = percent.unwrap_or(settings.budget_percent);
        percent.is_some()
    }),
    (&["budget_cap"], |settings, value| count(&mut settings.budget_cap, value)),
    (&["include_names"], |settings, value| switch(&mut settings.include_names, value)),
    (&["recursive"], |settings, value| switch(&mut settings.recursive, value)),
    (&["case_sensitive"], |settings, value| switch(&mut settings.case_sensitive, value)),
    (&["match_whole_words"], |settings, value| switch(&mut settings.match_whole_words, value)),
    (&["character_strategy", "strategy"], strategy),
    (&["use_group_scoring"], |settings, value| switch(&mut settings.use_group_scoring, value)),
    (&["max_recursion_steps"], |settings, value| count(&mut settings.max_recursion_steps, value)),
];

/// Settings that do not affect activation.
const ELSEWHERE: [&str; 2] = ["overflowalert", "worldinfo"];

impl Settings {
    /// Reads a JSON object. Diagnostics have JSON pointers.
    ///
    /// Accepts SillyTavern's names (also under `world_info_settings`, in camel case, or without
    /// `world_info_`) and AIO Hub's `disableRecursion` and `defaultScanDepth`.
    pub fn read(value: &Value) -> (Self, Vec<Diagnostic>) {
        let mut settings = Self::default();
        let findings = settings.set(value);
        (settings, findings)
    }

    /// Applies an object as [`Settings::read`] does, and keeps the rest.
    pub fn set(&mut self, value: &Value) -> Vec<Diagnostic> {
        let mut nested = ["world_info_settings", "worldInfoSettings"].into_iter();
        let nested = nested.find_map(|key| Some((format!("/{key}"), value.get(key)?)));
        let (place, value) = nested.unwrap_or((String::new(), value));
        let Value::Object(map) = value else {
            let finding = Diagnostic::error(codes::BAD_SETTING, phrase!("the settings must be an object"));
            return vec![finding.at_pointer(place)];
        };
        let mut findings = Vec::new();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            let found = self.set_one(key, value);
            let pointer = format!("{place}/{}", pointer_step(key));
            findings.extend(found.map(|finding| finding.at_pointer(pointer)));
        }
        findings
    }

    fn set_one(&mut self, key: &str, value: &Value) -> Option<Diagnostic> {
        let name = plain(key);
        if ELSEWHERE.contains(&name.as_str()) {
            return None;
        }
        match find_field(&name) {
            Some((_, set)) => (!set(self, value)).then(|| bad_value(key)),
            None => Some(unknown(key, &name)),
        }
    }
}

fn find_field(plain: &str) -> Option<&'static (&'static [&'static str], Set)> {
    FIELDS.iter().find(|(names, _)| names.iter().any(|name| plain_of(name) == plain))
}

fn plain(key: &str) -> String {
    let name = plain_of(key);
    name.strip_prefix("worldinfo").filter(|rest| !rest.is_empty()).map(str::to_owned).unwrap_or(name)
}

fn plain_of(key: &str) -> String {
    key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

fn bad_value(key: &str) -> Diagnostic {
    let message = phrase!("invalid value of `{key}`; it is ignored", key = excerpt(key));
    let help = phrase!("write a number from 0 up, `true`, or `false`, as the setting requires, or remove it");
    Diagnostic::error(codes::BAD_SETTING, message).with_help(help)
}

fn unknown(key: &str, name: &str) -> Diagnostic {
    let finding =
        Diagnostic::warning(codes::BAD_SETTING, phrase!("unknown setting `{key}`", key = excerpt(key)));
    let names: Vec<String> = FIELDS.iter().flat_map(|(names, _)| *names).map(|name| plain_of(name)).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    match near.and_then(|near| Some(NearestName { name: find_field(near.name)?.0[0], ..near })) {
        Some(near) => finding.with_guess(near, Fix::key),
        None => finding.with_help(phrase!("remove it")).about_key(),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

fn count(slot: &mut u64, value: &Value) -> bool {
    let found = number(value).filter(|number| *number >= 0.0).map(at_least_0);
    *slot = found.unwrap_or(*slot);
    found.is_some()
}

fn switch(slot: &mut bool, value: &Value) -> bool {
    let found = value.as_bool();
    *slot = found.unwrap_or(*slot);
    found.is_some()
}

fn strategy(settings: &mut Settings, value: &Value) -> bool {
    let name = value.as_str().map(plain_of);
    let found = match (number(value), name.as_deref()) {
        (Some(0.0), _) | (_, Some("evenly")) => Some(CharacterStrategy::Evenly),
        (Some(1.0), _) | (_, Some("characterfirst")) => Some(CharacterStrategy::CharacterFirst),
        (Some(2.0), _) | (_, Some("globalfirst")) => Some(CharacterStrategy::GlobalFirst),
        _ => None,
    };
    settings.strategy = found.unwrap_or(settings.strategy);
    found.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "call sites are easier to read")]
    fn check(file: Value, expected: &Settings, findings: &[&str]) {
        let (settings, found) = Settings::read(&file);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!((&settings, found), (expected, findings.iter().map(ToString::to_string).collect()));
    }

    #[test]
    fn reads_setting_names_of_all_applications() {
        let expected = Settings { depth: 5, recursive: true, ..Settings::default() };
        check(json!({ "depth": 5, "recursive": true }), &expected, &[]);
        check(json!({ "world_info_depth": "5", "world_info_recursive": true }), &expected, &[]);
        check(json!({ "defaultScanDepth": 5, "disableRecursion": false }), &expected, &[]);
        let nested = json!({ "world_info_settings": {
            "world_info_depth": 5, "world_info_recursive": true, "world_info": { "globalSelect": [] },
            "world_info_overflow_alert": false,
        } });
        check(nested, &expected, &[]);
    }

    #[test]
    fn reports_unknown_settings_and_invalid_values() {
        check(
            json!({ "depht": 3, "budget": -1, "recursive": "maybe" }),
            &Settings::default(),
            &[
                "warning[CTX0956]: unknown setting `depht` (at /depht)",
                "error[CTX0956]: invalid value of `budget`; it is ignored (at /budget)",
                "error[CTX0956]: invalid value of `recursive`; it is ignored (at /recursive)",
            ],
        );
        check(json!([]), &Settings::default(), &["error[CTX0956]: the settings must be an object (at /)"]);
    }

    #[test]
    fn suggests_documented_setting_names() {
        for (key, expected) in [
            ("scanDepht", "defaultScanDepth"),
            ("defaultScanDepht", "defaultScanDepth"),
            ("depht", "depth"),
            ("world_info_include_name", "include_names"),
            ("matchWholeWord", "match_whole_words"),
            ("disableRecursoin", "disableRecursion"),
        ] {
            let (_, found) = Settings::read(&json!({ key: 3 }));
            assert_eq!(found[0].help.as_ref().unwrap(), &format!("did you mean `{expected}`?"), "{key}");
            assert_eq!(found[0].fix.as_deref(), Some(&Fix::key(expected)), "{key}");
        }
    }

    #[test]
    fn reads_strategy_as_number_or_name() {
        let strategy = |value: Value| Settings::read(&json!({ "character_strategy": value })).0.strategy;
        assert_eq!(strategy(json!(0)), CharacterStrategy::Evenly);
        assert_eq!(strategy(json!("global_first")), CharacterStrategy::GlobalFirst);
        assert_eq!(strategy(json!(9)), CharacterStrategy::CharacterFirst);
    }
}
