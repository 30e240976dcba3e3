//! What the dialect of SillyTavern's newer engine gives, as far as its macros exist.

mod support;

use ctx_macros::{Dialect, Limits, State};
use support::{env, expand, origin, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::SillyTavern).text, expected, "{text:?}");
}

#[test]
fn names_match_in_any_case() {
    check("{{SetVar::a::1}}{{GETVAR::a}} {{DESCRIPTION}}", "1 DESC");
}

#[test]
fn counting_writes_the_new_value() {
    check("{{setvar::n::5}}{{addvar::n::3}}{{getvar::n}} {{incvar::n}} {{decvar::n}}", "8 9 8");
}

#[test]
fn a_backslash_escapes_one_brace() {
    check(r"\{\{user\}\}", "{{user}}");
    check(r"\{{user}}", r"\Mei");
    check(r"\{{nobody}}", "{{nobody}}");
    check(r"a \\ b \x", r"a \\ b \x");
    check(r"{{setvar::a::\{b}}{{getvar::a}}", "{b");
}

#[test]
fn calls_inside_text_are_expanded() {
    check("{{nobody:: {{user}} }} {{ x {{user}} y }}", "{{nobody:: Mei }} {{ x Mei y }}");
    check("{{nobody::{{setvar::a::1}}}}[{{getvar::a}}]", "{{nobody::}}[1]");
    check("{{user::{{char}}}} {{setvar::m::a::{{user}}}}", "{{user::Alice}} {{setvar::m::a::Mei}}");
    check("{{setvar::m::{{nobody:: {{user}} }} }}[{{getvar::m}}]", "[{{nobody:: Mei }}]");
    check("{{用户}} {{setvar::变量::值}}{{getvar::变量}}", "{{用户}} 值");
}

#[test]
fn one_colon_or_white_space_gives_one_argument() {
    check("{{setvar::a::1}}{{getvar:a}}{{getvar a}}{{getvar : a }}", "111");
    check("{{setvar::a::b::1}}", "{{setvar::a::b::1}}");
    check("{{setvar::x::y::z}}{{getvar x::y}}|", "{{setvar::x::y::z}}|");
    check("{{\nuser\n}} {{setvar::x::\n v \n}}[{{getvar::x}}]", "Mei [v]");
    check("{{setvar::Mei::ok}}{{getvar {{user}}}}", "ok");
}

#[test]
fn extra_braces_are_text() {
    check("{{{user}}}", "{Mei}");
}

#[test]
fn trim_removes_line_breaks_only() {
    check("a \r\n\n{{trim}}\n b", "a  b");
}

#[test]
fn a_failed_call_has_its_arguments_expanded() {
    let mut registry = ctx_macros::Registry::builtin();
    let broken = ctx_macros::Definition::new("broken", |_| Err(ctx_macros::Failure::because("no")));
    registry.register(broken.arity(0, None)).unwrap();
    let text = ctx_types::Text::from(r"{{ broken :: {{user}} :: \{b\} c }}!");
    let template = ctx_macros::Template::parse(&text, Dialect::SillyTavern, &registry);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "{{ broken :: Mei :: {b} c }}!");
    assert_eq!(expansion.diagnostics[0].code, ctx_macros::codes::MACRO_FAILED);
    let whole = parse("{{time}}", Dialect::SillyTavern);
    let env = ctx_macros::Env { at_millis: None, ..env() };
    assert_eq!(whole.expand(&env, &mut State::new(Limits::default()), &origin()).text, "{{time}}");
}
