//! `suite [--out FILE] | --check DIR [--suite FILE]`: writes the conformance suite, or compares results with it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program talks to the terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "usage: cargo xtask conformance-suite [--out FILE] | --check DIR [--suite FILE]";

/// Where the archive goes, seen from the root of the repository.
const DEFAULT_FILE: &str = "target/conformance-suite.zip";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => write(&root().join(DEFAULT_FILE)),
        ["--out", file] => write(Path::new(file)),
        ["--check", results] => check(&suite::pack(&root().join("fixtures"))?, Path::new(results)),
        ["--check", results, "--suite", file] => check(&std::fs::read(file)?, Path::new(results)),
        _ => bail!("{USAGE}"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn write(file: &Path) -> Result<bool> {
    let bytes = suite::pack(&root().join("fixtures"))?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    let files = suite::unpack(&bytes)?;
    let is_case = |path: &&String| path.starts_with("cases/") && path.ends_with("/expected.json");
    let cases = files.keys().filter(is_case).count();
    println!(
        "conformance-suite: version {}, {cases} cases, {} bytes in {}",
        suite::VERSION,
        bytes.len(),
        file.display()
    );
    Ok(true)
}

fn check(suite: &[u8], results: &Path) -> Result<bool> {
    let comparison = suite::compare(&suite::unpack(suite)?, results)?;
    for name in &comparison.missing {
        println!("{name}: no result");
    }
    for (name, differences) in &comparison.different {
        println!("{name}: differs");
        for difference in differences {
            println!("  {difference}");
        }
    }
    for need in [suite::NO_NEED].iter().chain(&suite::NEEDS) {
        if let Some(tally) = comparison.by_need.get(*need) {
            println!("needs {need}: {} of {} cases agree", tally.equal, tally.all);
        }
    }
    let (missing, different) = (comparison.missing.len(), comparison.different.len());
    println!(
        "conformance-suite: {} cases agree, {different} differ, {missing} have no result",
        comparison.equal
    );
    Ok(missing + different == 0)
}
