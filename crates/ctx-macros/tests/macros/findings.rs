//! Diagnostics and their spans.

use crate::support;

use ctx_macros::{Dialect, Env, Limits, State, codes};
use ctx_types::{Code, Diagnostic, Severity, Span};
use support::{env, expand, origin, parse};

/// Checks the diagnostics of compilation: code, span, and help.
#[track_caller]
fn check(text: &str, expected: &[(Code, &str, Option<&str>)]) {
    let template = parse(text, Dialect::Aio);
    let found: Vec<_> = template.diagnostics().iter().map(|f| (f.code, place(f, text), help(f))).collect();
    let expected: Vec<_> =
        expected.iter().map(|(code, place, help)| (*code, *place, help.map(str::to_owned))).collect();
    assert_eq!(found, expected, "{text:?}");
}

fn help(finding: &Diagnostic) -> Option<String> {
    finding.help.as_ref().map(ToString::to_string)
}

/// Help text without a similar name.
const LISTED: &str = "list all macros with `ctx macros list`";

fn place<'t>(finding: &Diagnostic, text: &'t str) -> &'t str {
    finding.location.span.map_or("", |Span { start, end }| &text[start..end])
}

#[test]
fn accepts_valid_text_without_diagnostics() {
    check("{{user}} { } }} {{ {{}} {{setvar::a::{{char}}}} {{setvar::a::}}", &[]);
}

#[test]
fn locates_unknown_macro() {
    check("a {{nobody::x}} b", &[(codes::UNKNOWN_MACRO, "{{nobody::x}}", Some(LISTED))]);
}

#[test]
fn suggests_similar_name() {
    check("{{usr}}", &[(codes::UNKNOWN_MACRO, "{{usr}}", Some("did you mean `user`?"))]);
    check("{{User}}", &[(codes::UNKNOWN_MACRO, "{{User}}", Some("did you mean `user`?"))]);
    check(
        "{{discription}}",
        &[(codes::UNKNOWN_MACRO, "{{discription}}", Some("did you mean `description`?"))],
    );
}

#[test]
fn suggests_macro_syntax_of_known_macro() {
    check(
        "{{banned}}",
        &[(codes::UNKNOWN_MACRO, "{{banned}}", Some("set macro syntax `sillytavern` to use it"))],
    );
}

#[test]
fn sorts_diagnostics_by_position() {
    check(
        "{{aaa::{{bbb}}}} {{ccc}}",
        &[
            (codes::UNKNOWN_MACRO, "{{aaa::{{bbb}}}}", Some(LISTED)),
            (codes::UNKNOWN_MACRO, "{{bbb}}", Some(LISTED)),
            (codes::UNKNOWN_MACRO, "{{ccc}}", Some(LISTED)),
        ],
    );
}

#[test]
fn reports_wrong_argument_count() {
    let help = Some("write it like `{{setvar::mood::calm}}`");
    check("{{setvar::a}}", &[(codes::MISSING_ARGUMENT, "{{setvar::a}}", help)]);
    check("{{user::a}}", &[(codes::EXTRA_ARGUMENT, "{{user::a}}", Some("write it like `{{user}}`"))]);
}

#[test]
fn reports_unclosed_call() {
    let help = Some("close it with `}}`");
    check("hi {{user", &[(codes::UNCLOSED_CALL, "{{user", help)]);
    check("{{user} x", &[(codes::UNCLOSED_CALL, "{{user", help)]);
    check("{{setvar::a::b", &[(codes::UNCLOSED_CALL, "{{setvar", help)]);
    check("{{setvar::a::{{user}}", &[(codes::UNCLOSED_CALL, "{{setvar", help)]);
    check("{{nobody", &[]);
}

#[test]
fn counts_excess_diagnostics() {
    let template = parse(&"{{x}}".repeat(1000), Dialect::Aio);
    let last = template.diagnostics().last().unwrap();
    assert_eq!(template.diagnostics().len(), 65);
    assert_eq!(last.to_string(), "info[CTX0101]: 936 more diagnostics in this text are not shown");
}

#[test]
fn omits_compile_diagnostics_when_expanding() {
    assert_eq!(expand("{{nobody}} {{setvar::a}}", Dialect::Aio).diagnostics, []);
}

#[test]
fn keeps_time_macros_without_time() {
    check_run(
        &Env { at_millis: None, ..env() },
        "{{ time }}, {{user}}",
        "{{ time }}, Mei",
        &[(codes::NO_TIME, "{{ time }}")],
    );
    let far = Env { at_millis: Some(i64::MAX), ..env() };
    check_run(&far, "{{date}}", "{{date}}", &[(codes::NO_TIME, "{{date}}")]);
}

#[test]
fn reports_unknown_zone_once() {
    let env = Env { zone: Some("Mars/Olympus".into()), ..env() };
    let expected = "10:30 PM November 7, 2025";
    check_run(&env, "{{time}} {{date}}", expected, &[(codes::UNKNOWN_ZONE, "{{time}}")]);
}

#[test]
fn reports_counting_of_non_numbers() {
    let text = "{{setvar::n::abc}}{{incvar::n}}";
    check_run(&env(), text, "", &[(codes::NOT_A_NUMBER, "{{incvar::n}}")]);
}

#[track_caller]
fn check_run(env: &Env, text: &str, expected: &str, findings: &[(Code, &str)]) {
    let template = parse(text, Dialect::Aio);
    let expansion = template.expand(env, &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, expected);
    assert!(expansion.diagnostics.iter().all(|finding| finding.severity == Severity::Warning));
    let found: Vec<_> = expansion.diagnostics.iter().map(|f| (f.code, place(f, text))).collect();
    assert_eq!(found, findings);
}

#[test]
fn lists_calls_of_template() {
    let template = parse("{{agent}} {{setvar::a::{{time}}}} {{nobody::{{date}}}}", Dialect::Aio);
    let uses: Vec<_> = template.macros().map(|used| (used.name, used.volatile, used.changes_state)).collect();
    assert_eq!(uses, [("char", false, false), ("setvar", false, true), ("time", true, false)]);
    assert_eq!(template.macros().next().unwrap().span, Span::new(0, 9));
}

#[test]
fn reports_values_missing_from_host() {
    let names =
        ["summary", "authorsNote", "chatStart", "instructInput", "defaultSystemPrompt", "systemPrompt"];
    for name in names.into_iter().chain(["firstIncludedMessageId", "firstDisplayedMessageId", "maxContext"]) {
        let expansion = expand(&format!("[{{{{{name}}}}}]"), Dialect::SillyTavern);
        let codes: Vec<Code> = expansion.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!((expansion.text.as_str(), codes), ("[]", vec![codes::NOT_PROVIDED]), "{name}");
    }
    let mut host = env();
    host.texts.insert("summary".into(), "".into());
    let mut state = State::new(Limits::default());
    let expansion = parse("[{{summary}}]", Dialect::SillyTavern).expand(&host, &mut state, &origin());
    assert_eq!((expansion.text.as_str(), expansion.diagnostics), ("[]", vec![]));
}
