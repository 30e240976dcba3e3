use crate::support;

use ctx_macros::{Dialect, Env, Limits, State};
use support::{env, expand, expand_in, origin, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::Aio).text, expected, "{text:?}");
}

#[test]
fn names_and_texts_come_from_the_environment() {
    check("{{user}} {{char}} {{agent}}", "Mei Alice Alice");
    check("{{description}}|{{personality}}|{{scenario}}", "DESC|PERS|SCEN");
}

#[test]
fn missing_values_have_defaults() {
    let template = parse("{{user}} {{char}} [{{persona}}{{description}}{{scenario}}]", Dialect::Aio);
    let expansion = template.expand(&Env::default(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "User Assistant []");
}

#[test]
fn names_and_arguments_are_trimmed() {
    check("{{ user }}|{{\n\tchar\n}}", "Mei|Alice");
    check("{{ setvar :: a :: \n b c \n }}[{{ getvar :: a }}]", "[b c]");
    check("{{setvar::a::\u{3000}b\u{feff}}}[{{getvar::a}}]", "[b]");
}

#[test]
fn names_are_case_sensitive() {
    check("{{User}} {{GETVAR::a}}", "{{User}} {{GETVAR::a}}");
}

#[test]
fn variables_are_sequential() {
    check("{{setvar::n::0}}{{incvar::n}}{{incvar::n}}={{getvar::n}}", "=2");
    check("{{getvar::n}}{{setvar::n::7}}", "");
    check("{{setvar::n::0}}{{getvar::n}} … {{incvar::n}}{{incvar::n}}{{getvar::n}}", "0 … 2");
    check("{{setvar::n::100}}{{getvar::n}} … {{incvar::n}}{{getvar::n}}", "100 … 101");
    check("{{setvar::a::1}}[{{getvar::a}}]{{setvar::a::2}}[{{getvar::a}}][{{getvar::b}}]", "[1][2][]");
}

#[test]
fn variables_last_from_text_to_text() {
    let mut state = State::new(Limits::default());
    expand_in("{{setvar::mood::calm}}", Dialect::Aio, &mut state);
    assert_eq!(expand_in("{{getvar::mood}}", Dialect::Aio, &mut state).text, "calm");
}

#[test]
fn an_empty_value_is_stored_as_it_is() {
    check("{{setvar::n::}}[{{getvar::n}}]", "[]");
    check("{{setvar::n::}}{{incvar::n}}[{{getvar::n}}]", "[1]");
}

#[test]
fn values_stay_as_they_are_written() {
    check("{{setvar::n::007}}{{getvar::n}}", "007");
    check("{{setvar::n::1.50}}{{getvar::n}}", "1.50");
}

#[test]
fn counting_follows_javascript_numbers() {
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
fn calls_nest() {
    check("{{setvar::n::{{user}}}}[{{getvar::n}}]", "[Mei]");
    check("{{setvar::{{user}}::x{{char}}y}}{{getvar::Mei}}", "xAlicey");
    check("{{setvar::k::n}}{{setvar::n::v}}{{getvar::{{getvar::k}}}}", "v");
    check("{{setvar::a::{{setvar::b::1}}{{getvar::b}}2}}{{getvar::a}}", "12");
}

#[test]
fn white_space_of_values_is_kept_in_arguments() {
    check("{{setvar::s:: {{newline}} }}[{{getvar::s}}]", "[\n]");
}

#[test]
fn values_are_never_scanned_again() {
    check("{{persona}} / {{user}}", "I cost $$5, $& all. {{user}} / Mei");
    check("{{setvar::p::{{persona}}}}{{getvar::p}}", "I cost $$5, $& all. {{user}}");
    check("{{setvar::o::{}}{{getvar::o}}{{newline}}", "{\n");
}

#[test]
fn a_backslash_keeps_braces_from_opening() {
    check(r"\{{user}} {{user}}", "{{user}} Mei");
    check(r"\\{{user}}", r"\{{user}}");
    check(r"\{user\} \{", r"\{user\} \{");
    check(r"{{setvar::a::\{{user}}[{{getvar::a}}]", "[{{user]");
    check(r"\{{{{user}}", "{{Mei");
}

#[test]
fn unknown_calls_stay_byte_for_byte() {
    check("{{nobody}} {{ nobody :: a:: {{user}} }} {{user}}", "{{nobody}} {{ nobody :: a:: {{user}} }} Mei");
    check("{{x::{{setvar::a::1}}}}[{{getvar::a}}]", "{{x::{{setvar::a::1}}}}[]");
    check(r"{{x::\{{}} {{user}}", r"{{x::\{{}} Mei");
    check("{{setvar::a:: {{ nobody }} }}[{{getvar::a}}]", "[{{ nobody }}]");
}

#[test]
fn what_is_no_call_is_text() {
    check("{{}} {{ }} {{::}} {{:}} {} }} {{", "{{}} {{ }} {{::}} {{:}} {} }} {{");
    check("{{user", "{{user");
    check("{{user} {{user", "{{user} {{user");
    check("{{user\nis}} {{a\nb::{{user}}}}", "{{user\nis}} {{a\nb::{{user}}}}");
}

#[test]
fn an_unclosed_call_is_text_and_what_follows_is_not() {
    check("{{setvar::a::  b :: {{user}} c", "{{setvar::a::  b :: Mei c");
    check("{{ {{user}}", "{{ Mei");
    check("{{nobody:: {{user}} \n {{char}}", "{{nobody:: Mei \n Alice");
    check("{{setvar::a::{{nobody::{{user}}}}", "{{setvar::a::{{nobody::{{user}}}}");
}

#[test]
fn of_many_braces_the_innermost_count() {
    check("{{{user}}}", "{Mei}");
    check("{{{{user}}}}", "{{Mei}}");
    check("{{{{{{user", "{{{{{{user");
}

#[test]
fn single_colons_are_text() {
    check("{{setvar::a::b:c}}{{getvar::a}}", "b:c");
    check("{{setvar::a:::b}}{{getvar::a}}", ":b");
    check("{{user:x}}", "{{user:x}}");
}

#[test]
fn a_call_that_lacks_arguments_stays() {
    check("{{setvar::a}} {{getvar}} {{ incvar }}", "{{setvar::a}} {{getvar}} {{ incvar }}");
}

#[test]
fn arguments_too_many_are_ignored() {
    check("{{user::x}} {{setvar::a::b::c}}{{getvar::a}}", "Mei b");
}

#[test]
fn trim_removes_white_space_on_both_sides() {
    check("a \n\t{{trim}}\n\n b", "ab");
    check("  {{trim}}  ", "");
    check("a{{newline}}{{trim}}{{newline}} {{user}}", "aMei");
    check("a {{trim}} {{trim}} {{setvar::x:: y }} {{getvar::x}}", "ay");
    check("{{setvar::x:: a {{trim}} b }}[{{getvar::x}}]", "[ab]");
    check("{{user}} {{trim}}", "Mei");
    check("a\u{3000}{{trim}}\u{a0}b", "ab");
}

#[test]
fn time_and_date_are_those_of_the_turn() {
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
fn chinese_text_and_names_work() {
    check("你好，{{user}}！{{setvar::变量::值}}{{getvar::变量}}。", "你好，Mei！值。");
    check("{{用户}}\\{{宏}}", "{{用户}}{{宏}}");
    check("　{{trim}}　全角", "全角");
}
