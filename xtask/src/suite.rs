//! `cargo xtask conformance-suite`: the cases of `fixtures/` as an archive for other implementations.

use anyhow::Result;

use crate::workspace;

/// Builds the program, which needs the product and so is one of its own, and runs it in this folder.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "suite", "--"]);
    workspace::run(command.args(arguments))
}
