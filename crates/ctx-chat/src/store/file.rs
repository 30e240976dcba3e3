//! The file of a store: created for its user alone, and the same one as long as it is open.

use std::io;
use std::path::{Path, PathBuf};

use crate::private;
use crate::store::{StoreError, StoreFault};

/// Creates an empty file that only its user may read, unless there is one; `SQLite` gives its log the same mode.
///
/// It is not opened where it exists: closing it would drop the locks that this process has on it.
pub(super) fn create(path: &Path) {
    if !path.exists() {
        // The database tells why it cannot be created.
        drop(private::file_options().write(true).create(true).truncate(false).open(path));
    }
}

/// The files of an open store, by which a deleted or replaced one is noticed.
#[derive(Debug)]
pub(super) struct StoreFile {
    path: PathBuf,
    files: Vec<(PathBuf, FileId)>,
}

impl StoreFile {
    /// Notes which files a database has, once it is open: its own, its log, and the index of that.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let beside = |end: &str| {
            let mut name = path.canonicalize().unwrap_or_else(|_| path.clone()).into_os_string();
            name.push(end);
            PathBuf::from(name)
        };
        let mut files = vec![(path.clone(), FileId::read(&path)?)];
        for other in ["-wal", "-shm"].map(beside) {
            if let Ok(id) = FileId::read(&other) {
                files.push((other, id));
            }
        }
        Ok(Self { path, files })
    }

    /// Refuses to go on with a file that has lost its name: nobody would find what is written to it.
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

/// Tells a file from others that had its name.
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

    /// Here the system keeps open files from being deleted or replaced.
    #[cfg(not(unix))]
    fn read(_: &Path) -> io::Result<Self> {
        Ok(Self { device: 0, inode: 0 })
    }
}
