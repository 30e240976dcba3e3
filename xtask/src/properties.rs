//! `cargo xtask properties`: the invariants of compression on more cases than CI tries.

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The tests that hold the invariants, as arguments of `cargo test`.
const TESTS: &[&str] = &["test", "--package", "ctx-compress", "--test", "request", "--test", "mask"];

/// How many cases each invariant is tried on if nothing is said; CI tries 1,000.
const CASES: &str = "20000";

/// Runs them with optimizations, a few minutes for every 20,000 cases.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let cases = match arguments {
        [] => CASES,
        [flag, cases] if flag == "--cases" => cases,
        _ => bail!("usage: cargo xtask properties [--cases N]"),
    };
    let count: u32 = cases.parse().with_context(|| format!("`{cases}` is no number of cases"))?;
    let seed = std::process::id();
    println!("{count} cases for each invariant, of seed {seed}");
    let mut command = workspace::cargo(TESTS);
    command.env("PROPTEST_CASES", count.to_string()).env("PROPTEST_RNG_SEED", seed.to_string());
    workspace::run(command.arg("--release"))
}
