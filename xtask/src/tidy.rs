//! `cargo xtask tidy`: house rules that no compiler checks.
//!
//! Each rule is a pure function over paths and texts. A finding begins with `error: ` or `warning: ` and its path.

mod links;
mod tree;

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::{ci, workspace};
pub(crate) use links::anchor;
pub(crate) use tree::files;

/// A file of the repository: its path from the root with `/`, and its text if a rule reads that.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// For example `crates/ctx-types/src/lib.rs`.
    pub(crate) path: String,
    /// Empty unless it is Rust source or a document: in the root folder, of the book, or of the fixtures.
    pub(crate) text: String,
}

impl File {
    /// Describes what follows the last dot of the path.
    pub(crate) fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// More lines than the first number deserve a thought about a split; more than the second are refused.
const LINES: [usize; 2] = [500, 800];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

/// The name of the file that holds the result of a fixture case.
const RESULT: &str = "expected.snap";

/// How a file names another one that is compiled with it. Doctests, which are marked `#[doc`, are in no package.
const PARTS: &[&str] = &["#[path = \"", "include!(\"", "include_str!(\"", "include_bytes!(\""];

/// Checks the whole tree; warnings are printed and do not fail.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        bail!("usage: cargo xtask tidy");
    }
    let files = tree::files(&workspace::root())?;
    let findings = check(&files);
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    let errors = findings.iter().filter(|finding| finding.starts_with("error")).count();
    if errors > 0 {
        bail!("{errors} breach(es) of the house rules");
    }
    println!("tidy: {} files, no breach", files.len());
    Ok(())
}

fn check(files: &[File]) -> Vec<String> {
    let mut findings: Vec<String> = files.iter().flat_map(of_file).collect();
    let paths: BTreeSet<&str> = files.iter().map(|file| &*file.path).collect();
    let cases: BTreeSet<String> = files.iter().filter_map(|file| case_of(&file.path)).collect();
    let cases = cases.iter().filter(|case| !paths.contains(&*format!("{case}/{RESULT}")));
    findings.extend(cases.map(|case| format!("error: {case}: the case has no {RESULT}")));
    findings.extend(documents(files));
    findings.extend(links::check(files));
    findings
}

/// Checks the name, the shape and the contents of a file.
fn of_file(file: &File) -> Vec<String> {
    let path = &file.path;
    let mut findings = Vec::new();
    let mut add = |place: &str, message: &str| findings.push(format!("error: {path}{place}: {message}"));
    if path.ends_with(".snap.new") || path.ends_with(".pending-snap") {
        add("", "a pending snapshot; read it, then accept or delete it");
    }
    if case_of(path).is_some()
        && let Some(name) = path.split('/').find(|name| !is_snake_case(name))
    {
        add("", &format!("`{name}` is no lower-case snake name"));
    }
    let Some(stem) = path.strip_suffix(".rs") else { return findings };
    if let Some(name) = stem.split('/').find(|name| EMPTY_NAMES.contains(name)) {
        add("", &format!("`{name}` says nothing; name the module after its subject"));
    }
    for (number, line) in (1..).zip(file.text.split('\n')) {
        let place = format!(":{number}");
        if line.ends_with(char::is_whitespace) || line.contains('\t') {
            add(&place, "white space at the end of the line, or a tab; write `\\t` in a string");
        }
        let code = line.trim_start();
        if path.starts_with("crates/") && (code.starts_with("#[ignore") || code.starts_with("#[should_panic"))
        {
            add(&place, "let the test run, and assert what happens today");
        }
        if leaves_package(path, code) {
            add(&place, "this file lies outside of the package, which does not build without it");
        }
    }
    let lines = file.text.lines().count();
    if lines > LINES[0] {
        let weight = if lines > LINES[1] { "error" } else { "warning" };
        findings.push(format!("{weight}: {path}: {lines} lines; split it by subject"));
    }
    findings
}

/// A package holds nothing from outside of its folder, so what is built from `src` must not need any of it.
fn leaves_package(path: &str, line: &str) -> bool {
    let Some((_, inside)) = path.split_once("/src/") else { return false };
    let depth = 1 + inside.matches('/').count();
    let mut named = PARTS.iter().filter_map(|part| line.split_once(part));
    !line.starts_with("#[doc")
        && named.any(|(_, named)| named.split('/').take_while(|it| *it == "..").count() > depth)
}

fn case_of(path: &str) -> Option<String> {
    match *path.split('/').collect::<Vec<_>>() {
        ["fixtures", area, case, _, ..] => Some(format!("fixtures/{area}/{case}")),
        _ => None,
    }
}

/// Lower-case letters, digits and underscores, with dots between non-empty parts.
fn is_snake_case(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    name.split('.').all(|part| !part.is_empty() && part.chars().all(is_plain))
}

