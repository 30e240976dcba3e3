//! Packages of other languages, put into the build folder once, in the versions that our own files fix.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;

/// Where pip notes, last of all, what it was asked for: a folder without it is not whole.
const WITNESS: &str = "installed.txt";

/// Writes these files into `target/NAME` and lets npm install what they name, unless that is done already.
///
/// `package` is one of them. No script of a package runs.
pub(crate) fn npm(name: &str, files: &[(&str, &str)], package: &str) -> Result<PathBuf> {
    for program in ["node", "npm"] {
        ensure!(answers(&mut Command::new(program)), "`{program}` is not installed");
    }
    let folder = folder(name)?;
    let is_new = files.iter().any(|(name, text)| !is_same(&folder.join(name), text));
    let modules = folder.join("node_modules");
    if is_new || !modules.join(package).exists() {
        for (name, text) in files {
            fs::write(folder.join(name), text).with_context(|| format!("cannot write `{name}`"))?;
        }
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
        let done = run(Command::new("npm").args(arguments).current_dir(&folder));
        finish(&modules, done.context("`npm ci` could not get the packages"))?;
    }
    Ok(folder)
}

/// Lets pip install into `target/NAME/python` what a text of requirements names, unless that is done already.
///
/// Every file is known by its hash, and nothing is built.
pub(crate) fn pip(name: &str, requirements: &str) -> Result<PathBuf> {
    ensure!(answers(&mut python_pip()), "`python3` with pip is not installed");
    let folder = folder(name)?.join("python");
    if !is_same(&folder.join(WITNESS), requirements) {
        workspace::remove(&folder)?;
        fs::create_dir_all(&folder)?;
        let list = folder.with_file_name("requirements.txt");
        fs::write(&list, requirements).context("cannot write `requirements.txt`")?;
        let arguments = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"];
        let mut pip = python_pip();
        pip.args(arguments).args(["--only-binary", ":all:", "--require-hashes"]);
        let done = run(pip.arg("--target").arg(&folder).arg("--requirement").arg(&list));
        finish(&folder, done.context("`pip install` could not get the packages"))?;
        fs::write(folder.join(WITNESS), requirements)?;
    }
    Ok(folder)
}

/// The Python of an environment, from its folder.
pub(crate) const PYTHON: &str = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };

/// Makes the environment `target/NAME/venv` with what a text of requirements names, unless that is done already; returns
/// its Python.
pub(crate) fn venv(name: &str, requirements: &str, options: &[&str]) -> Result<PathBuf> {
    let folder = folder(name)?;
    let (python, witness) = (folder.join("venv").join(PYTHON), folder.join("requirements.txt"));
    if python.exists() && is_same(&witness, requirements) {
        return Ok(python);
    }
    let mut command = Command::new(if cfg!(windows) { "python" } else { "python3" });
    run(command.args(["-m", "venv", "--clear", "venv"]).current_dir(&folder))
        .context("there is no Python 3 with `venv`")?;
    let wanted = folder.join("wanted.txt");
    fs::write(&wanted, requirements).with_context(|| format!("cannot write `{}`", wanted.display()))?;
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    run(command.args(options).arg("--requirement").arg(&wanted))
        .context("`pip install` could not get the packages")?;
    // What was half installed must not pass for whole.
    fs::rename(&wanted, &witness).with_context(|| format!("cannot write `{}`", witness.display()))?;
    Ok(python)
}

/// Sets a text into a frame that nobody overlooks.
pub(crate) fn loud(text: &str) -> String {
    let line = "!".repeat(78);
    format!("{line}\n!! {text}\n{line}")
}

/// Returns what was prepared. If it is optional, it is said loudly, and is no failure, that it cannot be had.
pub(crate) fn if_possible<T>(is_optional: bool, missing: &str, found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if is_optional => {
            println!("{}", loud(&format!("{missing}: {error:#}")));
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// Returns `target/NAME`, which is made if there is none.
pub(crate) fn folder(name: &str) -> Result<PathBuf> {
    let folder = workspace::root().join("target").join(name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make `target/{name}`"))?;
    Ok(folder)
}

fn python_pip() -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip"]);
    command
}

/// Returns whether a program is there and says its version.
fn answers(command: &mut Command) -> bool {
    let found = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().context("cannot start it")?;
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}

/// Removes what was half installed, so that it does not pass for whole.
fn finish(installed: &Path, done: Result<()>) -> Result<()> {
    if let Err(error) = done {
        workspace::remove(installed)?;
        bail!(error);
    }
    Ok(())
}

fn is_same(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found == text)
}
