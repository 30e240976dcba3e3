//! Invalid arguments of each macro: result and diagnostic in every macro syntax.

use crate::support;

use ctx_macros::{Dialect, Limits, Registry, State, codes};
use ctx_types::Code;
use support::{env, origin, parse};

/// The call is left unchanged.
const KEPT: &str = "(kept)";

const UNKNOWN: Code = codes::UNKNOWN_MACRO;
const MISSING: Code = codes::MISSING_ARGUMENT;
const EXTRA: Code = codes::EXTRA_ARGUMENT;
const FORM: Code = codes::UNREAD_CALL;
const END: Code = codes::UNMATCHED_CLOSER;
const OPEN: Code = codes::UNCLOSED_CALL;
const ZONE: Code = codes::UNKNOWN_ZONE;
const NOT_A_NUMBER: Code = codes::NOT_A_NUMBER;
const INEXACT: Code = codes::INEXACT_NUMBER;
const FAILED: Code = codes::MACRO_FAILED;
const BAD: Code = codes::BAD_ARGUMENT;
const PATTERN: Code = codes::BAD_PATTERN;
const LOCALE: Code = codes::UNKNOWN_LOCALE;
const NO_HOST: Code = codes::NOT_PROVIDED;

/// A text, with the result and the code for each macro syntax in the order of `Dialect::ALL`.
type Row = (&'static str, [(&'static str, Option<Code>); 2]);

#[track_caller]
fn check(rows: &[Row]) {
    for (text, expected) in rows {
        for (dialect, (result, code)) in Dialect::ALL.into_iter().zip(expected) {
            let result = if *result == KEPT { text } else { result };
            assert_eq!(
                outcome(text, dialect),
                (result.to_string(), code.iter().copied().collect()),
                "{text} in {dialect:?}"
            );
        }
    }
}

fn outcome(text: &str, dialect: Dialect) -> (String, Vec<Code>) {
    let template = parse(text, dialect);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    let found = template.diagnostics().iter().chain(&expansion.diagnostics);
    (expansion.text.to_string(), found.map(|finding| finding.code).collect())
}

