//! The file of a store. Creates it as a private file and detects its replacement.

use std::io;
use std::path::{Path, PathBuf};

use crate::private;
use crate::store::{StoreError, StoreFault};

/// Creates a missing file with mode 0600. `SQLite` gives its log the same mode.
///
/// Does not open an existing file: closing it would release the locks of this process.
pub(super) fn create(path: &Path) {
    if !path.exists() {
        // `SQLite` reports the error when it opens the file.
        drop(private::file_options().write(true).create(true).truncate(false).open(path));
    }
}

/// Rejects journals of a store that are not regular files. `SQLite` would wait forever for a pipe.
pub(super) fn check_beside(path: &Path) -> Result<(), StoreError> {
    for end in ["-journal", "-wal", "-shm"] {
        let other = beside(path, end);
        if other.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let name = other.display();
            let error = io::Error::other(format!("`{name}` is not a regular file"));
            return Err(StoreError::Unwritable(StoreFault::new(error)));
        }
    }
    Ok(())
}

/// Returns the path of a file that `SQLite` adds to a store.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(end);
    PathBuf::from(name)
}

/// Identities of the files of an open store.
#[derive(Debug)]
pub(super) struct StoreFile {
    path: PathBuf,
    files: Vec<(PathBuf, FileId)>,
}

impl StoreFile {
    /// Records the files of an open database: its own, its log, and the index of the log.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let mut files = vec![(path.clone(), FileId::read(&path)?)];
        for other in ["-wal", "-shm"].map(|end| beside(&path, end)) {
            if let Ok(id) = FileId::read(&other) {
                files.push((other, id));
            }
        }
        Ok(Self { path, files })
    }

    /// Returns an error if a file was deleted or replaced. Other processes would not see the next write.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for (path, known) in &self.files {
            match FileId::read(path) {
                Ok(found) if found == *known => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Unwritable(StoreFault::new(error)));
                }
                _ => return Err(StoreError::Replaced { path: self.path.clone() }),
            }
        }
        Ok(())
    }
}

/// Identity of a file. A file that replaces it has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    #[cfg(unix)]
    fn read(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;

        let metadata = path.metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// This system prevents the deletion and replacement of open files.
    #[cfg(not(unix))]
    fn read(_: &Path) -> io::Result<Self> {
        Ok(Self { device: 0, inode: 0 })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn refuses_pipe_beside_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::write(folder.path().join("a.db-wal"), "").unwrap();
        assert!(check_beside(&path).is_ok());
        mknodat(CWD, folder.path().join("a.db-journal"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(matches!(check_beside(&path), Err(StoreError::Unwritable(_))));
    }
}
