//! `ctx test`: contexts compared with what was expected of them.

mod changes;
mod find;
mod junit;
mod snapshot;
mod watch;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use ctx_types::Diagnostic;
use serde_json::{Value, json};

use crate::args::TestArguments;
use crate::commands::test::changes::Change;
use crate::commands::test::watch::Watched;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Progress, plural};
use ctx_project::Sources;
use ctx_project::case::Case;
pub(crate) use ctx_project::case::{CaseFile, check as check_case, is_case};
use ctx_project::codes;
use ctx_project::files::{self, Existing, FilesRead};

/// The file in the folder of a case that holds its result.
const EXPECTED: &str = "expected.txt";

/// Runs the cases below folders, in the order of their names; with `--watch` again after each change.
pub(crate) fn run(arguments: &TestArguments) -> Result<Exit> {
    if !arguments.watch {
        return run_once(arguments, &mut FilesRead::default());
    }
    // What changes while the tests run is seen afterwards.
    let mut watched = Watched::new(&arguments.folders)?;
    loop {
        let mut read = FilesRead::default();
        let result = run_once(arguments, &mut read).and_then(|_| watched.add(read.folders()));
        if let Err(error) = result {
            show::note(&format!("{}: {}", lang::text("error"), show::plain_told(&error)));
        }
        show::note("waiting for changes; Ctrl-C ends it");
        watched.wait()?;
    }
}

fn run_once(arguments: &TestArguments, read: &mut FilesRead) -> Result<Exit> {
    let folders = find::cases(&arguments.folders)?;
    let mut progress = Progress::new();
    let mut results = Vec::new();
    let count = folders.len();
    for (index, (folder, closed)) in folders.into_iter().enumerate() {
        progress.show(&format!("{} of {count}: {}", index + 1, files::name(&folder)));
        results.push(match closed {
            None => Tested::of(folder, arguments.update, read),
            Some(reason) => Tested { folder, outcome: Outcome::Unreadable(anyhow!(reason)) },
        });
    }
    drop(progress);
    if arguments.update {
        write(&results, read)?;
    }
    if let Some(path) = &arguments.junit {
        let xml = junit::to_xml(&results)?;
        // A file that is watched itself would start the tests again and again.
        if std::fs::read(path).ok().as_deref() != Some(&*xml) {
            files::write(&[(path.clone(), &xml)], Existing::Replace, read)?;
        }
    }
    match arguments.json {
        true => show::json(&to_json(&results))?,
        false => show::drawn(&to_text(&results))?,
    }
    let is_any = |is: fn(&Outcome) -> bool| results.iter().any(|tested| is(&tested.outcome));
    Ok(match () {
        () if is_any(|outcome| matches!(outcome, Outcome::Unreadable(_))) => Exit::Unreadable,
        () if is_any(Outcome::is_failure) => Exit::Findings,
        () => Exit::Success,
    })
}

/// A case and what came of it.
struct Tested {
    folder: PathBuf,
    outcome: Outcome,
}

/// What came of a case.
enum Outcome {
    /// The result is the expected one.
    Passed,
    /// The result differs.
    Differs { expected: String, result: String, changes: Vec<Change> },
    /// Nothing was expected yet.
    New,
    /// The result was written.
    Updated { result: String, is_new: bool },
    /// A file of the case cannot be read.
    Unreadable(anyhow::Error),
}

impl Tested {
    fn of(folder: PathBuf, update: bool, read: &mut FilesRead) -> Self {
        let mut sources = show::sources();
        let outcome = outcome(&folder, update, &mut sources).unwrap_or_else(Outcome::Unreadable);
        read.extend(sources.files_read);
        Self { folder, outcome }
    }
}

fn outcome(folder: &Path, update: bool, sources: &mut Sources) -> Result<Outcome> {
    let case = Case::read(folder, sources)?;
    let path = folder.join(EXPECTED);
    if files::leads_out(Path::new(EXPECTED), folder) {
        bail!("`{}` is a link that leads out of the folder of the case", files::name(&path));
    }
    let expected = match path.exists() {
        true => Some(lines(&String::from_utf8_lossy(&files::read(&path)?))),
        false => None,
    };
    let result = lines(&case.run()?);
    if expected.as_deref() == Some(&*result) {
        return Ok(Outcome::Passed);
    }
    // Where nothing but a text can look like an entry, nothing is gone.
    let is_gone = !case.has_agent && snapshot::first_entry(&result).is_none();
    if let Some(entry) = expected.as_deref().filter(|_| is_gone).and_then(snapshot::first_entry) {
        return Err(sources.failure(no_agent(folder, &entry)).into());
    }
    Ok(match (expected, update) {
        (expected, true) => Outcome::Updated { result, is_new: expected.is_none() },
        (Some(expected), false) => {
            let changes = changes::changes(&expected, &result);
            Outcome::Differs { expected, result, changes }
        }
        (None, false) => Outcome::New,
    })
}

