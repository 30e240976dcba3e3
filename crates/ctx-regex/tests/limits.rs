//! What happens at the limits.

#![expect(clippy::unwrap_used, reason = "flags in rows are valid")]

use ctx_regex::{Error, Flags, Limits, Regex, Replacement};

#[track_caller]
fn compile(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    Regex::new(pattern, Flags::NONE, limits)
}

#[track_caller]
fn check_too_many_positions(pattern: &str) {
    let limit = Limits::default().positions;
    assert_eq!(compile(pattern, &Limits::default()).unwrap_err(), Error::TooManyPositions { limit });
}

#[track_caller]
fn check_too_complex(pattern: &str, flags: &str) {
    let limits = Limits::default();
    let refused = Regex::new(pattern, Flags::parse(flags).unwrap(), &limits).unwrap_err();
    assert_eq!(refused, Error::TooComplex { limit: limits.compiled_bytes });
}

#[test]
fn a_pattern_may_be_as_long_as_its_limit() {
    let limits = Limits { pattern_bytes: 3, ..Limits::default() };
    assert!(compile("abc", &limits).is_ok());
    assert_eq!(compile("abcd", &limits).unwrap_err(), Error::PatternTooLong { length: 4, limit: 3 });
    assert_eq!(compile("中a", &limits).unwrap_err(), Error::PatternTooLong { length: 4, limit: 3 });
}

#[test]
fn groups_may_nest_as_deep_as_their_limit() {
    let nested = |depth: usize| format!("{}a{}", "(?:".repeat(depth), ")*".repeat(depth));
    assert!(compile(&nested(128), &Limits::default()).is_ok());
    let refused = compile(&nested(129), &Limits::default()).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 3 * 128, limit: 128 });
}

#[test]
fn nested_classes_count_as_nesting() {
    let limits = Limits { nest: 2, ..Limits::default() };
    let refused = Regex::new("([[a]])", Flags::UNICODE_SETS, &limits).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 2, limit: 2 });
}

#[test]
fn an_open_bracket_a_thousand_times_is_no_recursion() {
    let refused = compile(&"(".repeat(60_000), &Limits::default()).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 128, limit: 128 });
}

#[test]
fn repetitions_count_as_often_as_they_may_be() {
    check_too_many_positions("((a{100}){100}){100}");
    check_too_many_positions("a{1000000}");
    check_too_many_positions("a{1001,}");
    check_too_many_positions("(?:a{0,4294967295}){4294967295}");
    check_too_many_positions("[ab]{0,10000}c");
    check_too_many_positions(&"[ab]?".repeat(1_001));
    check_too_many_positions(&"(a)|".repeat(501));
    let limits = Limits { positions: 21, ..Limits::default() };
    assert!(compile("[ab]{0,20}c", &limits).is_ok());
    assert!(compile("[ab]{0,21}c", &limits).is_err());
    assert!(compile("(?:[ab]{1,20}c)*", &limits).is_ok());
}

#[test]
fn many_large_classes_are_too_complex() {
    check_too_complex(&r"\p{L}".repeat(1_000), "u");
    check_too_complex(&r"\P{L}".repeat(1_000), "iu");
    check_too_complex(&r"[\Wa]".repeat(10_000), "i");
}

#[test]
fn many_groups_leave_less_room_for_the_program() {
    let limits = Limits { positions: usize::MAX, ..Limits::default() };
    assert!(compile(&"(a)|".repeat(300), &limits).is_ok());
    let refused = compile(&"(a)|".repeat(15_000), &limits).unwrap_err();
    assert_eq!(refused, Error::TooComplex { limit: limits.compiled_bytes });
}

#[test]
fn a_replaced_text_may_be_as_long_as_its_limit() {
    let limits = Limits { output_bytes: 6, ..Limits::default() };
    let regex = Regex::new("a", Flags::GLOBAL, &limits).unwrap();
    let replace = |text, with| regex.replace(text, &Replacement::parse(with)).map(String::from);
    assert_eq!(replace("aa", "xyz"), Ok("xyzxyz".to_owned()));
    assert_eq!(replace("aaa", "xyz"), Err(Error::OutputTooLong { limit: 6 }));
    assert_eq!(replace("abcdefg", "x"), Err(Error::OutputTooLong { limit: 6 }));
    assert_eq!(replace("bcdefgh", "x"), Ok("bcdefgh".to_owned()), "nothing was replaced");
}

/// Without a bound this would need a terabyte.
#[test]
fn texts_around_matches_do_not_multiply_without_bound() {
    let regex =
        Regex::new("", Flags::GLOBAL, &Limits { output_bytes: 1 << 16, ..Limits::default() }).unwrap();
    let replacement = Replacement::parse(&"$'".repeat(1_000));
    let text = "x".repeat(1 << 15);
    assert_eq!(regex.replace(&text, &replacement), Err(Error::OutputTooLong { limit: 1 << 16 }));
}
