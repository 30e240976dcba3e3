//! `cargo xtask studio`: the page of `ctx studio`, opened in a browser; with `--check` its bundle, built anew.
//!
//! The tests start `ctx studio` on folders of their own and do its jobs by mouse and by keyboard. The committed bundle
//! has to be what its sources give, byte for byte, and small.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::packages::{loud, npm};
use crate::{page, workspace};

/// The sources of the page.
const PAGE: &str = "crates/ctx-studio/page";

/// The tests of the page.
const TESTS: &str = "xtask/page/studio";

/// The files of the bundle, and how many bytes each may have when it is compressed.
const BUNDLE: [(&str, usize); 6] = [
    ("index.html", 4 * 1024),
    ("studio.js", 90 * 1024),
    ("editor.js", 130 * 1024),
    ("studio.css", 15 * 1024),
    ("icons.svg", 8 * 1024),
    ("LICENSES.txt", 32 * 1024),
];

/// What must stand nowhere in the scripts: what makes HTML or code of a text.
const SINKS: [&str; 5] = [".innerHTML", ".outerHTML", "insertAdjacentHTML", "document.write(", "eval("];

/// What the style sheet needs so that long lists stay fast.
const NEEDED_STYLE: &str = "content-visibility:auto";

const USAGE: &str = "usage: cargo xtask studio [--check] [--if-possible]";

/// Opens the page in a browser, or checks its bundle; with `--if-possible` it is said loudly, and is no failure, that
/// Node.js, npm, the packages or the browser cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut is_check = false;
    let mut is_optional = false;
    for argument in arguments {
        match argument.as_str() {
            "--check" => is_check = true,
            "--if-possible" => is_optional = true,
            _ => bail!(USAGE),
        }
    }
    let prepared = if is_check { copied().map(|folder| (folder, None)) } else { tests() };
    match prepared {
        Ok((folder, None)) => check(&folder),
        Ok((folder, Some(browser))) => open(&folder, &browser),
        Err(error) if is_optional => {
            let what = if is_check { "the bundle was NOT BUILT" } else { "the page was NOT OPENED" };
            println!("{}", loud(&format!("studio: {what}: {error:#}")));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Copies the tests to where their packages are installed.
fn tests() -> Result<(PathBuf, Option<PathBuf>)> {
    let browser = page::browser()?;
    let folder = npm("page", page::FILES, "axe-core")?;
    copy(&workspace::root().join(TESTS), &folder.join("studio"))?;
    Ok((folder, Some(browser)))
}

/// Runs the tests, one file after the other: each browser gets the machine for itself.
fn open(folder: &Path, browser: &Path) -> Result<()> {
    let program = workspace::ctx()?;
    let names = fs::read_dir(folder.join("studio"))?;
    let names = names.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let mut files: Vec<PathBuf> = names.into_iter().filter(|path| is_test(path)).collect();
    files.sort();
    let mut command = Command::new("node");
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]).args(&files);
    command.env("CTX", program).env("CHROMIUM", browser);
    let output = command.current_dir(folder).stdin(Stdio::null()).output().context("cannot start Node.js")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| {
        let line = text.lines().rev().find_map(|line| line.trim_start_matches("ℹ ").strip_prefix(name));
        line.map_or("0", str::trim).to_owned()
    };
    let (passed, failed) = (figure("pass "), figure("fail "));
    if !output.status.success() {
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
        bail!("studio: {passed} passed, {failed} failed");
    }
    println!("studio: {passed} passed, {failed} failed");
    Ok(())
}

fn is_test(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(".test.mjs"))
}

/// Copies the sources of the page to where their packages are installed.
fn copied() -> Result<PathBuf> {
    let page = workspace::root().join(PAGE);
    let read =
        |name: &str| fs::read_to_string(page.join(name)).with_context(|| format!("cannot read `{name}`"));
    let (package, lock) = (read("package.json")?, read("package-lock.json")?);
    let folder = npm("studio", &[("package.json", &package), ("package-lock.json", &lock)], "esbuild")?;
    for name in ["build.mjs", "tsconfig.json"] {
        fs::write(folder.join(name), read(name)?)?;
    }
    copy(&page.join("src"), &folder.join("src"))?;
    copy(&page.join("test"), &folder.join("test"))?;
    Ok(folder)
}

/// Checks the types, runs the tests of the page's model, builds the bundle twice and compares it with the committed one.
fn check(folder: &Path) -> Result<()> {
    for (what, program, arguments) in [
        ("the types are wrong", "npx", &["--no-install", "tsc", "--noEmit"][..]),
        ("the tests of the page's model failed", "npm", &["test"]),
        ("the page cannot be built", "node", &["build.mjs", "--out=one"]),
        ("the page cannot be built", "node", &["build.mjs", "--out=two"]),
    ] {
        let done = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output();
        let output = done.with_context(|| format!("cannot start `{program}`"))?;
        let told = || [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
        ensure!(output.status.success(), "{what}:\n{}", told());
    }
    let dist = workspace::root().join(PAGE).join("dist");
    for (name, most) in BUNDLE {
        let [one, two, committed] = [folder.join("one"), folder.join("two"), dist.clone()]
            .map(|folder| fs::read(folder.join(name)).with_context(|| format!("cannot read `{name}`")));
        let (one, two, committed) = (one?, two?, committed?);
        ensure!(one == two, "two builds of `{name}` differ");
        ensure!(
            one == committed,
            "`{PAGE}/dist/{name}` is not what its sources give: run `npm ci --ignore-scripts && npm run build` in `{PAGE}`"
        );
        let bytes = compressed(&one)?;
        ensure!(bytes <= most, "`{name}` has {bytes} bytes when it is compressed, more than {most}");
        let text = String::from_utf8_lossy(&one);
        if name.ends_with("js") {
            let sink = SINKS.iter().find(|sink| text.contains(*sink));
            ensure!(sink.is_none(), "`{name}` has `{}`", sink.unwrap_or(&""));
        }
        ensure!(name != "studio.css" || text.contains(NEEDED_STYLE), "`{name}` lacks `{NEEDED_STYLE}`");
    }
    println!("studio: the bundle is what its sources give");
    Ok(())
}

fn compressed(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, bytes)?;
    Ok(encoder.finish()?.len())
}

/// Replaces a folder by a copy of another one.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove `{}`", to.display()))?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), &target)?),
        }
    }
    Ok(())
}
