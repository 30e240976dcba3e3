//! `cargo xtask layers` on real workspaces, made of local packages so that no registry is asked.
#![expect(clippy::unwrap_used, reason = "a broken sandbox is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package with an optional runtime, and a dependency that switches it on.
const FOO: &str =
    "[features]\nasync = [\"dep:tokio\"]\n[dependencies]\ntokio = { path = \"../tokio\", optional = true }";
const FOO_WITH_TOKIO: &str = "foo = { path = \"../../../foo\", features = [\"async\"] }";

/// A dependency on the runtime.
const TOKIO: &str = "tokio.path = \"../../../tokio\"";

/// A folder with a workspace `w` and foreign packages beside it.
struct Sandbox(PathBuf);

impl Sandbox {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let sandbox = Self(root);
        sandbox.write("w/Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n");
        sandbox
    }

    /// Adds a package in `folder` whose manifest ends with the given tables.
    fn package(self, folder: &str, tables: &str) -> Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        let head = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
        // A foreign package is the root of its own workspace, so that cargo does not search for one above.
        let own = if folder.starts_with("w/") { "" } else { "[workspace]\n" };
        self.write(&format!("{folder}/Cargo.toml"), &format!("{head}{tables}\n{own}"));
        self.write(&format!("{folder}/src/lib.rs"), "");
        self
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the check and returns its exit code and what it printed about violations.
    #[track_caller]
    fn check(&self, code: i32, violations: &[&str]) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["layers", "--manifest-path"])
            .arg(self.0.join("w/Cargo.toml"))
            .env("CARGO_NET_OFFLINE", "true")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        let found: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("layers: ")).collect();
        assert_eq!(found, violations, "{printed}");
        assert_eq!(output.status.code(), Some(code), "{printed}");
    }
}

#[test]
fn windows_tests_macros_and_upper_layers_may_be_impure() {
    Sandbox::new("clean")
        .package("w/crates/ctx-types", &format!("[target.'cfg(windows)'.dependencies]\n{TOKIO}"))
        .package("w/crates/ctx-regex", "[dev-dependencies]\nctx-types.path = \"../ctx-types\"")
        .package(
            "w/crates/ctx-macros",
            &format!(
                "[dependencies]\nctx-types.path = \"../ctx-types\"\nderive.path = \"../../../derive\"\n\
                 [dev-dependencies]\n{TOKIO}"
            ),
        )
        .package("w/crates/ctx-chat", &format!("[dependencies]\n{TOKIO}"))
        .package("derive", "[lib]\nproc-macro = true\n[dependencies]\ntokio.path = \"../tokio\"")
        .package("tokio", "")
        .check(0, &[]);
}

#[test]
fn a_runtime_in_a_pure_crate_is_found() {
    Sandbox::new("impure")
        .package("w/crates/ctx-macros", &format!("[dependencies]\n{FOO_WITH_TOKIO}"))
        .package("w/crates/ctx-wire", "[dependencies]\nrand = { path = \"../../../rand\", optional = true }")
        .package(
            "w/crates/ctx-engine",
            "[dependencies]\nctx-macros.path = \"../ctx-macros\"\nctx-wire.path = \"../ctx-wire\"",
        )
        .package("foo", FOO)
        .package("tokio", "[dependencies]\nmio.path = \"../mio\"")
        .package("mio", "")
        .package("rand", "")
        .check(
            1,
            &[
                "`ctx-macros` must stay pure: ctx-macros -> foo -> tokio",
                "`ctx-wire` must stay pure: ctx-wire -> rand",
            ],
        );
}

#[test]
fn what_only_tests_or_other_crates_switch_on_does_not_count() {
    let plain = "[dependencies]\nfoo.path = \"../../../foo\"";
    Sandbox::new("unified")
        .package("w/crates/ctx-macros", &format!("{plain}\n[dev-dependencies]\n{FOO_WITH_TOKIO}"))
        .package("w/crates/ctx-wire", plain)
        .package("w/crates/ctx-chat", &format!("[dependencies]\n{FOO_WITH_TOKIO}"))
        .package("foo", FOO)
        .package("tokio", "")
        .check(0, &[]);
    Sandbox::new("unified-pure")
        .package("w/crates/ctx-anchors", plain)
        .package("w/crates/ctx-macros", &format!("[dependencies]\n{FOO_WITH_TOKIO}"))
        .package("foo", FOO)
        .package("tokio", "")
        .check(1, &["`ctx-macros` must stay pure: ctx-macros -> foo -> tokio"]);
}

#[test]
fn wrong_dependencies_and_an_unknown_crate_are_found() {
    Sandbox::new("sideways")
        .package("w/crates/ctx-macros", "[dependencies]\nctx-wire.path = \"../ctx-wire\"")
        .package("w/crates/ctx-wire", "[build-dependencies]\nctx-engine.path = \"../ctx-engine\"")
        .package("w/crates/ctx-engine", "[dev-dependencies]\nctx-chat.path = \"../ctx-chat\"")
        .package("w/crates/ctx-chat", "")
        .package("w/crates/ctx-lore", "")
        .check(
            1,
            &[
                "`ctx-engine` (L4) has `ctx-chat` (L5) in its [dev-dependencies], which is not lower",
                "`ctx-lore` is in no layer of the table",
                "`ctx-macros` (L1) has `ctx-wire` (L1) in its [dependencies], which is not lower",
                "`ctx-wire` (L1) has `ctx-engine` (L4) in its [build-dependencies], which is not lower",
            ],
        );
}
