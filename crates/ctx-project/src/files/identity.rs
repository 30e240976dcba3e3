//! Which file a path leads to, so that nothing is written onto a file that the same run read, and whether it has changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ctx_types::phrase;

use crate::error::ProjectError;
use crate::files::{is_stdin, name};

/// The files that a run has read.
#[derive(Debug, Default)]
pub struct FilesRead(Vec<(String, Identity, Look)>);

/// How old a change is of which the time tells for certain that no other one followed it.
const SETTLED: Duration = Duration::from_secs(3);

/// What was seen of a file before it was read.
#[derive(Debug)]
struct Look {
    path: PathBuf,
    stamp: Option<Stamp>,
    is_settled: bool,
}

/// When a file was changed, and its size; none where there is no file.
type Stamp = (SystemTime, u64);

impl Look {
    fn at(path: &Path) -> Self {
        let (path, stamp) = (path.to_owned(), stamp(path));
        let age = stamp.map(|(changed, _)| SystemTime::now().duration_since(changed));
        let is_settled = age.is_none_or(|age| age.is_ok_and(|age| age >= SETTLED));
        Self { path, stamp, is_settled }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
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

    /// Returns whether each file is for certain as it was read. One that had been changed within the last 3 s then is not:
    /// the next change may have the same time.
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(_, _, look)| look.is_settled && look.stamp == stamp(&look.path))
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

    #[test]
    fn a_file_is_unchanged_for_certain_once_its_change_is_old() {
        check(60, |_| {}, true);
        check(0, |_| {}, false);
        check(60, |path| std::fs::write(path, "two").unwrap(), false);
        check(60, |path| std::fs::remove_file(path).unwrap(), false);
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
