//! `cargo xtask fuzz`: strangers' files, by the thousand, under libFuzzer, which needs a nightly compiler.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace::{self, numbers};

const USAGE: &str =
    "usage: cargo xtask fuzz png|zip|card|preset|lorebook|macro|regex [--minutes N] [--seed N]";

/// How libFuzzer learns which branches an input takes.
const WATCHED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Runs a target on inputs that are chosen by the branches of the code that they take.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (target, rest) = arguments.split_first().context(USAGE)?;
    let [minutes, seed] = numbers(rest, [("--minutes", 10), ("--seed", 1)], "fuzz TARGET")?;
    // libFuzzer takes no minutes for all there are.
    ensure!(minutes > 0, "`--minutes` must be 1 or more");
    let root = workspace::root();
    let folder = root.join("target/fuzz");
    let corpus = folder.join("corpus").join(target);
    let mut seeds = workspace::cargo(&["run", "--quiet", "--package", "fuzz", "--"]);
    workspace::run(seeds.arg(target).arg(&root).arg(&corpus)).context(USAGE)?;
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "run", "--release", "--manifest-path"]);
    command.arg(root.join("xtask/fuzz/libfuzzer/Cargo.toml")).arg("--target-dir").arg(folder.join("build"));
    // A target of its own keeps the flags away from build scripts.
    command.args(["--target", host(), "--", "-timeout=25", "-rss_limit_mb=2048", "-max_len=65536"]);
    command.arg(format!("-max_total_time={}", minutes * 60)).arg(format!("-seed={seed}"));
    command.arg(format!("-artifact_prefix={}/", folder.display())).arg(corpus);
    command.env("RUSTFLAGS", WATCHED).env("CTX_FUZZ_TARGET", target).stdin(Stdio::null());
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
