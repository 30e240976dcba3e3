//! `cargo xtask explain`: the page of `ctx explain --html`, opened in a browser.
//!
//! The pages of a sample and of a hostile file have to ask for nothing, run nothing, fit into a narrow window, and be
//! legible to everybody, in light and in dark, as far as `axe-core` can tell. So that a check that finds nothing means
//! something, a page that is wrong in all these ways is opened too, and must be found wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{if_possible, npm};
use crate::workspace;

/// What npm installs, and the script that drives the browser.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("../page/package.json")),
    ("package-lock.json", include_str!("../page/package-lock.json")),
    ("check.mjs", include_str!("../page/check.mjs")),
];

/// What shows the sample: dropped messages, a worldbook, macros, joined messages.
const SAMPLE: &str = "crates/ctx-project/templates/agent.yaml \
    --session crates/ctx-project/templates/conversation.json --profile crates/ctx-project/templates/profile.yaml \
    --worldbook xtask/page/garden.json --model gpt-5 --context-tokens 100 --reserve 0 \
    --disable merge-consecutive-roles --at 2026-03-14T09:00:00Z";

/// A file that tries to break out of the page.
const HOSTILE: &str =
    "xtask/page/hostile.json --input <script>alert('input')</script> --at 2026-03-14T09:00:00Z";

/// Names under which the browser may be installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Checks the pages; with `--if-possible` it is said loudly, and is no failure, that Node.js, npm, the packages or the
/// browser cannot be had. `--picture FILE` takes a picture of the sample.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (is_optional, picture) = match arguments.as_slice() {
        [] => (false, None),
        ["--if-possible"] => (true, None),
        ["--picture", file] => (false, Some(*file)),
        _ => bail!("usage: cargo xtask explain [--if-possible | --picture FILE]"),
    };
    let missing = "explain: the page was NOT OPENED in a browser";
    let Some((folder, browser)) = if_possible(is_optional, missing, prepare())? else { return Ok(()) };
    let pages = [write(&folder, "sample.html", SAMPLE)?, write(&folder, "hostile.html", HOSTILE)?];
    let problems = problems(&folder, &browser, picture, &pages)?;
    ensure!(problems.is_empty(), "the page is not as it should be:\n{}", problems.join("\n"));
    println!("page: {} pages, in light and dark, wide and narrow, have no problem", pages.len());
    Ok(())
}

fn prepare() -> Result<(PathBuf, PathBuf)> {
    let browser = browser()?;
    Ok((npm("page", FILES, "axe-core")?, browser))
}

/// Finds a browser.
pub(crate) fn browser() -> Result<PathBuf> {
    let answers = |name: &&&str| {
        let found = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let browser = BROWSERS.iter().find(answers);
    which(browser.with_context(|| format!("there is none of {}", BROWSERS.join(", ")))?)
}

/// Writes the page of a context, and returns its path.
fn write(folder: &Path, name: &str, arguments: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let mut command = Command::new(workspace::ctx()?);
    command.args(["explain", "--no-config"]).current_dir(workspace::root()).stdin(Stdio::null());
    // What is wrong with the files is a part of the page.
    workspace::run(command.args(arguments.split(' ')).arg("--html").arg(&path).stderr(Stdio::null()))?;
    Ok(path)
}

/// Opens the pages and returns what is wrong with them, a line each.
fn problems(folder: &Path, browser: &Path, picture: Option<&str>, pages: &[PathBuf]) -> Result<Vec<String>> {
    let picture = picture.map_or_else(|| PathBuf::from("-"), |file| workspace::root().join(file));
    let mut command = Command::new("node");
    command.arg("check.mjs").arg(browser).arg(picture).args(pages);
    let output = command.current_dir(folder).output().context("cannot start Node.js")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the browser could not be driven: {errors}");
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Finds the path of a program.
fn which(name: &str) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&folders).map(|folder| folder.join(name));
    candidates.find(|path| path.is_file()).with_context(|| format!("`{name}` is not on the path"))
}
