//! What came of a case of `ctx test`.

use std::path::Path;

use ctx_types::{Diagnostic, phrase};

use crate::case::changes::{Change, compare};
use crate::case::{Case, EXPECTED, snapshot};
use crate::codes;
use crate::error::{Result, unusable};
use crate::files::{self, Existing, FilesRead};
use crate::sources::Sources;

/// What came of a case.
#[derive(Debug)]
pub enum Outcome {
    /// The result is the expected one.
    Passed,
    /// The result differs.
    Differs {
        /// What was expected.
        expected: String,
        /// What came instead.
        result: String,
        /// Who writes something else, in the order of places.
        changes: Vec<Change>,
    },
    /// Nothing was expected yet.
    New,
    /// The result is to be written.
    Updated {
        /// The result.
        result: String,
        /// Nothing was expected yet.
        is_new: bool,
    },
}

/// Assembles the case in a folder and compares its snapshot with the expected one; `update` says that the result is to
/// be expected from now on. An error says that a file of the case cannot be read.
pub fn test(folder: &Path, update: bool, sources: &mut Sources) -> Result<Outcome> {
    let case = Case::read(folder, sources)?;
    let path = folder.join(EXPECTED);
    if files::leads_out(Path::new(EXPECTED), folder) {
        return Err(unusable!(
            "`{path}` is a link to a path outside the folder of the case",
            path = files::name(&path)
        ));
    }
    let expected =
        if path.exists() { Some(lines(&String::from_utf8_lossy(&files::read(&path)?))) } else { None };
    let result = lines(&case.run()?);
    if expected.as_deref() == Some(&*result) {
        return Ok(Outcome::Passed);
    }
    // Where nothing but a text can look like an entry, nothing is gone.
    let is_gone = !case.has_agent && snapshot::first_entry(&result).is_none();
    if let Some(entry) = expected.as_deref().filter(|_| is_gone).and_then(snapshot::first_entry) {
        return Err(sources.failure(no_agent(folder, &entry)));
    }
    Ok(match (expected, update) {
        (expected, true) => Outcome::Updated { result, is_new: expected.is_none() },
        (Some(expected), false) => {
            let changes = compare(&expected, &result);
            Outcome::Differs { expected, result, changes }
        }
        (None, false) => Outcome::New,
    })
}

/// Reports that the agent is gone whose entries are expected, and which file may be meant.
fn no_agent(folder: &Path, entry: &str) -> Diagnostic {
    let message = phrase!(
        "no `agent.yaml` or `agent.json`, but `{expected}` contains `{entry}`",
        expected = EXPECTED,
        entry
    );
    let gone = Diagnostic::error(codes::UNREADABLE_FILE, message);
    match files::near(&folder.join("agent.yaml")) {
        Some(near) => gone.with_suggestion(&near),
        None => gone.with_help(phrase!(
            "restore the agent, name one in `case.yaml`, or delete `{expected}`",
            expected = EXPECTED
        )),
    }
}

/// Some tools write the ends of lines as their system has them: they do not count.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Writes the new results of cases, in their folders: all, or none.
///
/// That what is expected was read does not keep it from being replaced, unless a case has it as a file of its own.
pub fn write<'a>(results: impl Iterator<Item = (&'a Path, &'a Outcome)>, read: &FilesRead) -> Result<()> {
    let updated = results.filter_map(|(folder, outcome)| match outcome {
        Outcome::Updated { result, .. } => Some((folder.join(EXPECTED), result.as_bytes())),
        _ => None,
    });
    files::write(&updated.collect::<Vec<_>>(), Existing::Replace, read)
}

#[cfg(test)]
mod tests {
    use ctx_types::Phrase;

    use super::*;

    const EXPECTED_ENTRY: &str = "--- 0 system · preset:tail · skeleton · 4 tokens\nBe brief.\n";

