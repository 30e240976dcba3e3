//! The files of a folder, and the parts of it that cannot be read.

use ctx_types::{Phrase, phrase};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::config::is_config;
use crate::files::{DOCUMENTS, LINES, has_ending, name, reason};

/// How many files a folder may have.
const MAX_FILES: usize = 10_000;

/// How deep folders may be nested.
const MAX_DEPTH: usize = 32;

/// What a folder holds, in the order of names.
#[derive(Debug, PartialEq, Eq)]
pub enum FolderEntry {
    /// A JSON, JSON Lines or YAML file, or `ctx.toml`.
    File(PathBuf),
    /// A folder that cannot be looked into, and why.
    Closed(PathBuf, Phrase),
}

/// Lists the JSON, JSON Lines and YAML files in a folder and below it, `ctx.toml` too, and the folders that cannot be read.
///
/// Hidden folders and `node_modules` are passed over. Links are not followed: they may lead out of the folder
/// or round in a circle.
pub fn files(folder: &Path) -> Vec<FolderEntry> {
    files_and(folder, |_| false)
}

/// As [`files`], and with the other files that are wanted.
pub(crate) fn files_and(folder: &Path, is_wanted: fn(&Path) -> bool) -> Vec<FolderEntry> {
    let mut walk = Walk { found: Vec::new(), is_full: false, is_wanted };
    walk.folder(folder, 0);
    if walk.is_full {
        let reason = phrase!(
            "`{folder}` has more than {limit} files; use smaller folders",
            folder = name(folder),
            limit = MAX_FILES
        );
        walk.found.push(FolderEntry::Closed(folder.to_owned(), reason));
    }
    walk.found
}

/// A walk through folders.
struct Walk {
    found: Vec<FolderEntry>,
    /// Whether there are more files than are listed.
    is_full: bool,
    /// Returns which files beside ours are listed.
    is_wanted: fn(&Path) -> bool,
}

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let entries = match entries(folder) {
            _ if depth > MAX_DEPTH => {
                let reason = phrase!(
                    "`{folder}` contains more than {limit} levels of folders",
                    folder = name(folder),
                    limit = MAX_DEPTH
                );
                return self.found.push(FolderEntry::Closed(folder.to_owned(), reason));
            }
            Err(_) if folder.is_file() => {
                let reason = phrase!("`{folder}` is a file, not a folder", folder = name(folder));
                return self.found.push(FolderEntry::Closed(folder.to_owned(), reason));
            }
            Err(error) => {
                let reason = phrase!(
                    "cannot read the folder `{folder}`: {error}",
                    folder = name(folder),
                    error = reason(&error)
                );
                return self.found.push(FolderEntry::Closed(folder.to_owned(), reason));
            }
            Ok(entries) => entries,
        };
        for (path, kind) in entries {
            if kind.is_dir() && !is_passed_over(&path) {
                self.folder(&path, depth + 1);
            } else if kind.is_file() && (is_ours(&path) || (self.is_wanted)(&path)) {
                self.is_full |= self.found.len() >= MAX_FILES;
                self.found.extend(Some(FolderEntry::File(path)).filter(|_| !self.is_full));
            }
            if self.is_full {
                return;
            }
        }
    }
}

fn entries(folder: &Path) -> std::io::Result<Vec<(PathBuf, std::fs::FileType)>> {
    let entries = std::fs::read_dir(folder)?;
    let entries = entries.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))));
    let mut entries = entries.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

fn is_passed_over(folder: &Path) -> bool {
    let name = folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with('.') || name == "node_modules"
}

fn is_ours(file: &Path) -> bool {
    is_config(file) || has_ending(file, DOCUMENTS) || has_ending(file, LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_depth_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d/".repeat(MAX_DEPTH + 8));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("a.yaml"), "name: a").unwrap();
        std::fs::write(folder.path().join("e.yaml"), "presetMessages: []").unwrap();
        let found = files(folder.path());
        let [FolderEntry::Closed(_, reason), FolderEntry::File(file)] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(reason.to_string().ends_with("d` contains more than 32 levels of folders"), "{reason}");
        assert_eq!(*file, folder.path().join("e.yaml"));
    }

    #[cfg(unix)]
    #[test]
    fn does_not_follow_links() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        for name in ["outside", "inside"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("a.yaml"), "presetMessages: []").unwrap();
        }
        symlink("../outside", inside.join("link")).unwrap();
        symlink("../inside", inside.join("circle")).unwrap();
        assert_eq!(files(&inside), [FolderEntry::File(inside.join("a.yaml"))]);
    }
    #[cfg(unix)]
    #[test]
    fn lists_folders_that_it_cannot_read() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        std::fs::create_dir(&closed).unwrap();
        for name in ["a.yaml", "closed/b.yaml", "z.yaml"] {
            std::fs::write(folder.path().join(name), "presetMessages: []").unwrap();
        }
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
        let found = files(folder.path());
        // Root can read all folders.
        let is_open = std::fs::read_dir(&closed).is_ok();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        let FolderEntry::Closed(_, reason) = &found[1] else {
            assert!(is_open, "{found:?}");
            return;
        };
        let expected = format!("cannot read the folder `{}`: permission denied", name(&closed));
        assert_eq!(reason.to_string(), expected);
    }
}
