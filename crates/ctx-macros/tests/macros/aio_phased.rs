//! AIO Hub's own evaluator in passes.

use crate::support;

use ctx_macros::{CardTexts, Dialect, Env, Limits, Scope, State, codes};
use ctx_types::{Code, Text, is_partition};
use proptest::prelude::*;
use support::{AT, env, origin, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    check_in(&env(), text, expected, &[]);
}

/// Checks the text, and the codes of everything found while compiling and expanding.
#[track_caller]
fn check_in(env: &Env, text: &str, expected: &str, codes: &[Code]) {
    let template = parse(text, Dialect::AioPhased);
    let expansion = template.expand(env, &mut State::new(Limits::default()), &origin());
    let found = template.diagnostics().iter().chain(&expansion.diagnostics).map(|found| found.code);
    assert_eq!((expansion.text.as_str(), found.collect::<Vec<_>>()), (expected, codes.to_vec()), "{text:?}");
    assert!(is_partition(&expansion.segments(), expansion.text.len()) || expansion.segments().is_empty());
}

#[test]
fn equal_calls_are_made_once() {
    check("{{setvar::n::0}}{{incvar::n}}{{incvar::n}}={{getvar::n}}", "=1");
    let twice = |seed| {
        let template = parse("{{random::a::b::c}} {{random::a::b::c}}", Dialect::AioPhased);
        template.expand(&Env { seed, ..env() }, &mut State::new(Limits::default()), &origin()).text
    };
    assert!((0..20).all(|seed| matches!(twice(seed).as_str(), "a a" | "b b" | "c c")));
}

#[test]
fn what_changes_variables_comes_first() {
    check("{{getvar::n}}{{setvar::n::7}}", "7");
    check("{{setvar::a::1}}[{{getvar::a}}]{{setvar::a::2}}[{{getvar::a}}]", "[2][2]");
}

#[test]
fn arguments_hold_no_calls() {
    let template = parse("{{setvar::n::{{user}}}}[{{getvar::n}}]", Dialect::AioPhased);
    let mut state = State::new(Limits::default());
    let expansion = template.expand(&env(), &mut state, &origin());
    assert_eq!(expansion.text, "}}[{{user]");
    assert_eq!(state.variable(Scope::Local, "n").map(Text::as_str), Some("{{user"));
}

#[test]
fn what_was_written_is_read_by_later_calls() {
    check("{{persona}} / {{user}}", "I cost $$5, $& all. Mei / Mei");
    check("{{user}} / {{persona}}", "Mei / I cost $$5, $& all. {{user}}");
    let guideline = CardTexts { visual_guideline: Some("Draw {{char}}.".into()), ..CardTexts::default() };
    check_in(&Env { card: guideline, ..env() }, "{{visual_guideline}}", "Draw Alice.", &[]);
    let persona = Env { persona: Some("It is {{time24}}.".into()), at_millis: Some(AT), ..env() };
    check_in(&persona, "{{persona}}", "It is 22:30.", &[]);
}

#[test]
fn values_are_inserted_without_patterns() {
    let persona = Env { persona: Some("$& $` $' $1 $$".into()), ..env() };
    check_in(&persona, "[{{persona}}]", "[$& $` $' $1 $$]", &[]);
}

#[test]
fn white_space_is_removed_at_the_end() {
    check("a {{trim}} b{{newline}}{{trim}}{{newline}} c", "abc");
    check("a __TRIM__ b", "a __TRIM__ b");
}

#[test]
fn a_backslash_keeps_a_call() {
    check(r"\{{user}} {{user}} \\{{user}}", r"{{user}} Mei \{{user}}");
}

#[test]
fn what_is_no_call_stays() {
    check_in(&env(), "{{nobody}} {{User}} {{user}}", "{{nobody}} {{User}} Mei", &[codes::UNKNOWN_MACRO; 2]);
    check_in(&env(), "{{setvar::a}}", "{{setvar::a}}", &[codes::MISSING_ARGUMENT]);
    let text = "{{}} {{user} }} {{ user }} {{\nuser\n}}";
    check_in(&env(), text, "{{}} {{user} }} Mei Mei", &[codes::UNCLOSED_CALL]);
    check_in(&env(), "{{{user}}} {{user::x}}", "{{{user}}} Mei", &[codes::EXTRA_ARGUMENT]);
    check("{{{user}}} {{user}}", "{Mei} Mei");
}

#[test]
fn passes_end() {
    let bomb = Env { persona: Some("{{persona}}{{persona}}".into()), ..env() };
    check_in(&bomb, "{{persona}}", "{{persona}}{{persona}}", &[]);
    let long = "x".repeat(1 << 20);
    let text = format!("{{{{setvar::a::{long}}}}}{}", "{{getvar::a}}".repeat(100));
    let template = parse(&text, Dialect::AioPhased);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.diagnostics[0].code, codes::OUTPUT_LIMIT);
    let open: Vec<String> =
        (0..2_000).map(|n| format!("{{{{setvar::v{n}::{{}}}}{{{{getvar::v{n}}}}}")).collect();
    let text = format!("{long}{}", open.concat());
    let expansion =
        parse(&text, Dialect::AioPhased).expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.diagnostics.len(), 1);
    assert_eq!(expansion.diagnostics[0].code, codes::STEP_LIMIT);
    for text in
        ["{{".repeat(500_000), "{{user".repeat(100_000), "}}".repeat(500_000), "{{a::".repeat(100_000) + "}}"]
    {
        let template = parse(&text, Dialect::AioPhased);
        let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
        assert_eq!(expansion.text.len(), text.len());
    }
}

proptest! {
    #[test]
    fn a_text_whose_calls_stand_alone_is_as_in_one_pass(
        words in prop::collection::vec(prop::sample::select(vec![
            "{{user}}", "{{char}}", "{{description}}", "{{newline}}", "{{date_ymd}}", "{{nobody}}", "a", " ", "界",
        ]), 0..12),
    ) {
        let text = words.concat();
        let expand = |dialect| {
            let template = parse(&text, dialect);
            template.expand(&env(), &mut State::new(Limits::default()), &origin()).text
        };
        prop_assert_eq!(expand(Dialect::AioPhased), expand(Dialect::Aio));
    }

    #[test]
    fn any_text_ends_and_is_covered_by_its_segments(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{{", "}}", "{", "}", "::", "\\", " ", "a", "user", "persona", "setvar::a::", "getvar::a", "trim", "{{user}}",
        ]), 0..24),
    ) {
        let template = parse(&pieces.concat(), Dialect::AioPhased);
        let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
        let segments = expansion.segments();
        prop_assert!(segments.is_empty() || is_partition(&segments, expansion.text.len()));
    }
}
