//! Rules for one Rust file.

use super::rust_text::{code_only, is_word};
use super::{File, Finding};

/// More lines than this deserve a thought about a split.
const MANY_LINES: usize = 500;

/// More lines than this are refused.
const TOO_MANY_LINES: usize = 800;

/// What does not belong into the crates: unfinished code, and tests that hide what they expect.
const UNWANTED: &[(&str, &str)] = &[
    ("todo!", "finish it or return an error"),
    ("unimplemented!", "finish it or return an error"),
    ("dbg!", "remove it"),
    ("#[ignore", "make the test run, or assert what happens today and say why"),
    ("should_panic", "assert the error value"),
];

/// How a file names another one that is compiled with it. Doctests, which are marked `#[doc`, are in no package.
const PARTS: &[&str] = &["#[path = \"", "include!(\"", "include_str!(\"", "include_bytes!(\""];

/// Checks shape and contents; files in other languages pass.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    findings.extend(crate_docs(file));
    findings.extend(size(file));
    findings.extend(white_space(file));
    findings.extend(unwanted(file));
    findings.extend(leaves_package(file));
    findings
}

fn crate_docs(file: &File) -> Option<Finding> {
    let parts: Vec<&str> = file.path.split('/').collect();
    let is_root = matches!(*parts, ["crates", _, "src", "lib.rs" | "main.rs"] | ["xtask", "src", "main.rs"]);
    let is_missing = is_root && !file.text.starts_with("//!");
    is_missing.then(|| Finding::at(&file.path, 1, "a crate begins with `//!` and its purpose"))
}

fn size(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let message = format!("{lines} lines; split it by subject");
    match lines {
        0..=MANY_LINES => None,
        _ if lines <= TOO_MANY_LINES => Some(Finding::of(&file.path, message).warning()),
        _ => Some(Finding::of(&file.path, message)),
    }
}

fn white_space(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.split('\n')) {
        if line.ends_with(char::is_whitespace) {
            findings.push(Finding::at(&file.path, number, "white space at the end of the line"));
        }
        if line.contains('\t') {
            findings.push(Finding::at(&file.path, number, "a tab; write spaces, or `\\t` in a string"));
        }
    }
    findings
}

fn unwanted(file: &File) -> Vec<Finding> {
    if !file.path.starts_with("crates/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(code_only(&file.text).lines()) {
        for (word, advice) in UNWANTED.iter().filter(|(word, _)| has_word(line, word)) {
            findings.push(Finding::at(&file.path, number, format!("`{word}`: {advice}")));
        }
    }
    findings
}

/// A package holds nothing from outside of its folder, so what is built from `src` must not need any of it.
fn leaves_package(file: &File) -> Vec<Finding> {
    let Some((_, inside)) = file.path.split_once("/src/") else { return Vec::new() };
    let depth = 1 + inside.matches('/').count();
    let is_outside = |line: &str| {
        let mut paths = PARTS.iter().filter_map(|part| line.split_once(part));
        paths.any(|(_, path)| path.split('/').take_while(|it| *it == "..").count() > depth)
    };
    let lines = (1..).zip(file.text.lines());
    let found = lines.filter(|(_, line)| !line.trim_start().starts_with("#[doc") && is_outside(line));
    let message = "this file lies outside of the package, which does not build without it";
    found.map(|(number, _)| Finding::at(&file.path, number, message)).collect()
}

/// Returns whether `word` occurs and is not the end of a longer identifier.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::File;

    #[track_caller]
    fn findings(path: &str, text: &str, expected: &[&str]) {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        let found: Vec<String> = check(&file).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn requires_docs_of_crates() {
        let message = "a crate begins with `//!` and its purpose";
        findings("crates/a/src/lib.rs", "use x;\n", &[&format!("error: crates/a/src/lib.rs:1: {message}")]);
        findings("xtask/src/main.rs", "// b\n", &[&format!("error: xtask/src/main.rs:1: {message}")]);
        findings("crates/a/src/lib.rs", "//! Does b.\n", &[]);
        findings("crates/a/src/b.rs", "use x;\n", &[]);
    }

    #[test]
    fn lines_end_where_their_text_ends() {
        findings(
            "crates/a/tests/b.rs",
            "let a = 1; \n\nlet b = 2;\r\n",
            &[
                "error: crates/a/tests/b.rs:1: white space at the end of the line",
                "error: crates/a/tests/b.rs:3: white space at the end of the line",
            ],
        );
    }

    #[test]
    fn tabs_are_refused() {
        findings("a.rs", "\tx\n", &["error: a.rs:1: a tab; write spaces, or `\\t` in a string"]);
        findings("a.md", "\tx \n", &[]);
    }

    #[test]
    fn long_files_warn_and_then_fail() {
        findings("a.rs", &"x\n".repeat(500), &[]);
        findings("a.rs", &"x\n".repeat(501), &["warning: a.rs: 501 lines; split it by subject"]);
        findings("a.rs", &"x\n".repeat(801), &["error: a.rs: 801 lines; split it by subject"]);
    }

    #[test]
    fn unfinished_code_is_refused_in_crates() {
        let found = "error: crates/a/tests/b.rs:2: `todo!`: finish it or return an error";
        findings("crates/a/tests/b.rs", "fn b() {\n    todo!(\"later\")\n}\n", &[found]);
        findings("xtask/tests/b.rs", "todo!()\n", &[]);
    }

    #[test]
    fn tests_that_do_not_say_what_they_expect_are_refused() {
        findings(
            "crates/a/tests/b.rs",
            "#[ignore = \"slow\"]\n#[should_panic]\n",
            &[
                "error: crates/a/tests/b.rs:1: `#[ignore`: make the test run, or assert what happens today and say why",
                "error: crates/a/tests/b.rs:2: `should_panic`: assert the error value",
            ],
        );
    }

    #[test]
    fn a_package_is_built_from_its_own_folder() {
        let text =
            "//! B.\n#[path = \"../../x.rs\"]\nmod x;\n#[doc = include_str!(\"../../../x.md\")]\nmod y;\n";
        let message = "this file lies outside of the package, which does not build without it";
        findings("crates/a/src/b.rs", text, &[&format!("error: crates/a/src/b.rs:2: {message}")]);
        findings("crates/a/src/b/c.rs", text, &[]);
        findings("crates/a/tests/b.rs", text, &[]);
    }

    #[test]
    fn prose_strings_and_longer_names_may_hold_the_words() {
        findings("crates/a/tests/b.rs", "// dbg!\nlet a = \"dbg!(x)\"; no_dbg!(x);\n", &[]);
    }
}
