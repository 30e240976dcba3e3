//! Every diagnostic code means one thing in the whole workspace.

use std::collections::BTreeMap;

use super::rust_text::{code_only, is_word};
use super::{File, Finding};

/// What declares a code; its number follows.
const DECLARATION: &str = "Code::new(";

/// Finds numbers that two places in the crates' sources declare; examples and tests do not count.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut first: BTreeMap<u32, (&str, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_source(file)) {
        for (number, line) in declarations(&file.text) {
            match first.get(&number) {
                Some((path, first_line)) => {
                    let message = format!("code {number} is declared at {path}:{first_line} already");
                    findings.push(Finding::at(&file.path, line, message));
                }
                None => drop(first.insert(number, (&file.path, line))),
            }
        }
    }
    findings
}

fn is_source(file: &File) -> bool {
    let parts: Vec<&str> = file.path.split('/').collect();
    let is_inside = matches!(*parts, ["crates", _, "src", ..]);
    is_inside && file.is_rust() && parts.last() != Some(&"tests.rs")
}

/// Lists the numbers with their lines.
fn declarations(text: &str) -> Vec<(u32, usize)> {
    let code = code_only(product_part(text));
    let mut found = Vec::new();
    for (at, _) in code.match_indices(DECLARATION) {
        let (before, after) = code.split_at(at);
        let argument = after.trim_start_matches(DECLARATION).trim_start();
        let digits: String = argument.chars().take_while(|it| is_word(*it)).filter(|it| *it != '_').collect();
        if let (Ok(number), false) = (digits.parse(), before.ends_with(is_word)) {
            found.push((number, before.matches('\n').count() + 1));
        }
    }
    found
}

/// Cuts a file before its module of tests.
fn product_part(text: &str) -> &str {
    let marks = text.match_indices("\n#[cfg(test)]\n");
    let mut tests = marks.filter(|(at, mark)| begins_with_module(text.split_at(at + mark.len()).1));
    tests.next().map_or(text, |(at, _)| text.split_at(at).0)
}

fn begins_with_module(text: &str) -> bool {
    let item = text.lines().find(|line| !line.trim_start().starts_with("#["));
    item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
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
    fn a_number_is_declared_once_in_the_workspace() {
        findings(
            &[
                ("crates/a/src/codes.rs", "//! A.\npub const A: Code = Code::new(101, \"a\");\n"),
                (
                    "crates/b/src/codes.rs",
                    "pub const B: Code =\n    ctx_types::Code::new(\n    1_01, \"b\");\n",
                ),
            ],
            &["error: crates/b/src/codes.rs:2: code 101 is declared at crates/a/src/codes.rs:2 already"],
        );
    }

    #[test]
    fn different_numbers_are_fine() {
        findings(
            &[("crates/a/src/codes.rs", "Code::new(1, \"a\"); Code::new(2, \"b\"); ExitCode::new(2)")],
            &[],
        );
    }

    #[test]
    fn examples_and_tests_do_not_count() {
        let declared = "/// let code = Code::new(1, \"a\");\npub const A: Code = Code::new(1, \"a\");\n";
        let inline = format!("{declared}\n#[cfg(test)]\nmod tests {{\n    Code::new(1, \"a\");\n}}\n");
        findings(
            &[
                ("crates/a/src/codes.rs", &inline),
                ("crates/a/src/codes/tests.rs", declared),
                ("crates/a/tests/codes.rs", declared),
            ],
            &[],
        );
    }
}
