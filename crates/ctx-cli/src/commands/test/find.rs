//! The cases below folders.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::commands::folder;
use crate::exit::UsageError;
use crate::files;

/// The files, without their endings, one of which makes a folder a case.
const MARKS: [&str; 3] = ["agent", "session", "case"];

/// Lists the cases below folders, these included, in the order of their names; each once.
///
/// That a folder has none is an error, so that a mistyped one does not pass.
pub(super) fn cases(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut cases = BTreeSet::new();
    for folder in folders {
        let files = folder::files(folder)?;
        let marks = files.iter().filter(|file| is_mark(file));
        let found: BTreeSet<&Path> = marks.filter_map(|file| file.parent()).collect();
        if found.is_empty() {
            let message = format!(
                "no case below `{}`; a case is a folder with a file `agent`, `session` or `case` (JSON or YAML)",
                files::name(folder)
            );
            return Err(UsageError(message).into());
        }
        cases.extend(found.into_iter().map(Path::to_owned));
    }
    Ok(cases.into_iter().collect())
}

fn is_mark(file: &Path) -> bool {
    file.file_stem().and_then(OsStr::to_str).is_some_and(|stem| MARKS.contains(&stem))
}
