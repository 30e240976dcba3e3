//! `cargo xtask fuzz`: strangers' files, by the thousand.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;

const USAGE: &str =
    "usage: cargo xtask fuzz png|zip|card|preset|lorebook|macro|regex [--minutes N] [--seed N] [--stable]";

/// What the usage names, since to find out by building takes minutes.
const TARGETS: [&str; 7] = ["png", "zip", "card", "preset", "lorebook", "macro", "regex"];

/// How libFuzzer learns which branches an input takes.
const WATCHED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// What is asked for.
struct Wanted<'a> {
    target: &'a str,
    minutes: u64,
    seed: u64,
    is_stable: bool,
}

impl<'a> Wanted<'a> {
    fn of(arguments: &'a [String]) -> Result<Self> {
        let [target, rest @ ..] = arguments else { bail!(USAGE) };
        ensure!(TARGETS.contains(&target.as_str()), USAGE);
        let mut wanted = Self { target, minutes: 10, seed: 1, is_stable: false };
        let mut rest = rest.iter();
        while let Some(flag) = rest.next() {
            let mut number = || rest.next().and_then(|value| value.parse().ok()).context(USAGE);
            match flag.as_str() {
                "--minutes" => wanted.minutes = number()?,
                "--seed" => wanted.seed = number()?,
                "--stable" => wanted.is_stable = true,
                _ => bail!(USAGE),
            }
        }
        // libFuzzer takes no minutes for all there are.
        ensure!(wanted.minutes > 0, "`--minutes` must be 1 or more");
        Ok(wanted)
    }
}

/// Runs a target, under libFuzzer where a nightly compiler is at hand.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let wanted = Wanted::of(arguments)?;
    let folder = workspace::root();
    if !wanted.is_stable && has_nightly() {
        println!(
            "fuzz: LIBFUZZER with the nightly compiler; inputs are chosen by the branches that they take"
        );
        return with_libfuzzer(&wanted, &folder);
    }
    println!(
        "fuzz: SEEDED CHANGES with the stable compiler; nothing watches the branches (no nightly, or --stable)"
    );
    let mut command =
        workspace::cargo(&["run", "--quiet", "--release", "--package", "fuzz", "--bin", "fuzz", "--"]);
    command.args([wanted.target, &(wanted.minutes * 60).to_string(), &wanted.seed.to_string()]);
    workspace::run(command.arg(folder))
}

fn has_nightly() -> bool {
    let mut rustc = Command::new("rustup");
    rustc.args(["run", "nightly", "rustc", "--version"]).stdin(Stdio::null());
    rustc.stdout(Stdio::null()).stderr(Stdio::null());
    rustc.status().is_ok_and(|status| status.success())
}

fn with_libfuzzer(wanted: &Wanted<'_>, folder: &Path) -> Result<()> {
    let corpus = folder.join("target/fuzz/corpus").join(wanted.target);
    let mut seeds = workspace::cargo(&["run", "--quiet", "--package", "fuzz", "--bin", "fuzz-seeds", "--"]);
    workspace::run(seeds.arg(wanted.target).arg(folder).arg(&corpus))?;
    let package: PathBuf = folder.join("xtask/fuzz/libfuzzer");
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "run", "--release", "--manifest-path"]);
    command.arg(package.join("Cargo.toml")).arg("--target-dir").arg(folder.join("target/fuzz/build"));
    // A target of its own keeps the flags away from build scripts.
    command.args(["--target", host(), "--", "-timeout=25", "-rss_limit_mb=2048", "-max_len=65536"]);
    command.arg(format!("-max_total_time={}", wanted.minutes * 60)).arg(format!("-seed={}", wanted.seed));
    command.arg(format!("-artifact_prefix={}/", folder.join("target/fuzz").display())).arg(corpus);
    command.env("RUSTFLAGS", WATCHED).env("CTX_FUZZ_TARGET", wanted.target).stdin(Stdio::null());
    // The cargo that runs this program is not the nightly one.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "CARGO_MANIFEST_DIR"] {
        command.env_remove(name);
    }
    workspace::run(&mut command)
}

fn host() -> &'static str {
    match (std::env::consts::ARCH, std::env::consts::OS) {
        ("aarch64", "macos") => "aarch64-apple-darwin",
        ("x86_64", "macos") => "x86_64-apple-darwin",
        ("aarch64", _) => "aarch64-unknown-linux-gnu",
        _ => "x86_64-unknown-linux-gnu",
    }
}
