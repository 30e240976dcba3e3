use crate::support;

use std::collections::BTreeSet;

use ctx_macros::{Dialect, Env, Limits, State};
use support::{env, origin, parse};

/// Checks all results of many seeds, and that each seed is deterministic.
#[track_caller]
fn check(dialect: Dialect, text: &str, expected: &[&str]) {
    let roll = |seed: u64| {
        let expansion = parse(text, dialect).expand(
            &Env { seed, ..env() },
            &mut State::new(Limits::default()),
            &origin(),
        );
        assert_eq!(expansion.diagnostics, [], "{text}");
        expansion.text.to_string()
    };
    let rolled: Vec<String> = (0..200).map(roll).collect();
    assert_eq!(rolled, (0..200).map(roll).collect::<Vec<_>>(), "{text}");
    let rolled: BTreeSet<&str> = rolled.iter().map(String::as_str).collect();
    assert_eq!(rolled, expected.iter().copied().collect(), "{text}");
}

#[test]
fn adds_modifier_to_rolled_value() {
    for text in ["{{roll::2d2+3}}", "{{roll:2d2+3}}", "{{roll 2d2+3}}", "{{ roll :: 2D2+3 }}"] {
        check(Dialect::SillyTavern, text, &["5", "6", "7"]);
    }
    check(Dialect::SillyTavern, "{{roll::2d2-3}}", &["-1", "0", "1"]);
    check(Dialect::SillyTavern, "{{roll::d3+10}}", &["11", "12", "13"]);
    check(Dialect::SillyTavern, "{{roll::{{noop}}3d1+{{getvar::n}}0}}", &["3"]);
}
