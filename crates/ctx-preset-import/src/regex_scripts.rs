//! `SillyTavern`'s regex scripts, as regex rules.

use ctx_types::{
    Diagnostic, Persist as _, Reader, RegexDepths, RegexPreset, RegexRule, RegexStages, Role, phrase,
};
use serde_json::{Map, Value};

use crate::codes;
use crate::kept;
use crate::loose::whole_of;

/// Makes regex rules of `SillyTavern`'s scripts: one, or a list of them, as files, presets and cards hold them.
///
/// Rules keep the script that they were made of under `imported`. What has no meaning here is a finding with
/// its JSON pointer in `scripts`.
///
/// ```
/// use ctx_preset_import::read_regex_scripts;
///
/// let script = serde_json::json!({
///     "scriptName": "no stars", "findRegex": "/\\*/g", "replaceString": "", "placement": [2], "promptOnly": true,
/// });
/// let (preset, findings) = read_regex_scripts(script);
/// assert!(findings.is_empty());
/// assert_eq!(preset.rules[0].target_roles, ["assistant".into()]);
/// assert_eq!(preset.rules[0].apply_to.as_ref().and_then(|stages| stages.request), Some(true));
/// ```
pub fn read_regex_scripts(scripts: Value) -> (RegexPreset, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let rules = match scripts {
        Value::Array(scripts) => {
            let scripts = scripts.into_iter().enumerate();
            scripts.map(|(index, script)| rule(script, &format!("/{index}"), &mut findings)).collect()
        }
        script => vec![rule(script, "", &mut findings)],
    };
    if let Some(more) = findings.len().checked_sub(MOST_FINDINGS + 1) {
        findings.truncate(MOST_FINDINGS);
        findings.push(Diagnostic::more(more + 1, "these scripts"));
    }
    (RegexPreset { rules, ..RegexPreset::default() }, findings)
}

/// How many findings are told of one list of scripts.
const MOST_FINDINGS: usize = 1_000;

/// A script that is being read.
struct Script<'a> {
    map: &'a Map<String, Value>,
    pointer: &'a str,
    findings: &'a mut Vec<Diagnostic>,
}

fn rule(script: Value, pointer: &str, findings: &mut Vec<Diagnostic>) -> RegexRule {
    let Value::Object(map) = script else {
        let finding = Diagnostic::error(codes::SCRIPT_VALUE, phrase!("a regex script is not an object"));
        findings.push(finding.at_pointer(pointer));
        return RegexRule::read(script, &mut Reader::new());
    };
    let mut script = Script { map: &map, pointer, findings };
    let mut rule = RegexRule {
        id: script.text("id"),
        name: script.text("scriptName"),
        enabled: script.flag("disabled").map(|disabled| !disabled),
        regex: script.text("findRegex"),
        replacement: script.text("replaceString"),
        trim_strings: script.texts("trimStrings"),
        substitution_mode: script.mode().map(Into::into),
        depth_range: script.depths(),
        run_on_edit: script.flag("runOnEdit"),
        dialect: Some("sillytavern".into()),
        ..RegexRule::default()
    };
    let is_everywhere = script.placements(&mut rule);
    rule.apply_to = Some(script.stages(is_everywhere));
    kept::set(&mut rule.kept, Value::Object(map));
    rule
}

/// What a script changes, by the numbers in its `placement`.
const DISPLAY: i64 = 0;
const USER_INPUT: i64 = 1;
const AI_OUTPUT: i64 = 2;
const SLASH_COMMAND: i64 = 3;
const SEND_AS: i64 = 4;
const WORLD_INFO: i64 = 5;
const REASONING: i64 = 6;

