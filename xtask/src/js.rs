//! `cargo xtask js`: the JavaScript package, built, packed and tried.
//!
//! With `--test` the conformance suite is run through the package in Node.js and in a browser under a strict policy, in
//! Bun and Deno too where they are installed:
//! each call must give the bytes that Rust gives, and the results are compared with what the suite expects. Then come
//! the tests of the package, the examples and their types, the pages of its API, the packed package in a project of its own, the page of
//! `docs/playground` (put together in `target/js/playground`), and what it takes beside the function of `LangChain` that it can stand for.
//! `--integrations` installs the frameworks of `tests/integrations`, and runs the tests of the integrations with them.
//! `--fuzz N` makes N calls of each operation with changed documents and values of wrong types.

mod wasm;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::packages::{if_possible, npm};
use crate::{explain, python, workspace};

/// The package, from the root of the workspace.
const PACKAGE: &str = "bindings/js";

/// What the package is built and tried with, apart from the packages that npm installs.
const SOURCES: [&str; 7] =
    ["ts", "scripts", "tests", "examples", "README.md", "tsconfig.json", "tsconfig.examples.json"];

/// The page that shows what the package does, from the root of the workspace.
const PLAYGROUND: &str = "docs/playground";

/// What says which packages npm installs.
const PACKAGES: [&str; 2] = ["package.json", "package-lock.json"];

/// The engines: their files, their features, and how many bytes they may have when they are compressed, without
/// vocabularies: what they have, and a little more.
const ENGINES: [(&str, &str, usize); 2] =
    [("ctx.wasm", "", 1_700_000), ("ctx-files.wasm", "files", 2_200_000)];

const USAGE: &str = "usage: cargo xtask js [--test | --integrations | --fuzz N] [--if-possible]";

/// What is done with the package once it is built.
enum Work {
    Build,
    Test,
    Integrations,
    Fuzz(u32),
}

/// Builds the package; with `--if-possible` it is said loudly, and is no failure, that Node.js, npm, the packages or a
/// compiler for WebAssembly cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = arguments.last().is_some_and(|last| last == "--if-possible");
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let work = match words.strip_suffix(&["--if-possible"]).unwrap_or(&words) {
        [] => Work::Build,
        ["--test"] => Work::Test,
        ["--integrations"] => Work::Integrations,
        ["--fuzz", count] => Work::Fuzz(count.parse().context(USAGE)?),
        _ => bail!(USAGE),
    };
    let missing = "the JavaScript package was NOT BUILT";
    let Some((folder, compiler)) = if_possible(is_optional, missing, prepare())? else { return Ok(()) };
    build(&folder, &compiler)?;
    match work {
        Work::Build => Ok(()),
        Work::Test => test(&folder),
        Work::Integrations => test_integrations(&folder.join("tests/integrations")),
        Work::Fuzz(count) => {
            let fixtures = workspace::root().join("fixtures");
            node(&folder, "tests/fuzz.mjs", &[Path::new(&count.to_string()), &fixtures])
        }
    }
}

fn prepare() -> Result<(PathBuf, wasm::Compiler)> {
    let read = |name| fs::read_to_string(workspace::root().join(PACKAGE).join(name));
    let texts =
        PACKAGES.iter().map(read).collect::<Result<Vec<_>, _>>().context("the package has no files")?;
    let files: Vec<(&str, &str)> = PACKAGES.iter().copied().zip(texts.iter().map(String::as_str)).collect();
    let folder = npm("js", &files, "typescript")?;
    let compiler = wasm::compiler(&folder)?;
    Ok((folder, compiler))
}

/// Puts the package together in `target/js`.
fn build(folder: &Path, compiler: &wasm::Compiler) -> Result<()> {
    for name in SOURCES {
        workspace::replace(&workspace::root().join(PACKAGE).join(name), &folder.join(name))?;
    }
    let (schemas, types) = (workspace::root().join("schemas"), folder.join("ts/files.ts"));
    node(folder, "scripts/types.mjs", &[&schemas, &types])?;
    workspace::remove(&folder.join("dist"))?;
    node(folder, "node_modules/typescript/bin/tsc", &[Path::new("-p"), Path::new("tsconfig.json")])?;
    let vocabularies = folder.join("dist/vocabularies");
    fs::create_dir_all(&vocabularies)?;
    let tables = ["run", "--quiet", "--package", "ctx-operations", "--example", "tables", "--"];
    workspace::run(workspace::cargo(&tables).arg(&vocabularies))?;
    for (name, features, most) in ENGINES {
        let made = folder.join("dist").join(name);
        wasm::build(compiler, folder, features, &made)?;
        let bytes = fs::read(&made).context("no WebAssembly was built")?;
        let packed = packed_size(&bytes)?;
        println!("js: {name} has {} bytes, {packed} compressed", bytes.len());
        ensure!(packed <= most, "`{name}` may have {most} bytes compressed");
    }
    workspace::replace(&workspace::root().join(PLAYGROUND), &folder.join("playground"))?;
    workspace::replace(&folder.join("dist"), &folder.join("playground/ctx"))
}

