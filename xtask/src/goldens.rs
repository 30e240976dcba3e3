//! `cargo xtask goldens`: results that were observed in other programs, beside what ours gives.

use anyhow::Result;

use crate::workspace;

/// Builds the runner, which needs the product and so is a program of its own, and runs it in this folder.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "goldens", "--"]);
    workspace::run(command.args(arguments))
}
