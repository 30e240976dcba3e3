//! `cargo xtask api`: the public items of the library crates.

use std::process::Command;

use anyhow::Result;

use crate::workspace;

/// The program that lists them: its libraries no other verb needs.
const LISTER: &str = "api";

/// Builds the lister and runs it in the root folder.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    // With examples, cargo chooses the features that the tests have it choose, and builds no library twice.
    workspace::run(&mut workspace::cargo(&[
        "build",
        "--quiet",
        "--workspace",
        "--bin",
        LISTER,
        "--examples",
    ]))?;
    let lister = workspace::target()?.join("debug").join(LISTER);
    let mut command = Command::new(lister.with_extension(std::env::consts::EXE_EXTENSION));
    workspace::run(command.args(arguments).current_dir(workspace::root()))
}
