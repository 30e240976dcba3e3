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
mod fixtures;
mod fuzz;
mod goldens;
mod js;
mod kills;
mod layers;
mod load;
mod macros;
mod markers;
mod package;
mod packages;
mod page;
mod properties;
mod python;
mod readmes;
mod sdk;
mod sequences;
mod servers;
mod studio;
mod suite;
mod texts;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// One entry of the command line: what to type, what runs, and what it is for.
struct Verb {
    name: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
    help: &'static str,
}

/// Every verb, in the order in which `help` lists them.
const VERBS: &[Verb] = &[
    Verb { name: "ci", run: ci::run, help: "[--fast]  everything that CI checks, in CI's order" },
    Verb {
        name: "layers",
        run: layers::run,
        help: "[--manifest-path PATH]  crates depend only on lower layers, and L0-L4 on nothing impure",
    },
    Verb {
        name: "texts",
        run: texts::run,
        help: "[--check | --record]  list texts by crate, check translations, or record that translated pages agree",
    },
    Verb { name: "tidy", run: tidy::run, help: "house rules that no compiler checks" },
    Verb {
        name: "fixtures",
        run: fixtures::run,
        help: "[regex [--check]]  write the expected results again, or those of Node.js for regular expressions",
    },
    Verb {
        name: "macros",
        run: macros::run,
        help: "[--check]  write docs/macros.md from the definitions, or only compare it",
    },
    Verb {
        name: "diagnostics",
        run: diagnostics::run,
        help: "[--check]  write docs/diagnostics.md from what the command says about codes, or only compare it",
    },
    Verb {
        name: "book",
        run: book::run,
        help: "[--if-possible]  the guide and the reference as a book (mdBook)",
    },
    Verb {
        name: "package",
        run: package::run,
        help: "[--build]  what would be published is complete, and builds from its package alone",
    },
    Verb {
        name: "readmes",
        run: readmes::run,
        help: "[--check]  write the READMEs of the crates from their documentation, or only compare them",
    },
    Verb {
        name: "conformance",
        run: conformance::run,
        help: "[--if-possible]  the fixtures' request bodies, checked by the providers' own types (Node.js)",
    },
    Verb {
        name: "conformance-suite",
        run: suite::run,
        help: "[--out FILE] | --check DIR [--suite FILE]  the fixtures for other implementations, and their results",
    },
    Verb {
        name: "sdk",
        run: sdk::run,
        help: "[--if-possible]  recorded replies, read by the providers' own packages and by us (Python)",
    },
    Verb {
        name: "clients",
        run: clients::run,
        help: "[--if-possible]  the providers' own clients against `ctx serve` (Node.js, Python)",
    },
    Verb {
        name: "malformed",
        run: clients::malformed,
        help: "[COUNT]  spoiled bodies of every dialect against the gateway; 10,000 of each by default",
    },
    Verb {
        name: "python",
        run: python::run,
        help: "[--test] [--if-possible]  the wheel of the Python package, built, installed and tried (Python)",
    },
    Verb {
        name: "js",
        run: js::run,
        help: "[--test | --fuzz N] [--if-possible]  the JavaScript package, built, packed and tried (Node.js; Rust for wasm32 or Debian's rustc-web; --test: Chromium)",
    },
    Verb {
        name: "servers",
        run: servers::run,
        help: "[--if-possible]  two servers of others for the tests of the client (Node.js and Python)",
    },
    Verb {
        name: "page",
        run: page::run,
        help: "[--if-possible | --picture FILE]  the page of `ctx explain --html`, opened in a browser (Node.js, Chromium)",
    },
    Verb {
        name: "studio",
        run: studio::run,
        help: "[--check | --types | --kills N] [--if-possible]  the page of `ctx studio`, opened in a browser; its bundle, built anew; the types of its API; or its server, killed N times (Node.js, Chromium)",
    },
    Verb {
        name: "attack",
        run: attack::run,
        help: "[--program CTX] [--only TEXT]  tries to read secrets, reach other files, and stop or fill the command",
    },
    Verb {
        name: "kills",
        run: kills::run,
        help: "[--count N] [--seed N]  conversations whose program is killed at chance moments",
    },
    Verb {
        name: "load",
        run: load::run,
        help: "[--postgres | --sqlite] [--quick] [--program CTX]  `ctx serve` with 200 open streams, beside its provider alone; two processes on PostgreSQL, or with `--sqlite` on one file, that are killed",
    },
    Verb {
        name: "api",
        run: api::run,
        help: "[--check]  the public items of the library crates, in docs/api",
    },
    Verb {
        name: "goldens",
        run: goldens::run,
        help: "[--dir DIR] [--json]  results observed in other programs, beside ours",
    },
    Verb {
        name: "bench",
        run: bench::run,
        help: "[[variables] MESSAGES... | studio]  what a turn costs beside the promised figures; how fast the page is",
    },
    Verb {
        name: "properties",
        run: properties::run,
        help: "[--cases N]  the invariants of compression on more cases than the tests try",
    },
    Verb {
        name: "fuzz",
        run: fuzz::run,
        help: "TARGET [--minutes N] [--seed N] [--stable]  strangers' files by the thousand, for what reads them",
    },
    Verb {
        name: "sequences",
        run: sequences::run,
        help: "[--program CTX] [--marker TEXT]  files full of one marker: eight times as long, no more than linear work (valgrind)",
    },
    Verb { name: "help", run: help, help: "this table" },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = arguments.collect();
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprintln!("error: unknown verb `{name}`\n\n{}", table());
        return ExitCode::from(2);
    };
    match (verb.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
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
