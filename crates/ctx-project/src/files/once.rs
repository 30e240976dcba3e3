//! Files that are met several times.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files, of which each counts once, whatever paths lead to it.
#[derive(Debug, Default)]
pub struct Once(BTreeSet<PathBuf>);

impl Once {
    /// Returns whether a file was not met before, and notes it; one that is not there is new each time.
    pub fn is_new(&mut self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |path| self.0.insert(path))
    }
}
