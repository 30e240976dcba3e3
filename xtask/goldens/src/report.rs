//! Runs cases and says what came out.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::{Value, json};

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
    /// Whether it is what was observed.
    pub is_equal: bool,
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
    let kind = KINDS.iter().find(|kind| kind.name == case.kind);
    let actual = kind.with_context(|| format!("there is no kind `{}`", case.kind));
    let actual = actual.and_then(|kind| (kind.run)(&case.input));
    let actual = actual.map(|actual| shaped(actual, &case.output)).map_err(|error| format!("{error:#}"));
    let expected = compared(&case.output);
    let is_equal = actual.as_ref().is_ok_and(|actual| *actual == expected);
    Outcome { id: case.id.clone(), is_equal, expected, actual }
}

/// Takes out what was not observed: a case may have the output of one engine alone.
fn shaped(mut actual: Value, output: &Value) -> Value {
    if let (Value::Object(actual), Value::Object(output)) = (&mut actual, output) {
        actual.retain(|key, _| output.contains_key(key));
    }
    actual
}

/// Returns an observed output without the field that no engine of ours gives: SillyTavern's older macro engine.
fn compared(output: &Value) -> Value {
    let mut output = output.clone();
    if let Some(fields) = output.as_object_mut() {
        fields.remove("legacyEngine");
    }
    output
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
        let of_case = |outcome: &Outcome| {
            let actual = outcome.actual.clone().unwrap_or_else(|error| json!({ "error": error }));
            (outcome.id.clone(), actual)
        };
        let of_file = |(name, outcomes): &(String, Result<Vec<Outcome>, String>)| {
            let cases = match outcomes {
                Ok(outcomes) => outcomes.iter().map(of_case).collect(),
                Err(error) => json!({ "error": error }),
            };
            (name.clone(), cases)
        };
        self.files.iter().map(of_file).collect()
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
            let _ = writeln!(text, "{name} {passed}/{}", outcomes.len());
            for outcome in outcomes.iter().filter(|outcome| !outcome.is_equal) {
                let _ = writeln!(text, "  {}\n{}", outcome.id, difference(outcome));
            }
        }
        text
    }
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
