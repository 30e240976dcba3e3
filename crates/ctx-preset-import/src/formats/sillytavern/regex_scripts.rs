//! `SillyTavern`'s regex scripts, as regex rules.

use std::sync::Arc;

use ctx_types::{
    Diagnostic, Persist as _, Phrase, Reader, RegexDepths, RegexPreset, RegexRule, RegexStages, phrase,
};
use serde_json::Value;

use crate::codes;
use crate::kept::IMPORTED;
use crate::loose::whole_of;
use crate::report::NOT_READ;
use crate::source::{Source, SourceNode};

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
#[expect(clippy::needless_pass_by_value, reason = "public API")]
pub fn read_regex_scripts(scripts: Value) -> (RegexPreset, Vec<Diagnostic>) {
    take(SourceNode::new(&scripts).source())
}

/// Where the rules of a list go; its number among the others is known when all files are there.
pub(crate) const LIST: &str = "/regexConfig/presets/*";

/// Takes the fields of a script or of a list of them.
pub(crate) fn take(scripts: Source<'_>) -> (RegexPreset, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let rules = match scripts.value() {
        Some(Value::Array(_)) => {
            scripts.lead_to(LIST).list().into("");
            let mut read = |(index, script)| rule(script, &format!("/{index}"), &mut findings);
            scripts.items().map(&mut read).collect()
        }
        _ => vec![rule(scripts, "", &mut findings)],
    };
    if let Some(more) = findings.len().checked_sub(MOST_FINDINGS + 1) {
        findings.truncate(MOST_FINDINGS);
        findings.push(Diagnostic::more(more + 1, "these scripts"));
    }
    (RegexPreset { rules, ..RegexPreset::default() }, findings)
}

/// The rules of a list of scripts, which is at a place of its document.
pub(crate) struct TakenScripts {
    pub(crate) at: String,
    pub(crate) rules: RegexPreset,
    /// Diagnostics with pointers into the list.
    pub(crate) found: Vec<Diagnostic>,
}

impl TakenScripts {
    /// Takes the list at a place of a document as rules with a name.
    pub(crate) fn take(file: Source<'_>, at: &str, name: &str) -> Option<Self> {
        let scripts = file.at_pointer(at);
        scripts.value().filter(|scripts| scripts.is_array())?;
        let (rules, found) = take(scripts);
        Some(Self { at: at.to_owned(), rules: RegexPreset { name: Some(name.into()), ..rules }, found })
    }
}

/// How many findings are told of one list of scripts.
const MOST_FINDINGS: usize = 1_000;

struct Script<'a> {
    source: Source<'a>,
    pointer: &'a str,
    findings: &'a mut Vec<Diagnostic>,
}

fn rule(source: Source<'_>, pointer: &str, findings: &mut Vec<Diagnostic>) -> RegexRule {
    let place = format!("{LIST}/rules/*");
    if source.object().is_none() {
        source.keep_at(place);
        findings.push(not_a_script().at_pointer(pointer));
        return RegexRule::read(source.value().cloned().unwrap_or_default(), &mut Reader::new());
    }
    let source = source.keep_at(format!("{place}/imported")).lead_to(place);
    let mut script = Script { source, pointer, findings };
    let mut rule = RegexRule {
        id: script.text("id"),
        name: script.text("scriptName"),
        enabled: script.flag("disabled").map(|disabled| !disabled),
        regex: script.text("findRegex"),
        replacement: script.text("replaceString"),
        trim_strings: script.trimmed(),
        substitution_mode: script.mode().map(Into::into),
        depth_range: script.depths(),
        run_on_edit: script.flag("runOnEdit"),
        dialect: Some("sillytavern".into()),
        ..RegexRule::default()
    };
    let is_everywhere = script.placements(&mut rule);
    rule.apply_to = Some(script.stages(is_everywhere));
    rule.kept.set(IMPORTED, source.value().cloned().unwrap_or_default());
    rule
}

pub(crate) fn not_a_script() -> Diagnostic {
    Diagnostic::error(codes::SCRIPT_VALUE, phrase!("the regex script must be an object"))
}

/// Reports a value of a script that cannot be read.
pub(crate) fn wrong_value(key: &str, expected: &'static str) -> Diagnostic {
    let expected = Phrase::from(expected);
    Diagnostic::warning(
        codes::SCRIPT_VALUE,
        phrase!("`{key}` of the regex script must be {expected}", key, expected),
    )
}

/// The fields of a script, each with its place in a rule.
pub(crate) const FIELDS: [(&str, &str); 13] = [
    ("id", "/id"),
    ("scriptName", "/name"),
    ("disabled", "/enabled"),
    ("findRegex", "/regex"),
    ("replaceString", "/replacement"),
    ("trimStrings", "/trimStrings"),
    ("placement", "/targetRoles"),
    ("markdownOnly", "/applyTo/render"),
    ("promptOnly", "/applyTo/request"),
    ("substituteRegex", "/substitutionMode"),
    ("minDepth", "/depthRange/min"),
    ("maxDepth", "/depthRange/max"),
    ("runOnEdit", "/runOnEdit"),
];

fn place(key: &str) -> &'static str {
    let field = FIELDS.iter().find(|(theirs, _)| *theirs == key);
    field.map(|(_, ours)| *ours).expect("the table lists every field of the reader")
}

/// What a script changes: the number in its `placement`, the field of a rule, and the value there.
pub(crate) const PLACEMENTS: [(i64, &str, &str); 4] = [
    (1, "/targetRoles", "user"),
    (2, "/targetRoles", "assistant"),
    (5, "/targetTexts", "worldbook"),
    (6, "/targetTexts", "reasoning"),
];

