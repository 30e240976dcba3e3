use ctx_regex::{Error, Flags, Limits, Regex, Replacement, Steps};

#[track_caller]
fn compile(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    Regex::new(pattern, Flags::NONE, limits)
}

#[track_caller]
fn check_too_complex(pattern: &str, flags: &str) {
    let limits = Limits::default();
    let refused = Regex::new(pattern, Flags::parse(flags).unwrap(), &limits).unwrap_err();
    assert_eq!(refused, Error::TooComplex { limit: limits.compiled_bytes });
}

#[test]
fn limits_pattern_length() {
    let limits = Limits { pattern_bytes: 3, ..Limits::default() };
    assert!(compile("abc", &limits).is_ok());
    assert_eq!(compile("abcd", &limits).unwrap_err(), Error::PatternTooLong { length: 4, limit: 3 });
    assert_eq!(compile("中a", &limits).unwrap_err(), Error::PatternTooLong { length: 4, limit: 3 });
}

#[test]
fn limits_group_nesting() {
    let nested = |depth: usize| format!("{}a{}", "(?:".repeat(depth), ")*".repeat(depth));
    assert!(compile(&nested(128), &Limits::default()).is_ok());
    let refused = compile(&nested(129), &Limits::default()).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 3 * 128, limit: 128 });
}

#[test]
fn counts_nested_classes_as_nesting() {
    let limits = Limits { nest: 2, ..Limits::default() };
    let refused = Regex::new("([[a]])", Flags::UNICODE_SETS, &limits).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 2, limit: 2 });
}

#[test]
fn rejects_many_open_groups_without_recursion() {
    let refused = compile(&"(".repeat(60_000), &Limits::default()).unwrap_err();
    assert_eq!(refused, Error::NestsTooDeep { offset: 128, limit: 128 });
}

#[test]
fn compiles_large_repetitions() {
    for pattern in ["((a{100}){100}){100}", "a{1000000}", "(?:a{0,4294967295}){4294967295}", "[ab]{0,10000}c"]
    {
        let regex = compile(pattern, &Limits::default()).unwrap();
        assert!(!regex.is_linear(), "{pattern}");
    }
    let counted = compile("^[ab]{3000}c", &Limits::default()).unwrap();
    assert_eq!(counted.is_match(&"ab".repeat(2_000)), Ok(false));
    assert_eq!(counted.is_match(&format!("{}c", "ab".repeat(1_500))), Ok(true));
}

#[test]
fn rejects_many_large_classes() {
    check_too_complex(&r"\p{L}".repeat(1_000), "u");
    check_too_complex(&r"\P{L}".repeat(1_000), "iu");
    check_too_complex(&r"[\Wa]".repeat(10_000), "i");
}

#[test]
fn stops_search_after_too_many_steps() {
    let limits = Limits { steps: 1_000, ..Limits::default() };
    let regex = compile(r"(a+)+\1b", &limits).unwrap();
    assert_eq!(regex.is_match("aab"), Ok(true));
    let text = "a".repeat(100);
    assert_eq!(regex.is_match(&text), Err(Error::TooManySteps));
    assert_eq!(regex.find(&text).unwrap_err(), Error::TooManySteps);
    assert_eq!(regex.replace(&text, &Replacement::parse("")), Err(Error::TooManySteps));
    let mut matches = regex.find_iter(&text);
    assert_eq!(matches.next().unwrap().unwrap_err(), Error::TooManySteps);
    assert!(matches.next().is_none(), "no match follows a stopped search");
}

#[test]
fn shares_steps_between_all_matches() {
    let regex = compile("(?=(b?))a", &Limits { steps: 100, ..Limits::default() }).unwrap();
    assert_eq!(regex.find_iter("aaa").count(), 3);
    let text = "a".repeat(100);
    let found: Vec<_> = regex.find_iter(&text).collect();
    assert!(found.len() < 50);
    assert_eq!(found.last().unwrap().as_ref().unwrap_err(), &Error::TooManySteps);
}

#[test]
fn shares_steps_between_searches() {
    let regex = compile(r"(a)\1", &Limits::default()).unwrap();
    let mut steps = Steps::new(1_000);
    let before = steps.left();
    assert_eq!(regex.find_within("aa", &mut steps), Ok(Some(0..2)));
    let once = before - steps.left();
    assert!(once > 0);
    assert_eq!(regex.find_iter_within("aa", &mut steps).count(), 1);
    assert!(steps.left() < before - once);
    let mut none = Steps::new(0);
    assert_eq!(regex.find_within("aa", &mut none), Err(Error::TooManySteps));
}

/// Each search of the linear engine is charged for the rest of the text, which can be quadratic in total.
#[test]
fn charges_linear_searches() {
    let regex = compile("a[^b]*b|a", &Limits { steps: 10_000, ..Limits::default() }).unwrap();
    assert!(regex.is_linear());
    assert_eq!(regex.find_iter(&"a".repeat(100)).count(), 100);
    let text = "a".repeat(100_000);
    let found: Vec<_> = regex.find_iter(&text).collect();
    assert_eq!(found.last().unwrap().as_ref().unwrap_err(), &Error::TooManySteps);
}

#[test]
fn allows_one_pass_despite_step_limit() {
    let limits = Limits { steps: 10, ..Limits::default() };
    assert_eq!(compile("x", &limits).unwrap().is_match(&"a".repeat(1 << 20)), Ok(false));
    assert_eq!(compile("x(?=y)", &limits).unwrap().is_match(&"a".repeat(1 << 20)), Ok(false));
}

#[test]
fn limits_pending_branches() {
    let limits = Limits { branches: 10, ..Limits::default() };
    let regex = compile(r"(?:a|b)*(?=c)", &limits).unwrap();
    assert_eq!(regex.is_match("abac"), Ok(true));
    assert_eq!(regex.is_match(&"ab".repeat(20)), Err(Error::TooManyBranches { limit: 10 }));
}

#[test]
fn limits_replaced_text_length() {
    let limits = Limits { output_bytes: 6, ..Limits::default() };
    let regex = Regex::new("a", Flags::GLOBAL, &limits).unwrap();
    let replace = |text, with| regex.replace(text, &Replacement::parse(with)).map(String::from);
    assert_eq!(replace("aa", "xyz"), Ok("xyzxyz".to_owned()));
    assert_eq!(replace("aaa", "xyz"), Err(Error::OutputTooLong { limit: 6 }));
    assert_eq!(replace("abcdefg", "x"), Err(Error::OutputTooLong { limit: 6 }));
    assert_eq!(replace("bcdefgh", "x"), Ok("bcdefgh".to_owned()), "nothing was replaced");
}

/// Without a limit, this would need 1 TB.
#[test]
fn limits_expansion_of_surrounding_text() {
    let regex =
        Regex::new("", Flags::GLOBAL, &Limits { output_bytes: 1 << 16, ..Limits::default() }).unwrap();
    let replacement = Replacement::parse(&"$'".repeat(1_000));
    let text = "x".repeat(1 << 15);
    assert_eq!(regex.replace(&text, &replacement), Err(Error::OutputTooLong { limit: 1 << 16 }));
}