impl Script<'_> {
    /// Reads what the script changes. An old script for the display changes everything, shown or sent; then this
    /// is true.
    fn placements(&mut self, rule: &mut RegexRule) -> bool {
        let numbers = self.map.get("placement").and_then(Value::as_array).into_iter().flatten();
        let numbers: Vec<Option<i64>> = numbers.map(whole_of).collect();
        let is_old = numbers.contains(&Some(DISPLAY));
        let is_all = is_old && numbers.len() == 1;
        let has = |number| is_all || numbers.contains(&Some(number));
        let roles = [(USER_INPUT, Role::User), (AI_OUTPUT, Role::Assistant)];
        rule.target_roles = roles
            .into_iter()
            .filter(|(number, _)| has(*number))
            .map(|(_, role)| role.as_str().into())
            .collect();
        // An empty list means none; a missing one would mean the usual roles.
        rule.kept.set("targetRoles", Value::Array(Vec::new()));
        let texts = [(WORLD_INFO, "worldbook"), (REASONING, "reasoning")];
        rule.target_texts =
            texts.into_iter().filter(|(number, _)| has(*number)).map(|(_, text)| text.into()).collect();
        let is_known = |number: &Option<i64>| matches!(number, Some(DISPLAY..=REASONING));
        if numbers.iter().any(|number| matches!(number, Some(SLASH_COMMAND | SEND_AS))) {
            let message = phrase!("there are no slash commands that the script could change");
            self.report("placement", Diagnostic::info(codes::SCRIPT_PLACEMENT, message));
        }
        if !numbers.iter().all(is_known) {
            let message = phrase!("a number in `placement` means nothing");
            self.report("placement", Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        is_old
    }

    /// Reads for what texts are made when the script runs: without a flag those that are stored.
    fn stages(&mut self, is_everywhere: bool) -> RegexStages {
        let render = is_everywhere || self.flag("markdownOnly") == Some(true);
        let request = is_everywhere || self.flag("promptOnly") == Some(true);
        RegexStages {
            render: Some(render),
            request: Some(request),
            store: Some(!render && !request),
            ..RegexStages::default()
        }
    }

    /// Reads the depths. `SillyTavern` takes no notice of a least depth below −1 and of a greatest below 0.
    fn depths(&mut self) -> Option<RegexDepths> {
        let min = self.number("minDepth").filter(|min| *min >= -1);
        let max = self.number("maxDepth").filter(|max| *max >= 0);
        (min.is_some() || max.is_some()).then(|| RegexDepths { min, max, ..RegexDepths::default() })
    }

    fn mode(&mut self) -> Option<&'static str> {
        match self.number("substituteRegex")? {
            0 => Some("NONE"),
            1 => Some("RAW"),
            2 => Some("ESCAPED"),
            _ => {
                let message = phrase!("`substituteRegex` is not 0, 1 or 2");
                self.report("substituteRegex", Diagnostic::warning(codes::SCRIPT_VALUE, message));
                None
            }
        }
    }

    fn text<T: for<'t> From<&'t str>>(&mut self, key: &str) -> Option<T> {
        self.value(key, "a text", |value| value.as_str().map(T::from))
    }

    fn texts<T: for<'t> From<&'t str>>(&mut self, key: &str) -> Vec<T> {
        let items = self.value(key, "a list of texts", |value| value.as_array().cloned()).unwrap_or_default();
        if !items.iter().all(Value::is_string) {
            let message = phrase!("`{key}` of a regex script holds more than texts", key);
            self.report(key, Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        items.iter().filter_map(Value::as_str).map(T::from).collect()
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        self.value(key, "true or false", Value::as_bool)
    }

    fn number(&mut self, key: &str) -> Option<i64> {
        self.value(key, "a whole number", whole_of)
    }

    /// Reads a value; null means that it is missing.
    fn value<T>(&mut self, key: &str, expected: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            let message = phrase!("`{key}` of a regex script is not {expected}", key, expected);
            self.report(key, Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        found
    }

    fn report(&mut self, key: &str, finding: Diagnostic) {
        self.findings.push(finding.at_pointer(format!("{}/{key}", self.pointer)));
    }
}
