//! `cargo xtask api`: the public items of the library crates.

use anyhow::Result;

use crate::workspace;

/// Builds the lister, whose libraries no other verb needs, and runs it in the root folder.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "api", "--"]);
    workspace::run(command.args(arguments))
}
