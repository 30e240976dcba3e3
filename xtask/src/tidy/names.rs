//! Rules for the names and places of files.

use std::collections::BTreeSet;

use super::{File, Finding};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

/// The name of the file that holds the result of a fixture case.
const RESULT: &str = "expected.snap";

/// Checks the names of modules, fixture cases and leftovers of the snapshot tool.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let mut findings = Vec::new();
    findings.extend(paths.iter().filter_map(|path| empty_name(path)));
    findings.extend(paths.iter().filter_map(|path| pending(path)));
    findings.extend(paths.iter().filter_map(|path| fixture_name(path)));
    let missing = cases_without_result(&paths).into_iter();
    findings.extend(missing.map(|case| Finding::of(&case, format!("the case has no {RESULT}"))));
    findings
}

/// Lists the folders `fixtures/<area>/<case>` without an expected result.
fn cases_without_result(paths: &[String]) -> BTreeSet<String> {
    let cases: BTreeSet<String> = paths.iter().filter_map(|path| case_of(path)).collect();
    cases.into_iter().filter(|case| !paths.contains(&format!("{case}/{RESULT}"))).collect()
}

fn case_of(path: &str) -> Option<String> {
    match *path.split('/').collect::<Vec<_>>() {
        ["fixtures", area, case, _, ..] => Some(format!("fixtures/{area}/{case}")),
        _ => None,
    }
}

fn empty_name(path: &str) -> Option<Finding> {
    let stem = path.strip_suffix(".rs")?;
    let name = stem.split('/').find(|name| EMPTY_NAMES.contains(name))?;
    Some(Finding::of(path, format!("`{name}` says nothing; name the module after its subject")))
}

fn pending(path: &str) -> Option<Finding> {
    let is_pending = path.ends_with(".snap.new") || path.ends_with(".pending-snap");
    is_pending.then(|| Finding::of(path, "a pending snapshot; read it, then accept or delete it"))
}

fn fixture_name(path: &str) -> Option<Finding> {
    case_of(path)?;
    let name = path.split('/').find(|name| !is_snake_case(name))?;
    Some(Finding::of(path, format!("`{name}` is no lower-case snake name")))
}

/// Lower-case letters, digits and underscores, with dots between non-empty parts.
fn is_snake_case(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    name.split('.').all(|part| !part.is_empty() && part.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::File;

    #[track_caller]
    fn findings(paths: &[&str], expected: &[&str]) {
        let file = |path: &&str| File { path: (*path).to_owned(), text: String::new() };
        let files: Vec<File> = paths.iter().map(file).collect();
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_module_has_a_telling_name() {
        findings(
            &["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs", "crates/a/src/text.rs"],
            &[
                "error: crates/a/src/utils.rs: `utils` says nothing; name the module after its subject",
                "error: crates/a/tests/common/mod.rs: `common` says nothing; name the module after its subject",
            ],
        );
    }

    #[test]
    fn pending_snapshots_do_not_stay() {
        let advice = "a pending snapshot; read it, then accept or delete it";
        findings(
            &["crates/a/src/.b.rs.pending-snap", "crates/a/tests/c.snap.new", "crates/a/tests/c.snap"],
            &[
                &format!("error: crates/a/src/.b.rs.pending-snap: {advice}"),
                &format!("error: crates/a/tests/c.snap.new: {advice}"),
            ],
        );
    }

    #[test]
    fn every_case_has_its_result() {
        findings(
            &["fixtures/README.md", "fixtures/macros/good/expected.snap", "fixtures/macros/bad/refs/a.md"],
            &["error: fixtures/macros/bad: the case has no expected.snap"],
        );
    }

    #[test]
    fn names_of_cases_and_their_files_are_snake_case() {
        findings(
            &[
                "fixtures/a/b-c/expected.snap",
                "fixtures/a/d_e/expected.snap",
                "fixtures/a/d_e/Input.json",
                "fixtures/a/d_e/input_2.card.json",
            ],
            &[
                "error: fixtures/a/b-c/expected.snap: `b-c` is no lower-case snake name",
                "error: fixtures/a/d_e/Input.json: `Input.json` is no lower-case snake name",
            ],
        );
    }
}
