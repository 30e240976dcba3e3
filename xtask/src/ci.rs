//! `cargo xtask ci`: everything that CI checks, in CI's order, until something fails.

mod beside;
mod totals;

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{
    api, book, clients, diagnostics, layers, macros, package, schema, sdk, servers, texts, tidy, workspace,
};
use beside::Beside;

/// The command that the README gives for running the tests, without the leading `cargo`.
pub(crate) const TEST: &[&str] = &["test", "--workspace"];

/// Snapshots are compared and never written, and tests know that nobody is watching.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[("INSTA_UPDATE", "no"), ("CI", "true")];

/// Lets clippy compile the crates of the workspace, with its warnings as errors: to check them apart from that, it
/// would have to read all dependencies a second time.
const LINTED: &[(&str, &str)] = &[
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// One check with what its heading says.
struct Step {
    title: &'static str,
    work: Work,
    /// Whether `--fast` leaves it out.
    is_slow: bool,
}

enum Work {
    Cargo(&'static [&'static str]),
    /// Builds what [`TEST`] runs, with the benchmarks, and begins the steps that run beside others: they need the
    /// command alone.
    Build,
    Verb {
        run: fn(&[String]) -> Result<()>,
        arguments: &'static [&'static str],
    },
    /// `cargo` with [`TEST`]; ends when the steps that run beside others have ended too.
    Tests,
}

const STEPS: &[Step] = &[
    Step {
        title: "cargo fmt --all --check",
        work: Work::Cargo(&["fmt", "--all", "--check"]),
        is_slow: false,
    },
    Step { title: "layers", work: Work::Verb { run: layers::run, arguments: &[] }, is_slow: false },
    Step { title: "tidy", work: Work::Verb { run: tidy::run, arguments: &[] }, is_slow: false },
    Step {
        title: "diagnostics --check",
        work: Work::Verb { run: diagnostics::run, arguments: &["--check"] },
        is_slow: false,
    },
    Step {
        title: "texts --check",
        work: Work::Verb { run: texts::run, arguments: &["--check"] },
        is_slow: false,
    },
    Step {
        title: "cargo test --workspace --all-targets --no-run, compiled by clippy with warnings denied",
        work: Work::Build,
        is_slow: true,
    },
    // What it installs, the tests talk with.
    Step {
        title: "servers --if-possible",
        work: Work::Verb { run: servers::run, arguments: &["--if-possible"] },
        is_slow: true,
    },
    Step {
        title: "macros --check",
        work: Work::Verb { run: macros::run, arguments: &["--check"] },
        is_slow: true,
    },
    Step {
        title: "schema --check",
        work: Work::Verb { run: schema::run, arguments: &["--check"] },
        is_slow: true,
    },
    Step {
        title: "api --check, which documents all crates with warnings denied",
        work: Work::Verb { run: api::run, arguments: &["--check"] },
        is_slow: true,
    },
    Step { title: "package", work: Work::Verb { run: package::run, arguments: &[] }, is_slow: true },
    Step {
        title: "book --if-possible",
        work: Work::Verb { run: book::run, arguments: &["--if-possible"] },
        is_slow: true,
    },
    Step {
        title: "sdk --if-possible",
        work: Work::Verb { run: sdk::run, arguments: &["--if-possible"] },
        is_slow: true,
    },
    Step {
        title: "clients --if-possible",
        work: Work::Verb { run: clients::run, arguments: &["--if-possible"] },
        is_slow: true,
    },
    Step { title: "cargo test --workspace", work: Work::Tests, is_slow: false },
];

/// Verbs that wait for others more than they compute, one after the other, while other steps use the processors.
const BESIDE: &[&[&str]] = &[
    &["conformance", "--if-possible"],
    &["page", "--if-possible"],
    &["studio", "--check", "--if-possible"],
    &["studio", "--if-possible"],
];

/// Runs the steps; `--fast` leaves out the documentation and the fixtures' own round.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_fast = match arguments {
        [] => false,
        [flag] if flag == "--fast" => true,
        _ => bail!("usage: cargo xtask ci [--fast]"),
    };
    if std::env::var_os(LINTED[0].0).is_none() {
        let own = std::env::current_exe().context("this program does not know where it is")?;
        return workspace::run(Command::new(own).arg("ci").args(arguments).envs(LINTED.iter().copied()));
    }
    let steps: Vec<&Step> = STEPS.iter().filter(|step| !(is_fast && step.is_slow)).collect();
    let start = Instant::now();
    let mut beside = None;
    for (position, step) in steps.iter().enumerate() {
        let place = format!("{}/{}", position + 1, steps.len());
        println!("\n==> [{place}] {}", step.title);
        let step_start = Instant::now();
        perform(&step.work, &mut beside)
            .with_context(|| format!("ci stopped at step {place}, {}", step.title))?;
        println!("==> [{place}] ok in {:.1} s", step_start.elapsed().as_secs_f64());
    }
    println!("\n==> ci: all {} steps are ok, in {:.1} s", steps.len(), start.elapsed().as_secs_f64());
    Ok(())
}

fn perform(work: &Work, beside: &mut Option<Beside>) -> Result<()> {
    let tests = || {
        let mut command = workspace::cargo(TEST);
        command.envs(ENVIRONMENT.iter().copied());
        command
    };
    match work {
        Work::Cargo(arguments) => {
            workspace::run(workspace::cargo(arguments).envs(ENVIRONMENT.iter().copied()))
        }
        Work::Build => {
            workspace::run(tests().args(["--all-targets", "--no-run"]))?;
            *beside = Some(Beside::begin(BESIDE, workspace::ctx()?));
            Ok(())
        }
        Work::Verb { run, arguments } => {
            let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            run(&arguments)
        }
        Work::Tests => totals::run(&mut tests(), || beside.take().map_or(Ok(()), Beside::finish)),
    }
}