    /// Makes the folder of a case with these files.
    fn case(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    /// Runs a case, and writes its result if it is updated.
    fn run(folder: &tempfile::TempDir, update: bool) -> Result<Outcome> {
        let outcome = test(folder.path(), update, &mut Sources::default())?;
        if matches!(outcome, Outcome::Updated { .. }) {
            write([(folder.path(), &outcome)].into_iter(), &FilesRead::default())?;
        }
        Ok(outcome)
    }

    #[track_caller]
    fn check_gone(files: &[(&str, &str)], update: bool, help: &str) {
        let Err(crate::error::ProjectError::Fault(fault)) = run(&case(files), update) else { panic!() };
        let message = "no `agent.yaml` or `agent.json`, but `expected.txt` contains `preset:tail`";
        assert_eq!(fault.finding.message.to_string(), message);
        assert_eq!(fault.finding.help.as_ref().map(Phrase::to_string).as_deref(), Some(help));
    }

    #[test]
    fn reports_missing_agent() {
        let expected = (EXPECTED, EXPECTED_ENTRY);
        let restore = "restore the agent, name one in `case.yaml`, or delete `expected.txt`";
        check_gone(&[("session.json", "[]"), expected], false, restore);
        check_gone(&[expected], false, restore);
        let near = ("agnet.yaml", "presetMessages: []\n");
        check_gone(&[("session.json", "[]"), expected, near], true, "did you mean `agnet.yaml`?");
    }

    /// Checks whether a case reads a profile, and what it reports otherwise.
    #[track_caller]
    fn check_profile(root: &str, profile: &str, is_read: bool) {
        let folder = tempfile::tempdir().unwrap();
        let case = folder.path().join("project/cases/a");
        std::fs::create_dir_all(&case).unwrap();
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        for secret in ["secret.txt", "project/me.txt"] {
            write(secret, "canary");
        }
        std::fs::create_dir_all(folder.path().join(root).parent().unwrap()).unwrap();
        write(root, "");
        write("project/cases/a/agent.yaml", "presetMessages: [{role: system, content: '{{persona}}'}]");
        write("project/cases/a/case.yaml", &format!("profile: {profile}\n"));
        match test(&case, true, &mut Sources::default()) {
            Ok(Outcome::Updated { result, .. }) => assert!(is_read && result.contains("canary"), "{result}"),
            Ok(outcome) => panic!("{outcome:?}"),
            Err(error) => {
                let told = error.to_string();
                assert!(!is_read && told.contains("is outside the project of the case"), "{told}");
                assert!(!told.contains("canary"), "{told}");
            }
        }
    }

    #[test]
    fn reads_only_files_of_its_project() {
        let outside = "../../../secret.txt";
        check_profile("project/.git/HEAD", outside, false);
        check_profile("project/.git/HEAD", "../../me.txt", true);
        check_profile("project/ctx.toml", outside, false);
    }

    #[test]
    fn compares_texts_that_look_like_entries() {
        let chat = |said: &str| {
            let quoted = format!("{said}\\n--- 1 system · preset:x · skeleton · 4 tokens\\nBe brief.");
            format!(r#"[{{"role": "user", "content": "{quoted}"}}]"#)
        };
        let folder = case(&[("session.json", &chat("What is this?"))]);
        assert!(matches!(run(&folder, true), Ok(Outcome::Updated { is_new: true, .. })));
        assert!(matches!(run(&folder, false), Ok(Outcome::Passed)));
        std::fs::write(folder.path().join("session.json"), chat("And this?")).unwrap();
        assert!(matches!(run(&folder, false), Ok(Outcome::Differs { .. })));
        assert!(matches!(run(&folder, true), Ok(Outcome::Updated { is_new: false, .. })));
    }

    #[test]
    fn ignores_line_endings() {
        let folder = case(&[("agent.yaml", "presetMessages: [{ role: system, content: Be brief. }]\n")]);
        assert!(matches!(run(&folder, true), Ok(Outcome::Updated { .. })));
        let path = folder.path().join(EXPECTED);
        let written = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, written.replace('\n', "\r\n")).unwrap();
        assert!(matches!(run(&folder, false), Ok(Outcome::Passed)));
    }
}
