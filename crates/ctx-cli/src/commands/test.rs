//! `ctx test`: compares contexts with the expected results.

mod junit;
mod watch;

use ctx_language::Language;
use std::path::PathBuf;

use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, count_of, phrase};
use serde_json::{Value, json};

use crate::args::TestArguments;
use crate::commands::test::watch::Watched;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Bar};
use ctx_project::case::{self, Change, EXPECTED, Outcome};
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing, FilesRead};

/// Runs the cases in folders, in the order of their names. With `--watch`, runs them again after each change.
pub(crate) fn run(language: Language, arguments: &TestArguments) -> Result<Exit> {
    if !arguments.watch {
        return run_once(language, arguments, &mut FilesRead::default());
    }
    // Start first, to notice changes during the tests.
    let mut watched = Watched::new(&arguments.folders)?;
    loop {
        let mut read = FilesRead::default();
        let result = run_once(language, arguments, &mut read).and_then(|_| watched.add(read.folders()));
        if let Err(error) = result {
            let error = show::plain_told(language, &error);
            show::note(language, &phrase!("error: {error}", error));
        }
        show::note(language, &phrase!("waiting for changes; press Ctrl-C to stop"));
        watched.wait()?;
    }
}

fn run_once(language: Language, arguments: &TestArguments, read: &mut FilesRead) -> Result<Exit> {
    let folders = case::cases(&arguments.folders)?;
    let bar = Bar::new(folders.len());
    let mut results = Vec::new();
    for (folder, closed) in folders {
        bar.show(&files::name(&folder));
        results.push(match closed {
            None => Tested::of(language, folder, arguments.update, read),
            Some(reason) => Tested { folder, outcome: Err(ProjectError::Unusable(reason)) },
        });
        bar.done();
    }
    drop(bar);
    if arguments.update {
        let results =
            results.iter().filter_map(|tested| Some((&*tested.folder, tested.outcome.as_ref().ok()?)));
        case::write(results, read)?;
    }
    if let Some(path) = &arguments.junit {
        let xml = junit::to_xml(&results)?;
        // A write to a watched file would start the tests again.
        if files::read(path).ok().as_deref() != Some(&*xml) {
            files::write(&[(path.clone(), &xml)], Existing::Replace, read)?;
        }
    }
    if arguments.json {
        show::json(&to_json(&results))?;
    } else {
        show::drawn(&to_text(language, &results))?;
    }
    Ok(match () {
        () if results.iter().any(|tested| tested.outcome.is_err()) => Exit::Unreadable,
        () if results.iter().any(Tested::is_failure) => Exit::Findings,
        () => Exit::Success,
    })
}

/// A case and its result, or an error if a file of the case cannot be read.
struct Tested {
    folder: PathBuf,
    outcome: Result<Outcome>,
}

impl Tested {
    fn of(language: Language, folder: PathBuf, update: bool, read: &mut FilesRead) -> Self {
        let mut sources = show::sources(language);
        let outcome = case::test(&folder, update, &mut sources);
        read.extend(sources.files_read);
        Self { folder, outcome }
    }

    fn is_failure(&self) -> bool {
        matches!(self.outcome, Ok(Outcome::Differs { .. } | Outcome::New) | Err(_))
    }

    const fn as_str(&self) -> &'static str {
        match &self.outcome {
            Ok(Outcome::Passed) => "passed",
            Ok(Outcome::Differs { .. } | Outcome::New) => "failed",
            Ok(Outcome::Updated { .. }) => "updated",
            Err(_) => "unreadable",
        }
    }
}

/// Formats changes, one per line. If there are none, formats the different lines of the report.
fn changes_to_text(language: Language, changes: &[Change], expected: &str, result: &str) -> String {
    let lines = case::described(changes, expected, result);
    let lines: Vec<String> = lines.iter().map(|line| show::clean_line(&lang::say(language, line))).collect();
    format!("  {}\n", lines.join("\n  "))
}

