//! Texts that would need too much time or memory without limits.
//!
//! Tests check the results; the benchmark `bad_input` measures the time.

use std::fmt::Write as _;

use ctx_macros::{CardTexts, Conversation, Env, Scope, State};
use ctx_types::{Text, Trust};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) env: Env,
    /// Initial variables.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Case {
    pub(crate) fn set_up(&self, state: &mut State) {
        for (name, value) in &self.variables {
            let set = state.set_variable(Scope::Local, name, Text::from(value.as_str()), Trust::User);
            assert!(set.is_ok(), "{name}");
        }
    }
}

/// 2025-11-07 22:30:05 UTC.
const AT: i64 = 1_762_554_605_000;

fn env() -> Env {
    Env { user: Some("Mei".into()), char: Some("Alice".into()), at_millis: Some(AT), ..Env::default() }
}

fn case(name: &'static str, text: impl Into<String>) -> Case {
    Case { name, text: text.into(), env: env(), variables: Vec::new() }
}

/// All cases by topic. `part` divides the repetitions.
pub(crate) fn all(part: usize) -> Vec<Case> {
    let topics = [braces, nesting, variables, repetition, chance, time, lookups];
    topics.into_iter().flat_map(|topic| topic(part)).collect()
}

/// 100 KB of openings that are never closed.
fn braces(part: usize) -> Vec<Case> {
    let filled = |piece: &str| piece.repeat(100_000 / part / piece.len());
    vec![
        case("opening braces", filled("{{")),
        case("closing braces", filled("}}")),
        case("names that never close", filled("{{user ")),
        case("arguments that never close", filled("{{setvar::a::")),
        case("conditions that never close", filled("{{if 1}}a")),
        case("ends that nothing began", filled("{{/if}}")),
        case("single braces and colons", filled("{{a}:{b:}::")),
        case("unknown macros", filled("{{nosuchmacro::x}}")),
        case("escapes", filled("\\{\\}\\{{")),
        case("old spellings", filled("<USER><CHAR{{time_UTC+1}}")),
        case("quotes that never end", filled("{{banned \"a ")),
        case("comments that never end", filled("{{// ")),
    ]
}

fn nesting(part: usize) -> Vec<Case> {
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}x{}", open.repeat(depth), close.repeat(depth));
    vec![
        case("10,000 nested openers", nested("{{", "", 10_000 / part)),
        case("10,000 nested braces", nested("{{", "}}", 10_000 / part)),
        case("10,000 nested calls", nested("{{setvar::a::", "}}", 10_000 / part)),
        case("10,000 nested unknown calls", nested("{{nobody::", "}}", 10_000 / part)),
        case("10,000 nested conditions", nested("{{if 1}}", "{{/if}}", 10_000 / part)),
        case("10,000 nested blocks", nested("{{reverse}}\n  ", "\n{{/reverse}}", 10_000 / part)),
        case("10,000 blocks of a macro with a list", nested("{{random::a}}", "{{/random}}", 10_000 / part)),
        case(
            "10,000 halves of a condition",
            format!("{{{{if 1}}}}{}{{{{/if}}}}", "a{{else}}".repeat(10_000 / part)),
        ),
        case(
            "10,000 comments in each of 1,000 blocks",
            format!(
                "{}{}{}",
                "{{reverse}}{{//}}".repeat(1_000 / part),
                "{{//}}".repeat(10_000 / part),
                "{{/reverse}}".repeat(1_000 / part)
            ),
        ),
        case(
            "60 nested conditions around 100 KB",
            nested("{{if 1}}", "{{/if}}", 60).replace('x', &"a b ".repeat(25_000 / part)),
        ),
        case(
            "60 nested reversals of 50 KB",
            nested("{{reverse::", "}}", 60).replace('x', &"a b ".repeat(12_500 / part)),
        ),
    ]
}

fn variables(part: usize) -> Vec<Case> {
    let with = |name, text: &str, times: usize, value: &str| Case {
        variables: vec![("a", value.to_owned())],
        ..case(name, text.repeat(times))
    };
    vec![
        with(
            "a variable that reads itself",
            "{{setvar::a::{{getvar::a}}}}{{getvar::a}}",
            1_000 / part,
            "{{getvar::a}}",
        ),
        with("doubling a variable", "{{setvar::a::{{getvar::a}}{{getvar::a}}}}", 1_000 / part, "0123456789"),
        with("doubling by operators", "{{.a += {{.a}}}}{{.b = {{.a}}{{.a}}}}", 1_000 / part, "0123456789"),
        with("adding to a text", "{{addvar::a::x}}", 6_000 / part, &"x".repeat(100_000 / part)),
        with(
            "adding to a list",
            "{{addvar::a::x}}",
            6_000 / part,
            &format!("[{}0]", "0,".repeat(5_000 / part)),
        ),
        with(
            "adding to a deep list",
            "{{addvar::a::x}}",
            2_000 / part,
            &format!("{}{}", "[".repeat(10_000 / part), "]".repeat(10_000 / part)),
        ),
        with(
            "comparing a long variable",
            "{{.a == x}}{{.a > 1}}{{.a < {{.a}}}}",
            2_000 / part,
            &"1".repeat(1_000_000),
        ),
        with("counting a long variable", "{{incvar::a}}", 5_000 / part, &"9".repeat(100_000 / part)),
        case(
            "100,000 variables",
            (0..9_000 / part).fold(String::new(), |mut text, number| {
                let _ = write!(text, "{{{{setvar::{number}::x}}}}");
                text
            }),
        ),
    ]
}

