//! Finds the nearest `ctx.toml` within the user's project.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::guard::{Ask, report_foreign};
use super::trust::Trusted;
use crate::home;

/// Maximum number of parent folders that are searched.
const MAX_PARENTS: usize = 64;

/// The nearest folder that contains a file with a given name.
pub(super) struct Nearest {
    /// Path relative to the working folder, or absolute without links.
    folder: PathBuf,
    /// Whether it is a parent folder, and the file, its link, or the folder belongs to another user.
    is_foreign: bool,
}

impl Nearest {
    /// Returns the folder, except if it is foreign and was never trusted. Reports such a folder. Otherwise another user with write access to a parent folder could configure every run below it.
    pub(super) fn allowed(self, ask: Option<&Ask>) -> Option<PathBuf> {
        if self.is_foreign && !Trusted::read().unwrap_or_default().has_folder(&self.folder) {
            report_foreign(&self.folder, ask);
            return None;
        }
        Some(self.folder)
    }
}

/// Returns the nearest folder that contains a file with this name, relative to the working folder.
///
/// The search ends at the home folder, a repository root, a file-system boundary, or after [`MAX_PARENTS`] parent
/// folders.
pub(super) fn folder(name: &str) -> Option<Nearest> {
    let working = std::env::current_dir().ok()?;
    let (levels, is_foreign) = found_from(&working, name, &is_of_user)?;
    Some(Nearest { folder: std::iter::repeat_n("..", levels).collect(), is_foreign })
}

/// Like [`folder`], but starts in a given folder, whose path has no links.
pub(super) fn folder_from(start: &Path, name: &str) -> Option<Nearest> {
    let (levels, is_foreign) = found_from(start, name, &is_of_user)?;
    Some(Nearest { folder: within_project(start).nth(levels)?.to_owned(), is_foreign })
}

/// Returns the number of levels from a folder up to the nearest folder with such a file, and whether the file, its link,
/// or the folder belongs to another user. The owner of a folder can replace the files in it.
fn found_from(start: &Path, name: &str, is_of_user: &dyn Fn(&Metadata) -> bool) -> Option<(usize, bool)> {
    let levels = within_project(start).position(|folder| folder.join(name).is_file())?;
    let folder = within_project(start).nth(levels)?;
    let file = folder.join(name);
    let mut owned = [folder.metadata(), file.metadata(), file.symlink_metadata()].into_iter();
    let is_own = owned.all(|owned| owned.is_ok_and(|owned| is_of_user(&owned)));
    Some((levels, levels > 0 && !is_own))
}

/// Returns whether a file or folder belongs to the user or to root. For root, also accepts the user who ran `sudo`, as
/// git does.
#[cfg(unix)]
fn is_of_user(owned: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| user.is_root()).and_then(|uid| uid.parse().ok());
    let owner = owned.uid();
    owner == 0 || owner == user.as_raw() || Some(owner) == caller
}

#[cfg(not(unix))]
fn is_of_user(_: &Metadata) -> bool {
    true
}

/// Returns the folder that contains all files of a test case, without links.
///
/// This is the root of the case's repository, or the nearest folder with a file of this name. Otherwise it is the
/// working folder if that contains the case, and then the case's folder. The home folder and its parents are never
/// used.
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

/// Lists a folder and its parents up to the end of the project.
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

/// Returns whether two paths lead to the same folder.
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
    // Two drives have no common parent folder.
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_file_of_another_user_above() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("deep");
        std::fs::create_dir_all(below.join("er")).unwrap();
        std::fs::write(folder.path().join("ctx.toml"), "").unwrap();
        let found = |start: &Path, is_own: bool| found_from(start, "ctx.toml", &|_: &Metadata| is_own);
        assert_eq!(found(&below, true), Some((1, false)));
        assert_eq!(found(&below, false), Some((1, true)));
        assert_eq!(found(&below.join("er"), false), Some((2, true)));
        // In the working folder itself, the user sees the file.
        assert_eq!(found(folder.path(), false), Some((0, false)));
        assert!(is_of_user(&folder.path().join("ctx.toml").metadata().unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn checks_owner_of_link_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("deep");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(folder.path().join("other.toml"), "").unwrap();
        std::os::unix::fs::symlink("other.toml", folder.path().join("ctx.toml")).unwrap();
        let found = |is_own: &dyn Fn(&Metadata) -> bool| found_from(&below, "ctx.toml", is_own);
        assert_eq!(found(&|_| true), Some((1, false)));
        assert_eq!(found(&|owned| !owned.is_symlink()), Some((1, true)));
        assert_eq!(found(&|owned| !owned.is_file()), Some((1, true)));
        assert_eq!(found(&|owned| !owned.is_dir()), Some((1, true)));
    }
}
