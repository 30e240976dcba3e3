//! `cargo xtask mutants`: whether tests notice when the code is changed (`cargo-mutants`).

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::workspace;

const USAGE: &str = "usage: cargo xtask mutants CRATE [PATH] [--shard K/N]";

/// Crates whose rules are tested in others too, and those others: what the crate's own tests miss is tried there.
const DEPENDANTS: &[(&str, &[&str])] = &[
    ("ctx-anchors", &["ctx-processors", "ctx-engine"]),
    ("ctx-pipeline", &["ctx-processors", "ctx-engine"]),
    ("ctx-compress", &["ctx-processors", "ctx-engine"]),
];

/// How many of a hundred viable mutants must be caught.
const WANTED: u64 = 95;

/// What `cargo-mutants` does not call a failure of its own: mutants that were missed, or ran too long.
const FINDINGS: [i32; 2] = [2, 3];

/// What is asked for.
struct Wanted<'a> {
    package: &'a str,
    /// A folder or a file below `src/`, without its ending.
    path: Option<&'a str>,
    shard: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(arguments: &'a [String]) -> Result<Self> {
        let [package, rest @ ..] = arguments else { bail!(USAGE) };
        let mut wanted = Self { package, path: None, shard: None };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "--shard" => wanted.shard = Some(rest.next().context(USAGE)?),
                path if !path.starts_with('-') && wanted.path.is_none() => wanted.path = Some(path),
                _ => bail!(USAGE),
            }
        }
        let manifest = workspace::root().join("crates").join(package).join("Cargo.toml");
        ensure!(manifest.exists(), "there is no crate `{package}`");
        Ok(wanted)
    }

    /// Which mutants: those of the crate, of the path, of the shard. A shard is a sample of all files.
    fn filter(&self) -> Vec<String> {
        let mut filter = Vec::new();
        if let Some(path) = self.path {
            for glob in [format!("src/{path}.rs"), format!("src/{path}/**")] {
                filter.extend(["--file".to_owned(), format!("crates/{}/{glob}", self.package)]);
            }
        }
        if let Some(shard) = self.shard {
            filter.extend(["--sharding=round-robin", "--shard", shard].map(str::to_owned));
        }
        filter
    }

    /// Which tests of the crate: its unit tests and integration tests, and of the latter only those that are named like
    /// the path where there are such. Examples of the documentation take long to build, and say little of mistakes.
    fn tests(&self) -> Vec<String> {
        let own = self.path.filter(|path| {
            let tests = workspace::root().join("crates").join(self.package).join("tests");
            tests.join(path).join("main.rs").exists()
        });
        let integration = own.map_or_else(|| vec!["--tests"], |path| vec!["--test", path]);
        [&["--", "--lib"], &integration[..]].concat().into_iter().map(str::to_owned).collect()
    }
}

/// Changes the code of a crate in every way that `cargo-mutants` knows, and fails if tests notice too few of them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let wanted = Wanted::of(arguments)?;
    ensure!(is_installed(), "it needs `cargo-mutants`: run `cargo install cargo-mutants --locked`");
    let folder = workspace::root().join("target/mutants");
    let own = [wanted.filter(), wanted.tests()].concat();
    let mut tally = Tally::of(&tried(&wanted, &[wanted.package], &folder.join("own"), &own)?);
    let dependants = DEPENDANTS.iter().find(|(package, _)| *package == wanted.package);
    if let Some((_, dependants)) = dependants.filter(|_| !tally.missed.is_empty()) {
        println!(
            "mutants: {} were missed; now by the tests of {}",
            tally.missed.len(),
            dependants.join(", ")
        );
        let folder = folder.join("dependants");
        leave_out_others(&wanted, &tally.missed, &folder)?;
        tally.missed_twice(&Tally::of(&tried(&wanted, dependants, &folder, &["--iterate".to_owned()])?));
    }
    tally.print();
    ensure!(tally.share() >= WANTED, "fewer than {WANTED} % were caught");
    Ok(())
}

