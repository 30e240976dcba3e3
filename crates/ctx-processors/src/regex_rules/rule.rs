use std::sync::Arc;

use ctx_macros::{Dialect, Registry, Template};
use ctx_regex::Error;
use ctx_types::internal::{Argument, Divider, excerpt, nearest};
use ctx_types::{Diagnostic, Fix, ListPosition, Phrase, RegexRule, Source, SourceKind, Text, Trust, phrase};

use super::find::{Find, PatternSyntax};
use super::form::Form;
use super::replace::Replace;
use super::subject::{Scope, Subject};
use crate::codes;

/// A compiled regex rule.
#[derive(Clone, Debug)]
pub struct Rule {
    source: Source,
    pub(super) scope: Scope,
    pub(super) find: Find,
    pub(super) syntax: PatternSyntax,
    pub(super) replace: Replace,
    pub(super) trims: Vec<Template>,
    /// Whether a macro of the rule changes between turns.
    pub(super) is_volatile: bool,
    pub(super) location: RuleLocation,
}

#[derive(Clone, Debug)]
pub(super) struct RuleLocation {
    /// JSON pointer of the rule.
    pub(super) pointer: String,
    pub(super) document: Option<Arc<str>>,
}

impl RuleLocation {
    pub(super) fn finding(&self, field: &str, finding: Diagnostic) -> Diagnostic {
        let pointer = format!("{}{field}", self.pointer);
        match &self.document {
            Some(document) => finding.at_pointer(pointer).in_document(document.clone()),
            None => finding.at_pointer(pointer),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct RuleContext<'a> {
    pub(super) dialect: Dialect,
    pub(super) registry: &'a Registry,
    pub(super) trust: Trust,
}

impl Rule {
    /// Returns `None` for an invalid rule.
    pub(super) fn compile(
        rule: &RegexRule,
        index: usize,
        place: RuleLocation,
        with: RuleContext<'_>,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let mut report = |field: &str, finding| findings.push(place.finding(field, finding));
        let form = Form::read(rule, &mut report);
        if is_script(rule, &mut report) {
            return None;
        }
        let syntax = PatternSyntax { form, flags: rule.flags.clone().filter(|flags| !flags.is_empty()) };
        let find = find(rule, &syntax, with, &mut report)?;
        let scope = Scope::read(rule, &mut |field, at, name| {
            let mut finding = unknown_value("target", name, &TARGETS);
            finding.fix = finding.fix.map(|fix| Box::new(fix.below(&format!("/{at}"))));
            report(field, finding);
        });
        let replacement = rule.replacement.as_deref().unwrap_or_default();
        let (replace, template) = Replace::read(replacement, form, with.dialect, with.registry);
        for finding in template.diagnostics() {
            report("/replacement", finding.clone());
        }
        let trims = rule.trim_strings.iter();
        let trims = trims.map(|trim| Template::parse(&Text::from(&**trim), with.dialect, with.registry));
        let listed = Some(Arc::new(ListPosition { index, name: rule.name.clone() }));
        let source = Source { id: rule.id.clone(), listed, ..Source::new(SourceKind::Rule, with.trust) };
        let is_volatile = template.macros().any(|used| used.volatile) || find.is_volatile();
        let trims = trims.collect();
        Some(Self { source, scope, find, syntax, replace, trims, is_volatile, location: place })
    }

    /// Returns the source of the text that the rule writes.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the rule's name, or its id, or its JSON pointer.
    pub fn title(&self) -> &str {
        let name = self.source.name().filter(|name| !name.trim().is_empty());
        name.or(self.source.id.as_deref()).unwrap_or(&self.location.pointer)
    }

    /// Returns whether the rule runs on a text.
    pub fn applies_to(&self, subject: Subject) -> bool {
        self.scope.applies_to(subject)
    }
}

/// Scripts never run.
fn is_script(rule: &RegexRule, report: &mut dyn FnMut(&str, Diagnostic)) -> bool {
    match rule.replacement_type.as_deref() {
        None | Some("regex") => return false,
        Some("script") => {}
        Some(other) => {
            report("/replacementType", unknown_value("replacement type", other, &["regex"]));
            return false;
        }
    }
    report("/replacementType", scripts_never_run(rule));
    true
}

fn find(
    rule: &RegexRule,
    syntax: &PatternSyntax,
    with: RuleContext<'_>,
    report: &mut dyn FnMut(&str, Diagnostic),
) -> Option<Find> {
    let text = rule.regex.as_deref().filter(|text| !text.is_empty());
    let Some(text) = text else {
        let finding = Diagnostic::warning(codes::RULE_PATTERN, phrase!("the regex rule has no pattern"));
        report("", finding.with_help(phrase!("set `regex`; the rule is ignored until then")));
        return None;
    };
    if let Some(escaped) = escaping(rule, report) {
        let template = Template::parse(&Text::from(text), with.dialect, with.registry);
        if !template.is_plain() {
            for finding in template.diagnostics() {
                report("/regex", finding.clone());
            }
            return Some(Find::Macros { template: Box::new(template), escaped });
        }
    }
    match syntax.compile(text) {
        Ok(regex) => Some(Find::Fixed(Box::new(regex))),
        Err(error) => {
            let is_of_flags = matches!(
                error,
                Error::UnknownFlag { .. } | Error::DuplicateFlag { .. } | Error::ConflictingFlags
            );
            let field = if is_of_flags && syntax.flags.is_some() { "/flags" } else { "/regex" };
            report(field, bad_pattern(text, &error));
            None
        }
    }
}

/// `None` without macros, or whether their values are escaped.
fn escaping(rule: &RegexRule, report: &mut dyn FnMut(&str, Diagnostic)) -> Option<bool> {
    match rule.substitution_mode.as_deref() {
        None | Some("NONE") => None,
        Some("RAW") => Some(false),
        Some("ESCAPED") => Some(true),
        Some(other) => {
            report("/substitutionMode", unknown_value("mode", other, &["NONE", "RAW", "ESCAPED"]));
            None
        }
    }
}

pub(super) fn bad_pattern(text: &str, error: &Error) -> Diagnostic {
    let message = phrase!(
        "invalid regex pattern `{text}`: {error}",
        text = excerpt(text),
        error = Phrase::original(error.to_string())
    );
    Diagnostic::warning(codes::RULE_PATTERN, message)
        .with_help(phrase!("fix the pattern; the rule is ignored until then"))
}

fn scripts_never_run(rule: &RegexRule) -> Diagnostic {
    let name = rule.name.as_deref().or(rule.id.as_deref()).unwrap_or("without a name");
    let message =
        phrase!("the regex rule `{name}` has a replacement script; scripts never run", name = excerpt(name));
    Diagnostic::warning(codes::RULE_SCRIPT, message)
        .with_help(phrase!("write a `replacement` with groups instead"))
}

const TARGETS: [&str; 7] = ["system", "developer", "user", "assistant", "tool", "worldbook", "reasoning"];

pub(super) fn unknown_value(what: &'static str, value: &str, known: &[&str]) -> Diagnostic {
    let message = phrase!("unknown {what} `{value}`", what = Phrase::from(what), value = excerpt(value));
    let unknown = Diagnostic::warning(codes::RULE_VALUE, message);
    unknown.with_guess_or(nearest(value, known.iter().copied()), Fix::text, || {
        phrase!(
            "use one of {known}; the value is ignored until then",
            known = Argument::names(known, Divider::Comma)
        )
    })
}
