//! Invalid and harmful texts: results, diagnostics, and limits.

mod cases;
use crate::support;

use cases::Case;
use ctx_macros::{Dialect, Env, Expansion, Limits, Registry, Scope, State, Template, codes};
use ctx_types::internal::is_partition;
use ctx_types::{Code, Text};
use support::{env, origin};

#[track_caller]
fn check(env: &Env, text: &str, expected: &[(Dialect, &str, &[Code])]) {
    for (dialect, result, found) in expected {
        let (expansion, codes) = expanded(env, text, *dialect, &mut State::new(Limits::default()));
        let name = dialect.as_str();
        assert_eq!(expansion.text, *result, "{name}");
        assert_eq!(codes, *found, "{name}");
    }
}

fn expanded(env: &Env, text: &str, dialect: Dialect, state: &mut State) -> (Expansion, Vec<Code>) {
    let template = Template::parse(&Text::from(text), dialect, &Registry::builtin());
    let expansion = template.expand(env, state, &origin());
    let found = template.diagnostics().iter().chain(&expansion.diagnostics).map(|found| found.code).collect();
    (expansion, found)
}

#[test]
fn limits_call_depth() {
    let text = format!("{}x{}", "{{setvar::a::".repeat(10_000), "}}".repeat(10_000));
    check(
        &env(),
        &text,
        &[(Dialect::Aio, &text, &[codes::DEPTH_LIMIT]), (Dialect::SillyTavern, &text, &[codes::DEPTH_LIMIT])],
    );
    let blocks = format!("{}x{}", "{{if 1}}".repeat(10_000), "{{/if}}".repeat(10_000));
    check(&env(), &blocks, &[(Dialect::SillyTavern, &blocks, &[codes::DEPTH_LIMIT])]);
}

#[test]
fn limits_repetition() {
    let nested = "{{repeat::{{repeat::{{repeat::x::1000}}::1000}}::1000}}";
    check(&env(), nested, &[(Dialect::Aio, nested, &[codes::OUTPUT_LIMIT])]);
    let spaces = "{{space::99999999999}}";
    check(&env(), spaces, &[(Dialect::SillyTavern, spaces, &[codes::OUTPUT_LIMIT])]);
}

#[test]
fn reads_variable_that_contains_its_own_call() {
    let mut state = State::new(Limits::default());
    state.set_variable(Scope::Local, "a", "{{getvar::a}}".into(), ctx_types::Trust::User).unwrap();
    for dialect in Dialect::ALL {
        let (expansion, found) = expanded(&env(), "{{getvar::a}}", dialect, &mut state);
        assert_eq!((expansion.text.as_str(), found), ("{{getvar::a}}", vec![]), "{}", dialect.as_str());
    }
}

#[test]
fn stays_within_limits_for_harmful_text() {
    let limits = Limits::default();
    for case in cases::all(10) {
        for dialect in Dialect::ALL {
            check_limits(&case, dialect, limits);
        }
    }
}

fn check_limits(case: &Case, dialect: Dialect, limits: Limits) {
    let name = format!("{} in {}", case.name, dialect.as_str());
    let mut state = State::new(limits);
    case.set_up(&mut state);
    let (expansion, found) = expanded(&case.env, &case.text, dialect, &mut state);
    assert!(expansion.text.len() <= case.text.len() + limits.output_bytes, "{name}");
    let segments = expansion.segments();
    assert!(segments.is_empty() || is_partition(&segments, expansion.text.len()), "{name}");
    let held: usize = [Scope::Local, Scope::Global]
        .into_iter()
        .flat_map(|scope| {
            state.variables(scope).map(|(name, value)| name.len() + value.len()).collect::<Vec<_>>()
        })
        .sum();
    assert!(held <= limits.variable_bytes, "{name}");
    // At most 64 diagnostics of each kind, and one with the rest.
    assert!(found.len() <= 2 * 65 + 1, "{name}: {}", found.len());
    let used = state.steps_left() < limits.steps || state.output_left() < limits.output_bytes;
    assert!(used || expansion.text.len() <= case.text.len(), "{name}: no step or output was charged");
}
