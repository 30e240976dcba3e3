//! Runs cases and says what came out.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::KINDS;
use crate::case::{Case, GoldenFile};

/// What came out of the files of a folder.
#[derive(Clone, Debug)]
pub struct Report {
    /// For each file its name and the outcome of each case, or what keeps the file from being read.
    pub files: Vec<(String, Result<Vec<Outcome>, String>)>,
}

/// What came out of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the case.
    pub id: String,
    /// What came out, or what kept it from coming.
    pub actual: Result<Value, String>,
    /// Whether it is what was observed, but for fields that decide nothing.
    pub is_equal: bool,
    /// Fields that decide nothing, each with whether it is what was observed.
    pub reported: Vec<(&'static str, bool)>,
    expected: Value,
}

/// Runs every case.
pub fn run(files: &[GoldenFile]) -> Report {
    let outcomes = |file: &GoldenFile| match &file.cases {
        Ok(cases) => Ok(cases.iter().map(run_case).collect()),
        Err(error) => Err(error.clone()),
    };
    Report { files: files.iter().map(|file| (file.name.clone(), outcomes(file))).collect() }
}

fn run_case(case: &Case) -> Outcome {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == case.kind) else {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join("`, `");
        return Outcome {
            id: case.id.clone(),
            actual: Err(format!("there is no kind `{}`, only `{known}`", case.kind)),
            is_equal: false,
            reported: Vec::new(),
            expected: case.output.clone(),
        };
    };
    let actual = (kind.run)(&case.input).map_err(|error| format!("{error:#}"));
    let actual = actual.map(|actual| shaped(actual, &case.output));
    let found = actual.as_ref().unwrap_or(&Value::Null);
    let observed =
        kind.reported.iter().filter(|field| !case.output.is_object() || case.output.get(field).is_some());
    let reported = observed.map(|field| (*field, found.get(field) == case.output.get(field)));
    Outcome {
        id: case.id.clone(),
        is_equal: actual.is_ok() && without(found, kind.reported) == without(&case.output, kind.reported),
        reported: reported.collect(),
        expected: case.output.clone(),
        actual,
    }
}

/// Takes out what was not observed: a case may have the output of one engine alone.
fn shaped(mut actual: Value, output: &Value) -> Value {
    if let (Value::Object(actual), Value::Object(output)) = (&mut actual, output) {
        actual.retain(|key, _| output.contains_key(key));
    }
    actual
}

fn without(value: &Value, fields: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| !fields.contains(&key.as_str()));
    }
    value
}

impl Report {
    /// Returns whether every file could be read, and every case came out as it was observed.
    pub fn is_equal(&self) -> bool {
        let is_equal = |outcomes: &Vec<Outcome>| outcomes.iter().all(|outcome| outcome.is_equal);
        self.files.iter().all(|(_, outcomes)| outcomes.as_ref().is_ok_and(is_equal))
    }

    /// Returns `{FILE: {id: actual}}`; what could not be run, or a file that could not be read, has
    /// `{"error": …}`.
    pub fn json(&self) -> Value {
        let mut files = Map::new();
        for (name, outcomes) in &self.files {
            let actual = |outcome: &Outcome| match &outcome.actual {
                Ok(value) => value.clone(),
                Err(error) => json!({ "error": error }),
            };
            let cases = match outcomes {
                Ok(outcomes) => {
                    outcomes.iter().map(|outcome| (outcome.id.clone(), actual(outcome))).collect()
                }
                Err(error) => json!({ "error": error }),
            };
            files.insert(name.clone(), cases);
        }
        Value::Object(files)
    }

    /// Returns a line for each file, `FILE passed/total`, and below it what differs in each case that failed; a file
    /// that could not be read is one case.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, outcomes) in &self.files {
            let outcomes = match outcomes {
                Ok(outcomes) => outcomes,
                Err(error) => {
                    let _ = writeln!(text, "{name} 0/1\n    error: {error}");
                    continue;
                }
            };
            let passed = outcomes.iter().filter(|outcome| outcome.is_equal).count();
            let _ = writeln!(text, "{name} {passed}/{}{}", outcomes.len(), reported(outcomes));
            for outcome in outcomes.iter().filter(|outcome| !outcome.is_equal) {
                let _ = writeln!(text, "  {}\n{}", outcome.id, difference(outcome));
            }
        }
        text
    }
}

/// Returns how often each field that decides nothing is as it was observed.
fn reported(outcomes: &[Outcome]) -> String {
    let fields = outcomes.iter().max_by_key(|outcome| outcome.reported.len());
    let fields = fields.map(|outcome| outcome.reported.as_slice()).unwrap_or_default();
    let count = |field: &str| {
        let all = outcomes.iter().flat_map(|outcome| &outcome.reported).filter(|(name, _)| *name == field);
        (all.clone().filter(|(_, is_equal)| *is_equal).count(), all.count())
    };
    let counted = fields.iter().map(|(field, _)| {
        let (passed, total) = count(field);
        format!(" (only reported: {field} {passed}/{total})")
    });
    counted.collect()
}

fn difference(outcome: &Outcome) -> String {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let actual = match &outcome.actual {
        Ok(value) => pretty(value),
        Err(error) => return format!("    error: {error}"),
    };
    let expected = pretty(&outcome.expected);
    let diff = similar::TextDiff::from_lines(&expected, &actual);
    let unified = diff.unified_diff().context_radius(1).header("observed", "actual").to_string();
    unified.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