fn is_installed() -> bool {
    let mut command = workspace::cargo(&["mutants", "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Notes all mutants but these as caught before, so that no others are tried; expressions that choose by name do not
/// choose among fields of structs.
fn leave_out_others(wanted: &Wanted<'_>, missed: &[String], folder: &Path) -> Result<()> {
    let list =
        workspace::cargo(&["mutants", "--list", "--colors=never", "--package", wanted.package]).output();
    let list = String::from_utf8(list.context("cannot start `cargo mutants`")?.stdout)?;
    let others = list.lines().filter(|name| !missed.iter().any(|missed| missed == name));
    let others: Vec<&str> = others.collect();
    let folder = folder.join("mutants.out");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove what was found before")?;
    }
    fs::create_dir_all(&folder).context("cannot make a folder below `target/mutants`")?;
    fs::write(folder.join("caught.txt"), others.join("\n")).context("cannot write the list of mutants")
}

/// Tries mutants by the tests of some packages; returns what `cargo-mutants` wrote about them.
fn tried(wanted: &Wanted<'_>, tests: &[&str], folder: &Path, filter: &[String]) -> Result<Value> {
    fs::create_dir_all(folder).context("cannot make a folder below `target/mutants`")?;
    let mut command = workspace::cargo(&["mutants", "--package", wanted.package, "--colors=never"]);
    for package in tests {
        command.args(["--test-package", package]);
    }
    // A test that a change keeps busy is told by what the tests take without one.
    command.args(["--jobs=1", "--timeout-multiplier=3", "--minimum-test-timeout=30"]);
    command.arg("--output").arg(folder).args(filter);
    // Its builds are kept apart from those of the workspace, and without what debuggers need.
    command.env("CARGO_TARGET_DIR", workspace::root().join("target/mutants/build"));
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("INSTA_UPDATE", "no").env_remove("CARGO_MANIFEST_DIR");
    let status = command.status().context("cannot start `cargo mutants`")?;
    let is_finding = status.code().is_some_and(|code| FINDINGS.contains(&code));
    ensure!(status.success() || is_finding, "`cargo mutants` ended with {status}");
    let outcomes = fs::read(folder.join("mutants.out/outcomes.json"));
    serde_json::from_slice(&outcomes.context("`cargo mutants` wrote no outcomes")?)
        .context("the outcomes are no JSON")
}

/// What became of the mutants.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    caught: u64,
    /// Tests that did not end in time; that is noticed too.
    late: u64,
    unviable: u64,
    missed: Vec<String>,
}

impl Tally {
    fn of(outcomes: &Value) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
            let name = outcome["scenario"]["Mutant"]["name"].as_str();
            match (outcome["summary"].as_str(), name) {
                (Some("CaughtMutant"), _) => tally.caught += 1,
                (Some("Timeout"), Some(_)) => tally.late += 1,
                (Some("Unviable"), _) => tally.unviable += 1,
                (Some("MissedMutant"), Some(name)) => tally.missed.push(name.to_owned()),
                _ => {}
            }
        }
        tally
    }

    /// Adds what other tests made of those that were missed.
    fn missed_twice(&mut self, others: &Self) {
        self.caught += others.caught;
        self.late += others.late;
        self.missed.clone_from(&others.missed);
    }

    /// How many of a hundred viable mutants were caught, rounded down.
    fn share(&self) -> u64 {
        let caught = self.caught + self.late;
        (caught * 100).checked_div(caught + self.missed.len() as u64).unwrap_or(100)
    }

    fn print(&self) {
        self.missed.iter().for_each(|name| println!("missed: {name}"));
        println!(
            "mutants: {} caught, {} ran too long, {} missed, {} unviable: {} % of the viable ones were noticed",
            self.caught,
            self.late,
            self.missed.len(),
            self.unviable,
            self.share(),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(words: &[&str], filter: Option<&[&str]>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = Wanted::of(&words).ok().map(|wanted| wanted.filter());
        assert_eq!(found, filter.map(|filter| filter.iter().map(|word| (*word).to_owned()).collect()));
    }

    #[test]
    fn a_path_and_a_shard_choose_mutants() {
        check(&["ctx-anchors"], Some(&[]));
        check(
            &["ctx-compress", "request", "--shard", "1/9"],
            Some(&[
                "--file",
                "crates/ctx-compress/src/request.rs",
                "--file",
                "crates/ctx-compress/src/request/**",
                "--sharding=round-robin",
                "--shard",
                "1/9",
            ]),
        );
    }

    #[track_caller]
    fn check_tests(path: Option<&str>, tests: &[&str]) {
        let wanted = Wanted { package: "ctx-compress", path, shard: None };
        assert_eq!(wanted.tests(), tests);
    }

    #[test]
    fn the_tests_of_a_path_try_it() {
        check_tests(None, &["--", "--lib", "--tests"]);
        check_tests(Some("calendar"), &["--", "--lib", "--tests"]);
        check_tests(Some("request"), &["--", "--lib", "--test", "request"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        check(&[], None);
        check(&["ctx-moon"], None);
        check(&["ctx-anchors", "--shards", "1/9"], None);
        check(&["ctx-anchors", "gaps", "slots"], None);
        check(&["ctx-anchors", "--shard"], None);
    }

    #[test]
    fn outcomes_are_counted() {
        let mutant = |name: &str, summary: &str| json!({ "scenario": { "Mutant": { "name": name } }, "summary": summary });
        let outcomes = json!({ "outcomes": [
            { "scenario": "Baseline", "summary": "Success" },
            mutant("a", "CaughtMutant"), mutant("b", "Timeout"), mutant("c", "Unviable"),
            mutant("d", "MissedMutant"), mutant("e", "MissedMutant"),
        ] });
        let mut tally = Tally::of(&outcomes);
        let missed = vec!["d".to_owned(), "e".to_owned()];
        assert_eq!(tally, Tally { caught: 1, late: 1, unviable: 1, missed });
        assert_eq!(tally.share(), 50);
        let others = json!({ "outcomes": [mutant("d", "CaughtMutant"), mutant("e", "MissedMutant")] });
        tally.missed_twice(&Tally::of(&others));
        assert_eq!((tally.share(), tally.missed), (75, vec!["e".to_owned()]));
        assert_eq!(Tally::default().share(), 100);
    }
}
