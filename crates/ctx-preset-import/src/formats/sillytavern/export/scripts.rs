//! Regex rules as scripts of `SillyTavern`.

use ctx_types::{Agent, Persist as _, RegexPreset, RegexRule};
use serde_json::{Map, Value, json};

use super::imported;
use crate::formats::sillytavern::regex_scripts::{PLACEMENTS, SUBSTITUTIONS, read_regex_scripts};
use crate::formats::sillytavern::{CARD_RULES, PRESET_RULES};
use crate::kept::IMPORTED;

/// Writes rules as scripts, a list of them.
///
/// A rule that was made of a script and not changed since is that script again; of any other the fields that mean
/// something there are written.
///
/// ```
/// use ctx_preset_import::{export_regex_scripts, read_regex_scripts};
///
/// let scripts = serde_json::json!([{ "findRegex": "/a/g", "replaceString": "b", "placement": [1], "own": null }]);
/// assert_eq!(export_regex_scripts(&read_regex_scripts(scripts.clone()).0), scripts);
/// ```
pub fn export_regex_scripts(rules: &RegexPreset) -> Value {
    Value::Array(rules.rules.iter().map(script).collect())
}

/// Returns the rules that came with a file of a kind, by their name; of an agent that came from none, the first that
/// came with no other file.
pub(super) fn rules_of<'a>(agent: &'a Agent, name: &str, kind: &str) -> Option<&'a RegexPreset> {
    let presets = &agent.regex_config.as_ref()?.presets;
    let has_name = |rules: &RegexPreset, name: &str| rules.name.as_deref() == Some(name);
    let own = presets.iter().find(|rules| has_name(rules, name));
    let is_free = |rules: &&RegexPreset| ![CARD_RULES, PRESET_RULES].iter().any(|name| has_name(rules, name));
    own.or_else(|| presets.iter().find(is_free).filter(|_| imported(agent, kind).is_none()))
}

fn script(rule: &RegexRule) -> Value {
    if rule.kept.is_malformed() {
        return rule.write();
    }
    let original = rule.kept.get(IMPORTED);
    if let Some(original) = original {
        let (read, _) = read_regex_scripts(original.clone());
        if read.rules.first() == Some(rule) {
            return original.clone();
        }
    }
    let mut script = original.and_then(Value::as_object).cloned().unwrap_or_default();
    write(rule, &mut script);
    Value::Object(script)
}

fn write(rule: &RegexRule, script: &mut Map<String, Value>) {
    let stage = |stage: fn(&ctx_types::RegexStages) -> Option<bool>| {
        rule.apply_to.as_ref().map_or(Some(true), stage).unwrap_or(false)
    };
    let depth = |depth: fn(&ctx_types::RegexDepths) -> Option<i64>| rule.depth_range.as_ref().and_then(depth);
    let fields = [
        ("id", json!(rule.id)),
        ("scriptName", json!(rule.name)),
        ("findRegex", json!(rule.regex)),
        ("replaceString", json!(rule.replacement.as_deref().unwrap_or_default())),
        ("trimStrings", json!(rule.trim_strings)),
        ("placement", placement(rule)),
        ("disabled", json!(rule.enabled == Some(false))),
        ("markdownOnly", json!(stage(|stages| stages.render))),
        ("promptOnly", json!(stage(|stages| stages.request))),
        ("runOnEdit", json!(rule.run_on_edit.unwrap_or(false))),
        ("substituteRegex", json!(substitution(rule))),
        ("minDepth", json!(depth(|depths| depths.min))),
        ("maxDepth", json!(depth(|depths| depths.max))),
    ];
    script.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
}

fn substitution(rule: &RegexRule) -> usize {
    let mode = SUBSTITUTIONS.iter().position(|mode| rule.substitution_mode.as_deref() == Some(*mode));
    mode.unwrap_or(0)
}

fn placement(rule: &RegexRule) -> Value {
    // Without a list a rule is for what everybody says.
    let is_for_all = rule.target_roles.is_empty() && !rule.write()["targetRoles"].is_array();
    let is_target = |field: &str, target: &str| {
        let is_role = field == "/targetRoles";
        let targets = if is_role { &rule.target_roles } else { &rule.target_texts };
        is_role && is_for_all || targets.iter().any(|own| &**own == target)
    };
    let numbers = PLACEMENTS.iter().filter(|(_, field, target)| is_target(field, target));
    numbers.map(|(number, ..)| *number).collect()
}
