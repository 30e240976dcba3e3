use crate::support;

use std::collections::BTreeSet;

use ctx_macros::{Conversation, Dialect, Env, Limits, State, codes};
use ctx_types::{Code, Source};
use support::{env, origin, parse};

fn expand(env: &Env, text: &str, origin: &Source) -> (String, Vec<Code>) {
    let expansion = parse(text, Dialect::Aio).expand(env, &mut State::new(Limits::default()), origin);
    (expansion.text.to_string(), expansion.diagnostics.iter().map(|found| found.code).collect())
}

/// Returns the distinct results of 400 seeds.
fn all(text: &str) -> BTreeSet<String> {
    (0..400).map(|seed| expand(&Env { seed, ..env() }, text, &origin()).0).collect()
}

#[track_caller]
fn check_refused(text: &str) {
    assert_eq!(expand(&env(), text, &origin()), (text.to_owned(), vec![codes::BAD_ARGUMENT]));
}

#[track_caller]
fn check_among(text: &str, expected: &[&str]) {
    assert_eq!(all(text), expected.iter().map(ToString::to_string).collect());
}

#[test]
fn reaches_every_choice() {
    check_among("{{random::a::b::{{char}}}}", &["a", "b", "Alice"]);
    check_among("{{random::a,b}}", &["a,b"]);
    check_among("{{randomInt::-1::1}}", &["-1", "0", "1"]);
    check_among("{{randomInt::5::5}}", &["5"]);
    check_among("{{roll::1d3}}", &["1", "2", "3"]);
    check_among("{{roll::d2}}", &["1", "2"]);
    check_among("{{roll::2d2}}", &["2 (1, 1)", "3 (1, 2)", "3 (2, 1)", "4 (2, 2)"]);
}

#[test]
fn chooses_separately_for_each_call() {
    assert_eq!(all("{{random::a::b}}{{random::a::b}}").len(), 4);
}

#[test]
fn isolates_random_values_between_texts() {
    let mut state = State::new(Limits::default());
    let draw = |text: &str, id: &str, state: &mut State| {
        let origin = Source::preset(Some(id.into()), 0, None);
        parse(text, Dialect::Aio).expand(&env(), state, &origin).text
    };
    let alone = draw("{{roll::9d1000}}", "b", &mut State::new(Limits::default()));
    draw("{{roll::99d9}}{{random::a::b}}", "a", &mut state);
    assert_eq!(draw("{{roll::9d1000}}", "b", &mut state), alone);
}

#[test]
fn keeps_pick_throughout_conversation() {
    let options: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let pick = format!("{{{{pick::{}}}}}", options.join("::"));
    let of = |id: &str, seed, text: &str, entry: &str| {
        let conversation = Conversation { id: Some(id.into()), ..Conversation::default() };
        let origin = Source::preset(Some(entry.into()), 0, None);
        expand(&Env { conversation, seed, ..env() }, text, &origin).0
    };
    let picked = of("s1", 0, &pick, "a");
    assert_eq!(of("s1", 7, &pick, "a"), picked, "another turn");
    assert_eq!(
        of("s1", 0, &format!("{{{{random::x}}}}{pick}"), "a"),
        format!("x{picked}"),
        "after another random value"
    );
    assert_ne!(of("s2", 0, &pick, "a"), picked, "another conversation");
    assert_ne!(of("s1", 0, &pick, "b"), picked, "another entry");
    let two = of("s1", 0, &format!("{pick} {pick}"), "a");
    assert!(two.starts_with(&format!("{picked} ")) && !two.ends_with(&format!(" {picked}")), "{two}");
    assert!(!parse(&pick, Dialect::Aio).macros().any(|used| used.volatile));
}

#[test]
fn rejects_impossible_numbers() {
    for dice in
        ["0d6", "101d6", "1d0", "1d1001", "6", "d", "2d6+1", "-1d6", "99999999999999999999d6", "２d6", ""]
    {
        check_refused(&format!("{{{{roll::{dice}}}}}"));
    }
    check_refused("{{randomInt::2::1}}");
    check_refused("{{randomInt::a::1}}");
    check_refused("{{randomInt::0::99999999999999999999}}");
    check_refused("{{randomInt::0::9007199254740993}}");
    check_refused("{{repeat::x::NaN}}");
}
