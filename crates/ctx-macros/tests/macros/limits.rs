use crate::support;

use ctx_macros::{Dialect, Limits, Scope, State, codes};
use ctx_types::{Code, Severity};
use support::{expand_in, parse};

#[track_caller]
fn check(limits: Limits, text: &str, expected: &str, code: Code) {
    let expansion = expand_in(text, Dialect::Aio, &mut State::new(limits));
    assert_eq!(expansion.text, expected);
    let found: Vec<_> = expansion.diagnostics.iter().map(|f| (f.code, f.severity)).collect();
    assert_eq!(found, [(code, Severity::Error)]);
}

#[test]
fn limits_steps_across_all_texts() {
    let limits = Limits { steps: 3, ..Limits::default() };
    check(limits, "{{user}} {{user}} {{user}} {{user}} x", "Mei Mei Mei {{user}} x", codes::STEP_LIMIT);
    let mut state = State::new(limits);
    for _ in 0..3 {
        assert_eq!(expand_in("{{user}}", Dialect::Aio, &mut state).text, "Mei");
    }
    assert_eq!(state.steps_left(), 0);
    assert_eq!(expand_in("a {{user}}", Dialect::Aio, &mut state).text, "a {{user}}");
    assert_eq!(expand_in("plain", Dialect::Aio, &mut state).diagnostics, []);
}

#[test]
fn keeps_rest_from_outermost_call() {
    let limits = Limits { steps: 2, ..Limits::default() };
    let text = r"{{user}} {{setvar::a:: {{char}} }} \{{ {{user}}";
    check(limits, text, r"Mei {{setvar::a:: {{char}} }} \{{ {{user}}", codes::STEP_LIMIT);
}

#[test]
fn limits_depth() {
    let nested = |depth: usize| format!("{}x{}", "{{setvar::a::".repeat(depth), "}}".repeat(depth));
    let fine = expand_in(&nested(64), Dialect::Aio, &mut State::new(Limits::default()));
    assert_eq!(fine.text, "");
    check(Limits::default(), &nested(65), &nested(65), codes::DEPTH_LIMIT);
    let greedy = Limits { depth: usize::MAX, ..Limits::default() };
    check(greedy, &nested(129), &nested(129), codes::DEPTH_LIMIT);
}

#[test]
fn limits_output_without_counting_literal_text() {
    let limits = Limits { output_bytes: 7, ..Limits::default() };
    let literal = "a".repeat(100);
    let text = format!("{literal}{{{{user}}}}{{{{user}}}}{{{{user}}}}!");
    check(limits, &text, &format!("{literal}MeiMei{{{{user}}}}!"), codes::OUTPUT_LIMIT);
    check(Limits { output_bytes: 2, ..limits }, "{{user}}", "{{user}}", codes::OUTPUT_LIMIT);
}

#[test]
fn limits_variable_count_and_size() {
    let limits = Limits { variables: 1, ..Limits::default() };
    let text = "{{setvar::a::1}}{{setvar::a::2}}{{getvar::a}}{{setvar::b::1}}";
    check(limits, text, "2{{setvar::b::1}}", codes::VARIABLE_LIMIT);
    let text = "{{setvar::a::1}}{{setvar::b::2}}{{setvar::a::3}}{{getvar::a}} {{user}}";
    check(limits, text, "{{setvar::b::2}}3 Mei", codes::VARIABLE_LIMIT);
    let limits = Limits { variable_bytes: 4, ..Limits::default() };
    let text = "{{setvar::a::123}}{{setvar::a::12}}{{setvar::b::}}{{setvar::a::123}}";
    check(limits, text, "{{setvar::a::123}}", codes::VARIABLE_LIMIT);
}

#[test]
fn stops_only_call_that_exceeds_variable_limit() {
    let limits = Limits { variables: 1, ..Limits::default() };
    for (dialect, text, expected) in [
        (Dialect::Aio, "{{incvar::a}}{{incvar::b}}{{user}}", "{{incvar::b}}Mei"),
        (Dialect::SillyTavern, "{{.a = 1}}{{.b = {{user}}}}{{$c++}}{{.a}}", "{{.b = Mei}}{{$c++}}1"),
        (Dialect::SillyTavern, "{{incvar::a}}{{setvar::b}}x{{/setvar}}{{.a}}", "1{{setvar::b}}x{{/setvar}}1"),
    ] {
        let expansion = expand_in(text, dialect, &mut State::new(limits));
        assert_eq!(expansion.text, expected, "{text} {dialect:?}");
        assert!(expansion.diagnostics.iter().all(|found| found.code == codes::VARIABLE_LIMIT), "{text}");
    }
}

#[test]
fn stops_doubling_of_a_variable() {
    let bomb = format!(
        "{{{{setvar::a::0123456789}}}}{}",
        "{{setvar::a::{{getvar::a}}{{getvar::a}}}}".repeat(10_000)
    );
    let mut state = State::new(Limits::default());
    let expansion = expand_in(&bomb, Dialect::Aio, &mut state);
    assert_eq!(expansion.diagnostics[0].code, codes::OUTPUT_LIMIT);
    assert!(state.variable(Scope::Local, "a").unwrap().len() < 8 << 20);
    assert!(expansion.text.len() < bomb.len());
}

#[test]
fn parses_megabyte_of_braces() {
    for pattern in
        ["{", "}", "{}", "{{a", "{{a::", "{{setvar::a::", "{{setvar::", "\\{", "{{ {", "::{{", "}}{{"]
    {
        for dialect in [Dialect::Aio, Dialect::SillyTavern] {
            let text = pattern.repeat((1 << 20) / pattern.len());
            let expansion = expand_in(&text, dialect, &mut State::new(Limits::default()));
            let is_escape = pattern == "\\{" && dialect == Dialect::SillyTavern;
            assert!(is_escape || expansion.text == text.as_str(), "{pattern} {dialect:?}");
        }
    }
}

#[test]
fn appends_to_long_lists() {
    let text = format!("{{{{setvar::l::[]}}}}{}{{{{getvar::l}}}}", "{{addvar::l::item-0000}}".repeat(500));
    let expansion = expand_in(&text, Dialect::SillyTavern, &mut State::new(Limits::default()));
    assert_eq!(expansion.text.matches("item-0000").count(), 500);
    assert_eq!(expansion.diagnostics, []);
}

#[test]
fn parses_deep_nesting_on_small_stack() {
    let text = format!("{}{}", "{{setvar::a::".repeat(70_000), "}}".repeat(70_000));
    let run = move || {
        let limits = Limits { depth: Limits::MAX_DEPTH, ..Limits::default() };
        let expansion = expand_in(&text, Dialect::Aio, &mut State::new(limits));
        assert_eq!(expansion.text, text.as_str());
        let unknown = text.replace("setvar", "x");
        for dialect in [Dialect::Aio, Dialect::SillyTavern] {
            assert_eq!(expand_in(&unknown, dialect, &mut State::new(limits)).text, unknown.as_str());
            drop(parse(&unknown, dialect));
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}
