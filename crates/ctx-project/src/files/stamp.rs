//! Detects changed files by size and modification time.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Age from which the modification time of a file proves that no later change has the same time. Some file systems
/// round times to 2 s.
const SETTLED: Duration = Duration::from_secs(3);

/// Size and modification time of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// Returns the size and the modification time in the metadata of a file.
    pub fn new(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok() }
    }

    /// Returns the stamp of a file, if every later change gives the file another stamp. Returns `None` for links.
    pub fn certain(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok().filter(Metadata::is_file)?;
        Some(Self::new(&metadata)).filter(Self::is_settled)
    }

    /// Returns whether the last change is old enough that every later change has another modification time.
    pub(super) fn is_settled(&self) -> bool {
        let age = self.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age >= SETTLED)
    }
}
