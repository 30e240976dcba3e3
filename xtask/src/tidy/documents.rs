//! The documents in the root folder exist and keep up with the crates.

use std::collections::BTreeSet;

use super::{File, Finding};
use crate::ci;

/// What a reader finds in the root folder.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CHANGELOG.md", "README.md"];

/// Checks that all are there, that each crate has a section, and that the README tests as CI does.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in DOCUMENTS {
        match text_of(files, path) {
            None => findings.push(Finding::of(path, "the file is missing")),
            Some(text) if *path == "ARCHITECTURE.md" => findings.extend(sections(path, text, files)),
            Some(text) if *path == "README.md" => findings.extend(test_command(path, text)),
            Some(_) => {}
        }
    }
    findings
}

fn text_of<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
}

fn sections(path: &str, text: &str, files: &[File]) -> Vec<Finding> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let is_separator = |it: char| !it.is_ascii_alphanumeric() && it != '-';
    let named: BTreeSet<&str> = headings.flat_map(|line| line.split(is_separator)).collect();
    let crates =
        files.iter().filter_map(|file| file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
    let missing = crates.filter(|name| !name.contains('/') && !named.contains(name));
    missing.map(|name| Finding::of(path, format!("no heading names the crate `{name}`"))).collect()
}

fn test_command(path: &str, text: &str) -> Option<Finding> {
    let command = format!("cargo {}", ci::TEST.join(" "));
    let is_given = text.contains(&command);
    (!is_given).then(|| Finding::of(path, format!("it does not give the test command `{command}`")))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::check_rule;

    #[track_caller]
    fn findings(files: &[(&str, &str)], expected: &[&str]) {
        check_rule(check, files, expected);
    }

    #[test]
    fn the_documents_exist() {
        findings(
            &[],
            &[
                "error: ARCHITECTURE.md: the file is missing",
                "error: CHANGELOG.md: the file is missing",
                "error: README.md: the file is missing",
            ],
        );
    }

    #[test]
    fn every_crate_has_a_section() {
        let architecture =
            "# Architecture\n\n## `ctx-a`: the nouns\n\nctx-b is mentioned.\n\n### ctx-b-more\n";
        findings(
            &[
                ("ARCHITECTURE.md", architecture),
                ("CHANGELOG.md", ""),
                ("README.md", "Run `cargo test --workspace`."),
                ("crates/ctx-a/Cargo.toml", ""),
                ("crates/ctx-b/Cargo.toml", ""),
                ("crates/ctx-b/tests/nested/Cargo.toml", ""),
            ],
            &["error: ARCHITECTURE.md: no heading names the crate `ctx-b`"],
        );
    }

    #[test]
    fn the_readme_tests_as_ci_does() {
        findings(
            &[("ARCHITECTURE.md", ""), ("CHANGELOG.md", ""), ("README.md", "Run cargo nextest.")],
            &["error: README.md: it does not give the test command `cargo test --workspace`"],
        );
    }
}
