use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_regex::{Flags, Limits, Regex};
use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, ModelMatch, Phrase, phrase};

use crate::codes;

/// Target of a request, for model matches.
///
/// A missing name matches no pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target<'a> {
    /// Id or display name of the model, such as `gpt-5` or `openrouter/openai/gpt-5`.
    pub model: Option<&'a str>,
    /// Name of the connection profile.
    pub profile: Option<&'a str>,
    /// Generation type, such as `continue`; `None` matches all.
    pub kind: Option<&'a str>,
}

const MAX_PATTERNS: usize = 1_000;

/// Low, because model names are short and a preset may have many patterns.
const LIMITS: Limits = Limits {
    pattern_bytes: 4 << 10,
    build_cost: 2_000,
    compiled_bytes: 256 << 10,
    nest: 32,
    steps: 20_000,
    branches: 20_000,
    output_bytes: 0,
};

#[derive(Debug, Default)]
pub(crate) struct Patterns(BTreeMap<Arc<str>, Result<Regex, String>>);

impl Patterns {
    fn compile(&mut self, pattern: &Arc<str>) -> Result<Regex, String> {
        if let Some(known) = self.0.get(pattern) {
            return known.clone();
        }
        if self.0.len() == MAX_PATTERNS {
            return Err(format!("the preset has more than {MAX_PATTERNS} different ones"));
        }
        let compiled = Regex::new(pattern, Flags::IGNORE_CASE, &LIMITS).map_err(|error| error.to_string());
        self.0.insert(pattern.clone(), compiled.clone());
        compiled
    }
}

/// Follows AIO Hub's `modelMatch`, but ignores empty lists. There, an empty list of profile patterns matches,
/// so that mode `any` never filters.
#[derive(Clone, Debug)]
pub(crate) struct ModelRule {
    all: bool,
    exclude: bool,
    /// `None` if the list is empty. Invalid patterns match nothing.
    models: Option<Vec<Regex>>,
    profiles: Option<Vec<Regex>>,
}

impl ModelRule {
    /// `None` if disabled or without patterns.
    pub(crate) fn compile(
        rule: &ModelMatch,
        patterns: &mut Patterns,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        if rule.enabled != Some(true) {
            return None;
        }
        let mut compile = |list: &[Arc<str>], key: &'static str| {
            let positions = positions(rule, key);
            let compiled = list.iter().enumerate().filter_map(|(index, pattern)| {
                let compiled = patterns.compile(pattern);
                let index = positions.get(index).copied().unwrap_or(index);
                compiled.inspect_err(|error| diagnostics.push(bad_pattern(pattern, key, index, error))).ok()
            });
            let compiled: Vec<Regex> = compiled.collect();
            (!list.is_empty()).then_some(compiled)
        };
        let models = compile(&rule.patterns, "patterns");
        let mut profiles = compile(&rule.profile_patterns, "profilePatterns");
        if rule.match_profile_name == Some(true)
            && let Some(models) = &models
        {
            profiles.get_or_insert_default().extend(models.iter().cloned());
        }
        if models.is_none() && profiles.is_none() {
            return None;
        }
        let all = rule.mode.as_deref() == Some("all");
        Some(Self { all, exclude: rule.exclude == Some(true), models, profiles })
    }

    pub(crate) fn matches_target(&self, target: Target<'_>) -> bool {
        let model = self.models.as_deref().map(|patterns| matches_model(patterns, target.model));
        let profile = self.profiles.as_deref().map(|patterns| matches_name(patterns, target.profile));
        let lists = [model, profile].into_iter().flatten();
        let matched =
            if self.all { lists.into_iter().all(|hit| hit) } else { lists.into_iter().any(|hit| hit) };
        matched != self.exclude
    }
}

/// Tests the full name, the text after the first `:`, and the text after the last `/`.
fn matches_model(patterns: &[Regex], model: Option<&str>) -> bool {
    let Some(model) = model else { return false };
    let after_colon = model.split_once(':').map(|(_, rest)| rest);
    let after_slash = model.rsplit_once('/').map(|(_, rest)| rest);
    [Some(model), after_colon, after_slash].into_iter().any(|name| matches_name(patterns, name))
}

