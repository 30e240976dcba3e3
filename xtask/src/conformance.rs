//! `cargo xtask conformance`: every request body of the fixtures, checked by the providers' own types.
//!
//! Each body becomes a TypeScript file in which it is declared to be what the official package calls a request;
//! the compiler then finds fields that do not exist, are missing, or have another type. So that a check that
//! finds nothing means something, every field is also misspelt, one at a time, and must be refused.

mod bodies;
mod misspelt;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{if_possible, npm};
use crate::workspace;
use bodies::Body;

/// The packages and the compiler, all with fixed versions.
const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("../conformance/package.json")),
    ("package-lock.json", include_str!("../conformance/package-lock.json")),
    ("tsconfig.json", include_str!("../conformance/tsconfig.json")),
];

/// Checks all bodies; with `--if-possible` it is said loudly, and is no failure, that Node.js, npm or the packages
/// cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = workspace::has_flag(arguments, "--if-possible", "conformance")?;
    let found = npm("conformance", FILES, "typescript");
    let Some(folder) = if_possible(is_optional, "conformance was NOT CHECKED", found)? else { return Ok(()) };
    let bodies = bodies::of_fixtures(&workspace::root())?;
    ensure!(!bodies.is_empty(), "no fixture shows a request body");
    check_bodies(&folder, &bodies)?;
    let misspelt = check_misspelt(&folder, &bodies)?;
    println!(
        "conformance: {} bodies have the providers' types, {misspelt} misspelt fields are refused",
        bodies.len()
    );
    Ok(())
}

/// Compiles all bodies as they are; whatever the compiler says is a failure.
fn check_bodies(folder: &Path, bodies: &[Body]) -> Result<()> {
    let files = bodies.iter().map(|body| (body.name.clone(), body.to_typescript()));
    let report = compile(folder, files.collect())?;
    ensure!(report.is_empty(), "request bodies differ from the providers' types:\n{}", report.join("\n"));
    Ok(())
}

/// Compiles bodies with one field misspelt in each, and fails for those that are taken; returns how many there are.
fn check_misspelt(folder: &Path, bodies: &[Body]) -> Result<usize> {
    let wrong = misspelt::of_bodies(bodies);
    let files = wrong.iter().map(|body| (body.name.clone(), body.to_typescript()));
    let report = compile(folder, files.collect())?;
    let refused: BTreeSet<&str> = report.iter().filter_map(|line| file_of(line)).collect();
    let taken: Vec<&str> =
        wrong.iter().map(|body| body.name.as_str()).filter(|name| !refused.contains(name)).collect();
    ensure!(taken.is_empty(), "misspelt fields are not noticed: {}", taken.join(", "));
    Ok(wrong.len())
}

/// The name of the file that a line of the compiler is about.
fn file_of(line: &str) -> Option<&str> {
    let (path, _) = line.split_once(".ts")?;
    path.strip_prefix("bodies/")
}

/// Writes the files in place of earlier ones and returns the compiler's findings, a line each.
fn compile(folder: &Path, files: Vec<(String, String)>) -> Result<Vec<String>> {
    let target = folder.join("bodies");
    if target.exists() {
        fs::remove_dir_all(&target).context("cannot empty `target/conformance/bodies`")?;
    }
    fs::create_dir_all(&target)?;
    for (name, text) in files {
        fs::write(target.join(format!("{name}.ts")), text)?;
    }
    let mut command = Command::new("node");
    command.args(["node_modules/typescript/bin/tsc", "--pretty", "false", "-p", "tsconfig.json"]);
    let output = command.current_dir(folder).output().context("cannot start the TypeScript compiler")?;
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<String> =
        report.lines().filter(|line| line.contains("error TS")).map(str::to_owned).collect();
    let is_understood = output.status.success() || !lines.is_empty();
    ensure!(is_understood, "the compiler failed: {report}{}", String::from_utf8_lossy(&output.stderr));
    Ok(lines)
}
