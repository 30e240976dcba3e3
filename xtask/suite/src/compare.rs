//! What two outcomes differ in, and how many of the cases another implementation passes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use ctx_types::internal::pointer_step;
use serde_json::Value;

use crate::pack::Files;

/// The keys that an implementation may leave out because it has no such thing.
const OPTIONAL: [&str; 3] = ["decisions", "findings", "bodies"];

/// How many differences of a case are told.
const MOST_TOLD: usize = 5;

/// What became of the cases of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// How many agree.
    pub equal: usize,
    /// The cases that have no result.
    pub missing: Vec<String>,
    /// The cases that differ, with the JSON pointers at which they do.
    pub different: Vec<(String, Vec<String>)>,
    /// How many cases with a need agree, of how many; `nothing` for those that need nothing. A case with two needs
    /// counts for both.
    pub by_need: BTreeMap<String, Tally>,
}

/// How many cases agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that agree.
    pub equal: usize,
    /// All of them.
    pub all: usize,
}

/// What stands for the needs of a case that has none.
pub const NO_NEED: &str = "nothing";

/// Compares the results of another implementation, `AREA/CASE.json` in a folder, with those of a suite.
///
/// Errors: a result is no JSON, or the suite has none for a case.
pub fn compare(suite: &Files, results: &Path) -> Result<Comparison> {
    let manifest = suite.get("manifest.json").context("the suite has no `manifest.json`")?;
    let manifest: Value = serde_json::from_slice(manifest)?;
    let mut comparison = Comparison::default();
    for case in manifest.get("cases").and_then(Value::as_array).into_iter().flatten() {
        let name = case.get("name").and_then(Value::as_str).context("a case has no name")?;
        let is_equal = compare_one(suite, results, name, &mut comparison)?;
        for need in needs_of(case) {
            let tally = comparison.by_need.entry(need.to_owned()).or_default();
            tally.all += 1;
            tally.equal += usize::from(is_equal);
        }
    }
    Ok(comparison)
}

fn needs_of(case: &Value) -> Vec<&str> {
    let needs = case.get("needs").and_then(Value::as_array).into_iter().flatten();
    let needs: Vec<&str> = needs.filter_map(Value::as_str).collect();
    if needs.is_empty() { vec![NO_NEED] } else { needs }
}

/// Compares the results of one case; tells whether they agree.
fn compare_one(suite: &Files, results: &Path, name: &str, comparison: &mut Comparison) -> Result<bool> {
    let expected = suite.get(&format!("cases/{name}/expected.json"));
    let expected = expected.with_context(|| format!("the suite has no result for {name}"))?;
    let expected: Value = serde_json::from_slice(expected)?;
    let Ok(actual) = std::fs::read(results.join(format!("{name}.json"))) else {
        comparison.missing.push(name.to_owned());
        return Ok(false);
    };
    let actual =
        serde_json::from_slice(&actual).with_context(|| format!("the result of {name} is no JSON"))?;
    let differences = differences(&expected, &actual);
    let is_equal = differences.is_empty();
    if is_equal {
        comparison.equal += 1;
    } else {
        comparison.different.push((name.to_owned(), differences));
    }
    Ok(is_equal)
}

/// Lists where two outcomes differ, as JSON pointers; the order of keys does not count.
///
/// `decisions`, `findings` and `bodies` are compared only if the actual outcome has them.
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut wanted = expected.clone();
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.retain(|key, _| !OPTIONAL.contains(&key.as_str()) || actual.get(key).is_some());
    }
    let mut found = Vec::new();
    walk("", Some(&wanted), Some(actual), &mut found);
    found.truncate(MOST_TOLD);
    found
}

fn walk(pointer: &str, expected: Option<&Value>, actual: Option<&Value>, found: &mut Vec<String>) {
    match (expected, actual) {
        (Some(Value::Object(expected)), Some(Value::Object(actual))) => {
            let keys: BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
            for key in keys {
                let below = format!("{pointer}/{}", pointer_step(key));
                walk(&below, expected.get(key), actual.get(key), found);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(actual))) => {
            for index in 0..expected.len().max(actual.len()) {
                walk(&format!("{pointer}/{index}"), expected.get(index), actual.get(index), found);
            }
        }
        (expected, actual) if expected == actual => {}
        (expected, actual) => {
            found.push(format!("{pointer}: expected {}, is {}", show(expected), show(actual)));
        }
    }
}

fn show(value: Option<&Value>) -> String {
    value.map_or("nothing".to_owned(), Value::to_string)
}
