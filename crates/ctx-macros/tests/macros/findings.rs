//! Diagnostics and their spans.

use crate::support;

use ctx_macros::{Dialect, Limits, State, codes};
use ctx_types::{Code, Diagnostic, Span};
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
fn lists_calls_of_template() {
    let template = parse("{{agent}} {{setvar::a::{{time}}}} {{nobody::{{date}}}}", Dialect::Aio);
    let uses: Vec<_> = template.macros().map(|used| (used.name, used.volatile)).collect();
    assert_eq!(uses, [("char", false), ("setvar", false), ("time", true)]);
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
