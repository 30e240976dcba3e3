use crate::support;

use ctx_macros::{Dialect, Env, Limits, State};
use support::{env, expand, expand_in, origin, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::Aio).text, expected, "{text:?}");
}

#[test]
fn reads_names_and_texts_from_environment() {
    check("{{user}} {{char}} {{agent}}", "Mei Alice Alice");
    check("{{description}}|{{personality}}|{{scenario}}", "DESC|PERS|SCEN");
}

#[test]
fn uses_defaults_for_missing_values() {
    let template = parse("{{user}} {{char}} [{{persona}}{{description}}{{scenario}}]", Dialect::Aio);
    let expansion = template.expand(&Env::default(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "User Assistant []");
}

#[test]
fn trims_names_and_arguments() {
    check("{{ user }}|{{\n\tchar\n}}", "Mei|Alice");
    check("{{ setvar :: a :: \n b c \n }}[{{ getvar :: a }}]", "[b c]");
    check("{{setvar::a::\u{3000}b\u{feff}}}[{{getvar::a}}]", "[b]");
}

#[test]
fn matches_names_case_sensitively() {
    check("{{User}} {{GETVAR::a}}", "{{User}} {{GETVAR::a}}");
}

#[test]
fn updates_variables_in_order() {
    check("{{setvar::n::0}}{{incvar::n}}{{incvar::n}}={{getvar::n}}", "=2");
    check("{{getvar::n}}{{setvar::n::7}}", "");
    check("{{setvar::n::0}}{{getvar::n}} … {{incvar::n}}{{incvar::n}}{{getvar::n}}", "0 … 2");
    check("{{setvar::n::100}}{{getvar::n}} … {{incvar::n}}{{getvar::n}}", "100 … 101");
    check("{{setvar::a::1}}[{{getvar::a}}]{{setvar::a::2}}[{{getvar::a}}][{{getvar::b}}]", "[1][2][]");
}

#[test]
fn keeps_variables_across_texts() {
    let mut state = State::new(Limits::default());
    expand_in("{{setvar::mood::calm}}", Dialect::Aio, &mut state);
    assert_eq!(expand_in("{{getvar::mood}}", Dialect::Aio, &mut state).text, "calm");
}

#[test]
fn stores_empty_value() {
    check("{{setvar::n::}}[{{getvar::n}}]", "[]");
    check("{{setvar::n::}}{{incvar::n}}[{{getvar::n}}]", "[1]");
}

#[test]
fn keeps_spelling_of_values() {
    check("{{setvar::n::007}}{{getvar::n}}", "007");
    check("{{setvar::n::1.50}}{{getvar::n}}", "1.50");
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
fn expands_nested_calls() {
    check("{{setvar::n::{{user}}}}[{{getvar::n}}]", "[Mei]");
    check("{{setvar::{{user}}::x{{char}}y}}{{getvar::Mei}}", "xAlicey");
    check("{{setvar::k::n}}{{setvar::n::v}}{{getvar::{{getvar::k}}}}", "v");
    check("{{setvar::a::{{setvar::b::1}}{{getvar::b}}2}}{{getvar::a}}", "12");
}

#[test]
fn keeps_whitespace_of_values_in_arguments() {
    check("{{setvar::s:: {{newline}} }}[{{getvar::s}}]", "[\n]");
}

#[test]
fn leaves_values_unexpanded() {
    check("{{persona}} / {{user}}", "I cost $$5, $& all. {{user}} / Mei");
    check("{{setvar::p::{{persona}}}}{{getvar::p}}", "I cost $$5, $& all. {{user}}");
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
    check("{{}} {{ }} {{::}} {{:}} {} }} {{", "{{}} {{ }} {{::}} {{:}} {} }} {{");
    check("{{user", "{{user");
    check("{{user} {{user", "{{user} {{user");
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
fn keeps_call_with_missing_arguments() {
    check("{{setvar::a}} {{getvar}} {{ incvar }}", "{{setvar::a}} {{getvar}} {{ incvar }}");
}

#[test]
fn ignores_extra_arguments() {
    check("{{user::x}} {{setvar::a::b::c}}{{getvar::a}}", "Mei b");
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

#[test]
fn uses_time_and_date_of_the_turn() {
    check("{{time}} | {{date}}", "10:30 PM | November 7, 2025");
    check_zone(Some("Asia/Shanghai"), "6:30 AM | November 8, 2025");
    check_zone(Some("America/New_York"), "5:30 PM | November 7, 2025");
    check_zone(None, "10:30 PM | November 7, 2025");
}

#[track_caller]
fn check_zone(zone: Option<&str>, expected: &str) {
    let env = Env { zone: zone.map(Into::into), ..env() };
    let template = parse("{{time}} | {{date}}", Dialect::Aio);
    let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, expected);
    assert_eq!(expansion.diagnostics, []);
}

#[test]
fn supports_chinese_text_and_names() {
    check("你好，{{user}}！{{setvar::变量::值}}{{getvar::变量}}。", "你好，Mei！值。");
    check("{{用户}}\\{{宏}}", "{{用户}}{{宏}}");
    check("　{{trim}}　全角", "全角");
}
