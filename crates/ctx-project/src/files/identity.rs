//! Which file a path leads to, so that nothing is written onto a file that the same run read, and whether it has changed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use ctx_chat::files::read_regular;
use ctx_types::phrase;
use sha2::{Digest as _, Sha256};

use crate::error::ProjectError;
use crate::files::{is_stdin, name};

/// The files that a run has read.
#[derive(Debug, Default)]
pub struct FilesRead(Vec<(String, Identity, Look)>);

/// How old a change is of which the time tells for certain that no other one followed it.
const SETTLED: Duration = Duration::from_secs(3);

/// The largest file whose bytes are compared.
const MAX_COMPARED: u64 = 8 << 20;

/// What was seen of a file before it was read.
#[derive(Debug)]
struct Look {
    path: PathBuf,
    stamp: Option<Stamp>,
    /// Whether the time of its change tells for certain that no other one followed it.
    is_settled: AtomicBool,
    /// The hash of its bytes where the time does not.
    hash: Option<[u8; 32]>,
}

/// When a file was changed, and its size; none where there is no file.
type Stamp = (SystemTime, u64);

impl Look {
    fn at(path: &Path) -> Self {
        let stamp = stamp(path);
        let is_settled = is_settled(stamp.as_ref());
        let hash = if is_settled { None } else { hash(path) };
        Self { path: path.to_owned(), stamp, is_settled: AtomicBool::new(is_settled), hash }
    }

    /// Returns whether the file is for certain as it was; once its time tells that, its bytes are read no more.
    fn still_holds(&self) -> bool {
        let now = stamp(&self.path);
        if self.stamp != now {
            return false;
        }
        if self.is_settled.load(Ordering::Relaxed) {
            return true;
        }
        // Whatever changes it from here on has another time.
        let settles = is_settled(now.as_ref());
        let is_same = self.hash.is_some() && self.hash == hash(&self.path);
        self.is_settled.fetch_or(is_same && settles, Ordering::Relaxed);
        is_same
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn is_settled(stamp: Option<&Stamp>) -> bool {
    let age = stamp.map(|(changed, _)| SystemTime::now().duration_since(*changed));
    age.is_none_or(|age| age.is_ok_and(|age| age >= SETTLED))
}

/// Returns the hash of a file's bytes; none of a large one, or of what is no file: a pipe gives its bytes once.
fn hash(path: &Path) -> Option<[u8; 32]> {
    let bytes = read_regular(path, MAX_COMPARED).ok()?;
    (bytes.len() as u64 <= MAX_COMPARED).then(|| Sha256::digest(&bytes).into())
}

/// What tells that two paths lead to one file: both lead to one path without links, or they are two names of
/// one file.
#[derive(Debug, Default)]
struct Identity {
    path: Option<PathBuf>,
    /// The device and the number of the file on it, where the system tells.
    number: Option<(u64, u64)>,
}

impl FilesRead {
    /// Notes that a file is about to be read; for `-` the one that standard input comes from.
    pub fn note(&mut self, path: &Path) {
        self.0.push((name(path), Identity::of(path), Look::at(path)));
    }

    /// Returns whether each file is for certain as it was read. Of one that had been changed within the last 3 s then
    /// the bytes are compared, up to 8 MiB, since the next change may have the same time.
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(_, _, look)| look.still_holds())
    }

    /// Notes what another part of the run has read.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the files that were read, without links.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|(_, read, _)| read.path.as_deref())
    }

    /// Returns the folders of the files that were read, without links.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.paths().filter_map(Path::parent)
    }

    /// Refuses a path to a file that was read, or that standard output goes to.
    pub(super) fn refuse(&self, path: &Path) -> Result<(), ProjectError> {
        let identity = Identity::of(path);
        let shown = name(path);
        let refused = |reason: &str| {
            Err(ProjectError::Usage(phrase!(
                "`{shown}` is not written: {reason}; name another file",
                shown,
                reason
            )))
        };
        match self.0.iter().find(|(_, read, _)| read.is_same(&identity)) {
            Some((read, ..)) if *read == shown => refused("this run reads it"),
            Some((read, ..)) => refused(&format!("it is the same file as `{read}`, which this run reads")),
            None if Identity::of_stdout().is_same(&identity) => refused("standard output goes to it"),
            None => Ok(()),
        }
    }
}

impl Identity {
    fn of(path: &Path) -> Self {
        match is_stdin(path) {
            true => Self::of_stdin(),
            false => Self { path: path.canonicalize().ok(), number: number_of(path) },
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

/// Devices and pipes have none: writing to them replaces nothing.
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

    use super::*;

    /// Notes a file that was changed so many seconds ago, lets something happen, and says whether it is unchanged.
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

    /// Writes a text of the same size, and has the file look as if it was never changed.
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
        // What was new when it was read is old now.
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
