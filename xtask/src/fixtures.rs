//! `cargo xtask fixtures`: the expected results in `fixtures/` and beside the tests of the command line.

mod javascript;

use anyhow::{Result, bail};

use crate::workspace;

/// The test binaries that compare with stored results: package and name of the test.
const SUITES: &[(&str, &str)] = &[
    ("ctx-engine", "fixtures"),
    ("ctx-compress", "fixtures"),
    ("ctx-gateway", "gateway"),
    ("ctx-cli", "cli"),
];

/// Writes the expected results again. With `regex` it is those of Node.js for regular expressions.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => {}
        ["regex", rest @ ..] => return javascript::run(rest),
        _ => bail!("usage: cargo xtask fixtures [regex [--check]]"),
    }
    for (package, test) in SUITES {
        let mut command = workspace::cargo(&["test", "--package", package, "--test", test]);
        workspace::run(command.env("INSTA_UPDATE", "always"))?;
    }
    println!("fixtures: written; read what `git diff` shows before you commit it");
    Ok(())
}
