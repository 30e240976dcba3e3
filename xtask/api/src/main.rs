//! `api [--check]`: the public items of every library crate, one file a crate in `docs/api/`.
//!
//! A change of what others can call is then a change of a file that a reviewer sees. The items come from rustdoc's
//! JSON, whose format is not stable: another version of Rust than the one it was made for is told and skipped.
//! The same run denies what rustdoc warns of: another one for that would repeat its work.
#![expect(clippy::print_stdout, reason = "a terminal program talks to the terminal")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The format of rustdoc's JSON that this program reads; see `public-api` in the manifest of the workspace.
const FORMAT: u64 = 57;

/// Set where this program is called in place of rustdoc: the program that it stands for.
const RUSTDOC: &str = "CTX_API_RUSTDOC";

/// Set with it: the folder for the JSON.
const TARGET: &str = "CTX_API_TARGET";

/// Where the lists are.
const FOLDER: &str = "docs/api";

fn main() -> Result<()> {
    if let Some(rustdoc) = std::env::var_os(RUSTDOC) {
        return call_rustdoc(&rustdoc);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_check = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => false,
        ["--check"] => true,
        _ => bail!("usage: cargo xtask api [--check]"),
    };
    let metadata: Value =
        serde_json::from_slice(&output(&["metadata", "--no-deps", "--format-version", "1"])?)?;
    let target = PathBuf::from(metadata["target_directory"].as_str().context("no target folder")?);
    let libraries = libraries(&metadata);
    ensure!(!libraries.is_empty(), "no library crate is published");
    document(&target)?;
    let mut changed = Vec::new();
    let mut items = 0;
    for name in &libraries {
        let Some(list) = list(name, &target)? else {
            println!("api: not checked: this Rust does not write format {FORMAT} of rustdoc's JSON");
            return Ok(());
        };
        items += list.lines().count();
        let path = Path::new(FOLDER).join(format!("{name}.txt"));
        if is_check {
            changed.extend((fs::read_to_string(&path).unwrap_or_default() != list).then_some(path));
        } else {
            fs::create_dir_all(FOLDER)?;
            fs::write(&path, list).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    ensure!(changed.is_empty(), "{changed:?} are not what the crates have; `cargo xtask api` writes them");
    println!("api: {items} public items in {} crates", libraries.len());
    Ok(())
}

/// Names the published crates that have a library.
fn libraries(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let is_library = |package: &&Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        let mut kinds = targets.flat_map(|target| target["kind"].as_array().into_iter().flatten());
        package["publish"].is_null() && kinds.any(|kind| kind == "lib")
    };
    packages.filter(is_library).filter_map(|package| package["name"].as_str().map(str::to_owned)).collect()
}

/// Lists the public items of a crate, a line each; `None` where its JSON is of another format.
fn list(name: &str, target: &Path) -> Result<Option<String>> {
    let path = target.join("doc").join(format!("{}.json", name.replace('-', "_")));
    let json: Value = serde_json::from_slice(&fs::read(&path)?)?;
    if json["format_version"].as_u64() != Some(FORMAT) {
        return Ok(None);
    }
    let api = public_api::Builder::from_rustdoc_json(&path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    let items: Vec<String> = api.items().map(ToString::to_string).collect();
    Ok(Some(items.join("\n") + "\n"))
}

/// Has rustdoc write the JSON of all libraries.
///
/// That output is for developers of tools, and a stable compiler writes it only with `RUSTC_BOOTSTRAP`. Cargo itself
/// must not see the variable: it would build all dependencies anew. So cargo calls this program in place of rustdoc,
/// and it does so for the tests in the documentation: these take the libraries that are built, where `cargo doc` has
/// all dependencies read once more.
fn document(target: &Path) -> Result<()> {
    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let mut command = cargo(&["test", "--quiet", "--workspace", "--doc"]);
    command.env("RUSTDOC", std::env::current_exe()?).env(RUSTDOC, rustdoc).env(TARGET, target.join("doc"));
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// Calls rustdoc as if it were of a compiler of developers, to write JSON where it is told to test.
fn call_rustdoc(rustdoc: &OsStr) -> Result<()> {
    let mut command = Command::new(rustdoc);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--test") => {}
            Some("--test-run-directory") => drop(arguments.next()),
            _ => drop(command.arg(argument)),
        }
    }
    command.args(["-D", "warnings", "-Z", "unstable-options", "--output-format", "json", "--out-dir"]);
    command.args(std::env::var_os(TARGET)).env("RUSTC_BOOTSTRAP", "1");
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "rustdoc ended with {status}");
    Ok(())
}

/// Runs cargo and returns what it prints.
fn output(arguments: &[&str]) -> Result<Vec<u8>> {
    let mut command = cargo(arguments);
    let done =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(done.status.success(), "{command:?} ended with {}", done.status);
    Ok(done.stdout)
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}
