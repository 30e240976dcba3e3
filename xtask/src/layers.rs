//! `cargo xtask layers`: arrows between crates point down, and the pure layers stay pure.
//!
//! The rules are data in [`table`]; [`check::check`] is a pure function over the small model of [`graph`],
//! which [`metadata`] reads from `cargo metadata`.

mod check;
mod closure;
mod graph;
mod metadata;
mod table;

use anyhow::{Result, bail};

use crate::workspace;

/// The platforms whose dependencies count.
///
/// What only Windows or wasm builds pull in (system bindings, mostly) is not the crate's own choice of a runtime
/// or of randomness, and would only bring false alarms.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// Checks the workspace, or the one whose manifest `--manifest-path` names.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    // All features of our own crates: no switch of a pure crate may bring in what it must not have.
    let mut query = vec!["--all-features"];
    for platform in PLATFORMS {
        query.extend(["--filter-platform", platform]);
    }
    match arguments {
        [] => {}
        [flag, path] if flag == "--manifest-path" => query.extend(["--manifest-path", path]),
        _ => bail!("usage: cargo xtask layers [--manifest-path PATH]"),
    }
    let graph = metadata::parse(&workspace::metadata(&query)?)?;
    let violations = check::check(&graph);
    for violation in &violations {
        eprintln!("layers: {violation}");
    }
    if !violations.is_empty() {
        bail!("{} violation(s) of the layers; the rules are in xtask/src/layers/table.rs", violations.len());
    }
    println!("layers: {} crates, no violation", graph.members().count());
    Ok(())
}
