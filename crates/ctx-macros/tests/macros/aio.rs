use crate::support;

use ctx_macros::Dialect;
use support::expand;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::Aio).text, expected, "{text:?}");
}

#[test]
fn trims_names_and_arguments() {
    check("{{\n\tchar\n}}", "Alice");
    check("{{setvar::a::\u{3000}b\u{feff}}}[{{getvar::a}}]", "[b]");
}

#[test]
fn stores_empty_value() {
    check("{{setvar::n::}}[{{getvar::n}}]", "[]");
    check("{{setvar::n::}}{{incvar::n}}[{{getvar::n}}]", "[1]");
}

#[test]
fn counts_like_javascript() {
    check("{{incvar::n}}{{getvar::n}}", "1");
    check("{{decvar::n}}{{decvar::n}}{{getvar::n}}", "-2");
    check("{{setvar::n::2.5}}{{incvar::n}}{{getvar::n}}", "3.5");
    check("{{setvar::n::0x10}}{{incvar::n}}{{getvar::n}}", "17");
    check("{{setvar::n::abc}}{{incvar::n}}{{getvar::n}}", "1");
    check("{{setvar::n::1e21}}{{incvar::n}}{{getvar::n}}", "1e+21");
    check("{{setvar::n::5}}{{addvar::n::3}}{{getvar::n}}", "8");
    check("{{addvar::n::0.1}}{{addvar::n::0.2}}{{getvar::n}}", "0.30000000000000004");
    check("{{addvar::s::ab}}{{addvar::s::cd}}{{getvar::s}}", "abcd");
}

#[test]
fn keeps_whitespace_of_values_in_arguments() {
    check("{{setvar::s:: {{newline}} }}[{{getvar::s}}]", "[\n]");
}

#[test]
fn leaves_values_unexpanded() {
    check("{{setvar::o::{}}{{getvar::o}}{{newline}}", "{\n");
}

#[test]
fn escapes_braces_with_backslash() {
    check(r"\{{user}} {{user}}", "{{user}} Mei");
    check(r"\\{{user}}", r"\{{user}}");
    check(r"\{user\} \{", r"\{user\} \{");
    check(r"{{setvar::a::\{{user}}[{{getvar::a}}]", "[{{user]");
    check(r"\{{{{user}}", "{{Mei");
}

#[test]
fn keeps_unknown_calls_verbatim() {
    check("{{nobody}} {{ nobody :: a:: {{user}} }} {{user}}", "{{nobody}} {{ nobody :: a:: {{user}} }} Mei");
    check("{{x::{{setvar::a::1}}}}[{{getvar::a}}]", "{{x::{{setvar::a::1}}}}[]");
    check(r"{{x::\{{}} {{user}}", r"{{x::\{{}} Mei");
    check("{{setvar::a:: {{ nobody }} }}[{{getvar::a}}]", "[{{ nobody }}]");
}

#[test]
fn treats_invalid_calls_as_text() {
    check("{{user\nis}} {{a\nb::{{user}}}}", "{{user\nis}} {{a\nb::{{user}}}}");
}

#[test]
fn expands_text_after_unclosed_call() {
    check("{{setvar::a::  b :: {{user}} c", "{{setvar::a::  b :: Mei c");
    check("{{ {{user}}", "{{ Mei");
    check("{{nobody:: {{user}} \n {{char}}", "{{nobody:: Mei \n Alice");
    check("{{setvar::a::{{nobody::{{user}}}}", "{{setvar::a::{{nobody::{{user}}}}");
}

#[test]
fn expands_innermost_braces() {
    check("{{{user}}}", "{Mei}");
    check("{{{{user}}}}", "{{Mei}}");
    check("{{{{{{user", "{{{{{{user");
}

#[test]
fn treats_single_colons_as_text() {
    check("{{setvar::a::b:c}}{{getvar::a}}", "b:c");
    check("{{setvar::a:::b}}{{getvar::a}}", ":b");
    check("{{user:x}}", "{{user:x}}");
}

#[test]
fn trims_whitespace_on_both_sides() {
    check("a \n\t{{trim}}\n\n b", "ab");
    check("  {{trim}}  ", "");
    check("a{{newline}}{{trim}}{{newline}} {{user}}", "aMei");
    check("a {{trim}} {{trim}} {{setvar::x:: y }} {{getvar::x}}", "ay");
    check("{{setvar::x:: a {{trim}} b }}[{{getvar::x}}]", "[ab]");
    check("{{user}} {{trim}}", "Mei");
    check("a\u{3000}{{trim}}\u{a0}b", "ab");
}
