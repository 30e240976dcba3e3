//! `cargo xtask ci`: everything that CI checks, in CI's order, until something fails.

mod beside;
mod totals;

use std::time::Instant;

use anyhow::{Context, Result};

use crate::workspace;
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

/// One check.
struct Step {
    work: Work,
    /// Whether `--fast` leaves it out.
    is_slow: bool,
}

enum Work {
    Cargo(&'static [&'static str]),
    /// A verb and its arguments.
    Verb(&'static [&'static str]),
    /// Builds what [`TEST`] runs, and begins the steps that run beside others: they need the command alone.
    Build,
    /// Checks all code with clippy, as far as [`COMPILER`] has not had it compile that already.
    Lint,
    /// `cargo` with [`TEST`]; ends when the steps that run beside others have ended too.
    Tests,
}

const fn fast(work: Work) -> Step {
    Step { work, is_slow: false }
}

const fn slow(work: Work) -> Step {
    Step { work, is_slow: true }
}

const STEPS: &[Step] = &[
    fast(Work::Cargo(&["fmt", "--all", "--check"])),
    // The packages have their own lock file.
    fast(Work::Cargo(&["tree", "--locked", "--depth", "0", "--manifest-path", "bindings/Cargo.toml"])),
    fast(Work::Verb(&["layers"])),
    fast(Work::Verb(&["tidy"])),
    fast(Work::Verb(&["diagnostics", "--check"])),
    fast(Work::Verb(&["texts", "--check"])),
    slow(Work::Build),
    fast(Work::Lint),
    // What it installs, the tests talk with.
    slow(Work::Verb(&["servers", "--if-possible"])),
    slow(Work::Verb(&["macros", "--check"])),
    // It documents all libraries with warnings denied.
    slow(Work::Verb(&["api", "--check"])),
    slow(Work::Verb(&["package"])),
    slow(Work::Verb(&["book", "--if-possible"])),
    fast(Work::Tests),
];

impl Work {
    /// The heading of the step.
    fn title(&self) -> String {
        match self {
            Self::Cargo(words) => format!("cargo {}", words.join(" ")),
            Self::Verb(words) => words.join(" "),
            Self::Build => format!("cargo {} --no-run", TEST.join(" ")),
            Self::Lint => "clippy of all targets, warnings denied".to_owned(),
            Self::Tests => format!("cargo {}", TEST.join(" ")),
        }
    }
}

/// Verbs that wait for others more than they compute, one after the other, while other steps use the processors.
const BESIDE: &[&[&str]] = &[
    &["attack"],
    &["conformance", "--if-possible"],
    &["explain", "--if-possible"],
    &["sdk", "--if-possible"],
    &["clients", "--if-possible"],
    &["page", "--check", "--if-possible"],
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
        let title = step.work.title();
        println!("\n==> [{place}] {title}");
        let step_start = Instant::now();
        perform(&step.work, &mut beside).with_context(|| format!("ci stopped at step {place}, {title}"))?;
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
        Work::Verb(words) => crate::perform(words.iter().map(|&word| word.to_owned())),
        Work::Tests => totals::run(&mut tests(), || beside.take().map_or(Ok(()), Beside::finish)),
    }
}