/// A failed search requires a malicious pattern.
fn matches_name(patterns: &[Regex], name: Option<&str>) -> bool {
    let matches = |name| patterns.iter().any(|pattern| pattern.is_match(name).unwrap_or(false));
    name.is_some_and(matches)
}

/// Indexes in the file's list, which may contain other values.
fn positions(rule: &ModelMatch, key: &str) -> Vec<usize> {
    let items = rule.kept.get(key).and_then(|list| list.as_array()).into_iter().flatten();
    items.enumerate().filter(|(_, item)| item.is_string()).map(|(position, _)| position).collect()
}

fn bad_pattern(pattern: &str, key: &str, index: usize, error: &str) -> Diagnostic {
    let message = phrase!(
        "invalid model pattern `{pattern}`: {error}",
        pattern = excerpt(pattern),
        error = Phrase::original(error)
    );
    Diagnostic::warning(codes::MODEL_PATTERN, message)
        .at_pointer(format!("/modelMatch/{key}/{index}"))
        .with_help(phrase!("fix the pattern; it matches no model until then"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Persist as _, Reader};
    use serde_json::{Value, json};

    #[track_caller]
    fn check(rule: Value, model: Option<&str>, profile: Option<&str>, expected: bool) {
        let rule = ModelMatch::read(rule, &mut Reader::new());
        let compiled = ModelRule::compile(&rule, &mut Patterns::default(), &mut Vec::new());
        let found =
            compiled.is_none_or(|compiled| compiled.matches_target(Target { model, profile, kind: None }));
        assert_eq!(found, expected);
    }

    #[test]
    fn matches_model_or_profile() {
        let gpt = json!({ "enabled": true, "patterns": ["^gpt"] });
        check(gpt.clone(), Some("GPT-5"), Some("x"), true);
        check(gpt.clone(), Some("claude"), Some("x"), false);
        check(gpt.clone(), None, None, false);
        check(gpt.clone(), Some("profile:gpt-5"), None, true);
        check(gpt, Some("openrouter/openai/gpt-5"), None, true);
        let home = json!({ "enabled": true, "patterns": ["home"], "matchProfileName": true });
        check(home, Some("gpt"), Some("my home"), true);
        let no_mini = json!({ "enabled": true, "patterns": ["^(?!.*mini)gpt"] });
        check(no_mini.clone(), Some("gpt-5"), None, true);
        check(no_mini, Some("gpt-5-mini"), None, false);
    }

    #[test]
    fn rejects_model_if_pattern_exceeds_step_limit() {
        let rule = json!({ "enabled": true, "patterns": [r"((a+)+\2)+!|x$"] });
        check(rule.clone(), Some("aax"), None, true);
        check(rule, Some("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax"), None, false);
    }

    #[track_caller]
    fn check_findings(rule: Value, expected: &[&str]) {
        let rule = ModelMatch::read(rule, &mut Reader::new());
        let mut diagnostics = Vec::new();
        let compiled = ModelRule::compile(&rule, &mut Patterns::default(), &mut diagnostics).unwrap();
        assert!(!compiled.matches_target(Target { model: Some("("), profile: Some("("), kind: None }));
        let found: Vec<_> =
            diagnostics.iter().map(|found| found.location.pointer.as_deref().unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn reports_invalid_pattern_and_matches_nothing() {
        check_findings(json!({ "enabled": true, "patterns": ["("] }), &["/modelMatch/patterns/0"]);
        check_findings(json!({ "enabled": true, "patterns": [7, null, "("] }), &["/modelMatch/patterns/2"]);
        check_findings(
            json!({ "enabled": true, "profilePatterns": ["a", "("] }),
            &["/modelMatch/profilePatterns/1"],
        );
    }

    #[test]
    fn limits_patterns_per_preset() {
        let patterns: Vec<String> = (0..MAX_PATTERNS + 2).map(|number| format!("model {number}")).collect();
        let last = format!("/modelMatch/patterns/{}", MAX_PATTERNS + 1);
        let first = format!("/modelMatch/patterns/{MAX_PATTERNS}");
        check_findings(json!({ "enabled": true, "patterns": patterns }), &[&first, &last]);
    }
}
