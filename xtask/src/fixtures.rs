//! `cargo xtask fixtures`: the expected results in `fixtures/` and beside the tests of the command line.

mod javascript;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{ci, tidy, workspace};

/// The test binaries that compare with stored results: package and name of the test.
const SUITES: &[(&str, &str)] = &[
    ("ctx-engine", "fixtures"),
    ("ctx-compress", "fixtures"),
    ("ctx-gateway", "gateway"),
    ("ctx-cli", "cli"),
];

/// Writes the expected results again; `--check` only compares, `--accept` takes pending ones over.
///
/// With `regex` it is those of Node.js for regular expressions.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let flags: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match flags.as_slice() {
        [] => write(),
        ["--check"] => check(),
        ["--accept"] => accept(),
        ["regex", rest @ ..] => javascript::run(rest),
        _ => bail!("usage: cargo xtask fixtures [regex] [--check | --accept]"),
    }
}

fn write() -> Result<()> {
    for (package, test) in present_suites()? {
        let mut command = workspace::cargo(&["test", "--package", package, "--test", test]);
        workspace::run(command.env("INSTA_UPDATE", "always"))?;
    }
    println!("fixtures: written; read what `git diff` shows before you commit it");
    Ok(())
}

fn check() -> Result<()> {
    for (package, test) in present_suites()? {
        let mut command = workspace::cargo(&["test", "--package", package, "--test", test]);
        workspace::run(command.envs(ci::ENVIRONMENT.iter().copied()))?;
    }
    Ok(())
}

/// Moves each `x.snap.new` that a failed test left behind over its `x.snap`.
fn accept() -> Result<()> {
    let root = workspace::root();
    let pending = tidy::files(&root)?.into_iter().filter(|file| file.path.ends_with(".snap.new"));
    let mut count = 0;
    for file in pending {
        let new = root.join(&file.path);
        let accepted = new.with_extension("");
        let text = fs::read_to_string(&new).with_context(|| format!("cannot read {}", new.display()))?;
        fs::write(&accepted, without_line_number(&text))
            .with_context(|| format!("cannot write {}", accepted.display()))?;
        fs::remove_file(&new).with_context(|| format!("cannot remove {}", new.display()))?;
        println!("fixtures: accepted {}", show(&root, &accepted));
        count += 1;
    }
    println!("fixtures: {count} pending result(s) accepted");
    Ok(())
}

/// Drops the header line that holds the position of the assertion: it would change with every edit above it.
fn without_line_number(snapshot: &str) -> String {
    let mut fences = 0;
    let mut kept = String::with_capacity(snapshot.len());
    for line in snapshot.split_inclusive('\n') {
        fences += usize::from(line.trim_end() == "---");
        if fences != 1 || !line.starts_with("assertion_line:") {
            kept.push_str(line);
        }
    }
    kept
}

/// Lists those suites that exist already, and says so if there is none.
fn present_suites() -> Result<Vec<(&'static str, &'static str)>> {
    let metadata = workspace::metadata(&["--no-deps"])?;
    let suites = SUITES.iter().copied();
    let present: Vec<_> = suites.filter(|(package, test)| has_test(&metadata, package, test)).collect();
    if present.is_empty() {
        println!("fixtures: no fixture tests yet");
    }
    Ok(present)
}

fn has_test(metadata: &Value, package: &str, test: &str) -> bool {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.filter(|it| it["name"] == package).filter_map(|it| it["targets"].as_array());
    targets.flatten().any(|target| target["name"] == test && target["kind"][0] == "test")
}

fn show(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{has_test, without_line_number};

    #[test]
    fn the_position_of_the_assertion_is_dropped_from_the_header_only() {
        let pending = "---\nsource: a.rs\nassertion_line: 7\n---\nassertion_line: 8\n---\n";
        assert_eq!(without_line_number(pending), "---\nsource: a.rs\n---\nassertion_line: 8\n---\n");
    }

    #[test]
    fn a_suite_is_present_when_its_package_has_a_test_of_that_name() {
        let metadata = json!({"packages": [{"name": "ctx-engine", "targets": [
            {"name": "ctx_engine", "kind": ["lib"]}, {"name": "fixtures", "kind": ["test"]}]}]});
        assert!(has_test(&metadata, "ctx-engine", "fixtures"));
        assert!(!has_test(&metadata, "ctx-cli", "fixtures"));
        assert!(!has_test(&metadata, "ctx-engine", "ctx_engine"));
    }
}