/// Checks that the documents of the root folder are there, that each crate has a section, and that the README tests as CI
/// does.
fn documents(files: &[File]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        if file.is_none() {
            findings.push(format!("error: {path}: the file is missing"));
        }
        file.map_or("", |file| &*file.text)
    };
    let [architecture, readme, _] = ["ARCHITECTURE.md", "README.md", "CHANGELOG.md"].map(&mut text);
    let command = format!("cargo {}", ci::TEST.join(" "));
    if !readme.contains(&command) {
        findings.push(format!("error: README.md: it does not give the test command `{command}`"));
    }
    let headings = architecture.lines().filter(|line| line.starts_with('#'));
    let is_separator = |it: char| !it.is_ascii_alphanumeric() && it != '-';
    let named: BTreeSet<&str> = headings.flat_map(|line| line.split(is_separator)).collect();
    let crates =
        files.iter().filter_map(|file| file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
    let missing = crates.filter(|name| !name.contains('/') && !named.contains(name));
    findings
        .extend(missing.map(|name| format!("error: ARCHITECTURE.md: no heading names the crate `{name}`")));
    findings
}

#[cfg(test)]
mod tests {
    use super::{File, check};

    /// Checks what is found in files, each a path and a text, beside the documents that every repository has.
    #[track_caller]
    pub(super) fn findings(files: &[(&str, &str)], expected: &[&str]) {
        let documents = [
            ("ARCHITECTURE.md", "## `ctx-a`: x"),
            ("CHANGELOG.md", ""),
            ("README.md", "cargo test --workspace"),
        ];
        let others = documents.iter().filter(|(path, _)| files.iter().all(|(other, _)| other != path));
        let files = files.iter().chain(others);
        let files = files.map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() });
        let found = check(&files.collect::<Vec<_>>());
        let weighed = |finding: &&str| {
            let is_weighed = finding.starts_with("warning");
            if is_weighed { (*finding).to_owned() } else { format!("error: {finding}") }
        };
        assert_eq!(found, expected.iter().map(weighed).collect::<Vec<_>>());
    }

    #[test]
    fn names_say_what_is_inside() {
        findings(
            &[
                ("crates/a/src/utils.rs", ""),
                ("crates/a/tests/common/mod.rs", ""),
                ("crates/a/src/text.rs", ""),
                ("crates/a/src/.b.rs.pending-snap", ""),
                ("crates/a/tests/c.snap.new", ""),
                ("fixtures/README.md", ""),
                ("fixtures/a/b-c/expected.snap", ""),
                ("fixtures/a/d_e/expected.snap", ""),
                ("fixtures/a/d_e/input_2.card.json", ""),
                ("fixtures/a/d_e/Input.json", ""),
                ("fixtures/a/bad/refs/a.md", ""),
            ],
            &[
                "crates/a/src/utils.rs: `utils` says nothing; name the module after its subject",
                "crates/a/tests/common/mod.rs: `common` says nothing; name the module after its subject",
                "crates/a/src/.b.rs.pending-snap: a pending snapshot; read it, then accept or delete it",
                "crates/a/tests/c.snap.new: a pending snapshot; read it, then accept or delete it",
                "fixtures/a/b-c/expected.snap: `b-c` is no lower-case snake name",
                "fixtures/a/d_e/Input.json: `Input.json` is no lower-case snake name",
                "fixtures/a/bad: the case has no expected.snap",
            ],
        );
    }

    #[test]
    fn lines_of_source_are_clean_and_few() {
        let parts = "#[path = \"../../x.rs\"]\nmod x;\n#[doc = include_str!(\"../../../x.md\")]\n";
        findings(
            &[
                ("0.rs", &"x\n".repeat(500)),
                ("a.rs", &"x\n".repeat(501)),
                ("b.rs", &"x\n".repeat(801)),
                (
                    "crates/a/tests/b.rs",
                    "let a = 1; \n\nlet b = 2;\r\n\tx\n#[ignore = \"slow\"]\n    #[should_panic]\n",
                ),
                ("crates/a/src/b.rs", parts),
                ("crates/a/src/b/c.rs", parts),
            ],
            &[
                "warning: a.rs: 501 lines; split it by subject",
                "b.rs: 801 lines; split it by subject",
                "crates/a/tests/b.rs:1: white space at the end of the line, or a tab; write `\\t` in a string",
                "crates/a/tests/b.rs:3: white space at the end of the line, or a tab; write `\\t` in a string",
                "crates/a/tests/b.rs:4: white space at the end of the line, or a tab; write `\\t` in a string",
                "crates/a/tests/b.rs:5: let the test run, and assert what happens today",
                "crates/a/tests/b.rs:6: let the test run, and assert what happens today",
                "crates/a/src/b.rs:1: this file lies outside of the package, which does not build without it",
            ],
        );
    }

    #[test]
    fn documents_keep_up_with_the_crates() {
        findings(
            &[
                ("README.md", "cargo nextest"),
                ("crates/ctx-a/Cargo.toml", ""),
                ("crates/ctx-b/Cargo.toml", ""),
            ],
            &[
                "README.md: it does not give the test command `cargo test --workspace`",
                "ARCHITECTURE.md: no heading names the crate `ctx-b`",
            ],
        );
        assert_eq!(super::documents(&[]).len(), 4);
    }
}
