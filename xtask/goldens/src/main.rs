//! `goldens [--dir DIR] [--json]`: runs the golden files of a folder, and prints for each file `FILE passed/total` and what
//! differs, or `{FILE: {id: actual}}`. It ends with 0 only if every case came out as it was observed.
#![expect(clippy::print_stderr, reason = "a terminal program talks to the terminal")]

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

/// Where the goldens are that come with the specification, beside the repository.
const DEFAULT_FOLDER: &str = "../shared/goldens";

const USAGE: &str = "usage: cargo xtask goldens [--dir DIR] [--json]";

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
            _ => bail!("{USAGE}"),
        }
    }
    let report = goldens::run(&goldens::read_folder(&folder)?);
    let text = if is_json { format!("{:#}\n", report.json()) } else { report.text() };
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        // Who reads no further, as `head` does, has read enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write"),
        _ => Ok(report.is_equal()),
    }
}
