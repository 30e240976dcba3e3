//! The cases below folders.

use ctx_chat::files::open_regular;
use ctx_types::{Phrase, phrase};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::case::EXPECTED;
use crate::error::{ProjectError, Result};
use crate::files;
use crate::folder::{self, FolderEntry};

/// The files, without their endings, one of which makes a folder a case.
const MARKS: [&str; 3] = ["agent", "session", "case"];

/// Lists the cases below folders, these included, in the order of their names; each once. A folder below that
/// cannot be read is listed with the reason: it may hold cases.
///
/// That a folder cannot be read itself or has no case is an error, so that a mistyped one does not pass.
pub fn cases(folders: &[PathBuf]) -> Result<Vec<(PathBuf, Option<Phrase>)>> {
    let mut cases = BTreeMap::new();
    for folder in folders {
        files::refuse_stdin(folder)?;
        let mut found = Vec::new();
        for file in folder::files_and(folder, is_result) {
            match file {
                // A file of that name is found only if it is a result.
                FolderEntry::File(file) if is_mark(&file) || is_called_result(&file) => {
                    found.extend(file.parent().map(|case| (case.to_owned(), None)));
                }
                FolderEntry::File(_) => {}
                FolderEntry::Closed(closed, reason) if closed == *folder => {
                    return Err(ProjectError::Unusable(reason));
                }
                FolderEntry::Closed(closed, reason) => found.push((closed, Some(reason))),
            }
        }
        if found.is_empty() {
            let message = phrase!(
                "no test case in `{folder}`; a case needs an `agent`, `session`, or `case` file, or \
                `{expected}`",
                folder = files::name(folder),
                expected = EXPECTED
            );
            return Err(ProjectError::Unusable(message));
        }
        cases.extend(found);
    }
    Ok(cases.into_iter().collect())
}

fn is_mark(file: &Path) -> bool {
    file.file_stem().and_then(OsStr::to_str).is_some_and(|stem| MARKS.contains(&stem))
}

/// Returns whether a file is the result of a case: of one whose other files are gone, nothing else is left.
///
/// Other programs have files of that name too.
fn is_result(file: &Path) -> bool {
    const BEGINNINGS: [&[u8]; 2] = [b"--- 0 ", b"=== no context"];
    let mut begin = Vec::new();
    let read = |begin| open_regular(file).and_then(|file| file.take(16).read_to_end(begin));
    is_called_result(file) && read(&mut begin).is_ok() && BEGINNINGS.iter().any(|own| begin.starts_with(own))
}

fn is_called_result(file: &Path) -> bool {
    file.file_name() == Some(OsStr::new(EXPECTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_case_once_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b/case.yaml", "input: B"),
            ("a/deep/case.yaml", "input: Deep"),
            ("a/session.json", "[]"),
            ("c/expected.txt", "--- 0 system · preset:tail · skeleton · 4 tokens\nBe brief.\n"),
            ("notes/readme.yaml", "nothing: here"),
            ("notes/expected.txt", "42\n"),
            (".hidden/case.yaml", "input: Hidden"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        let found = cases(&[folder.path().to_owned(), path("a")]).unwrap();
        let expected = ["a", "a/deep", "b", "c"].map(|name| (path(name), None::<Phrase>));
        assert_eq!(found, expected);
        let error = cases(&[path("notes")]).unwrap_err();
        assert!(error.to_string().starts_with("no test case in `"), "{error}");
    }
}
