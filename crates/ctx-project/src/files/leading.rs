//! Checks whether a path leads out of a folder.

use std::path::{Component, Path, PathBuf};

/// Maximum number of links to follow if their target is missing.
const MAX_LINKS: usize = 40;

/// Returns whether a path in a folder leads out of it, by `..`, as an absolute path, or through a link.
pub fn leads_out(path: &Path, folder: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    !is_plain || folder.canonicalize().is_ok_and(|root| !is_within(&folder.join(path), &root))
}

/// Returns whether the target of a path is inside a folder. `root` is a path without links. A missing component is
/// not a link.
pub fn is_within(path: &Path, root: &Path) -> bool {
    resolved(path).is_some_and(|target| target.starts_with(root))
}

/// Returns the target of a path, without links. Returns the path itself if its links form a cycle.
pub fn target(path: &Path) -> PathBuf {
    resolved(path).unwrap_or_else(|| plain(path))
}

/// Resolves the links of a path whose end may be missing. Returns `None` if there are too many links.
fn resolved(path: &Path) -> Option<PathBuf> {
    let (mut path, mut missing, mut links) = (path.to_owned(), Vec::new(), 0);
    loop {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        if let Ok(target) = here.canonicalize() {
            return Some(plain(&missing.iter().rev().fold(target, |target, name| target.join(name))));
        }
        // A program that creates the target of a broken link creates it there.
        if let Ok(target) = path.read_link() {
            links += 1;
            path = path.parent().filter(|_| links <= MAX_LINKS)?.join(target);
            continue;
        }
        missing.push(path.components().next_back()?.as_os_str().to_owned());
        path = path.parent()?.to_owned();
    }
}

/// Makes a path absolute and removes `.`, `..`, and a trailing slash without reading the file system.
pub fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn follows_links_to_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("/nowhere/at/../all", root.join("away")).unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        symlink(".", root.join("here")).unwrap();
        assert_eq!(target(&root.join("away/x")), Path::new("/nowhere/all/x"));
        assert_eq!(target(&root.join("here/./new/../c")), root.join("c"));
        assert_eq!(target(&root.join("a")), root.join("a"));
        assert!(!is_within(&root.join("a"), &root) && is_within(&root.join("here/c"), &root));
    }
}
