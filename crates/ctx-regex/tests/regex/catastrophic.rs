//! Patterns with catastrophic backtracking, on 10,000 characters.
//!
//! Tests the results, not the time. `cargo bench -p ctx-regex --bench catastrophic` measures the time.

mod cases;

use cases::End;
use ctx_regex::{Error, Flags, Limits, Regex, Steps};

fn compile(pattern: &str, flags: &str) -> Regex {
    Regex::new(pattern, Flags::parse(flags).unwrap(), &Limits::default()).unwrap()
}

#[test]
fn ends_every_search_as_expected() {
    let cases = cases::all();
    assert!(cases.len() >= 30, "{}", cases.len());
    for case in cases {
        let regex = compile(case.pattern, case.flags);
        let mut steps = Steps::new(Limits::default().steps);
        let end = match regex.find_within(&case.text, &mut steps) {
            Ok(found) => End::Linear(found.is_some()),
            Err(error) => {
                assert_eq!(error, Error::TooManySteps);
                End::GivenUp
            }
        };
        assert_eq!((end, regex.is_linear()), (case.end, case.end != End::GivenUp), "/{}/", case.pattern);
    }
}

#[test]
fn completes_small_backtracking_searches() {
    let text = "a".repeat(10_000);
    let check = |pattern, expected| {
        let regex = compile(pattern, "");
        assert_eq!((regex.is_match(&text), regex.is_linear()), (Ok(expected), false), "/{pattern}/");
    };
    check("^(?=.*x)a", false);
    check("(?=a{3})a{2}(?!a)", false);
    check(r"(a)\1(?!a)", true);
    check(r"^((?!b).)*$", true);
    check("(?<=a{3})b", false);
}
