//! Where the workspace is, and how to start cargo in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Finds the root folder of the workspace that this program belongs to.
///
/// The variable that `cargo run` sets wins over the path known at build time, so a moved clone still works.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or_else(|| own.clone(), Path::to_path_buf)
}

/// Prepares a cargo call in the root folder: the same cargo that runs this program, and nothing on its input.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// The variable that says where the command `ctx` is, where it was built already.
pub(crate) const PROGRAM: &str = "CTX_PROGRAM";

/// Builds the command `ctx` as its tests use it, and returns where it is.
///
/// `cargo run --package ctx-cli` would choose fewer features of shared libraries and build most of them a second time.
pub(crate) fn ctx() -> Result<PathBuf> {
    if let Some(built) = std::env::var_os(PROGRAM) {
        return Ok(built.into());
    }
    run(&mut cargo(&["test", "--quiet", "--workspace", "--test", "cli", "--no-run"]))?;
    Ok(target()?.join("debug").join(CTX))
}

/// Builds the command with optimizations, and returns where it is.
pub(crate) fn release() -> Result<PathBuf> {
    run(&mut cargo(&["build", "--quiet", "--release", "--package", "ctx-cli"]))?;
    Ok(target()?.join("release").join(CTX))
}

/// Builds an example, unless the command and with it all else was built already, and returns where it is.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    if std::env::var_os(PROGRAM).is_none() {
        run(&mut cargo(&["build", "--quiet", "--workspace", "--example", name]))?;
    }
    let path = target()?.join("debug/examples").join(name);
    Ok(path.with_extension(std::env::consts::EXE_EXTENSION))
}

/// The file name of the command.
const CTX: &str = if cfg!(windows) { "ctx.exe" } else { "ctx" };

/// Returns the folder into which everything is built.
pub(crate) fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let target = metadata["target_directory"].as_str().context("`cargo metadata` names no target folder")?;
    Ok(PathBuf::from(target))
}

/// Runs a command whose output goes straight to the terminal, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("`{}` ended with {status}", spelled(command));
    }
    Ok(())
}

/// Reads `cargo metadata` with the given further arguments.
pub(crate) fn metadata(arguments: &[&str]) -> Result<Value> {
    let mut command = cargo(&["metadata", "--format-version", "1"]);
    command.args(arguments).stderr(Stdio::inherit());
    let output = command.output().context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`{}` ended with {}", spelled(&command), output.status);
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")
}

/// Returns whether the one flag of a verb is set.
pub(crate) fn has_flag(arguments: &[String], flag: &str, verb: &str) -> Result<bool> {
    match arguments {
        [] => Ok(false),
        [only] if only == flag => Ok(true),
        _ => bail!("usage: cargo xtask {verb} [{flag}]"),
    }
}

/// Reads the flags of a verb, each with a value.
pub(crate) fn options<'a, const N: usize>(
    arguments: &'a [String],
    flags: [&str; N],
    verb: &str,
) -> Result<[Option<&'a str>; N]> {
    let usage =
        flags.map(|flag| format!(" [{flag} {}]", flag.trim_start_matches('-').to_uppercase())).concat();
    let usage = format!("usage: cargo xtask {verb}{usage}");
    let mut values = [None; N];
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { bail!(usage) };
        let at = flags.iter().position(|flag| flag == name).context(usage.clone())?;
        values[at] = Some(value.as_str());
    }
    Ok(values)
}

/// Reads the flags of a verb, each with a number; one that is not set has its default.
pub(crate) fn numbers<const N: usize>(
    arguments: &[String],
    mut flags: [(&str, u64); N],
    verb: &str,
) -> Result<[u64; N]> {
    let values = options(arguments, flags.map(|(flag, _)| flag), verb)?;
    for ((flag, number), value) in flags.iter_mut().zip(values) {
        if let Some(value) = value {
            *number = value.parse().with_context(|| format!("`{flag} {value}` is no number"))?;
        }
    }
    Ok(flags.map(|(_, number)| number))
}

/// Returns the command that an option names, or builds it.
pub(crate) fn given(program: Option<&str>, build: fn() -> Result<PathBuf>) -> Result<PathBuf> {
    program.map_or_else(build, |path| fs::canonicalize(path).with_context(|| format!("no `{path}`")))
}

/// Builds a program of the workspace, which needs the product and so is one of its own, and runs it in this folder.
pub(crate) fn program(package: &str, arguments: &[String]) -> Result<()> {
    run(cargo(&["run", "--quiet", "--package", package, "--"]).args(arguments))
}

/// Writes a generated file, or with `--check` compares it; `verb` is what writes it.
pub(crate) fn generated(path: &str, text: &str, is_check: bool, verb: &str) -> Result<()> {
    let file = root().join(path);
    if is_check {
        let is_same = fs::read_to_string(&file).is_ok_and(|found| found == text);
        ensure!(is_same, "{path} is out of date; `cargo xtask {verb}` writes it");
        return Ok(());
    }
    fs::write(&file, text).with_context(|| format!("cannot write {path}"))
}

/// Copies a file or a folder in place of what was there.
pub(crate) fn replace(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    if from.is_file() {
        fs::copy(from, to).with_context(|| format!("cannot copy `{}`", from.display()))?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))? {
        let entry = entry?;
        replace(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Removes a file or a folder, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else if path.exists() {
        fs::remove_file(path)
    } else {
        Ok(())
    };
    removed.with_context(|| format!("cannot remove `{}`", path.display()))
}

/// Spells a call as a person would type it.
fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