fn repetition(part: usize) -> Vec<Case> {
    let bomb = "{{repeat::".repeat(9) + "x" + &"::1000}}".repeat(9);
    vec![
        case("a thousand million times", "{{repeat::x::1000000000}}"),
        case("more than a number holds", "{{repeat::x::99999999999999999999999999}}"),
        case("nested repetition", bomb),
        case("many repetitions", "{{repeat::0123456789::1000}}".repeat(3_000 / part)),
        case(
            "line breaks and spaces",
            "{{newline::1000000000}}{{space::999999999999999}}{{newline::8000000}}",
        ),
        case(
            "values that may be parts of calls",
            (0..6_000 / part).fold(String::new(), |mut text, number| {
                let _ = write!(text, "{{{{random::{{{number}}}}}");
                text
            }),
        ),
        case("trims between blanks", " \n{{trim}}\n ".repeat(10_000 / part)),
    ]
}

fn chance(part: usize) -> Vec<Case> {
    let list = "a,".repeat(40_000 / part);
    vec![
        case(
            "huge dice",
            "{{roll::1000000000d6}}{{roll::99999999999999999999d6}}{{roll::1d99999999999999999999}}",
        ),
        case("many dice", "{{roll::10000d6}}{{roll::100d1000}}".repeat(3_000 / part)),
        case("a huge range", "{{randomInt::-9223372036854775808::9223372036854775807}}".repeat(1_000 / part)),
        case("a long list", format!("{{{{random::{list}}}}}{{{{pick::{list}}}}}")),
        case("many picks in a long text", "é{{pick::a::b}}".repeat(6_000 / part)),
        case("nested choices", "{{random::".repeat(60) + "a" + &"::b}}".repeat(60)),
    ]
}

fn time(part: usize) -> Vec<Case> {
    let clock = "{{time}}{{date}}{{datetime}}{{time::UTC+99999999999}}{{datetime_locale::xx}}{{shichen}}";
    let zone = |name: &str| Env { zone: Some(name.into()), ..env() };
    vec![
        Case { env: zone("Nowhere/Land"), ..case("a zone that does not exist", clock.repeat(500 / part)) },
        Case {
            env: zone(&"Z".repeat(100_000 / part)),
            ..case("the name of a zone of 100 KB", clock.repeat(500 / part))
        },
        Case {
            env: Env { at_millis: Some(i64::MAX), ..env() },
            ..case("a time that does not exist", clock.repeat(500 / part))
        },
        case(
            "formats that nothing closes",
            "{{datetimeformat::[[[[YYYY}}{{datetimeformat [[[[YYYY}}{{datetime_format::[[[[YYYY}}"
                .repeat(500 / part),
        ),
        case(
            "a format of 100 KB",
            format!("{{{{datetimeformat {0}}}}}{{{{datetime_format::{0}}}}}", "LLLL[".repeat(20_000 / part)),
        ),
        case("differences of no dates", "{{timeDiff::2025-99-99::x}}{{timeDiff::::}}".repeat(2_000 / part)),
    ]
}

fn lookups(part: usize) -> Vec<Case> {
    let text = |text: String| Some(Text::from(text));
    let card =
        CardTexts { examples: text("<START>{{mesExamples}}".repeat(5_000 / part)), ..CardTexts::default() };
    let mutual = Env {
        description: text("{{personality}}{{description}}".repeat(100)),
        personality: text("{{scenario}}{{description}}".repeat(100)),
        scenario: text("{{persona}}{{personality}}".repeat(100)),
        persona: text("{{description}}{{user}}".repeat(100)),
        card,
        ..env()
    };
    let long = Env { description: text("{{user}} is here. ".repeat(5_000 / part)), ..env() };
    let said = Env {
        original: text("{{original}}".to_owned()),
        input: text("{{input}}{{lastMessage}}".repeat(100)),
        ..env()
    };
    vec![
        Case {
            env: mutual,
            ..case(
                "texts of a card that hold each other",
                "{{description}}{{mesExamples}}{{persona}}".repeat(200 / part),
            )
        },
        Case {
            env: long,
            ..case("a long text of a card many times", "{{description}}".repeat(1_000 / part))
        },
        Case {
            env: said,
            ..case("texts that hold themselves", "{{original}}{{input}}".repeat(1_000 / part))
        },
        Case {
            env: Env {
                conversation: Conversation {
                    id: Some("x".repeat(100_000 / part).into()),
                    ..Conversation::default()
                },
                ..env()
            },
            ..case("the id of a chat of 100 KB", "{{pick::a::b}}".repeat(500 / part))
        },
    ]
}
