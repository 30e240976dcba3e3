//! `cargo xtask ci`: everything that CI checks, in CI's order, until something fails.

mod beside;
mod totals;

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{api, book, diagnostics, layers, macros, package, servers, texts, tidy, workspace};
use beside::Beside;

/// The command that the README gives for running the tests, without the leading `cargo`.
pub(crate) const TEST: &[&str] = &["test", "--workspace"];

/// Snapshots are compared and never written, and tests know that nobody is watching.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[("INSTA_UPDATE", "no"), ("CI", "true")];

/// Names what compiles the crates of the workspace. `.ci/run` has clippy do it: on its own, it has all dependencies read
/// once more.
const COMPILER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// What the tests do not have compiled.
const BENCHES: &[&str] = &["test", "--workspace", "--benches", "--no-run"];

const CLIPPY: &[&str] = &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];

/// One check with what its heading says.
struct Step {
    title: &'static str,
    work: Work,
    /// Whether `--fast` leaves it out.
    is_slow: bool,
}

enum Work {
    Cargo(&'static [&'static str]),
    /// Checks all code with clippy, as far as [`COMPILER`] has not had it compile that already.
    Lint,
    /// Builds what [`TEST`] runs, and begins the steps that run beside others: they need the command alone.
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
    Step { title: "cargo test --workspace --no-run", work: Work::Build, is_slow: true },
    Step { title: "clippy of all targets, warnings denied", work: Work::Lint, is_slow: false },
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
        title: "api --check, which documents all libraries with warnings denied",
        work: Work::Verb { run: api::run, arguments: &["--check"] },
        is_slow: true,
    },
    Step { title: "package", work: Work::Verb { run: package::run, arguments: &[] }, is_slow: true },
    Step {
        title: "book --if-possible",
        work: Work::Verb { run: book::run, arguments: &["--if-possible"] },
        is_slow: true,
    },
    Step { title: "cargo test --workspace", work: Work::Tests, is_slow: false },
];

/// Verbs that wait for others more than they compute, one after the other, while other steps use the processors.
const BESIDE: &[&[&str]] = &[
    &["attack"],
    &["conformance", "--if-possible"],
    &["page", "--if-possible"],
    &["sdk", "--if-possible"],
    &["clients", "--if-possible"],
    &["studio", "--check", "--if-possible"],
    &["studio", "--if-possible"],
];

/// Runs the steps; `--fast` leaves out the documentation and the fixtures' own round.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_fast = workspace::has_flag(arguments, "--fast", "ci")?;
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
        Work::Lint => {
            let is_compiler = std::env::var(COMPILER).is_ok_and(|name| name.ends_with("clippy-driver"));
            let arguments = if is_compiler { BENCHES } else { CLIPPY };
            workspace::run(&mut workspace::cargo(arguments))
        }
        Work::Build => {
            workspace::run(tests().arg("--no-run"))?;
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
