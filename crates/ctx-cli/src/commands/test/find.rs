//! The cases below folders.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::commands::folder::{self, Found};
use crate::exit::UsageError;
use crate::files;

/// The files, without their endings, one of which makes a folder a case.
const MARKS: [&str; 3] = ["agent", "session", "case"];

/// Lists the cases below folders, these included, in the order of their names; each once. A folder below that
/// cannot be read is listed with the reason: it may hold cases.
///
/// That a folder cannot be read itself or has no case is an error, so that a mistyped one does not pass.
pub(super) fn cases(folders: &[PathBuf]) -> Result<Vec<(PathBuf, Option<String>)>> {
    let mut cases = BTreeMap::new();
    for folder in folders {
        files::refuse_stdin(folder)?;
        let mut found = Vec::new();
        for file in folder::files(folder) {
            match file {
                Found::File(file) if is_mark(&file) => {
                    found.extend(file.parent().map(|case| (case.to_owned(), None)));
                }
                Found::File(_) => {}
                Found::Closed(closed, reason) if closed == *folder => bail!(reason),
                Found::Closed(closed, reason) => found.push((closed, Some(reason))),
            }
        }
        if found.is_empty() {
            let message = format!(
                "no case below `{}`; a case is a folder with a file `agent`, `session` or `case` (JSON or YAML)",
                files::name(folder)
            );
            return Err(UsageError(message).into());
        }
        cases.extend(found);
    }
    Ok(cases.into_iter().collect())
}

fn is_mark(file: &Path) -> bool {
    file.file_stem().and_then(OsStr::to_str).is_some_and(|stem| MARKS.contains(&stem))
}
