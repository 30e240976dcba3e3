//! `cargo xtask sequences`: checks that repeated markers take linear work.
//!
//! Fills files with one marker, then makes them 8 times as long. Counts instructions with valgrind, so the speed and
//! load of the machine have no effect.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::markers::{COMMANDS, MARKERS, files, repeated};
use crate::workspace;

const USAGE: &str = "usage: cargo xtask sequences [--program CTX] [--marker TEXT]";

/// Size of the first texts, in bytes.
const BYTES: usize = 8 << 10;

/// Factor between the sizes of the two runs.
const LONGER: usize = 8;

/// Maximum factor between the work of the two runs: 8 is linear, 64 is quadratic.
const MAX_GROWTH: u64 = 16;

/// Compares the work for all markers, or for one.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut program, mut marker) = (None, None);
    let mut rest = arguments;
    while let [flag, value, more @ ..] = rest {
        match flag.as_str() {
            "--program" => program = Some(fs::canonicalize(value).with_context(|| format!("no `{value}`"))?),
            "--marker" => marker = Some(value.as_str()),
            _ => bail!(USAGE),
        }
        rest = more;
    }
    ensure!(rest.is_empty(), USAGE);
    let program = program.map_or_else(release, Ok)?;
    let folder = workspace::target()?.join("sequences");
    fs::create_dir_all(&folder)?;
    let counter = Counter { program: &program, folder: &folder };
    let start = COMMANDS.iter().map(|command| counter.count(command, "a", 1));
    let start: Vec<u64> = start.collect::<Result<_>>()?;
    let mut failed = 0;
    for marker in marker.map_or_else(|| MARKERS.to_vec(), |marker| vec![marker]) {
        for (command, start) in COMMANDS.iter().zip(&start) {
            let work = |bytes: usize| {
                Ok::<_, anyhow::Error>(counter.count(command, marker, bytes)?.saturating_sub(*start))
            };
            let (short, long) = (work(BYTES)?.max(1), work(BYTES * LONGER)?);
            if long / short >= MAX_GROWTH {
                failed += 1;
                let verb = command.split(' ').next().unwrap_or_default();
                println!("sequences: {verb} with {marker:?}: {short} instructions, then {long}");
            }
        }
    }
    ensure!(
        failed == 0,
        "{failed} of the commands take more than {MAX_GROWTH} times the work for {LONGER} times the text"
    );
    println!("sequences: no command takes {MAX_GROWTH} times the work for {LONGER} times the text");
    Ok(())
}

fn release() -> Result<PathBuf> {
    workspace::run(&mut workspace::cargo(&["build", "--release", "--package", "ctx-cli"]))?;
    Ok(workspace::target()?.join("release").join(workspace::CTX))
}

/// Counts the instructions of a command with valgrind.
struct Counter<'a> {
    program: &'a Path,
    folder: &'a Path,
}

impl Counter<'_> {
    /// Returns the number of instructions of a command on files full of a marker.
    fn count(&self, command: &str, marker: &str, bytes: usize) -> Result<u64> {
        for (name, content) in files(&repeated(marker, bytes)) {
            fs::write(self.folder.join(name), content)?;
        }
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        valgrind.arg(self.program).args(command.split(' ')).current_dir(self.folder);
        valgrind.env("CTX_HOME", self.folder.join("home")).stdin(Stdio::null()).stdout(Stdio::null());
        let output = valgrind.output().context("cannot start `valgrind`")?;
        let told = String::from_utf8_lossy(&output.stderr);
        // The total is the last line on standard error: `==7== I   refs:      1,234,567`.
        let line = told.lines().rev().find(|line| line.starts_with("==") && line.contains("refs:"));
        let digits = line.and_then(|line| line.rsplit(':').next()).map(|count| count.replace([',', ' '], ""));
        let count = digits.and_then(|digits| digits.parse().ok());
        count.with_context(|| format!("valgrind counted nothing for `ctx {command}`: {told}"))
    }
}