#[test]
#[rustfmt::skip]
fn reports_invalid_call_syntax() {
    let form = (KEPT, Some(FORM));
    let unknown = (KEPT, Some(UNKNOWN));
    let end = (KEPT, Some(END));
    check(&[
        ("{{.1a}}", [unknown, form]),
        ("{{$x y}}", [unknown, form]),
        ("{{.x ** 2}}", [unknown, form]),
        ("{{.x++ y}}", [unknown, form]),
        ("{{&user}}", [unknown, form]),
        ("{{ - user }}", [unknown, form]),
        ("{{/nope}}", [unknown, unknown]),
        ("{{/user}}", [unknown, end]),
        ("{{/if 1}}", [unknown, form]),
        ("{{time_UTC+3:30}}", [unknown, form]),
        ("{{user+1}}", [unknown, form]),
        ("{{usr+1}}", [unknown, unknown]),
        ("{{nope a|b}}", [unknown, unknown]),
        ("{{.x}}", [unknown, ("", None)]),
        ("{{.x = 1}}", [unknown, ("", None)]),
        ("{{$x++}}", [unknown, ("1", None)]),
        ("{{!user}}", [unknown, ("Mei", None)]),
        ("{{/if}}", [unknown, end]),
        ("{{else}}", [unknown, ("", Some(END))]),
        ("{{if 1}}", [unknown, (KEPT, Some(MISSING))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn treats_other_braces_as_text() {
    let text = [(KEPT, None); 2];
    for braces in ["{{}}", "{{ }}", "{{{}}}", "{ {user} }", "{{::}}", "{{\n", "}}{{"] {
        check(&[(braces, text)]);
    }
    for braces in ["{{!}}", "{{...}}", "{{ $ }}", "{{ 1 + 2 }}", "{{\"user\"}}", "{{[user]}}", "{{*}}", "{{/}}"] {
        let found = Some(UNKNOWN);
        check(&[(braces, [(KEPT, found), (KEPT, None)])]);
    }
}

#[test]
#[rustfmt::skip]
fn reports_unclosed_call_of_known_macro() {
    let open = [(KEPT, Some(OPEN)); 2];
    check(&[
        ("{{user", open),
        ("{{ user", open),
        ("{{user and more\nin the next line", open),
        ("{{user, {a}", open),
        ("{{\n user {", open),
        ("{{random::a", open),
        ("{{time} }", open),
        ("{{#reverse", [(KEPT, None), (KEPT, Some(OPEN))]),
        ("{{if 1", [(KEPT, None), (KEPT, Some(OPEN))]),
        ("{{// a note", [(KEPT, None), (KEPT, Some(OPEN))]),
    ]);
    for text in ["{{", "{{ ", "{{foo", "{{ foo.bar", "{{username", "{{\"user", "{{.user", "{{$user = 1", "{{1"] {
        check(&[(text, [(KEPT, None); 2])]);
    }
}

#[test]
#[rustfmt::skip]
fn requires_variable_name() {
    check(&[
        ("{{setvar::::x}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{setvar::a}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{getvar::}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{getvar}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{addvar::::1}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{addvar::a}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{incvar::}}", [("", Some(BAD)), ("1", Some(BAD))]),
        ("{{decvar::}}", [("", Some(BAD)), ("-1", Some(BAD))]),
        ("{{hasvar::}}", [(KEPT, Some(UNKNOWN)), ("false", Some(BAD))]),
        ("{{deletevar::}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{setglobalvar::::x}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{getglobalvar::}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{addglobalvar::::1}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{incglobalvar::}}", [("", Some(BAD)), ("1", Some(BAD))]),
        ("{{decglobalvar::}}", [("", Some(BAD)), ("-1", Some(BAD))]),
        ("{{hasglobalvar::}}", [(KEPT, Some(UNKNOWN)), ("false", Some(BAD))]),
        ("{{deleteglobalvar::}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{setvar::a::{{user}}}}", [("", None), ("", None)]),
    ]);
}

#[test]
#[rustfmt::skip]
fn reports_invalid_and_inexact_counts() {
    check(&[
        ("{{setvar::n::abc}}{{incvar::n}}", [("", Some(NOT_A_NUMBER)), ("abc1", Some(NOT_A_NUMBER))]),
        ("{{setvar::n::9007199254740991}}{{incvar::n}}", [("", Some(INEXACT)), ("9007199254740992", Some(INEXACT))]),
        ("{{setvar::n::1e308}}{{addvar::n::1e308}}{{getvar::n}}", [("Infinity", Some(INEXACT)), ("Infinity", Some(INEXACT))]),
        ("{{setvar::n::Infinity}}{{addvar::n::-Infinity}}{{getvar::n}}", [("NaN", Some(INEXACT)), ("Infinity", Some(INEXACT))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn reports_invalid_random_choices() {
    check(&[
        ("{{roll::abc}}", [(KEPT, Some(BAD)), ("", Some(BAD))]),
        ("{{roll abc}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{roll}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{roll::0d6}}", [(KEPT, Some(BAD)), ("", Some(BAD))]),
        ("{{roll 0d6}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{roll::999999999999d999999999999}}", [(KEPT, Some(BAD)), (KEPT, Some(FAILED))]),
        ("{{roll 999999999999d999999999999}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED))]),
        ("{{random}}", [(KEPT, Some(MISSING)), ("", Some(BAD))]),
        ("{{random::}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{pick}}", [(KEPT, Some(MISSING)), ("", Some(BAD))]),
        ("{{pick::}}", [("", Some(BAD)), ("", Some(BAD))]),
        ("{{randomInt::5::1}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{randomInt::a::b}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{randomInt::-99999999999999999999::1}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn reports_invalid_zones_and_patterns() {
    check(&[
        ("{{time::UTC+99999}}", [("10:30 PM", Some(EXTRA)), ("9:09 AM", Some(ZONE))]),
        ("{{time::UTC-17}}", [("10:30 PM", Some(EXTRA)), ("10:13 PM", Some(ZONE))]),
        ("{{time::UTC+99999999}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(ZONE))]),
        ("{{time::Berlin}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(ZONE))]),
        ("{{time_UTC-999}}", [(KEPT, Some(UNKNOWN)), ("5:51 AM", Some(ZONE))]),
        ("{{time_UTC+99999}}", [(KEPT, Some(UNKNOWN)), ("9:09 AM", Some(ZONE))]),
        ("{{time_UTC-99999999}}", [(KEPT, Some(UNKNOWN)), ("10:30 PM", Some(ZONE))]),
        ("{{time_UTC+3}}", [(KEPT, Some(UNKNOWN)), ("1:30 AM", None)]),
        ("{{datetimeformat::[YYYY QQQ}}", [(KEPT, Some(UNKNOWN)), ("[2025 444", Some(PATTERN))]),
        ("{{datetimeformat [YYYY QQQ}}", [(KEPT, Some(UNKNOWN)), ("[2025 444", Some(PATTERN))]),
        ("{{datetimeformat}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING))]),
        ("{{datetime_format::[YYYY}}", [("[2025", Some(PATTERN)), (KEPT, Some(UNKNOWN))]),
        ("{{datetime_locale::xx}}", [(KEPT, Some(LOCALE)), (KEPT, Some(UNKNOWN))]),
        ("{{timeDiff::a::b}}", [(KEPT, Some(UNKNOWN)), ("Invalid date", Some(BAD))]),
        ("{{timeDiff::2025-01-01}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING))]),
        ("{{timeDiff::2025-13-45::2025-01-01}}", [(KEPT, Some(UNKNOWN)), ("Invalid date", Some(BAD))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn reports_out_of_range_numbers_and_names() {
    check(&[
        ("{{user::x}}", [("Mei", Some(EXTRA)), (KEPT, Some(EXTRA))]),
        ("{{ user }}", [("Mei", None), ("Mei", None)]),
        ("{{repeat::x::-1}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::1.5}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::1001}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::}}", [(KEPT, Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{space::-1}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED))]),
        ("{{space::x}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED))]),
        ("{{newline::x}}", [("\n", Some(EXTRA)), (KEPT, Some(FAILED))]),
        ("{{newline::}}", [("\n", Some(EXTRA)), (KEPT, Some(FAILED))]),
        ("{{reverse}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING))]),
        ("{{outlet::}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{outlet}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING))]),
        ("{{banned \"\"}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{banned x}}", [(KEPT, Some(UNKNOWN)), ("", None)]),
        ("{{hasExtension::}}", [(KEPT, Some(UNKNOWN)), ("false", Some(BAD))]),
        ("{{charFirstMessage::x}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED))]),
        ("{{charFirstMessage::99}}", [(KEPT, Some(UNKNOWN)), ("", Some(BAD))]),
        ("{{assets::nope}}", [("This agent has no files in the group `nope`.", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{tools::nope}}", [("", Some(NO_HOST)), (KEPT, Some(UNKNOWN))]),
        ("{{tool_context::nope}}", [("", Some(NO_HOST)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::-1}}", [("【kb::a::-1】", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::5::x}}", [("【kb::a::5::x】", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::5::0.5::sometimes}}", [("【kb::a::5::0.5::sometimes】", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::1::2::turn::4::5::6}}", [("【kb::a::1::2::turn::4::5::6】", Some(EXTRA)), (KEPT, Some(UNKNOWN))]),
        ("{{cssvar::}}", [("(未定义: )", Some(NO_HOST)), (KEPT, Some(UNKNOWN))]),
        ("{{cssvar::--x}}", [("(未定义: --x)", Some(NO_HOST)), (KEPT, Some(UNKNOWN))]),
        ("{{if}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING))]),
        ("{{trim::x}}", [("", Some(EXTRA)), ("x", None)]),
    ]);
}

#[test]
fn reports_invalid_numbers_in_variable_operators() {
    let check = |text: &str, expected: &str, code: Code| {
        assert_eq!(outcome(text, Dialect::SillyTavern), (expected.to_owned(), vec![code]), "{text}");
    };
    check("{{.n = 9007199254740992}}{{.n++}}", "9007199254740992", INEXACT);
    check("{{.n = x}}{{.n -= y}}", "", NOT_A_NUMBER);
    check("{{.n = x}}{{.n--}}", "x-1", NOT_A_NUMBER);
}

#[test]
fn reports_missing_argument_of_every_macro() {
    for definition in Registry::builtin().iter().filter(|known| known.arity.min > 0) {
        for dialect in definition.dialects() {
            let text = format!("{{{{{}}}}}", definition.name);
            assert_eq!(outcome(&text, dialect), (text.clone(), vec![MISSING]), "{dialect:?}");
        }
    }
}
