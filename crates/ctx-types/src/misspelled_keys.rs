//! Detection of misspelled keys.
//!
//! Reports an unknown key only if it clearly resembles a known key, because files have keys of other
//! applications. In preset entries, also reports all keys that are not listed here.

use crate::phrase;
use serde_json::{Map, Value};

use crate::agent::{Agent, PresetMessage, UserProfile};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::fix::Fix;
use crate::persist::{KnownKeys, Reader};
use crate::regex_config::{RegexConfig, RegexRule};
use crate::suggest::nearest_key;
use crate::wording::excerpt;
use crate::worldbook::{Worldbook, WorldbookEntry};

/// Each comparison takes microseconds.
pub(crate) const MAX_COMPARISONS: usize = 20_000;

/// Keys of AIO Hub, SillyTavern, and importers in preset entries.
const OTHER_ENTRY_KEYS: [&str; 35] = [
    "children",
    "childrenIds",
    "comment",
    "createdAt",
    "date",
    "extensions",
    "forbid_overrides",
    "icon",
    "identifier",
    "imported",
    "injection_depth",
    "injection_order",
    "injection_position",
    "injection_trigger",
    "lastSelectedChildId",
    "marker",
    "metadata",
    "model",
    "note",
    "parentId",
    "partType",
    "position",
    "reasoningContent",
    "runId",
    "sourceIndex",
    "sourceType",
    "status",
    "system_prompt",
    "tags",
    "timestamp",
    "title",
    "tool_call_id",
    "tool_calls",
    "translation",
    "updatedAt",
];

/// Foreign keys that resemble known keys. In AIO Hub, some entries spell the cooldown `coldown`.
const OTHER_WORDS: [&str; 12] = [
    "code", "coldown", "context", "contexts", "game", "modes", "names", "node", "older", "roles", "rule",
    "types",
];

/// Entries use `isEnabled`; groups and rules use `enabled`.
const SYNONYMS: [(&str, &str); 6] = [
    ("enabled", "isEnabled"),
    ("isEnabled", "enabled"),
    ("enable", "isEnabled"),
    ("text", "content"),
    ("prompt", "content"),
    ("depth", "injectionStrategy"),
];

impl Reader {
    /// Reports misspelled keys of an object, without a fix if the correct key exists. Ignores null values.
    ///
    /// Makes at most 20,000 comparisons per document and ignores later keys.
    pub fn check_keys(&mut self, object: &Map<String, Value>, known: &[&str]) {
        self.report_unknown_keys(object, known, |_| false);
    }

    /// Reports misspelled keys, and of other unknown keys those that `is_unused` picks.
    fn report_unknown_keys(
        &mut self,
        object: &Map<String, Value>,
        known: &[&str],
        is_unused: impl Fn(&str) -> bool,
    ) {
        for (key, _) in object.iter().filter(|(_, value)| !value.is_null()) {
            let found = match self.find_intended_key(key, known) {
                Some(meant) => {
                    let is_there = object.contains_key(meant);
                    if is_there && may_coexist(key, meant) {
                        continue;
                    }
                    if is_there { duplicate_key(key, meant) } else { misspelled_key(key, meant) }
                }
                None if !known.contains(&key.as_str())
                    && !OTHER_WORDS.contains(&key.as_str())
                    && is_unused(key) =>
                {
                    let message = phrase!("key `{key}` has no effect; it is kept", key = excerpt(key));
                    Diagnostic::info(codes::UNUSED_KEY, message).about_key()
                }
                None => continue,
            };
            self.at_key(key, |reader| reader.report(found));
        }
    }

    fn find_intended_key<'k>(&mut self, key: &str, known: &[&'k str]) -> Option<&'k str> {
        if known.contains(&key) || OTHER_WORDS.contains(&key) || self.comparisons >= MAX_COMPARISONS {
            return None;
        }
        self.comparisons += known.len();
        meant_key(key, known)
    }

    /// Reports a key of an object that probably means a missing key, and returns it.
    pub fn check_missing_key<'o>(
        &mut self,
        object: &'o Map<String, Value>,
        missing: &str,
    ) -> Option<&'o str> {
        let key = object.keys().find(|key| self.find_intended_key(key, &[missing]).is_some())?;
        self.at_key(key, |reader| reader.report(misspelled_key(key, missing)));
        Some(key)
    }

    fn check_unknown_keys(&mut self, value: &impl KnownKeys) {
        let (kept, known) = value.known_keys();
        if let Some(object) = kept.map() {
            self.check_keys(object, known);
        }
    }

    fn check_items<T>(&mut self, key: &str, items: &[T], look: impl Fn(&T, &mut Self)) {
        self.at_key(key, |reader| {
            for (index, item) in items.iter().enumerate() {
                reader.at_index(index, |reader| look(item, reader));
            }
        });
    }

    fn check_value<T>(&mut self, key: &str, value: Option<&T>, look: impl FnOnce(&T, &mut Self)) {
        if let Some(value) = value {
            self.at_key(key, |reader| look(value, reader));
        }
    }
}

