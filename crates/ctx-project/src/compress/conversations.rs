//! Which conversations paths name: one, or several by folders and patterns.

use std::path::{Path, PathBuf};

use ctx_engine::ImportError;
use ctx_preset_import::detect;
use ctx_types::internal::{Argument, Divider};
use ctx_types::phrase;

use crate::error::{ProjectError, Result, unusable};
use crate::files::{self, Once};
use crate::folder::{self, FolderEntry};

/// The conversations that paths name.
#[derive(Debug, PartialEq, Eq)]
pub enum Conversations {
    /// One file, or standard input.
    One(PathBuf),
    /// What several paths, a pattern or a folder lead to; at least one.
    Many(Vec<FolderEntry>),
}

impl Conversations {
    /// Finds them. Files of a folder that hold no conversation are left out; one that is named twice comes once.
    pub fn of(paths: &[PathBuf]) -> Result<Self> {
        if let Some(path) = only(paths) {
            return Ok(Self::One(path.to_owned()));
        }
        let mut found = Vec::new();
        for path in paths {
            match () {
                () if files::is_stdin(path) => {
                    let message = phrase!("`-` (standard input) cannot be combined with other conversations");
                    return Err(ProjectError::Usage(message));
                }
                () if path.is_dir() => found.extend(folder::files(path).into_iter().filter(is_conversation)),
                () if !path.exists() && is_pattern(path) => found.extend(matching(path)?),
                () => found.push(FolderEntry::File(path.clone())),
            }
        }
        let mut seen = Once::default();
        found.retain(|found| match found {
            FolderEntry::File(file) => seen.is_new(file),
            FolderEntry::Closed(..) => true,
        });
        if found.is_empty() {
            let names = paths.iter().map(|path| files::name(path));
            Err(unusable!("no conversations in {paths}", paths = Argument::names(names, Divider::Comma)))
        } else {
            Ok(Self::Many(found))
        }
    }

    /// Returns whether paths name one conversation: neither several, nor a folder or pattern, whatever these lead to.
    pub fn is_one(paths: &[PathBuf]) -> bool {
        only(paths).is_some()
    }
}

fn only(paths: &[PathBuf]) -> Option<&Path> {
    let [path] = paths else { return None };
    (!path.is_dir() && (path.exists() || !is_pattern(path))).then_some(path)
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

/// Returns what a pattern matches, in the order of names.
fn matching(pattern: &Path) -> Result<Vec<FolderEntry>> {
    let paths = glob::glob(&pattern.to_string_lossy()).map_err(|error| {
        ProjectError::Usage(phrase!(
            "`{name}` is not a valid glob pattern: {error}",
            name = files::name(pattern),
            error = error.msg
        ))
    })?;
    let found = paths.map(|path| match path {
        Ok(path) => FolderEntry::File(path),
        Err(error) => {
            let reason = phrase!(
                "cannot read the folder `{path}`: {error}",
                path = files::name(error.path()),
                error = files::reason(error.error())
            );
            FolderEntry::Closed(error.path().to_owned(), reason)
        }
    });
    Ok(found.filter(|found| !matches!(found, FolderEntry::File(path) if path.is_dir())).collect())
}

/// Returns whether a file of a folder holds a conversation; one that cannot be read is told of later.
fn is_conversation(found: &FolderEntry) -> bool {
    let FolderEntry::File(path) = found else { return true };
    let Ok(bytes) = files::read(path) else { return true };
    match detect(&bytes, &files::name(path)) {
        Ok(format) => format.is_conversation(),
        Err(error) => !matches!(error, ImportError::UnknownShape { .. }),
    }
}
