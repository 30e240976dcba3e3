//! `cargo xtask kills`: conversations whose program is killed at chance moments, more often than CI does it.

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The test, as arguments of `cargo test`.
const TEST: &[&str] = &["test", "--package", "ctx-chat", "--test", "kills", "--", "--nocapture"];

/// How often if nothing is said; CI kills 200 times.
const COUNT: &str = "1000";

/// Runs it; `--seed` chooses other moments.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut count, mut seed) = (COUNT, "1");
    let mut rest = arguments;
    while let [flag, value, more @ ..] = rest {
        match flag.as_str() {
            "--count" => count = value,
            "--seed" => seed = value,
            _ => break,
        }
        rest = more;
    }
    if !rest.is_empty() {
        bail!("usage: cargo xtask kills [--count N] [--seed N]");
    }
    let number = |text: &str| text.parse::<u64>().with_context(|| format!("`{text}` is no number"));
    let (count, seed) = (number(count)?, number(seed)?);
    let mut command = workspace::cargo(TEST);
    workspace::run(command.env("CTX_KILLS", count.to_string()).env("CTX_KILLS_SEED", seed.to_string()))
}
