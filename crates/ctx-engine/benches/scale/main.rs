//! Costs of a turn at 1,000 to 1,000,000 messages.
//!
//! Arguments: sizes, and `variables` for session variables. Without `--bench`, as in `cargo test`, runs the
//! smallest size once.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "benchmarks print results")]

#[path = "../conversation/mod.rs"]
mod conversation;
mod figures;
mod memory;
mod times;

use std::process::{Command, ExitCode, Stdio};

use conversation::Variables;
use figures::Row;
use serde::de::DeserializeOwned;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// glibc's default limits, fixed: freed memory returns to the system.
const ALLOCATOR: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scale: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [mode, size, runs, rest @ ..] if mode == "--times" => {
            let times = times::measure(size.parse()?, runs.parse()?, variables(rest))?;
            println!("{}", serde_json::to_string(&times)?);
        }
        [mode, size, rest @ ..] if mode == "--memory" => {
            println!("{}", serde_json::to_string(&memory::measure(size.parse()?, variables(rest))?)?);
        }
        _ => compare(arguments)?,
    }
    Ok(())
}

const VARIABLES: &str = "variables";

fn variables(arguments: &[String]) -> Variables {
    if arguments.iter().any(|argument| argument == VARIABLES) { Variables::On } else { Variables::Off }
}

fn compare(arguments: &[String]) -> Outcome<()> {
    let given: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let sizes = match (given.as_slice(), is_bench) {
        ([], true) => SIZES.to_vec(),
        ([], false) => vec![1_000],
        (given, _) => given.to_vec(),
    };
    let variables = variables(arguments);
    let mode: &[&str] = if variables == Variables::On { &[VARIABLES] } else { &[] };
    let mut rows = Vec::new();
    for size in sizes {
        eprintln!("scale: {size} messages");
        let runs = if is_bench { runs(size) } else { 1 };
        let times = child(&[&["--times", &size.to_string(), &runs.to_string()], mode].concat(), &[])?;
        let memory = child(&[&["--memory", &size.to_string()], mode].concat(), &ALLOCATOR)?;
        rows.push(Row { size, runs, times, memory });
    }
    println!("{}", figures::CONDITIONS);
    if variables == Variables::On {
        println!("{}", figures::WITH_VARIABLES);
    }
    println!("{}", figures::table(&rows));
    println!("{}", figures::ratios(&rows, variables));
    Ok(())
}

const fn runs(size: usize) -> usize {
    match size {
        0..=20_000 => 15,
        20_001..=200_000 => 9,
        _ => 5,
    }
}

fn child<T: DeserializeOwned>(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome<T> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).envs(environment.iter().copied()).stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", arguments.join(" "), output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
