//! Which folder's `ctx.toml` counts: the nearest one, up to where the user's project ends.

use std::path::{Path, PathBuf};

use crate::home;

/// How many folders above the working folder are looked into.
const MAX_PARENTS: usize = 64;

/// Returns the nearest folder that holds a file of a name, as it is seen from the working folder.
///
/// The search ends with the home folder, with the root of a repository, at the border of a file system, or after
/// [`MAX_PARENTS`] folders above: what lies beyond belongs to somebody else.
pub(super) fn folder(name: &str) -> Option<PathBuf> {
    let working = std::env::current_dir().ok()?;
    Some(std::iter::repeat_n("..", levels(&working, name)?).collect())
}

/// As [`folder`], for another folder than the working folder, named without links.
pub(super) fn folder_from(start: &Path, name: &str) -> Option<PathBuf> {
    within_project(start).nth(levels(start, name)?).map(Path::to_owned)
}

/// Counts how many folders above a folder the nearest one is that holds a file of a name.
fn levels(start: &Path, name: &str) -> Option<usize> {
    within_project(start).position(|folder| folder.join(name).is_file())
}

/// Returns the folder beyond which a case names no files, without links: the root of its repository, else the nearest
/// folder with a file of a name, else the working folder if the case lies below it, else its own folder. The home
/// folder and what lies above it is none of these.
pub(super) fn project_of(case: &Path, name: &str) -> Option<PathBuf> {
    let case = if case.as_os_str().is_empty() { Path::new(".") } else { case };
    let case = case.canonicalize().ok()?;
    let home = home::folder().and_then(|home| home.canonicalize().ok());
    let is_project = |folder: &&Path| home.as_deref().is_none_or(|home| !home.starts_with(folder));
    let above = || within_project(&case).filter(is_project);
    let working = std::env::current_dir().and_then(|working| working.canonicalize()).ok();
    let working = working.filter(|working| case.starts_with(working) && is_project(&working.as_path()));
    let root = above().find(|folder| folder.join(".git").exists());
    let root = root.or_else(|| above().find(|folder| folder.join(name).is_file())).map(Path::to_owned);
    root.or(working).or(Some(case))
}

/// Lists a folder and those above it, to where a project ends.
fn within_project(folder: &Path) -> impl Iterator<Item = &Path> {
    let home = home::folder().and_then(|home| home.canonicalize().ok());
    let is_end = move |folder: &Path| {
        let is_border = |above: &Path| !is_on_same_device(folder, above);
        folder.join(".git").exists()
            || home.as_deref() == Some(folder)
            || folder.parent().is_some_and(is_border)
    };
    let mut next = Some(folder);
    let folders = std::iter::from_fn(move || {
        let folder = next?;
        next = folder.parent().filter(|_| !is_end(folder));
        Some(folder)
    });
    folders.take(MAX_PARENTS + 1)
}

/// Returns whether two paths lead to one folder.
pub(super) fn is_same(first: &Path, second: &Path) -> bool {
    let second = if second.as_os_str().is_empty() { Path::new(".") } else { second };
    matches!((first.canonicalize(), second.canonicalize()), (Ok(first), Ok(second)) if first == second)
}

#[cfg(unix)]
fn is_on_same_device(folder: &Path, above: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    matches!((folder.metadata(), above.metadata()), (Ok(folder), Ok(above)) if folder.dev() == above.dev())
}

#[cfg(not(unix))]
fn is_on_same_device(_folder: &Path, _above: &Path) -> bool {
    // Drives have no folder in common.
    true
}
