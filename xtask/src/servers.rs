//! `cargo xtask servers`: two servers that others wrote, with which the tests of `ctx-chat` and `ctx-cli` talk.
//!
//! `@copilotkit/aimock` answers by a script and keeps a journal of what it was asked; `llmock` breaks its answers
//! on demand and judges what a client made of it. They are put into `target/servers`, where the tests look for them;
//! without them, those tests are skipped.

use anyhow::Result;

use crate::packages::{if_possible, npm, pip};
use crate::workspace;

/// The name of the folder in `target`; `crates/ctx-chat/tests/servers/foreign.rs` looks there.
const FOLDER: &str = "servers";

/// What npm installs.
const NPM: &[(&str, &str)] = &[
    ("package.json", include_str!("../servers/package.json")),
    ("package-lock.json", include_str!("../servers/package-lock.json")),
];

/// What pip installs.
const PIP: &str = include_str!("../servers/requirements.txt");

/// Installs both, unless they are there; with `--if-possible` it is said loudly, and is no failure, that one of them
/// cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = workspace::has_flag(arguments, "--if-possible", "servers")?;
    let aimock = npm(FOLDER, NPM, "@copilotkit/aimock").map(|_| ());
    let llmock = pip(FOLDER, PIP).map(|_| ());
    for (name, installed) in [("aimock", aimock), ("llmock", llmock)] {
        if if_possible(is_optional, &format!("the tests with {name} are SKIPPED"), installed)?.is_some() {
            println!("servers: {name} is in `target/{FOLDER}`");
        }
    }
    Ok(())
}
