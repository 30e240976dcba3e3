//! `cargo xtask clients`: the providers' own clients against `ctx serve`, unchanged but for the base URL.
//!
//! `xtask/clients/check.mjs` starts a scripted provider and the gateway, and runs the clients of npm, then those of
//! `PyPI`. The packages are those of `conformance` and `sdk`.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::packages::{if_possible, npm};
use crate::{conformance, sdk, workspace};

/// The script, from the root of the workspace.
const SCRIPT: &str = "xtask/clients/check.mjs";

/// Runs the clients; with `--if-possible` it is said loudly, and is no failure, that Node.js, Python or packages cannot
/// be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = workspace::has_flag(arguments, "--if-possible", "clients")?;
    let missing = "the gateway was NOT ASKED by the clients of others";
    let found = npm("conformance", conformance::FILES, "openai");
    let Some(folder) = if_possible(is_optional, missing, found)? else { return Ok(()) };
    let missing = "the gateway was NOT ASKED by the clients of PyPI";
    let python = if_possible(is_optional, missing, sdk::prepare())?;
    let mut command = Command::new("node");
    command
        .arg(workspace::root().join(SCRIPT))
        .arg(workspace::ctx()?)
        .args(python)
        .current_dir(folder)
        .stdin(Stdio::null());
    let status = command.env("NO_PROXY", "*").status().context("cannot start Node.js")?;
    ensure!(status.success(), "`{SCRIPT}` ended with {status}");
    Ok(())
}
