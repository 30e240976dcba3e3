//! What becomes of an argument that is wrong, for each macro that takes one: text and a finding, in every dialect.

use crate::support;

use ctx_macros::{Dialect, Limits, Registry, State, codes};
use ctx_types::Code;
use support::{env, origin, parse};

/// The call stays as it is written.
const KEPT: &str = "(kept)";

const UNKNOWN: Code = codes::UNKNOWN_MACRO;
const MISSING: Code = codes::MISSING_ARGUMENT;
const EXTRA: Code = codes::EXTRA_ARGUMENT;
const FORM: Code = codes::UNREAD_CALL;
const END: Code = codes::UNMATCHED_CLOSER;
const OPEN: Code = codes::UNCLOSED_CALL;
const NESTED: Code = codes::NESTED_CALL;
const ZONE: Code = codes::UNKNOWN_ZONE;
const NOT_A_NUMBER: Code = codes::NOT_A_NUMBER;
const INEXACT: Code = codes::INEXACT_NUMBER;
const FAILED: Code = codes::MACRO_FAILED;
const BAD: Code = codes::BAD_ARGUMENT;
const PATTERN: Code = codes::BAD_PATTERN;
const LOCALE: Code = codes::UNKNOWN_LOCALE;
const NO_HOST: Code = codes::NOT_PROVIDED;

/// A text, and for each dialect in the order of [`Dialect::ALL`] what becomes of it and the code of the finding.
type Row = (&'static str, [(&'static str, Option<Code>); 4]);

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

/// Returns what becomes of a text, and the codes of all findings.
fn outcome(text: &str, dialect: Dialect) -> (String, Vec<Code>) {
    let template = parse(text, dialect);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    let found = template.diagnostics().iter().chain(&expansion.diagnostics);
    (expansion.text.to_string(), found.map(|finding| finding.code).collect())
}

#[test]
#[rustfmt::skip]
fn what_looks_like_a_call_and_is_none_is_said_to_be_none() {
    let form = (KEPT, Some(FORM));
    let unknown = (KEPT, Some(UNKNOWN));
    let end = (KEPT, Some(END));
    check(&[
        ("{{.1a}}", [unknown, unknown, form, form]),
        ("{{$x y}}", [unknown, unknown, form, form]),
        ("{{.x ** 2}}", [unknown, unknown, form, form]),
        ("{{.x++ y}}", [unknown, unknown, form, form]),
        ("{{&user}}", [unknown, unknown, form, form]),
        ("{{ - user }}", [unknown, unknown, form, form]),
        ("{{/nope}}", [unknown, unknown, unknown, unknown]),
        ("{{/user}}", [unknown, unknown, end, form]),
        ("{{/if 1}}", [unknown, unknown, form, form]),
        ("{{time_UTC+3:30}}", [unknown, unknown, form, form]),
        ("{{user+1}}", [unknown, unknown, form, form]),
        ("{{usr+1}}", [unknown, unknown, unknown, unknown]),
        ("{{nope a|b}}", [unknown, unknown, unknown, unknown]),
        ("{{.x}}", [unknown, unknown, ("", None), form]),
        ("{{.x = 1}}", [unknown, unknown, ("", None), form]),
        ("{{$x++}}", [unknown, unknown, ("1", None), form]),
        ("{{!user}}", [unknown, unknown, ("Mei", None), form]),
        ("{{/if}}", [unknown, unknown, end, form]),
        ("{{else}}", [unknown, unknown, ("", Some(END)), unknown]),
        ("{{if 1}}", [unknown, unknown, (KEPT, Some(MISSING)), unknown]),
    ]);
}

#[test]
#[rustfmt::skip]
fn braces_around_anything_else_are_text() {
    let text = [(KEPT, None); 4];
    for braces in ["{{}}", "{{ }}", "{{{}}}", "{ {user} }", "{{::}}", "{{\n", "}}{{"] {
        check(&[(braces, text)]);
    }
    for braces in ["{{!}}", "{{...}}", "{{ $ }}", "{{ 1 + 2 }}", "{{\"user\"}}", "{{[user]}}", "{{*}}", "{{/}}"] {
        let found = Some(UNKNOWN);
        check(&[(braces, [(KEPT, found), (KEPT, found), (KEPT, None), (KEPT, None)])]);
    }
}

