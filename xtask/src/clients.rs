//! `cargo xtask clients`: clients of others against `ctx serve`, `ctx mcp` and `ctx tap`, unmodified except for base URL,
//! API key and model.
//!
//! `xtask/clients/check.mjs` starts a scripted provider and the gateway, and runs the clients of npm and `PyPI`. It
//! compares each request of a client with the request that the provider gets, and the results with `docs/clients.md`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::packages::{if_possible, npm, venv};
use crate::workspace;

/// The script, from the root of the workspace.
const SCRIPT: &str = "xtask/clients/check.mjs";

/// The script for `ctx tap`.
const TAP: &str = "xtask/clients/tap.mjs";

/// The script for `ctx mcp`.
const MCP: &str = "xtask/clients/mcp.mjs";

/// The page with the results.
const PAGE: &str = "docs/clients.md";

/// Packages of npm, with fixed versions. Coding agents are optional.
const NPM: &[(&str, &str)] = &[
    ("package.json", include_str!("../clients/package.json")),
    ("package-lock.json", include_str!("../clients/package-lock.json")),
];

/// Packages of `PyPI`, with fixed versions.
const REQUIREMENTS: &str = include_str!("../clients/requirements.txt");

/// Runs the clients and compares the results with the page; with `--write`, writes the page. With `--if-possible`,
/// missing packages are printed and are not an error. With `--mcp`, runs only the clients of `ctx mcp`. With `--tap`,
/// compares the bytes before and after `ctx tap`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let flags = ["--if-possible", "--write", "--mcp", "--tap"];
    let [is_optional, is_write, is_mcp, is_tap] = flags.map(|flag| *arguments == [flag]);
    let is_known = is_optional || is_write || is_mcp || is_tap || arguments.is_empty();
    ensure!(is_known, "usage: cargo xtask clients [--if-possible | --write | --mcp | --tap]");
    let missing = "the gateway was NOT TRIED with clients of others";
    let Some(folder) = if_possible(is_optional, missing, npm("clients", NPM, "openai"))? else {
        return Ok(());
    };
    let missing = "the gateway was NOT TRIED with clients of PyPI";
    let packages = venv("clients", REQUIREMENTS, &["--only-binary", ":all:"]);
    let python = if_possible(is_optional, missing, packages)?;
    let python = python.unwrap_or_else(|| PathBuf::from("-"));
    let run = |script: &str, words: &[&OsStr]| {
        let mut command = Command::new("node");
        command.arg(workspace::root().join(script)).arg(workspace::ctx()?).arg(&python).args(words);
        command.current_dir(&folder).stdin(Stdio::null());
        let status = command.env("NO_PROXY", "*").status().context("cannot start Node.js")?;
        ensure!(status.success(), "`{script}` ended with {status}");
        Ok(())
    };
    if is_tap {
        return run(TAP, &[]);
    }
    if !is_mcp {
        let page = workspace::root().join(PAGE);
        let words = [page.as_os_str(), OsStr::new("--write")];
        run(SCRIPT, if is_write { &words } else { &words[..1] })?;
    }
    run(MCP, &[])
}