/// Returns the known key that an unknown key probably means: a synonym, or a key that differs little.
pub fn meant_key<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let is_known = |name: &&(&str, &str)| name.0 == key && known.contains(&name.1);
    let synonym =
        SYNONYMS.iter().find(is_known).and_then(|(_, meant)| known.iter().find(|key| key == &meant));
    synonym.copied().or_else(|| nearest_key(key, known.iter().copied()))
}

fn misspelled_key(key: &str, meant: &str) -> Diagnostic {
    let message = phrase!("unknown key `{key}`", key = excerpt(key));
    let found = Diagnostic::warning(codes::MISSPELT_KEY, message).about_key();
    match meant {
        "injectionStrategy" if key == "depth" => {
            found.with_help(phrase!("move the value to `injectionStrategy.depth`"))
        }
        _ => found.with_suggestion(meant).with_fix(Fix::key(meant)),
    }
}

fn duplicate_key(key: &str, meant: &str) -> Diagnostic {
    let message = phrase!("unknown key `{key}`", key = excerpt(key));
    let help = phrase!("remove one of the two: `{meant}` is set too", meant = excerpt(meant));
    Diagnostic::warning(codes::MISSPELT_KEY, message).about_key().with_help(help)
}

/// Applications also write synonyms and plurals.
fn may_coexist(key: &str, known: &str) -> bool {
    let is_plural = |many: &str, one: &str| many.strip_suffix('s') == Some(one);
    SYNONYMS.contains(&(key, known)) || is_plural(key, known) || is_plural(known, key)
}

/// Reports misspelled keys in an agent and all its parts. O(keys · known keys).
pub fn check_agent_keys(agent: &Agent) -> Vec<Diagnostic> {
    let mut reader = Reader::new();
    reader.check_unknown_keys(agent);
    reader.check_value("character", agent.character.as_ref(), check_plain);
    reader.check_items("presetMessages", &agent.preset_messages, check_entry);
    reader.check_items("presetGroups", &agent.preset_groups, check_plain);
    reader.check_items("greetings", &agent.greetings, check_plain);
    reader.check_value("regexConfig", agent.regex_config.as_ref(), check_regex_config);
    reader.finish()
}

/// Reports misspelled keys in a user profile, like [`check_agent_keys`].
pub fn check_profile_keys(profile: &UserProfile) -> Vec<Diagnostic> {
    let mut reader = Reader::new();
    reader.check_unknown_keys(profile);
    reader.check_value("regexConfig", profile.regex_config.as_ref(), check_regex_config);
    reader.finish()
}

/// Reports misspelled keys in worldbook entries, like [`check_agent_keys`].
///
/// Skips entries with `_` in a key: tools also write the similar keys of character cards.
pub fn check_worldbook_keys(book: &Worldbook) -> Vec<Diagnostic> {
    let mut reader = Reader::new();
    reader.at_key("entries", |reader| {
        for (key, entry) in book.entries.iter() {
            reader.at_key(key, |reader| check_worldbook_entry(entry, reader));
        }
    });
    reader.finish()
}

fn check_plain<T: KnownKeys>(value: &T, reader: &mut Reader) {
    reader.check_unknown_keys(value);
}

fn check_entry(entry: &PresetMessage, reader: &mut Reader) {
    if let Some(object) = entry.kept.map() {
        // Those of other applications are not reported.
        let is_unused = |key: &str| !OTHER_ENTRY_KEYS.contains(&key);
        reader.report_unknown_keys(object, PresetMessage::KEYS, is_unused);
    }
    reader.check_value("injectionStrategy", entry.injection_strategy.as_ref(), check_plain);
    reader.check_value("modelMatch", entry.model_match.as_ref(), check_plain);
}

fn check_regex_config(config: &RegexConfig, reader: &mut Reader) {
    reader.check_unknown_keys(config);
    reader.check_items("presets", &config.presets, |preset, reader| {
        reader.check_unknown_keys(preset);
        reader.check_items("rules", &preset.rules, check_regex_rule);
    });
}

fn check_regex_rule(rule: &RegexRule, reader: &mut Reader) {
    reader.check_unknown_keys(rule);
    reader.check_value("applyTo", rule.apply_to.as_ref(), check_plain);
    reader.check_value("depthRange", rule.depth_range.as_ref(), check_plain);
}

fn check_worldbook_entry(entry: &WorldbookEntry, reader: &mut Reader) {
    if let Some(object) = entry.kept.map() {
        let is_ours = |key: &str| !key.contains('_') || WorldbookEntry::KEYS.contains(&key);
        if object.keys().all(|key| is_ours(key)) {
            reader.check_keys(object, WorldbookEntry::KEYS);
        }
    }
    reader.check_value("characterFilter", entry.character_filter.as_ref(), check_plain);
}
