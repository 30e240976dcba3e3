//! `goldens [--dir DIR] [--json]`: runs the golden files of a folder.
#![expect(clippy::print_stderr, reason = "a terminal program talks to the terminal")]

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

/// Where the goldens are that come with the specification, beside the repository.
const DEFAULT_FOLDER: &str = "../shared/goldens";

const USAGE: &str = "usage: cargo xtask goldens [--dir DIR] [--json]";

/// Describes what is run and what is printed.
fn help() -> String {
    let kinds: Vec<&str> = goldens::KINDS.iter().map(|kind| kind.name).collect();
    format!(
        "Runs the cases of every golden file of a folder, `{DEFAULT_FOLDER}` if none is given, and prints for each\n\
         file `FILE passed/total` and what differs; with `--json`, `{{FILE: {{id: actual}}}}`.\n\
         Ends with 0 only if every case came out as it was observed.\n\
         A file that cannot be read fails, and so does a case of another kind than these: {}.",
        kinds.join(", ")
    )
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let mut folder = PathBuf::from(DEFAULT_FOLDER);
    let mut is_json = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dir" => folder = arguments.next().context("`--dir` needs a folder")?.into(),
            "--json" => is_json = true,
            "--help" | "-h" => {
                print(&format!("{USAGE}\n\n{}\n", help()))?;
                return Ok(true);
            }
            _ => bail!("{USAGE}"),
        }
    }
    let report = goldens::run(&goldens::read_folder(&folder)?);
    if is_json {
        print(&format!("{:#}\n", report.json()))?;
    } else {
        print(&report.text())?;
    }
    Ok(report.is_equal())
}

/// Writes to standard output; who reads no further, as `head` does, has read enough.
fn print(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write"),
        _ => Ok(()),
    }
}