/// Says that the agent is gone whose entries are expected, and which file may be meant.
fn no_agent(folder: &Path, entry: &str) -> Diagnostic {
    let message =
        format!("there is no file `agent.yaml` or `agent.json`, but `{EXPECTED}` has what `{entry}` wrote");
    let gone = Diagnostic::error(codes::UNREADABLE_FILE, message);
    match files::near(&folder.join("agent.yaml")) {
        Some(near) => gone.with_help(format!("did you mean `{near}`?")),
        None => gone.with_help(format!(
            "put the agent back, or name one in `case.yaml`; delete `{EXPECTED}` if the case is to have none"
        )),
    }
}

/// Some tools write the ends of lines as their system has them: they do not count.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Writes all new results, or none.
///
/// That what is expected was read does not keep it from being replaced, unless a case has it as a file of its own.
fn write(results: &[Tested], read: &FilesRead) -> Result<()> {
    let updated = results.iter().filter_map(|tested| match &tested.outcome {
        Outcome::Updated { result, .. } => Some((tested.folder.join(EXPECTED), result.as_bytes())),
        _ => None,
    });
    Ok(files::write(&updated.collect::<Vec<_>>(), Existing::Replace, read)?)
}

impl Outcome {
    fn is_failure(&self) -> bool {
        matches!(self, Self::Differs { .. } | Self::New | Self::Unreadable(_))
    }

    const fn as_str(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Differs { .. } | Self::New => "failed",
            Self::Updated { .. } => "updated",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// Says what did not pass, with its differences, and how many did.
fn to_text(results: &[Tested]) -> String {
    let parts: String = results.iter().filter_map(part).collect();
    let count = |is: fn(&Outcome) -> bool| results.iter().filter(|tested| is(&tested.outcome)).count();
    let updated = count(|outcome| matches!(outcome, Outcome::Updated { .. }));
    let mut totals = vec![
        format!("{} passed", count(|outcome| matches!(outcome, Outcome::Passed))),
        format!("{} failed", count(Outcome::is_failure)),
    ];
    if updated > 0 {
        totals.push(format!("{updated} updated"));
    }
    parts + &lang::lines(&format!("{}: {}\n", plural(results.len(), "case"), totals.join(", ")))
}

fn part(tested: &Tested) -> Option<String> {
    let name = files::name(&tested.folder);
    let failed =
        |what: &str, details: &str| Some(show::failed(&format!("{name}: {}", lang::text(what)), details));
    match &tested.outcome {
        Outcome::Passed => None,
        Outcome::Differs { expected, result, changes } => {
            let changes = changes::to_text(changes, expected, result);
            let details = lang::lines(&changes).into_owned() + &show::diff(expected, result);
            failed("the context is not the expected one", &details)
        }
        Outcome::New => failed(&format!("no `{EXPECTED}`; `--update` writes it"), ""),
        Outcome::Updated { is_new: true, .. } => {
            Some(show::clean(&lang::lines(&format!("wrote {name}/{EXPECTED}\n"))).into_owned())
        }
        Outcome::Updated { is_new: false, .. } => {
            Some(show::clean(&lang::lines(&format!("updated {name}/{EXPECTED}\n"))).into_owned())
        }
        Outcome::Unreadable(error) => failed("the case cannot be read", &(show::plain_told(error) + "\n")),
    }
}

fn to_json(results: &[Tested]) -> Value {
    let count = |status: &str| results.iter().filter(|tested| tested.outcome.as_str() == status).count();
    json!({
        "passed": count("passed"),
        "failed": count("failed") + count("unreadable"),
        "updated": count("updated"),
        "cases": results.iter().map(case_json).collect::<Vec<_>>(),
    })
}

fn case_json(tested: &Tested) -> Value {
    let mut case = json!({ "case": files::name(&tested.folder), "status": tested.outcome.as_str() });
    match &tested.outcome {
        Outcome::Differs { expected, result, changes } => {
            case["changes"] = changes.iter().map(Change::to_json).collect();
            case["expected"] = json!(expected);
            case["result"] = json!(result);
        }
        Outcome::New => case["error"] = json!(format!("no `{EXPECTED}`")),
        Outcome::Unreadable(error) => case["error"] = json!(show::plain(error)),
        Outcome::Passed | Outcome::Updated { .. } => {}
    }
    case
}
