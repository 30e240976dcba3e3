//! Identifies files, to protect input files from being overwritten and to detect changes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ctx_chat::files::read_regular;
use ctx_types::{Phrase, phrase};
use sha2::{Digest as _, Sha256};

use crate::error::ProjectError;
use crate::files::{Stamp, is_stdin, name};

/// The input files of a run.
#[derive(Debug, Default)]
pub struct FilesRead(Vec<(String, Identity, Look)>);

/// Largest file whose bytes are compared.
const MAX_COMPARED: u64 = 8 << 20;

/// State of a file before it was read.
#[derive(Debug)]
struct Look {
    path: PathBuf,
    /// `None` for a missing file.
    stamp: Option<Stamp>,
    /// Whether the modification time is old enough to prove that the file has not changed.
    is_settled: AtomicBool,
    /// Hash of the file, if the modification time is not enough.
    hash: Option<[u8; 32]>,
}

impl Look {
    fn at(path: &Path) -> Self {
        let stamp = stamp(path);
        let is_settled = stamp.is_none_or(|stamp| stamp.is_settled());
        let hash = if is_settled { None } else { hash(path) };
        Self { path: path.to_owned(), stamp, is_settled: AtomicBool::new(is_settled), hash }
    }

    /// Returns whether the file is unchanged. Stops reading its bytes as soon as the modification time is enough.
    fn still_holds(&self) -> bool {
        let now = stamp(&self.path);
        if self.stamp != now {
            return false;
        }
        if self.is_settled.load(Ordering::Relaxed) {
            return true;
        }
        // Any later change gets another modification time.
        let settles = now.is_none_or(|stamp| stamp.is_settled());
        let is_same = self.hash.is_some() && self.hash == hash(&self.path);
        self.is_settled.fetch_or(is_same && settles, Ordering::Relaxed);
        is_same
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    path.metadata().ok().as_ref().map(Stamp::new)
}

/// Returns the hash of a file. Returns `None` for large files and for pipes, whose bytes can be read only once.
fn hash(path: &Path) -> Option<[u8; 32]> {
    let bytes = read_regular(path, MAX_COMPARED).ok()?;
    (bytes.len() as u64 <= MAX_COMPARED).then(|| Sha256::digest(&bytes).into())
}

/// Identity of a file: its path without links, and its number on the device. Two paths with an equal path or number
/// name the same file.
#[derive(Debug, Default)]
struct Identity {
    path: Option<PathBuf>,
    /// Device and inode, if the system has them.
    number: Option<(u64, u64)>,
}

impl FilesRead {
    /// Records a file before it is read. For `-`, records the file that standard input comes from.
    pub fn note(&mut self, path: &Path) {
        self.0.push((name(path), Identity::of(path), Look::at(path)));
    }

    /// Returns whether no file has changed since it was read.
    ///
    /// If a file changed less than 3 s before it was read, compares up to 8 MiB of its bytes: another change may have
    /// the same modification time.
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(_, _, look)| look.still_holds())
    }

    /// Adds the input files of another part of the run.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the paths of the input files, without links.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|(_, read, _)| read.path.as_deref())
    }

    /// Returns the folders of the input files, without links.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.paths().filter_map(Path::parent)
    }

    /// Returns an error if a path leads to an input file or to the file of standard output.
    pub(super) fn refuse(&self, path: &Path) -> Result<(), ProjectError> {
        let identity = Identity::of(path);
        let shown = name(path);
        let refused = |reason: Phrase| {
            Err(ProjectError::Usage(phrase!(
                "cannot write `{shown}`: {reason}; use another file",
                shown,
                reason
            )))
        };
        match self.0.iter().find(|(_, read, _)| read.is_same(&identity)) {
            Some((read, ..)) if *read == shown => refused(Phrase::from("this run reads it")),
            Some((read, ..)) => {
                refused(phrase!("it is the same file as `{read}`, which this run reads", read))
            }
            None if Identity::of_stdout().is_same(&identity) => {
                refused(Phrase::from("standard output is redirected to it"))
            }
            None => Ok(()),
        }
    }
}

impl Identity {
    fn of(path: &Path) -> Self {
        if is_stdin(path) {
            Self::of_stdin()
        } else {
            Self { path: path.canonicalize().ok(), number: number_of(path) }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same_path = self.path.is_some() && self.path == other.path;
        is_same_path || (self.number.is_some() && self.number == other.number)
    }

    #[cfg(unix)]
    fn of_stdin() -> Self {
        Self::of_stream(std::os::fd::AsFd::as_fd(&std::io::stdin()))
    }

    #[cfg(unix)]
    fn of_stdout() -> Self {
        Self::of_stream(std::os::fd::AsFd::as_fd(&std::io::stdout()))
    }

    #[cfg(unix)]
    fn of_stream(stream: std::os::fd::BorrowedFd<'_>) -> Self {
        let metadata = stream.try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata());
        Self { path: None, number: metadata.ok().as_ref().and_then(number) }
    }

    #[cfg(not(unix))]
    fn of_stdin() -> Self {
        Self::default()
    }

    #[cfg(not(unix))]
    fn of_stdout() -> Self {
        Self::default()
    }
}

#[cfg(unix)]
fn number_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().as_ref().and_then(number)
}

/// Devices and pipes have no number, because a write to them replaces nothing.
#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number_of(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Reads a file with a change of this age, runs a function, and checks whether the file counts as unchanged.
    #[track_caller]
    fn check(age: u64, happens: impl FnOnce(&Path), expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        std::fs::write(&path, "one").unwrap();
        let changed = SystemTime::now() - Duration::from_secs(age);
        File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        let mut read = FilesRead::default();
        read.note(&path);
        happens(&path);
        assert_eq!(read.are_unchanged(), expected);
    }

    /// Replaces the text with one of the same size and restores the modification time.
    fn replace_unseen(path: &Path) {
        let changed = path.metadata().unwrap().modified().unwrap();
        std::fs::write(path, "two").unwrap();
        File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
    }

    #[test]
    fn a_file_is_unchanged_while_its_time_is_the_same_and_its_bytes_where_that_is_new() {
        check(60, |_| {}, true);
        check(0, |_| {}, true);
        check(0, replace_unseen, false);
        check(60, |path| std::fs::write(path, "two").unwrap(), false);
        check(60, |path| std::fs::remove_file(path).unwrap(), false);
    }

    #[test]
    fn a_new_file_that_is_too_large_to_compare_is_not_certain() {
        let grow = |path: &Path| File::options().write(true).open(path).unwrap().set_len(MAX_COMPARED + 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        std::fs::write(&path, "one").unwrap();
        grow(&path).unwrap();
        let mut read = FilesRead::default();
        read.note(&path);
        assert!(!read.are_unchanged());
    }

    #[test]
    fn bytes_are_compared_until_the_time_tells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        std::fs::write(&path, "one").unwrap();
        let look = Look::at(&path);
        // A recent change becomes an old one.
        let changed = SystemTime::now() - Duration::from_secs(60);
        File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        let look = Look { stamp: stamp(&path), ..look };
        assert!(look.still_holds() && look.is_settled.load(Ordering::Relaxed));
    }

    #[test]
    fn a_file_that_was_missing_is_changed_once_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        let mut read = FilesRead::default();
        read.note(&path);
        assert!(read.are_unchanged());
        std::fs::write(&path, "one").unwrap();
        assert!(!read.are_unchanged());
    }
}
