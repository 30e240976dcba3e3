//! Patterns with catastrophic backtracking, each with a text of 10,000 characters that triggers it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The linear engine scans the text once.
    Linear(bool),
    /// Backtracking runs out of steps.
    GivenUp,
}
use End::{GivenUp, Linear};

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) pattern: &'static str,
    pub(crate) flags: &'static str,
    pub(crate) text: String,
    pub(crate) end: End,
}

pub(crate) fn all() -> Vec<Case> {
    [loops(), neighbours(), references(), lookaround()].into_iter().flatten().collect()
}

fn case(pattern: &'static str, text: impl Into<String>, end: End) -> Case {
    Case { pattern, flags: "", text: text.into(), end }
}

/// Repeats a text up to 10,000 bytes.
fn long(piece: &str) -> String {
    piece.repeat(10_000 / piece.len())
}

fn loops() -> Vec<Case> {
    let patterns = [
        ("(a+)+$", Linear(false)),
        ("^(a|aa)+$", Linear(false)),
        ("^(a|a?)+$", GivenUp),
        ("(a*)*b", GivenUp),
        ("([a-zA-Z]+)*$", Linear(true)),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", Linear(false)),
        ("^(?:a?){50}a{50}$", Linear(false)),
        ("(.*a){20}b", Linear(false)),
        ("^((a{1,9}){1,9}){1,9}b", Linear(false)),
    ];
    patterns.map(|(pattern, end)| case(pattern, long("a") + "!", end)).into()
}

fn neighbours() -> Vec<Case> {
    vec![
        case("(x+x+)+y", long("x"), Linear(false)),
        case(r"\s+$", long(" ") + "x", Linear(false)),
        case(r"^(\w+\s?)*$", long("word ") + "!", Linear(false)),
        case(r"^([a-zA-Z0-9])(([\-.]|_+)?([a-zA-Z0-9]+))*@x$", long("a"), Linear(false)),
        case("^(.*?,){11}P", long("1,"), Linear(false)),
        case(r#"("[^"]*"|[^,]+)*;"#, long(r#"","#), Linear(false)),
        case(r#"("[^"]*"|[^,]*)*;"#, long("a"), GivenUp),
        case(r"<!--[\s\S]*?--\s*>", long("<!--"), Linear(false)),
        case(r"(?:\*[^*]*)*\*\*$", long("*a") + "b", Linear(false)),
    ]
}

fn references() -> Vec<Case> {
    vec![
        case(r"(a+)+\1b", long("a"), GivenUp),
        case(r"(a*)*\1c", long("a"), GivenUp),
        case(r"((a|b)+)+\2!", long("a"), GivenUp),
        case(r"(\w+\s*)+\1:", long("word "), GivenUp),
        case(r"(.*)\1x", long("a"), GivenUp),
        case(r"(['\x22])(?:\\?.)*?\1$", long("'a") + "!", GivenUp),
        Case { flags: "u", ..case(r"(\p{L}+\s*)+\1!$", long("字 "), GivenUp) },
        case(r"<(\w+)>[\s\S]*?<\/\1>", long("<a>"), GivenUp),
    ]
}

fn lookaround() -> Vec<Case> {
    vec![
        case("(?=(a+)+$)b|(?=(a+)+!)a", long("a") + "?", GivenUp),
        case(r"(?:(?=(.*))a)*b\1", long("a"), GivenUp),
        case("(?:a(?=.*?z|.*))*b", long("a"), GivenUp),
        case("(?<=b(a+)+)a", long("a"), GivenUp),
        case("(?<!b(a|aa)+)b|(?<=b(a|aa)+)a", long("a"), GivenUp),
        case("^(?:(?:a|aa)(?!c))+$", long("a") + "!", GivenUp),
        case("(?=.*x)y|(?=.*x)a", long("a"), GivenUp),
    ]
}