/// The placement of old scripts for the display.
const DISPLAY: i64 = 0;

/// The modes of `substituteRegex`, by their numbers.
pub(crate) const SUBSTITUTIONS: [&str; 3] = ["NONE", "RAW", "ESCAPED"];

const NO_COMMANDS: &str = "slash commands are not supported, so the script cannot change them";

impl Script<'_> {
    /// Reads what the script changes. An old script for the display changes everything, shown or sent; then this
    /// is true.
    fn placements(&mut self, rule: &mut RegexRule) -> bool {
        let placement = self.source.at("placement");
        placement.list().into(place("placement"));
        let take = |(_, item): (usize, Source<'_>)| {
            let number = item.value().and_then(whole_of);
            let placement = PLACEMENTS.iter().find(|(known, ..)| Some(*known) == number);
            match (number, placement) {
                (Some(DISPLAY), _) => drop(item.any().into("/applyTo")),
                (_, Some((_, field, _))) => drop(item.any().into(*field)),
                (Some(3 | 4), _) => item.keep(NO_COMMANDS),
                _ => item.keep(NOT_READ),
            }
            number
        };
        let numbers: Vec<Option<i64>> = placement.items().map(take).collect();
        let is_old = numbers.contains(&Some(DISPLAY));
        let is_all = is_old && numbers.len() == 1;
        let targets = |field: &str| -> Vec<Arc<str>> {
            let is_target =
                |number: i64, own: &str| own == field && (is_all || numbers.contains(&Some(number)));
            let targets = PLACEMENTS.iter().filter(|(number, own, _)| is_target(*number, own));
            targets.map(|(_, _, target)| (*target).into()).collect()
        };
        rule.target_roles = targets("/targetRoles");
        // An empty list means none; a missing one would mean the usual roles.
        rule.kept.set("targetRoles", Value::Array(Vec::new()));
        rule.target_texts = targets("/targetTexts");
        if numbers.iter().any(|number| matches!(number, Some(3 | 4))) {
            self.report("placement", Diagnostic::info(codes::SCRIPT_PLACEMENT, phrase!(NO_COMMANDS)));
        }
        if !numbers.iter().all(|number| matches!(number, Some(0..=6))) {
            let message = phrase!("unknown number in `placement`");
            self.report("placement", Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        is_old
    }

    /// Reads for what texts are made when the script runs: without a flag those that are stored.
    fn stages(&mut self, is_everywhere: bool) -> RegexStages {
        let keys = ["markdownOnly", "promptOnly"];
        let [render, request] = keys.map(|key| is_everywhere || self.flag(key) == Some(true));
        if is_everywhere {
            for key in keys {
                self.source.at(key).keep("an old display script applies to both display and requests");
            }
        }
        RegexStages {
            render: Some(render),
            request: Some(request),
            store: Some(!render && !request),
            ..RegexStages::default()
        }
    }

    /// Reads the depths. `SillyTavern` takes no notice of a least depth below −1 and of a greatest below 0.
    fn depths(&mut self) -> Option<RegexDepths> {
        let min = self.number("minDepth", |min| min >= -1);
        let max = self.number("maxDepth", |max| max >= 0);
        (min.is_some() || max.is_some()).then(|| RegexDepths { min, max, ..RegexDepths::default() })
    }

    fn mode(&mut self) -> Option<&'static str> {
        const KEY: &str = "substituteRegex";
        let mode = self.number(KEY, |mode| (0..=2).contains(&mode));
        if mode.is_none() && self.source.at(KEY).value().and_then(whole_of).is_some() {
            let message = phrase!("`substituteRegex` must be 0, 1, or 2");
            self.report(KEY, Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        SUBSTITUTIONS.get(usize::try_from(mode?).ok()?).copied()
    }

    fn text<T: for<'t> From<&'t str>>(&mut self, key: &str) -> Option<T> {
        let read = self.source.at(key).text().into(place(key));
        self.expect(key, "a string", read.is_some());
        read.map(T::from)
    }

    fn trimmed<T: for<'t> From<&'t str>>(&mut self) -> Vec<T> {
        let (key, texts) = ("trimStrings", self.source.at("trimStrings"));
        // An empty list is not written.
        let read = texts.list().into("");
        texts.each_text(place(key));
        self.expect(key, "a list of strings", read.is_some());
        let items = read.unwrap_or_default();
        if !items.iter().all(Value::is_string) {
            let message = phrase!("`{key}` of a regex script must contain only strings", key);
            self.report(key, Diagnostic::warning(codes::SCRIPT_VALUE, message));
        }
        items.iter().filter_map(Value::as_str).map(T::from).collect()
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        let read = self.source.at(key).flag().into(place(key));
        self.expect(key, "true or false", read.is_some());
        read
    }

    /// Reads a whole number; one that does not fit has no meaning.
    fn number(&mut self, key: &str, fits: impl Fn(i64) -> bool) -> Option<i64> {
        let field = self.source.at(key);
        let number = field.value().and_then(whole_of);
        self.expect(key, "a whole number", number.is_some());
        field.whole_that(fits).into(place(key))
    }

    /// Reports a value that could not be read; null means that it is missing.
    fn expect(&mut self, key: &str, expected: &'static str, is_read: bool) {
        if !is_read && self.source.at(key).filled().value().is_some() {
            self.report(key, wrong_value(key, expected));
        }
    }

    fn report(&mut self, key: &str, finding: Diagnostic) {
        self.findings.push(finding.at_pointer(format!("{}/{key}", self.pointer)));
    }
}
