//! `cargo xtask layers`: dependencies between crates point down, and the pure layers stay pure.
//!
//! The rules are data in [`table`]. `cargo metadata` lists the dependencies of each crate, and `cargo tree` what it
//! brings into the product, with the features that it has when it is built alone.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::workspace;
use table::{FORBIDDEN, OUTSIDE};

/// What the trees contain: dependencies of the product, of all features, on the supported platforms.
///
/// Procedural macros stay in the compiler. What only Windows or wasm builds need (system bindings, mostly) is not the
/// choice of a crate.
const TREE: &[&str] = &[
    "--all-features",
    "--edges=normal,no-proc-macro",
    "--target=x86_64-unknown-linux-gnu",
    "--target=aarch64-apple-darwin",
    "--prefix=depth",
    "--format= {p}",
];

/// Checks the workspace, or the one whose manifest `--manifest-path` names.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let query = match arguments {
        [] => vec![],
        [flag, path] if flag == "--manifest-path" => vec!["--manifest-path", path],
        _ => bail!("usage: cargo xtask layers [--manifest-path PATH]"),
    };
    let metadata = workspace::metadata(&[&["--no-deps"], &*query].concat())?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let packages: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["name"].as_str()?, package))).collect();
    let mut violations = Vec::new();
    for (name, package) in &packages {
        if OUTSIDE.contains(name) {
            continue;
        }
        if table::layer_of(name).is_none() {
            violations.push(format!("`{name}` is in no layer of the table"));
        }
        violations.extend(arrows(name, package, &packages)?);
    }
    let mut pure: Vec<&str> = packages.keys().copied().filter(|name| table::is_pure(name)).collect();
    pure.sort_by_key(|name| table::layer_of(name));
    violations.extend(impurities(&pure, &query)?);
    for violation in &violations {
        eprintln!("layers: {violation}");
    }
    if !violations.is_empty() {
        bail!("{} violation(s) of the layers; the rules are in xtask/src/layers/table.rs", violations.len());
    }
    println!("layers: {} crates, no violation", packages.len());
    Ok(())
}

/// Finds the dependencies of a crate on others of the workspace that do not point down.
fn arrows(from: &str, package: &Value, packages: &BTreeMap<&str, &Value>) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for dependency in package["dependencies"].as_array().context("a package without dependencies")? {
        let to = dependency["name"].as_str().context("a dependency without a name")?;
        let (table, is_allowed) = match dependency["kind"].as_str() {
            Some("dev") => ("dev-dependencies", table::allows_in_tests(from, to)),
            Some("build") => ("build-dependencies", table::allows(from, to)),
            _ => ("dependencies", table::allows(from, to)),
        };
        if packages.contains_key(to) && !is_allowed {
            let [from_layer, to_layer] = [from, to].map(|name| {
                table::layer_of(name).map_or_else(|| "no layer".to_owned(), |layer| format!("L{layer}"))
            });
            violations.push(format!(
                "`{from}` ({from_layer}) has `{to}` ({to_layer}) in its [{table}], which is not lower"
            ));
        }
    }
    Ok(violations)
}

/// Finds forbidden packages among what the pure crates bring into the product, each with the way to it.
///
/// A package that a lower pure crate brings in is reported for that crate alone.
fn impurities(pure: &[&str], query: &[&str]) -> Result<Vec<String>> {
    // Together, the crates have at least the features that each has alone.
    if ways(&tree(pure, query)?).is_empty() {
        return Ok(Vec::new());
    }
    let mut violations = Vec::new();
    let mut reported: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for &name in pure {
        let tree = tree(&[name], query)?;
        let lower: BTreeSet<String> = tree
            .lines()
            .filter_map(package)
            .filter_map(|(_, lower)| reported.get(lower))
            .flatten()
            .cloned()
            .collect();
        let ways = ways(&tree);
        let new = ways.iter().filter(|(forbidden, _)| !lower.contains(**forbidden));
        violations.extend(new.map(|(_, way)| format!("`{name}` must stay pure: {way}")));
        reported.insert(name, ways.into_keys().map(str::to_owned).collect());
    }
    Ok(violations)
}

/// Prints what crates depend on: a depth and a package in each line.
fn tree(crates: &[&str], query: &[&str]) -> Result<String> {
    if crates.is_empty() {
        return Ok(String::new());
    }
    let mut command = workspace::cargo(&["tree"]);
    command.args(TREE).args(query).args(crates.iter().flat_map(|name| ["--package", name]));
    let output = command.stderr(Stdio::inherit()).output().context("cannot start `cargo tree`")?;
    ensure!(output.status.success(), "`cargo tree` ended with {}", output.status);
    String::from_utf8(output.stdout).context("`cargo tree` printed no text")
}

/// Reads the depth and the name of a package from a line of a tree.
fn package(line: &str) -> Option<(usize, &str)> {
    let mut words = line.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?))
}

/// Returns the forbidden packages of a tree with the first way to each. What they depend on goes when they go.
fn ways(tree: &str) -> BTreeMap<&str, String> {
    let (mut ways, mut way) = (BTreeMap::new(), Vec::new());
    for (depth, name) in tree.lines().filter_map(package) {
        way.truncate(depth);
        let is_below_another = way.iter().any(|above| FORBIDDEN.contains(above));
        way.push(name);
        if FORBIDDEN.contains(&name) && !is_below_another {
            ways.entry(name).or_insert_with(|| way.join(" -> "));
        }
    }
    ways
}
