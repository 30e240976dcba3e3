//! Detects repeated files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A set of files. Different paths to one file are equal.
#[derive(Debug, Default)]
pub struct Once(BTreeSet<PathBuf>);

impl Once {
    /// Adds a file and returns whether it is new. A missing file is always new.
    pub fn is_new(&mut self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |path| self.0.insert(path))
    }

    /// Returns whether a file was added.
    pub fn has(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| self.0.contains(&path))
    }
}