#[test]
#[rustfmt::skip]
fn braces_that_are_not_closed_are_a_call_where_a_macro_has_the_name() {
    let open = [(KEPT, Some(OPEN)); 4];
    check(&[
        ("{{user", open),
        ("{{ user", open),
        ("{{user and more\nin the next line", open),
        ("{{user, {a}", open),
        ("{{\n user {", open),
        ("{{random::a", open),
        ("{{time} }", open),
        ("{{#reverse", [(KEPT, None), (KEPT, None), (KEPT, Some(OPEN)), (KEPT, None)]),
        ("{{if 1", [(KEPT, None), (KEPT, None), (KEPT, Some(OPEN)), (KEPT, None)]),
        ("{{// a note", [(KEPT, None), (KEPT, None), (KEPT, Some(OPEN)), (KEPT, Some(OPEN))]),
    ]);
    for text in ["{{", "{{ ", "{{foo", "{{ foo.bar", "{{username", "{{\"user", "{{.user", "{{$user = 1", "{{1"] {
        check(&[(text, [(KEPT, None); 4])]);
    }
}

#[test]
#[rustfmt::skip]
fn the_name_of_a_variable_is_there() {
    check(&[
        ("{{setvar::::x}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{setvar::a}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(FORM))]),
        ("{{getvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{getvar}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{addvar::::1}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{addvar::a}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(FORM))]),
        ("{{incvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("1", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{decvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("-1", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{hasvar::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("false", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{deletevar::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{setglobalvar::::x}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{getglobalvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{addglobalvar::::1}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{incglobalvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("1", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{decglobalvar::}}", [("", Some(BAD)), ("", Some(BAD)), ("-1", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{hasglobalvar::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("false", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{deleteglobalvar::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{setvar::a::{{user}}}}", [("", None), ("}}", Some(NESTED)), ("", None), ("}}", Some(NESTED))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn what_is_counted_is_a_number_that_is_exact() {
    check(&[
        ("{{setvar::n::abc}}{{incvar::n}}", [("", Some(NOT_A_NUMBER)), ("", Some(NOT_A_NUMBER)), ("abc1", Some(NOT_A_NUMBER)), ("abc1", Some(NOT_A_NUMBER))]),
        ("{{setvar::n::9007199254740991}}{{incvar::n}}", [("", Some(INEXACT)), ("", Some(INEXACT)), ("9007199254740992", Some(INEXACT)), ("9007199254740992", Some(INEXACT))]),
        ("{{setvar::n::1e308}}{{addvar::n::1e308}}{{getvar::n}}", [("Infinity", Some(INEXACT)), ("Infinity", Some(INEXACT)), ("Infinity", Some(INEXACT)), ("Infinity", Some(INEXACT))]),
        ("{{setvar::n::Infinity}}{{addvar::n::-Infinity}}{{getvar::n}}", [("NaN", Some(INEXACT)), ("NaN", Some(INEXACT)), ("Infinity", Some(INEXACT)), ("Infinity", Some(INEXACT))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn chance_has_something_to_choose_from() {
    check(&[
        ("{{roll::abc}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), ("", Some(BAD)), ("", Some(BAD))]),
        ("{{roll abc}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), ("", Some(BAD))]),
        ("{{roll}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{roll::0d6}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), ("", Some(BAD)), ("", Some(BAD))]),
        ("{{roll 0d6}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), ("", Some(BAD))]),
        ("{{roll::999999999999d999999999999}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(FAILED)), ("", Some(BAD))]),
        ("{{roll 999999999999d999999999999}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED)), (KEPT, Some(FAILED))]),
        ("{{random}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{random::}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{pick}}", [(KEPT, Some(MISSING)), (KEPT, Some(MISSING)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{pick::}}", [("", Some(BAD)), ("", Some(BAD)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{randomInt::5::1}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{randomInt::a::b}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{randomInt::-99999999999999999999::1}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn times_have_zones_and_patterns() {
    check(&[
        ("{{time::UTC+99999}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(EXTRA)), ("9:09 AM", Some(ZONE)), (KEPT, Some(FORM))]),
        ("{{time::UTC-17}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(EXTRA)), ("10:13 PM", Some(ZONE)), (KEPT, Some(FORM))]),
        ("{{time::UTC+99999999}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(ZONE)), (KEPT, Some(FORM))]),
        ("{{time::Berlin}}", [("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(EXTRA)), ("10:30 PM", Some(ZONE)), (KEPT, Some(FORM))]),
        ("{{time_UTC-999}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("5:51 AM", Some(ZONE)), ("5:51 AM", Some(ZONE))]),
        ("{{time_UTC+99999}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("9:09 AM", Some(ZONE)), ("9:09 AM", Some(ZONE))]),
        ("{{time_UTC-99999999}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("10:30 PM", Some(ZONE)), ("10:30 PM", Some(ZONE))]),
        ("{{time_UTC+3}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("1:30 AM", None), ("1:30 AM", None)]),
        ("{{datetimeformat::[YYYY QQQ}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("[2025 444", Some(PATTERN)), (KEPT, Some(FORM))]),
        ("{{datetimeformat [YYYY QQQ}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("[2025 444", Some(PATTERN)), ("[2025 444", Some(PATTERN))]),
        ("{{datetimeformat}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{datetime_format::[YYYY}}", [("[2025", Some(PATTERN)), ("[2025", Some(PATTERN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{datetime_locale::xx}}", [(KEPT, Some(LOCALE)), (KEPT, Some(LOCALE)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{timeDiff::a::b}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("Invalid date", Some(BAD)), ("Invalid date", Some(BAD))]),
        ("{{timeDiff::2025-01-01}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING)), (KEPT, Some(FORM))]),
        ("{{timeDiff::2025-13-45::2025-01-01}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("Invalid date", Some(BAD)), ("Invalid date", Some(BAD))]),
    ]);
}

#[test]
#[rustfmt::skip]
fn numbers_and_names_are_in_range() {
    check(&[
        ("{{user::x}}", [("Mei", Some(EXTRA)), ("Mei", Some(EXTRA)), (KEPT, Some(EXTRA)), (KEPT, Some(FORM))]),
        ("{{ user }}", [("Mei", None), ("Mei", None), ("Mei", None), (KEPT, Some(FORM))]),
        ("{{repeat::x::-1}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::1.5}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::1001}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{repeat::x::}}", [(KEPT, Some(BAD)), (KEPT, Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{space::-1}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED)), (KEPT, Some(UNKNOWN))]),
        ("{{space::x}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED)), (KEPT, Some(UNKNOWN))]),
        ("{{newline::x}}", [("\n", Some(EXTRA)), ("\n", Some(EXTRA)), (KEPT, Some(FAILED)), (KEPT, Some(FORM))]),
        ("{{newline::}}", [("\n", Some(EXTRA)), ("\n", Some(EXTRA)), (KEPT, Some(FAILED)), (KEPT, Some(FORM))]),
        ("{{reverse}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{outlet::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), (KEPT, Some(FORM))]),
        ("{{outlet}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING)), (KEPT, Some(MISSING))]),
        ("{{banned \"\"}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), ("", Some(BAD))]),
        ("{{banned x}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", None), (KEPT, Some(FORM))]),
        ("{{hasExtension::}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("false", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{charFirstMessage::x}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(FAILED)), (KEPT, Some(UNKNOWN))]),
        ("{{charFirstMessage::99}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), ("", Some(BAD)), (KEPT, Some(UNKNOWN))]),
        ("{{assets::nope}}", [("This agent has no files in the group `nope`.", Some(BAD)), ("This agent has no files in the group `nope`.", Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{tools::nope}}", [("", Some(NO_HOST)), ("", Some(NO_HOST)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{tool_context::nope}}", [("", Some(NO_HOST)), ("", Some(NO_HOST)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::-1}}", [("【kb::a::-1】", Some(BAD)), ("【kb::a::-1】", Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::5::x}}", [("【kb::a::5::x】", Some(BAD)), ("【kb::a::5::x】", Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::5::0.5::sometimes}}", [("【kb::a::5::0.5::sometimes】", Some(BAD)), ("【kb::a::5::0.5::sometimes】", Some(BAD)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{kb::a::1::2::turn::4::5::6}}", [("【kb::a::1::2::turn::4::5::6】", Some(EXTRA)), ("【kb::a::1::2::turn::4::5::6】", Some(EXTRA)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{cssvar::}}", [("(未定义: )", Some(NO_HOST)), ("(未定义: )", Some(NO_HOST)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{cssvar::--x}}", [("(未定义: --x)", Some(NO_HOST)), ("(未定义: --x)", Some(NO_HOST)), (KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN))]),
        ("{{if}}", [(KEPT, Some(UNKNOWN)), (KEPT, Some(UNKNOWN)), (KEPT, Some(MISSING)), (KEPT, Some(UNKNOWN))]),
        ("{{trim::x}}", [("", Some(EXTRA)), ("", Some(EXTRA)), ("x", None), (KEPT, Some(FORM))]),
    ]);
}

#[test]
fn short_forms_of_variables_say_it_too() {
    let check = |text: &str, expected: &str, code: Code| {
        assert_eq!(outcome(text, Dialect::SillyTavern), (expected.to_owned(), vec![code]), "{text}");
    };
    check("{{.n = 9007199254740992}}{{.n++}}", "9007199254740992", INEXACT);
    check("{{.n = x}}{{.n -= y}}", "", NOT_A_NUMBER);
    check("{{.n = x}}{{.n--}}", "x-1", NOT_A_NUMBER);
}

#[test]
fn every_macro_with_arguments_says_that_one_is_missing() {
    for definition in Registry::builtin().iter().filter(|known| known.arity.min > 0) {
        for dialect in definition.dialects.iter() {
            let text = format!("{{{{{}}}}}", definition.name);
            assert_eq!(outcome(&text, dialect), (text.clone(), vec![MISSING]), "{dialect:?}");
        }
    }
}
