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
    let home = home::folder().and_then(|home| home.canonicalize().ok());
    for (levels, folder) in working.ancestors().take(MAX_PARENTS + 1).enumerate() {
        let seen: PathBuf = std::iter::repeat_n("..", levels).collect();
        if seen.join(name).is_file() {
            return Some(seen);
        }
        let is_end = folder.join(".git").exists() || home.as_deref() == Some(folder);
        if is_end || folder.parent().is_some_and(|above| !is_on_same_device(folder, above)) {
            return None;
        }
    }
    None
}

/// Tells whether two paths lead to one folder.
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
