//! `cargo xtask page`: builds the page of `ctx studio`, and with `--check` compares it with the committed bundle.
//!
//! The bundle is committed because a clone without Node.js needs the page, and this command alone writes it. The types of
//! the API come from the Rust types: an example prints their JSON Schema, and `json-schema-to-typescript` translates it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::packages::{if_possible, npm};
use crate::workspace;

/// The sources of the page.
const PAGE: &str = "crates/ctx-studio/page";

/// The files of the bundle, and the maximum of each in bytes after compression.
const BUNDLE: [(&str, usize); 6] = [
    ("index.html", 4 * 1024),
    ("studio.js", 120 * 1024),
    ("editor.js", 130 * 1024),
    ("studio.css", 15 * 1024),
    ("icons.svg", 8 * 1024),
    ("LICENSES.txt", 32 * 1024),
];

/// Functions that turn a text into HTML or code. The scripts must not contain them.
const SINKS: [&str; 5] = [".innerHTML", ".outerHTML", "insertAdjacentHTML", "document.write(", "eval("];

/// A rule of the style sheet that keeps long lists fast.
const NEEDED_STYLE: &str = "content-visibility:auto";

/// The example that prints the JSON Schema of the API.
const SCHEMA: &str = "api_schema";

/// Builds the page, or checks the committed bundle. With `--if-possible`, a missing Node.js or npm is no error.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => {
            let folder = copy()?;
            build(&folder)?;
            let page = workspace::root().join(PAGE);
            for (name, _) in BUNDLE {
                fs::copy(folder.join("one").join(name), page.join("dist").join(name))?;
            }
            fs::copy(folder.join("src/api.d.ts"), page.join("src/api.d.ts"))?;
            print_sizes()
        }
        ["--check"] => check(&copy()?),
        ["--check", "--if-possible"] => {
            let folder = if_possible(true, "page: the bundle was NOT BUILT", copy())?;
            folder.map_or(Ok(()), |folder| check(&folder))
        }
        _ => bail!("usage: cargo xtask page [--check [--if-possible]]"),
    }
}

/// Prints the size of each file of the committed bundle.
pub(crate) fn print_sizes() -> Result<()> {
    for (name, most) in BUNDLE {
        let bytes = compressed(&fs::read(workspace::root().join(PAGE).join("dist").join(name))?)?;
        println!("| `{name}`, compressed | {} KB | {} KB | |", bytes.div_ceil(1024), most / 1024);
    }
    Ok(())
}

/// Copies the sources of the page to where their packages are installed.
fn copy() -> Result<PathBuf> {
    let page = workspace::root().join(PAGE);
    let read =
        |name: &str| fs::read_to_string(page.join(name)).with_context(|| format!("cannot read `{name}`"));
    let (package, lock) = (read("package.json")?, read("package-lock.json")?);
    let folder = npm(
        "studio",
        &[("package.json", &package), ("package-lock.json", &lock)],
        "json-schema-to-typescript",
    )?;
    for name in ["build.mjs", "types.mjs", "tsconfig.json"] {
        fs::write(folder.join(name), read(name)?)?;
    }
    workspace::replace(&page.join("src"), &folder.join("src"))?;
    workspace::replace(&page.join("test"), &folder.join("test"))?;
    Ok(folder)
}

/// Writes the types of the API.
fn write_types(folder: &Path) -> Result<()> {
    let schema = folder.join("api.schema.json");
    let printed = Command::new(workspace::example(SCHEMA)?).stdin(Stdio::null()).output()?;
    ensure!(printed.status.success(), "the example `{SCHEMA}` failed");
    fs::write(&schema, printed.stdout)?;
    let mut command = Command::new("node");
    command.arg("types.mjs").current_dir(folder).stdin(fs::File::open(schema)?);
    let types = command.output().context("cannot start `node`")?;
    ensure!(types.status.success(), "no types:\n{}", String::from_utf8_lossy(&types.stderr));
    Ok(fs::write(folder.join("src/api.d.ts"), types.stdout)?)
}

/// Checks the types, runs the tests of the page's model, and builds the bundle twice.
fn build(folder: &Path) -> Result<()> {
    write_types(folder)?;
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
    for (name, most) in BUNDLE {
        let [one, two] = ["one", "two"].map(|build| read(&folder.join(build).join(name)));
        let (one, two) = (one?, two?);
        ensure!(one == two, "two builds of `{name}` differ");
        let bytes = compressed(&one)?;
        ensure!(bytes <= most, "`{name}` has {bytes} bytes when it is compressed, more than {most}");
        let text = String::from_utf8_lossy(&one);
        if name.ends_with("js") {
            let sink = SINKS.iter().find(|sink| text.contains(*sink));
            ensure!(sink.is_none(), "`{name}` has `{}`", sink.unwrap_or(&""));
        }
        ensure!(name != "studio.css" || text.contains(NEEDED_STYLE), "`{name}` lacks `{NEEDED_STYLE}`");
    }
    Ok(())
}

/// Compares the committed bundle with its sources.
fn check(folder: &Path) -> Result<()> {
    build(folder)?;
    for (name, _) in BUNDLE {
        let committed = read(&workspace::root().join(PAGE).join("dist").join(name))?;
        let is_same = read(&folder.join("one").join(name))? == committed;
        ensure!(is_same, "`{PAGE}/dist/{name}` differs from its sources: run `cargo xtask page`");
    }
    println!("page: the committed bundle is that of its sources");
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn compressed(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, bytes)?;
    Ok(encoder.finish()?.len())
}
