//! What the dialect of SillyTavern's older engine gives.

use crate::support;

use ctx_macros::{Definition, Dialect, Env, Limits, Registry, State, Template, codes};
use ctx_types::{Text, is_partition};
use support::{env, expand, origin};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(expand(text, Dialect::SillyTavernLegacy).text, expected, "{text:?}");
}

#[test]
fn the_last_setting_of_a_variable_is_what_every_reading_gives() {
    check("{{setvar::a::1}}[{{getvar::a}}]{{setvar::a::2}}[{{getvar::a}}]", "[2][2]");
    check("{{getvar::n}}{{incvar::n}}{{addvar::n::5}}{{decvar::n}}", "565");
}

#[test]
fn arguments_end_at_the_first_brace() {
    check("{{setvar::x::{{user}}}}{{getvar::x}}", "}}{{user");
    check("{{reverse::abc}} {{reverse:abc}}", "cba: cba");
    check("{{getvar::a}b}} {{setvar::a}} {{x::y}}", "{{getvar::a}b}} ");
}

#[test]
fn what_one_macro_gives_is_read_by_those_behind_it() {
    let env = Env { persona: Some("I am {{user}}.".into()), input: Some("{{char}}".into()), ..env() };
    check_in(&env, "{{persona}} {{input}}", "I am Mei. Alice");
}

#[track_caller]
fn check_in(env: &Env, text: &str, expected: &str) {
    let template = Template::parse(&Text::from(text), Dialect::SillyTavernLegacy, &Registry::builtin());
    let expansion = template.expand(env, &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, expected, "{text:?}");
}

#[test]
fn there_are_no_blocks_flags_spaces_and_no_nesting() {
    check("{{if 1}}a{{/if}} {{ user }} {{!user}}", "{{if 1}}a{{/if}} {{ user }} {{!user}}");
    check("{{newline::2}}{{space}}{{hasvar::a}}", "{{newline::2}}{{space}}{{hasvar::a}}");
    check("{{trim}}\n x {{trim}}\r\n\n{{noop}}y", " x y");
}

#[test]
fn names_and_old_markers_match_in_any_case() {
    check("{{USER}} <user> <Bot> <CHARIFNOTGROUP> {{charIfNotGroup}}", "Mei Mei Alice Alice Alice");
}

#[test]
fn time_is_formatted_behind_spaces() {
    check("{{datetimeformat  YYYY-MM-DD}} {{time_UTC+2}} {{isotime}}", "2025-11-07 12:30 AM 22:30");
    check(
        "{{timeDiff::2025-11-07::2025-11-03}} {{datetimeformat::YYYY}}",
        "in 4 days {{datetimeformat::YYYY}}",
    );
}

#[test]
fn comments_and_quotes_are_dropped() {
    check("a{{// x\n{{user} }}b{{banned \"x\"}}c{{banned \"x\" }}", "abc{{banned \"x\" }}");
    check("{{banned \"a\"}}x{{banned \"b\"}}\n{{banned \"c\"}}y", "\ny");
}

#[test]
fn lists_have_commas_or_colons() {
    check("{{random::a::a}}{{random:b,b}}{{random :c,c}}{{pick::d,d}}{{random d}}", "abcd{{random d}}");
    check("{{roll:1d1+4}} {{roll d1}} {{roll::1d1}}", "5 1 ");
}

#[test]
fn macros_of_a_host_are_called_by_name() {
    let mut registry = Registry::builtin();
    registry.register(Definition::always("weather", |_| "sun, {{lastMessageId}}".into())).unwrap();
    let text = Text::from("{{Weather}} {{weather::x}}");
    let template = Template::parse(&text, Dialect::SillyTavernLegacy, &registry);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "sun,  {{weather::x}}");
}

#[test]
fn segments_tell_who_wrote_what_through_all_passes() {
    let expansion = expand("a {{setvar::x::{{user}}b {{getvar::x}}}} <USER>", Dialect::SillyTavernLegacy);
    assert_eq!(expansion.text, "a b Mei Mei");
    let segments = expansion.segments();
    assert!(is_partition(&segments, expansion.text.len()));
    let written = segments.iter().map(|segment| {
        format!("{}|{}", segment.source, &expansion.text[segment.span.start..segment.span.end])
    });
    assert_eq!(
        written.collect::<Vec<_>>(),
        ["preset:p1|a b ", "macro:user|Mei", "preset:p1| ", "macro:user|Mei"]
    );
}

#[test]
fn a_template_lists_its_calls() {
    let text = Text::from("{{setvar::a::{{time}}}} {{nobody}} {{{user}}}");
    let template = Template::parse(&text, Dialect::SillyTavernLegacy, &Registry::builtin());
    assert_eq!(template.macros().map(|used| used.name).collect::<Vec<_>>(), ["setvar", "time", "user"]);
    let codes: Vec<_> = template.diagnostics().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [codes::NESTED_CALL, codes::UNKNOWN_MACRO]);
}

#[test]
fn angle_brackets_need_no_braces_in_the_text() {
    assert_eq!(expand("Hi <USER>, 1 < 2", Dialect::SillyTavernLegacy).text, "Hi Mei, 1 < 2");
}
