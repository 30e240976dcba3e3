//! `cargo xtask sequences`: checks that repeated text and long lists take linear work.
//!
//! Runs each command on files of one size, then on files 8 times as long. The CPU time of the two runs selects the
//! suspects, and valgrind counts their instructions, so the speed and load of the machine do not decide.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::markers::{COMMANDS, Files, MARKERS, files, lists, repeated};
use crate::workspace;

/// Size of the first texts, in bytes.
const BYTES: usize = 128 << 10;

/// Number of items in the first lists.
const ITEMS: usize = 2_500;

/// Factor between the sizes of the two runs.
const FACTOR: usize = 8;

/// Maximum factor between the instructions of the two runs: 8 is linear, 64 is quadratic.
const MAX_GROWTH: u64 = 10;

/// Minimum CPU time of a suspect, in hundredths of a second. Shorter runs are not measured exactly.
const MIN_TICKS: u64 = 30;

/// CPU time of a run that is not counted again, because valgrind is about 50 times as slow.
const MAX_TICKS: u64 = 6_000;

/// Compares the work for all markers and lists, or for one marker.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [program, marker] = workspace::options(arguments, ["--program", "--only"], "sequences")?;
    let program = workspace::given(program, workspace::release)?;
    let folder = workspace::target()?.join("sequences");
    fs::create_dir_all(&folder)?;
    let meter = Meter { program: &program, folder: &folder };
    let markers = marker.map_or_else(|| MARKERS.to_vec(), |marker| vec![marker]);
    let texts = markers.into_iter().filter(|marker| *marker != "lists").map(|marker| {
        let sizes = [BYTES, BYTES * FACTOR].map(|bytes| files(&repeated(marker, bytes)));
        (format!("{marker:?}"), sizes)
    });
    let lists = [ITEMS, ITEMS * FACTOR].map(lists);
    let lists = (marker.is_none() || marker == Some("lists")).then(|| ("lists".to_owned(), lists));
    meter.write(&files("a"))?;
    let starts = COMMANDS.iter().map(|command| meter.ticks(command)).collect::<Result<Vec<u64>>>()?;
    let (mut runs, mut failed) = (0, 0);
    for (name, [short, long]) in lists.into_iter().chain(texts) {
        for (command, start) in COMMANDS.iter().zip(&starts) {
            runs += 1;
            if let Some(growth) = meter.growth(command, *start, &short, &long)? {
                failed += 1;
                let verb = command.split(' ').next().unwrap_or(command);
                println!("sequences: `{verb}` with {name}: {growth}");
            }
        }
    }
    ensure!(
        failed == 0,
        "{failed} of {runs} runs take over {MAX_GROWTH} times the work for {FACTOR} times the input"
    );
    println!(
        "sequences: {runs} runs, none takes over {MAX_GROWTH} times the work for {FACTOR} times the input"
    );
    Ok(())
}

/// Measures commands in a folder.
struct Meter<'a> {
    program: &'a Path,
    folder: &'a Path,
}

impl Meter<'_> {
    /// Returns a description of a growth that is too high.
    fn growth(&self, command: &str, start: u64, short: &Files, long: &Files) -> Result<Option<String>> {
        self.write(long)?;
        let second = self.ticks(command)?.saturating_sub(start);
        if second > MAX_TICKS {
            return Ok(Some(format!("{second} hundredths of a second")));
        }
        if second < MIN_TICKS {
            return Ok(None);
        }
        self.write(short)?;
        if second / self.ticks(command)?.saturating_sub(start).max(1) < MAX_GROWTH {
            return Ok(None);
        }
        let [start, first, second] = [&files("a"), short, long].map(|files| {
            self.write(files)?;
            self.instructions(command)
        });
        let start = start?;
        let (first, second) = (first?.saturating_sub(start).max(1), second?.saturating_sub(start));
        let is_linear = second / first < MAX_GROWTH;
        Ok((!is_linear).then(|| format!("{first}, then {second} instructions")))
    }

    fn write(&self, files: &Files) -> Result<()> {
        for (name, content) in files {
            fs::write(self.folder.join(name), content)?;
        }
        Ok(())
    }

    fn command(&self, mut program: Command, command: &str) -> Command {
        program.args(command.split(' ')).current_dir(self.folder).env("CTX_HOME", self.folder.join("home"));
        program.stdin(Stdio::null()).stdout(Stdio::null());
        program
    }

    /// Returns the CPU time that a command takes in user mode, in hundredths of a second.
    fn ticks(&self, command: &str) -> Result<u64> {
        let before = child_ticks()?;
        let status = self.command(Command::new(self.program), command).stderr(Stdio::null()).status()?;
        ensure!(status.code().is_some(), "`ctx {command}` ended with {status}");
        Ok(child_ticks()? - before)
    }

    /// Returns the number of instructions that valgrind counts.
    fn instructions(&self, command: &str) -> Result<u64> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        valgrind.arg(self.program);
        let output = self.command(valgrind, command).output().context("cannot start `valgrind`")?;
        let report = String::from_utf8_lossy(&output.stderr);
        // The total is the last line on standard error: `==7== I   refs:      1,234,567`.
        let line = report.lines().rev().find(|line| line.starts_with("==") && line.contains("refs:"));
        let digits = line.and_then(|line| line.rsplit(':').next()).map(|count| count.replace([',', ' '], ""));
        let count = digits.and_then(|digits| digits.parse().ok());
        count.with_context(|| format!("valgrind counted nothing for `ctx {command}`: {report}"))
    }
}

/// Returns the CPU time in user mode of all programs that have ended, in hundredths of a second (Linux only).
fn child_ticks() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat").context("needs Linux")?;
    // proc(5): the name may contain spaces; `cutime` is field 16, 14 after the name.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(13);
    fields.and_then(|ticks| ticks.parse().ok()).context("cannot read `/proc/self/stat`")
}
