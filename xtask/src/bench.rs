//! `cargo xtask bench`: what a turn costs, from 1,000 to 1,000,000 messages, with the promised ratios.

use anyhow::{Result, bail};

use crate::{studio, workspace};

/// Measures the cost of a turn, or with `studio` the speed of the page.
///
/// Builds with optimizations and measures, a few minutes in all; sizes can be given as numbers of messages, and
/// `variables` before them has the messages change session variables.
///
/// Nothing fails on a figure that is missed: times are those of this machine, and of what else it does.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments == ["studio"] {
        return studio::bench();
    }
    let sizes = arguments.strip_prefix(&["variables".to_owned()]).unwrap_or(arguments);
    if sizes.iter().any(|size| size.parse::<usize>().is_err()) {
        bail!("usage: cargo xtask bench [[variables] MESSAGES... | studio]");
    }
    let mut command = workspace::cargo(&["bench", "--package", "ctx-engine", "--bench", "scale", "--"]);
    workspace::run(command.args(arguments))
}
