//! `cargo xtask sdk`: replies in full, read by the providers' own Python packages and by our decoders.
//!
//! The cases are those of `fixtures/replies/`. Our side is the test `recorded` of `ctx-wire`; their side is
//! `xtask/sdk/check.py`, which plays the replies from a server on the loopback device, whole and as streams.
//! Both must give what a case expects, and so the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::packages::{if_possible, venv};
use crate::workspace;

/// The packages and all that they need, with fixed versions.
const REQUIREMENTS: &str = include_str!("../sdk/requirements.txt");

/// The script, from the root of the workspace.
const SCRIPT: &str = "xtask/sdk/check.py";

/// The cases, from the root of the workspace.
const CASES: &str = "fixtures/replies";

/// How a reply came.
const WAYS: [&str; 2] = ["whole", "streamed"];

/// Checks all replies; with `--if-possible` it is said loudly, and is no failure, that Python or the packages
/// cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = workspace::has_flag(arguments, "--if-possible", "sdk")?;
    let missing = "replies were NOT READ by the packages";
    let Some(python) = if_possible(is_optional, missing, prepare())? else { return Ok(()) };
    // Of the workspace: for one package alone, cargo builds what it needs once more, with fewer features.
    let test = ["test", "--quiet", "--workspace", "--test", "wire", "recorded"];
    workspace::run(&mut workspace::cargo(&test))?;
    let expected = expected(&workspace::root().join(CASES))?;
    let differences = differences(&expected, &read_by_packages(&python)?);
    ensure!(differences.is_empty(), "the packages read something else:\n{}", differences.join("\n"));
    println!("sdk: {} replies, whole and streamed, are read alike by the packages and by us", expected.len());
    Ok(())
}

/// Puts the packages into the build folder, unless they are there; returns the Python that has them.
fn prepare() -> Result<PathBuf> {
    // Wheels alone: nothing of a package runs while it is installed.
    venv("sdk", REQUIREMENTS, &["--only-binary", ":all:"])
}

/// What each case expects, by its name.
fn expected(folder: &Path) -> Result<BTreeMap<String, Value>> {
    let mut expected = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read `{CASES}`"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut case: Value = serde_json::from_slice(&fs::read(&path)?)
            .with_context(|| format!("`{}` is no JSON", path.display()))?;
        expected.insert(name, case["expected"].take());
    }
    ensure!(!expected.is_empty(), "`{CASES}` has no cases");
    Ok(expected)
}

/// Runs the script and returns what the packages read, by case and way.
fn read_by_packages(python: &Path) -> Result<Value> {
    let root = workspace::root();
    let mut command = Command::new(python);
    command.arg(root.join(SCRIPT)).arg(root.join(CASES)).stdin(Stdio::null()).stderr(Stdio::inherit());
    // The server is on this machine, whatever proxy there is, and no settings of the user's concern it.
    for name in ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"] {
        command.env_remove(name);
    }
    let output = command.env("NO_PROXY", "*").output().context("cannot start Python")?;
    ensure!(output.status.success(), "`{SCRIPT}` ended with {}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| format!("`{SCRIPT}` printed no JSON"))
}

/// Compares case by case and way by way; a line for each that differs.
fn differences(expected: &BTreeMap<String, Value>, found: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, case) in expected {
        for way in WAYS {
            let read = &found[name][way];
            if read != case {
                lines.push(format!("{name}, {way}: read {read}, and the case expects {case}"));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_is_named_with_its_case_and_way() {
        let expected = BTreeMap::from([("case".to_owned(), json!({ "text": "Hi" }))]);
        let lines = |found: Value| differences(&expected, &found);
        let [right, wrong] = ["Hi", "Ho"].map(|text| json!({ "text": text }));
        assert_eq!(lines(json!({ "case": { "whole": right, "streamed": right } })), [""; 0]);
        let line = r#"case, streamed: read {"text":"Ho"}, and the case expects {"text":"Hi"}"#;
        assert_eq!(lines(json!({ "case": { "whole": right, "streamed": wrong } })), [line]);
        // A case that was not read differs.
        assert_eq!(lines(json!({})).len(), 2);
    }
}
