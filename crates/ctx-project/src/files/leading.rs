//! Whether a path that a file names leads out of a folder.

use std::path::{Component, Path, PathBuf};

/// How many links that lead nowhere are followed.
const MAX_LINKS: usize = 40;

/// Returns whether a path of a file in a folder leads out of it: by what it says, or through a link.
pub fn leads_out(path: &Path, folder: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    !is_plain || folder.canonicalize().is_ok_and(|root| !is_within(&folder.join(path), &root))
}

/// Returns whether a path ends in a folder, which is named without links; a part of it that is not there leads nowhere.
pub fn is_within(path: &Path, root: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(target) = path.canonicalize() {
            return target.starts_with(root);
        }
        // Whoever makes what a link names would make it there.
        let target = path.read_link().ok();
        let Some(next) = parent(&path).map(|parent| target.map_or(parent.clone(), |to| parent.join(to)))
        else {
            return false;
        };
        path = next;
    }
    false
}

fn parent(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent }.to_owned())
}
