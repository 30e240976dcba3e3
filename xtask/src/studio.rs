//! `cargo xtask studio`: the page of `ctx studio`, opened in a browser, and with `--monkey` clicked at random.
//!
//! The tests start `ctx studio` on folders of their own and do its jobs by mouse and by keyboard.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{if_possible, loud, npm};
use crate::{explain, page, workspace};

/// The tests of the page.
const TESTS: &str = "xtask/page/studio";

/// The one of them that kills the server.
const KILLS: &str = "kills.test.mjs";

/// The example with a processor of its own, whose form the tests fill in.
const OWN_PARTS: &str = "own_parts";

const USAGE: &str = "usage: cargo xtask studio [--kills N | --monkey MINUTES] [--if-possible]";

/// What is to be done.
enum Work {
    /// Opens the page; with a number, only to kill the server so many times.
    Open(Option<u32>),
    /// Clicks at random for so many minutes.
    Monkey(u32),
}

/// Opens the page in a browser; with `--if-possible` it is said loudly, and is no failure, that Node.js, npm, the
/// packages or the browser cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = arguments.last().is_some_and(|last| last == "--if-possible");
    let arguments: Vec<&str> =
        arguments.iter().map(String::as_str).take(arguments.len() - usize::from(is_optional)).collect();
    let work = match arguments.as_slice() {
        [] => Work::Open(None),
        ["--kills", count] => Work::Open(Some(count.parse().context(USAGE)?)),
        ["--monkey", minutes] => Work::Monkey(minutes.parse().context(USAGE)?),
        _ => bail!(USAGE),
    };
    match work {
        Work::Open(kills) => opened(is_optional, |folder, browser| open(folder, browser, kills)),
        Work::Monkey(minutes) => opened(is_optional, |folder, browser| monkey(folder, browser, minutes)),
    }
}

/// Plays something in the folder of the tests and a browser.
fn opened(is_optional: bool, play: impl FnOnce(&Path, &Path) -> Result<()>) -> Result<()> {
    let found = if_possible(is_optional, "studio: the page was NOT OPENED", tests())?;
    found.map_or(Ok(()), |(folder, browser)| play(&folder, &browser))
}

/// Clicks at random.
fn monkey(folder: &Path, browser: &Path, minutes: u32) -> Result<()> {
    let mut command = Command::new("node");
    command.arg(folder.join("studio/monkey.mjs")).current_dir(folder).stdin(Stdio::null());
    command.env("CTX", workspace::ctx()?).env("CHROMIUM", browser).env("MINUTES", minutes.to_string());
    workspace::run(&mut command)
}

/// Copies the tests to where their packages are installed.
fn tests() -> Result<(PathBuf, PathBuf)> {
    let browser = explain::browser()?;
    let folder = npm("page", explain::FILES, "axe-core")?;
    workspace::replace(&workspace::root().join(TESTS), &folder.join("studio"))?;
    Ok((folder, browser))
}

/// Runs the tests, or those of kills alone.
fn open(folder: &Path, browser: &Path, kills: Option<u32>) -> Result<()> {
    let (program, own_parts) = (workspace::ctx()?, workspace::example(OWN_PARTS)?);
    let names = fs::read_dir(folder.join("studio"))?;
    let names = names.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let is_asked = |path: &PathBuf| is_test(path) && (kills.is_none() || path.ends_with(KILLS));
    let mut files: Vec<PathBuf> = names.into_iter().filter(is_asked).collect();
    files.sort();
    let run = |files: &[PathBuf], at_once: u32| {
        let mut command = Command::new("node");
        let at_once = format!("--test-concurrency={at_once}");
        command.args(["--test", &at_once, "--test-reporter=spec"]).args(files);
        command.env("CTX", &program).env("CHROMIUM", browser).env("OWN_PARTS", &own_parts);
        command.envs(kills.map(|count| ("KILLS", count.to_string())));
        let output = command.current_dir(folder).stdin(Stdio::null()).output();
        output.map(Played::of).context("cannot start Node.js")
    };
    let played = run(&files, 2)?;
    let (passed, failed) = (&played.passed, &played.failed);
    if played.is_ok {
        println!("studio: {passed} passed, {failed} failed");
        return Ok(());
    }
    println!("{}", played.text);
    let again: Vec<PathBuf> = files.into_iter().filter(|file| played.has_failed_in(file)).collect();
    // A browser may starve on a machine that compiles meanwhile. What is lost when a server is killed is lost for good.
    let is_final = again.is_empty() || again.iter().any(|file| file.ends_with(KILLS));
    ensure!(!is_final, "studio: {passed} passed, {failed} failed");
    println!("{}", loud("studio: tests FAILED, see above; their files are run once more, one by one"));
    let alone = run(&again, 1)?;
    println!("{}", alone.text);
    ensure!(alone.is_ok, "studio: {} passed, {} failed, run alone", alone.passed, alone.failed);
    println!("studio: {passed} passed, {failed} FAILED beside others and passed alone");
    Ok(())
}

/// What Node.js printed of tests.
struct Played {
    text: String,
    passed: String,
    failed: String,
    is_ok: bool,
}

impl Played {
    fn of(output: Output) -> Self {
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let figure = |name: &str| {
            let line =
                text[0].lines().rev().find_map(|line| line.trim_start_matches("ℹ ").strip_prefix(name));
            line.map_or("0", str::trim).to_owned()
        };
        let (passed, failed) = (figure("pass "), figure("fail "));
        Self { passed, failed, is_ok: output.status.success(), text: text.concat() }
    }

    /// Returns whether a test of a file failed: `test at studio/talk.test.mjs:12:1` stands above what it says.
    fn has_failed_in(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let mut places = self.text.lines().filter_map(|line| line.strip_prefix("test at "));
        places.any(|place| place.contains(&format!("{name}:")))
    }
}

/// Measures the page with a program that is built with optimizations, and prints a table.
///
/// It fails where a figure is missed three times over: times are those of this machine, and of what else it does.
pub(crate) fn bench() -> Result<()> {
    let (folder, browser) = tests()?;
    let mut command = Command::new("node");
    command.arg(folder.join("studio/bench.mjs")).current_dir(&folder).stdin(Stdio::null());
    command.env("CTX", workspace::release()?).env("CHROMIUM", browser);
    workspace::run(&mut command)?;
    page::print_sizes()
}

fn is_test(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(".test.mjs"))
}