fn packed_size(bytes: &[u8]) -> Result<usize> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?.len())
}

fn test(folder: &Path) -> Result<()> {
    let browser = explain::browser().context("the tests open the package in Chromium")?;
    let (suite, calls) = (folder.join("suite.zip"), folder.join("calls"));
    let pack = ["run", "--quiet", "--package", "suite", "--"];
    workspace::run(workspace::cargo(&pack).arg("--out").arg(&suite))?;
    node(folder, "tests/node.mjs", &[&suite, &calls])?;
    let lines = fs::read_to_string(&calls).context("no calls were noted")?;
    println!("js: {} calls give the bytes that Rust gives", python::compare(&lines)?);
    others(folder, &suite, &lines)?;
    node(folder, "tests/browser.mjs", &[&browser, &suite, &calls])?;
    workspace::remove(&folder.join("built"))?;
    let types = [Path::new("-p"), Path::new("tsconfig.examples.json")];
    node(folder, "node_modules/typescript/bin/tsc", &types)?;
    let tests = [Path::new("tests/ctx.test.mjs"), Path::new("tests/examples.test.mjs")];
    node(folder, "--test", &tests)?;
    // Links to sources would need the address of a repository.
    let pages =
        "--out docs --excludePrivate --disableSources --treatWarningsAsErrors --entryPoints ts/index.ts";
    let pages: Vec<&Path> = pages.split(' ').map(Path::new).collect();
    node(folder, "node_modules/typedoc/bin/typedoc", &pages)?;
    node(folder, "tests/fresh.mjs", &[&workspace::root().join("docs/guide/javascript.md")])?;
    node(folder, "tests/playground.mjs", &[&browser])?;
    node(folder, "tests/speed.mjs", &[])
}

/// Installs the package and the frameworks into the folder of the tests, and runs the tests.
fn test_integrations(folder: &Path) -> Result<()> {
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    let mut npm = Command::new("npm");
    let status = npm.args(arguments).current_dir(folder).stdin(Stdio::null()).status();
    let status = status.context("cannot start npm")?;
    ensure!(status.success(), "`npm ci` ended with {status}");
    node(folder, "node_modules/typescript/bin/tsc", &[Path::new("-p"), Path::new("tsconfig.json")])?;
    let mut tests = Vec::new();
    for entry in fs::read_dir(folder).context("the integrations have no tests")? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            tests.push(path);
        }
    }
    tests.sort();
    node(folder, "--test", &tests.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

/// Runs the suite in other runtimes, where they are installed: their calls must be those of Node.js.
fn others(folder: &Path, suite: &Path, lines: &str) -> Result<()> {
    for (name, arguments) in [("bun", [].as_slice()), ("deno", ["run", "--allow-all"].as_slice())] {
        let calls = folder.join(format!("calls-{name}"));
        let mut command = Command::new(name);
        command.args(arguments).arg("tests/node.mjs").args([suite, &calls]);
        match command.current_dir(folder).stdin(Stdio::null()).status() {
            Err(_) => println!("js: `{name}` is not installed: NOT TRIED"),
            Ok(status) => {
                ensure!(status.success(), "`{name}` ended with {status}");
                let own = fs::read_to_string(&calls).context("no calls were noted")?;
                ensure!(own == lines, "the calls of `{name}` differ from those of Node.js");
            }
        }
    }
    Ok(())
}

/// Runs a script of Node.js in the folder of the package.
fn node(folder: &Path, script: &str, arguments: &[&Path]) -> Result<()> {
    let mut command = Command::new("node");
    command.arg(script).args(arguments).current_dir(folder).stdin(Stdio::null());
    let status = command.status().context("cannot start Node.js")?;
    ensure!(status.success(), "`node {script}` ended with {status}");
    Ok(())
}
