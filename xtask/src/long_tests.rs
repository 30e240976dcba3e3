//! Tests of the crates with more cases than CI tries: `cargo xtask kills`, `properties` and `malformed`.

use anyhow::Result;

use crate::workspace::{self, numbers};

/// Conversations whose program is killed at random; CI kills 200 times.
pub(crate) fn kills(arguments: &[String]) -> Result<()> {
    let [count, seed] = numbers(arguments, [("--count", 1_000), ("--seed", 1)], "kills")?;
    let mut test =
        workspace::cargo(&["test", "--package", "ctx-chat", "--test", "kills", "--", "--nocapture"]);
    workspace::run(test.env("CTX_KILLS", count.to_string()).env("CTX_KILLS_SEED", seed.to_string()))
}

/// The invariants of compression, with optimizations, a few minutes for every 20,000 cases; CI tries 1,000.
pub(crate) fn properties(arguments: &[String]) -> Result<()> {
    let [cases] = numbers(arguments, [("--cases", 20_000)], "properties")?;
    let seed = std::process::id();
    println!("{cases} cases for each invariant, of seed {seed}");
    let tests = ["test", "--package", "ctx-compress", "--release", "--test", "request", "--test", "mask"];
    let mut tests = workspace::cargo(&tests);
    workspace::run(tests.env("PROPTEST_CASES", cases.to_string()).env("PROPTEST_RNG_SEED", seed.to_string()))
}

/// Malformed bodies in each dialect, for the gateway.
pub(crate) fn malformed(arguments: &[String]) -> Result<()> {
    let [count] = numbers(arguments, [("--count", 10_000)], "malformed")?;
    let mut test = workspace::cargo(&["test", "--workspace", "--test", "gateway", "malformed"]);
    workspace::run(test.env("CTX_MALFORMED", count.to_string()))?;
    println!("malformed: {count} bodies in each dialect were answered");
    Ok(())
}
