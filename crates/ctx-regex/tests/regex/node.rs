//! Results of Node.js for patterns, flags, texts, and replacements, from `fixtures/javascript/`.
//!
//! `cargo xtask fixtures regex` creates them with Node.js. A match has its offset in UTF-16 units, its text,
//! and its groups. An intended difference has its own result in `ours` and the reason in `why`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ctx_regex::{Error, Flags, Limits, Match, Regex, Replacement};
use serde_json::{Map, Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/javascript")
}

fn cases(name: &str) -> Vec<Map<String, Value>> {
    let text = std::fs::read_to_string(folder().join(name).with_extension("json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let rules = file["rules"].as_array().unwrap();
    let cases = rules.iter().flat_map(|rule| rule["cases"].as_array().unwrap());
    cases.map(|case| case.as_object().unwrap().clone()).collect()
}

/// Checks a file with the default engine and with backtracking.
#[track_caller]
fn check(name: &str) {
    let both = [Limits::default(), Limits { build_cost: 0, ..Limits::default() }];
    for case in cases(name) {
        for limits in both {
            check_case(&case, &limits);
        }
    }
}

#[track_caller]
fn check_case(case: &Map<String, Value>, limits: &Limits) {
    let keys = ["matches", "replaced", "refused"];
    let node: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), case.get(*key)?.clone()))).collect();
    let found = match evaluate(case, limits) {
        Ok(found) => found,
        Err(error) => {
            let is_of_search = matches!(
                error,
                Error::TooManySteps
                    | Error::TooManyBranches { .. }
                    | Error::TextTooLong { .. }
                    | Error::OutputTooLong { .. }
            );
            assert!(!is_of_search, "{error}: {case:?}");
            json!({ "refused": true })
        }
    };
    let Some(ours) = case.get("ours") else { return assert_eq!(found, Value::Object(node), "{case:?}") };
    assert_eq!(found, *ours, "{case:?}");
    assert_ne!(found, Value::Object(node), "no difference: {case:?}");
    assert!(case["why"].as_str().is_some_and(|why| !why.is_empty()), "a difference has a reason");
}

fn evaluate(case: &Map<String, Value>, limits: &Limits) -> Result<Value, Error> {
    let field = |key: &str| case[key].as_str().unwrap();
    let regex = Regex::new(field("pattern"), Flags::parse(field("flags"))?, limits)?;
    let text = field("text");
    let matches: Result<Vec<Value>, Error> =
        regex.find_iter(text).map(|found| Ok(render(text, &found?))).collect();
    let replaced = regex.replace(text, &Replacement::parse(field("replacement")))?;
    Ok(json!({ "matches": matches?, "replaced": replaced }))
}

fn render(text: &str, found: &Match<'_>) -> Value {
    let offset = text[..found.range().start].encode_utf16().count();
    let groups = (0..=found.group_count()).map(|number| json!(found.group(number)));
    std::iter::once(json!(offset)).chain(groups).collect()
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        const FILES: &[&str] = &[$(stringify!($name)),*];
    };
}

files!(
    assertions,
    authors,
    case_folding,
    classes,
    deviations,
    groups,
    idioms,
    iteration,
    lookaround,
    loops,
    references,
    refused,
    replacing,
    syntax,
    unicode,
);

#[test]
fn tests_every_file() {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let found: BTreeSet<String> =
        entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(found, FILES.iter().map(|name| (*name).to_owned()).collect());
}
