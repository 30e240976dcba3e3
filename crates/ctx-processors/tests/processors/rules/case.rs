use ctx_macros::{Dialect, Env, Limits, Registry, State, Template};
use ctx_processors::regex_rules::{
    RewrittenText, RuleLimits, RuleRun, RuleSet, RuleSource, Stage, Subject, Target,
};
use ctx_types::{Diagnostic, Persist as _, Reader, RegexConfig, Role, Source, Text, Trust};
use serde_json::{Value, json};

/// The newest reply, on display.
pub(crate) const ANSWER: Subject =
    Subject { stage: Stage::Render, target: Target::Message(Role::Assistant), depth: Some(0) };

pub(crate) fn rules(rules: Value) -> (RuleSet, Vec<Diagnostic>) {
    set(json!({ "presets": [{ "rules": rules }] }), Dialect::Aio)
}

pub(crate) fn set(config: Value, dialect: Dialect) -> (RuleSet, Vec<Diagnostic>) {
    let mut reader = Reader::new();
    let config = RegexConfig::read(config, &mut reader);
    let source = RuleSource { config: &config, place: "/regexConfig", document: None, trust: Trust::Preset };
    let (set, found) = RuleSet::compile(&[source], dialect, &Registry::builtin());
    (set, [reader.finish(), found].concat())
}

pub(crate) fn run(
    set: &RuleSet,
    limits: RuleLimits,
    texts: &[(&str, Subject)],
) -> (Vec<RewrittenText>, Vec<Diagnostic>) {
    let env = Env { user: Some("Mei".into()), char: Some("A.B".into()), ..Env::default() };
    let mut state = State::new(Limits::default());
    let mut expand = |template: &Template, source: &Source| template.expand(&env, &mut state, source);
    let mut run = RuleRun::new(set, limits, &mut expand);
    let after = texts.iter().map(|(text, subject)| run.apply(&Text::from(*text), *subject)).collect();
    (after, run.finish())
}

/// Runs twice: the second result is cached.
#[track_caller]
pub(crate) fn check(config: Value, text: &str, expected: &str) {
    check_in(Dialect::Aio, config, text, expected);
}

#[track_caller]
pub(crate) fn check_in(dialect: Dialect, rules: Value, text: &str, expected: &str) {
    let (set, found) = set(json!({ "presets": [{ "rules": rules }] }), dialect);
    assert_eq!(found, []);
    for _ in 0..2 {
        let (after, found) = run(&set, RuleLimits::default(), &[(text, ANSWER)]);
        assert_eq!(after[0].text, expected);
        assert_eq!(after[0].is_changed(), text != expected);
        assert_eq!(found, []);
    }
}
