//! Patterns that take a backtracking engine for ever, on ten thousand characters.
//!
//! What is checked is how each search ends, not how long it takes: the steps bound that.

#![expect(clippy::unwrap_used, reason = "rows are valid patterns")]

use ctx_regex::{Error, Flags, Limits, Regex, Steps};

/// How a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The linear engine goes over the text once.
    Linear(bool),
    /// Backtracking comes to an answer.
    Found(bool),
    /// Backtracking gives up.
    GivenUp,
}
use End::{Found, GivenUp, Linear};

#[track_caller]
fn check(pattern: &str, flags: &str, text: &str, expected: End) {
    let regex = Regex::new(pattern, Flags::parse(flags).unwrap(), &Limits::default()).unwrap();
    let mut steps = Steps::new(Limits::default().steps);
    let end = match regex.is_match_within(text, &mut steps) {
        Ok(found) if regex.is_linear() => Linear(found),
        Ok(found) => Found(found),
        Err(error) => {
            assert_eq!(error, Error::TooManySteps);
            GivenUp
        }
    };
    assert_eq!(end, expected, "/{pattern}/{flags}");
}

fn long(piece: &str) -> String {
    piece.repeat(10_000 / piece.len())
}

#[test]
fn loops_in_loops_are_linear() {
    let text = long("a") + "!";
    check("(a+)+$", "", &text, Linear(false));
    check("^(a|aa)+$", "", &text, Linear(false));
    check("^(a|a?)+$", "", &text, Linear(false));
    check("(a*)*b", "", &text, Linear(false));
    check("([a-zA-Z]+)*$", "", &text, Linear(true));
    check("^(([a-z])+.)+[A-Z]([a-z])+$", "", &text, Linear(false));
    check("^(?:a?){50}a{50}$", "", &text, Linear(false));
    check("(.*a){20}b", "", &text, Linear(false));
    check("^((a{1,9}){1,9}){1,9}b", "", &text, Linear(false));
}

#[test]
fn overlapping_neighbours_are_linear() {
    check("(x+x+)+y", "", &long("x"), Linear(false));
    check(r"\s+$", "", &(long(" ") + "x"), Linear(false));
    check(r"^(\w+\s?)*$", "", &(long("word ") + "!"), Linear(false));
    check(r"^([a-zA-Z0-9])(([\-.]|_+)?([a-zA-Z0-9]+))*@x$", "", &long("a"), Linear(false));
    check("^(.*?,){11}P", "", &long("1,"), Linear(false));
    check(r#"("[^"]*"|[^,]*)*;"#, "", &long(r#"","#), Linear(false));
    check(r"<!--[\s\S]*?--\s*>", "", &long("<!--"), Linear(false));
    check(r"(?:\*[^*]*)*\*\*$", "", &(long("*a") + "b"), Linear(false));
}

#[test]
fn references_in_loops_are_given_up() {
    let text = long("a");
    check(r"(a+)+\1b", "", &text, GivenUp);
    check(r"(a*)*\1c", "", &text, GivenUp);
    check(r"((a|b)+)+\2!", "", &text, GivenUp);
    check(r"(\w+\s*)+\1:", "", &long("word "), GivenUp);
    check(r"(.*)\1x", "", &text, GivenUp);
    check(r"(['\x22])(?:\\?.)*?\1$", "", &(long("'a") + "!"), GivenUp);
    check(r"(\p{L}+\s*)+\1!$", "u", &long("字 "), GivenUp);
    check(r"<(\w+)>[\s\S]*?<\/\1>", "", &long("<a>"), GivenUp);
}

#[test]
fn lookaround_in_loops_is_given_up() {
    let text = long("a");
    check("(?=(a+)+$)b|(?=(a+)+!)a", "", &(text.clone() + "?"), GivenUp);
    check(r"(?:(?=(.*))a)*b\1", "", &text, GivenUp);
    check("(?:a(?=.*?z|.*))*b", "", &text, GivenUp);
    check("(?<=b(a+)+)a", "", &text, GivenUp);
    check("(?<!b(a|aa)+)b|(?<=b(a|aa)+)a", "", &text, GivenUp);
    check("^(?:(?:a|aa)(?!c))+$", "", &(text.clone() + "!"), GivenUp);
    check("(?=.*x)y|(?=.*x)a", "", &text, GivenUp);
}

#[test]
fn what_stays_small_is_answered() {
    let text = long("a");
    check("^(?=.*x)a", "", &text, Found(false));
    check("(?=a{3})a{2}(?!a)", "", &text, Found(false));
    check(r"(a)\1(?!a)", "", &text, Found(true));
    check(r"^((?!b).)*$", "", &text, Found(true));
    check("(?<=a{3})b", "", &text, Found(false));
}
