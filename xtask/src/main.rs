//! Development tasks of the workspace, run as `cargo xtask <verb>`.
//!
//! One file per verb; [`VERBS`] is the whole command line.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program talks to the terminal")]

mod api;
mod attack;
mod bench;
mod book;
mod ci;
mod clients;
mod conformance;
mod diagnostics;
mod explain;
mod fixtures;
mod fuzz;
mod js;
mod layers;
mod load;
mod long_tests;
mod macros;
mod markers;
mod package;
mod packages;
mod page;
mod python;
mod readmes;
mod sdk;
mod sequences;
mod servers;
mod studio;
mod texts;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Context as _;

/// One entry of the command line: what to type, what runs, and what it is for.
struct Verb {
    name: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
    help: &'static str,
}

macro_rules! verbs {
    ($($name:literal $run:expr, $help:literal;)*) => { &[$(Verb { name: $name, run: $run, help: $help }),*] };
}

/// Every verb, in the order in which `help` lists them; CONTRIBUTING.md says more.
const VERBS: &[Verb] = verbs! {
    "ci" ci::run, "[--fast]  everything that CI checks, in CI's order";
    "layers" layers::run, "[--manifest-path PATH]  dependencies of the crates point down, L0-L4 are pure";
    "tidy" tidy::run, "house rules that no compiler checks";
    "texts" texts::run, "[--check | --record]  list texts, check translations, record translated pages";
    "fixtures" fixtures::run, "[regex [--check]]  write expected results, or those of Node.js";
    "macros" macros::run, "[--check]  write or compare docs/macros.md";
    "diagnostics" diagnostics::run, "[--check]  write or compare docs/diagnostics.md";
    "readmes" readmes::run, "[--check]  write or compare the READMEs of the crates";
    "api" api::run, "[--check]  write or compare the public items in docs/api";
    "book" book::run, "[--if-possible]  the guide and the reference as a book (mdBook)";
    "package" package::run, "[--build]  what would be published is complete, and builds alone";
    "conformance-suite" |words| workspace::program("suite", words), "the fixtures for other implementations";
    "conformance" conformance::run, "[--if-possible]  request bodies, checked by the providers' types";
    "sdk" sdk::run, "[--if-possible]  recorded replies, read by the providers' packages and by us";
    "clients" clients::run, "[--if-possible | --write | --mcp | --tap]  clients of others against `ctx serve`, `ctx mcp` or `ctx tap`";
    "servers" servers::run, "[--if-possible]  installs two servers of others for the tests";
    "python" python::run, "[--test | --integrations | --fuzz N] [--if-possible]  the Python package";
    "compaction-bench" python::bench_compaction, "[--data DIR [--budget N]]  ways to shorten tool conversations, compared";
    "js" js::run, "[--test | --integrations | --fuzz N] [--if-possible]  the JavaScript package";
    "explain" explain::run, "[--if-possible | --picture FILE]  the page of `ctx explain --html` in a browser";
    "page" page::run, "[--check [--if-possible]]  builds the page of `ctx studio`";
    "studio" studio::run, "[--kills N] [--if-possible]  the page of `ctx studio` in a browser";
    "attack" attack::run, "[--program CTX] [--only TEXT]  tries to read secrets, or to stop the command";
    "load" load::run, "[--postgres | --sqlite | --turns N] [--quick] [--program CTX]  `ctx serve` under load";
    "bench" bench::run, "[[variables] MESSAGES... | studio]  what a turn costs; how fast the page is";
    "sequences" sequences::run, "[--program CTX] [--only MARKER]  linear work for repeated text (valgrind)";
    "kills" long_tests::kills, "[--count N] [--seed N]  conversations whose program is killed at random";
    "properties" long_tests::properties, "[--cases N]  the invariants of compression on more cases";
    "malformed" long_tests::malformed, "[--count N]  malformed bodies against the gateway";
    "fuzz" fuzz::run, "TARGET [--minutes N] [--seed N]  strangers' files by the thousand (nightly compiler)";
    "goldens" |words| workspace::program("goldens", words), "[--dir DIR] [--json]  results of other programs";
    "help" help, "this table";
};

fn main() -> ExitCode {
    match perform(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a verb with its arguments.
fn perform(mut words: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let name = words.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = words.collect();
    let verb = VERBS.iter().find(|verb| verb.name == name);
    let verb = verb.with_context(|| format!("unknown verb `{name}`\n\n{}", table()))?;
    (verb.run)(&rest)
}

fn help(arguments: &[String]) -> anyhow::Result<()> {
    anyhow::ensure!(arguments.is_empty(), "usage: cargo xtask help");
    println!("{}", table());
    Ok(())
}

fn table() -> String {
    let lines = VERBS.iter().map(|verb| format!("  {:<18} {}", verb.name, verb.help));
    let lines: Vec<String> = lines.collect();
    format!("usage: cargo xtask <verb>\n\n{}", lines.join("\n"))
}
