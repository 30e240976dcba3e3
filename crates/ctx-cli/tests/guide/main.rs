//! The pages that people read: every command in them is run, and prints what the page shows.
//!
//! A page is a README or a page of `docs/`. Each runs by itself, from top to bottom, in a new folder:
//!
//! - In a block ```` ```console ````, a line that begins with `$ ` is a command; the lines below it are what it
//!   prints. A line `…` stands for any number of lines; `[exit code N]` ends what a failing command prints.
//!   How many milliseconds something took is not compared.
//! - A block with a file name behind its language, such as ```` ```yaml agent.yaml ````, becomes that file.
//! - A block ```` ```diff agent.yaml ```` changes lines of that file.
//! - `<!-- folder: crates/ctx-project/templates -->` goes on in a new folder, a copy of that one of the repository.
//! - `<!-- language: zh -->` runs the commands below with `CTX_LANG=zh`.
//! - `<!-- answer: Hello. -->` and `<!-- call: read_file {"path": "a.txt"} -->` are what a model answers next at
//!   `http://localhost:8080`, which a server on loopback stands in for.
//! - `ctx serve` runs until the page starts another one or ends; `curl` sends a request to it. The id and the time in a
//!   reply are fixed.
//! - A block ```` ```sh ```` is run in a copy of the folder, and each of its `ctx` commands must succeed;
//!   `cargo run … -- …` is run in the root of the repository. `ctx serve`, `ctx studio` and `ctx test --watch` are
//!   stopped after their first line; `ctx chat` and `ctx serve` get an endpoint on loopback. Commands of other
//!   programs are not run.
//!
//! `GUIDE_UPDATE=1 cargo test -p ctx-cli --test guide` writes what commands print into the pages; read `git diff`.

// Pages show paths as Unix writes them.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as expected"
)]

mod commands;
mod output;
mod page;
mod play;
#[path = "../../../ctx-chat/tests/server/mod.rs"]
mod server;
mod tester;

use std::fs;
use std::path::{Path, PathBuf};

use page::Page;
use play::Played;

/// Pages whose examples other tests run: it is written by `cargo xtask diagnostics`.
const ELSEWHERE: &[&str] = &["docs/diagnostics.md"];

#[test]
fn commands_print_what_the_pages_show() {
    let is_update = std::env::var_os("GUIDE_UPDATE").is_some();
    let (mut commands, mut faults) = (0, Vec::new());
    for (path, played) in play_all(&pages()) {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        commands += played.commands;
        faults.extend(played.faults.iter().map(|fault| format!("{shown}:{fault}")));
        if is_update && played.text != read(path) {
            fs::write(path, played.text).unwrap();
            eprintln!("wrote {shown}");
        }
    }
    assert!(faults.is_empty() || is_update, "{}\nGUIDE_UPDATE=1 writes what is printed", faults.join("\n"));
    assert!(commands >= 60, "{commands} commands are run");
}

#[test]
fn both_readmes_have_the_same_code() {
    let [english, chinese] =
        ["README.md", "README.zh-CN.md"].map(|name| Page::read(&read(&root().join(name))));
    assert_eq!(code_blocks(&english), code_blocks(&chinese));
}

/// Returns all blocks except commands with their output, which is in the language of the page.
fn code_blocks(page: &Page) -> Vec<(&str, &[String])> {
    let mut blocks = page.blocks();
    blocks.retain(|(language, _)| *language != "console");
    blocks
}

/// Runs all pages, each in a thread of its own that has its name.
fn play_all(pages: &[PathBuf]) -> Vec<(&PathBuf, Played)> {
    std::thread::scope(|scope| {
        let start = |path: &PathBuf| {
            let page = Page::read(&read(path));
            let thread = std::thread::Builder::new().name(path.display().to_string());
            thread.spawn_scoped(scope, move || play::play(&page, &root())).unwrap()
        };
        let running: Vec<_> = pages.iter().map(|path| (path, start(path))).collect();
        running.into_iter().map(|(path, thread)| (path, thread.join().unwrap())).collect()
    })
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("README.zh-CN.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(ending) if ending == "md" => pages.push(path),
                _ => {}
            }
        }
    }
    pages.retain(|page| !ELSEWHERE.iter().any(|name| page.ends_with(name)));
    pages.sort();
    pages
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
