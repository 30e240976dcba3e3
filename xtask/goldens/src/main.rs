//! `goldens [--dir DIR] [--json]`: runs the golden files of a folder.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program talks to the terminal")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

/// Where the goldens are that come with the specification, beside the repository.
const DEFAULT_FOLDER: &str = "../shared/goldens";

const USAGE: &str = "usage: cargo xtask goldens [--dir DIR] [--json]";

/// Says what is run and what is printed.
fn help() -> String {
    let kinds: Vec<&str> = goldens::KINDS.iter().map(|kind| kind.name).collect();
    format!(
        "Runs the cases of every golden file of a folder, `{DEFAULT_FOLDER}` if none is given, and prints for each\n\
         file `FILE passed/total` and what differs; with `--json`, `{{FILE: {{id: actual}}}}`.\n\
         Ends with 0 only if every case came out as it was observed.\n\
         A case of another kind than these fails: {}.",
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
                println!("{USAGE}\n\n{}", help());
                return Ok(true);
            }
            _ => bail!("{USAGE}"),
        }
    }
    let report = goldens::run(&goldens::read_folder(&folder)?);
    if is_json {
        println!("{:#}", report.json());
    } else {
        print!("{}", report.text());
    }
    Ok(report.is_equal())
}
