//! The WebAssembly of the package: which compiler makes it, and its build.
//!
//! The standard library is built too, for size and without texts of panics. A toolchain of rustup with the component
//! `rust-src` does that as it is; without one, Debian's compiler `rustc-web` is unpacked into the build folder, with the
//! sources of its standard library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// The packages of Debian that make up the compiler.
const PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "libstd-rust-web-dev", "libstd-rust-web-1.96"];

/// What the compiler of [`PACKAGES`] is linked with.
const LLVM: &str = "libllvm22";

/// What makes WebAssembly.
pub(super) enum Compiler {
    /// The compiler that builds everything else.
    Own,
    /// Debian's, unpacked here.
    Debian(PathBuf),
}

/// Finds a compiler, or unpacks one.
pub(super) fn compiler(folder: &Path) -> Result<Compiler> {
    let own = sysroot()?.join("lib/rustlib/src/rust/library");
    if own.exists() {
        return Ok(Compiler::Own);
    }
    let unpacked = folder.join("rustc-web");
    if !unpacked.join("usr/bin/rustc").exists() {
        unpack(&folder.join("debs"), &unpacked).with_context(|| {
            format!(
                "there is no compiler for WebAssembly: run `rustup component add rust-src`, or have Debian's package \
                 `{}` in reach of apt-get",
                PACKAGES[0]
            )
        })?;
    }
    Ok(Compiler::Debian(unpacked))
}

/// Unpacks Debian's compiler, without changing the system.
fn unpack(debs: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(debs)?;
    let mut download = Command::new("apt-get");
    download.args(["download", "--quiet"]).args(PACKAGES).arg(LLVM).current_dir(debs);
    let status = download.stdin(Stdio::null()).status().context("there is no apt-get")?;
    ensure!(status.success(), "`apt-get download` ended with {status}; `apt-get update` may help");
    // What was half unpacked must not pass for whole.
    let partial = folder.with_extension("part");
    for entry in fs::read_dir(debs)? {
        let mut command = Command::new("dpkg");
        command.arg("-x").arg(entry?.path()).arg(&partial);
        workspace::run(&mut command)?;
    }
    fs::rename(&partial, folder).context("cannot put the compiler in its place")
}

/// Builds the WebAssembly with these features of `ctx-js`, makes it small, and writes it to `made`.
pub(super) fn build(compiler: &Compiler, folder: &Path, features: &str, made: &Path) -> Result<()> {
    let target = folder.join("wasm");
    let linked = target.join(TARGET).join("wasm/deps/ctx_js.wasm");
    // Whatever its features are, cargo links it to one place: what stands there may be the other.
    fs::remove_file(&linked).or_else(|error| if linked.exists() { Err(error) } else { Ok(()) })?;
    let mut command = workspace::cargo(&["build", "--quiet", "--profile", "wasm", "--package", "ctx-js"]);
    command.args(["--features", features, "--locked", "--target", TARGET, "--target-dir"]).arg(&target);
    command.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
    command.env("RUSTFLAGS", "-Zunstable-options -Cpanic=immediate-abort");
    // A stable compiler builds its own standard library.
    command.env("RUSTC_BOOTSTRAP", "1").current_dir(workspace::root().join("bindings"));
    if let Compiler::Debian(unpacked) = compiler {
        let libraries = unpacked.join("usr/lib/x86_64-linux-gnu");
        let linker = sysroot()?.join("lib/rustlib").join(host()?).join("bin/rust-lld");
        command.env("RUSTC", unpacked.join("usr/bin/rustc")).env("LD_LIBRARY_PATH", libraries);
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    workspace::run(&mut command)?;
    let mut command = Command::new("node");
    command
        .arg("node_modules/binaryen/bin/wasm-opt")
        .args(["-Oz", "--skip-pass=memory-packing", "--output"])
        .arg(made);
    command.arg(linked).current_dir(folder);
    workspace::run(&mut command)
}

fn sysroot() -> Result<PathBuf> {
    Ok(PathBuf::from(rustc(&["--print", "sysroot"])?.trim()))
}

fn host() -> Result<String> {
    let about = rustc(&["--version", "--verbose"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc` names no host")?.to_owned())
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).args(arguments).current_dir(workspace::root()).output();
    let output = output.context("cannot start `rustc`")?;
    String::from_utf8(output.stdout).context("`rustc` prints no text")
}