/// Formats the failed cases with their differences, and the number of passed cases.
fn to_text(language: Language, results: &[Tested]) -> String {
    let parts: String = results.iter().filter_map(|tested| part(language, tested)).collect();
    let count = |status: &str| results.iter().filter(|tested| tested.as_str() == status).count();
    let updated = count("updated");
    let mut totals = vec![
        phrase!("{count} passed", count = count("passed")),
        phrase!("{count} failed", count = count("failed") + count("unreadable")),
    ];
    if updated > 0 {
        totals.push(phrase!("{count} updated", count = updated));
    }
    let (cases, totals) = (count_of!(results.len(), "case"), Argument::list(&totals, Divider::Comma));
    parts + &lang::say(language, &phrase!("{cases}: {totals}", cases, totals)) + "\n"
}

fn part(language: Language, tested: &Tested) -> Option<String> {
    let name = files::name(&tested.folder);
    let failed = |what: Phrase, details: &str| {
        Some(show::failed(language, &phrase!("{name}: {what}", name, what), details))
    };
    match &tested.outcome {
        Ok(Outcome::Passed) => None,
        Ok(Outcome::Differs { expected, result, changes }) => {
            let changes = changes_to_text(language, changes, expected, result);
            let details = changes + &show::diff(language, expected, result);
            failed(phrase!("the context differs from the expected one"), &details)
        }
        Ok(Outcome::New) => {
            failed(phrase!("no `{expected}`; write it with `--update`", expected = EXPECTED), "")
        }
        Ok(Outcome::Updated { is_new, .. }) => {
            let path = format!("{name}/{EXPECTED}");
            let line = if *is_new {
                show::wrote(language, &path)
            } else {
                lang::say(language, &phrase!("updated {path}", path)) + "\n"
            };
            Some(show::clean(&line).into_owned())
        }
        Err(error) => failed(phrase!("cannot read the case"), &(show::plain_told(language, error) + "\n")),
    }
}

fn to_json(results: &[Tested]) -> Value {
    let count = |status: &str| results.iter().filter(|tested| tested.as_str() == status).count();
    json!({
        "passed": count("passed"),
        "failed": count("failed") + count("unreadable"),
        "updated": count("updated"),
        "cases": results.iter().map(case_json).collect::<Vec<_>>(),
    })
}

fn case_json(tested: &Tested) -> Value {
    let mut case = json!({ "case": files::name(&tested.folder), "status": tested.as_str() });
    match &tested.outcome {
        Ok(Outcome::Differs { expected, result, changes }) => {
            case["changes"] = changes.iter().map(Change::to_json).collect();
            case["expected"] = json!(expected);
            case["result"] = json!(result);
        }
        Ok(Outcome::New) => case["error"] = json!(format!("no `{EXPECTED}`")),
        Err(error) => case["error"] = json!(show::plain(error)),
        Ok(Outcome::Passed | Outcome::Updated { .. }) => {}
    }
    case
}

#[cfg(test)]
mod tests {
    use super::{Language, case, changes_to_text};

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(changes_to_text(Language::En, &case::compare(old, new), old, new), expected);
    }

    #[test]
    fn what_a_terminal_obeys_is_not_written() {
        let id = "preset:\"\\u001b[31mred\u{202e}\\n  preset entry `b` changed\"";
        let old = format!("--- 0 system · {id} · skeleton · 5 tokens\nA.\n");
        let told =
            "  preset entry `\u{fffd}[31mred\u{fffd}   preset entry `b` changed` changed (message 0)\n";
        check(&old, &old.replace("A.", "B."), told);
        let usage = "=== usage\n1 of 9 tokens, exact\n";
        let told = "  all texts are equal, but their order, merging, or report differs:\n  added: +1 �[31m\n";
        check(&format!("{old}{usage}"), &format!("{old}{usage}+1 \u{1b}[31m\n"), told);
    }
}
